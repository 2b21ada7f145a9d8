/*-------------------------------------------------------------------------
 *
 * hg_heap_page.h
 *	  Pages of heap tables, with those of their rows that a snapshot sees.
 *
 * A page is filled in one way or another, and then used without asking how: its rows lie in a
 * buffer that whoever filled it keeps pinned.  As long as the pin is held nobody can prune the
 * page, that is move or remove a row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HEAP_PAGE_H
#define HG_HEAP_PAGE_H

#include "access/htup_details.h"
#include "access/relscan.h"
#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/rel.h"

#include "batch/hg_batch.h"

typedef struct HgHeapPage
{
	Relation relation;
	BlockNumber block;
	BlockNumber following; /* the page behind it, where the scan has one; else invalid */
	Buffer buffer;
	int ntuples;						   /* rows that are held ... */
	HeapTupleHeader tuples[HG_BATCH_ROWS]; /* [ntuples] ... where they lie ... */
	OffsetNumber offsets[HG_BATCH_ROWS];   /* [ntuples] ... and their line pointers */

	HeapTupleData row;	 /* that a slot was given last */
	OffsetNumber stored; /* its line pointer; invalid: the slot has none of this page */
} HgHeapPage;

/* Can a relation's pages be taken from its scans under this snapshot? */
extern bool hg_heap_page_may_scan(Relation relation, Snapshot snapshot);

/*
 * Take the scan's next row, and those behind it on its page, up to room of them: the scan goes on
 * behind the last one.  They are counted as returned by the scan.  False at the end.
 *
 * The slot, which is to be the scan's own, has the first row, and the pin with it, until the next
 * call, a rescan, or the end of the query.
 */
extern bool hg_heap_page_next(HgHeapPage *page, TableScanDesc scan, TupleTableSlot *slot, int room);

/*
 * ------------------------------------------------------------------------
 * Block by block
 * ------------------------------------------------------------------------
 *
 * A reader that has the rows of some blocks from elsewhere asks the scan for the numbers of its
 * blocks, and reads those that it wants.  The scan is begun and rescanned as any other, is read in
 * this way alone, and is MVCC's.
 */

/* Blocks that follow each other; the first block of the table follows the last one. */
typedef struct HgHeapRange
{
	BlockNumber next; /* the first of them */
	BlockNumber left; /* how many they are */
} HgHeapRange;

/*
 * Returns the first block from block on, and before end, that the reader will read from the table;
 * end if there is none.  Until the scan is rescanned the answer for a block stays the same, or
 * becomes that it is read.
 */
typedef BlockNumber (*HgHeapWanted)(void *arg, BlockNumber block, BlockNumber end);

/*
 * The blocks that a scan has to come to.  A process of a parallel scan takes them in runs: the one
 * that the reader is in, and the one behind it, if the look-ahead has come so far.
 */
typedef struct HgHeapBlocks
{
	TableScanDesc scan;
	BlockNumber nblocks; /* of the table, as far as the scan goes */
	BlockNumber most;	 /* blocks of a run at most ... */
	BlockNumber least;	 /* ... and at least */
	HgHeapRange own;	 /* those that come next: of the run, or of a scan that is not parallel */
	HgHeapRange behind;	 /* the run behind them */

	HgHeapWanted wanted; /* what the look-ahead comes to */
	void *wanted_arg;
	HgHeapRange ahead; /* the end of own, or of behind, that it has not come to */
	bool by_stream;	   /* the scan's read stream does it; else the kernel is told: */

	int distance;		   /* of so many blocks ahead; 0: of none ... */
	int nahead;			   /* ... and of these just now ... */
	BlockNumber announced; /* ... the last of which is this one ... */
	int straight;		   /* ... which so many go before, one behind the other */
} HgHeapBlocks;

/* How many blocks a scan has that is begun. */
extern BlockNumber hg_heap_blocks_count(TableScanDesc scan);

/*
 * Is the scan where it was begun, or rescanned?  Then begin with its blocks.  A process of a
 * parallel scan gets them in runs of most blocks as long as there are plenty, and of least in the
 * end.
 */
extern bool hg_heap_blocks_unread(TableScanDesc scan);
extern void hg_heap_blocks_begin(HgHeapBlocks *blocks, TableScanDesc scan, BlockNumber most,
								 BlockNumber least);

/*
 * Have blocks that are wanted read ahead of the reader, as far as effective_io_concurrency says, if
 * that is more than one block.  Since 17 a read stream of the scan's does that, which ends and
 * begins anew with it.  On 15 and 16 the kernel is told of the blocks.  So it is on 18 with I/O
 * workers: a read of one block is more work for them than it saves, and few are under way
 * (io_workers).  To be called after hg_heap_blocks_begin(); *blocks must not move.
 */
extern void hg_heap_blocks_look_ahead(HgHeapBlocks *blocks, HgHeapWanted wanted, void *arg);

/*
 * A scan whose blocks have been begun with, and of which no page is pinned, becomes one that was
 * not read: the same as a rescan, but no further scan for those who count them.
 */
extern void hg_heap_blocks_forget(TableScanDesc scan);

/*
 * Have the blocks of a parallel scan handed out once more, all of them, to processes each of whose
 * scans is one that was not read.
 */
extern void hg_heap_blocks_deal_again(TableScanDesc scan);

/*
 * The number of the next block, in the order in which the scan comes to them: synchronised with
 * others, or one that no other process of a parallel scan gets.  InvalidBlockNumber at the end.
 */
extern BlockNumber hg_heap_blocks_next(HgHeapBlocks *blocks);

/*
 * Leave out the next ones, most of them at most, as far as they follow each other.  Returns how
 * many were left out: of a parallel scan none behind the run that the process is in.
 */
extern int hg_heap_blocks_skip(HgHeapBlocks *blocks, int most);

/*
 * Take rows of the block that the scan has come to, which the scan's snapshot sees, up to room of
 * those behind the first ones that have been taken, and count them.  Have these been all?  The
 * slot, which is to be the scan's own, has the first of them, where there is one; the page is
 * pinned until the next call, a rescan, or the end of the scan.
 */
extern bool hg_heap_page_read(HgHeapPage *page, HgHeapBlocks *blocks, BlockNumber block, int taken,
							  int room, TupleTableSlot *slot);

/*
 * Where a block's page is among the shared buffers, or was a moment ago: its lines may be asked
 * for, and not be read.  NULL where it is not, and then it is read ahead; and where there is no
 * such block.
 */
extern const char *hg_heap_page_ahead(Relation relation, BlockNumber block);

/* A block, and the buffer that had its page, or InvalidBuffer. */
typedef struct HgHeapPlace
{
	BlockNumber block;
	Buffer recent;
} HgHeapPlace;

/*
 * Where a block of a scan is likely to be that has just come to the one before: tables that were
 * read or written in one go lie in buffers one behind the other.  Rings have no such order, and
 * keep few of their buffers.
 */
extern HgHeapPlace hg_heap_place_guess(TableScanDesc scan, HgHeapPlace before, BlockNumber block);

/* Where the page of a place is, or was: as hg_heap_page_ahead(), without a search where it can. */
extern const char *hg_heap_place_ahead(Relation relation, HgHeapPlace place);

/* Pin the page of a place, for the caller, as the scan reads its own.  Returns its buffer. */
extern Buffer hg_heap_place_read(TableScanDesc scan, HgHeapPlace place);

/*
 * Take rows of a block as hg_heap_page_read() does, those under lines[nlines], which the scan's
 * snapshot is known to see.
 */
extern void hg_heap_page_take(HgHeapPage *page, TableScanDesc scan, HgHeapPlace place,
							  const OffsetNumber *lines, int nlines, TupleTableSlot *slot);

/* Have a page that is pinned pruned if that is due, as core does before it looks at its rows. */
extern void hg_heap_page_prune(TableScanDesc scan, Buffer buffer);

/* Let go of the page of the last call. */
extern void hg_heap_page_end(TableScanDesc scan, TupleTableSlot *slot);

/* Count rows as returned by scans of a table, wherever they come from. */
extern void hg_heap_count_rows(Relation relation, int64 nrows);

/* Give row i to the slot that has the pin. */
extern void hg_heap_page_store(HgHeapPage *page, int i, TupleTableSlot *slot);

/* Select those of the rows that which[nwhich] names, in ascending order. */
static inline void
hg_heap_page_select(HgHeapPage *page, int nwhich, const uint16 *which)
{
	for (int k = 0; k < nwhich; k++)
	{
		page->tuples[k] = page->tuples[which[k]];
		page->offsets[k] = page->offsets[which[k]];
	}
	page->ntuples = nwhich;
}

#endif /* HG_HEAP_PAGE_H */
