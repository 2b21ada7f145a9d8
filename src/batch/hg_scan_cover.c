/*-------------------------------------------------------------------------
 *
 * hg_scan_cover.c
 *	  Covers rows of a table scan: a cached HashGraph has their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/instrument.h"
#include "miscadmin.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_covered.h"
#include "batch/hg_predicate.h"
#include "batch/hg_scan_resident.h"
#include "batch/hg_scan_table.h"
#include "hg_guc.h"
#include "resident/hg_resident_statistics.h"

HgGraphExtent
hg_scan_table_may_cover(const HgScanTable *table)
{
	Relation rel = table->node->ss.ss_currentRelation;
	const HgGraphExtent none = {0};
	const char *why_not;

	if ((table->decided && table->resident == NULL) || !hg_resident ||
		!hg_scan_select_is_columns(table->select) ||
		!hg_validity_may_use(rel, table->node->ss.ps.state->es_snapshot, &why_not))
		return none;
	return hg_resident_graph_extent(rel, table->key);
}

HgPinnedGraph *
hg_scan_table_pin_graph(const HgScanTable *table, int ncolumns, const int *columns,
						AttrNumber *numbers)
{
	for (int i = 0; i < ncolumns; i++)
		numbers[i] = table->attnos[columns[i]];
	return hg_resident_graph_pin(table->node->ss.ss_currentRelation, table->key);
}

bool
hg_scan_table_graph_order(const HgScanTable *table, int n, int *order)
{
	HgGraphKey *keys;
	int nkeys;
	bool found = false;

	if (!hg_resident || table->node->ss.ps.plan->parallel_aware)
		return false;
	nkeys = hg_resident_graph_keys(table->node->ss.ss_currentRelation, &keys);
	if (nkeys == 0)
		return false;
	for (int i = 0; i < nkeys && !found; i++)
		found = hg_graph_key_permutes(&keys[i], table->key, order) && n-- == 0;
	pfree(keys);
	return found;
}

/*
 * Sets the bits of the rows from first to end that pass the qual; share is that of their segment.
 * Returns the number of bits set.
 */
static uint32
hg_scan_mark_covered(HgScanTable *table, HgPredicateShare share, uint32 first, uint32 end,
					 uint64 *bits)
{
	if (share != HG_SHARE_ALL)
		return hg_scan_runs_mark(table->runs, first, end - first, bits);
	hg_segment_set_bits(bits, first, end);
	return end - first;
}

/* Returns the first block of a segment, from block on, that is cached but not valid; or -1. */
static int
hg_scan_next_changed(const HgValidSegment *segment, int block, int nblocks)
{
	for (; block < nblocks; block++)
		if (hg_block_bits_test(&segment->version->taken, block) &&
			!hg_block_bits_test(segment->blocks, block))
			return block;
	return -1;
}

/*
 * Covers the unchanged rows of a segment's changed blocks that pass the qual.  Sets their bits and
 * returns their number.  Adds blocks without delta rows to *blocks, and changed rows to
 * covered->lost.
 */
static uint32
hg_scan_cover_changed(HgScanTable *table, TableScanDesc scan, HgCovered *covered,
					  const HgValidSegment *segment, HgPredicateShare share, uint64 *bits,
					  BlockNumber *blocks)
{
	HgSegmentVersion *version = hg_segment_version(segment->pointer);
	HgSegmentRows rows = hg_segment_rows(version);
	TransactionId horizon = hg_changed_horizon(version);
	Size bytes = hg_segment_bits_bytes(version->nrows);
	uint64 *seen = share == HG_SHARE_ALL ? bits : palloc0(bytes);
	int nblocks = (int) Min(HG_SEGMENT_BLOCKS, hg_heap_blocks_count(scan) - version->first);
	uint64 counts[HG_CHANGED_RECALLED + 1] = {0};
	uint32 left = 0;
	int following;

	if (!TransactionIdIsValid(horizon))
	{
		covered->lost += hg_block_bits_count(&version->taken, segment->blocks);
		nblocks = 0;
	}
	for (int block = hg_scan_next_changed(segment, 0, nblocks); block >= 0;
		 block = hg_scan_next_changed(segment, block + 1, nblocks))
		hg_page_vis_prefetch(&version->page_vis, block);
	for (int block = hg_scan_next_changed(segment, 0, nblocks); block >= 0; block = following)
	{
		HgChangedFound how;
		HgHeapLines lines;
		uint32 count;
		uint32 nrows;

		CHECK_FOR_INTERRUPTS();
		following = hg_scan_next_changed(segment, block + 1, nblocks);
		how =
			hg_changed_find(scan, version, &rows, block, following, horizon, seen, &count, &lines);
		counts[how]++;
		if (how == HG_CHANGED_UNKNOWN)
		{
			covered->lost++;
			continue;
		}
		nrows = rows.first_rows[block + 1] - rows.first_rows[block];
		covered->lost += (double) (nrows - count) / Max(nrows, 1);
		hg_resident_scan_cover_older(table->resident, segment, block, &lines);
		/* a block with delta rows is counted when the scan reads it */
		table->source->tables->blocks.heap += lines.nothers == 0;
		*blocks += lines.nothers == 0;
		hg_heap_count_rows(scan->rs_rd, (int) count);
		left += seen == bits ? count
							 : hg_scan_runs_mark_seen(table->runs, seen, rows.first_rows[block],
													  rows.first_rows[block + 1], bits);
	}
	if (seen != bits)
		pfree(seen);
	hg_resident_count(HG_COUNT_BLOCKS_EXAMINED, counts[HG_CHANGED_EXAMINED]);
	hg_resident_count(HG_COUNT_PAGE_VIS_HITS, counts[HG_CHANGED_RECALLED]);
	return left;
}

/* Returns true if the qual stays pending for a segment of which it selects some rows. */
static bool
hg_scan_leave_pending(HgCovered *covered, HgPredicateShare share, uint32 part)
{
	if (share != HG_SHARE_SOME || covered->apply == NULL)
		return false;
	if (covered->pending == NULL)
		covered->pending = palloc0(covered->nparts * sizeof(bool));
	covered->pending[part] = true;
	return true;
}

/*
 * Covers the rows of a segment that are in valid blocks, or unchanged, and that pass the qual.
 * Adds the blocks that the scan skips to *blocks.
 */
static void
hg_scan_cover_segment(HgScanTable *table, TableScanDesc scan, HgCovered *covered,
					  const HgValidSegment *segment, BlockNumber *blocks)
{
	const HgSegmentVersion *version = segment->version;
	HgSegmentRows rows = hg_segment_rows(version);
	uint32 valid_rows =
		hg_resident_scan_cover(table->resident, segment, &table->source->tables->blocks.resident);
	HgPredicateShare share;
	uint64 *bits = NULL;
	uint32 left = 0;

	hg_heap_count_rows(table->node->ss.ss_currentRelation, (int) valid_rows);
	hg_resident_scan_stand(table->resident, segment);
	*blocks += hg_block_bits_count(segment->blocks, NULL);
	share = hg_scan_runs_share(table->runs, version->first / HG_SEGMENT_BLOCKS);
	if (hg_scan_leave_pending(covered, share, version->first / HG_SEGMENT_BLOCKS))
		share = HG_SHARE_ALL;
	if (share == HG_SHARE_ALL && valid_rows == version->nrows)
	{
		hg_covered_add(covered, segment, NULL, valid_rows);
		return;
	}
	if (share == HG_SHARE_NONE)
	{
		covered->passed = true;
		hg_scan_select_count(table->select, (int) valid_rows, 0);
	}
	else
	{
		bits = palloc0(hg_segment_bits_bytes(version->nrows));
		for (int block = 0; block < HG_SEGMENT_BLOCKS; block++)
			if (hg_block_bits_test(segment->blocks, block))
				left += hg_scan_mark_covered(table, share, rows.first_rows[block],
											 rows.first_rows[block + 1], bits);
		left += hg_scan_cover_changed(table, scan, covered, segment, share, bits, blocks);
	}
	hg_covered_add(covered, segment, bits, left);
}

/* Returns the columns to fetch for covered rows: the consumer's only. */
static HgResidentColumn *
hg_scan_covered_columns(const HgScanTable *table)
{
	TupleDesc desc = RelationGetDescr(table->node->ss.ss_currentRelation);
	HgResidentColumn *columns = palloc(Max(table->nattnos, 1) * sizeof(HgResidentColumn));

	for (int c = 0; c < table->nattnos; c++)
		columns[c] = hg_resident_column(TupleDescAttr(desc, table->attnos[c] - 1));
	return columns;
}

/* Applies the pending predicate to the rows of the current segment. */
static void
hg_scan_apply_segment(HgScanTable *table, HgCovered *covered, const HgValidSegment *segment)
{
	const HgSegmentVersion *version = segment->version;
	const uint32 part = version->first / HG_SEGMENT_BLOCKS;
	const HgPredicateShare share = hg_scan_runs_share(table->runs, part);
	uint64 *bits = palloc0(hg_segment_bits_bytes(version->nrows));
	uint32 left;

	if (covered->bits[part] != NULL)
		left = share == HG_SHARE_NONE ? 0
									  : hg_scan_runs_mark_seen(table->runs, covered->bits[part], 0,
															   version->nrows, bits);
	else
		left = hg_scan_mark_covered(table, share, 0, version->nrows, bits);
	hg_covered_restrict(covered, segment, bits, left);
}

/* HgCovered.apply of a scan table. */
static void
hg_scan_apply_pending(HgCovered *covered, void *arg)
{
	HgScanTable *table = arg;
	const HgValidBlocks *valid = covered->valid;
	const HgValidSegment *stands = hg_resident_scan_stands(table->resident);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(covered));

	/* rows with a pending predicate must not be joined */
	if (valid->nsegments == 0)
		elog(ERROR, "resident columns have been let go in the middle of a join");
	for (int i = 0; i < valid->nsegments; i++)
	{
		const HgValidSegment *segment = &valid->segments[i];
		const uint32 part = segment->version->first / HG_SEGMENT_BLOCKS;

		CHECK_FOR_INTERRUPTS();
		if (!covered->pending[part] || covered->counts[part] == 0)
			continue;
		hg_resident_scan_stand(table->resident, segment);
		hg_scan_apply_segment(table, covered, segment);
	}
	/* the scan may be within a run of another segment */
	if (stands != NULL)
	{
		hg_resident_scan_stand(table->resident, stands);
		(void) hg_scan_runs_share(table->runs, stands->version->first / HG_SEGMENT_BLOCKS);
	}
	MemoryContextSwitchTo(old);
}

/* Makes the qual a pending predicate of the covered rows, if a device can apply it. */
static void
hg_scan_set_pending(HgScanTable *table, HgCovered *covered)
{
	const HgColumnQual *qual;
	HgRowFilters *filters = palloc0(sizeof(HgRowFilters));
	HgDeviceSet device_set = HG_ALL_DEVICES;

	hg_scan_select_bind_params(table->select);
	qual = table->select->column_qual;
	covered->npredicates = qual != NULL ? hg_column_qual_count(qual, false) : 0;
	covered->predicates = palloc(Max(covered->npredicates, 1) * sizeof(HgPredicate *));
	for (int i = 0; i < covered->npredicates; i++)
		covered->predicates[i] = hg_column_qual_predicate(qual, i);
	covered->apply_arg = table;
	if (covered->npredicates > 0 &&
		hg_predicate_filter_add(filters, 0, covered->graph, covered->npredicates,
								covered->predicates, &device_set))
		covered->apply = hg_scan_apply_pending;
	pfree(filters);
}

/*
 * Covers the graph's rows in valid blocks, and in changed blocks if the scan sees them.  pending
 * says that the qual may stay pending.
 */
static HgCovered *
hg_scan_cover_rows(HgScanTable *table, TableScanDesc scan, HgPinnedGraph *graph, bool pending)
{
	HgResidentColumn *columns = hg_scan_covered_columns(table);
	uint32 nsegments;
	const HgValidBlocks *valid = hg_resident_scan_valid(table->resident, &nsegments);
	BlockNumber blocks = 0;
	HgCovered *covered;

	covered = hg_covered_create(table->node->ss.ss_currentRelation, graph, table->key, valid,
								nsegments, table->nattnos, columns);
	pfree(columns);
	if (pending)
		hg_scan_set_pending(table, covered);
	for (int i = 0; i < valid->nsegments; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (hg_covered_has_version(covered, valid->segments[i].version))
			hg_scan_cover_segment(table, scan, covered, &valid->segments[i], &blocks);
	}
	hg_covered_end(covered);
	covered->bytes += hg_resident_scan_covered_bytes(table->resident);
	if (!covered->passed)
		hg_resident_graph_note_lost(graph, covered->lost);
	covered->whole = blocks == hg_heap_blocks_count(scan);
	return covered;
}

HgCovered *
hg_scan_table_attach_covered(HgScanTable *table, const HgSharedCovered *shared,
							 const HgSharedPins *pins)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(table));
	HgResidentColumn *columns;
	HgCovered *covered;

	hg_scan_table_open(table, pins->valid, shared->nparts);
	MemoryContextSwitchTo(old);

	columns = hg_scan_covered_columns(table);
	covered = hg_shared_covered_attach(shared, table->node->ss.ps.state->es_query_dsa,
									   table->node->ss.ss_currentRelation, table->key, pins,
									   table->nattnos, columns, table->resident);
	pfree(columns);
	return covered;
}

/*
 * Determines the valid blocks of an unread scan.  Sets *scan to the begun scan, or for a parallel
 * one to another scan of the table.  Returns false if rows were read.
 */
static bool
hg_scan_begin_cover(HgScanTable *table, bool parallel, TableScanDesc *scan)
{
	SeqScanState *node = table->node;
	MemoryContext old;

	/* a parallel scan begins later, perhaps with more blocks; this scan is not counted */
	if (parallel)
	{
		if (!node->ss.ps.plan->parallel_aware || node->ss.ss_currentScanDesc != NULL)
			return false;
		*scan = table_beginscan_tid(node->ss.ss_currentRelation, node->ss.ps.state->es_snapshot);
		if (!table->decided)
			hg_scan_table_decide(table, hg_heap_blocks_count(*scan));
		return true;
	}
	/* the plan's state must last */
	old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	*scan = hg_scan_table_begin(table);
	MemoryContextSwitchTo(old);
	return hg_heap_blocks_unread(*scan) && (*scan)->rs_parallel == NULL;
}

/* Covers the rows that can be covered, as a begun scan sees them; NULL if there are none. */
static HgCovered *
hg_scan_cover_graph(HgScanTable *table, TableScanDesc scan, bool pending)
{
	PlanState *plan = &table->node->ss.ps;
	HgPinnedGraph *graph;
	HgCovered *covered;
	uint32 nsegments;

	if (table->resident == NULL || !hg_scan_select_is_columns(table->select))
		return NULL;
	(void) hg_resident_scan_valid(table->resident, &nsegments);
	if (nsegments > HG_COVERED_SEGMENTS)
		return NULL;
	graph = hg_resident_graph_pin(table->node->ss.ss_currentRelation, table->key);
	if (graph == NULL)
		return NULL;
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	covered = hg_scan_cover_rows(table, scan, graph, pending);
	if (plan->instrument)
		InstrStopNode(plan->instrument, (double) covered->rows);
	return covered;
}

HgCovered *
hg_scan_table_cover(HgScanTable *table, bool pending, HgSharedCovered *shared)
{
	HgCovered *covered;
	TableScanDesc scan;

	if (!hg_scan_begin_cover(table, shared != NULL, &scan))
		return NULL;
	/* other processes get the covered rows after the qual */
	covered = hg_scan_cover_graph(table, scan, pending && shared == NULL);
	if (shared == NULL)
		return covered;
	table_endscan(scan);
	if (covered != NULL)
		hg_shared_covered_publish(shared, table->node->ss.ps.state->es_query_dsa, covered,
								  table->resident);
	return covered;
}
