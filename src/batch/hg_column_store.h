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
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COLUMN_STORE_H
#define HG_COLUMN_STORE_H

#include "access/tupdesc.h"
#include "access/tupmacs.h"

#include "batch/hg_batch.h"

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

typedef struct HgColumnStore
{
	MemoryContext context; /* owns everything below */
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
	char *packed_next;			  /* where the next variable-length value goes ... */
	char *packed_end;			  /* ... and where its block ends */
	MemoryContext packed_context; /* variable-length values alone */
	uint64 packed_bytes;
} HgColumnStore;

/*
 * An empty store of the attributes attnos[ncolumns] (from 1) of desc, in a context
 * of its own below parent.
 */
extern HgColumnStore *hg_column_store_create(MemoryContext parent, TupleDesc desc, int ncolumns,
											 const int *attnos);

/*
 * Add rows of a batch: those of which[nrows], or its first nrows ones where which is NULL.
 * Column i of the store is column at[i] of the batch; everything is copied.
 */
extern void hg_column_store_add(HgColumnStore *store, const HgBatch *batch, const int *at,
								const uint16 *which, int nrows);

/*
 * Fetch rows[nrows], at most HG_BATCH_ROWS, into rows 0 .. nrows - 1 of a batch: column i
 * becomes column at[i].  What is by reference points into the store.
 */
extern void hg_column_store_get(const HgColumnStore *store, const uint32 *rows, int nrows,
								HgBatch *batch, const int *at);

/* Forget the rows, keep the pieces for the next ones. */
extern void hg_column_store_clear(HgColumnStore *store);

/* Free the rows and their memory; the store itself stays usable. */
extern void hg_column_store_release(HgColumnStore *store);

/* Bytes that the rows take. */
static inline uint64
hg_column_store_bytes(const HgColumnStore *store)
{
	return store->rows * store->row_bytes + store->packed_bytes;
}

/* Memory that the store holds, whether there are rows in it or not. */
static inline uint64
hg_column_store_reserved(const HgColumnStore *store)
{
	return store->piece_bytes + store->packed_bytes;
}

#endif /* HG_COLUMN_STORE_H */
