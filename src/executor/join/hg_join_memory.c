/*-------------------------------------------------------------------------
 *
 * hg_join_memory.c
 *	  The memory that a join may use, the sizes expected, and its partitions on disk.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "executor/join/hg_join_cover.h"
#include "executor/join/hg_join_state.h"

/*
 * File buffers may take this much however small work memory is: 32 partitions of each side.  With
 * fewer partitions rows would be written at more levels.
 */
#define HG_LEAST_FILES_BYTES (64 * (uint64) HG_SPILL_PARTITION_BYTES)

/* Part of work memory that file buffers may take, and of what is left that a partition may. */
#define HG_FILES_PART 4
#define HG_PARTITION_PART 4

/* A side is small if the other one is this many times as large. */
#define HG_FILTER_SMALL 8

void
hg_join_memory_init(HgJoinMemory *memory, uint64 limit)
{
	hg_budget_init(&memory->budget, NULL, limit);
	hg_budget_init(&memory->files, &memory->budget, PG_UINT64_MAX);
	memory->context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraphJoin", ALLOCSET_DEFAULT_SIZES);
}

/* Work memory less file buffers, which take up to a quarter of it or HG_LEAST_FILES_BYTES. */
uint64
hg_join_limit(const HgJoinMemory *memory)
{
	uint64 limit = memory->budget.limit;

	return limit - Min(memory->files.charged, limit / 2);
}

int
hg_join_partition_bits(const HgJoinMemory *memory, double expected)
{
	const uint64 limit = hg_join_limit(memory);
	const uint64 most = memory->budget.limit / HG_FILES_PART;
	const uint64 left = most - Min(most, memory->files.charged);
	const uint64 room = Max(left, HG_LEAST_FILES_BYTES); /* for buffers of both sides */
	int bits = 2;

	while (bits < HG_SPILL_MAX_BITS && expected / (1 << bits) > limit / HG_PARTITION_PART &&
		   (UINT64CONST(4) << bits) * HG_SPILL_PARTITION_BYTES <= room)
		bits++;
	return bits;
}

double
hg_join_planned_rows(const HgJoinState *state, HgSide side)
{
	double rows = state->inputs[side]->child.plan->plan->plan_rows;

	return state->read_once == (int) side ? rows / hg_join_processes(state->parallel_hash) : rows;
}

/* Returns the bytes of a row of an input, by the plan. */
static double
hg_join_row_bytes(const HgInput *input)
{
	return (double) hg_held_row_bytes(input->child.keys.encoder->width,
									  input->child.plan->plan->plan_width);
}

double
hg_join_planned_bytes(const HgJoinState *state)
{
	double bytes = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		bytes +=
			hg_join_planned_rows(state, (HgSide) side) * hg_join_row_bytes(state->inputs[side]);
	return bytes * hg_join_processes(state->parallel_hash);
}

double
hg_join_expected_bytes(const HgInput *inner, double covered)
{
	double rows = inner->child.plan->plan->plan_rows - covered;

	return Max(2.0 * inner->held.budget.charged, rows * hg_join_row_bytes(inner));
}

double
hg_join_inner_room(const HgJoinMemory *memory, const HgInput *inner)
{
	/* all inner rows are in memory */
	if (inner->at_end && inner->partition.spill == NULL)
		return PG_UINT64_MAX;
	return (double) (hg_join_limit(memory) / 2) / hg_join_row_bytes(inner);
}

bool
hg_join_filter_may_pay(const HgJoinState *state, HgSide side, double rows, double other_rows)
{
	return !state->rules.preserved[hg_other_side(side)] &&
		   (rows < other_rows / HG_FILTER_SMALL ||
			(rows < other_rows && state->css.ss.ps.plan->plan_rows < other_rows / 2));
}

/* ---------------------------------------------------------------------
 * Partitions
 * ---------------------------------------------------------------------
 */

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
