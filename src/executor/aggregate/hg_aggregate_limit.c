/*-------------------------------------------------------------------------
 *
 * hg_aggregate_limit.c
 *	  Groups that a node above rejects by their first sort key, before a row is formed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"

#include "batch/hg_numeric.h"
#include "executor/aggregate/hg_aggregate_limit.h"
#include "executor/aggregate/hg_aggregate_state.h"

void
hg_aggregate_limit_begin(HgAggregateLimit *limit, uint32 count)
{
	uint32 divisor;
	uint32 rest;

	limit->blocks = count / HG_BATCH_ROWS;
	/* near the golden section, so that blocks in a row are far apart */
	limit->stride = (uint32) (limit->blocks * 0.618);
	do
	{
		limit->stride++;
		divisor = limit->blocks;
		rest = limit->stride;
		while (rest != 0)
		{
			uint32 remainder = divisor % rest;

			divisor = rest;
			rest = remainder;
		}
	} while (limit->blocks > 0 && divisor != 1);
}

/* Sets the last accepted key as a scaled integer, if it is a numeric that is one. */
static void
hg_aggregate_scale_limit(HgAggregateLimit *limit)
{
	const HgTopKeys *top = limit->top;

	limit->changes = top->changes;
	limit->scaled = top->complete && !top->last->nulls[0] &&
					hg_numeric_decode(top->last->values[0], &limit->last, &limit->scale);
}

/*
 * Sets *beyond for a group whose key is a sum of numerics.  Returns false if integers do not tell:
 * if the sum or the last accepted key is NULL or no scaled integer, or their scales differ.
 */
static bool
hg_aggregate_compare_scaled(HgAggregateLimit *limit, const HgGroup *group, bool *beyond)
{
	const HgTopKeys *top = limit->top;
	HgScaledSum sum;

	if (limit->changes != top->changes)
		hg_aggregate_scale_limit(limit);
	if (!limit->scaled)
		return false;
	sum = hg_function_scaled(limit->result->function, group);
	if (!sum.known || sum.isnull || sum.scale != limit->scale)
		return false;
	if (sum.scaled == limit->last)
		*beyond = top->nkeys == 1;
	else
		*beyond = (sum.scaled > limit->last) != top->keys[0].ssup_reverse;
	return true;
}

/*
 * Raises the errors of a rejected group's results.  Sums and averages of numerics overflow when
 * they are finished, unless they are scaled integers; no other result of a group that may be
 * rejected raises an error.
 */
static void
hg_aggregate_finish_rejected(HgAggregateState *state, HgGroup *group)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;

	for (int i = 0; i < state->nresults; i++)
	{
		const HgResult *result = &state->results[i];
		MemoryContext old;
		bool null;

		if ((result->kind != HG_AGGREGATE_SUM_NUMERIC &&
			 result->kind != HG_AGGREGATE_AVG_NUMERIC) ||
			hg_function_scaled(result->function, group).known)
			continue;
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		(void) hg_function_finish(result->function, result->kind, group, &null);
		MemoryContextSwitchTo(old);
	}
}

/* Returns true if a group's first sort key is rejected. */
static bool
hg_aggregate_key_is_beyond(HgAggregateState *state, HgGroup *group)
{
	HgAggregateLimit *limit = &state->limit;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	Datum value;
	bool null;
	bool beyond;

	if (limit->result != NULL && hg_result_is_scaled(limit->result) &&
		hg_aggregate_compare_scaled(limit, group, &beyond))
		return beyond;
	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (limit->result != NULL)
		value = hg_function_finish(limit->result->function, limit->result->kind, group, &null);
	else
	{
		value = group->values[limit->value];
		null = hg_group_nulls(state->groups, group)[limit->value];
	}
	beyond = hg_top_keys_rejects_first(limit->top, value, null);
	MemoryContextSwitchTo(old);
	return beyond;
}

bool
hg_aggregate_is_beyond(HgAggregateState *state, HgGroup *group)
{
	HgTopKeys *top = state->limit.top;

	if (top == NULL)
		return false;
	top->seen++;
	if (!top->complete || !hg_aggregate_key_is_beyond(state, group))
		return false;
	hg_aggregate_finish_rejected(state, group);
	return true;
}
