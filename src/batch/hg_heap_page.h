/*-------------------------------------------------------------------------
 *
 * hg_heap_page.h
 *	  Pages of heap tables, with the rows on them that a snapshot sees.
 *
 * A table scan fills an HgHeapPage with rows of one page, in one of three ways: in the scan's own
 * order (hg_heap_page_next()), from a block that the caller chooses (hg_heap_page_read()), or from
 * known line pointers (hg_heap_page_take()).  The rows are in a buffer that stays pinned, so that
 * no process can prune the page, that is move or remove a row.
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

/* Returns true for a heap and an MVCC snapshot; only their scans can be read here. */
extern bool hg_heap_page_may_scan(Relation relation, Snapshot snapshot);

/*
 * Fills page with the scan's next row and the rows behind it on its page, up to room rows, which is
 * 1 to HG_BATCH_ROWS.  The scan goes on behind the last one.  The rows are counted as returned by
 * the scan.  Returns false at the end.
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
 * A reader that has the rows of some blocks from elsewhere, such as the cache, gets the numbers of
 * the scan's blocks from hg_heap_blocks_next(), and reads the others with hg_heap_page_read().  The
 * scan is begun and rescanned as usual, has an MVCC snapshot, and is read in no other way.
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
 * The blocks that a scan still has to visit.  A process of a parallel scan claims them in runs of
 * consecutive blocks.  It has the run that it reads, and the next one if the look-ahead is there.
 */
typedef struct HgHeapBlocks
{
	TableScanDesc scan;
	BlockNumber nblocks; /* of the table, as far as the scan goes */
	BlockNumber most;	 /* upper bound of a run, in blocks */
	BlockNumber least;	 /* lower bound of a run, in blocks */
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

/* Returns the number of the table's blocks that a scan, which has begun, covers. */
extern BlockNumber hg_heap_blocks_count(TableScanDesc scan);

/* Returns true if the scan has read nothing since it began or was rescanned. */
extern bool hg_heap_blocks_unread(TableScanDesc scan);

/*
 * Initializes *blocks with all blocks of an unread scan, which then counts as read.  A process of a
 * parallel scan claims runs of most blocks while there are plenty, and of least blocks at the end.
 */
extern void hg_heap_blocks_begin(HgHeapBlocks *blocks, TableScanDesc scan, BlockNumber most,
								 BlockNumber least);

/*
 * From now on, reads the blocks that next_block() selects, with arg, ahead of the reader, by
 * effective_io_concurrency blocks, unless that is one or less.  Since 17, the scan's read stream
 * does that, which ends and restarts with the scan.  On 15 and 16, and on 18 with I/O workers,
 * blocks are announced to the kernel (few workers can read, and a single block costs a worker more
 * than it saves).  Call it after hg_heap_blocks_begin(); *blocks must not move.
 */
extern void hg_heap_blocks_look_ahead(HgHeapBlocks *blocks, HgHeapNextBlock next_block, void *arg);

/*
 * Starts a scan again from its first block, while none of its pages is pinned.  Unlike a rescan, it
 * does not count as another scan in the statistics.
 */
extern void hg_heap_blocks_forget(TableScanDesc scan);

/*
 * Returns the next block in the scan's order, or InvalidBlockNumber at the end.  The order is that
 * of synchronised scans; a parallel scan gives each block to one process.
 */
extern BlockNumber hg_heap_blocks_next(HgHeapBlocks *blocks);

/*
 * Skips the next blocks, up to `most`, as far as they are consecutive in the table and in the
 * current run of a parallel scan.  Returns the number skipped.
 */
extern int hg_heap_blocks_skip(HgHeapBlocks *blocks, int most);

/*
 * Fills page with the rows of a block that the snapshot sees: up to room rows behind the first
 * `taken` ones.  block came from hg_heap_blocks_next(), and taken is 0 in the first call for it.
 * Counts the rows as returned by the scan.  Returns true if no row of the block is left.  slot must
 * be the scan's own; it gets the first row, if there is one.  The page is pinned until the next
 * call, a rescan, or the end of the scan.
 */
extern bool hg_heap_page_read(HgHeapPage *page, HgHeapBlocks *blocks, BlockNumber block, int taken,
							  int room, TupleTableSlot *slot);

/*
 * Returns the address of a block's page in shared buffers.  It is for prefetching only: the page is
 * not pinned.  If the page is not there, starts to read it and returns NULL.  Returns NULL for an
 * invalid block and for a temporary table.
 */
extern const char *hg_heap_page_ahead(Relation relation, BlockNumber block);

/* A block, and the buffer that probably has its page; InvalidBuffer if none is known. */
typedef struct HgRecentBlock
{
	BlockNumber block;
	Buffer recent;
} HgRecentBlock;

/*
 * Returns a block with a guess of its buffer: the buffer behind that of before, the block that the
 * scan has just read, if that is the preceding block.  Tables that were read or written in one go
 * are in consecutive buffers.  It makes no guess for a scan with a buffer ring.
 */
extern HgRecentBlock hg_recent_block_guess(TableScanDesc scan, HgRecentBlock before,
										   BlockNumber block);

/* Does what hg_heap_page_ahead() does, but does not look the buffer up if target has one. */
extern const char *hg_recent_block_ahead(Relation relation, HgRecentBlock target);

/* Reads and pins the block's page, with the scan's strategy.  The caller releases the buffer. */
extern Buffer hg_recent_block_read(TableScanDesc scan, HgRecentBlock target);

/*
 * Does what hg_heap_page_read() does, for the rows at lines[nlines] of the block, at most
 * HG_BATCH_ROWS, which the snapshot is known to see.
 */
extern void hg_heap_page_take(HgHeapPage *page, TableScanDesc scan, HgRecentBlock target,
							  const OffsetNumber *lines, int nlines, TupleTableSlot *slot);

/* Prunes a page that is pinned but not locked, if core would do so before it reads its rows. */
extern void hg_heap_page_prune(TableScanDesc scan, Buffer buffer);

/* Unpins the page that was read last, and clears the slot. */
extern void hg_heap_page_end(TableScanDesc scan, TupleTableSlot *slot);

/* Adds nrows to the rows that scans of the table have returned (pg_stat_get_tuples_returned()). */
extern void hg_heap_count_rows(Relation relation, int64 nrows);

/* Stores row i of the page in the scan's own slot. */
extern void hg_heap_page_store(HgHeapPage *page, int i, TupleTableSlot *slot);

/* Removes the page's rows other than which[nwhich], which ascend. */
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
 * A visibility check of a block, whose page is pinned and share-locked from hg_heap_vis_begin() to
 * hg_heap_vis_end().  It counts the buffer, but no rows.  It must not be used in serializable
 * transactions that check conflicts.
 */
typedef struct HgHeapVis
{
	TableScanDesc scan;
	BlockNumber block;
	Buffer buffer;
	const char *ahead; /* the next block's page, or NULL */
} HgHeapVis;

/* Begins a check of block target.  following is the block that is checked next, or invalid. */
extern void hg_heap_vis_begin(HgHeapVis *vis, TableScanDesc scan, HgRecentBlock target,
							  HgRecentBlock following);

/* Returns the page's LSN. */
extern XLogRecPtr hg_heap_vis_lsn(const HgHeapVis *vis);

/*
 * Sets *lines, except buffer, to the rows that the scan's snapshot sees; older are those whose xmin
 * precedes id.  Prefetches the next block's page.
 */
extern void hg_heap_vis_lines(const HgHeapVis *vis, TransactionId id, HgHeapLines *lines);

/* Ends a check: unlocks and unpins the page. */
extern void hg_heap_vis_end(const HgHeapVis *vis);

/*
 * Copies a block's page to BLCKSZ bytes at `to`.  In the copy, only rows that the snapshot sees
 * have normal line pointers.  Returns their number.  It counts the buffer, but no rows, and leaves
 * no page pinned.  *before is the block that was copied last, and becomes this one; both members
 * are invalid at first.  It must not be used in serializable transactions that check conflicts.
 */
extern int hg_heap_page_copy(TableScanDesc scan, BlockNumber block, HgRecentBlock *before,
							 char *to);

#endif /* HG_HEAP_PAGE_H */
