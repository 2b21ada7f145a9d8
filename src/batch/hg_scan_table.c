/*-------------------------------------------------------------------------
 *
 * hg_scan_table.c
 *	  The table of a sequential scan, and which of its blocks are read from cached columns.
 *
 * A scan that computes expressions is read by pages too: hg_projection.c computes them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "access/parallel.h"
#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_scan_table.h"
#include "hg_guc.h"
#include "resident/hg_resident_auto.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_report.h"
#include "resident/hg_resident_validity.h"

/* Collects the attributes of the qual; false if it uses other than user columns. */
static bool
hg_scan_table_collect_attributes(HgScanTable *table)
{
	const Plan *plan = table->node->ss.ps.plan;
	Bitmapset *offset_attnos = NULL;
	int member = -1;

	pull_varattnos((Node *) plan->qual, ((const Scan *) plan)->scanrelid, &offset_attnos);
	while ((member = bms_next_member(offset_attnos, member)) >= 0)
	{
		/* the whole row, or a system column */
		if (member + FirstLowInvalidHeapAttributeNumber <= 0)
			return false;
		table->qual_attnos =
			bms_add_member(table->qual_attnos, member + FirstLowInvalidHeapAttributeNumber);
	}
	bms_free(offset_attnos);
	return true;
}

HgScanTable *
hg_scan_table_create(PlanState *plan, int nattnos, const int *attnos, const HgBatchSource *source)
{
	SeqScanState *node;
	HgScanTable *table;

	if (!IsA(plan, SeqScanState) || plan->state->es_epq_active != NULL)
		return NULL;
	node = (SeqScanState *) plan;
	if (!hg_heap_page_may_scan(node->ss.ss_currentRelation, plan->state->es_snapshot))
		return NULL;

	table = palloc0(sizeof(HgScanTable));
	table->node = node;
	table->attnos = palloc(Max(nattnos, 1) * sizeof(AttrNumber));
	for (int c = 0; c < nattnos; c++)
		table->attnos[c] = (AttrNumber) attnos[c];
	table->nattnos = nattnos;
	table->select = hg_scan_select_create(node, nattnos, table->attnos);
	table->heap = hg_scan_heap_create(table->select, nattnos, table->attnos);
	table->source = source;
	table->qual_is_odd = !hg_scan_table_collect_attributes(table);
	table->decided = !hg_resident_memory_exists() || table->qual_is_odd;
	return table;
}

/* Lists the members of a set; returns their number. */
static int
hg_scan_table_list(const Bitmapset *set, AttrNumber *attnos)
{
	int member = -1;
	int n = 0;

	while ((member = bms_next_member(set, member)) >= 0)
		attnos[n++] = (AttrNumber) member;
	return n;
}

/* Lists the attributes that the rows and the qual need; returns their number. */
static int
hg_scan_table_needed(const HgScanTable *table, AttrNumber **attnos)
{
	Bitmapset *needed = bms_copy(table->qual_attnos);
	int n;

	for (int c = 0; c < table->nattnos; c++)
		needed = bms_add_member(needed, table->attnos[c]);
	*attnos = palloc(Max(bms_num_members(needed), 1) * sizeof(AttrNumber));
	n = hg_scan_table_list(needed, *attnos);
	bms_free(needed);
	return n;
}

void
hg_scan_table_expect(const HgScanTable *table, HgScanBlocks *blocks)
{
	Relation rel = table->node->ss.ss_currentRelation;
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	const char *why_not;

	if (!table->decided && hg_resident &&
		hg_validity_may_use(rel, table->node->ss.ps.state->es_snapshot, &why_not))
	{
		AttrNumber *attnos;
		int n = hg_scan_table_needed(table, &attnos);
		double share = hg_resident_share(hg_resident_relation(rel), n, attnos);

		blocks->resident += (uint64) rint(share * nblocks);
		nblocks -= (BlockNumber) rint(share * nblocks);
		pfree(attnos);
	}
	blocks->heap += nblocks;
}

/* Returns why a scanned table with cached columns was not read from them, or NULL. */
static const char *
hg_scan_table_why_not(const HgScanTable *table)
{
	Relation rel = table->node->ss.ss_currentRelation;
	AttrNumber *attnos;
	const char *why_not;
	int n;

	/* a scan that was not begun was not read */
	if (!hg_resident_memory_exists() || table->resident != NULL ||
		table->node->ss.ss_currentScanDesc == NULL ||
		hg_resident_share(hg_resident_relation(rel), 0, NULL) == 0)
		return NULL;
	if (!hg_resident)
		return "hashgraph.resident is off";
	if (!hg_validity_may_use(rel, table->node->ss.ps.state->es_snapshot, &why_not))
		return why_not;
	if (table->qual_is_odd)
		return "the filter asks for system columns";
	n = hg_scan_table_needed(table, &attnos);
	if (hg_resident_share(hg_resident_relation(rel), n, attnos) == 0)
		why_not = "not all columns are resident";
	pfree(attnos);
	return why_not;
}

/* ---------------------------------------------------------------------
 * The tables of a source
 * ---------------------------------------------------------------------
 */

HgScanBlocks
hg_scan_tables_blocks(const HgScanTables *tables)
{
	return tables != NULL ? tables->blocks : (HgScanBlocks){0};
}

HgScanBlocks
hg_scan_tables_expect(const HgScanTables *tables)
{
	HgScanBlocks blocks = {0};
	ListCell *lc;

	if (tables != NULL)
		foreach (lc, tables->list)
			hg_scan_table_expect(lfirst(lc), &blocks);
	return blocks;
}

const char *
hg_scan_tables_why_not(const HgScanTables *tables)
{
	const char *why_not = NULL;
	ListCell *lc;

	if (tables != NULL)
		foreach (lc, tables->list)
			if ((why_not = hg_scan_table_why_not(lfirst(lc))) != NULL)
				break;
	return why_not;
}

void
hg_scan_tables_set_key(HgScanTables *tables, int ncolumns, const int *columns,
					   const HgGraphPart *parts)
{
	ListCell *lc;

	if (tables == NULL)
		return;
	foreach (lc, tables->list)
	{
		HgScanTable *table = lfirst(lc);
		TupleDesc desc = RelationGetDescr(table->node->ss.ss_currentRelation);

		if (table->projected)
			continue;
		if (table->key == NULL)
			table->key = palloc0(sizeof(HgGraphKey));
		table->key->ncolumns = ncolumns;
		memcpy(table->key->parts, parts, ncolumns * sizeof(HgGraphPart));
		for (int i = 0; i < ncolumns; i++)
			table->key->columns[i] =
				hg_resident_column(TupleDescAttr(desc, table->attnos[columns[i]] - 1));
	}
}

/* ---------------------------------------------------------------------
 * Valid blocks
 * ---------------------------------------------------------------------
 */

/* Notes the key by which rows are joined, if a graph of its columns would have it. */
static void
hg_scan_table_note_key(const HgScanTable *table, Relation rel)
{
	const HgGraphKey *key = table->key;
	HgGraphKey made;
	HgKeyNumbers numbers;
	MemoryContext context;
	MemoryContext old;

	if (!hg_auto_may_note(rel))
		return;
	context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph noted key", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	if (hg_graph_key_create(key->ncolumns, key->columns, &made) != NULL &&
		hg_graph_key_equal(key, &made))
	{
		numbers = hg_graph_key_numbers(key);
		hg_auto_note_key(rel, &numbers);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Sets the valid blocks, and creates the reader of cached rows, in CurrentMemoryContext. */
static void
hg_scan_table_decided(HgScanTable *table, HgResidentScan *resident)
{
	table->decided = true;
	table->resident = resident;
	if (resident != NULL)
	{
		int nqual = bms_num_members(table->qual_attnos);
		AttrNumber *qual_attnos = palloc(Max(nqual, 1) * sizeof(AttrNumber));

		hg_scan_table_list(table->qual_attnos, qual_attnos);
		table->runs = hg_scan_runs_create(table->select, resident, table->nattnos, table->attnos,
										  nqual, qual_attnos);
	}
}

void
hg_scan_table_decide(HgScanTable *table, BlockNumber nblocks)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(table));
	Relation rel = table->node->ss.ss_currentRelation;
	AttrNumber *attnos;
	int n = hg_scan_table_needed(table, &attnos);

	hg_scan_table_decided(table,
						  hg_resident_scan_create(rel, table->node->ss.ps.state->es_snapshot,
												  nblocks, n, attnos));
	pfree(attnos);
	if (hg_resident && table->key != NULL && !IsParallelWorker())
		hg_scan_table_note_key(table, rel);
	MemoryContextSwitchTo(old);
}

void
hg_scan_table_open(HgScanTable *table, HgValidBlocks *valid, uint32 nsegments)
{
	AttrNumber *attnos;
	int n = hg_scan_table_needed(table, &attnos);

	hg_scan_table_decided(table, hg_resident_scan_open(table->node->ss.ss_currentRelation, valid,
													   nsegments, n, attnos));
	pfree(attnos);
}

/*
 * Makes the scan read segments in the order that the source's consumer wants, if it can.  The order
 * in which volatile functions are called stays that of the table.
 */
static void
hg_scan_table_set_order(HgScanTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(table));

	if (table->resident != NULL && !table->select->qual_volatile &&
		table->node->ss.ss_currentScanDesc->rs_parallel == NULL)
		hg_scan_runs_set_order(table->runs, table->attnos[table->source->order->column],
							   table->source->order);
	table->ordered = true;
	MemoryContextSwitchTo(old);
}

TableScanDesc
hg_scan_table_begin(HgScanTable *table)
{
	SeqScanState *node = table->node;

	if (node->ss.ss_currentScanDesc == NULL)
		node->ss.ss_currentScanDesc = hg_seqscan_begin(&node->ss);
	if (!table->decided)
		hg_scan_table_decide(table, hg_heap_blocks_count(node->ss.ss_currentScanDesc));
	if (table->source->order != NULL && !table->ordered)
		hg_scan_table_set_order(table);
	return node->ss.ss_currentScanDesc;
}
