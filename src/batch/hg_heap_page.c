/*-------------------------------------------------------------------------
 *
 * hg_heap_page.c
 *	  Pages of heap tables, with the rows on them that a snapshot sees.
 *
 * Only this file reads the state of core's heap scans (HeapScanDescData), which is not a stable
 * interface.  It relies on the following, which holds from 15 on:
 *
 * - table_scan_getnextslot() returns the first visible row of a page.  Core has then chosen the
 *   page (synchronised and parallel scans included), read it, pruned it, and found all visible
 *   rows on it under one lock.  heapgetpage(), since 17 heap_prepare_pagescan(), fills
 *   rs_vistuples[rs_ntuples], and checks each row for serializable conflicts.  The predicate lock
 *   is on the whole relation, taken when the scan began.
 * - For each further row of the page, core takes the entry of rs_vistuples behind rs_cindex,
 *   without a lock, under the pin of rs_cbuf, and counts it.
 * - heapgetpage() finds the rows of any block, and since 17 heap_prepare_pagescan(), after rs_cbuf
 *   and rs_cblock are set to it.  heap_rescan() and heap_endscan() release rs_cbuf.
 * - rs_inited is false from the beginning of a scan or rescan until a block is read.  Nothing else
 *   shows that.
 * - rs_startblock is the first block of a serial scan.  table_block_parallelscan_nextpage() hands
 *   out the blocks of a parallel scan.  Blocks are counted from phs_startblock on, and wrap
 *   around.  Those below phs_nallocated are some process's; a process claims the next ones by
 *   adding to it.
 * - Since 17, rs_read_stream reads the pages for core's own functions.  heap_rescan() resets it
 *   and heap_endscan() ends it, without a call of its callback.  Pins of blocks that it has read
 *   ahead belong to the resource owner, as that of rs_cbuf does.  A scan that is read block by
 *   block with a look-ahead has another stream there, of the blocks that its reader wants
 *   (test/t/cache_cold.pl).
 *
 * So the rows of a page are taken at once and counted, and rs_cindex is set to the last of them;
 * core goes on with the next page.  In builds with assertions, core returns each row itself, and
 * is compared: test/t/join_faults.pl reads pages of many kinds in such a build.  An unknown
 * version of PostgreSQL does not compile.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/heapam.h"
#include "access/syncscan.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/spccache.h"

#include "batch/hg_heap_page.h"

/* Runs that are left when runs become shorter. */
#define HG_RUNS_LEFT 16

#if !HG_HAVE_KNOWN_HEAP_SCAN
#error "hashgraph does not know how this version of PostgreSQL scans heaps"
#endif

bool
hg_heap_page_may_scan(Relation relation, Snapshot snapshot)
{
	return relation->rd_tableam == GetHeapamTableAmRoutine() && IsMVCCSnapshot(snapshot);
}

void
hg_heap_count_rows(Relation relation, int64 nrows)
{
	/* it is the same counter as for rows of scans, and takes a number */
	pgstat_count_index_tuples(relation, nrows);
}

/* Adds the rows behind the one that core has returned, up to room in all. */
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
		/* on an all-visible page, core has read only the line pointers */
		HG_PREFETCH(page->tuples[i]);
	}
}

#ifdef USE_ASSERT_CHECKING
/* Moves core to the last row taken, and compares each row that it returns. */
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
/* Moves the scan to the last row taken, and counts the rows behind the first. */
static void
hg_heap_page_advance(HgHeapPage *page, HeapScanDesc scan,
					 TupleTableSlot *slot pg_attribute_unused())
{
	scan->rs_cindex += page->ntuples - 1;
	hg_heap_count_rows(page->relation, page->ntuples - 1);
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

	/* a scan without page mode has only this row */
	if ((scan->rs_flags & SO_ALLOW_PAGEMODE) != 0)
	{
		hg_heap_page_fill(page, heap, room);
		hg_heap_page_advance(page, heap, slot);
	}
	return true;
}

BlockNumber
hg_heap_blocks_count(TableScanDesc scan)
{
	return ((HeapScanDesc) scan)->rs_nblocks;
}

bool
hg_heap_blocks_unread(TableScanDesc scan)
{
	return !((HeapScanDesc) scan)->rs_inited;
}

void
hg_heap_blocks_begin(HgHeapBlocks *blocks, TableScanDesc scan, BlockNumber most, BlockNumber least)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	Assert((scan->rs_flags & SO_ALLOW_PAGEMODE) != 0);
	*blocks = (HgHeapBlocks){
		.scan = scan, .nblocks = heap->rs_nblocks, .most = Max(most, 1), .least = Max(least, 1)};
	if (scan->rs_parallel != NULL)
		hg_parallelscan_begin(scan->rs_rd, heap->rs_parallelworkerdata,
							  (ParallelBlockTableScanDesc) scan->rs_parallel);
	else
		blocks->own = (HgHeapRange){heap->rs_startblock, heap->rs_nblocks};
	blocks->ahead = blocks->own;
	heap->rs_inited = true;
}

/* Removes the first blocks of a range, which do not go past the end of the table. */
static inline void
hg_heap_range_skip(HgHeapRange *range, BlockNumber skipped, BlockNumber nblocks)
{
	range->left -= skipped;
	range->next += skipped;
	if (range->next == nblocks)
		range->next = 0;
}

/* Returns the number of blocks up to the end of the range, or of the table. */
static inline BlockNumber
hg_heap_range_straight(HgHeapRange range, BlockNumber nblocks)
{
	return Min(range.left, nblocks - range.next);
}

/* Claims a run of a parallel scan; false if none is left. */
static bool
hg_heap_blocks_take_run(const HgHeapBlocks *blocks, HgHeapRange *range)
{
	ParallelBlockTableScanDesc shared = (ParallelBlockTableScanDesc) blocks->scan->rs_parallel;
	uint64 taken = pg_atomic_read_u64(&shared->phs_nallocated);
	uint64 run;

	if (taken >= blocks->nblocks)
		return false;
	/* shorter runs at the end keep all processes busy */
	run = Min(blocks->most, (blocks->nblocks - taken) / HG_RUNS_LEFT);
	run = Max(run, blocks->least);
	taken = pg_atomic_fetch_add_u64(&shared->phs_nallocated, run);
	if (taken >= blocks->nblocks)
		return false;
	range->left = (BlockNumber) Min(run, blocks->nblocks - taken);
	range->next = (BlockNumber) ((taken + shared->phs_startblock) % blocks->nblocks);
	return true;
}

/* Begins the next run of a parallel scan; false if there is none. */
static bool
hg_heap_blocks_begin_run(HgHeapBlocks *blocks)
{
	if (blocks->behind.left > 0)
	{
		/* the look-ahead is already in this run */
		blocks->own = blocks->behind;
		blocks->behind.left = 0;
		return true;
	}
	if (!hg_heap_blocks_take_run(blocks, &blocks->own))
		return false;
	/* the look-ahead found no more wanted blocks in the previous run */
	blocks->ahead = blocks->own;
	return true;
}

/* Returns the next wanted block of the look-ahead, or InvalidBlockNumber. */
static BlockNumber
hg_heap_blocks_next_ahead(HgHeapBlocks *blocks)
{
	HgHeapRange *ahead = &blocks->ahead;

	for (;;)
	{
		while (ahead->left > 0)
		{
			BlockNumber straight = hg_heap_range_straight(*ahead, blocks->nblocks);
			BlockNumber end = ahead->next + straight;
			BlockNumber block = blocks->next_block(blocks->next_block_arg, ahead->next, end);

			hg_heap_range_skip(ahead, Min(block - ahead->next + 1, straight), blocks->nblocks);
			if (block < end)
				return block;
		}
		if (blocks->scan->rs_parallel == NULL || blocks->behind.left > 0 ||
			!hg_heap_blocks_take_run(blocks, &blocks->behind))
			return InvalidBlockNumber;
		blocks->ahead = blocks->behind;
	}
}

/*
 * Announces wanted blocks ahead of block, which the reader has reached, to the kernel.  The kernel
 * reads consecutive blocks ahead by itself, but not while each is announced.  So blocks are not
 * announced if more of them are consecutive than would be announced.
 */
static void
hg_heap_blocks_announce(HgHeapBlocks *blocks, BlockNumber block)
{
	if (blocks->distance == 0)
		return;
	while (blocks->nahead <= blocks->distance)
	{
		BlockNumber ahead = hg_heap_blocks_next_ahead(blocks);

		if (ahead == InvalidBlockNumber)
			break;
		blocks->straight = ahead == blocks->announced + 1 ? blocks->straight + 1 : 0;
		blocks->announced = ahead;
		blocks->nahead++;
		if (ahead != block && blocks->straight < blocks->distance)
			(void) PrefetchBuffer(blocks->scan->rs_rd, MAIN_FORKNUM, ahead);
	}
	/* the block itself is not ahead any more */
	blocks->nahead = Max(blocks->nahead - 1, 0);
}

#if HG_HAVE_READ_STREAM
/* The callback of a scan's read stream. */
static BlockNumber
hg_heap_blocks_stream_next(ReadStream *stream pg_attribute_unused(), void *arg,
						   void *per_buffer_data pg_attribute_unused())
{
	HgHeapBlocks *blocks = arg;

	if (hg_heap_blocks_unread(blocks->scan))
		elog(ERROR, "a scan that is read block by block is read in another way");
	return hg_heap_blocks_next_ahead(blocks);
}

/* Gives the scan a stream of the wanted blocks, which core resets and ends with the scan. */
static void
hg_heap_blocks_begin_stream(HgHeapBlocks *blocks)
{
	HeapScanDesc heap = (HeapScanDesc) blocks->scan;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(heap));

	if (heap->rs_read_stream != NULL)
		read_stream_end(heap->rs_read_stream);
	heap->rs_read_stream =
		hg_read_stream_begin(blocks->scan, heap->rs_strategy, hg_heap_blocks_stream_next, blocks);
	blocks->by_stream = true;
	MemoryContextSwitchTo(old);
}

/* Pins the page of a block that the reader has reached. */
static Buffer
hg_heap_blocks_read(HgHeapBlocks *blocks, BlockNumber block)
{
	HeapScanDesc heap = (HeapScanDesc) blocks->scan;

	if (blocks->by_stream)
	{
		Buffer buffer = read_stream_next_buffer(heap->rs_read_stream, NULL);

		if (BufferIsValid(buffer) && BufferGetBlockNumber(buffer) == block)
			return buffer;
		/* the reader now reads more blocks than were wanted when the stream chose */
		if (BufferIsValid(buffer))
			ReleaseBuffer(buffer);
		read_stream_reset(heap->rs_read_stream);
		blocks->by_stream = false;
	}
	hg_heap_blocks_announce(blocks, block);
	return ReadBufferExtended(heap->rs_base.rs_rd, MAIN_FORKNUM, block, RBM_NORMAL,
							  heap->rs_strategy);
}
#endif

void
hg_heap_blocks_look_ahead(HgHeapBlocks *blocks, HgHeapNextBlock next_block, void *arg)
{
	const int distance = get_tablespace_io_concurrency(blocks->scan->rs_rd->rd_rel->reltablespace);

	/* for single blocks, the reader and the kernel's own read-ahead do better */
	if (distance <= 1)
		return;
	blocks->next_block = next_block;
	blocks->next_block_arg = arg;
#if HG_HAVE_READ_STREAM
	if (hg_read_stream_pays())
	{
		hg_heap_blocks_begin_stream(blocks);
		return;
	}
#endif
	blocks->distance = distance;
	blocks->announced = InvalidBlockNumber;
}

void
hg_heap_blocks_forget(TableScanDesc scan)
{
	((HeapScanDesc) scan)->rs_inited = false;
}

BlockNumber
hg_heap_blocks_next(HgHeapBlocks *blocks)
{
	const ParallelTableScanDesc shared = blocks->scan->rs_parallel;
	BlockNumber block;

	if (blocks->own.left == 0 && (shared == NULL || !hg_heap_blocks_begin_run(blocks)))
		return InvalidBlockNumber;
	block = blocks->own.next;
	hg_heap_range_skip(&blocks->own, 1, blocks->nblocks);
	if (shared != NULL && shared->phs_syncscan)
		ss_report_location(blocks->scan->rs_rd, block);
	return block;
}

int
hg_heap_blocks_skip(HgHeapBlocks *blocks, int most)
{
	BlockNumber skipped =
		Min((BlockNumber) most, hg_heap_range_straight(blocks->own, blocks->nblocks));

	hg_heap_range_skip(&blocks->own, skipped, blocks->nblocks);
	return (int) skipped;
}

/* Returns true if the buffer that had the page is known. */
static inline bool
hg_recent_block_is_known(HgRecentBlock target)
{
	return target.recent > 0 && target.recent <= NBuffers;
}

Buffer
hg_recent_block_read(TableScanDesc scan, HgRecentBlock target)
{
	if (!hg_recent_block_is_known(target) ||
		!hg_read_recent_buffer(scan->rs_rd, target.block, target.recent))
		return ReadBufferExtended(scan->rs_rd, MAIN_FORKNUM, target.block, RBM_NORMAL,
								  ((HeapScanDesc) scan)->rs_strategy);
	pgstat_count_buffer_read(scan->rs_rd);
	pgstat_count_buffer_hit(scan->rs_rd);
	return target.recent;
}

/* Unpins the scan's page. */
static void
hg_heap_page_unpin(HeapScanDesc scan)
{
	if (BufferIsValid(scan->rs_cbuf))
		ReleaseBuffer(scan->rs_cbuf);
	scan->rs_cbuf = InvalidBuffer;
}

/* Fills rs_vistuples with the rows of a block that the snapshot sees. */
static void
hg_heap_page_prepare(HgHeapBlocks *blocks, BlockNumber block, bool again)
{
	HeapScanDesc scan = (HeapScanDesc) blocks->scan;

#if HG_HAVE_READ_STREAM
	hg_heap_page_unpin(scan);
	scan->rs_cbuf = again
						? hg_recent_block_read(blocks->scan, (HgRecentBlock){block, InvalidBuffer})
						: hg_heap_blocks_read(blocks, block);
	scan->rs_cblock = block;
	heap_prepare_pagescan(&scan->rs_base);
#else
	if (!again)
		hg_heap_blocks_announce(blocks, block);
	heapgetpage(&scan->rs_base, block);
#endif
}

/* Fills a page with the rows at lines of the scan's block, and counts them. */
static void
hg_heap_page_hold(HgHeapPage *page, HeapScanDesc scan, const OffsetNumber *lines, int nlines,
				  TupleTableSlot *slot)
{
	Page content = BufferGetPage(scan->rs_cbuf);

	Assert(nlines <= HG_BATCH_ROWS);
	/* for a parallel scan, hg_heap_blocks_next() reports */
	if (scan->rs_base.rs_parallel == NULL && (scan->rs_base.rs_flags & SO_ALLOW_SYNC) != 0)
		ss_report_location(scan->rs_base.rs_rd, scan->rs_cblock);
	page->relation = scan->rs_base.rs_rd;
	page->block = scan->rs_cblock;
	page->following = InvalidBlockNumber;
	page->buffer = scan->rs_cbuf;
	page->stored = InvalidOffsetNumber;
	page->ntuples = nlines;
	for (int i = 0; i < nlines; i++)
	{
		page->offsets[i] = lines[i];
		page->tuples[i] = (HeapTupleHeader) PageGetItem(content, PageGetItemId(content, lines[i]));
		HG_PREFETCH(page->tuples[i]);
	}
	hg_heap_count_rows(page->relation, nlines);
	if (nlines > 0)
		hg_heap_page_store(page, 0, slot);
}

bool
hg_heap_page_read(HgHeapPage *page, HgHeapBlocks *blocks, BlockNumber block, int taken, int room,
				  TupleTableSlot *slot)
{
	HeapScanDesc heap = (HeapScanDesc) blocks->scan;
	int left;

	/* the slot pins the previous page */
	ExecClearTuple(slot);
	hg_heap_page_prepare(blocks, block, taken > 0);
	/* for one snapshot, a page's visible rows keep their line pointers */
	Assert(taken <= (int) heap->rs_ntuples);
	left = (int) heap->rs_ntuples - taken;
	hg_heap_page_hold(page, heap, heap->rs_vistuples + taken, Min(room, left), slot);
	return page->ntuples == left;
}

void
hg_heap_page_take(HgHeapPage *page, TableScanDesc scan, HgRecentBlock target,
				  const OffsetNumber *lines, int nlines, TupleTableSlot *slot)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	ExecClearTuple(slot);
	hg_heap_page_unpin(heap);
	heap->rs_cbuf = hg_recent_block_read(scan, target);
	heap->rs_cblock = target.block;
	/* wait for a process that has begun to prune the page before this pin */
	LockBuffer(heap->rs_cbuf, BUFFER_LOCK_SHARE);
	LockBuffer(heap->rs_cbuf, BUFFER_LOCK_UNLOCK);
	hg_heap_page_hold(page, heap, lines, nlines, slot);
}

void
hg_heap_page_prune(TableScanDesc scan, Buffer buffer)
{
	hg_page_prune_opt((HeapScanDesc) scan, buffer);
}

const char *
hg_heap_page_ahead(Relation relation, BlockNumber block)
{
	Buffer buffer;

	if (!BlockNumberIsValid(block) || RelationUsesLocalBuffers(relation))
		return NULL;
	buffer = PrefetchBuffer(relation, MAIN_FORKNUM, block).recent_buffer;
	if (!BufferIsValid(buffer))
		return NULL;
	HG_PREFETCH(GetBufferDescriptor(buffer - 1));
	return (const char *) BufferGetBlock(buffer);
}

const char *
hg_recent_block_ahead(Relation relation, HgRecentBlock target)
{
	if (!hg_recent_block_is_known(target))
		return hg_heap_page_ahead(relation, target.block);
	HG_PREFETCH(GetBufferDescriptor(target.recent - 1));
	return (const char *) BufferGetBlock(target.recent);
}

HgRecentBlock
hg_recent_block_guess(TableScanDesc scan, HgRecentBlock before, BlockNumber block)
{
	HgRecentBlock target = {block, InvalidBuffer};

	if (((HeapScanDesc) scan)->rs_strategy == NULL && before.recent != InvalidBuffer &&
		before.block + 1 == block)
		target.recent = before.recent + 1;
	return target;
}

void
hg_heap_page_end(TableScanDesc scan, TupleTableSlot *slot)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	ExecClearTuple(slot);
	hg_heap_page_unpin(heap);
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
