/*-------------------------------------------------------------------------
 *
 * hg_column_store.c
 *	  The needed columns of one side's rows, fetched by row number.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_column_store.h"
#include "batch/hg_values.h"
#include "engine/hg_engine.h"

/* ---------------------------------------------------------------------
 * Shared memory for one side's column chunks, which several processes fill and read
 * ---------------------------------------------------------------------
 */

void
hg_shared_columns_init(HgSharedColumns *shared)
{
	SpinLockInit(&shared->mutex);
	shared->chunks = 0;
	shared->pieces = InvalidDsaPointer;
}

/*
 * Allocates a piece of bytes behind its head, with nchunks chunk numbers, and sets *pointer to it.
 * Raises an error if shared memory is short.
 */
static HgSharedPiece *
hg_shared_columns_add(HgSharedColumns *shared, dsa_area *area, Size bytes, uint32 nchunks,
					  dsa_pointer *pointer)
{
	HgSharedPiece *piece;

	*pointer = dsa_allocate_extended(area, HG_SHARED_PIECE_HEAD + bytes,
									 DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(*pointer))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of shared memory"),
						errdetail("Failed to allocate %zu bytes for the columns of a join.", bytes),
						errhint("Lower work_mem or max_parallel_workers_per_gather.")));
	piece = dsa_get_address(area, *pointer);
	piece->nchunks = nchunks;
	piece->rows = 0;
	piece->has_nulls = false;
	SpinLockAcquire(&shared->mutex);
	piece->first_chunk = shared->chunks;
	shared->chunks += nchunks;
	piece->next = shared->pieces;
	shared->pieces = *pointer;
	SpinLockRelease(&shared->mutex);
	return piece;
}

void
hg_shared_columns_release(HgSharedColumns *shared, dsa_area *area)
{
	while (DsaPointerIsValid(shared->pieces))
	{
		HgSharedPiece *piece = dsa_get_address(area, shared->pieces);
		dsa_pointer next = piece->next;

		CHECK_FOR_INTERRUPTS();
		dsa_free(area, shared->pieces);
		shared->pieces = next;
	}
	shared->chunks = 0;
}

/* Blocks of packed values grow from the first size to the second.  A larger value has its own. */
#define HG_FIRST_PACKED_BLOCK ((Size) 8 * 1024)
#define HG_PACKED_BLOCK ((Size) 256 * 1024)

/* A chunk has as many rows as fit HG_CHUNK_BYTES, within limits. */
#define HG_CHUNK_BYTES ((Size) 256 * 1024)
#define HG_MIN_CHUNK_ROWS_LOG2 6

/* Chunk numbers that are claimed at once if there are no columns. */
#define HG_EMPTY_CHUNKS 64

/* The largest pieces of chunks. */
#define HG_PIECE_BYTES ((Size) 8 * 1024 * 1024)

HgColumnStore *
hg_column_store_create(MemoryContext parent, TupleDesc desc, int ncolumns, const int *attnos,
					   HgBudget *budget)
{
	HgColumnStore *store = MemoryContextAllocZero(parent, sizeof(HgColumnStore));

	store->context = AllocSetContextCreate(parent, "HashGraph columns", ALLOCSET_SMALL_SIZES);
	store->packed_context =
		AllocSetContextCreate(store->context, "HashGraph packed values", ALLOCSET_SMALL_SIZES);
	store->charge.budget = budget;
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
			column->stride = sizeof(uint64);
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

/* Allocates the piece of the next chunks. */
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

/* Makes room for nchunks in the array of chunks. */
static void
hg_column_store_reserve_chunks(HgColumnStore *store, int nchunks)
{
	int max_chunks = Max(16, store->max_chunks);

	if (nchunks <= store->max_chunks)
		return;
	while (max_chunks < nchunks)
		max_chunks *= 2;
	if (store->chunks == NULL)
		store->chunks = MemoryContextAlloc(store->context, max_chunks * sizeof(char *));
	else
		store->chunks = repalloc_huge(store->chunks, max_chunks * sizeof(char *));
	store->max_chunks = max_chunks;
}

static pg_noinline void
hg_column_store_grow(HgColumnStore *store)
{
	hg_column_store_reserve_chunks(store, store->nchunks + 1);
	if (store->piece_left == 0)
		hg_column_store_add_piece(store);
	store->chunks[store->nchunks++] = store->piece_next;
	store->piece_next += store->chunk_bytes;
	store->piece_left--;
}

/* Adds the chunks of a piece, which any process may have filled. */
static void
hg_column_store_enter_piece(HgColumnStore *store, HgSharedPiece *piece)
{
	hg_column_store_reserve_chunks(store, piece->first_chunk + piece->nchunks);
	for (uint32 i = 0; i < piece->nchunks; i++)
		store->chunks[piece->first_chunk + i] =
			(char *) piece + HG_SHARED_PIECE_HEAD + i * store->chunk_bytes;
	store->nchunks = Max(store->nchunks, (int) (piece->first_chunk + piece->nchunks));
}

/* Claims a new piece of shared memory. */
static pg_noinline void
hg_column_store_grow_shared(HgColumnStore *store)
{
	uint32 chunks = HG_EMPTY_CHUNKS; /* without columns, chunks are only numbers */
	dsa_pointer pointer;

	if (store->ncolumns > 0)
		chunks = Max(1, Min(store->piece_bytes, HG_SHARED_PIECE_BYTES - HG_SHARED_PIECE_HEAD) /
							store->chunk_bytes);
	if (hg_column_store_end(store) + ((uint64) chunks << store->chunk_rows_log2) > HG_MAX_ROWS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many rows in one side of a join"),
						errhint("Set max_parallel_workers_per_gather to 0, or hashgraph.enabled to "
								"off, for this query.")));
	store->piece = hg_shared_columns_add(store->shared, store->area, chunks * store->chunk_bytes,
										 chunks, &pointer);
	store->piece_bytes += chunks * store->chunk_bytes;
	hg_column_store_enter_piece(store, store->piece);
	store->next_row = (uint64) store->piece->first_chunk << store->chunk_rows_log2;
}

/* Returns the number behind the last row that fits the current piece. */
static inline uint64
hg_column_store_piece_end(const HgColumnStore *store)
{
	return ((uint64) store->piece->first_chunk + store->piece->nchunks) << store->chunk_rows_log2;
}

int
hg_column_store_room(HgColumnStore *store, uint64 *first_row)
{
	if (store->shared == NULL)
	{
		*first_row = store->next_row;
		return HG_BATCH_ROWS;
	}
	if (store->piece == NULL || store->next_row == hg_column_store_piece_end(store))
		hg_column_store_grow_shared(store);
	*first_row = store->next_row;
	return (int) Min(hg_column_store_piece_end(store) - store->next_row, HG_BATCH_ROWS);
}

/* Allocates a block for packed values.  Sets *pointer if the store is shared. */
static char *
hg_column_store_packed_block(HgColumnStore *store, Size size, dsa_pointer *pointer)
{
	HgSharedPiece *piece;

	if (store->shared == NULL)
		return MemoryContextAllocHuge(store->packed_context, size);
	piece = hg_shared_columns_add(store->shared, store->area, size, 0, pointer);
	*pointer += HG_SHARED_PIECE_HEAD;
	return (char *) piece + HG_SHARED_PIECE_HEAD;
}

/* Allocates size aligned bytes for a packed value.  Sets *pointer if the store is shared. */
static char *
hg_column_store_pack(HgColumnStore *store, Size size, char attalign, dsa_pointer *pointer)
{
	char *address = (char *) att_align_nominal((uintptr_t) store->packed_next, attalign);

	if (store->packed_next == NULL || address + size > store->packed_end)
	{
		Size block = Min(HG_PACKED_BLOCK, Max(HG_FIRST_PACKED_BLOCK, store->packed_bytes));

		if (size >= block)
		{
			/* the current block is used further */
			store->packed_bytes += size;
			return hg_column_store_packed_block(store, size, pointer);
		}
		address = hg_column_store_packed_block(store, block, &store->packed_pointer);
		/* the free end of the previous block is lost */
		store->packed_bytes += store->packed_end - store->packed_next;
		store->packed_start = store->packed_next = address;
		store->packed_end = address + block;
	}
	store->packed_bytes += (address - store->packed_next) + size;
	store->packed_next = address + size;
	*pointer = store->packed_pointer + (address - store->packed_start);
	return address;
}

/* Copies a variable-length value into the store; returns what its chunk stores for it. */
static uint64
hg_column_store_copy(HgColumnStore *store, const HgColumn *column, Datum value)
{
	dsa_pointer pointer = InvalidDsaPointer;
	char *address;
	Size size;

	if (column->attlen == -1 && VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		ExpandedObjectHeader *header = DatumGetEOHP(value);

		size = EOH_get_flat_size(header);
		address = hg_column_store_pack(store, size, column->attalign, &pointer);
		EOH_flatten_into(header, address, size);
	}
	else
	{
		size = datumGetSize(value, false, column->attlen);
		/* as in a tuple, values with a one-byte header are not aligned */
		address = hg_column_store_pack(store, size,
									   column->attlen == -1 && !VARATT_IS_4B(DatumGetPointer(value))
										   ? TYPALIGN_CHAR
										   : column->attalign,
									   &pointer);
		memcpy(address, DatumGetPointer(value), size);
	}
	return store->shared != NULL ? (uint64) pointer : (uint64) (uintptr_t) address;
}

/* The i-th row of the batch to add. */
#define HG_WHICH(i) (which != NULL ? which[i] : (i))

/* Copies values of a fixed-width column; values of NULLs are undefined. */
static void
hg_column_store_add_fixed(const HgColumn *column, char *to, const Datum *values, const bool *nulls,
						  const uint16 *which, int nrows)
{
	if (column->attbyval)
	{
		hg_values_store(column->attlen, to, values, which, nrows);
		return;
	}
	for (int i = 0; i < nrows; i++)
		if (nulls == NULL || !nulls[HG_WHICH(i)])
			memcpy(to + (Size) i * column->stride, DatumGetPointer(values[HG_WHICH(i)]),
				   column->attlen);
}

/* Adds rows that all go to one chunk, from position first on. */
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
					((uint64 *) to)[i] = hg_column_store_copy(store, column, values[HG_WHICH(i)]);
		if (nulls == NULL)
			continue;
		for (int i = 0; i < nrows; i++)
			if (nulls[HG_WHICH(i)])
			{
				validity[(first + i) / 8] &= ~(1 << ((first + i) % 8));
				column->has_nulls = true;
				if (store->shared != NULL)
					store->piece->has_nulls = true;
			}
	}
}

void
hg_column_store_add(HgColumnStore *store, const HgBatch *batch, const int *at, const uint16 *which,
					int nrows)
{
	uint64 chunk_rows = UINT64CONST(1) << store->chunk_rows_log2;
	uint16 rest[HG_BATCH_ROWS];

	store->rows += nrows;
	if (store->shared != NULL)
		store->piece->rows += nrows;
	/* rows without columns are only counted */
	if (store->ncolumns == 0)
	{
		store->next_row += nrows;
		return;
	}
	while (nrows > 0)
	{
		Size first = store->next_row & (chunk_rows - 1);
		uint64 chunk = store->next_row >> store->chunk_rows_log2;
		int step = (int) Min((uint64) nrows, chunk_rows - first);

		if (chunk == (uint64) store->nchunks)
			hg_column_store_grow(store);
		hg_column_store_add_to_chunk(store, store->chunks[chunk], first, batch, at, which, step);
		store->next_row += step;
		nrows -= step;
		if (nrows == 0)
			break;
		/* the other rows begin the next chunk */
		if (which == NULL)
		{
			for (int i = 0; i < nrows; i++)
				rest[i] = step + i;
			which = rest;
		}
		else
			which += step;
	}
	hg_charge_set(&store->charge, store->rows * store->row_bytes + store->packed_bytes);
}

void
hg_column_store_add_run(HgColumnStore *store, const void *const *values, const int *at, int nrows)
{
	Size chunk_rows = (Size) 1 << store->chunk_rows_log2;
	int done = 0;

	store->rows += nrows;
	if (store->shared != NULL)
		store->piece->rows += nrows;
	while (done < nrows)
	{
		Size first = store->next_row & (chunk_rows - 1);
		uint64 chunk = store->next_row >> store->chunk_rows_log2;
		int step = (int) Min((Size) (nrows - done), chunk_rows - first);

		if (store->ncolumns > 0 && chunk == (uint64) store->nchunks)
			hg_column_store_grow(store);
		for (int c = 0; c < store->ncolumns; c++)
		{
			const HgColumn *column = &store->columns[c];
			char *to = store->chunks[chunk];

			Assert(column->attbyval && column->stride == (uint32) column->attlen);
			if (first == 0)
				memset(to + column->validity_offset, 0xff, chunk_rows / 8);
			memcpy(to + column->values_offset + first * column->stride,
				   (const char *) values[at[c]] + (Size) done * column->stride,
				   (Size) step * column->stride);
		}
		store->next_row += step;
		done += step;
	}
	hg_charge_set(&store->charge, store->rows * store->row_bytes + store->packed_bytes);
}

void
hg_column_store_share(HgColumnStore *store, HgSharedColumns *shared, dsa_area *area)
{
	hg_column_store_release(store);
	store->shared = shared;
	store->area = area;
}

void
hg_column_store_attach(HgColumnStore *store)
{
	dsa_pointer pointer = store->shared->pieces;
	int allocated = 0;

	store->nranges = 0;
	while (DsaPointerIsValid(pointer))
	{
		HgSharedPiece *piece = dsa_get_address(store->area, pointer);

		CHECK_FOR_INTERRUPTS();
		pointer = piece->next;
		if (piece->nchunks == 0)
			continue;
		hg_column_store_enter_piece(store, piece);
		for (int c = 0; c < store->ncolumns; c++)
			store->columns[c].has_nulls |= piece->has_nulls;
		if (store->nranges == allocated)
		{
			allocated = Max(16, 2 * allocated);
			if (store->ranges == NULL)
				store->ranges = MemoryContextAlloc(store->context, allocated * sizeof(HgRowRange));
			else
				store->ranges = repalloc(store->ranges, allocated * sizeof(HgRowRange));
		}
		store->ranges[store->nranges].first = (uint64) piece->first_chunk << store->chunk_rows_log2;
		store->ranges[store->nranges++].rows = piece->rows;
	}
}

const HgRowNumbers *
hg_column_store_numbers(HgColumnStore *store)
{
	HgRowNumbers *numbers = &store->numbers;
	uint32 *rows;

	hg_column_store_attach(store);
	if (numbers->rows != NULL)
		pfree(unconstify(uint32 *, numbers->rows));
	numbers->rows = NULL;
	numbers->block_log2 = store->chunk_rows_log2;
	numbers->blocks = store->nchunks;
	rows = MemoryContextAllocZero(store->context, Max(store->nchunks, 1) * sizeof(uint32));
	for (int i = 0; i < store->nranges; i++)
	{
		uint64 chunk = store->ranges[i].first >> store->chunk_rows_log2;

		for (uint64 left = store->ranges[i].rows; left > 0; left -= rows[chunk++])
			rows[chunk] = (uint32) Min(left, UINT64CONST(1) << store->chunk_rows_log2);
	}
	numbers->rows = rows;
	return numbers;
}

int
hg_column_store_ranges(const HgColumnStore *store, HgRowRange *whole, const HgRowRange **ranges)
{
	if (store->shared != NULL)
	{
		*ranges = store->ranges;
		return store->nranges;
	}
	*whole = (HgRowRange){0, store->rows};
	*ranges = whole;
	return 1;
}

uint64
hg_column_store_end(const HgColumnStore *store)
{
	if (store->shared != NULL)
		return (uint64) store->shared->chunks << store->chunk_rows_log2;
	return store->rows;
}

/* Frees the packed values. */
static void
hg_column_store_unpack(HgColumnStore *store)
{
	MemoryContextReset(store->packed_context);
	store->packed_start = store->packed_next = store->packed_end = NULL;
	store->packed_bytes = 0;
}

void
hg_column_store_clear(HgColumnStore *store)
{
	store->rows = 0;
	store->next_row = 0;
	for (int c = 0; c < store->ncolumns; c++)
		store->columns[c].has_nulls = false;
	hg_column_store_unpack(store);
	hg_charge_set(&store->charge, 0);
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
	store->piece = NULL;
	store->ranges = NULL;
	store->nranges = 0;
	store->numbers.rows = NULL;
}
