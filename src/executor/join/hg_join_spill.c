/*-------------------------------------------------------------------------
 *
 * hg_join_spill.c
 *	  The join node's partitions on disk.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_spill.h"

/* A partition that lacks less than this part of its set's rows is not partitioned again. */
#define HG_SPILL_ALIKE_PART 8

void
hg_join_spill_push(HgJoinSpill *spill, HgSpill *const sides[2], pg_atomic_uint32 *next)
{
	HgPartitions *partitions = palloc0(sizeof(HgPartitions));

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		partitions->sides[side] = sides[side];
	partitions->current = -1;
	partitions->next = next;
	spill->sets = lcons(partitions, spill->sets);
	spill->writing = true;
}

uint64
hg_join_spill_unfinished_bytes(const HgJoinSpill *spill)
{
	const HgPartitions *partitions;

	if (!spill->writing)
		return 0;
	partitions = linitial(spill->sets);
	return partitions->sides[HG_OUTER]->bytes + partitions->sides[HG_INNER]->bytes;
}

uint64
hg_join_spill_finish(HgJoinSpill *spill)
{
	uint64 bytes = hg_join_spill_unfinished_bytes(spill);

	spill->writing = false;
	return bytes;
}

uint64
hg_join_spill_joined(const HgJoinSpill *spill)
{
	uint64 joined = spill->joined;
	ListCell *lc;

	foreach (lc, spill->sets)
	{
		const HgPartitions *partitions = lfirst(lc);
		int current = partitions->current;

		if (partitions->next != NULL)
			current = Min((int) pg_atomic_read_u32(partitions->next),
						  1 << partitions->sides[HG_INNER]->bits) -
					  1;
		joined += Max(current, 0);
	}
	return joined;
}

/* Deletes the innermost sets. */
static void
hg_join_spill_pop(HgJoinSpill *spill)
{
	HgPartitions *partitions = linitial(spill->sets);

	spill->joined += UINT64CONST(1) << partitions->sides[HG_INNER]->bits;
	spill->writing = false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_spill_destroy(partitions->sides[side]);
	pfree(partitions);
	spill->sets = list_delete_first(spill->sets);
}

void
hg_join_spill_drop(HgJoinSpill *spill)
{
	while (spill->sets != NIL)
		hg_join_spill_pop(spill);
}

void
hg_join_spill_drop_current(HgPartitions *partitions)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_spill_drop(partitions->sides[side], partitions->current);
}

HgPartitions *
hg_join_spill_next(HgJoinSpill *spill, const HgJoinRules *rules, const bool covered[2])
{
	while (spill->sets != NIL)
	{
		HgPartitions *partitions = linitial(spill->sets);
		const HgSpill *outer = partitions->sides[HG_OUTER];
		const HgSpill *inner = partitions->sides[HG_INNER];
		int partition;

		/* the current partition is joined */
		if (partitions->current >= 0)
			hg_join_spill_drop_current(partitions);
		partition = partitions->current = partitions->next != NULL
											  ? (int) pg_atomic_fetch_add_u32(partitions->next, 1)
											  : partitions->current + 1;
		if (partition >= 1 << inner->bits)
		{
			hg_join_spill_pop(spill);
			continue;
		}
		if ((outer->rows[partition] > 0 || covered[HG_OUTER] ||
			 !hg_join_is_empty_without(rules, HG_OUTER)) &&
			(inner->rows[partition] > 0 || covered[HG_INNER] ||
			 !hg_join_is_empty_without(rules, HG_INNER)) &&
			(outer->rows[partition] > 0 || inner->rows[partition] > 0))
			return partitions;
	}
	return NULL;
}

/* Returns the approximate size of a partition in bytes. */
static double
hg_join_spill_bytes(const HgSpill *spill, int partition)
{
	return (double) spill->bytes / Max(spill->total_rows, 1) * spill->rows[partition];
}

bool
hg_join_spill_pays(const HgPartitions *partitions, double chunks, bool outer_covered)
{
	const HgSpill *inner = partitions->sides[HG_INNER];
	double outer_bytes = hg_join_spill_bytes(partitions->sides[HG_OUTER], partitions->current);
	double inner_bytes = hg_join_spill_bytes(inner, partitions->current);

	if (inner->level + 1 >= HG_SPILL_LEVELS ||
		inner->rows[partitions->current] >=
			inner->total_rows - inner->total_rows / HG_SPILL_ALIKE_PART)
		return false;
	return outer_covered || (chunks - 1) * outer_bytes > 2 * (outer_bytes + inner_bytes);
}
