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

#include "executor/aggregate/hg_aggregate.h"
#include "executor/aggregate/hg_aggregate_explain.h"
#include "executor/aggregate/hg_aggregate_state.h"
#include "executor/join/hg_join_explain.h"

static const HgBlockLabels hg_aggregate_block_labels = {"Resident Blocks", "Heap Blocks",
														"Not Served"};

/* Shows the group columns as core does. */
static void
hg_explain_keys(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const CustomScan *cscan = (const CustomScan *) node->ss.ps.plan;
	List *column_indexes = list_nth(cscan->custom_private, HG_AGGREGATE_KEYS);
	List *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
	bool use_prefix = hg_explain_has_prefix(es);
	List *names = NIL;
	ListCell *lc;

	if (column_indexes == NIL)
		return;
	foreach (lc, column_indexes)
	{
		const TargetEntry *tle =
			list_nth_node(TargetEntry, cscan->custom_scan_tlist, lfirst_int(lc));

		names = lappend(names, deparse_expression((Node *) tle->expr, context, use_prefix, true));
	}
	ExplainPropertyList("Group Key", names, es);
}

void
hg_aggregate_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const HgAggregateState *state = (const HgAggregateState *) node;
	HgAggregateRecord record = hg_aggregate_current_record(state);

	hg_explain_keys(node, ancestors, es);
	if (!es->analyze)
	{
		hg_explain_expected_blocks(state->source, &hg_aggregate_block_labels, es);
		return;
	}
	if (record.processes == 0)
		return;
	hg_explain_blocks(&hg_aggregate_block_labels, record.blocks, es);
	hg_explain_not_cached(state->source, &hg_aggregate_block_labels, es);
	if (record.reduced_rows > 0)
		ExplainPropertyUInteger("Rows Reduced on Device", NULL, record.reduced_rows, es);
	if (!state->grouped)
		return;
	if (record.processes > 1)
		ExplainPropertyInteger("Processes", NULL, record.processes, es);
	ExplainPropertyUInteger("Groups", NULL, record.groups, es);
	hg_explain_bytes("Memory Usage", record.memory_bytes, es);
	if (record.partitions == 0)
		return;
	ExplainPropertyUInteger("Partitions", NULL, record.partitions, es);
	hg_explain_bytes("Disk Usage", record.spilled_bytes, es);
}
