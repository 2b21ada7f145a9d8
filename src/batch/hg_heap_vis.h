/*-------------------------------------------------------------------------
 *
 * hg_heap_vis.h
 *	  Visibility of the rows of heap pages to a snapshot, and copies of pages.
 *
 * A caller that has a page's other rows from elsewhere checks which rows are left, and takes these
 * afterwards (hg_heap_page_take()).  A caller that has a page taken apart elsewhere copies it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HEAP_VIS_H
#define HG_HEAP_VIS_H

#include "batch/hg_heap_page.h"

/* Line pointers of a page, a bit each: the first one is bit 0. */
#define HG_LINE_WORDS ((MaxHeapTuplesPerPage + 63) / 64)

typedef struct HgHeapLines
{
	uint64 older[HG_LINE_WORDS]; /* of rows whose ids precede one ... */
	int nothers;				 /* ... and the others */
	Buffer buffer;				 /* that had the page */
	OffsetNumber others[MaxHeapTuplesPerPage];
	bool settled;		  /* transactions that the rows name have ended, and it is known how */
	TransactionId newest; /* then, the newest of them that was committed; invalid: there is none */
} HgHeapLines;

/*
 * A visibility check of a block.  Its page is locked from the beginning of the check to its end.
 * Nothing is counted but the block's buffer, and no page is pinned after it.  Not for serializable
 * transactions that must watch for conflicts.
 */
typedef struct HgHeapVis
{
	TableScanDesc scan;
	BlockNumber block;
	Buffer buffer;
	const char *ahead; /* the page of the block that is checked next, or NULL */
} HgHeapVis;

/*
 * Begins a check.  following is the place of the block that is checked next, if that block is
 * valid.
 */
extern void hg_heap_vis_begin(HgHeapVis *vis, TableScanDesc scan, HgHeapPlace place,
							  HgHeapPlace following);

/* Returns the page's position in the WAL. */
extern XLogRecPtr hg_heap_vis_lsn(const HgHeapVis *vis);

/*
 * Sets which rows the scan's snapshot sees: those whose ids precede an id, and others.  The page
 * of the block that is checked next is prefetched meanwhile.
 */
extern void hg_heap_vis_lines(const HgHeapVis *vis, TransactionId id, HgHeapLines *lines);

extern void hg_heap_vis_end(const HgHeapVis *vis);

/*
 * Copy a block's page, of which only rows that the scan's snapshot sees have line pointers in the
 * copy that tell of rows.  Returns their number.  Nothing is counted but the block's buffer, and no
 * page is pinned after it.  *before, the place of the block that was copied last, becomes this
 * one's; an invalid block and an invalid buffer at first.  Not for serializable transactions that
 * must watch for conflicts.
 */
extern int hg_heap_page_copy(TableScanDesc scan, BlockNumber block, HgHeapPlace *before, char *to);

#endif /* HG_HEAP_VIS_H */
