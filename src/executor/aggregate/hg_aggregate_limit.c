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

bool
hg_aggregate_is_beyond(HgAggregateState *state, HgGroup *group)
{
	HgAggregateLimit *limit = &state->limit;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	Datum value;
	bool null;
	bool beyond;

	if (limit->top == NULL)
		return false;
	limit->top->seen++;
	if (!limit->top->complete)
		return false;
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
