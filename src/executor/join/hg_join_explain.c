/*-------------------------------------------------------------------------
 *
 * hg_join_explain.c
 *	  EXPLAIN of the join node.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"

#include "backend/device/hg_device.h"
#include "backend/hg_memory.h"
#include "engine/hg_table.h"
#include "executor/join/hg_join.h"
#include "executor/join/hg_join_explain.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"
#include "resident/hg_resident_memory.h"

/* EXPLAIN shows the memory that a session keeps if it is at least so much: less is no concern. */
#define HG_KEPT_SHOWN ((Size) 4 * 1024 * 1024)

void
hg_explain_qual(CustomScanState *node, List *clauses, const char *label, List *ancestors,
				ExplainState *es)
{
	List *context;
	bool use_prefix = hg_explain_has_prefix(es);

	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
	ExplainPropertyText(
		label, deparse_expression((Node *) make_ands_explicit(clauses), context, use_prefix, false),
		es);
}

void
hg_explain_bytes(const char *label, uint64 bytes, ExplainState *es)
{
	ExplainPropertyInteger(label, "kB", (int64) ((bytes + 1023) / 1024), es);
}

/* Shows the estimated times on a device and on the CPU, if they were compared. */
static void
hg_explain_estimates(double device_ms, double cpu_ms, ExplainState *es)
{
	if (!es->costs || cpu_ms <= 0)
		return;
	ExplainPropertyFloat("Device Estimate", "ms", device_ms, 3, es);
	ExplainPropertyFloat("CPU Estimate", "ms", cpu_ms, 3, es);
}

static const HgBlockLabels hg_side_labels[2] = {
	[HG_OUTER] = {"Outer Resident Blocks", "Outer Heap Blocks", "Outer Not Served"},
	[HG_INNER] = {"Inner Resident Blocks", "Inner Heap Blocks", "Inner Not Served"}};

void
hg_explain_blocks(const HgBlockLabels *labels, HgScanBlocks blocks, ExplainState *es)
{
	if (!hg_resident_memory_exists() || blocks.resident + blocks.heap == 0)
		return;
	ExplainPropertyUInteger(labels->resident, NULL, blocks.resident, es);
	ExplainPropertyUInteger(labels->heap, NULL, blocks.heap, es);
}

void
hg_explain_expected_blocks(const HgBatchSource *source, const HgBlockLabels *labels,
						   ExplainState *es)
{
	HgScanBlocks blocks;

	if (!es->costs || !hg_resident_memory_exists())
		return;
	blocks = hg_scan_tables_expect(source->tables);
	if (blocks.resident > 0)
		hg_explain_blocks(labels, blocks, es);
}

void
hg_explain_not_cached(const HgBatchSource *source, const HgBlockLabels *labels, ExplainState *es)
{
	const char *why_not = hg_scan_tables_why_not(source->tables);

	if (why_not != NULL)
		ExplainPropertyText(labels->not_cached, why_not, es);
}

/* Shows the sides whose rows come from a cached HashGraph. */
static void
hg_explain_covered(const bool covered[2], ExplainState *es)
{
	if (covered[HG_OUTER])
		ExplainPropertyText("Outer HashGraph", "resident", es);
	if (covered[HG_INNER])
		ExplainPropertyText("Inner HashGraph", "resident", es);
}

/* Returns how an adaptive join joined in its executions. */
static const char *
hg_explain_strategy(const HgJoinRecord *record)
{
	if (record->switches == 0)
		return "lookup";
	return record->lookups == 0 ? "hash" : "lookup, hash";
}

/* Shows what the node did, over all executions. */
static void
hg_explain_record(const HgJoinState *state, const HgJoinRecord *record, ExplainState *es)
{
	const HgJobStats *job = &record->report.job;
	const char *fallback = hg_report_fallback(&record->report);

	ExplainPropertyText("Backend", record->report.backend, es);
	if (record->report.device[0] != '\0')
		ExplainPropertyText("Device", record->report.device, es);
	if (fallback[0] != '\0')
		ExplainPropertyText("Fallback", fallback, es);
	hg_explain_estimates(record->report.device_ms, record->report.cpu_ms, es);
	ExplainPropertyText("Build", hg_build_name(job->build), es);
	ExplainPropertyText("Probe", hg_probe_name(job->probe), es);
	if (job->build == HG_BUILD_TABLE)
		ExplainPropertyText("Table", hg_table_kind_name(job->table), es);
	ExplainPropertyUInteger("Vertices", NULL, job->vertices, es);
	ExplainPropertyUInteger("Bins", NULL, job->bins, es);
	ExplainPropertyUInteger("Outer Rows", NULL, job->rows[HG_OUTER] + record->null_keys[HG_OUTER],
							es);
	ExplainPropertyUInteger("Inner Rows", NULL, job->rows[HG_INNER] + record->null_keys[HG_INNER],
							es);
	ExplainPropertyUInteger("Null Keys", NULL,
							record->null_keys[HG_OUTER] + record->null_keys[HG_INNER], es);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_explain_blocks(&hg_side_labels[side],
						  (HgScanBlocks){record->resident_blocks[side], record->heap_blocks[side]},
						  es);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_explain_not_cached(state->inputs[side]->child.source, &hg_side_labels[side], es);
	hg_explain_covered((const bool[2]){state->inputs[HG_OUTER]->child.covered != NULL,
									   state->inputs[HG_INNER]->child.covered != NULL},
					   es);
	if (record->filtered_rows > 0)
		ExplainPropertyUInteger("Rows Removed by Runtime Filter", NULL, record->filtered_rows, es);
	ExplainPropertyUInteger("Matches", NULL, job->matches, es);
	if (state->multiway.tables > 0)
		ExplainPropertyInteger("Tables Joined at Once", NULL, state->multiway.tables, es);
	if (state->multiway.why_not != NULL)
		ExplainPropertyText("Tables Not Joined at Once", state->multiway.why_not, es);
	if (record->report.gathered > 0)
		ExplainPropertyUInteger("Columns Gathered on Device", NULL, record->report.gathered, es);
	if (record->report.filters > 0)
		ExplainPropertyUInteger("Tables Filtered on Device", NULL, record->report.filters, es);
	if (record->processes > 1)
		ExplainPropertyInteger("Processes", NULL, record->processes, es);
	ExplainPropertyUInteger("Executions", NULL, record->executions, es);
	ExplainPropertyUInteger("Partitions", NULL, record->partitions, es);
	hg_explain_bytes("Memory Usage", record->memory_bytes, es);
	if (hg_pool_bytes() >= HG_KEPT_SHOWN)
		hg_explain_bytes("Memory Kept", hg_pool_bytes(), es);
	if (record->report.device[0] != '\0')
	{
		hg_explain_bytes("Device Memory Usage", job->peak_bytes, es);
		if (job->passes > 1)
			ExplainPropertyUInteger("Device Ranges", NULL, job->passes, es);
		if (job->exchanged > 0)
		{
			ExplainPropertyUInteger("Rows Exchanged", NULL, job->exchanged, es);
			ExplainPropertyUInteger("Rows Exchanged Directly", NULL, job->sent, es);
		}
	}
	if (record->report.uploaded_rows > 0)
		ExplainPropertyUInteger("Keys Sent During Scan", NULL, record->report.uploaded_rows, es);
	if (record->report.uploaded_pages > 0)
		ExplainPropertyUInteger("Pages Sent to Device", NULL, record->report.uploaded_pages, es);
	if (state->pages.failure[0] != '\0')
		ExplainPropertyText("Pages Sent in Vain", state->pages.failure, es);
	if (record->spilled_bytes > 0)
		hg_explain_bytes("Disk Usage", record->spilled_bytes, es);
	if (!es->timing)
		return;
	ExplainPropertyFloat("Scan Time", "ms", record->scan_ms, 3, es);
	ExplainPropertyFloat("Start Time", "ms", record->report.start_ms, 3, es);
	if (record->report.device[0] != '\0')
		ExplainPropertyFloat("Transfer Time", "ms", job->phase_ms[HG_PHASE_TRANSFER], 3, es);
	ExplainPropertyFloat("Bin Time", "ms", job->phase_ms[HG_PHASE_BIN], 3, es);
	ExplainPropertyFloat("Build Time", "ms", job->phase_ms[HG_PHASE_BUILD], 3, es);
	ExplainPropertyFloat("Match Time", "ms", job->phase_ms[HG_PHASE_MATCH], 3, es);
}

/*
 * Shows where the node would join now, if it finds as many rows as planned.  For processes that
 * share a join it depends on their number.
 */
static void
hg_explain_expected(const HgJoinState *state, ExplainState *es)
{
	HgMatcherSpec spec = {
		.key_width = state->inputs[HG_INNER]->held.words->width,
		.counted = !hg_join_streams(&state->rules, state->matched),
		.pairs = state->css.ss.ps.plan->plan_rows,
		.reduction = hg_join_planned_reduction(state->reduction),
		.parallel = hg_join_is_parallel(state),
	};
	HgEngineCosts costs;
	HgMatcherEstimate estimate;
	uint64 rows[2];

	if (!es->costs || state->parallel_hash || hg_backend != HG_BACKEND_AUTO ||
		!hg_device_costs(&costs))
		return;
	/* the plan may expect more rows than there are row numbers */
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		rows[side] = (uint64) Min(state->inputs[side]->child.plan->plan->plan_rows, HG_MAX_ROWS);
	if (!spec.counted && hg_join_could_stream(state))
		spec.streamed_rows = rows[HG_OUTER];
	hg_matcher_estimate(&costs, &spec, rows[HG_OUTER], rows[HG_INNER], &estimate);
	ExplainPropertyText("Expected Backend", estimate.device_ms < estimate.cpu_ms ? "cuda" : "cpu",
						es);
	hg_explain_estimates(estimate.device_ms, estimate.cpu_ms, es);
}

void
hg_join_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const HgJoinState *state = (const HgJoinState *) node;
	const List *exprs = ((const CustomScan *) node->ss.ps.plan)->custom_exprs;
	List *join_filter = list_nth(exprs, HG_EXPRS_JOIN_QUAL);
	HgJoinRecord record;

	ExplainPropertyText("Join Type", hg_join_type_name(state->rules.join_type), es);
	hg_explain_qual(node, list_nth(exprs, HG_EXPRS_HASH_CLAUSES), "Hash Cond", ancestors, es);
	hg_explain_qual(node, join_filter, "Join Filter", ancestors, es);
	if (state->lookup.loop != NULL && es->costs)
		ExplainPropertyUInteger("Switch At Rows", NULL, state->lookup.most_rows + 1, es);
	if (state->read_once >= 0)
		ExplainPropertyText("Read Once", state->read_once == HG_OUTER ? "outer" : "inner", es);
	if (es->verbose)
	{
		ExplainPropertyText("Key", state->progress.record.recheck ? "hash" : "exact", es);
		ExplainPropertyUInteger("Key Width", "bytes", state->inputs[HG_INNER]->held.words->width,
								es);
	}
	if (!es->analyze)
	{
		bool covered[2];

		for (int side = HG_OUTER; side <= HG_INNER; side++)
			hg_explain_expected_blocks(state->inputs[side]->child.source, &hg_side_labels[side],
									   es);
		hg_join_expect_covered(state, covered);
		if (es->costs)
			hg_explain_covered(covered, es);
		hg_explain_expected(state, es);
		return;
	}
	if (join_filter != NIL && node->ss.ps.instrument != NULL)
		ExplainPropertyFloat(
			"Rows Removed by Join Filter", NULL,
			node->ss.ps.instrument->nfiltered2 / Max(node->ss.ps.instrument->nloops, 1), 0, es);
	hg_join_current_record(state, &record);
	if (record.lookups + record.switches > 0)
		ExplainPropertyText("Strategy", hg_explain_strategy(&record), es);
	if (record.executions > 0)
		hg_explain_record(state, &record, es);
}
