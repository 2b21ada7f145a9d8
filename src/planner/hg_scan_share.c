/*-------------------------------------------------------------------------
 *
 * hg_scan_share.c
 *	  The share of a table that a scan would read from cached columns, and what its clauses save.
 *
 * The directory is asked once for each relation of a query, when its paths are made, because that
 * reads all of its segments of 8 MB. Clauses, which may have long lists of constants, are also
 * priced once. The answers are found by the address of the relation for each path of a join. A
 * note lies in the relation's memory context and is removed with it. Paths of one relation are
 * made together, when its note is the first one.
 *
 * The share is an estimate: the scan determines the valid blocks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

#include "hg_guc.h"
#include "planner/hg_path_cost.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_report.h"

typedef struct HgScanNote
{
	dlist_node node;
	MemoryContextCallback callback;
	const RelOptInfo *rel;
	double share;
	bool has_graph;
	List *graphs; /* HgScanGraphs of the keys asked for */
	bool priced;
	Cost qual_saving; /* valid if priced */
} HgScanNote;

/* The extent of a key's graph. */
typedef struct HgScanGraph
{
	HgGraphKey asked; /* numbers of columns, and parts */
	HgGraphExtent extent;
} HgScanGraph;

static dlist_head hg_scan_notes = DLIST_STATIC_INIT(hg_scan_notes);

static void
hg_scan_forget(void *arg)
{
	dlist_delete(&((HgScanNote *) arg)->node);
}

static HgScanNote *
hg_scan_note_find(const RelOptInfo *rel)
{
	dlist_iter iter;

	dlist_foreach(iter, &hg_scan_notes)
	{
		HgScanNote *note = dlist_container(HgScanNote, node, iter.cur);

		if (note->rel != rel)
			continue;
		dlist_move_head(&hg_scan_notes, &note->node);
		return note;
	}
	return NULL;
}

static HgScanNote *
hg_scan_note_add(const RelOptInfo *rel, double share)
{
	MemoryContext context = GetMemoryChunkContext(unconstify(RelOptInfo *, rel));
	HgScanNote *note = MemoryContextAlloc(context, sizeof(HgScanNote));

	note->rel = rel;
	note->share = share;
	note->has_graph = false;
	note->graphs = NIL;
	note->priced = false;
	dlist_push_head(&hg_scan_notes, &note->node);
	note->callback.func = hg_scan_forget;
	note->callback.arg = note;
	MemoryContextRegisterResetCallback(context, &note->callback);
	return note;
}

/* Returns the number of attributes that a scan needs, in *attnos; -1: one cannot be cached. */
static int
hg_share_attributes(const RelOptInfo *rel, AttrNumber **attnos)
{
	Bitmapset *offset_attnos = NULL;
	int member = -1;
	int n = 0;
	ListCell *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &offset_attnos);
	foreach (lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &offset_attnos);
	*attnos = palloc(Max(bms_num_members(offset_attnos), 1) * sizeof(AttrNumber));
	while ((member = bms_next_member(offset_attnos, member)) >= 0)
	{
		if (member + FirstLowInvalidHeapAttributeNumber <= 0)
			return -1;
		(*attnos)[n++] = (AttrNumber) (member + FirstLowInvalidHeapAttributeNumber);
	}
	return n;
}

void
hg_scan_share_note(const RelOptInfo *rel, Oid relation)
{
	HgResidentRelation key = {.database = MyDatabaseId, .relation = relation};
	AttrNumber *attnos;
	double share;
	int n;

	if (!hg_resident || !hg_resident_memory_exists() || IsolationIsSerializable() ||
		!hg_resident_is_known(key))
		return;
	n = hg_share_attributes(rel, &attnos);
	share = n < 0 ? 0 : hg_resident_share(key, n, attnos);
	if (share > 0)
		hg_scan_note_add(rel, share)->has_graph = hg_resident_graph_any(key);
}

bool
hg_scan_has_graph(const RelOptInfo *rel)
{
	const HgScanNote *note = hg_scan_note_find(rel);

	return note != NULL && note->has_graph;
}

/* Returns true if two keys have the same column numbers and parts. */
static bool
hg_scan_asked_equal(const HgGraphKey *a, const HgGraphKey *b)
{
	if (a->ncolumns != b->ncolumns)
		return false;
	for (int i = 0; i < a->ncolumns; i++)
		if (a->columns[i].number != b->columns[i].number ||
			!hg_graph_part_equal(&a->parts[i], &b->parts[i]))
			return false;
	return true;
}

/* Stores the keys of graphs with a key's columns, in any order, in *keys; returns their number. */
static int
hg_scan_graph_keys(Relation rel, const HgGraphKey *asked, HgGraphKey **keys)
{
	HgGraphKey key = *asked;
	int nkeys = hg_resident_graph_keys(rel, keys);
	int order[HG_GRAPH_COLUMNS];
	int n = 0;

	for (int i = 0; i < key.ncolumns; i++)
		key.columns[i] =
			hg_resident_column(TupleDescAttr(RelationGetDescr(rel), key.columns[i].number - 1));
	for (int i = 0; i < nkeys; i++)
		if (hg_graph_key_permutes(&(*keys)[i], &key, order))
			(*keys)[n++] = (*keys)[i];
	return n;
}

/* Finds a graph of a table by its key. */
static void
hg_scan_find_graph(Relation rel, HgScanGraph *graph)
{
	HgGraphKey *keys;
	const int nkeys = hg_scan_graph_keys(rel, &graph->asked, &keys);

	for (int i = 0; i < nkeys && graph->extent.share == 0; i++)
		graph->extent = hg_resident_graph_extent(rel, &keys[i]);
}

HgGraphExtent
hg_scan_graph_extent(PlannerInfo *root, const RelOptInfo *rel, const HgGraphKey *asked)
{
	HgScanNote *note = hg_scan_note_find(rel);
	HgScanGraph *graph;
	Relation relation;
	MemoryContext old;
	ListCell *lc;

	if (note == NULL || !note->has_graph)
		return (HgGraphExtent){0};
	foreach (lc, note->graphs)
	{
		graph = lfirst(lc);
		if (hg_scan_asked_equal(&graph->asked, asked))
			return graph->extent;
	}
	old = MemoryContextSwitchTo(GetMemoryChunkContext(note));
	graph = palloc0(sizeof(HgScanGraph));
	graph->asked = *asked;
	note->graphs = lappend(note->graphs, graph);
	MemoryContextSwitchTo(old);
	/* it has been locked since it was parsed */
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	hg_scan_find_graph(relation, graph);
	table_close(relation, NoLock);
	return graph->extent;
}

bool
hg_scan_ask_column(PlannerInfo *root, const RelOptInfo *rel, const HgGraphKey *asked,
				   AttrNumber number)
{
	Relation relation;
	HgGraphKey *keys;
	int nkeys;
	bool has_replica = false;

	if (!hg_scan_has_graph(rel))
		return false;
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	nkeys = hg_scan_graph_keys(relation, asked, &keys);
	for (int i = 0; i < nkeys && !has_replica; i++)
		has_replica = hg_resident_graph_ask_column(relation, &keys[i], number);
	table_close(relation, NoLock);
	return has_replica;
}

double
hg_scan_share(const RelOptInfo *rel)
{
	const HgScanNote *note = hg_scan_note_find(rel);

	return note != NULL ? note->share : 0;
}

Cost
hg_scan_price_qual(const RelOptInfo *rel, HgQualPrice price)
{
	HgScanNote *note;

	if (rel->baserestrictinfo == NIL)
		return 0;
	note = hg_scan_note_find(rel);
	if (note == NULL)
		note = hg_scan_note_add(rel, 0);
	if (!note->priced)
		note->qual_saving = price(rel);
	note->priced = true;
	return note->qual_saving;
}
