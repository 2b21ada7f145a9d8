/*-------------------------------------------------------------------------
 *
 * hg_aggregate_explain.c
 *	  EXPLAIN of the aggregate node.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/ruleutils.h"

#include "executor/hg_aggregate_state.h"

/* Show the group columns as core does. */
static void
hg_explain_keys(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const CustomScan *cscan = (const CustomScan *) node->ss.ps.plan;
	List *places = list_nth(cscan->custom_private, HG_AGGREGATE_KEYS);
	List *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
	bool use_prefix = list_length(es->rtable) > 1 || es->verbose;
	List *names = NIL;
	ListCell *lc;

	if (places == NIL)
		return;
	foreach (lc, places)
	{
		const TargetEntry *tle =
			list_nth_node(TargetEntry, cscan->custom_scan_tlist, lfirst_int(lc));

		names = lappend(names, deparse_expression((Node *) tle->expr, context, use_prefix, true));
	}
	ExplainPropertyList("Group Key", names, es);
}

static int64
hg_kilobytes(uint64 bytes)
{
	return (int64) ((bytes + 1023) / 1024);
}

void
hg_aggregate_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const HgAggregateState *state = (const HgAggregateState *) node;

	hg_explain_keys(node, ancestors, es);
	if (!es->analyze || state->phase == HG_AGGREGATE_READ || !state->grouped)
		return;
	ExplainPropertyUInteger("Groups", NULL, state->groups_returned, es);
	ExplainPropertyInteger("Memory Usage", "kB", hg_kilobytes(state->memory_bytes), es);
	if (state->partitions == 0)
		return;
	ExplainPropertyUInteger("Partitions", NULL, state->partitions, es);
	ExplainPropertyInteger("Disk Usage", "kB", hg_kilobytes(state->spilled_bytes), es);
}
