/*-------------------------------------------------------------------------
 *
 * hg_heap_vis.h
 *	  Visibility of the rows of heap pages to a snapshot, and copies of pages.
 *
 * A caller that has some of a page's rows from elsewhere finds the other visible rows here, and
 * reads them with hg_heap_page_take().  A page source copies whole pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HEAP_VIS_H
#define HG_HEAP_VIS_H

#include "batch/hg_heap_page.h"

/* Words of a bitmap of a page's line pointers; bit 0 is the first line pointer. */
#define HG_LINE_WORDS ((MaxHeapTuplesPerPage + 63) / 64)

typedef struct HgHeapLines
{
	uint64 older[HG_LINE_WORDS]; /* visible rows whose xmin precedes a given id */
	int nothers;				 /* number of other visible rows */
	Buffer buffer;				 /* the buffer that had the page */
	/* [nothers] their line pointers */
	OffsetNumber others[MaxHeapTuplesPerPage];
	bool xids_ended;	  /* all transactions of the rows have ended, with known outcome */
	TransactionId newest; /* if is_finished, the newest committed one, or InvalidTransactionId */
} HgHeapLines;

/*
 * A visibility check of a block, whose page is locked until it ends.  It counts only the buffer,
 * and leaves no page pinned.  It must not be used in serializable transactions that check
 * conflicts.
 */
typedef struct HgHeapVis
{
	TableScanDesc scan;
	BlockNumber block;
	Buffer buffer;
	const char *ahead; /* the next block's page, or NULL */
} HgHeapVis;

/* Begins a check.  following is the block that is checked next, or an invalid one. */
extern void hg_heap_vis_begin(HgHeapVis *vis, TableScanDesc scan, HgRecentBlock target,
							  HgRecentBlock following);

/* Returns the page's LSN. */
extern XLogRecPtr hg_heap_vis_lsn(const HgHeapVis *vis);

/*
 * Sets *lines to the rows that the scan's snapshot sees; older are those whose xmin precedes id.
 * Prefetches the next block's page.
 */
extern void hg_heap_vis_lines(const HgHeapVis *vis, TransactionId id, HgHeapLines *lines);

/* Ends a check: unlocks and unpins the page. */
extern void hg_heap_vis_end(const HgHeapVis *vis);

/*
 * Copies a block's page to BLCKSZ bytes at `to`.  In the copy, only rows that the snapshot sees
 * have normal line pointers.  Returns their number.  It counts only the buffer, and leaves no page
 * pinned.  *before is the block that was copied last, and becomes this one; both parts are invalid
 * at first.  It must not be used in serializable transactions that check conflicts.
 */
extern int hg_heap_page_copy(TableScanDesc scan, BlockNumber block, HgRecentBlock *before,
							 char *to);

#endif /* HG_HEAP_VIS_H */
