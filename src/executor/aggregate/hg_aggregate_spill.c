/*-------------------------------------------------------------------------
 *
 * hg_aggregate_spill.c
 *	  Temporary files for rows whose groups are not in memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/aggregate/hg_aggregate_spill.h"

/*
 * Partitions of a spill set: log2 of the largest number, and the part of work memory that the
 * buffers of their files may take.
 */
#define HG_AGGREGATE_MAX_BITS 6
#define HG_AGGREGATE_FILES_PART 4

void
hg_aggregate_spill_init(HgAggregateSpill *spill, TupleDesc desc, int ncolumns, const int *attnos,
						HgBatch *batch)
{
	*spill = (HgAggregateSpill){.context = CurrentMemoryContext};
	spill->layout = hg_column_store_create(CurrentMemoryContext, desc, ncolumns, attnos, NULL);
	spill->batch = batch;
	spill->dense = palloc(Max(ncolumns, 1) * sizeof(int));
	for (int c = 0; c < ncolumns; c++)
		spill->dense[c] = c;
}

/* Deletes the innermost set. */
static void
hg_aggregate_spill_pop(HgAggregateSpill *spill)
{
	HgAggregatePartitions *innermost = linitial(spill->sets);

	hg_spill_destroy(innermost->spill);
	pfree(innermost);
	spill->sets = list_delete_first(spill->sets);
}

void
hg_aggregate_spill_reset(HgAggregateSpill *spill)
{
	if (spill->writing != NULL)
		hg_spill_destroy(spill->writing);
	spill->writing = NULL;
	while (spill->sets != NIL)
		hg_aggregate_spill_pop(spill);
	spill->level = 0;
}

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

int
hg_aggregate_spill_bits(double expected, uint64 limit, int wanted)
{
	int bits = HG_AGGREGATE_MIN_BITS;

	/* if the estimate is low, partitions are partitioned again */
	while (bits < HG_AGGREGATE_MAX_BITS &&
		   (bits < wanted || expected / (1 << bits) > (double) (limit / 2)) &&
		   (UINT64CONST(2) << bits) * HG_SPILL_PARTITION_BYTES <= limit / HG_AGGREGATE_FILES_PART)
		bits++;
	return bits;
}

static void
hg_aggregate_spill_create(HgAggregateSpill *spill, int bits, HgBudget *budget)
{
	MemoryContext old = MemoryContextSwitchTo(spill->context);

	spill->writing = hg_spill_create(spill->layout, spill->level, bits, false, budget);
	spill->shared_next = NULL;
	MemoryContextSwitchTo(old);
}

int
hg_aggregate_spill_start(HgAggregateSpill *spill, double expected, uint64 limit, HgBudget *budget)
{
	int bits = hg_aggregate_spill_bits(expected, limit, 0);

	hg_aggregate_spill_create(spill, bits, budget);
	return 1 << bits;
}

void
hg_aggregate_spill_start_shared(HgAggregateSpill *spill, int bits,
								const HgSpillParticipants *participants, pg_atomic_uint32 *next,
								HgBudget *budget)
{
	hg_aggregate_spill_create(spill, bits, budget);
	hg_spill_share(spill->writing, participants);
	spill->shared_next = next;
}

void
hg_aggregate_spill_write(HgAggregateSpill *spill, const HgSpillKeys *keys, const HgBatch *batch,
						 const uint16 *which, int nrows)
{
	hg_spill_write(spill->writing, keys, batch, spill->dense, which, nrows);
}

uint64
hg_aggregate_spill_finish(HgAggregateSpill *spill)
{
	MemoryContext old;
	HgAggregatePartitions *written;

	if (spill->writing == NULL)
		return 0;
	old = MemoryContextSwitchTo(spill->context);
	written = palloc0(sizeof(HgAggregatePartitions));
	written->spill = spill->writing;
	written->shared_next = spill->shared_next;
	spill->sets = lcons(written, spill->sets);
	spill->writing = NULL;
	MemoryContextSwitchTo(old);
	return written->spill->bytes;
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

bool
hg_aggregate_spill_next(HgAggregateSpill *spill)
{
	while (spill->sets != NIL)
	{
		HgAggregatePartitions *innermost = linitial(spill->sets);
		int partition = innermost->shared_next != NULL
							? (int) pg_atomic_fetch_add_u32(innermost->shared_next, 1)
							: innermost->next;

		innermost->next = partition + 1;
		if (partition >= 1 << innermost->spill->bits)
			hg_aggregate_spill_pop(spill);
		else if (innermost->spill->rows[partition] > 0)
		{
			spill->level = innermost->spill->level + 1;
			hg_spill_rewind(innermost->spill, partition);
			return true;
		}
	}
	return false;
}

const HgBatch *
hg_aggregate_spill_read(HgAggregateSpill *spill)
{
	HgAggregatePartitions *innermost = linitial(spill->sets);
	HgSpillKeys keys;

	if (hg_spill_read(innermost->spill, innermost->next - 1, spill->batch, &keys))
		return spill->batch;
	hg_spill_drop(innermost->spill, innermost->next - 1);
	return NULL;
}
