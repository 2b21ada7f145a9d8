/*-------------------------------------------------------------------------
 *
 * hg_scan_pages.c
 *	  Sequential scans of heap tables, a page at a time.
 *
 * The rows of a page are taken together (hg_heap_page.h), where core would bring one at a time
 * and evaluate the plan's qual for it.  The counters that core would have raised are raised all the
 * same: the relation's (pg_stat_get_tuples_returned) and the plan node's.
 *
 * The plan's qual is evaluated before anything is extracted: clauses of the simplest kind
 * (hg_scan_qual.h) over columns, and those that are left row by row, over the scan's own slot.  A
 * projection must do no more than choose columns; it is then done by choosing.
 *
 * The consumer's check goes ahead of the qual where it seems to leave out more rows for what it
 * costs.  It has no effects and can't fail, so that the qual's clauses are evaluated in their
 * order, but for fewer rows: unless that can be seen, because a clause calls volatile functions, or
 * because no row has come yet to a clause that waits for the result of a plan.  A hashed subplan
 * and an initial plan are run for the first row that needs them; a plan that is run for each row
 * is waited for to the end.
 *
 * A scan of tables in memory waits for memory most of all: for the first touch of each row,
 * which the processor foresees neither from page to page nor from row to row.  So while a page is
 * worked on, the next one is asked for, cache line by cache line, wherever among the shared
 * buffers it is.  It may have gone from there when core reads it: nothing is looked at ahead,
 * only asked for.
 *
 * RESIDENT COLUMNS.  Where blocks of the table are served from there (hg_scan_resident.h), their
 * rows are taken from arrays, and what is said above of clauses, checks and counters holds for them
 * as for a page's: clauses of the simplest kind are evaluated over columns, and the others over the
 * scan's slot, which is given the columns that are there.  These are all that the plan and its qual
 * need, or the block is read from the heap.
 *
 * Both kinds of block stand in this one file, which makes it long, because they share the qual, the
 * check and what is counted of them, and are read in turns.
 *
 * The pin on the page of the last batch is that of the scan's slot, which core drops when it
 * stores the next row there, at a rescan, and at the end of the query.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "access/sysattr.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_scan_pages.h"
#include "batch/hg_scan_qual.h"
#include "batch/hg_scan_resident.h"
#include "batch/hg_scan_tuples.h"
#include "hg_guc.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_report.h"
#include "resident/hg_resident_validity.h"

/* A page is asked for in so many steps: the processor has room for few lines that are under way. */
#define HG_AHEAD_STEPS 3
#define HG_CACHE_LINE 64

/* Where a page was not found among the shared buffers, so many are not looked for. */
#define HG_AHEAD_PAUSE 64

/* The page behind the one that is worked on. */
typedef struct HgAhead
{
	BlockNumber behind; /* this one */
	const char *page;	/* or NULL: it is not known where it is */
	Size asked;			/* bytes of it that are asked for */
	int pause;			/* pages to go until one is looked for again */
} HgAhead;

/*
 * What it takes to decide about a row, in ns: by columns at a fixed place, or behind some of
 * variable length, and by clauses that are evaluated row by row.
 */
#define HG_CHECK_COST 8.0
#define HG_FIXED_COST 4.0
#define HG_WALK_COST 16.0
#define HG_ROW_QUAL_COST 50.0

struct HgPages
{
	SeqScanState *node;
	HgAhead ahead;
	HgTupleLayout *layout;
	AttrNumber *table_attnos; /* [nattnos] of its columns */
	int nattnos;
	double qual_cost;			 /* of the plan's qual, for each row */
	Bitmapset *qual_params;		 /* PARAM_EXECs of the plan's qual */
	bool qual_volatile;			 /* which calls volatile functions */
	bool check_leads;			 /* a check is asked ahead of the qual, for this batch */
	HgTupleLayout *check_layout; /* of the check's columns; NULL until it is asked */
	HgBatch *check_batch;
	uint64 seen;			 /* rows that the qual has been evaluated for, without a check */
	uint64 passed;			 /* ... and holds for */
	HgRangeQual *range_qual; /* what is one of the plan's qual; or NULL */
	ExprState *row_qual;	 /* the rest of it; or NULL: there is none */
	HgHeapPage page;		 /* the rows that are worked on */

	HgBatchSource *source;			  /* that this belongs to */
	Bitmapset *qual_needs;			  /* attributes of the table that the qual is made of */
	bool decided;					  /* what is served */
	HgResidentScan *resident;		  /* NULL: nothing */
	HgResidentColumns *batch_columns; /* of its columns: for the batch ... */
	HgResidentColumns *check_columns; /* ... the check ... */
	HgResidentColumns *range_columns; /* ... range_qual ... */
	HgResidentColumns *row_columns;	  /* ... and row_qual; NULL where there is no such thing */
	HgBatch *row_batch;
	AttrNumber *row_attnos;	 /* [row_batch->ncolumns] of the table */
	const void **run_values; /* [nattnos] of a run that is only looked at */
	bool takes_runs;		 /* the consumer has asked for a run since the last batch */
};

/*
 * The table's attribute behind attribute attno of the plan's rows; 0 where it is anything
 * else than a user's column.
 */
static AttrNumber
hg_pages_attribute(SeqScanState *node, int attno)
{
	PlanState *plan = &node->ss.ps;
	TargetEntry *entry;
	Var *var;

	if (plan->ps_ProjInfo == NULL)
		return attno;
	entry = list_nth_node(TargetEntry, plan->plan->targetlist, attno - 1);
	var = (Var *) entry->expr;
	if (!IsA(var, Var) || var->varattno <= 0)
		return 0;
	Assert(var->varno == ((Scan *) plan->plan)->scanrelid);
	return var->varattno;
}

/* Collect the PARAM_EXEC parameters that an expression uses. */
static bool
hg_pages_collect_params(Node *node, Bitmapset **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, hg_pages_collect_params, params);
}

/* Find out what the qual costs, and what shows which rows it is evaluated for. */
static void
hg_pages_weigh_qual(HgPages *pages)
{
	Node *qual = (Node *) pages->node->ss.ps.plan->qual;

	pages->qual_volatile = contain_volatile_functions(qual);
	hg_pages_collect_params(qual, &pages->qual_params);
	if (pages->range_qual != NULL)
		pages->qual_cost +=
			hg_range_qual_is_fixed(pages->range_qual) ? HG_FIXED_COST : HG_WALK_COST;
	if (pages->row_qual != NULL)
		pages->qual_cost += HG_ROW_QUAL_COST;
}

/*
 * Does the qual wait for the result of a plan, which a row that comes so far has run?  For that of
 * a plan that is run for each row it always does.
 */
static bool
hg_pages_qual_waits(const HgPages *pages)
{
	const PlanState *plan = &pages->node->ss.ps;
	int param = -1;
	ListCell *lc;

	while ((param = bms_next_member(pages->qual_params, param)) >= 0)
		if (plan->state->es_param_exec_vals[param].execPlan != NULL)
			return true;
	foreach (lc, plan->subPlan)
	{
		const SubPlanState *subplan = lfirst_node(SubPlanState, lc);

		if (subplan->hashtable == NULL || subplan->planstate->chgParam != NULL)
			return true;
	}
	return false;
}

/*
 * The attributes of the table that a plan's qual is made of.  False where some of them are none
 * that can be resident.
 */
static bool
hg_pages_collect_attributes(HgPages *pages)
{
	const Plan *plan = pages->node->ss.ps.plan;
	Bitmapset *offset_attnos = NULL;
	int member = -1;

	pull_varattnos((Node *) plan->qual, ((const Scan *) plan)->scanrelid, &offset_attnos);
	while ((member = bms_next_member(offset_attnos, member)) >= 0)
	{
		/* the whole row, or what the system knows of it */
		if (member + FirstLowInvalidHeapAttributeNumber <= 0)
			return false;
		pages->qual_needs =
			bms_add_member(pages->qual_needs, member + FirstLowInvalidHeapAttributeNumber);
	}
	bms_free(offset_attnos);
	return true;
}

HgPages *
hg_pages_create(PlanState *plan, int nattnos, const int *attnos, HgBatchSource *source)
{
	SeqScanState *node;
	HgPages *pages;
	HgTupleLayout *layout;
	AttrNumber *table_attnos;
	Bitmapset *seen = NULL;
	List *rest;
	bool eligible = true;

	if (!IsA(plan, SeqScanState) || plan->state->es_epq_active != NULL)
		return NULL;
	node = (SeqScanState *) plan;
	if (!hg_heap_page_may_scan(node->ss.ss_currentRelation, plan->state->es_snapshot))
		return NULL;

	/* what the scan computes beside columns it computes for somebody, or for its effects */
	if (plan->ps_ProjInfo != NULL)
	{
		ListCell *lc;

		foreach (lc, plan->plan->targetlist)
			if (!IsA(lfirst_node(TargetEntry, lc)->expr, Var))
				return NULL;
	}
	table_attnos = palloc(Max(nattnos, 1) * sizeof(AttrNumber));
	for (int c = 0; c < nattnos; c++)
	{
		table_attnos[c] = hg_pages_attribute(node, attnos[c]);
		if (table_attnos[c] == 0 || bms_is_member(table_attnos[c], seen))
			eligible = false;
		else
			seen = bms_add_member(seen, table_attnos[c]);
	}
	bms_free(seen);
	if (!eligible)
		return NULL;

	layout = hg_tuple_layout_create(RelationGetDescr(node->ss.ss_currentRelation), nattnos,
									table_attnos);
	pages = palloc0(sizeof(HgPages));
	pages->node = node;
	pages->ahead.behind = InvalidBlockNumber;
	pages->layout = layout;
	pages->row_qual = plan->qual;
	/* a subplan belongs to the expression that it was found in */
	if (!contain_subplans((Node *) plan->plan->qual))
		pages->range_qual = hg_range_qual_create(RelationGetDescr(node->ss.ss_currentRelation),
												 plan->plan->qual, &rest);
	if (pages->range_qual != NULL)
		pages->row_qual = ExecInitQual(rest, plan);
	pages->table_attnos = table_attnos;
	pages->nattnos = nattnos;
	hg_pages_weigh_qual(pages);
	pages->source = source;
	pages->decided = !hg_resident_memory_exists() || !hg_pages_collect_attributes(pages);
	return pages;
}

bool
hg_pages_is_new(const HgPages *pages)
{
	return hg_relation_is_new(pages->node->ss.ss_currentRelation);
}

/* ---------------------------------------------------------------------
 * Pages of the heap
 * ---------------------------------------------------------------------
 */

/* Does a part of the qual hold for row i of the page? */
static inline bool
hg_pages_check_row(HgPages *pages, ExprState *qual, int i)
{
	ExprContext *econtext = pages->node->ss.ps.ps_ExprContext;

	hg_heap_page_store(&pages->page, i, pages->node->ss.ss_ScanTupleSlot);
	ResetExprContext(econtext);
	return ExecQual(qual, econtext);
}

/* So many rows have come to the qual, and passed it. */
static void
hg_pages_count_qual(HgPages *pages, int seen, int passed)
{
	InstrCountFiltered1(pages->node, seen - passed);
	if (!pages->check_leads)
	{
		pages->seen += seen;
		pages->passed += passed;
	}
}

/* Drop the rows that the plan's qual does not hold for. */
static void
hg_pages_filter(HgPages *pages)
{
	SeqScanState *node = pages->node;
	HgHeapPage *page = &pages->page;
	bool in_order = hg_pages_qual_waits(pages);
	ExprState *row_qual = in_order ? node->ss.ps.qual : pages->row_qual;
	uint16 which[HG_BATCH_ROWS];
	int ntuples = page->ntuples;

	if (pages->range_qual != NULL)
	{
		int nwhich =
			hg_range_qual_filter(pages->range_qual, in_order, ntuples, page->tuples, which);

		hg_heap_page_keep(page, nwhich, which);
	}
	if (row_qual != NULL)
	{
		int nwhich = 0;

		node->ss.ps.ps_ExprContext->ecxt_scantuple = node->ss.ss_ScanTupleSlot;
		for (int i = 0; i < page->ntuples; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (hg_pages_check_row(pages, row_qual, i))
				which[nwhich++] = i;
		}
		hg_heap_page_keep(page, nwhich, which);
	}
	hg_pages_count_qual(pages, ntuples, page->ntuples);
}

/* Is a check to be asked ahead of the qual, and of everything else? */
static bool
hg_pages_check_pays(const HgPages *pages, const HgRowCheck *check)
{
	double dropped;

	if (check == NULL || pages->qual_volatile || hg_pages_qual_waits(pages))
		return false;
	if (pages->qual_cost == 0)
		return check->ncolumns < pages->nattnos;
	/* the qual would have to drop more rows for what it costs */
	dropped = pages->seen > 0 ? 1 - (double) pages->passed / pages->seen : 0;
	return (1 - check->kept) * pages->qual_cost > dropped * HG_CHECK_COST;
}

/* Have an empty batch for the columns of a check. */
static HgBatch *
hg_pages_check_batch(HgPages *pages, const HgRowCheck *check)
{
	HgBatch *batch = pages->check_batch;

	if (pages->check_layout == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pages));
		AttrNumber *attnos = palloc(check->ncolumns * sizeof(AttrNumber));

		for (int i = 0; i < check->ncolumns; i++)
			attnos[i] = pages->table_attnos[check->columns[i]];
		pages->check_layout = hg_tuple_layout_create(
			RelationGetDescr(pages->node->ss.ss_currentRelation), check->ncolumns, attnos);
		pages->check_batch = batch = hg_batch_create(check->ncolumns);
		if (pages->resident != NULL)
			pages->check_columns =
				hg_resident_columns_create(pages->resident, check->ncolumns, attnos);
		MemoryContextSwitchTo(old);
	}
	batch->nrows = 0;
	memset(batch->has_nulls, 0, batch->ncolumns * sizeof(bool));
	return batch;
}

/* Drop the rows that a check leaves out. */
static void
hg_pages_check(HgPages *pages, HgRowCheck *check)
{
	HgBatch *batch = hg_pages_check_batch(pages, check);
	uint16 which[HG_BATCH_ROWS];

	hg_tuple_layout_add(pages->check_layout, pages->page.ntuples, pages->page.tuples, batch);
	hg_heap_page_keep(&pages->page, check->apply(check, batch, which), which);
}

/* Find the page behind the one that the scan has come to. */
static void
hg_pages_look_ahead(HgPages *pages)
{
	const HgHeapPage *page = &pages->page;
	HgAhead *ahead = &pages->ahead;
	Buffer buffer;

	if (ahead->behind == page->block)
		return;
	ahead->behind = page->block;
	ahead->page = NULL;
	ahead->asked = 0;
	if (ahead->pause > 0)
	{
		ahead->pause--;
		return;
	}
	if (page->following == InvalidBlockNumber || RelationUsesLocalBuffers(page->relation))
		return;
	buffer = PrefetchBuffer(page->relation, MAIN_FORKNUM, page->following).recent_buffer;
	if (BufferIsValid(buffer))
	{
		ahead->page = (const char *) BufferGetBlock(buffer);
		HG_PREFETCH(GetBufferDescriptor(buffer - 1));
	}
	else
		ahead->pause = HG_AHEAD_PAUSE;
}

/* Ask for some more of the next page. */
static inline void
hg_pages_ask_ahead(HgPages *pages)
{
	HgAhead *ahead = &pages->ahead;
	Size end = Min(ahead->asked + BLCKSZ / HG_AHEAD_STEPS + HG_CACHE_LINE, BLCKSZ);

	if (ahead->page == NULL)
		return;
	for (; ahead->asked < end; ahead->asked += HG_CACHE_LINE)
		HG_PREFETCH(ahead->page + ahead->asked);
}

/*
 * The rows that may be added to a batch: what old rows have of new columns does not lie in their
 * page, and may be larger by far.
 */
static int
hg_pages_room(const HgPages *pages, const HgBatch *batch, Size max_bytes)
{
	Size room = HG_BATCH_ROWS - batch->nrows;

	if (max_bytes > 0 && pages->layout->missing_bytes > 0)
		room = Min(room, max_bytes / pages->layout->missing_bytes + 1);
	return (int) room;
}

/* Add rows of the page that are not left out to a batch. */
static void
hg_pages_add(HgPages *pages, HgBatch *batch, HgRowCheck *check)
{
	HgHeapPage *page = &pages->page;

	hg_pages_look_ahead(pages);
	hg_pages_ask_ahead(pages);
	if (pages->check_leads)
		hg_pages_check(pages, check);
	if (pages->node->ss.ps.qual != NULL && page->ntuples > 0)
		hg_pages_filter(pages);
	hg_pages_ask_ahead(pages);
	hg_tuple_layout_add(pages->layout, page->ntuples, page->tuples, batch);
	hg_pages_ask_ahead(pages);
}

/* Fill a batch from the heap alone; false at the end. */
static bool
hg_pages_read_heap(HgPages *pages, TableScanDesc scan, HgBatch *batch, HgRowCheck *check,
				   Size max_bytes)
{
	HgHeapPage *page = &pages->page;
	BlockNumber block = hg_heap_blocks_unread(scan) ? InvalidBlockNumber : page->block;
	int taken;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!hg_heap_page_next(page, scan, pages->node->ss.ss_ScanTupleSlot,
							   hg_pages_room(pages, batch, max_bytes)))
			return false;
		pages->source->blocks.heap += page->block != block;
		block = page->block;
		taken = page->ntuples;
		hg_pages_add(pages, batch, check);

		/* values by reference need this page; else another one like it may fit too */
	} while (batch->nrows == 0 ||
			 (!pages->layout->by_reference && batch->nrows + taken <= HG_BATCH_ROWS));
	return true;
}

/* ---------------------------------------------------------------------
 * Resident columns
 * ---------------------------------------------------------------------
 */

/* The members of a set in an array; returns their number. */
static int
hg_pages_list(const Bitmapset *set, AttrNumber *attnos)
{
	int member = -1;
	int n = 0;

	while ((member = bms_next_member(set, member)) >= 0)
		attnos[n++] = (AttrNumber) member;
	return n;
}

/* Make what rows of resident columns are taken by. */
static void
hg_pages_create_columns(HgPages *pages)
{
	const HgResidentScan *resident = pages->resident;
	int nqual = bms_num_members(pages->qual_needs);

	pages->run_values = palloc0(Max(pages->nattnos, 1) * sizeof(void *));
	pages->batch_columns =
		hg_resident_columns_create(resident, pages->nattnos, pages->table_attnos);
	if (pages->range_qual != NULL)
	{
		const AttrNumber *attnos;
		int n = hg_range_qual_attributes(pages->range_qual, &attnos);

		pages->range_columns = hg_resident_columns_create(resident, n, attnos);
	}
	if (pages->node->ss.ps.qual != NULL)
	{
		pages->row_attnos = palloc(Max(nqual, 1) * sizeof(AttrNumber));
		hg_pages_list(pages->qual_needs, pages->row_attnos);
		pages->row_columns = hg_resident_columns_create(resident, nqual, pages->row_attnos);
		pages->row_batch = hg_batch_create(nqual);
	}
}

/* The attributes of the table that the rows and the qual are made of; returns their number. */
static int
hg_pages_needed(const HgPages *pages, AttrNumber **attnos)
{
	Bitmapset *needed = bms_copy(pages->qual_needs);
	int n;

	for (int c = 0; c < pages->nattnos; c++)
		needed = bms_add_member(needed, pages->table_attnos[c]);
	*attnos = palloc(Max(bms_num_members(needed), 1) * sizeof(AttrNumber));
	n = hg_pages_list(needed, *attnos);
	bms_free(needed);
	return n;
}

void
hg_pages_expect(const HgPages *pages, HgScanBlocks *blocks)
{
	Relation rel = pages->node->ss.ss_currentRelation;
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	const char *why_not;

	if (!pages->decided && hg_resident &&
		hg_validity_may_serve(rel, pages->node->ss.ps.state->es_snapshot, &why_not))
	{
		AttrNumber *attnos;
		int n = hg_pages_needed(pages, &attnos);
		double share = hg_resident_share(hg_resident_relation(rel), n, attnos);

		blocks->resident += (uint64) rint(share * nblocks);
		nblocks -= (BlockNumber) rint(share * nblocks);
		pfree(attnos);
	}
	blocks->heap += nblocks;
}

/* Decide what of a scan that has just been begun is served. */
static void
hg_pages_decide(HgPages *pages, TableScanDesc scan)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pages));

	pages->decided = true;
	if (pages->source->may_serve)
	{
		AttrNumber *attnos;
		int n = hg_pages_needed(pages, &attnos);

		pages->resident = hg_resident_scan_create(scan, n, attnos);
		pfree(attnos);
	}
	if (pages->resident != NULL)
		hg_pages_create_columns(pages);
	MemoryContextSwitchTo(old);
}

/* Some rows of a run: all of those behind the first, or such of them as are left. */
typedef struct HgServedRows
{
	uint32 first;
	int n;
	const uint16 *which; /* [n] which[i] behind the first; NULL: i */
	uint16 kept[HG_BATCH_ROWS];
} HgServedRows;

/* Keep of the rows those which[nwhich], which ascend. */
static void
hg_served_keep(HgServedRows *rows, int nwhich, const uint16 *which)
{
	if (rows->which == NULL && nwhich == rows->n)
		return;
	for (int i = 0; i < nwhich; i++)
		rows->kept[i] = rows->which != NULL ? rows->which[which[i]] : which[i];
	rows->n = nwhich;
	rows->which = rows->kept;
}

/* Which rows of a run does a part of the qual hold for? */
static int
hg_served_check_rows(HgPages *pages, ExprState *qual, const HgServedRows *rows, uint16 *which)
{
	ExprContext *econtext = pages->node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = pages->node->ss.ss_ScanTupleSlot;
	HgBatch *batch = pages->row_batch;
	int nwhich = 0;

	batch->nrows = 0;
	memset(batch->has_nulls, 0, batch->ncolumns * sizeof(bool));
	hg_resident_columns_add(pages->resident, pages->row_columns, rows->first, rows->which, rows->n,
							batch);
	/* columns that the qual does not need stay NULL */
	ExecClearTuple(slot);
	memset(slot->tts_values, 0, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < rows->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < batch->ncolumns; c++)
		{
			int a = pages->row_attnos[c] - 1;

			slot->tts_values[a] = batch->values[c][i];
			slot->tts_isnull[a] = hg_batch_is_null(batch, c, i);
		}
		ResetExprContext(econtext);
		if (ExecQual(qual, econtext))
			which[nwhich++] = i;
	}
	/* the slot has a row of no page */
	ExecClearTuple(slot);
	pages->page.stored = InvalidOffsetNumber;
	return nwhich;
}

/* hg_pages_filter() for rows of a run. */
static void
hg_served_filter(HgPages *pages, HgServedRows *rows)
{
	SeqScanState *node = pages->node;
	bool in_order = hg_pages_qual_waits(pages);
	ExprState *row_qual = in_order ? node->ss.ps.qual : pages->row_qual;
	uint16 which[HG_BATCH_ROWS];
	int seen = rows->n;

	if (pages->range_qual != NULL)
	{
		HgBatch *batch = hg_range_qual_batch(pages->range_qual);

		hg_resident_columns_add(pages->resident, pages->range_columns, rows->first, rows->which,
								rows->n, batch);
		hg_served_keep(rows, hg_range_qual_decide(pages->range_qual, in_order, which), which);
	}
	if (row_qual != NULL && rows->n > 0)
		hg_served_keep(rows, hg_served_check_rows(pages, row_qual, rows, which), which);
	hg_pages_count_qual(pages, seen, rows->n);
}

/*
 * Add the next rows of a run that are not left out to a batch, for which it has room bytes.
 * Returns how many were looked at.
 */
static int
hg_served_add(HgPages *pages, const HgResidentRun *run, HgBatch *batch, HgRowCheck *check,
			  Size *room)
{
	HgServedRows rows = {.first = run->first, .n = Min(run->nrows, HG_BATCH_ROWS - batch->nrows)};
	int taken;

	if (pages->layout->by_reference)
		rows.n = hg_resident_columns_fit(pages->resident, pages->batch_columns, rows.first, rows.n,
										 room);
	taken = rows.n;
	hg_heap_count_rows(pages->node->ss.ss_currentRelation, taken);
	if (pages->check_leads)
	{
		HgBatch *asked = hg_pages_check_batch(pages, check);
		uint16 which[HG_BATCH_ROWS];

		hg_resident_columns_add(pages->resident, pages->check_columns, rows.first, NULL, rows.n,
								asked);
		hg_served_keep(&rows, check->apply(check, asked, which), which);
	}
	if (pages->node->ss.ps.qual != NULL && rows.n > 0)
		hg_served_filter(pages, &rows);
	hg_resident_columns_add(pages->resident, pages->batch_columns, rows.first, rows.which, rows.n,
							batch);
	return taken;
}

/* May a block of the heap go to a batch, behind the rows that are there? */
static inline bool
hg_pages_fits(const HgPages *pages, const HgBatch *batch)
{
	return batch->nrows == 0 ||
		   (!pages->layout->by_reference && batch->nrows + MaxHeapTuplesPerPage <= HG_BATCH_ROWS);
}

/* Fill a batch from resident columns, and else from the heap; false at the end. */
static bool
hg_pages_read_mixed(HgPages *pages, TableScanDesc scan, HgBatch *batch, HgRowCheck *check,
					Size max_bytes)
{
	TupleTableSlot *slot = pages->node->ss.ss_ScanTupleSlot;
	Size room = 0; /* for values by reference, in bytes */
	HgResidentRun run;

	while (batch->nrows < HG_BATCH_ROWS && (room > 0 || batch->nrows == 0))
	{
		CHECK_FOR_INTERRUPTS();
		if (batch->nrows == 0)
			room = max_bytes > 0 ? max_bytes : SIZE_MAX;
		if (!hg_resident_scan_next(pages->resident, scan, &run, &pages->source->blocks.resident))
		{
			/* values by reference need the page until the next call */
			if (pages->layout->by_reference && batch->nrows > 0)
				return true;
			hg_heap_page_end(scan, slot);
			return false;
		}
		if (run.nrows > 0)
		{
			/* rows that the consumer can have as they are do not go behind those of the heap */
			if (batch->nrows > 0 && pages->takes_runs &&
				hg_resident_columns_run(pages->resident, pages->batch_columns, run.first,
										pages->run_values))
				break;
			hg_resident_scan_skip(pages->resident, hg_served_add(pages, &run, batch, check, &room));
		}
		else if (!hg_pages_fits(pages, batch))
			break;
		else
		{
			bool all = hg_heap_page_read(&pages->page, scan, run.block, run.taken,
										 hg_pages_room(pages, batch, max_bytes), slot);

			pages->page.following = run.following;
			pages->source->blocks.heap += run.taken == 0;
			hg_resident_scan_skip_block(pages->resident, scan, pages->page.ntuples, all);
			hg_pages_add(pages, batch, check);
			/* what the page has is a batch for itself where its values are by reference */
			if (pages->layout->by_reference)
				room = 0;
		}
	}
	return true;
}

/* ---------------------------------------------------------------------
 * Either of them
 * ---------------------------------------------------------------------
 */

/* The scan of the plan, begun, with what is served of it decided on. */
static TableScanDesc
hg_pages_begin(HgPages *pages)
{
	SeqScanState *node = pages->node;

	if (node->ss.ss_currentScanDesc == NULL)
		node->ss.ss_currentScanDesc = hg_seqscan_begin(&node->ss);
	if (!pages->decided)
		hg_pages_decide(pages, node->ss.ss_currentScanDesc);
	return node->ss.ss_currentScanDesc;
}

/* hg_pages_fill() without its instrumentation. */
static bool
hg_pages_read(HgPages *pages, HgBatch *batch, HgRowCheck *check, Size max_bytes)
{
	TableScanDesc scan = hg_pages_begin(pages);

	pages->check_leads = batch->checked = hg_pages_check_pays(pages, check);
	if (pages->resident != NULL)
	{
		bool more = hg_pages_read_mixed(pages, scan, batch, check, max_bytes);

		pages->takes_runs = false;
		return more;
	}
	return hg_pages_read_heap(pages, scan, batch, check, max_bytes);
}

bool
hg_pages_fill(HgPages *pages, HgBatch *batch, HgRowCheck *check, Size max_bytes)
{
	PlanState *plan = &pages->node->ss.ps;
	int before = batch->nrows;
	bool more;

	/* what ExecProcNode() does around the node; rows that a check leaves out are not returned */
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	more = hg_pages_read(pages, batch, check, max_bytes);
	if (plan->instrument)
		InstrStopNode(plan->instrument, batch->nrows - before);
	return more;
}

/* hg_pages_run() without its instrumentation. */
static bool
hg_pages_read_run(HgPages *pages, int max_rows, HgRun *run)
{
	TableScanDesc scan = hg_pages_begin(pages);
	HgResidentRun rows;

	if (pages->resident == NULL ||
		!hg_resident_scan_next(pages->resident, scan, &rows, &pages->source->blocks.resident) ||
		rows.nrows == 0 ||
		!hg_resident_columns_run(pages->resident, pages->batch_columns, rows.first, run->values))
		return false;
	run->nrows = Min(rows.nrows, max_rows);
	hg_heap_count_rows(pages->node->ss.ss_currentRelation, run->nrows);
	hg_resident_scan_skip(pages->resident, run->nrows);
	return true;
}

bool
hg_pages_run(HgPages *pages, int max_rows, HgRun *run)
{
	PlanState *plan = &pages->node->ss.ps;
	bool found;

	/* most scans are told apart here */
	if (plan->qual != NULL || (pages->decided && pages->resident == NULL))
		return false;
	CHECK_FOR_INTERRUPTS();
	pages->takes_runs = true;
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	found = hg_pages_read_run(pages, max_rows, run);
	if (plan->instrument)
		InstrStopNode(plan->instrument, found ? run->nrows : 0);
	return found;
}
