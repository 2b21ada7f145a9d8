/*-------------------------------------------------------------------------
 *
 * hg_scan_heap.c
 *	  Rows of a table scan that are read from the table, a page at a time.
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

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_scan_heap.h"
#include "batch/hg_scan_tuples.h"

/* A page is asked for in so many steps: the processor has room for few lines that are under way. */
#define HG_AHEAD_STEPS 3

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

struct HgScanHeap
{
	HgScanSelect *select;
	HgAhead ahead;
	HgTupleLayout *layout;
	HgTupleLayout *check_layout; /* of the check's columns; NULL until it is asked */
	HgHeapPage page;			 /* the rows that are worked on */
};

HgScanHeap *
hg_scan_heap_create(HgScanSelect *select, int nattnos, const AttrNumber *attnos)
{
	HgScanHeap *heap = palloc0(sizeof(HgScanHeap));

	heap->select = select;
	heap->ahead.behind = InvalidBlockNumber;
	heap->layout = hg_tuple_layout_create(RelationGetDescr(select->node->ss.ss_currentRelation),
										  nattnos, attnos);
	return heap;
}

/* Drop the rows that the plan's qual does not hold for. */
static void
hg_scan_heap_filter(HgScanHeap *heap)
{
	HgScanSelect *select = heap->select;
	TupleTableSlot *slot = select->node->ss.ss_ScanTupleSlot;
	HgHeapPage *page = &heap->page;
	bool in_order = hg_scan_select_waits(select);
	int ntuples = page->ntuples;
	HgRowsLeft left;

	hg_scan_select_follow(select);
	left.any_recheck = false;
	if (select->column_qual != NULL)
	{
		hg_column_qual_filter(select->column_qual, in_order, ntuples, page->tuples, &left);
		hg_heap_page_select(page, left.n, left.which);
	}
	if (hg_scan_select_has_rest(select, in_order, &left))
	{
		uint16 which[HG_BATCH_ROWS];
		int nwhich = 0;

		select->node->ss.ps.ps_ExprContext->ecxt_scantuple = slot;
		for (int i = 0; i < page->ntuples; i++)
		{
			CHECK_FOR_INTERRUPTS();
			hg_heap_page_store(page, i, slot);
			if (hg_scan_select_rest(select, in_order, &left, i))
				which[nwhich++] = i;
		}
		hg_heap_page_select(page, nwhich, which);
	}
	hg_scan_select_count(select, ntuples, page->ntuples);
}

/* Drop the rows that a check leaves out. */
static void
hg_scan_heap_check(HgScanHeap *heap)
{
	HgScanSelect *select = heap->select;
	uint16 which[HG_BATCH_ROWS];

	if (heap->check_layout == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(heap));

		heap->check_layout =
			hg_tuple_layout_create(RelationGetDescr(select->node->ss.ss_currentRelation),
								   select->ncheck_attnos, select->check_attnos);
		MemoryContextSwitchTo(old);
	}
	hg_tuple_layout_add(heap->check_layout, heap->page.ntuples, heap->page.tuples,
						hg_scan_select_check_batch(select));
	hg_heap_page_select(&heap->page, hg_scan_select_check(select, which), which);
}

/* Find the page behind the one that the scan has come to. */
static void
hg_scan_heap_look_ahead(HgScanHeap *heap)
{
	const HgHeapPage *page = &heap->page;
	HgAhead *ahead = &heap->ahead;

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
	ahead->page = hg_heap_page_ahead(page->relation, page->following);
	if (ahead->page == NULL)
		ahead->pause = HG_AHEAD_PAUSE;
}

/* Ask for some more of the next page. */
static inline void
hg_scan_heap_ask_ahead(HgScanHeap *heap)
{
	HgAhead *ahead = &heap->ahead;
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
hg_scan_heap_room(const HgScanHeap *heap, const HgBatch *batch, Size max_bytes)
{
	Size room = HG_BATCH_ROWS - batch->nrows;

	if (max_bytes > 0 && heap->layout->missing_bytes > 0)
		room = Min(room, max_bytes / heap->layout->missing_bytes + 1);
	return (int) room;
}

/* Add rows of the page that are not left out to a batch. */
static void
hg_scan_heap_add(HgScanHeap *heap, HgBatch *batch)
{
	HgHeapPage *page = &heap->page;

	hg_scan_heap_look_ahead(heap);
	hg_scan_heap_ask_ahead(heap);
	if (heap->select->check != NULL)
		hg_scan_heap_check(heap);
	if (heap->select->node->ss.ps.qual != NULL && page->ntuples > 0)
		hg_scan_heap_filter(heap);
	hg_scan_heap_ask_ahead(heap);
	hg_tuple_layout_add(heap->layout, page->ntuples, page->tuples, batch);
	hg_scan_heap_ask_ahead(heap);
}

bool
hg_scan_heap_fill(HgScanHeap *heap, TableScanDesc scan, HgBatch *batch, HgBatchSource *source)
{
	HgHeapPage *page = &heap->page;
	BlockNumber block = hg_heap_blocks_unread(scan) ? InvalidBlockNumber : page->block;
	int taken;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!hg_heap_page_next(page, scan, heap->select->node->ss.ss_ScanTupleSlot,
							   hg_scan_heap_room(heap, batch, source->max_bytes)))
			return false;
		source->blocks.heap += page->block != block;
		block = page->block;
		taken = page->ntuples;
		hg_scan_heap_add(heap, batch);

		/* values by reference need this page; else another one like it may fit too */
	} while (batch->nrows == 0 || (!heap->layout->by_reference && batch->nrows < source->max_rows &&
								   batch->nrows + taken <= HG_BATCH_ROWS));
	return true;
}

int
hg_scan_heap_add_block(HgScanHeap *heap, TableScanDesc scan, const HgResidentRun *run,
					   HgBatch *batch, Size max_bytes, bool *all)
{
	TupleTableSlot *slot = heap->select->node->ss.ss_ScanTupleSlot;
	int room = hg_scan_heap_room(heap, batch, max_bytes);
	int taken;

	if (run->lines == NULL)
		*all = hg_heap_page_read(&heap->page, run->blocks, run->block, run->taken, room, slot);
	else
	{
		*all = room >= run->nlines - run->taken;
		hg_heap_page_take(&heap->page, scan, (HgHeapPlace){run->block, run->recent},
						  run->lines + run->taken, Min(room, run->nlines - run->taken), slot);
	}
	taken = heap->page.ntuples;
	/* of a page of which few rows are wanted all lines of the cache are too many */
	heap->page.following = run->lines == NULL ? run->following : InvalidBlockNumber;
	hg_scan_heap_add(heap, batch);
	return taken;
}

bool
hg_scan_heap_fits(const HgScanHeap *heap, const HgBatch *batch)
{
	return batch->nrows == 0 ||
		   (!heap->layout->by_reference && batch->nrows + MaxHeapTuplesPerPage <= HG_BATCH_ROWS);
}

bool
hg_scan_heap_holds(const HgScanHeap *heap, const HgBatch *batch)
{
	return heap->layout->by_reference && batch->nrows > 0;
}
