/*-------------------------------------------------------------------------
 *
 * hg_column_store.c
 *	  The needed columns of one side's rows, fetched back by row number.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_column_store.h"

/* Blocks of packed values grow between these sizes; a larger value gets a block of its own. */
#define HG_FIRST_PACKED_BLOCK ((Size) 8 * 1024)
#define HG_PACKED_BLOCK ((Size) 256 * 1024)

/* A chunk has as many rows as keep it to HG_CHUNK_BYTES, within limits. */
#define HG_CHUNK_BYTES ((Size) 256 * 1024)
#define HG_MAX_CHUNK_ROWS_LOG2 14
#define HG_MIN_CHUNK_ROWS_LOG2 6

#ifdef __GNUC__
#define HG_PREFETCH(address) __builtin_prefetch(address)
#else
#define HG_PREFETCH(address) ((void) (address))
#endif

/* The largest pieces that chunks are cut from. */
#define HG_PIECE_BYTES ((Size) 8 * 1024 * 1024)

HgColumnStore *
hg_column_store_create(MemoryContext parent, TupleDesc desc, int ncolumns, const int *attnos)
{
	HgColumnStore *store = MemoryContextAllocZero(parent, sizeof(HgColumnStore));

	store->context = AllocSetContextCreate(parent, "HashGraph columns", ALLOCSET_SMALL_SIZES);
	store->packed_context =
		AllocSetContextCreate(store->context, "HashGraph packed values", ALLOCSET_SMALL_SIZES);
	store->ncolumns = ncolumns;
	store->columns = MemoryContextAllocZero(parent, Max(ncolumns, 1) * sizeof(HgColumn));
	for (int c = 0; c < ncolumns; c++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnos[c] - 1);
		HgColumn *column = &store->columns[c];

		column->attlen = att->attlen;
		column->attbyval = att->attbyval;
		column->attalign = att->attalign;
		if (att->attlen > 0)
			column->stride = att->attbyval ? (uint32) att->attlen
										   : att_align_nominal(att->attlen, att->attalign);
		else
			column->stride = sizeof(char *);
		store->row_bytes += column->stride;
	}

	store->chunk_rows_log2 = HG_MAX_CHUNK_ROWS_LOG2;
	while (store->chunk_rows_log2 > HG_MIN_CHUNK_ROWS_LOG2 &&
		   store->row_bytes << store->chunk_rows_log2 > HG_CHUNK_BYTES)
		store->chunk_rows_log2--;
	for (int c = 0; c < ncolumns; c++)
	{
		HgColumn *column = &store->columns[c];
		Size rows = (Size) 1 << store->chunk_rows_log2;

		column->values_offset = store->chunk_bytes;
		store->chunk_bytes += TYPEALIGN(64, column->stride * rows);
		column->validity_offset = store->chunk_bytes;
		store->chunk_bytes += TYPEALIGN(64, rows / 8);
	}
	return store;
}

/* Get the memory of the next chunks. */
static void
hg_column_store_add_piece(HgColumnStore *store)
{
	Size chunks = Max(1, Min(store->piece_bytes, HG_PIECE_BYTES) / store->chunk_bytes);
	Size bytes = chunks * store->chunk_bytes;

	store->piece_next = hg_block_alloc(store->context, bytes);
	if (store->piece_next == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
				 errdetail("Failed to allocate %zu bytes for the columns of a join.", bytes)));
	store->piece_left = (int) chunks;
	store->piece_bytes += bytes;
}

static pg_noinline void
hg_column_store_grow(HgColumnStore *store)
{
	if (store->nchunks == store->max_chunks)
	{
		int max_chunks = Max(16, 2 * store->max_chunks);

		if (store->chunks == NULL)
			store->chunks = MemoryContextAlloc(store->context, max_chunks * sizeof(char *));
		else
			store->chunks = repalloc(store->chunks, max_chunks * sizeof(char *));
		store->max_chunks = max_chunks;
	}
	if (store->piece_left == 0)
		hg_column_store_add_piece(store);
	store->chunks[store->nchunks++] = store->piece_next;
	store->piece_next += store->chunk_bytes;
	store->piece_left--;
}

/* Room for size bytes of a packed value at an alignment. */
static char *
hg_column_store_pack(HgColumnStore *store, Size size, char attalign)
{
	char *place = (char *) att_align_nominal((uintptr_t) store->packed_next, attalign);

	if (store->packed_next == NULL || place + size > store->packed_end)
	{
		Size block = Min(HG_PACKED_BLOCK, Max(HG_FIRST_PACKED_BLOCK, store->packed_bytes));

		place = MemoryContextAllocHuge(store->packed_context, Max(size, block));
		if (size >= block)
		{
			/* the current block keeps its free end */
			store->packed_bytes += size;
			return place;
		}
		/* the free end of the block before is lost */
		store->packed_bytes += store->packed_end - store->packed_next;
		store->packed_next = place;
		store->packed_end = place + block;
	}
	store->packed_bytes += (place - store->packed_next) + size;
	store->packed_next = place + size;
	return place;
}

/* Copy a variable-length value into the store. */
static char *
hg_column_store_copy(HgColumnStore *store, const HgColumn *column, Datum value)
{
	char *place;
	Size size;

	if (column->attlen == -1 && VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		ExpandedObjectHeader *header = DatumGetEOHP(value);

		size = EOH_get_flat_size(header);
		place = hg_column_store_pack(store, size, column->attalign);
		EOH_flatten_into(header, place, size);
		return place;
	}
	size = datumGetSize(value, false, column->attlen);
	/* values with a one-byte header have no alignment, as in a tuple */
	place = hg_column_store_pack(store, size,
								 column->attlen == -1 && !VARATT_IS_4B(DatumGetPointer(value))
									 ? TYPALIGN_CHAR
									 : column->attalign);
	memcpy(place, DatumGetPointer(value), size);
	return place;
}

/* Which row of the batch is the i-th to be added? */
#define HG_WHICH(i) (which != NULL ? which[i] : (i))

/* Add by-value rows of one type to an array. */
#define HG_ADD_VALUES(type)                                                                        \
	for (int i = 0; i < nrows; i++)                                                                \
	((type *) to)[i] = (type) values[HG_WHICH(i)]

/* Copy values of one column, some of which may be undefined because they are NULL. */
static void
hg_column_store_add_fixed(const HgColumn *column, char *to, const Datum *values, const bool *nulls,
						  const uint16 *which, int nrows)
{
	if (column->attbyval)
	{
		switch (column->attlen)
		{
			case 1:
				HG_ADD_VALUES(uint8);
				break;
			case 2:
				HG_ADD_VALUES(uint16);
				break;
			case 4:
				HG_ADD_VALUES(uint32);
				break;
			default:
				HG_ADD_VALUES(Datum);
				break;
		}
		return;
	}
	for (int i = 0; i < nrows; i++)
		if (nulls == NULL || !nulls[HG_WHICH(i)])
			memcpy(to + (Size) i * column->stride, DatumGetPointer(values[HG_WHICH(i)]),
				   column->attlen);
}

/* Add rows that all go to one chunk, at its place first. */
static void
hg_column_store_add_to_chunk(HgColumnStore *store, char *chunk, Size first, const HgBatch *batch,
							 const int *at, const uint16 *which, int nrows)
{
	for (int c = 0; c < store->ncolumns; c++)
	{
		HgColumn *column = &store->columns[c];
		const Datum *values = batch->values[at[c]];
		const bool *nulls = batch->has_nulls[at[c]] ? batch->nulls[at[c]] : NULL;
		char *to = chunk + column->values_offset + first * column->stride;
		uint8 *validity = (uint8 *) chunk + column->validity_offset;

		if (first == 0)
			memset(validity, 0xff, ((Size) 1 << store->chunk_rows_log2) / 8);
		if (column->attlen > 0)
			hg_column_store_add_fixed(column, to, values, nulls, which, nrows);
		else
			for (int i = 0; i < nrows; i++)
				if (nulls == NULL || !nulls[HG_WHICH(i)])
					((char **) to)[i] = hg_column_store_copy(store, column, values[HG_WHICH(i)]);
		if (nulls == NULL)
			continue;
		for (int i = 0; i < nrows; i++)
			if (nulls[HG_WHICH(i)])
			{
				validity[(first + i) / 8] &= ~(1 << ((first + i) % 8));
				column->has_nulls = true;
			}
	}
}

void
hg_column_store_add(HgColumnStore *store, const HgBatch *batch, const int *at, const uint16 *which,
					int nrows)
{
	uint64 chunk_rows = UINT64CONST(1) << store->chunk_rows_log2;
	uint16 rest[HG_BATCH_ROWS];

	if (store->ncolumns == 0)
	{
		store->rows += nrows;
		return;
	}
	while (nrows > 0)
	{
		Size first = store->rows & (chunk_rows - 1);
		uint64 chunk = store->rows >> store->chunk_rows_log2;
		int step = (int) Min((uint64) nrows, chunk_rows - first);

		if (chunk == (uint64) store->nchunks)
			hg_column_store_grow(store);
		hg_column_store_add_to_chunk(store, store->chunks[chunk], first, batch, at, which, step);
		store->rows += step;
		nrows -= step;
		if (nrows == 0)
			break;
		/* the others begin the next chunk */
		if (which == NULL)
		{
			for (int i = 0; i < nrows; i++)
				rest[i] = step + i;
			which = rest;
		}
		else
			which += step;
	}
}

/* The places of rows in one column's arrays. */
static inline const char *
hg_column_store_place(const HgColumnStore *store, const HgColumn *column, uint32 row)
{
	uint64 mask = (UINT64CONST(1) << store->chunk_rows_log2) - 1;

	return store->chunks[row >> store->chunk_rows_log2] + column->values_offset +
		   (row & mask) * column->stride;
}

/* Fetch by-value rows of one type. */
#define HG_GET_VALUES(type, datum)                                                                 \
	for (int i = 0; i < nrows; i++)                                                                \
	values[i] = datum(*(const type *) hg_column_store_place(store, column, rows[i]))

static void
hg_column_store_get_column(const HgColumnStore *store, const HgColumn *column, const uint32 *rows,
						   int nrows, Datum *values)
{
	if (column->attlen < 0)
	{
		HG_GET_VALUES(Pointer, PointerGetDatum);
		return;
	}
	if (!column->attbyval)
	{
		for (int i = 0; i < nrows; i++)
			values[i] = PointerGetDatum(hg_column_store_place(store, column, rows[i]));
		return;
	}
	switch (column->attlen)
	{
		case 1:
			HG_GET_VALUES(char, CharGetDatum);
			break;
		case 2:
			HG_GET_VALUES(int16, Int16GetDatum);
			break;
		case 4:
			HG_GET_VALUES(int32, Int32GetDatum);
			break;
		default:
			HG_GET_VALUES(Datum, );
			break;
	}
}

void
hg_column_store_get(const HgColumnStore *store, const uint32 *rows, int nrows, HgBatch *batch,
					const int *at)
{
	uint64 mask = (UINT64CONST(1) << store->chunk_rows_log2) - 1;

	for (int c = 0; c < store->ncolumns; c++)
	{
		const HgColumn *column = &store->columns[c];
		bool *nulls = batch->nulls[at[c]];

		/* ask for all of them before the first is waited for */
		for (int i = 0; i < nrows; i++)
			HG_PREFETCH(hg_column_store_place(store, column, rows[i]));
		hg_column_store_get_column(store, column, rows, nrows, batch->values[at[c]]);
		batch->has_nulls[at[c]] = column->has_nulls;
		if (!column->has_nulls)
			continue;
		for (int i = 0; i < nrows; i++)
		{
			const uint8 *validity =
				(const uint8 *) store->chunks[rows[i] >> store->chunk_rows_log2] +
				column->validity_offset;
			uint64 place = rows[i] & mask;

			nulls[i] = (validity[place / 8] & (1 << (place % 8))) == 0;
		}
	}
}

/* Free the packed values. */
static void
hg_column_store_unpack(HgColumnStore *store)
{
	MemoryContextReset(store->packed_context);
	store->packed_next = store->packed_end = NULL;
	store->packed_bytes = 0;
}

void
hg_column_store_clear(HgColumnStore *store)
{
	store->rows = 0;
	for (int c = 0; c < store->ncolumns; c++)
		store->columns[c].has_nulls = false;
	hg_column_store_unpack(store);
}

void
hg_column_store_release(HgColumnStore *store)
{
	hg_column_store_clear(store);
	/* this deletes packed_context too */
	MemoryContextReset(store->context);
	store->packed_context =
		AllocSetContextCreate(store->context, "HashGraph packed values", ALLOCSET_SMALL_SIZES);
	store->chunks = NULL;
	store->nchunks = store->max_chunks = 0;
	store->piece_next = NULL;
	store->piece_left = 0;
	store->piece_bytes = 0;
}
