/*-------------------------------------------------------------------------
 *
 * hg_column_store.h
 *	  The needed columns of one side's rows, fetched by row number.
 *
 * A join adds rows of batches with hg_column_store_add(), and after a match fetches them by number
 * with hg_column_store_get().  Rows are numbered from 0 in the order in which they are added.  They
 * are in chunks of 2^n rows, fewer if rows are wide.  A chunk has for every column an array of
 * values and a bitmap of rows that are not NULL:
 *
 *	by value				the value, in attlen bytes
 *	by reference, fixed		the bytes themselves, each at the type's alignment
 *	variable length			a pointer to a copy, packed in blocks of the store
 *
 * Pieces of memory hold chunks.  Each piece is twice as large as the one before, up to a size at
 * which pieces are made of huge pages.  A random fetch from these may miss the cache, but it does
 * not miss the TLB.  A clear keeps the pieces, so that fresh memory is faulted in once.
 *
 * The processes of a parallel query can share a store (HgSharedColumns).  Its pieces are then
 * in the query's DSA, and chunks have the dsa_pointer of a variable-length value.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COLUMN_STORE_H
#define HG_COLUMN_STORE_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "access/tupmacs.h"
#include "storage/spin.h"
#include "utils/dsa.h"

#include "backend/hg_budget.h"
#include "batch/hg_batch.h"
#include "engine/wire/hg_wire_client.h"

/*
 * Shared memory for one side's column chunks, which several processes fill and read.
 *
 * Each participant of a parallel join fills chunks with the rows that it reads, and later fetches
 * rows from all chunks.  The process that fills a chunk allocates it, as part of a piece, in the
 * query's DSA.  A piece has consecutive chunk numbers, which are unique.  A row's number is its
 * chunk's number times the rows of a chunk, plus its position.  Numbers behind the last row of a
 * process's last piece stay unused.
 *
 * Pieces are linked, so that processes find them after all are filled.
 */

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
	uint32 nchunks; /* 0 for a piece of variable-length values, which has no rows */
	uint64 rows;	/* rows, from the start of the first chunk on */
	bool has_nulls; /* some row of some column is NULL */
} HgSharedPiece;

/* Bytes from the start of a piece to its chunks or values. */
#define HG_SHARED_PIECE_HEAD TYPEALIGN(64, sizeof(HgSharedPiece))

/* Upper bound of a piece: a larger one might need a segment that takes long to zero. */
#define HG_SHARED_PIECE_BYTES ((Size) 8 * 1024 * 1024)

/* Initializes the shared state without pieces. */
extern void hg_shared_columns_init(HgSharedColumns *shared);

/* Frees all pieces, after all processes have ended their use of them. */
extern void hg_shared_columns_release(HgSharedColumns *shared, dsa_area *area);

/* hg_column_store.c: the needed columns of one side's rows, fetched by row number */

/* Logarithm of the most rows of a chunk. */
#define HG_MAX_CHUNK_ROWS_LOG2 14

typedef struct HgColumn
{
	int16 attlen;
	bool attbyval;
	char attalign;
	bool has_nulls;		  /* some row is NULL; if not, the bitmaps are not read */
	uint32 stride;		  /* bytes from one value to the next */
	Size values_offset;	  /* of the value array in a chunk */
	Size validity_offset; /* of the bitmap in a chunk */
} HgColumn;

/* Rows with consecutive numbers. */
typedef struct HgRowRange
{
	uint64 first;
	uint64 rows;
} HgRowRange;

typedef struct HgColumnStore
{
	MemoryContext context; /* owns everything below */
	HgCharge charge;	   /* for the rows */
	int ncolumns;
	HgColumn *columns;
	int chunk_rows_log2;
	Size chunk_bytes; /* of one chunk */
	Size row_bytes;	  /* of one row in its chunk, without bitmaps */
	char **chunks;	  /* [nchunks] */
	int nchunks;	  /* includes chunks that are unused after a clear */
	int max_chunks;
	char *piece_next;	/* where the next chunk goes */
	int piece_left;		/* chunks that still fit there */
	uint64 piece_bytes; /* of all pieces */
	uint64 rows;
	uint64 next_row;			  /* number of the next row; equals rows, unless shared */
	char *packed_start;			  /* the current block of variable-length values */
	char *packed_next;			  /* where the next variable-length value goes */
	char *packed_end;			  /* end of the block */
	MemoryContext packed_context; /* of variable-length values only */
	uint64 packed_bytes;

	/* of a shared store; else NULL */
	HgSharedColumns *shared;
	dsa_area *area;
	HgSharedPiece *piece;		/* of the next row, or NULL */
	dsa_pointer packed_pointer; /* of packed_start */
	HgRowRange *ranges;			/* [nranges] rows, after hg_column_store_attach */
	int nranges;
	HgRowNumbers numbers; /* after hg_column_store_numbers */
} HgColumnStore;

/*
 * Creates an empty store of the attributes attnos[ncolumns] (from 1) of desc, in its own context
 * below parent.  Rows are charged to a budget, or NULL.
 */
extern HgColumnStore *hg_column_store_create(MemoryContext parent, TupleDesc desc, int ncolumns,
											 const int *attnos, HgBudget *budget);

/*
 * Removes the rows and frees their memory.  Then new rows go to *shared, in the area, which must
 * outlive their use; if shared is NULL, the store is private again.
 */
extern void hg_column_store_share(HgColumnStore *store, HgSharedColumns *shared, dsa_area *area);

/* Lets a shared store read the rows of all processes, which must have added all of their rows. */
extern void hg_column_store_attach(HgColumnStore *store);

/*
 * Sets *ranges to the ranges of the existing rows, and returns their number.  A private store uses
 * *whole for its only range.  A shared store must be attached.
 */
extern int hg_column_store_ranges(const HgColumnStore *store, HgRowRange *whole,
								  const HgRowRange **ranges);

/*
 * Attaches a shared store, and returns which row numbers all processes have used: the number of
 * rows by chunk.  They are valid until the store is released, or the next call.
 */
extern const HgRowNumbers *hg_column_store_numbers(HgColumnStore *store);

/* Returns an upper bound: the row numbers of all processes are below it. */
extern uint64 hg_column_store_end(const HgColumnStore *store);

/*
 * Returns how many rows, 1 to HG_BATCH_ROWS, can be added next with consecutive numbers.  Sets
 * *first_row to the first of them.  A shared store may allocate a piece, and raises an error if
 * memory or row numbers are short.
 */
extern int hg_column_store_room(HgColumnStore *store, uint64 *first_row);

/*
 * Copies rows which[nrows] of a batch, or its first nrows rows if which is NULL, by-reference
 * values included.  Column i of the store is column at[i] of the batch.  A shared store takes at
 * most the rows that hg_column_store_room() returned.  Charges the budget without checking it;
 * raises an error if memory is short.
 */
extern void hg_column_store_add(HgColumnStore *store, const HgBatch *batch, const int *at,
								const uint16 *which, int nrows);

/*
 * Copies nrows rows from arrays of by-value columns without NULLs; column i is values[at[i]].  The
 * limit is that of hg_column_store_add().
 */
extern void hg_column_store_add_run(HgColumnStore *store, const void *const *values, const int *at,
									int nrows);

/* hg_column_store_get.c */

/*
 * Fetches rows[nrows], at most HG_BATCH_ROWS, into rows 0 .. nrows - 1 of a batch.  Column i
 * becomes column at[i].  The caller sets batch->nrows.  By-reference values point into the store.
 */
extern void hg_column_store_get(const HgColumnStore *store, const uint32 *rows, int nrows,
								HgBatch *batch, const int *at);

/*
 * Finds the values of a by-value column from a row on.  *values points to n values of attlen bytes
 * in the store.  If the column has NULLs, sets *any_null to true, and nulls[i] to true for each
 * NULL and false for other values; otherwise sets *any_null to false.  Returns n, which is at most
 * rows and at most HG_RUN_ROWS.
 */
extern int hg_column_store_run(const HgColumnStore *store, int column, uint64 row, uint64 rows,
							   const void **values, bool *nulls, bool *any_null);

#define HG_RUN_ROWS (1 << HG_MAX_CHUNK_ROWS_LOG2)

/* hg_column_store.c */

/* Removes the rows, and keeps the pieces for the next ones. */
extern void hg_column_store_clear(HgColumnStore *store);

/* Removes the rows and frees their memory.  The store stays usable. */
extern void hg_column_store_release(HgColumnStore *store);

/* Returns the bytes of the store's memory, used or not. */
static inline uint64
hg_column_store_reserved(const HgColumnStore *store)
{
	return store->piece_bytes + store->packed_bytes;
}

#endif /* HG_COLUMN_STORE_H */
