/*-------------------------------------------------------------------------
 *
 * hg_column_store.h
 *	  The needed columns of one side's rows, fetched back by row number.
 *
 * Rows are numbered from 0 in the order they are added.  They lie in chunks of 2^n rows,
 * fewer of them where they are wide; a chunk has for every column an array of its values and a
 * bitmap of those that are not NULL:
 *
 *	by value				the value, in attlen bytes
 *	by reference, fixed		the bytes themselves, each at the type's alignment
 *	variable length			a pointer to a copy, packed in blocks of the store's own
 *
 * Chunks are cut from pieces of memory, each twice as large as the one before up to a limit
 * at which they are huge pages.  Fetching rows at random then misses the cache, but not
 * the TLB; and pieces are used again by the rows that follow a clear, so that fresh memory is
 * touched once.
 *
 * A store can be shared by the processes of a parallel query (hg_shared_columns.h).  Pieces
 * lie in the query's DSA then, and variable-length values are told by their dsa_pointer.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COLUMN_STORE_H
#define HG_COLUMN_STORE_H

#include "access/tupdesc.h"
#include "access/tupmacs.h"

#include "backend/hg_budget.h"
#include "batch/hg_batch.h"
#include "batch/hg_shared_columns.h"
#include "engine/wire/hg_wire_client.h"

/* The most rows of a chunk, by their logarithm. */
#define HG_MAX_CHUNK_ROWS_LOG2 14

typedef struct HgColumn
{
	int16 attlen;
	bool attbyval;
	char attalign;
	bool has_nulls;		  /* some row is NULL here; else nobody looks at the bitmaps */
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
	HgCharge charge;	   /* of the rows */
	int ncolumns;
	HgColumn *columns;
	int chunk_rows_log2;
	Size chunk_bytes; /* of one chunk */
	Size row_bytes;	  /* of one row in its chunk, bitmaps left aside */
	char **chunks;	  /* [nchunks] */
	int nchunks;	  /* chunks there are, some unused after a clear */
	int max_chunks;
	char *piece_next;	/* where the next chunk goes ... */
	int piece_left;		/* ... and how many more fit there */
	uint64 piece_bytes; /* of all pieces */
	uint64 rows;
	uint64 next_row;			  /* the number that the next row gets: rows, unless shared */
	char *packed_start;			  /* the block of variable-length values */
	char *packed_next;			  /* where the next variable-length value goes ... */
	char *packed_end;			  /* ... and where its block ends */
	MemoryContext packed_context; /* variable-length values alone */
	uint64 packed_bytes;

	/* where several processes share it; else NULL */
	HgSharedColumns *shared;
	dsa_area *area;
	HgSharedPiece *piece;		/* that the next row goes to, or NULL */
	dsa_pointer packed_pointer; /* of packed_start */
	HgRowRange *ranges;			/* [nranges] of rows, after hg_column_store_attach */
	int nranges;
	HgRowNumbers numbers; /* that rows have, after hg_column_store_numbers */
} HgColumnStore;

/*
 * An empty store of the attributes attnos[ncolumns] (from 1) of desc, in a context
 * of its own below parent.  Its rows are charged to a budget, or NULL.
 */
extern HgColumnStore *hg_column_store_create(MemoryContext parent, TupleDesc desc, int ncolumns,
											 const int *attnos, HgBudget *budget);

/*
 * Make a store, whose rows are forgotten, this process's part of a shared one; or, with shared
 * NULL, an ordinary one again.
 */
extern void hg_column_store_share(HgColumnStore *store, HgSharedColumns *shared, dsa_area *area);

/* All processes have added their rows: make them known to this one. */
extern void hg_column_store_attach(HgColumnStore *store);

/* The rows there are, in ranges; of a shared store after hg_column_store_attach. */
extern int hg_column_store_ranges(const HgColumnStore *store, HgRowRange *whole,
								  const HgRowRange **ranges);

/*
 * The same, and which numbers the rows of all processes have, by chunks; valid until the store is
 * cleared, released or asked again.
 */
extern const HgRowNumbers *hg_column_store_numbers(HgColumnStore *store);

/* One more than the largest number of a row of any process. */
extern uint64 hg_column_store_end(const HgColumnStore *store);

/*
 * How many rows can be added next with consecutive numbers, at least 1; *first_row becomes
 * the number of the first of them.
 */
extern int hg_column_store_room(HgColumnStore *store, uint64 *first_row);

/*
 * Add rows of a batch: those of which[nrows], or its first nrows ones where which is NULL;
 * no more than hg_column_store_room told, where the store is shared.  Column i of the store is
 * column at[i] of the batch; everything is copied.
 */
extern void hg_column_store_add(HgColumnStore *store, const HgBatch *batch, const int *at,
								const uint16 *which, int nrows);

/*
 * Add rows that lie in arrays, all columns by value and without NULLs: column i is values[at[i]].
 * No more than hg_column_store_room told, where the store is shared.
 */
extern void hg_column_store_add_run(HgColumnStore *store, const void *const *values, const int *at,
									int nrows);

/* hg_column_store_get.c */

/*
 * Fetch rows[nrows], at most HG_BATCH_ROWS, into rows 0 .. nrows - 1 of a batch: column i
 * becomes column at[i].  What is by reference points into the store.
 */
extern void hg_column_store_get(const HgColumnStore *store, const uint32 *rows, int nrows,
								HgBatch *batch, const int *at);

/*
 * The values of a by-value column from a row on, where they lie: *values[n] of attlen bytes each,
 * and in nulls[n], unless *any_null is set to false, the flags of those that are NULL.  Returns n,
 * which is rows at most, and where they lie apart fewer: at most HG_RUN_ROWS.
 */
extern int hg_column_store_run(const HgColumnStore *store, int column, uint64 row, uint64 rows,
							   const void **values, bool *nulls, bool *any_null);

#define HG_RUN_ROWS (1 << HG_MAX_CHUNK_ROWS_LOG2)

/* hg_column_store.c again */

/* Forget the rows, keep the pieces for the next ones. */
extern void hg_column_store_clear(HgColumnStore *store);

/* Free the rows and their memory; the store itself stays usable. */
extern void hg_column_store_release(HgColumnStore *store);

/* Memory that the store holds, whether there are rows in it or not. */
static inline uint64
hg_column_store_reserved(const HgColumnStore *store)
{
	return store->piece_bytes + store->packed_bytes;
}

#endif /* HG_COLUMN_STORE_H */
