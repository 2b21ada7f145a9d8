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
	store->chunks[store->nchunks] = hg_block_alloc(store->context, store->chunk_bytes);
	if (store->chunks[store->nchunks] == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
						errdetail("Failed to allocate %zu bytes for the columns of a join.",
								  store->chunk_bytes)));
	store->nchunks++;
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

void
hg_column_store_add_columns(HgColumnStore *store, const Datum *values, const bool *nulls,
							const int *at)
{
	Size i = hg_column_store_place(store, store->rows);
	char *chunk;

	if ((store->rows >> store->chunk_rows_log2) == (uint64) store->nchunks)
		hg_column_store_grow(store);
	chunk = store->chunks[store->rows >> store->chunk_rows_log2];
	for (int c = 0; c < store->ncolumns; c++)
	{
		HgColumn *column = &store->columns[c];
		char *place = chunk + column->values_offset + i * column->stride;
		uint8 *validity = (uint8 *) chunk + column->validity_offset + i / 8;
		uint8 bit = 1 << (i % 8);

		if (nulls[at[c]])
		{
			*validity &= ~bit;
			column->has_nulls = true;
			continue;
		}
		*validity |= bit;
		if (column->attbyval)
			store_att_byval(place, values[at[c]], column->attlen);
		else if (column->attlen > 0)
			memcpy(place, DatumGetPointer(values[at[c]]), column->attlen);
		else
			*(char **) place = hg_column_store_copy(store, column, values[at[c]]);
	}
}

void
hg_column_store_get(const HgColumnStore *store, uint64 row, Datum *values, bool *nulls,
					const int *at)
{
	const char *chunk;
	Size i = hg_column_store_place(store, row);

	if (store->ncolumns == 0)
		return;
	chunk = store->chunks[row >> store->chunk_rows_log2];
	for (int c = 0; c < store->ncolumns; c++)
	{
		const HgColumn *column = &store->columns[c];
		const char *place = chunk + column->values_offset + i * column->stride;

		nulls[at[c]] =
			column->has_nulls &&
			(((const uint8 *) chunk + column->validity_offset)[i / 8] & (1 << (i % 8))) == 0;
		if (nulls[at[c]])
			values[at[c]] = (Datum) 0;
		else if (column->attlen > 0)
			values[at[c]] = fetch_att(place, column->attbyval, column->attlen);
		else
			values[at[c]] = PointerGetDatum(*(char *const *) place);
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
}
