/*-------------------------------------------------------------------------
 *
 * hg_scan_heap.c
 *	  Reads rows of a table scan from the heap, a page at a time.
 *
 * A scan of tables in memory mostly waits for memory: for the first access to each row, which the
 * processor cannot predict.  So the next page in shared buffers is prefetched, cache line by cache
 * line, while a page is processed.  It may have been evicted before core reads it, because only
 * prefetches use it early.
 *
 * The scan's slot pins the page of the last batch.  Core drops that pin when it stores the next
 * row, at a rescan, and at the end of the query.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_scan_table.h"
#include "batch/hg_scan_tuples.h"

/* Steps in which a page is prefetched: the processor can have few cache misses under way. */
#define HG_AHEAD_STEPS 3

/* Pages that are not looked up after one was not found in shared buffers. */
#define HG_AHEAD_PAUSE 64

/* The page behind the current one. */
typedef struct HgPageAhead
{
	BlockNumber behind; /* number of the current page */
	const char *page;	/* the next page, or NULL if it is not found */
	Size asked;			/* bytes of it that were prefetched */
	int pause;			/* pages until the next lookup */
} HgPageAhead;

struct HgScanHeap
{
	HgScanSelect *select;
	HgPageAhead ahead;
	HgTupleLayout *layout;
	HgTupleLayout *check_layout; /* of the check's columns; NULL until the check is applied */
	HgHeapPage page;			 /* the current rows */
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

/* Removes the rows for which the plan's qual does not hold. */
static void
hg_scan_heap_filter(HgScanHeap *heap)
{
	HgScanSelect *select = heap->select;
	TupleTableSlot *slot = select->node->ss.ss_ScanTupleSlot;
	HgHeapPage *page = &heap->page;
	bool in_order = hg_scan_select_awaits_param(select);
	int ntuples = page->ntuples;
	HgSelectedRows left;

	hg_scan_select_bind_params(select);
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

/* Removes the rows that the check rejects. */
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

/* Finds the page behind the scan's current one. */
static void
hg_scan_heap_look_ahead(HgScanHeap *heap)
{
	const HgHeapPage *page = &heap->page;
	HgPageAhead *ahead = &heap->ahead;

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

/* Prefetches some more of the next page. */
static inline void
hg_scan_heap_ask_ahead(HgScanHeap *heap)
{
	HgPageAhead *ahead = &heap->ahead;
	Size end = Min(ahead->asked + BLCKSZ / HG_AHEAD_STEPS + HG_CACHE_LINE, BLCKSZ);

	if (ahead->page == NULL)
		return;
	for (; ahead->asked < end; ahead->asked += HG_CACHE_LINE)
		HG_PREFETCH(ahead->page + ahead->asked);
}

/*
 * Returns how many rows may be appended to a batch.  Defaults of added columns are not in old
 * rows' pages, and may be much larger.
 */
static int
hg_scan_heap_room(const HgScanHeap *heap, const HgBatch *batch, Size max_bytes)
{
	Size room = HG_BATCH_ROWS - batch->nrows;

	if (max_bytes > 0 && heap->layout->missing_bytes > 0)
		room = Min(room, max_bytes / heap->layout->missing_bytes + 1);
	return (int) room;
}

/* Appends the page's rows that pass to a batch. */
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
hg_scan_heap_fill(HgScanHeap *heap, TableScanDesc scan, HgBatch *batch, const HgBatchSource *source)
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
		source->tables->blocks.heap += page->block != block;
		block = page->block;
		taken = page->ntuples;
		hg_scan_heap_add(heap, batch);

		/* by-reference values need this page; otherwise another page may fit too */
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
		hg_heap_page_take(&heap->page, scan, (HgRecentBlock){run->block, run->recent},
						  run->lines + run->taken, Min(room, run->nlines - run->taken), slot);
	}
	taken = heap->page.ntuples;
	/* few rows are read of such a page, so that prefetching all of it does not pay */
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
