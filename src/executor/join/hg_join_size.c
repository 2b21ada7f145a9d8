/*-------------------------------------------------------------------------
 *
 * hg_join_size.c
 *	  What a join may hold, and what it is expected to be like.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_size.h"

/* An inner side that is so many times smaller than the outer one is small beside it. */
#define HG_FILTER_SMALL 8

/*
 * What both inputs may take together: work memory less the files' buffers, which are kept
 * to a quarter of it except where work memory is smaller than a few buffers.
 */
uint64
hg_join_limit(const HgJoinState *state)
{
	uint64 memory = state->budget.limit;

	return memory - Min(state->files.charged, memory / 2);
}

bool
hg_join_filter_may_pay(const HgJoinState *state, double inner_rows)
{
	double outer_rows = state->inputs[HG_OUTER]->plan->plan->plan_rows;
	double rows = state->css.ss.ps.plan->plan_rows;

	return !state->keep[HG_OUTER] && (inner_rows < outer_rows / HG_FILTER_SMALL ||
									  (inner_rows < outer_rows && rows < outer_rows / 2));
}

double
hg_join_expected_bytes(const HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];
	const Plan *plan = inner->plan->plan;

	return Max(2.0 * inner->budget.charged,
			   plan->plan_rows * hg_input_row_bytes(inner->encoder->width, plan->plan_width));
}

int
hg_join_partition_bits(const HgJoinState *state, double expected)
{
	uint64 limit = hg_join_limit(state);
	int bits = 2;

	while (bits < HG_SPILL_MAX_BITS && expected / (1 << bits) > limit / 4 &&
		   state->files.charged + (UINT64CONST(4) << bits) * HG_SPILL_FILE_BYTES <=
			   state->budget.limit / 4)
		bits++;
	return bits;
}

bool
hg_join_streams(const HgJoinState *state)
{
	return state->rows_wanted || state->track[HG_OUTER] || state->track[HG_INNER];
}
