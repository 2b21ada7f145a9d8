/*-------------------------------------------------------------------------
 *
 * hg_heap_page.h
 *	  Pages of heap tables, with the rows on them that a snapshot sees.
 *
 * A page may be filled in several ways, and is then used in one way.  Its rows are in a buffer
 * that stays pinned, so that no process can prune the page, that is move or remove a row.
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
	BlockNumber following; /* the scan's next page, or InvalidBlockNumber */
	Buffer buffer;
	int ntuples;						   /* number of rows */
	HeapTupleHeader tuples[HG_BATCH_ROWS]; /* [ntuples] the rows, in the buffer */
	OffsetNumber offsets[HG_BATCH_ROWS];   /* [ntuples] their line pointers */

	HeapTupleData row;	 /* the row that the slot was last given */
	OffsetNumber stored; /* its line pointer; invalid if the slot has no row of this page */
} HgHeapPage;

/* Returns true for a heap and an MVCC snapshot, whose scans can be read here. */
extern bool hg_heap_page_may_scan(Relation relation, Snapshot snapshot);

/*
 * Reads the scan's next row and the rows behind it on its page, up to room rows.  The scan goes on
 * behind the last one.  The rows are counted as returned by the scan.  Returns false at the end.
 *
 * slot must be the scan's own.  It holds the first row and its pin until the next call, a rescan,
 * or the end of the query.
 */
extern bool hg_heap_page_next(HgHeapPage *page, TableScanDesc scan, TupleTableSlot *slot, int room);

/*
 * ------------------------------------------------------------------------
 * Block by block
 * ------------------------------------------------------------------------
 *
 * A reader that has the rows of some blocks from elsewhere gets the numbers of the scan's blocks,
 * and reads the others.  The scan is begun and rescanned as usual, has an MVCC snapshot, and is
 * read in no other way.
 */

/* Consecutive blocks; the first block of the table follows the last. */
typedef struct HgHeapRange
{
	BlockNumber next; /* the first block */
	BlockNumber left; /* number of blocks */
} HgHeapRange;

/*
 * Returns the first block from block on, and before end, that the reader will read from the heap;
 * end if there is none.  Until a rescan, the answer for a block may change only to "will be read".
 */
typedef BlockNumber (*HgHeapNextBlock)(void *arg, BlockNumber block, BlockNumber end);

/*
 * The blocks that a scan still has to visit.  A process of a parallel scan claims them in runs.
 * It has the run that it reads, and the next one if the look-ahead has reached it.
 */
typedef struct HgHeapBlocks
{
	TableScanDesc scan;
	BlockNumber nblocks; /* of the table, as far as the scan goes */
	BlockNumber most;	 /* upper bound of a run */
	BlockNumber least;	 /* lower bound of a run */
	HgHeapRange own;	 /* the next blocks: of the run, or of the serial scan */
	HgHeapRange behind;	 /* the next run */

	HgHeapNextBlock next_block; /* the blocks to read ahead */
	void *next_block_arg;
	HgHeapRange ahead; /* the part of own, or of behind, that the look-ahead has not reached */
	/* the scan's read stream reads ahead; otherwise blocks are announced to the kernel: */
	bool by_stream;

	int distance;		   /* number of blocks to announce ahead; 0 for none */
	int nahead;			   /* number of announced blocks that are not read yet */
	BlockNumber announced; /* the last announced block */
	int straight;		   /* number of consecutive blocks announced just before it */
} HgHeapBlocks;

/* Returns the number of blocks of a scan that has begun. */
extern BlockNumber hg_heap_blocks_count(TableScanDesc scan);

/* Returns true if the scan has read nothing since it began or was rescanned. */
extern bool hg_heap_blocks_unread(TableScanDesc scan);

/*
 * Begins with the blocks of an unread scan.  A process of a parallel scan gets runs of most blocks
 * while there are plenty, and of least blocks at the end.
 */
extern void hg_heap_blocks_begin(HgHeapBlocks *blocks, TableScanDesc scan, BlockNumber most,
								 BlockNumber least);

/*
 * Reads the blocks that wanted() selects ahead of the reader, by effective_io_concurrency blocks,
 * unless that is one or less.  Since 17, the scan's read stream does that, which ends and restarts
 * with the scan.  On 15 and 16, blocks are announced to the kernel.  So they are on 18 with I/O
 * workers: few reads can be under way (io_workers), and one block costs a worker more than it
 * saves.  Call it after hg_heap_blocks_begin(); *blocks must not move.
 */
extern void hg_heap_blocks_look_ahead(HgHeapBlocks *blocks, HgHeapNextBlock next_block, void *arg);

/*
 * Makes a scan unread whose blocks have begun and of which no page is pinned.  It is a rescan that
 * is not counted as another scan.
 */
extern void hg_heap_blocks_forget(TableScanDesc scan);

/* Makes a parallel scan hand out all of its blocks again, to processes whose scans are unread. */
extern void hg_heap_blocks_deal_again(TableScanDesc scan);

/*
 * Returns the next block in the scan's order, or InvalidBlockNumber at the end.  The order is that
 * of synchronised scans; a parallel scan gives each block to one process.
 */
extern BlockNumber hg_heap_blocks_next(HgHeapBlocks *blocks);

/*
 * Skips up to most of the next blocks, as far as they are consecutive.  Returns the number
 * skipped.  It does not leave the current run of a parallel scan.
 */
extern int hg_heap_blocks_skip(HgHeapBlocks *blocks, int most);

/*
 * Reads the rows of the current block that the snapshot sees, up to room rows behind the first
 * taken ones, and counts them.  Returns true if no row of the block is left.  slot must be the
 * scan's own; it gets the first row, if there is one.  The page is pinned until the next call, a
 * rescan, or the end of the scan.
 */
extern bool hg_heap_page_read(HgHeapPage *page, HgHeapBlocks *blocks, BlockNumber block, int taken,
							  int room, TupleTableSlot *slot);

/*
 * Returns the address of a block's page in shared buffers, for prefetching only, because it may
 * have been evicted.  If it is not there, it is read ahead, and NULL is returned.  Returns NULL
 * for an invalid block.
 */
extern const char *hg_heap_page_ahead(Relation relation, BlockNumber block);

/* A block, and the buffer that had its page, or InvalidBuffer. */
typedef struct HgRecentBlock
{
	BlockNumber block;
	Buffer recent;
} HgRecentBlock;

/*
 * Guesses the buffer of a block, from the block that the scan has just read.  Tables that were
 * read or written in one go are in consecutive buffers.  Buffer rings have no such order.
 */
extern HgRecentBlock hg_recent_block_guess(TableScanDesc scan, HgRecentBlock before,
										   BlockNumber block);

/* Does the same as hg_heap_page_ahead(), but without a search if the buffer is known. */
extern const char *hg_recent_block_ahead(Relation relation, HgRecentBlock target);

/* Pins the block's page, with the scan's strategy.  Returns its buffer; the caller releases it. */
extern Buffer hg_recent_block_read(TableScanDesc scan, HgRecentBlock target);

/*
 * Does what hg_heap_page_read() does, for the rows at lines[nlines], which the snapshot is known to
 * see.
 */
extern void hg_heap_page_take(HgHeapPage *page, TableScanDesc scan, HgRecentBlock target,
							  const OffsetNumber *lines, int nlines, TupleTableSlot *slot);

/* Prunes a pinned page if that is due, as core does before it reads a page's rows. */
extern void hg_heap_page_prune(TableScanDesc scan, Buffer buffer);

/* Unpins the page of the last call. */
extern void hg_heap_page_end(TableScanDesc scan, TupleTableSlot *slot);

/* Counts rows as returned by scans of the table. */
extern void hg_heap_count_rows(Relation relation, int64 nrows);

/* Stores row i in the slot that has the pin. */
extern void hg_heap_page_store(HgHeapPage *page, int i, TupleTableSlot *slot);

/* Keeps only the rows which[nwhich], in ascending order. */
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

/*
 * Visibility of the rows of heap pages to a snapshot, and copies of pages.
 *
 * A caller that has some of a page's rows from elsewhere finds the other visible rows here, and
 * reads them with hg_heap_page_take().  A page source copies whole pages.
 */

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
	TransactionId newest; /* if xids_ended, the newest committed one, or InvalidTransactionId */
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

#endif /* HG_HEAP_PAGE_H */
