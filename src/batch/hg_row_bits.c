/*-------------------------------------------------------------------------
 *
 * hg_row_bits.c
 *	  A bit for each row of a chunk: has it found a match yet?
 *
 * A chunk in a file: its HgRowCounts, then rows / 8 + 1 bytes of bits.
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

/* Bytes that are written or read between two looks at interrupts. */
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

/* Charge what the set holds now. */
static void
hg_row_bits_charge(HgRowBits *set)
{
	int files = (set->previous != NULL) + (set->current != NULL);

	hg_charge_set(&set->charge, set->allocated + files * HG_SPILL_FILE_BYTES);
}

/* Room for the bits of a chunk, contents undefined. */
static void
hg_row_bits_reserve(HgRowBits *set, uint64 rows)
{
	Size bytes = hg_row_bits_bytes(rows);

	if (bytes <= set->allocated)
		return;
	if (set->bits != NULL)
		pfree(set->bits);
	set->bits = NULL;
	set->allocated = 0;
	set->bits = MemoryContextAllocHuge(set->context, bytes);
	set->allocated = bytes;
	hg_row_bits_charge(set);
}

void
hg_row_bits_reset(HgRowBits *set, uint64 rows)
{
	hg_row_bits_reserve(set, rows);
	hg_block_clear(set->bits, hg_row_bits_bytes(rows));
}

void
hg_row_bits_save(HgRowBits *set, HgRowCounts counts)
{
	Size bytes = hg_row_bits_bytes(counts.rows);

	if (set->current == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(set->context);

		PrepareTempTablespaces();
		set->current = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
		hg_row_bits_charge(set);
	}
	BufFileWrite(set->current, &counts, sizeof(counts));
	for (Size at = 0; at < bytes; at += HG_BITS_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(set->current, set->bits + at, Min(bytes - at, HG_BITS_AT_ONCE));
	}
}

bool
hg_row_bits_restore(HgRowBits *set, HgRowCounts *counts)
{
	Size bytes;

	if (set->previous == NULL ||
		BufFileReadMaybeEOF(set->previous, counts, sizeof(*counts), true) == 0)
		return false;
	hg_row_bits_reserve(set, counts->rows);
	bytes = hg_row_bits_bytes(counts->rows);
	for (Size at = 0; at < bytes; at += HG_BITS_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileReadExact(set->previous, set->bits + at, Min(bytes - at, HG_BITS_AT_ONCE));
	}
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

		/* bits that are zero are words that are initialised */
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
