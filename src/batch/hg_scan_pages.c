/*-------------------------------------------------------------------------
 *
 * hg_scan_pages.c
 *	  Sequential scans of heap tables, a page at a time.
 *
 * The rows of a page are taken together (hg_scan_heap.h), where core would bring one at a time
 * and evaluate the plan's qual for it (hg_scan_select.h).  The counters that core would have raised
 * are raised all the same: the relation's (pg_stat_get_tuples_returned) and the plan node's.
 *
 * A projection must do no more than choose columns; it is then done by choosing.
 *
 * Where blocks of the table are served from resident columns, their rows are taken from there
 * (hg_scan_runs.h), in turns with pages of the others.
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
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "batch/hg_graph_key.h"
#include "batch/hg_heap_page.h"
#include "batch/hg_scan_changed.h"
#include "batch/hg_scan_heap.h"
#include "batch/hg_scan_pages.h"
#include "batch/hg_scan_resident.h"
#include "batch/hg_scan_runs.h"
#include "batch/hg_scan_select.h"
#include "batch/hg_shared_lent.h"
#include "hg_guc.h"
#include "resident/hg_resident_auto.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_report.h"
#include "resident/hg_resident_validity.h"

struct HgPages
{
	SeqScanState *node;
	HgBatchSource *source;	  /* that this belongs to */
	AttrNumber *table_attnos; /* [nattnos] of its columns */
	int nattnos;
	HgScanSelect *select;
	HgScanHeap *heap;
	Bitmapset *qual_needs;	  /* attributes of the table that the qual is made of */
	bool qual_is_odd;		  /* ... and of what can't be resident */
	bool decided;			  /* what is served */
	HgResidentScan *resident; /* NULL: nothing */
	HgScanRuns *runs;		  /* of that; or NULL */
	bool takes_runs;		  /* the consumer has asked for a run since the last batch */
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
	AttrNumber *table_attnos;
	Bitmapset *seen = NULL;
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

	pages = palloc0(sizeof(HgPages));
	pages->node = node;
	pages->select = hg_scan_select_create(node, nattnos, table_attnos);
	pages->heap = hg_scan_heap_create(pages->select, nattnos, table_attnos);
	pages->table_attnos = table_attnos;
	pages->nattnos = nattnos;
	pages->source = source;
	pages->qual_is_odd = !hg_pages_collect_attributes(pages);
	pages->decided = !hg_resident_memory_exists() || pages->qual_is_odd;
	return pages;
}

bool
hg_pages_is_new(const HgPages *pages)
{
	return hg_relation_is_new(pages->node->ss.ss_currentRelation);
}

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

const char *
hg_pages_why_not(const HgPages *pages)
{
	Relation rel = pages->node->ss.ss_currentRelation;
	AttrNumber *attnos;
	const char *why_not;
	int n;

	/* a scan that was not begun was not asked for rows */
	if (!hg_resident_memory_exists() || pages->resident != NULL ||
		pages->node->ss.ss_currentScanDesc == NULL ||
		hg_resident_share(hg_resident_relation(rel), 0, NULL) == 0)
		return NULL;
	if (!hg_resident)
		return "hashgraph.resident is off";
	if (!hg_validity_may_serve(rel, pages->node->ss.ps.state->es_snapshot, &why_not))
		return why_not;
	if (pages->qual_is_odd)
		return "the filter asks for system columns";
	n = hg_pages_needed(pages, &attnos);
	if (hg_resident_share(hg_resident_relation(rel), n, attnos) == 0)
		why_not = "not all columns are resident";
	pfree(attnos);
	return why_not;
}

/* The key that a graph must be of to lend rows, with the table's columns as they are. */
static void
hg_pages_graph_key(const HgPages *pages, HgGraphKey *key)
{
	TupleDesc desc = RelationGetDescr(pages->node->ss.ss_currentRelation);
	const HgSourceKey *of = pages->source->key;

	key->ncolumns = of->ncolumns;
	memcpy(key->parts, of->parts, of->ncolumns * sizeof(HgGraphPart));
	for (int i = 0; i < of->ncolumns; i++)
		key->columns[i] =
			hg_resident_column(TupleDescAttr(desc, pages->table_attnos[of->columns[i]] - 1));
}

/* Note that rows are joined by their key, if a graph of its columns would have it. */
static void
hg_pages_note_key(const HgPages *pages, Relation rel)
{
	HgGraphKey key;
	HgGraphKey made;
	HgKeyNumbers numbers;
	MemoryContext context;
	MemoryContext old;

	if (!hg_auto_may_note(rel))
		return;
	hg_pages_graph_key(pages, &key);
	context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph noted key", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	if (hg_graph_key_create(key.ncolumns, key.columns, &made) != NULL &&
		hg_graph_key_equal(&key, &made))
	{
		numbers = hg_graph_key_numbers(&key);
		hg_auto_note_key(rel, &numbers);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* What is served is decided: it is read as runs, in CurrentMemoryContext. */
static void
hg_pages_decided(HgPages *pages, HgResidentScan *resident)
{
	pages->decided = true;
	pages->resident = resident;
	if (resident != NULL)
	{
		int nqual = bms_num_members(pages->qual_needs);
		AttrNumber *qual_attnos = palloc(Max(nqual, 1) * sizeof(AttrNumber));

		hg_pages_list(pages->qual_needs, qual_attnos);
		pages->runs = hg_scan_runs_create(pages->select, resident, pages->nattnos,
										  pages->table_attnos, nqual, qual_attnos);
	}
}

/* Decide what of a scan is served that has not been read, of so many blocks at least. */
static void
hg_pages_decide(HgPages *pages, BlockNumber nblocks)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pages));
	Relation rel = pages->node->ss.ss_currentRelation;
	HgResidentScan *resident = NULL;

	if (pages->source->may_serve)
	{
		AttrNumber *attnos;
		int n = hg_pages_needed(pages, &attnos);

		resident =
			hg_resident_scan_create(rel, pages->node->ss.ps.state->es_snapshot, nblocks, n, attnos);
		pfree(attnos);
		if (hg_resident && pages->source->key != NULL && !IsParallelWorker())
			hg_pages_note_key(pages, rel);
	}
	hg_pages_decided(pages, resident);
	MemoryContextSwitchTo(old);
}

/* Fill a batch from resident columns, and else from the heap; false at the end. */
static bool
hg_pages_read_mixed(HgPages *pages, TableScanDesc scan, HgBatch *batch, Size max_bytes)
{
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
			if (hg_scan_heap_holds(pages->heap, batch))
				return true;
			hg_heap_page_end(scan, pages->node->ss.ss_ScanTupleSlot);
			return false;
		}
		if (run.nrows > 0)
		{
			/* rows that the consumer can have as they are do not go behind those of the heap */
			if (batch->nrows > 0 && pages->takes_runs && hg_scan_runs_lie(pages->runs, &run))
				break;
			if (hg_scan_runs_rule_out(pages->runs, &run))
			{
				hg_resident_scan_skip(pages->resident, run.nrows);
				continue;
			}
			if (!hg_scan_runs_join(pages->runs, batch))
				break;
			hg_resident_scan_skip(pages->resident,
								  hg_scan_runs_add(pages->runs, &run, batch, &room));
		}
		else if (!hg_scan_heap_fits(pages->heap, batch))
			break;
		else
		{
			bool all;
			int taken = hg_scan_heap_add_block(pages->heap, scan, &run, batch, max_bytes, &all);

			pages->source->blocks.heap += run.taken == 0;
			hg_resident_scan_skip_block(pages->resident, scan, taken, all);
			/* what a page has is a batch for itself where its values are by reference */
			if (hg_scan_heap_holds(pages->heap, batch))
				break;
		}
	}
	return true;
}

/* The scan of the plan, begun, with what is served of it decided on. */
static TableScanDesc
hg_pages_begin(HgPages *pages)
{
	SeqScanState *node = pages->node;

	if (node->ss.ss_currentScanDesc == NULL)
		node->ss.ss_currentScanDesc = hg_seqscan_begin(&node->ss);
	if (!pages->decided)
		hg_pages_decide(pages, hg_heap_blocks_count(node->ss.ss_currentScanDesc));
	return node->ss.ss_currentScanDesc;
}

/* ---------------------------------------------------------------------
 * Lending
 * ---------------------------------------------------------------------
 */

double
hg_pages_may_lend(const HgPages *pages, double *rows)
{
	Relation rel = pages->node->ss.ss_currentRelation;
	HgGraphKey key;
	const char *why_not;
	double share;

	if ((pages->decided && pages->resident == NULL) || !hg_resident ||
		!hg_scan_select_is_columns(pages->select) ||
		!hg_validity_may_serve(rel, pages->node->ss.ps.state->es_snapshot, &why_not))
		return 0;
	hg_pages_graph_key(pages, &key);
	return hg_resident_graph_exists(rel, &key, &share, rows) ? share : 0;
}

bool
hg_pages_graph_order(const HgPages *pages, int n, int *order)
{
	HgGraphKey key;
	HgGraphKey *keys;
	int nkeys;
	bool found = false;

	if (!hg_resident || pages->node->ss.ps.plan->parallel_aware)
		return false;
	nkeys = hg_resident_graph_keys(pages->node->ss.ss_currentRelation, &keys);
	if (nkeys == 0)
		return false;
	hg_pages_graph_key(pages, &key);
	for (int i = 0; i < nkeys && !found; i++)
		found = hg_graph_key_permutes(&keys[i], &key, order) && n-- == 0;
	pfree(keys);
	return found;
}

/*
 * Set the bits of those rows from first up to end that the qual leaves; share is what it says of
 * all rows of their segment.  Returns how many are left.
 */
static uint32
hg_pages_mark_rows(HgPages *pages, HgPredicateShare share, uint32 first, uint32 end, uint64 *bits)
{
	if (share != HG_SHARE_ALL)
		return hg_scan_runs_mark(pages->runs, first, end - first, bits);
	hg_segment_set_bits(bits, first, end);
	return end - first;
}

/*
 * Lend the rows of a segment's blocks that are not served and have changed since: those which have
 * not, as far as the qual leaves them.  Sets their bits, and returns how many they are.
 */
static uint32
hg_pages_lend_changed(HgPages *pages, TableScanDesc scan, const HgServedSegment *segment,
					  HgPredicateShare share, uint64 *bits)
{
	const HgSegmentVersion *version = segment->version;
	HgSegmentRows rows = hg_segment_rows(version);
	TransactionId horizon = hg_changed_horizon(version);
	Size bytes = hg_segment_bits_bytes(version->nrows);
	uint64 *seen = share == HG_SHARE_ALL ? bits : palloc0(bytes);
	int nblocks = (int) Min(HG_SEGMENT_BLOCKS, hg_heap_blocks_count(scan) - version->first);
	uint32 left = 0;

	for (int block = 0; block < nblocks && TransactionIdIsValid(horizon); block++)
	{
		HgHeapLines lines;
		uint32 count;

		if (!hg_block_bits_test(&version->taken, block) ||
			hg_block_bits_test(segment->blocks, block))
			continue;
		CHECK_FOR_INTERRUPTS();
		if (!hg_changed_look(scan, version, &rows, block, horizon, seen, &count, &lines))
			continue;
		hg_resident_scan_lend_older(pages->resident, segment, block, &lines);
		/* a block with others is counted when the scan comes to these */
		pages->source->blocks.heap += lines.nothers == 0;
		hg_heap_count_rows(scan->rs_rd, (int) count);
		left += seen == bits ? count
							 : hg_scan_runs_mark_seen(pages->runs, seen, rows.first_rows[block],
													  rows.first_rows[block + 1], bits);
	}
	if (seen != bits)
		pfree(seen);
	return left;
}

/* Lend the rows of a segment that are served, or have not changed, and that the qual leaves. */
static void
hg_pages_lend_segment(HgPages *pages, TableScanDesc scan, HgLent *lent,
					  const HgServedSegment *segment)
{
	const HgSegmentVersion *version = segment->version;
	HgSegmentRows rows = hg_segment_rows(version);
	uint32 served =
		hg_resident_scan_lend(pages->resident, segment, &pages->source->blocks.resident);
	HgPredicateShare share;
	uint64 *bits = NULL;
	uint32 left = 0;

	hg_heap_count_rows(pages->node->ss.ss_currentRelation, (int) served);
	hg_resident_scan_stand(pages->resident, segment);
	share = hg_scan_runs_judge(pages->runs, version->first / HG_SEGMENT_BLOCKS);
	if (share == HG_SHARE_ALL && served == version->nrows)
	{
		hg_lent_add(lent, segment, NULL, served);
		return;
	}
	if (share == HG_SHARE_NONE)
		hg_scan_select_count(pages->select, (int) served, 0);
	else
	{
		bits = palloc0(hg_segment_bits_bytes(version->nrows));
		for (int block = 0; block < HG_SEGMENT_BLOCKS; block++)
			if (hg_block_bits_test(segment->blocks, block))
				left += hg_pages_mark_rows(pages, share, rows.first_rows[block],
										   rows.first_rows[block + 1], bits);
		if (scan != NULL)
			left += hg_pages_lend_changed(pages, scan, segment, share, bits);
	}
	hg_lent_add(lent, segment, bits, left);
}

/* The columns that are wanted of lent rows: all but those that a qual alone needs. */
static HgResidentColumn *
hg_pages_lent_columns(const HgPages *pages)
{
	TupleDesc desc = RelationGetDescr(pages->node->ss.ss_currentRelation);
	HgResidentColumn *columns = palloc(Max(pages->nattnos, 1) * sizeof(HgResidentColumn));

	for (int c = 0; c < pages->nattnos; c++)
		columns[c] = hg_resident_column(TupleDescAttr(desc, pages->table_attnos[c] - 1));
	return columns;
}

/* What a graph of the key has of what is served; of the begun scan, or NULL: of one that is begun
 * later. */
static HgLent *
hg_pages_lend_rows(HgPages *pages, TableScanDesc scan, HgPinnedGraph *graph, const HgGraphKey *key)
{
	HgResidentColumn *columns = hg_pages_lent_columns(pages);
	uint32 nsegments;
	const HgServed *served = hg_resident_scan_served(pages->resident, &nsegments);
	HgLent *lent;

	lent = hg_lent_create(graph, key, served, nsegments, pages->nattnos, columns);
	pfree(columns);
	for (int i = 0; i < served->nsegments; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (hg_lent_has_version(lent, served->segments[i].version))
			hg_pages_lend_segment(pages, scan, lent, &served->segments[i]);
	}
	hg_lent_end(lent);
	lent->bytes += hg_resident_scan_lent_bytes(pages->resident);
	return lent;
}

/* Lend what the leader of a parallel scan does. */
static HgLent *
hg_pages_lend_too(HgPages *pages, const HgSharedLent *shared, dsa_area *area)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pages));
	HgServed *served = hg_shared_lent_served(shared, area);
	HgResidentColumn *columns;
	AttrNumber *attnos;
	int n = hg_pages_needed(pages, &attnos);
	HgGraphKey key;
	HgLent *lent;

	hg_pages_decided(pages, hg_resident_scan_open(pages->node->ss.ss_currentRelation, served,
												  shared->nparts, n, attnos));
	pfree(attnos);
	MemoryContextSwitchTo(old);

	hg_pages_graph_key(pages, &key);
	columns = hg_pages_lent_columns(pages);
	lent = hg_shared_lent_attach(shared, area, &key, served, pages->nattnos, columns);
	pfree(columns);
	for (int i = 0; i < served->nsegments; i++)
		if (hg_lent_has_version(lent, served->segments[i].version))
			hg_resident_scan_pass(pages->resident, &served->segments[i]);
	return lent;
}

/*
 * Have it decided what is served of a scan, none of whose rows was read, and which is begun unless
 * it is a parallel one; false where some were.
 */
static bool
hg_pages_begin_lending(HgPages *pages, bool parallel, TableScanDesc *scan)
{
	SeqScanState *node = pages->node;
	MemoryContext old;

	*scan = NULL;

	/* a parallel scan is begun later, when there may be more blocks */
	if (parallel)
	{
		if (!pages->decided)
			hg_pages_decide(pages, RelationGetNumberOfBlocks(node->ss.ss_currentRelation));
		return node->ss.ps.plan->parallel_aware && node->ss.ss_currentScanDesc == NULL;
	}
	/* what the plan begins lasts */
	old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	*scan = hg_pages_begin(pages);
	MemoryContextSwitchTo(old);
	return hg_heap_blocks_unread(*scan) && (*scan)->rs_parallel == NULL;
}

HgLent *
hg_pages_lend(HgPages *pages, HgSharedLent *shared, dsa_area *area)
{
	PlanState *plan = &pages->node->ss.ps;
	HgGraphKey key;
	HgPinnedGraph *graph;
	HgLent *lent;
	TableScanDesc scan;
	uint32 nsegments;

	if (shared != NULL && shared->lent)
		return hg_pages_lend_too(pages, shared, area);
	if (!hg_pages_begin_lending(pages, shared != NULL, &scan) || pages->resident == NULL ||
		!hg_scan_select_is_columns(pages->select))
		return NULL;
	hg_pages_graph_key(pages, &key);
	(void) hg_resident_scan_served(pages->resident, &nsegments);
	if (nsegments > HG_LENT_SEGMENTS)
		return NULL;
	graph = hg_resident_graph_pin(pages->node->ss.ss_currentRelation, &key);
	if (graph == NULL)
		return NULL;
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	lent = hg_pages_lend_rows(pages, scan, graph, &key);
	if (plan->instrument)
		InstrStopNode(plan->instrument, (double) lent->rows);
	if (shared != NULL)
		hg_shared_lent_publish(shared, area, lent);
	return lent;
}

void
hg_pages_return_lent(HgPages *pages)
{
	hg_resident_scan_return_lent(pages->resident);
}

/* ---------------------------------------------------------------------
 * Batches and runs
 * ---------------------------------------------------------------------
 */

/* hg_pages_fill() without its instrumentation. */
static bool
hg_pages_read(HgPages *pages, HgBatch *batch, HgRowCheck *check, Size max_bytes)
{
	TableScanDesc scan = hg_pages_begin(pages);

	batch->checked = hg_scan_select_begin(pages->select, check);
	if (pages->resident != NULL)
	{
		bool more = hg_pages_read_mixed(pages, scan, batch, max_bytes);

		pages->takes_runs = false;
		return more;
	}
	return hg_scan_heap_fill(pages->heap, scan, batch, max_bytes, &pages->source->blocks.heap);
}

void
hg_pages_rescan(HgPages *pages, const Bitmapset *changed)
{
	hg_scan_select_rescan(pages->select, changed);
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
		rows.nrows == 0 || !hg_scan_runs_values(pages->runs, &rows, run->values))
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
