/*-------------------------------------------------------------------------
 *
 * hg_heap_vis.c
 *	  Visibility of the rows of heap pages to a snapshot, and copies of pages.
 *
 * Pages are pinned and locked while they are checked.  Rows are checked as core checks those of a
 * scan's page (hg_heap_page.c), without moving the scan.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/heapam.h"
#include "access/syncscan.h"
#include "access/transam.h"
#include "storage/bufmgr.h"

#include "batch/hg_heap_page.h"

/* What is known of the last xmin, because the rows of a page have few. */
typedef struct HgIdAge
{
	TransactionId id;
	bool is_older; /* it precedes the given id */
	bool is_past;  /* it precedes the snapshot's xmin, so that hints suffice */
} HgIdAge;

/* Returns true if a snapshot sees a row, as HeapTupleSatisfiesMVCC() does. */
static inline bool
hg_heap_row_is_visible(TableScanDesc scan, BlockNumber block, OffsetNumber offset, Page page,
					   Buffer buffer, const HgIdAge *age)
{
	ItemId line = PageGetItemId(page, offset);
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, line);
	HeapTupleData row;

	if (HeapTupleHeaderXminCommitted(header) && (header->t_infomask & HEAP_XMAX_INVALID) != 0 &&
		(age->is_past || HeapTupleHeaderXminFrozen(header)))
		return true;
	row.t_tableOid = RelationGetRelid(scan->rs_rd);
	row.t_data = header;
	row.t_len = ItemIdGetLength(line);
	ItemPointerSet(&row.t_self, block, offset);
	return HeapTupleSatisfiesVisibility(&row, scan->rs_snapshot, buffer);
}

/* Returns the newer of two ids, of which the first may be invalid. */
static inline TransactionId
hg_heap_newer_id(TransactionId newest, TransactionId id)
{
	return !TransactionIdIsValid(newest) || TransactionIdPrecedes(newest, id) ? id : newest;
}

/*
 * Returns true if a row's transaction has ended: it is known to be committed, or precedes the
 * snapshot's xmin.  Raises *newest to it if it has committed.  Without a hint, the commit log
 * tells.  On a standby, hints of commits are set only after its minimum recovery point has passed
 * them, which may be much later.
 */
static inline bool
hg_heap_xid_has_ended(TransactionId id, bool is_committed, TransactionId xmin,
					  TransactionId *newest)
{
	if (!is_committed && !TransactionIdPrecedes(id, xmin))
		return false;
	if (is_committed || TransactionIdDidCommit(id))
		*newest = hg_heap_newer_id(*newest, id);
	return true;
}

/*
 * Returns true if all transactions that decide on a row's visibility have ended.  Raises *newest
 * to the newest one that has committed.
 */
static inline bool
hg_heap_row_xids_ended(HeapTupleHeader header, TransactionId xmin, TransactionId *newest)
{
	uint16 info = header->t_infomask;

	if ((info & HEAP_MOVED) != 0)
		return false;
	if (HeapTupleHeaderXminInvalid(header))
		return true;
	if (!HeapTupleHeaderXminFrozen(header) &&
		!hg_heap_xid_has_ended(HeapTupleHeaderGetRawXmin(header),
							   HeapTupleHeaderXminCommitted(header), xmin, newest))
		return false;
	if ((info & HEAP_XMAX_INVALID) != 0 || HEAP_XMAX_IS_LOCKED_ONLY(info))
		return true;
	return (info & HEAP_XMAX_IS_MULTI) == 0 &&
		   hg_heap_xid_has_ended(HeapTupleHeaderGetRawXmax(header),
								 (info & HEAP_XMAX_COMMITTED) != 0, xmin, newest);
}

void
hg_heap_vis_begin(HgHeapVis *vis, TableScanDesc scan, HgRecentBlock target, HgRecentBlock following)
{
	vis->scan = scan;
	vis->block = target.block;
	vis->ahead = hg_recent_block_ahead(scan->rs_rd, following);
	if (vis->ahead != NULL)
		HG_PREFETCH(vis->ahead);
	vis->buffer = hg_recent_block_read(scan, target);
	hg_heap_page_prune(scan, vis->buffer);
	LockBuffer(vis->buffer, BUFFER_LOCK_SHARE);
}

XLogRecPtr
hg_heap_vis_lsn(const HgHeapVis *vis)
{
	return BufferGetLSNAtomic(vis->buffer);
}

void
hg_heap_vis_lines(const HgHeapVis *vis, TransactionId id, HgHeapLines *lines)
{
	TableScanDesc scan = vis->scan;
	Page page = BufferGetPage(vis->buffer);
	OffsetNumber end = PageGetMaxOffsetNumber(page);
	HgIdAge age = {.id = InvalidTransactionId};
	Size asked = 0;

	memset(lines->older, 0, sizeof(lines->older));
	lines->nothers = 0;
	lines->xids_ended = true;
	lines->newest = InvalidTransactionId;
	for (OffsetNumber offset = FirstOffsetNumber; offset <= end; offset++)
	{
		ItemId line = PageGetItemId(page, offset);
		HeapTupleHeader header;
		TransactionId xmin;
		bool visible;

		if (vis->ahead != NULL)
			for (Size part = BLCKSZ * offset / end; asked < part; asked += HG_CACHE_LINE)
				HG_PREFETCH(vis->ahead + asked);
		if (!ItemIdIsNormal(line))
			continue;
		header = (HeapTupleHeader) PageGetItem(page, line);
		xmin = HeapTupleHeaderGetRawXmin(header);
		if (xmin != age.id)
			age = (HgIdAge){.id = xmin,
							.is_older = TransactionIdPrecedes(xmin, id),
							.is_past = TransactionIdPrecedes(xmin, scan->rs_snapshot->xmin)};
		visible = hg_heap_row_is_visible(scan, vis->block, offset, page, vis->buffer, &age);
		/* the check may just have set hints */
		if (lines->xids_ended)
			lines->xids_ended =
				hg_heap_row_xids_ended(header, scan->rs_snapshot->xmin, &lines->newest);
		if (!visible)
			continue;
		if (age.is_older)
			lines->older[(offset - 1) / 64] |= UINT64CONST(1) << (offset - 1) % 64;
		else
			lines->others[lines->nothers++] = offset;
	}
}

void
hg_heap_vis_end(const HgHeapVis *vis)
{
	UnlockReleaseBuffer(vis->buffer);
}

/*
 * Counts the rows of an all-visible page, two line pointers at a time.  engine/hg_pages_parse.h
 * reads the same bits.
 */
static int
hg_heap_page_count(Page page)
{
	const ItemIdData *lines = ((PageHeader) page)->pd_linp;
	const int nlines = PageGetMaxOffsetNumber(page);
	uint64 rows = 0;
	int i = 0;

	StaticAssertStmt(LP_NORMAL == 1, "the state of lines with a row is 01");
	for (; i + 1 < nlines; i += 2)
	{
		uint64 two;

		memcpy(&two, &lines[i], sizeof(two));
		rows += two >> 15 & ~(two >> 16) & UINT64CONST(0x0000000100000001);
	}
	rows = (rows & PG_UINT32_MAX) + (rows >> 32);
	return (int) rows + (i < nlines && ItemIdIsNormal(&lines[i]));
}

/*
 * Clears line pointers of a copy of a page for rows that the snapshot does not see.  Returns the
 * number of the others.
 */
static int
hg_heap_page_leave_out(TableScanDesc scan, BlockNumber block, Buffer buffer, char *copy)
{
	ItemId lines = ((PageHeader) copy)->pd_linp;
	Page page = BufferGetPage(buffer);
	/* not from the copy, which other processes may write to */
	const OffsetNumber end = PageGetMaxOffsetNumber(page);
	HgIdAge age = {.id = InvalidTransactionId};
	int rows = 0;

	for (OffsetNumber offset = FirstOffsetNumber; offset <= end; offset++)
	{
		ItemId line = PageGetItemId(page, offset);
		bool visible = false;

		if (ItemIdIsNormal(line))
		{
			HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, line);
			const TransactionId xmin = HeapTupleHeaderGetRawXmin(header);

			if (xmin != age.id)
				age = (HgIdAge){.id = xmin,
								.is_past = TransactionIdPrecedes(xmin, scan->rs_snapshot->xmin)};
			visible = hg_heap_row_is_visible(scan, block, offset, page, buffer, &age);
		}
		if (visible)
			rows++;
		else
			ItemIdSetUnused(&lines[offset - FirstOffsetNumber]);
	}
	return rows;
}

/* Returns true if the snapshot sees all rows of a locked page. */
static bool
hg_heap_page_is_visible(TableScanDesc scan, Page page)
{
	return PageIsAllVisible(page) && !scan->rs_snapshot->takenDuringRecovery;
}

int
hg_heap_page_copy(TableScanDesc scan, BlockNumber block, HgRecentBlock *before, char *to)
{
	HgRecentBlock target = hg_recent_block_guess(scan, *before, block);
	Buffer buffer = hg_recent_block_read(scan, target);
	Page page = BufferGetPage(buffer);
	int rows;

	/* others may only set hint bits meanwhile, which the copy's readers ignore */
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!hg_heap_page_is_visible(scan, page))
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		hg_heap_page_prune(scan, buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
	}
	memcpy(to, page, BLCKSZ);
	rows = hg_heap_page_is_visible(scan, page) ? hg_heap_page_count(page)
											   : hg_heap_page_leave_out(scan, block, buffer, to);
	UnlockReleaseBuffer(buffer);
	*before = (HgRecentBlock){block, buffer};
	if (scan->rs_parallel == NULL && (scan->rs_flags & SO_ALLOW_SYNC) != 0)
		ss_report_location(scan->rs_rd, block);
	return rows;
}
