/*-------------------------------------------------------------------------
 *
 * hg_scan_pages.c
 *	  Sequential scans of heap tables, a page at a time.
 *
 * table_scan_getnextslot() brings the first visible row of a page.  Core has then chosen the
 * page (synchronised and parallel scans included), read it, pruned it, and found all the
 * visible rows on it under one lock: heapgetpage(), since 17 heap_prepare_pagescan(), fills
 * rs_vistuples, and checks there each row for serializable conflicts.  The predicate lock is on the
 * whole relation, taken when the scan began.  What core does for each further row of the page
 * is to take the next entry of rs_vistuples, without a lock, under the pin that the scan holds; so
 * these rows are taken from there at once, and rs_cindex is set to the last of them: core goes
 * on with the next page.  As long as the pin is held nobody can prune the page, that is move
 * or remove a row.
 *
 * The counters that core would have raised for those rows are raised here: the relation's
 * (pg_stat_get_tuples_returned) and the plan node's.
 *
 * The plan's qual is evaluated before anything is extracted: clauses of the simplest kind
 * (hg_scan_qual.h) over columns, and those that are left row by row, over the scan's own slot.  A
 * projection must do no more than choose columns; it is then done by choosing.
 *
 * The consumer's check goes ahead of the qual where it seems to leave out more rows for what it
 * costs.  It has no effects and can't fail, so that the qual's clauses are evaluated in their
 * order, but for fewer rows: unless that can be seen, because a clause has effects or is computed by
 * a plan of its own.
 *
 * A scan of tables in memory waits for memory most of all: for the first touch of each row,
 * which the processor foresees neither from page to page nor from row to row.  So while a page is
 * worked on, the next one is asked for, cache line by cache line, wherever among the shared
 * buffers it is.  It may have gone from there when core reads it: nothing is looked at ahead,
 * only asked for.
 *
 * The pin on the page of the last batch is that of the scan's slot, which core drops when it
 * stores the next row there, at a rescan, and at the end of the query.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/heapam.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "batch/hg_scan_pages.h"
#include "batch/hg_scan_qual.h"
#include "batch/hg_scan_tuples.h"

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
	bool check_may_lead;		 /* a check may be asked ahead of the qual */
	bool check_leads;			 /* ... and is, for this batch */
	HgTupleLayout *check_layout; /* of the check's columns; NULL until it is asked */
	HgBatch *check_batch;
	uint64 seen;			 /* rows that the qual has been evaluated for, without a check */
	uint64 passed;			 /* ... and holds for */
	uint64 refused;			 /* rows that the check has left out of this batch */
	HgRangeQual *range_qual; /* what is one of the plan's qual; or NULL */
	ExprState *row_qual;	 /* the rest of it; or NULL */
	int ntuples;			 /* rows of the page that are taken */
	HeapTupleHeader tuples[HG_BATCH_ROWS]; /* [ntuples] */
	uint16 places[HG_BATCH_ROWS];		   /* [ntuples] in rs_vistuples, from the first one taken */
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

/* Is a subplan run for each row? */
static bool
hg_pages_find_subplan(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) && !((SubPlan *) node)->useHashTable)
		return true;
	return expression_tree_walker(node, hg_pages_find_subplan, context);
}

/* Find out what the qual costs, and whether it is seen which rows it is evaluated for. */
static void
hg_pages_weigh_qual(HgPages *pages)
{
	Node *qual = (Node *) pages->node->ss.ps.plan->qual;

	pages->check_may_lead = !contain_volatile_functions(qual) && !hg_pages_find_subplan(qual, NULL);
	if (pages->range_qual != NULL)
		pages->qual_cost +=
			hg_range_qual_is_fixed(pages->range_qual) ? HG_FIXED_COST : HG_WALK_COST;
	if (pages->row_qual != NULL)
		pages->qual_cost += HG_ROW_QUAL_COST;
}

HgPages *
hg_pages_create(PlanState *plan, int nattnos, const int *attnos)
{
	SeqScanState *node;
	HgPages *pages;
	HgTupleLayout *layout;
	AttrNumber *table_attnos;
	Bitmapset *seen = NULL;
	List *rest;
	bool eligible = true;

	if (!IsA(plan, SeqScanState) || plan->state->es_epq_active != NULL ||
		!IsMVCCSnapshot(plan->state->es_snapshot))
		return NULL;
	node = (SeqScanState *) plan;
	if (node->ss.ss_currentRelation->rd_tableam != GetHeapamTableAmRoutine())
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
	/* the values that a batch has are then no longer as large as its page */
	if (layout->wide_missing)
		return NULL;
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
	return pages;
}

/*
 * Take the row that core has brought, and those behind it on the page, up to room in all.
 * Returns the place of the first one in rs_vistuples.
 */
static uint32
hg_pages_take(HgPages *pages, HeapScanDesc scan, int room)
{
	Page page = BufferGetPage(scan->rs_cbuf);
	uint32 first = scan->rs_cindex;

	/* a scan that is not by pages has this one alone */
	pages->ntuples = 1;
	pages->tuples[0] = scan->rs_ctup.t_data;
	pages->places[0] = 0;
	if ((scan->rs_base.rs_flags & SO_ALLOW_PAGEMODE) == 0)
		return first;

	pages->ntuples = Min(room, (int) (scan->rs_ntuples - first));
	for (int i = 1; i < pages->ntuples; i++)
	{
		ItemId item = PageGetItemId(page, scan->rs_vistuples[first + i]);

		pages->tuples[i] = (HeapTupleHeader) PageGetItem(page, item);
		pages->places[i] = i;
		/* core has looked at line pointers alone where the whole page is visible */
		HG_PREFETCH(pages->tuples[i]);
	}
	scan->rs_cindex = first + pages->ntuples - 1;
	/* rows returned are one counter, whatever returned them; this adds to it more than one */
	pgstat_count_index_tuples(scan->rs_base.rs_rd, pages->ntuples - 1);
	return first;
}

/* Keep of the rows that are taken those which[nwhich]. */
static inline void
hg_pages_keep(HgPages *pages, int nwhich, const uint16 *which)
{
	for (int k = 0; k < nwhich; k++)
	{
		pages->tuples[k] = pages->tuples[which[k]];
		pages->places[k] = pages->places[which[k]];
	}
	pages->ntuples = nwhich;
}

/* Does the rest of the qual hold for row i of those that are taken, from place first on? */
static inline bool
hg_pages_check_row(HgPages *pages, HeapScanDesc scan, int i, uint32 first)
{
	SeqScanState *node = pages->node;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	/* the first one is there */
	if (pages->places[i] > 0)
	{
		OffsetNumber offset = scan->rs_vistuples[first + pages->places[i]];

		/* the scan's current row, as core leaves it */
		scan->rs_ctup.t_data = pages->tuples[i];
		scan->rs_ctup.t_len = ItemIdGetLength(PageGetItemId(BufferGetPage(scan->rs_cbuf), offset));
		ItemPointerSetOffsetNumber(&scan->rs_ctup.t_self, offset);
		ExecStoreBufferHeapTuple(&scan->rs_ctup, node->ss.ss_ScanTupleSlot, scan->rs_cbuf);
	}
	ResetExprContext(econtext);
	return ExecQual(pages->row_qual, econtext);
}

/* Drop the rows that the plan's qual does not hold for; first is the place of the first row. */
static void
hg_pages_filter(HgPages *pages, HeapScanDesc scan, uint32 first)
{
	SeqScanState *node = pages->node;
	uint16 which[HG_BATCH_ROWS];
	int ntuples = pages->ntuples;

	if (pages->range_qual != NULL)
	{
		int nwhich = hg_range_qual_filter(pages->range_qual, ntuples, pages->tuples, which);

		hg_pages_keep(pages, nwhich, which);
	}
	if (pages->row_qual != NULL)
	{
		int nwhich = 0;

		node->ss.ps.ps_ExprContext->ecxt_scantuple = node->ss.ss_ScanTupleSlot;
		for (int i = 0; i < pages->ntuples; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (hg_pages_check_row(pages, scan, i, first))
				which[nwhich++] = i;
		}
		hg_pages_keep(pages, nwhich, which);
	}
	InstrCountFiltered1(node, ntuples - pages->ntuples);
	if (!pages->check_leads)
	{
		pages->seen += ntuples;
		pages->passed += pages->ntuples;
	}
}

/* Is a check to be asked ahead of the qual, and of everything else? */
static bool
hg_pages_check_pays(const HgPages *pages, const HgRowCheck *check)
{
	double dropped;

	if (check == NULL || !pages->check_may_lead)
		return false;
	if (pages->qual_cost == 0)
		return check->ncolumns < pages->nattnos;
	/* the qual would have to drop more rows for what it costs */
	dropped = pages->seen > 0 ? 1 - (double) pages->passed / pages->seen : 0;
	return (1 - check->kept) * pages->qual_cost > dropped * HG_CHECK_COST;
}

/* Drop the rows that a check leaves out. */
static void
hg_pages_check(HgPages *pages, HgRowCheck *check)
{
	HgBatch *batch = pages->check_batch;
	uint16 which[HG_BATCH_ROWS];
	int ntuples = pages->ntuples;

	if (pages->check_layout == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pages));
		AttrNumber *attnos = palloc(check->ncolumns * sizeof(AttrNumber));

		for (int i = 0; i < check->ncolumns; i++)
			attnos[i] = pages->table_attnos[check->columns[i]];
		pages->check_layout = hg_tuple_layout_create(
			RelationGetDescr(pages->node->ss.ss_currentRelation), check->ncolumns, attnos);
		pages->check_batch = batch = hg_batch_create(check->ncolumns);
		MemoryContextSwitchTo(old);
	}
	batch->nrows = 0;
	memset(batch->has_nulls, 0, batch->ncolumns * sizeof(bool));
	hg_tuple_layout_add(pages->check_layout, ntuples, pages->tuples, batch);
	hg_pages_keep(pages, check->apply(check, batch, which), which);
	pages->refused += ntuples - pages->ntuples;
}

/* Find the page behind the one that the scan has come to. */
static void
hg_pages_look_ahead(HgPages *pages, HeapScanDesc scan)
{
	HgAhead *ahead = &pages->ahead;
	Relation relation = scan->rs_base.rs_rd;
	Buffer buffer;

	if (ahead->behind == scan->rs_cblock)
		return;
	ahead->behind = scan->rs_cblock;
	ahead->page = NULL;
	ahead->asked = 0;
	if (ahead->pause > 0)
	{
		ahead->pause--;
		return;
	}
	if (scan->rs_cblock + 1 >= scan->rs_nblocks || RelationUsesLocalBuffers(relation))
		return;
	buffer = PrefetchBuffer(relation, MAIN_FORKNUM, scan->rs_cblock + 1).recent_buffer;
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

/* hg_pages_fill() without its instrumentation. */
static bool
hg_pages_read(HgPages *pages, HgBatch *batch, HgRowCheck *check)
{
	SeqScanState *node = pages->node;
	TableScanDesc scan = node->ss.ss_currentScanDesc;
	int taken;

	if (scan == NULL)
	{
		scan = hg_seqscan_begin(&node->ss);
		node->ss.ss_currentScanDesc = scan;
	}
	pages->refused = 0;
	pages->check_leads = batch->checked = hg_pages_check_pays(pages, check);
	do
	{
		uint32 first;

		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(scan, ForwardScanDirection, node->ss.ss_ScanTupleSlot))
			return false;
		first = hg_pages_take(pages, (HeapScanDesc) scan, HG_BATCH_ROWS - batch->nrows);
		taken = pages->ntuples;
		hg_pages_look_ahead(pages, (HeapScanDesc) scan);
		hg_pages_ask_ahead(pages);
		if (pages->check_leads)
			hg_pages_check(pages, check);
		if (node->ss.ps.qual != NULL && pages->ntuples > 0)
			hg_pages_filter(pages, (HeapScanDesc) scan, first);
		hg_pages_ask_ahead(pages);
		hg_tuple_layout_add(pages->layout, pages->ntuples, pages->tuples, batch);
		hg_pages_ask_ahead(pages);

		/* values by reference need this page; else another one like it may fit too */
	} while (batch->nrows == 0 ||
			 (!pages->layout->by_reference && batch->nrows + taken <= HG_BATCH_ROWS));
	return true;
}

bool
hg_pages_fill(HgPages *pages, HgBatch *batch, HgRowCheck *check)
{
	PlanState *plan = &pages->node->ss.ps;
	int before = batch->nrows;
	bool more;

	/* what ExecProcNode() does around the node; the rows that a check leaves out are returned */
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	more = hg_pages_read(pages, batch, check);
	if (plan->instrument)
		InstrStopNode(plan->instrument, batch->nrows - before + pages->refused);
	return more;
}
