/*-------------------------------------------------------------------------
 *
 * hg_join_rescan.c
 *	  The rescan cache: input rows that the join node keeps for its next execution.
 *
 * A join that is executed for each row of a nested loop, or of a query above a subquery, often has
 * one side that depends on that row, and one that does not.  The rows of the latter stay cached
 * (hg_join_rescan), and the next execution should cost as little as has changed.  The engine would
 * put all cached rows into bins for each handful of others.  So a filter of the others' keys
 * (hg_filter.h) is applied to the cached keys, in a pass over memory, and the engine gets only the
 * rows that pass.
 *
 * A side that is cached for changing rows of the other side must be cached in whole.  So the outer
 * side is read without a filter once a rescan has shown that it will be needed again.
 *
 * test/t/join_memory.pl holds that this stays within work memory; the regression topic join_rescan
 * holds what is read again and what is not.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "executor/join/hg_join_state.h"

/* A side is small if the cached rows are at least this many times as many. */
#define HG_RESCAN_SMALL 4

/* Selected rows may take 1 / HG_SELECTED_SHARE of the memory of the cached rows. */
#define HG_SELECTED_SHARE 4

/* ---------------------------------------------------------------------
 * Volatile functions
 * ---------------------------------------------------------------------
 */

/* Returns true if a plan node, without those below it, calls volatile functions. */
static bool
hg_join_plan_is_volatile(const Plan *plan)
{
	if (contain_volatile_functions((Node *) plan->targetlist) ||
		contain_volatile_functions((Node *) plan->qual))
		return true;
	switch (nodeTag(plan))
	{
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			return contain_volatile_functions((Node *) ((const Join *) plan)->joinqual);
		case T_CustomScan:
			return contain_volatile_functions((Node *) ((const CustomScan *) plan)->custom_exprs);
		case T_ForeignScan:
			return contain_volatile_functions((Node *) ((const ForeignScan *) plan)->fdw_exprs);
		case T_SampleScan:
			/* a sampling method may return other rows each time */
			return true;
		case T_ValuesScan:
			return contain_volatile_functions((Node *) ((const ValuesScan *) plan)->values_lists);
		case T_Result:
			return contain_volatile_functions(((const Result *) plan)->resconstantqual);
		case T_Limit:
			return contain_volatile_functions(((const Limit *) plan)->limitOffset) ||
				   contain_volatile_functions(((const Limit *) plan)->limitCount);
		case T_WindowAgg:
			return contain_volatile_functions(((const WindowAgg *) plan)->startOffset) ||
				   contain_volatile_functions(((const WindowAgg *) plan)->endOffset);
		default:
			/* core caches the rows of function scans, too */
			return false;
	}
}

/* As hg_join_plan_is_volatile(), for a node and all below it, subplans included. */
static bool
hg_join_state_is_volatile(PlanState *ps, void *context)
{
	return hg_join_plan_is_volatile(ps->plan) ||
		   planstate_tree_walker(ps, hg_join_state_is_volatile, context);
}

bool
hg_join_may_cache_outer(HgJoinRescan *rescan, const HgInput *outer)
{
	if (!rescan->examined)
	{
		rescan->outer_volatile = hg_join_state_is_volatile(outer->child.plan, NULL);
		rescan->examined = true;
	}
	return !rescan->outer_volatile;
}

/* ---------------------------------------------------------------------
 * Selecting
 * ---------------------------------------------------------------------
 */

/* Selects the rows of a side that the other side's keys let through; false: none is left. */
static bool
hg_join_select(HgJoinState *state, HgSide side)
{
	HgInput *input = state->inputs[side];
	const HgInput *other = state->inputs[hg_other_side(side)];
	HgKeySet keys = hg_key_column_set(other->held.words);
	HgFilter *filter;
	MemoryContext old;
	double start;

	/* rows without a match are needed, too */
	if (state->matched[side].tracked || keys.rows > input->held.words->rows / HG_RESCAN_SMALL)
		return true;
	start = hg_clock_ms();
	old = MemoryContextSwitchTo(state->memory.context);
	filter = hg_filter_create(&keys, other->held.words->width,
							  hg_join_limit(&state->memory) / HG_FILTER_SHARE);
	if (filter != NULL)
	{
		hg_filter_charge(filter, &state->memory.files, 1);
		(void) hg_held_select(&input->held, filter,
							  Min(hg_budget_room(&state->memory.budget),
								  input->held.budget.charged / HG_SELECTED_SHARE));
		hg_filter_destroy(filter);
	}
	MemoryContextSwitchTo(old);
	state->progress.record.scan_ms += hg_clock_ms() - start;
	return !input->held.selected || input->held.words->rows > 0;
}

bool
hg_join_select_cached(HgJoinState *state)
{
	/* one chunk of many is not cached, and the inner side is not filtered for it */
	return !state->reading.outer_held || hg_join_has_covered(state->inputs) ||
		   ((!state->rescan.outer_whole || hg_join_select(state, HG_OUTER)) &&
			(!state->rescan.inner || hg_join_select(state, HG_INNER)));
}

void
hg_join_reset(HgJoinState *state)
{
	hg_join_end_upload(&state->upload, state->inputs);
	hg_join_end_stream(&state->streaming);
	hg_join_end_matches(state);
	hg_row_bits_forget(state->matched[HG_OUTER].bits);
	hg_join_spill_drop(&state->spill);
	state->reading.inner_chunks = state->reading.outer_chunks = 0;
	hg_join_covered_meet_all(&state->cover);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_held_select_all(&state->inputs[side]->held);
}
