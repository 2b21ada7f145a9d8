/*-------------------------------------------------------------------------
 *
 * hg_aggregate_explain.c
 *	  EXPLAIN of the aggregate node.
 *
 * Workers leave what they did in shared memory when they are done, which is before the leader has
 * the last of their rows.  The leader collects it before that memory goes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/ruleutils.h"

#include "executor/aggregate/hg_aggregate_state.h"

/* ---------------------------------------------------------------------
 * What the processes did
 * ---------------------------------------------------------------------
 */

static void
hg_aggregate_add_record(HgAggregateRecord *sum, const HgAggregateRecord *record)
{
	sum->processes += record->processes;
	sum->groups += record->groups;
	sum->memory_bytes += record->memory_bytes;
	sum->spilled_bytes += record->spilled_bytes;
	sum->partitions += record->partitions;
	sum->reduced_rows += record->reduced_rows;
}

/* What this process did. */
static HgAggregateRecord
hg_aggregate_own_record(const HgAggregateState *state)
{
	HgAggregateRecord record = state->record;

	record.memory_bytes = state->budget.peak;
	return record;
}

/* Take over what the workers left. */
static void
hg_aggregate_collect(HgAggregateState *state)
{
	HgAggregateShared *shared = state->shared;
	HgAggregateRecord sum = {0};

	for (int i = 1; i < shared->nprocesses; i++)
	{
		hg_aggregate_add_record(&sum, &shared->records[i]);
		memset(&shared->records[i], 0, sizeof(HgAggregateRecord));
	}
	/* each execution has workers of its own, and memory that is free again after it */
	sum.processes = Max(sum.processes, state->others.processes);
	sum.memory_bytes = Max(sum.memory_bytes, state->others.memory_bytes);
	state->others.processes = 0;
	state->others.memory_bytes = 0;
	hg_aggregate_add_record(&state->others, &sum);
}

static Size
hg_aggregate_shared_size(int nprocesses)
{
	return offsetof(HgAggregateShared, records) + nprocesses * sizeof(HgAggregateRecord);
}

Size
hg_aggregate_estimate_dsm(CustomScanState *node pg_attribute_unused(), ParallelContext *pcxt)
{
	return hg_aggregate_shared_size(pcxt->nworkers + 1);
}

void
hg_aggregate_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->shared = coordinate;
	memset(coordinate, 0, hg_aggregate_shared_size(pcxt->nworkers + 1));
	state->shared->nprocesses = pcxt->nworkers + 1;
}

void
hg_aggregate_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt pg_attribute_unused(),
							  void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->shared = coordinate;
	hg_aggregate_collect(state);
}

void
hg_aggregate_initialize_worker(CustomScanState *node, shm_toc *toc pg_attribute_unused(),
							   void *coordinate)
{
	HgAggregateState *state = (HgAggregateState *) node;

	state->shared = coordinate;
	state->process = ParallelWorkerNumber + 1;
}

void
hg_aggregate_shutdown(CustomScanState *node)
{
	HgAggregateState *state = (HgAggregateState *) node;

	if (state->shared == NULL)
		return;
	if (state->process > 0)
		state->shared->records[state->process] = hg_aggregate_own_record(state);
	else
		hg_aggregate_collect(state);
	state->shared = NULL;
}

/* ---------------------------------------------------------------------
 * EXPLAIN
 * ---------------------------------------------------------------------
 */

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

void
hg_aggregate_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const HgAggregateState *state = (const HgAggregateState *) node;
	HgAggregateRecord record = hg_aggregate_own_record(state);

	hg_explain_keys(node, ancestors, es);
	hg_aggregate_add_record(&record, &state->others);
	if (!es->analyze || record.processes == 0)
		return;
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
