/*-------------------------------------------------------------------------
 *
 * hg_shared_columns.h
 *	  Where the column chunks of one side lie that several processes fill and read.
 *
 * In a join that parallel workers do together, each process fills chunks of its own with the
 * rows that it reads, and fetches rows from all chunks afterwards.  The chunks lie in the
 * query's DSA, in pieces that the process which fills them allocates; a piece has consecutive
 * chunk numbers, which are handed out here, so that a row's number is different from all others:
 * chunk number times rows of a chunk plus place.  What a process leaves unused at
 * the end of its last piece are numbers of no row.
 *
 * Pieces are chained, for processes to find them once all are filled, and to be freed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARED_COLUMNS_H
#define HG_SHARED_COLUMNS_H

#include "postgres.h"

#include "storage/spin.h"
#include "utils/dsa.h"

/* In shared memory: no pointers. */
typedef struct HgSharedColumns
{
	slock_t mutex;
	uint32 chunks;		/* numbers handed out */
	dsa_pointer pieces; /* the last one; InvalidDsaPointer: none */
} HgSharedColumns;

/* The head of a piece. */
typedef struct HgSharedPiece
{
	dsa_pointer next;
	uint32 first_chunk;
	uint32 nchunks; /* 0: variable-length values */
	uint64 rows;	/* filled, from the start of the first chunk on */
	bool has_nulls; /* some row of some column is NULL */
} HgSharedPiece;

/* Bytes from the start of a piece to what it holds. */
#define HG_SHARED_PIECE_HEAD TYPEALIGN(64, sizeof(HgSharedPiece))

/* No piece is larger: a larger one might need a segment that takes long to fill with zeros. */
#define HG_SHARED_PIECE_BYTES ((Size) 8 * 1024 * 1024)

extern void hg_shared_columns_init(HgSharedColumns *shared);

/*
 * A new piece with room for bytes bytes behind its head and nchunks chunk numbers; *pointer is
 * where it lies.  Errors when there is no shared memory.
 */
extern HgSharedPiece *hg_shared_columns_add(HgSharedColumns *shared, dsa_area *area, Size bytes,
											uint32 nchunks, dsa_pointer *pointer);

/* Free all pieces, which nobody uses any more. */
extern void hg_shared_columns_release(HgSharedColumns *shared, dsa_area *area);

#endif /* HG_SHARED_COLUMNS_H */
