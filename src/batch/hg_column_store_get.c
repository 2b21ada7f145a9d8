/*-------------------------------------------------------------------------
 *
 * hg_column_store_get.c
 *	  Fetches rows of a column store by number.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_column_store.h"
#include "batch/hg_values.h"

/* Returns the address of a row's value in a chunk. */
static inline char *
hg_column_store_address(const HgColumnStore *store, const HgColumn *column, uint32 row)
{
	uint64 mask = (UINT64CONST(1) << store->chunk_rows_log2) - 1;

	return store->chunks[row >> store->chunk_rows_log2] + column->values_offset +
		   (row & mask) * column->stride;
}

/*
 * Fetches values of any rows.  No row depends on another, so that the processor has many cache
 * misses under way without prefetching.
 */
static pg_attribute_always_inline void
hg_column_store_gather(int width, const HgColumnStore *store, const HgColumn *column,
					   const uint32 *rows, int nrows, Datum *values)
{
	char *const *chunks = store->chunks;
	int log2 = store->chunk_rows_log2;
	Size offset = column->values_offset;
	uint32 mask = (UINT32_C(1) << log2) - 1;

	for (int i = 0; i < nrows; i++)
		values[i] = fetch_att(chunks[rows[i] >> log2] + offset + (Size) (rows[i] & mask) * width,
							  true, width);
}

/* Fetches values of a by-value column, of consecutive rows or of any. */
static void
hg_column_store_get_values(const HgColumnStore *store, const HgColumn *column, const uint32 *rows,
						   int nrows, bool consecutive, Datum *values)
{
	uint64 chunk_rows = UINT64CONST(1) << store->chunk_rows_log2;

	if (!consecutive)
	{
		HG_FOR_WIDTH(column->attlen, hg_column_store_gather, store, column, rows, nrows, values);
		return;
	}
	for (int done = 0; done < nrows;)
	{
		uint32 row = rows[done];
		int step = (int) Min((uint64) (nrows - done), chunk_rows - (row & (chunk_rows - 1)));

		hg_values_load(column->attlen, hg_column_store_address(store, column, row), step,
					   values + done);
		done += step;
	}
}

/*
 * Fetches values of a by-reference column, whose values or pointers are in the chunks.  The values
 * are prefetched, because the caller reads them one by one, between other work.
 */
static void
hg_column_store_get_references(const HgColumnStore *store, const HgColumn *column,
							   const uint32 *rows, int nrows, Datum *values, const bool *nulls)
{
	for (int i = 0; i < nrows; i++)
	{
		char *address = hg_column_store_address(store, column, rows[i]);

		if (column->attlen > 0)
			values[i] = PointerGetDatum(address);
		else if (store->shared == NULL)
			values[i] = (Datum) * (const uint64 *) address;
		else
			/* the pointer of a NULL is undefined */
			values[i] =
				PointerGetDatum(nulls != NULL && nulls[i]
									? NULL
									: dsa_get_address(store->area, *(const dsa_pointer *) address));
		HG_PREFETCH(DatumGetPointer(values[i]));
	}
}

void
hg_column_store_get(const HgColumnStore *store, const uint32 *rows, int nrows, HgBatch *batch,
					const int *at)
{
	uint64 mask = (UINT64CONST(1) << store->chunk_rows_log2) - 1;
	bool consecutive = store->ncolumns > 0 && hg_numbers_consecutive(rows, nrows);

	for (int c = 0; c < store->ncolumns; c++)
	{
		const HgColumn *column = &store->columns[c];
		bool *nulls = batch->nulls[at[c]];

		batch->has_nulls[at[c]] = column->has_nulls;
		for (int i = 0; column->has_nulls && i < nrows; i++)
		{
			const uint8 *validity =
				(const uint8 *) store->chunks[rows[i] >> store->chunk_rows_log2] +
				column->validity_offset;
			uint64 position = rows[i] & mask;

			nulls[i] = (validity[position / 8] & (1 << (position % 8))) == 0;
		}
		if (column->attbyval)
			hg_column_store_get_values(store, column, rows, nrows, consecutive,
									   batch->values[at[c]]);
		else
			hg_column_store_get_references(store, column, rows, nrows, batch->values[at[c]],
										   column->has_nulls ? nulls : NULL);
	}
}

int
hg_column_store_run(const HgColumnStore *store, int column, uint64 row, uint64 rows,
					const void **values, bool *nulls, bool *any_null)
{
	const HgColumn *from = &store->columns[column];
	uint64 chunk_rows = UINT64CONST(1) << store->chunk_rows_log2;
	uint64 position = row & (chunk_rows - 1);
	int run = (int) Min(rows, chunk_rows - position);
	const uint8 *validity =
		(const uint8 *) store->chunks[row >> store->chunk_rows_log2] + from->validity_offset;

	Assert(from->attbyval && from->stride == (uint32) from->attlen);
	*values = hg_column_store_address(store, from, (uint32) row);
	*any_null = from->has_nulls;
	for (int i = 0; from->has_nulls && i < run; i++)
		nulls[i] = (validity[(position + i) / 8] & (1 << ((position + i) % 8))) == 0;
	return run;
}
