/*-------------------------------------------------------------------------
 *
 * hg_heap_look.h
 *	  Looks at pages of heap tables, and copies: which of their rows a snapshot sees.
 *
 * Who knows a page's other rows from elsewhere looks at it for those that are left, and takes these
 * afterwards (hg_heap_page_take()); who has a page taken apart elsewhere copies it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HEAP_LOOK_H
#define HG_HEAP_LOOK_H

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
 * A look at a block: its page is locked from its beginning to its end.  Nothing is counted but the
 * block's buffer, and no page is pinned after it.  Not for serializable transactions that must
 * watch for conflicts.
 */
typedef struct HgHeapLook
{
	TableScanDesc scan;
	BlockNumber block;
	Buffer buffer;
	const char *ahead; /* where the page of the block that is looked at next is, or NULL */
} HgHeapLook;

/* Begin one; following is the place of the block that is looked at next, if that block is valid. */
extern void hg_heap_look_begin(HgHeapLook *look, TableScanDesc scan, HgHeapPlace place,
							   HgHeapPlace following);

/* The page's position in the WAL. */
extern XLogRecPtr hg_heap_look_lsn(const HgHeapLook *look);

/*
 * Which rows does the scan's snapshot see: those whose ids precede an id, and others?  The page of
 * the block that is looked at next is asked for meanwhile.
 */
extern void hg_heap_look_lines(const HgHeapLook *look, TransactionId id, HgHeapLines *lines);

extern void hg_heap_look_end(const HgHeapLook *look);

/*
 * Copy a block's page, of which only rows that the scan's snapshot sees have line pointers in the
 * copy that tell of rows.  Returns their number.  Nothing is counted but the block's buffer, and no
 * page is pinned after it.  *before, the place of the block that was copied last, becomes this
 * one's; an invalid block and an invalid buffer at first.  Not for serializable transactions that
 * must watch for conflicts.
 */
extern int hg_heap_page_copy(TableScanDesc scan, BlockNumber block, HgHeapPlace *before, char *to);

#endif /* HG_HEAP_LOOK_H */
