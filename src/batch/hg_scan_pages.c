/*-------------------------------------------------------------------------
 *
 * hg_scan_pages.c
 *	  Reads sequential scans of heap tables a page at a time.
 *
 * The rows of a page are processed together (hg_scan_heap.c), where core returns one row at a time
 * and evaluates the plan's qual for it (hg_scan_qual.h).  The counters that core raises are
 * raised too: the relation's (pg_stat_get_tuples_returned) and the plan node's.
 *
 * Rows of blocks that are valid in the cache are read from cached columns (hg_scan_table.h), in
 * turn with pages of other blocks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/instrument.h"
#include "miscadmin.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_scan_table.h"

/* Fills a batch from cached columns and from the heap; false at the end. */
static bool
hg_scan_table_read_mixed(HgScanTable *table, TableScanDesc scan, HgBatch *batch)
{
	const HgBatchSource *source = table->source;
	Size room = 0; /* bytes left for by-reference values */
	HgResidentRun run;

	while (batch->nrows < source->max_rows && (room > 0 || batch->nrows == 0))
	{
		CHECK_FOR_INTERRUPTS();
		if (batch->nrows == 0)
			room = source->max_bytes > 0 ? source->max_bytes : SIZE_MAX;
		if (!hg_resident_scan_next(table->resident, scan, &run,
								   &table->source->tables->blocks.resident))
		{
			/* by-reference values need the page until the next call */
			if (hg_scan_heap_holds(table->heap, batch))
				return true;
			hg_heap_page_end(scan, table->node->ss.ss_ScanTupleSlot);
			return false;
		}
		if (run.nrows > 0)
		{
			/* rows that can be a run are not appended to rows of the heap */
			if (batch->nrows > 0 && table->takes_runs && hg_scan_runs_has_values(table->runs, &run))
				break;
			if (hg_scan_runs_rule_out(table->runs, &run))
			{
				hg_resident_scan_skip(table->resident, run.nrows);
				continue;
			}
			if (!hg_scan_runs_join(table->runs, batch))
				break;
			hg_resident_scan_skip(table->resident,
								  hg_scan_runs_add(table->runs, &run, batch, &room));
		}
		else if (!hg_scan_heap_fits(table->heap, batch))
			break;
		else
		{
			bool all;
			int taken =
				hg_scan_heap_add_block(table->heap, scan, &run, batch, source->max_bytes, &all);

			table->source->tables->blocks.heap += run.taken == 0;
			hg_resident_scan_skip_block(table->resident, taken, all);
			/* a page with by-reference values is a batch of its own */
			if (hg_scan_heap_holds(table->heap, batch))
				break;
		}
	}
	return true;
}

/* hg_scan_table_fill() without its instrumentation. */
static bool
hg_scan_table_read(HgScanTable *table, HgBatch *batch, HgRowCheck *check)
{
	TableScanDesc scan = hg_scan_table_begin(table);

	batch->checked = hg_scan_select_begin(table->select, check);
	if (table->resident != NULL)
	{
		bool more = hg_scan_table_read_mixed(table, scan, batch);

		table->takes_runs = false;
		return more;
	}
	return hg_scan_heap_fill(table->heap, scan, batch, table->source);
}

bool
hg_scan_table_fill(HgScanTable *table, HgBatch *batch, HgRowCheck *check)
{
	PlanState *plan = &table->node->ss.ps;
	int before = batch->nrows;
	bool more;

	/* as ExecProcNode() does; rows that the check rejects are not returned */
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	more = hg_scan_table_read(table, batch, check);
	if (plan->instrument)
		InstrStopNode(plan->instrument, batch->nrows - before);
	return more;
}

/* hg_scan_table_run() without its instrumentation. */
static bool
hg_scan_table_read_run(HgScanTable *table, int max_rows, HgRun *run)
{
	TableScanDesc scan = hg_scan_table_begin(table);
	HgResidentRun rows;

	if (table->resident == NULL)
		return false;
	(void) hg_scan_select_begin(table->select, table->source->check);
	for (;;)
	{
		if (!hg_resident_scan_next(table->resident, scan, &rows,
								   &table->source->tables->blocks.resident) ||
			rows.nrows == 0)
			return false;
		if (!hg_scan_runs_rule_out(table->runs, &rows))
			break;
		hg_resident_scan_skip(table->resident, rows.nrows);
	}
	if (!hg_scan_runs_values(table->runs, &rows, run->values))
		return false;
	run->nrows = Min(rows.nrows, max_rows);
	hg_heap_count_rows(table->node->ss.ss_currentRelation, run->nrows);
	hg_resident_scan_skip(table->resident, run->nrows);
	return true;
}

bool
hg_scan_table_run(HgScanTable *table, int max_rows, HgRun *run)
{
	PlanState *plan = &table->node->ss.ps;
	bool found;

	/* excludes most scans */
	if (plan->qual != NULL || (table->decided && table->resident == NULL))
		return false;
	CHECK_FOR_INTERRUPTS();
	table->takes_runs = true;
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	found = hg_scan_table_read_run(table, max_rows, run);
	if (plan->instrument)
		InstrStopNode(plan->instrument, found ? run->nrows : 0);
	return found;
}
