/*-------------------------------------------------------------------------
 *
 * hg_join_progress.c
 *	  What other sessions see of a running join node.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "executor/join/hg_join_state.h"

/* Limit of expected rows, because a plan may expect more than a bigint holds. */
#define HG_MOST_EXPECTED 1e18

/* Names of the phases, as EXPLAIN names times and sides; HG_JOIN_RETURN has those of its rows. */
static const HgProgressPhase hg_join_phases[] = {
	[HG_JOIN_READ_INNER] = {"scan inner"},
	[HG_JOIN_NEXT_PARTITION] = {"scan partition"},
	[HG_JOIN_READ_OUTER] = {"scan outer"},
	[HG_JOIN_BUILD] = {"build"},
	[HG_JOIN_END_CHUNK] = {"match"},
	[HG_JOIN_NEXT_INNER] = {"scan inner"},
	[HG_JOIN_DONE] = {"done"},
};

/* ---------------------------------------------------------------------
 * Figures
 * ---------------------------------------------------------------------
 */

/* Returns the number of rows that a side's child has returned, filtered ones included. */
static inline uint64
hg_join_rows_read(const HgInput *input)
{
	return input->child.rows_read + input->child.filtering.refused;
}

/* HgProgressCallbacks.phase */
static const HgProgressPhase *
hg_join_progress_phase(const void *arg)
{
	const HgJoinState *state = arg;

	return state->progress.phase == HG_JOIN_RETURN ? &state->emission.kind->shown
												   : &hg_join_phases[state->progress.phase];
}

/* HgProgressCallbacks.backend: of the rows in memory, or else of earlier ones */
static const char *
hg_join_progress_backend(const void *arg)
{
	const HgJoinState *state = arg;

	if (state->matching.matcher != NULL)
		return hg_matcher_backend(state->matching.matcher);
	return state->upload != NULL || state->pages.uploaded ? "cuda"
														  : state->progress.record.report.backend;
}

/* HgProgressCallbacks.count */
static void
hg_join_progress_counts(const void *arg, HgProgressCounts *counts)
{
	const HgJoinState *state = arg;
	const HgJoinRecord *record = &state->progress.record;
	const HgMatcher *matcher = state->matching.matcher;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];
		uint64 rows = hg_join_rows_read(input);

		counts->rows[side] = counts->expected[side] = rows;
		/* rows in files have come from the child before */
		if (!input->at_end && input->partition.spill == NULL &&
			state->progress.phase != HG_JOIN_DONE)
			counts->expected[side] =
				Max(rows, state->progress.before[side] +
							  (uint64) Min(input->child.plan->plan->plan_rows, HG_MOST_EXPECTED));
	}
	counts->executions = record->executions + (matcher != NULL ? 1 : 0);
	counts->partitions = record->partitions;
	counts->joined = hg_join_spill_joined(&state->spill);
	counts->matches =
		record->report.job.matches + (matcher != NULL ? hg_matcher_matches(matcher) : 0);
	counts->rows_out = record->rows_out;
	counts->memory_bytes = state->memory.budget.charged;
	counts->spilled_bytes = record->spilled_bytes + hg_join_spill_unfinished_bytes(&state->spill);
}

static const HgProgressCallbacks hg_join_progress_callbacks = {
	.phase = hg_join_progress_phase,
	.backend = hg_join_progress_backend,
	.count = hg_join_progress_counts,
};

/* ---------------------------------------------------------------------
 * Relations
 * ---------------------------------------------------------------------
 */

/* The relations of a side that were found so far. */
typedef struct HgJoinRelations
{
	EState *estate;
	Oid *relations; /* [HG_PROGRESS_RELATIONS] */
	int count;
} HgJoinRelations;

/* Adds the relation of a range table index; returns false if it is no relation. */
static bool
hg_join_add_relation(HgJoinRelations *found, Index rti)
{
	const RangeTblEntry *rte = exec_rt_fetch(rti, found->estate);

	if (rte->rtekind != RTE_RELATION)
		return false;
	for (int i = 0; i < found->count; i++)
		if (found->relations[i] == rte->relid)
			return true;
	if (found->count < HG_PROGRESS_RELATIONS)
		found->relations[found->count++] = rte->relid;
	return true;
}

/* Adds the relations of several indexes; returns false if none is a relation. */
static bool
hg_join_add_relations(HgJoinRelations *found, const Bitmapset *rtis)
{
	bool any = false;
	int rti = -1;

	while ((rti = bms_next_member(rtis, rti)) >= 0)
		any |= hg_join_add_relation(found, (Index) rti);
	return any;
}

/* Finds the relations in a plan tree; partitioned tables stand for their partitions. */
static bool
hg_join_find_relations(PlanState *ps, void *context)
{
	HgJoinRelations *found = context;
	const Plan *plan = ps->plan;

	switch (nodeTag(plan))
	{
		case T_Append:
			if (hg_join_add_relations(found, ((const Append *) plan)->apprelids))
				return false;
			break;
		case T_MergeAppend:
			if (hg_join_add_relations(found, ((const MergeAppend *) plan)->apprelids))
				return false;
			break;
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_CustomScan:
			if (((const Scan *) plan)->scanrelid > 0)
				(void) hg_join_add_relation(found, ((const Scan *) plan)->scanrelid);
			break;
		case T_ForeignScan:
			(void) hg_join_add_relations(found, ((const ForeignScan *) plan)->fs_relids);
			break;
		default:
			break;
	}
	return planstate_tree_walker(ps, hg_join_find_relations, context);
}

/* ---------------------------------------------------------------------
 * The beginning
 * ---------------------------------------------------------------------
 */

void
hg_join_show(HgJoinState *state)
{
	HgJoinProgress *progress = &state->progress;
	HgProgressJoin join = {.user = progress->record.user,
						   .plan_node = state->css.ss.ps.plan->plan_node_id};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		progress->before[side] = hg_join_rows_read(state->inputs[side]);
	if (progress->shown.slot != NULL)
	{
		hg_progress_report(&progress->shown);
		return;
	}
	if (!hg_progress_is_enabled())
		return;
	strlcpy(join.join_type, progress->record.join_type, sizeof(join.join_type));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgJoinRelations found = {state->css.ss.ps.state, join.relations[side], 0};

		(void) hg_join_find_relations(state->inputs[side]->child.plan, &found);
		join.nrelations[side] = found.count;
	}
	hg_progress_begin(&progress->shown, &join, &hg_join_progress_callbacks, state,
					  state->memory.context);
}

void
hg_join_current_record(const HgJoinState *state, HgJoinRecord *record)
{
	*record = state->progress.record;
	record->memory_bytes = state->memory.budget.peak;
	if (state->matching.matcher != NULL)
	{
		HgMatcherReport report;

		hg_matcher_report(state->matching.matcher, &report);
		hg_stats_add_report(record, &report);
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];
		const HgScanBlocks blocks = hg_scan_tables_blocks(input->child.source->tables);

		record->report.job.rows[side] = input->child.rows_read - input->child.null_keys;
		record->null_keys[side] = input->child.null_keys;
		record->resident_blocks[side] = blocks.resident;
		record->heap_blocks[side] = blocks.heap;
	}
	record->filtered_rows = state->inputs[HG_OUTER]->child.filtering.refused +
							state->inputs[HG_INNER]->child.filtering.refused;
	record->partitions = Max(record->partitions, 1);
	record->total_ms += hg_join_running_ms(&state->progress);
	if (state->participants.others.processes > 0)
		hg_stats_merge(record, &state->participants.others);
}
