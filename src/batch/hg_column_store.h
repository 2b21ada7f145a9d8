/*-------------------------------------------------------------------------
 *
 * hg_column_store.h
 *	  The needed columns of one side's rows, fetched back by row number.
 *
 * Rows are numbered from 0 in the order they are added.  They lie in chunks of 2^n rows,
 * fewer of them where they are wide; a chunk has for every column an array of its values and a
 *bitmap of those that are not NULL:
 *
 *	by value				the value, in attlen bytes
 *	by reference, fixed		the bytes themselves, each at the type's alignment
 *	variable length			a pointer to a copy, packed in blocks of the store's own
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COLUMN_STORE_H
#define HG_COLUMN_STORE_H

#include "access/tupdesc.h"
#include "access/tupmacs.h"

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

/* The columns of the next row; hg_column_store_add is what to call. */
extern void hg_column_store_add_columns(HgColumnStore *store, const Datum *values,
										const bool *nulls, const int *at);

/*
 * Add a row.  Column i is values[at[i]], nulls[at[i]]; everything is copied.
 */
static inline void
hg_column_store_add(HgColumnStore *store, const Datum *values, const bool *nulls, const int *at)
{
	if (store->ncolumns > 0)
		hg_column_store_add_columns(store, values, nulls, at);
	store->rows++;
}

/*
 * Fetch a row into values[at[i]], nulls[at[i]].  What is by reference points into
 * the store.
 */
extern void hg_column_store_get(const HgColumnStore *store, uint64 row, Datum *values, bool *nulls,
								const int *at);

/* Forget the rows, keep the chunks for the next ones. */
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
	return (uint64) store->nchunks * store->chunk_bytes + store->packed_bytes;
}

/* The place of a row in its chunk. */
static inline Size
hg_column_store_place(const HgColumnStore *store, uint64 row)
{
	return row & ((UINT64CONST(1) << store->chunk_rows_log2) - 1);
}

/* Ask for the cache lines of a row that will be fetched soon. */
static inline void
hg_column_store_prefetch(const HgColumnStore *store, uint64 row)
{
#ifdef __GNUC__
	if (store->ncolumns > 0)
	{
		const char *chunk = store->chunks[row >> store->chunk_rows_log2];
		Size i = hg_column_store_place(store, row);

		for (int c = 0; c < store->ncolumns; c++)
		{
			const HgColumn *column = &store->columns[c];

			__builtin_prefetch(chunk + column->values_offset + i * column->stride);
			if (column->has_nulls)
				__builtin_prefetch(chunk + column->validity_offset + i / 8);
		}
	}
#endif
}

#endif /* HG_COLUMN_STORE_H */
