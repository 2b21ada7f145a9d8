/*-------------------------------------------------------------------------
 *
 * hg_page_source.c
 *	  Page sources: the pages of a table scan, for a device that takes the rows out of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/stratnum.h"
#include "access/tupdesc_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "batch/hg_bound_params.h"
#include "batch/hg_comparison.h"
#include "batch/hg_heap_page.h"
#include "batch/hg_page_source.h"
#include "engine/hg_cost_table.h"

/* Bounds of a parallel scan's runs; each run costs at least one message. */
#define HG_PAGE_RUN_BYTES (4 * 1024 * 1024)
#define HG_LEAST_PAGE_RUN 64

/* ---------------------------------------------------------------------
 * The plan's qual.  Supported are comparisons of an integer column with a constant, tests of a
 * column for NULL, and boolean columns (engine/hg_pages.h).
 * ---------------------------------------------------------------------
 */

/* Operators by btree strategy. */
static const HgPageOperator hg_page_operators[] = {
	[BTLessStrategyNumber] = HG_PAGE_LESS,
	[BTLessEqualStrategyNumber] = HG_PAGE_LESS_EQUAL,
	[BTEqualStrategyNumber] = HG_PAGE_EQUAL,
	[BTGreaterEqualStrategyNumber] = HG_PAGE_GREATER_EQUAL,
	[BTGreaterStrategyNumber] = HG_PAGE_GREATER,
};

/* Returns true if an engine can read an attribute. */
static bool
hg_page_quals_reaches(TupleDesc desc, AttrNumber attno)
{
	return attno > 0 && attno <= desc->natts && attno <= HG_PAGES_MAX_ATTRIBUTES &&
		   !hg_attribute_is_virtual(TupleDescAttr(desc, attno - 1));
}

/* "column operator constant" */
static bool
hg_page_quals_compare(TupleDesc desc, const OpExpr *op, HgPageQual *qual)
{
	Node *column;
	Const *constant;
	Oid opno = op->opno;
	HgComparison comparison;

	if (list_length(op->args) != 2)
		return false;
	column = linitial(op->args);
	constant = lsecond(op->args);
	if (IsA(column, Const))
	{
		column = lsecond(op->args);
		constant = linitial(op->args);
		opno = get_commutator(opno);
	}
	if (!IsA(constant, Const) || constant->constisnull ||
		!hg_comparison_init(&comparison, column, constant->consttype, opno, op->inputcollid,
							false) ||
		!hg_page_quals_reaches(desc, comparison.attno))
		return false;
	if ((comparison.order != HG_ORDER_SIGNED && comparison.order != HG_ORDER_UNSIGNED) ||
		!hg_order_is_shared(comparison.type, constant->consttype))
		return false;
	if (comparison.negated && comparison.strategy != BTEqualStrategyNumber)
		return false;
	qual->attribute = (uint16) (comparison.attno - 1);
	qual->operation =
		comparison.negated ? HG_PAGE_NOT_EQUAL : (uint8) hg_page_operators[comparison.strategy];
	qual->is_signed = comparison.order == HG_ORDER_SIGNED;
	qual->constant = (uint64) hg_order_integer(comparison.order, get_typlen(constant->consttype),
											   constant->constvalue);
	return true;
}

/* "column IS NULL", or IS NOT NULL */
static bool
hg_page_quals_test(TupleDesc desc, const NullTest *test, HgPageQual *qual)
{
	const Var *var = (const Var *) test->arg;

	if (test->argisrow || !IsA(var, Var) || !hg_page_quals_reaches(desc, var->varattno))
		return false;
	qual->attribute = (uint16) (var->varattno - 1);
	qual->operation = test->nulltesttype == IS_NULL ? HG_PAGE_IS_NULL : HG_PAGE_IS_NOT_NULL;
	return true;
}

/* "column", or "NOT column" if holds is false */
static bool
hg_page_quals_boolean(TupleDesc desc, Node *column, bool holds, HgPageQual *qual)
{
	const Var *var = (const Var *) column;

	if (!IsA(var, Var) || var->vartype != BOOLOID || !hg_page_quals_reaches(desc, var->varattno))
		return false;
	qual->attribute = (uint16) (var->varattno - 1);
	qual->operation = HG_PAGE_EQUAL;
	qual->constant = holds ? 1 : 0;
	return true;
}

static bool
hg_page_quals_clause(TupleDesc desc, Node *clause, HgPageQual *qual)
{
	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return hg_page_quals_compare(desc, (OpExpr *) clause, qual);
		case T_NullTest:
			return hg_page_quals_test(desc, (NullTest *) clause, qual);
		case T_Var:
			return hg_page_quals_boolean(desc, clause, true, qual);
		case T_BoolExpr:
			return ((BoolExpr *) clause)->boolop == NOT_EXPR &&
				   hg_page_quals_boolean(desc, linitial(((BoolExpr *) clause)->args), false, qual);
		default:
			return false;
	}
}

/*
 * Adds all clauses of a qual, an implicitly ANDed list over rows of desc, to spec->quals.  Returns
 * false if a clause is not supported.
 */
static bool
hg_page_quals_fill(TupleDesc desc, List *qual, HgPageSpec *spec)
{
	ListCell *lc;

	if (list_length(qual) > HG_PAGES_MAX_QUALS)
		return false;
	foreach (lc, qual)
		if (!hg_page_quals_clause(desc, lfirst(lc), &spec->quals[spec->nquals++]))
			return false;
	return true;
}

/* ---------------------------------------------------------------------
 * Attributes and statistics
 * ---------------------------------------------------------------------
 */

/* Returns the alignment of an attribute, in bytes. */
static uint8
hg_page_align(char align)
{
	switch (align)
	{
		case TYPALIGN_CHAR:
			return 1;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT;
		case TYPALIGN_INT:
			return ALIGNOF_INT;
		default:
			return ALIGNOF_DOUBLE;
	}
}

/* Describes an attribute, and its value in rows that are older than the attribute. */
static void
hg_page_source_attribute(TupleDesc desc, int column_index, HgPageAttribute *layout)
{
	Form_pg_attribute att = TupleDescAttr(desc, column_index);
	const AttrMissing *missing = NULL;

	layout->length = att->attlen;
	layout->align = hg_page_align(att->attalign);
	if (att->atthasmissing && desc->constr != NULL && desc->constr->missing != NULL)
		missing = &desc->constr->missing[column_index];
	if (missing == NULL || !missing->am_present)
		return;
	layout->stored = 1;
	if (att->attbyval && att->attlen < (int) sizeof(uint64))
		layout->missing =
			(uint64) missing->am_value & ((UINT64CONST(1) << (BITS_PER_BYTE * att->attlen)) - 1);
	else if (att->attbyval)
		layout->missing = (uint64) missing->am_value;
}

/* Describes the attributes up to the last one that is sent or that a qual uses. */
static void
hg_page_source_attributes(HgPageSpec *spec, TupleDesc desc, int ncolumns)
{
	int last = spec->key;

	for (int i = 0; i < ncolumns; i++)
		last = Max(last, spec->columns[i]);
	for (int i = 0; i < spec->nquals; i++)
		last = Max(last, spec->quals[i].attribute);
	spec->natts = (uint16) (last + 1);
	for (int i = 0; i <= last; i++)
		hg_page_source_attribute(desc, i, &spec->attributes[i]);
}

/* Returns true if a device can take an attribute's values out of pages. */
static bool
hg_page_source_supports(TupleDesc desc, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(desc, attno - 1);

	return attno <= HG_PAGES_MAX_ATTRIBUTES && att->attbyval && !hg_attribute_is_virtual(att);
}

/* Returns true if the scan may be a page source. */
static bool
hg_page_source_is_possible(const HgScanTable *table, bool parallel)
{
	const PlanState *plan = &table->node->ss.ps;
	TableScanDesc scan = table->node->ss.ss_currentScanDesc;

	/* core checks each row that a serializable transaction reads for conflicts */
	return !table->qual_is_odd && table->resident == NULL &&
		   plan->plan->parallel_aware == parallel && (parallel || !IsParallelWorker()) &&
		   plan->chgParam == NULL && !IsolationIsSerializable() && hg_snapshots_are_kept() &&
		   (scan == NULL ||
			(hg_heap_blocks_unread(scan) && (scan->rs_parallel != NULL) == parallel &&
			 (scan->rs_flags & SO_ALLOW_PAGEMODE) != 0));
}

/* Sets statistics of the table from the last vacuum. */
static void
hg_page_source_measure(HgPageSource *page_source, Relation rel)
{
	const double pages = (double) rel->rd_rel->relpages;

	page_source->blocks = (double) RelationGetNumberOfBlocks(rel);
	if (pages < 1 || rel->rd_rel->reltuples < 0)
		return;
	page_source->rows = (double) rel->rd_rel->reltuples / pages * page_source->blocks;
	page_source->visible = Min((double) rel->rd_rel->relallvisible / pages, 1);
}

bool
hg_page_source_init(HgPageSource *page_source, HgScanTable *table, bool parallel, int nwanted,
					const int *wanted)
{
	Relation rel = table->node->ss.ss_currentRelation;
	TupleDesc desc = RelationGetDescr(rel);
	const PlanState *plan = &table->node->ss.ps;
	HgPageSpec *spec = &page_source->spec;
	AttrNumber key = table->attnos[wanted[0]];
	HgScanBlocks blocks = {0};

	memset(page_source, 0, sizeof(*page_source));
#ifdef WORDS_BIGENDIAN
	return false;
#endif
	if (!hg_page_source_is_possible(table, parallel))
		return false;
	hg_scan_table_expect(table, &blocks);
	if (blocks.resident > 0)
		return false;
	for (int i = 0; i < nwanted; i++)
		if (!hg_page_source_supports(desc, table->attnos[wanted[i]]))
			return false;
	page_source->table = table;
	page_source->parallel = parallel;
	hg_page_source_measure(page_source, rel);
	spec->page_size = BLCKSZ;
	spec->rows_per_page = MaxHeapTuplesPerPage;
	if (page_source->blocks >= HG_MAX_ROWS / MaxHeapTuplesPerPage)
		return false;
	spec->key = (uint16) (key - 1);
	for (int i = 1; i < nwanted; i++)
		spec->columns[i - 1] = (uint16) (table->attnos[wanted[i]] - 1);
	if (!hg_page_quals_fill(
			desc, (List *) hg_bind_params((Node *) plan->plan->qual, plan->state, false), spec))
		return false;
	hg_page_source_attributes(spec, desc, nwanted - 1);
	page_source->expected = (uint64) Min(plan->plan->plan_rows, (double) (HG_MAX_ROWS / 2));
	return true;
}

double
hg_page_source_reading_ms(const HgPageSource *page_source)
{
	return page_source->rows * HG_PAGE_ROW_NS / 1e6;
}

double
hg_page_source_saved_ms(const HgPageSource *page_source)
{
	return (page_source->rows * page_source->visible * HG_PAGE_ROW_NS -
			page_source->blocks * HG_PAGE_COPY_NS) /
		   1e6;
}

/* Room for pages in the job's memory, and the pages that were copied there but not sent. */
typedef struct HgPageRoom
{
	char *to;
	uint64 count; /* capacity */
	uint64 held;
	BlockNumber first;
} HgPageRoom;

/* Makes room for a block's page; may send the previous pages.  False if there is none. */
static bool
hg_page_source_reserve(HgPageRoom *room, HgPageJob *job, HgSide side, BlockNumber block)
{
	if (room->held > 0 && room->held < room->count && block == room->first + room->held)
		return true;
	if (room->held > 0 && !hg_page_job_send(job, side, room->held, room->first))
		return false;
	room->held = 0;
	room->first = block;
	room->to = hg_page_job_room(job, side, &room->count);
	return room->to != NULL;
}

/* Sends the pages of a scan that has begun. */
static bool
hg_page_source_copy(HgPageSource *page_source, TableScanDesc scan, HgPageJob *job, HgSide side)
{
	HgRecentBlock before = {InvalidBlockNumber, InvalidBuffer};
	HgPageRoom room = {0};
	HgHeapBlocks blocks;
	BlockNumber block;

	hg_heap_blocks_begin(&blocks, scan, HG_PAGE_RUN_BYTES / BLCKSZ, HG_LEAST_PAGE_RUN);
	while ((block = hg_heap_blocks_next(&blocks)) != InvalidBlockNumber)
	{
		CHECK_FOR_INTERRUPTS();
		if (!hg_page_source_reserve(&room, job, side, block))
			return false;
		page_source->uploaded_rows +=
			(uint64) hg_heap_page_copy(scan, block, &before, room.to + room.held * BLCKSZ);
		room.held++;
		page_source->pages++;
	}
	return room.held == 0 || hg_page_job_send(job, side, room.held, room.first);
}

bool
hg_page_source_begin(HgPageSource *page_source)
{
	SeqScanState *node = page_source->table->node;
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	TableScanDesc scan = hg_scan_table_begin(page_source->table);

	MemoryContextSwitchTo(old);
	/* valid blocks, and the way the scan was begun, are known only now */
	if (!hg_page_source_is_possible(page_source->table, page_source->parallel) ||
		hg_heap_blocks_count(scan) >= HG_MAX_ROWS / MaxHeapTuplesPerPage)
		return false;
	page_source->begun = true;
	if (node->ss.ps.instrument != NULL)
		page_source->before = *node->ss.ps.instrument;
	return true;
}

bool
hg_page_source_send(HgPageSource *page_source, HgPageJob *job, HgSide side)
{
	SeqScanState *node = page_source->table->node;
	NodeInstrumentation *instrument = node->ss.ps.instrument;
	bool sent;

	if (instrument != NULL)
		InstrStartNode(instrument);
	sent = hg_page_source_copy(page_source, node->ss.ss_currentScanDesc, job, side);
	if (instrument != NULL)
		InstrStopNode(instrument, 0);
	return sent;
}

void
hg_page_source_count(HgPageSource *page_source)
{
	hg_heap_count_rows(page_source->table->node->ss.ss_currentRelation,
					   (int64) page_source->uploaded_rows);
	page_source->table->source->tables->blocks.heap += page_source->pages;
}

void
hg_page_source_report(HgPageSource *page_source, uint64 uploaded_rows, uint64 rows)
{
	SeqScanState *node = page_source->table->node;

	if (node->ss.ps.instrument == NULL)
		return;
	InstrUpdateTupleCount(node->ss.ps.instrument, (double) rows);
	InstrCountFiltered1(&node->ss.ps, (double) (uploaded_rows - rows));
}

void
hg_page_source_rescan(HgPageSource *page_source)
{
	SeqScanState *node = page_source->table->node;

	if (!page_source->begun)
		return;
	hg_heap_blocks_forget(node->ss.ss_currentScanDesc);
	if (node->ss.ps.instrument != NULL)
		*node->ss.ps.instrument = page_source->before;
}

void
hg_page_source_reinitialize(HgPageSource *page_source)
{
	const TableScanDesc scan = page_source->table->node->ss.ss_currentScanDesc;

	table_parallelscan_reinitialize(scan->rs_rd, scan->rs_parallel);
}
