/*-------------------------------------------------------------------------
 *
 * hg_shared_columns.h
 *	  Shared memory for one side's column chunks, which several processes fill and read.
 *
 * Each participant of a parallel join fills chunks with the rows that it reads, and later fetches
 * rows from all chunks.  The process that fills a chunk allocates it, as part of a piece, in the
 * query's DSA.  A piece has consecutive chunk numbers, which are unique.  A row's number is its
 * chunk's number times the rows of a chunk, plus its position.  Numbers behind the last row of a
 * process's last piece stay unused.
 *
 * Pieces are linked, so that processes find them after all are filled.
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

/* In shared memory, without pointers. */
typedef struct HgSharedColumns
{
	slock_t mutex;
	uint32 chunks;		/* number of chunk numbers in use */
	dsa_pointer pieces; /* the latest piece, or InvalidDsaPointer */
} HgSharedColumns;

/* The head of a piece. */
typedef struct HgSharedPiece
{
	dsa_pointer next;
	uint32 first_chunk;
	uint32 nchunks; /* 0 for a piece of variable-length values */
	uint64 rows;	/* rows, from the start of the first chunk on */
	bool has_nulls; /* some row of some column is NULL */
} HgSharedPiece;

/* Bytes from the start of a piece to its chunks or values. */
#define HG_SHARED_PIECE_HEAD TYPEALIGN(64, sizeof(HgSharedPiece))

/* Upper bound of a piece: a larger one might need a segment that takes long to zero. */
#define HG_SHARED_PIECE_BYTES ((Size) 8 * 1024 * 1024)

/* Initializes the shared state without pieces. */
extern void hg_shared_columns_init(HgSharedColumns *shared);

/*
 * Allocates a piece of bytes behind its head, with nchunks chunk numbers, and sets *pointer to it.
 * Raises an error if shared memory is short.
 */
extern HgSharedPiece *hg_shared_columns_add(HgSharedColumns *shared, dsa_area *area, Size bytes,
											uint32 nchunks, dsa_pointer *pointer);

/* Frees all pieces, after all processes are done. */
extern void hg_shared_columns_release(HgSharedColumns *shared, dsa_area *area);

#endif /* HG_SHARED_COLUMNS_H */
