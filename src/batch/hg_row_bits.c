/*-------------------------------------------------------------------------
 *
 * hg_row_bits.c
 *	  One bit for each row of a chunk, which says whether the row has found a match.
 *
 * A chunk in a file is its HgRowCounts and the bytes that contain its bits.  The first byte may
 * also have bits of rows before the chunk.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_row_bits.h"
#include "batch/hg_spill.h"

/* Bytes that are written or read between two checks for interrupts. */
#define HG_BITS_AT_ONCE ((Size) 1024 * 1024)

static inline Size
hg_row_bits_bytes(uint64 rows)
{
	return (Size) (rows / 8 + 1);
}

HgRowBits *
hg_row_bits_create(HgBudget *budget)
{
	HgRowBits *set = palloc0(sizeof(HgRowBits));

	set->context = CurrentMemoryContext;
	set->charge.budget = budget;
	return set;
}

/* Charges the bits and the files' buffers. */
static void
hg_row_bits_charge(HgRowBits *set)
{
	int files = (set->previous != NULL) + (set->current != NULL);

	hg_charge_set(&set->charge, set->allocated + files * HG_SPILL_FILE_BYTES);
}

/* Makes room for bits of a number of rows; new ones are zero. */
static void
hg_row_bits_reserve(HgRowBits *set, uint64 rows)
{
	Size bytes = hg_row_bits_bytes(rows);

	if (bytes <= set->allocated)
		return;
	set->bits = set->bits == NULL ? MemoryContextAllocHuge(set->context, bytes)
								  : repalloc_huge(set->bits, bytes);
	hg_block_clear(set->bits + set->allocated, bytes - set->allocated);
	set->allocated = bytes;
	hg_row_bits_charge(set);
}

void
hg_row_bits_clear(HgRowBits *set)
{
	if (set->bits != NULL)
		hg_block_clear(set->bits, set->allocated);
}

/* Returns the mask of the bits before first in its byte. */
static inline uint8
hg_row_bits_ahead(uint64 first)
{
	return (uint8) ((1 << first % 8) - 1);
}

void
hg_row_bits_reset(HgRowBits *set, uint64 first, uint64 rows)
{
	hg_row_bits_reserve(set, first + rows);
	set->bits[first / 8] &= hg_row_bits_ahead(first);
	hg_block_clear(set->bits + first / 8 + 1, hg_row_bits_bytes(first + rows) - first / 8 - 1);
}

void
hg_row_bits_save(HgRowBits *set, uint64 first, HgRowCounts counts)
{
	Size end = hg_row_bits_bytes(first + counts.rows);

	if (set->current == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(set->context);

		PrepareTempTablespaces();
		set->current = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
		hg_row_bits_charge(set);
	}
	BufFileWrite(set->current, &counts, sizeof(counts));
	for (Size at = first / 8; at < end; at += HG_BITS_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(set->current, set->bits + at, Min(end - at, HG_BITS_AT_ONCE));
	}
}

bool
hg_row_bits_restore(HgRowBits *set, uint64 first, HgRowCounts *counts)
{
	Size end;
	uint8 ahead;

	if (set->previous == NULL ||
		BufFileReadMaybeEOF(set->previous, counts, sizeof(*counts), true) == 0)
		return false;
	hg_row_bits_reserve(set, first + counts->rows);
	end = hg_row_bits_bytes(first + counts->rows);
	ahead = set->bits[first / 8] & hg_row_bits_ahead(first);
	for (Size at = first / 8; at < end; at += HG_BITS_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileReadExact(set->previous, set->bits + at, Min(end - at, HG_BITS_AT_ONCE));
	}
	set->bits[first / 8] = (set->bits[first / 8] & ~hg_row_bits_ahead(first)) | ahead;
	return true;
}

void
hg_row_bits_next_reading(HgRowBits *set)
{
	if (set->previous != NULL)
		BufFileClose(set->previous);
	set->previous = set->current;
	set->current = NULL;
	hg_row_bits_charge(set);
	if (set->previous != NULL && BufFileSeek(set->previous, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not rewind the temporary file of a join")));
}

void
hg_row_bits_forget(HgRowBits *set)
{
	if (set->previous != NULL)
		BufFileClose(set->previous);
	if (set->current != NULL)
		BufFileClose(set->current);
	set->previous = set->current = NULL;
	hg_row_bits_charge(set);
}

uint64
hg_shared_bits_create(HgSharedBits *shared, dsa_area *area, uint64 rows)
{
	uint64 segment_rows = UINT64CONST(1) << HG_BITS_SEGMENT_LOG2;
	uint64 all = 0;

	for (int i = 0; i < HG_BITS_SEGMENTS && i * segment_rows < rows; i++)
	{
		Size bytes = (Min(rows - i * segment_rows, segment_rows) / 32 + 1) * sizeof(uint32);

		/* an atomic word of zero bits needs no other initialization */
		shared->segments[i] = dsa_allocate(area, bytes);
		hg_block_clear(dsa_get_address(area, shared->segments[i]), bytes);
		all += bytes;
	}
	return all;
}

void
hg_shared_bits_release(HgSharedBits *shared, dsa_area *area)
{
	for (int i = 0; i < HG_BITS_SEGMENTS; i++)
	{
		if (DsaPointerIsValid(shared->segments[i]))
			dsa_free(area, shared->segments[i]);
		shared->segments[i] = InvalidDsaPointer;
	}
}

void
hg_row_bits_share(HgRowBits *set, const HgSharedBits *shared, dsa_area *area)
{
	if (set->segments != NULL)
		pfree(set->segments);
	set->segments = NULL;
	if (shared == NULL)
		return;
	set->segments =
		MemoryContextAllocZero(set->context, HG_BITS_SEGMENTS * sizeof(pg_atomic_uint32 *));
	for (int i = 0; i < HG_BITS_SEGMENTS; i++)
		if (DsaPointerIsValid(shared->segments[i]))
			set->segments[i] = dsa_get_address(area, shared->segments[i]);
}
