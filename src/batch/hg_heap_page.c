/*-------------------------------------------------------------------------
 *
 * hg_heap_page.c
 *	  Pages of heap tables, with those of their rows that a snapshot sees.
 *
 * This file alone looks into the state of core's scans of heaps (HeapScanDescData), which is no
 * interface that core keeps.  It relies on the following, which holds from 15 on:
 *
 *	-	table_scan_getnextslot() brings the first visible row of a page.  Core has then chosen the
 *		page (synchronised and parallel scans included), read it, pruned it, and found all the
 *		visible rows on it under one lock: heapgetpage(), since 17 heap_prepare_pagescan(),
 *		fills rs_vistuples[rs_ntuples], and checks there each row for serializable conflicts.
 *		The predicate lock is on the whole relation, taken when the scan began.
 *	-	For each further row of the page core takes the entry of rs_vistuples behind
 *		rs_cindex, without a lock, under the pin of rs_cbuf, and counts it.
 *
 * So these rows are taken from there at once, counted, and rs_cindex is set to the last of them:
 * core goes on with the next page.  In builds with assertions core brings each of them itself,
 * and is compared: test/t/008_faults.pl reads pages of many kinds in such a build.  A version
 * of PostgreSQL that nobody has looked at does not compile.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/heapam.h"
#include "pgstat.h"
#include "storage/bufmgr.h"

#include "batch/hg_heap_page.h"

#if !HG_HAVE_KNOWN_HEAP_SCAN
#error "hashgraph does not know how this version of PostgreSQL scans heaps"
#endif

bool
hg_heap_page_may_scan(Relation relation, Snapshot snapshot)
{
	return relation->rd_tableam == GetHeapamTableAmRoutine() && IsMVCCSnapshot(snapshot);
}

/* Take the rows behind the one that core has brought, up to room in all. */
static void
hg_heap_page_fill(HgHeapPage *page, const HeapScanDescData *scan, int room)
{
	Page content = BufferGetPage(scan->rs_cbuf);
	const OffsetNumber *visible = scan->rs_vistuples + scan->rs_cindex;

	page->ntuples = Min(room, (int) (scan->rs_ntuples - scan->rs_cindex));
	for (int i = 1; i < page->ntuples; i++)
	{
		page->offsets[i] = visible[i];
		page->tuples[i] =
			(HeapTupleHeader) PageGetItem(content, PageGetItemId(content, visible[i]));
		/* core has looked at line pointers alone where the whole page is visible */
		HG_PREFETCH(page->tuples[i]);
	}
}

#ifdef USE_ASSERT_CHECKING
/* Have core come to the last row of the page that is taken, and compare each that it brings. */
static void
hg_heap_page_advance(HgHeapPage *page, HeapScanDesc scan, TupleTableSlot *slot)
{
	int last = (int) scan->rs_cindex + page->ntuples - 1;

	for (int i = 0; i < page->ntuples; i++)
	{
		HeapTuple tuple;

		if (i > 0 && !table_scan_getnextslot(&scan->rs_base, ForwardScanDirection, slot))
			elog(PANIC, "the scan has ended at row %d of %d of a page", i, page->ntuples);
		tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
		if (tuple->t_data != page->tuples[i] || scan->rs_cbuf != page->buffer ||
			ItemPointerGetBlockNumber(&tuple->t_self) != page->block ||
			ItemPointerGetOffsetNumber(&tuple->t_self) != page->offsets[i])
			elog(PANIC, "the scan has another row than row %d of %d of a page", i, page->ntuples);
	}
	if ((int) scan->rs_cindex != last || scan->rs_cblock != page->block)
		elog(PANIC, "the scan is elsewhere than at the last row of a page");
	page->stored = InvalidOffsetNumber;
	hg_heap_page_store(page, 0, slot);
}
#else
/* Have the scan stand at the last row that is taken, and count those behind the first. */
static void
hg_heap_page_advance(HgHeapPage *page, HeapScanDesc scan,
					 TupleTableSlot *slot pg_attribute_unused())
{
	scan->rs_cindex += page->ntuples - 1;
	/* rows returned are one counter, whatever returned them; this adds to it more than one */
	pgstat_count_index_tuples(page->relation, page->ntuples - 1);
}
#endif

bool
hg_heap_page_next(HgHeapPage *page, TableScanDesc scan, TupleTableSlot *slot, int room)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	Assert(room > 0 && room <= HG_BATCH_ROWS);
	if (!table_scan_getnextslot(scan, ForwardScanDirection, slot))
		return false;
	page->relation = scan->rs_rd;
	page->block = heap->rs_cblock;
	page->following =
		heap->rs_cblock + 1 < heap->rs_nblocks ? heap->rs_cblock + 1 : InvalidBlockNumber;
	page->buffer = heap->rs_cbuf;
	page->ntuples = 1;
	page->tuples[0] = heap->rs_ctup.t_data;
	page->offsets[0] = page->stored = ItemPointerGetOffsetNumber(&heap->rs_ctup.t_self);

	/* a scan that is not by pages has this row alone */
	if ((scan->rs_flags & SO_ALLOW_PAGEMODE) != 0)
	{
		hg_heap_page_fill(page, heap, room);
		hg_heap_page_advance(page, heap, slot);
	}
	return true;
}

void
hg_heap_page_store(HgHeapPage *page, int i, TupleTableSlot *slot)
{
	OffsetNumber offset = page->offsets[i];

	if (offset == page->stored)
		return;
	page->row.t_data = page->tuples[i];
	page->row.t_len = ItemIdGetLength(PageGetItemId(BufferGetPage(page->buffer), offset));
	page->row.t_tableOid = RelationGetRelid(page->relation);
	ItemPointerSet(&page->row.t_self, page->block, offset);
	ExecStoreBufferHeapTuple(&page->row, slot, page->buffer);
	page->stored = offset;
}
