/*-------------------------------------------------------------------------
 *
 * hg_join_size.c
 *	  The memory that a join may use, and the sizes that it is expected to have.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "executor/join/hg_join_cover_cost.h"
#include "executor/join/hg_join_state.h"

/*
 * File buffers may take this much however small work memory is: 32 partitions of each side.  With
 * fewer partitions rows would be written at more levels.
 */
#define HG_LEAST_FILES_BYTES (64 * (uint64) HG_SPILL_FILE_BYTES)

/* An inner side is small if the outer one is this many times as large. */
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
	const uint64 most = memory->budget.limit / 4;
	const uint64 left = most - Min(most, memory->files.charged);
	const uint64 room = Max(left, HG_LEAST_FILES_BYTES); /* for buffers of both sides */
	int bits = 2;

	while (bits < HG_SPILL_MAX_BITS && expected / (1 << bits) > limit / 4 &&
		   (UINT64CONST(4) << bits) * HG_SPILL_FILE_BYTES <= room)
		bits++;
	return bits;
}

double
hg_join_planned_rows(const HgJoinState *state, HgSide side)
{
	double rows = state->inputs[side]->child.plan->plan->plan_rows;

	return state->read_once == (int) side ? rows / hg_join_processes(state->parallel_hash) : rows;
}

double
hg_join_planned_bytes(const HgJoinState *state)
{
	double bytes = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		bytes += hg_join_planned_rows(state, (HgSide) side) *
				 hg_held_row_bytes(input->child.keys.encoder->width,
								   input->child.plan->plan->plan_width);
	}
	return bytes * hg_join_processes(state->parallel_hash);
}

/* Returns the bytes of a row of an input, by the plan. */
static double
hg_join_row_bytes(const HgInput *input)
{
	return (double) hg_held_row_bytes(input->child.keys.encoder->width,
									  input->child.plan->plan->plan_width);
}

double
hg_join_expected_bytes(const HgInput *inner, double covered)
{
	double rows = inner->child.plan->plan->plan_rows - covered;

	return Max(2.0 * inner->held.budget.charged, rows * hg_join_row_bytes(inner));
}

double
hg_join_inner_room(const HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];

	/* all inner rows are in memory */
	if (inner->at_end && inner->partition.spill == NULL)
		return PG_UINT64_MAX;
	return (double) (hg_join_limit(&state->memory) / 2) / hg_join_row_bytes(inner);
}

bool
hg_join_filter_may_pay(const HgJoinState *state, double inner_rows)
{
	double outer_rows = hg_join_planned_rows(state, HG_OUTER);
	double rows = state->css.ss.ps.plan->plan_rows;

	return !state->rules.preserved[HG_OUTER] &&
		   (inner_rows < outer_rows / HG_FILTER_SMALL ||
			(inner_rows < outer_rows && rows < outer_rows / 2));
}
