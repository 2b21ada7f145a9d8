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
 *	-	A block is found for whoever names it by heapgetpage(), and since 17 by
 *		heap_prepare_pagescan() after rs_cbuf and rs_cblock are set to it.  heap_rescan() and
 *		heap_endscan() release rs_cbuf.  rs_inited is false from the beginning of a scan, and a
 *		rescan, until a block of it was asked for, and nothing else tells that one was;
 *		rs_startblock is where it begins if it is not parallel, and else
 *		table_block_parallelscan_nextpage() hands out its blocks: those whose number, counted from
 *		phs_startblock on and behind the last one from the first, is below phs_nallocated are some
 *		process's, and who adds to that gets the next ones.
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
#include "access/syncscan.h"
#include "access/transam.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "batch/hg_heap_page.h"

/* The runs that are left when they become shorter, and how many blocks they have at least. */
#define HG_RUNS_LEFT 16
#define HG_LEAST_RUN 64

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
	/* rows returned are one counter, whatever returned them; this adds to it more than one */
	pgstat_count_index_tuples(relation, nrows);
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

	/* a scan that is not by pages has this row alone */
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
hg_heap_blocks_begin(HgHeapBlocks *blocks, TableScanDesc scan)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	Assert((scan->rs_flags & SO_ALLOW_PAGEMODE) != 0);
	*blocks = (HgHeapBlocks){.nblocks = heap->rs_nblocks};
	if (scan->rs_parallel != NULL)
		hg_parallelscan_begin(scan->rs_rd, heap->rs_parallelworkerdata,
							  (ParallelBlockTableScanDesc) scan->rs_parallel);
	else
	{
		blocks->next = heap->rs_startblock;
		blocks->left = heap->rs_nblocks;
	}
	heap->rs_inited = true;
}

void
hg_heap_blocks_begin_runs(HgHeapBlocks *blocks, TableScanDesc scan, BlockNumber run)
{
	hg_heap_blocks_begin(blocks, scan);
	blocks->run = run;
}

/* Take a run of those blocks of a parallel scan that no process has; false: there are none. */
static bool
hg_heap_blocks_take_run(HgHeapBlocks *blocks, TableScanDesc scan)
{
	ParallelBlockTableScanDesc shared = (ParallelBlockTableScanDesc) scan->rs_parallel;
	uint64 taken = pg_atomic_read_u64(&shared->phs_nallocated);
	uint64 run;

	if (taken >= blocks->nblocks)
		return false;
	/* in the end all processes have something to do */
	run = Min(blocks->run, (blocks->nblocks - taken) / HG_RUNS_LEFT);
	run = Max(run, Min(blocks->run, HG_LEAST_RUN));
	taken = pg_atomic_fetch_add_u64(&shared->phs_nallocated, run);
	if (taken >= blocks->nblocks)
		return false;
	blocks->left = (BlockNumber) Min(run, blocks->nblocks - taken);
	blocks->next = (BlockNumber) ((taken + shared->phs_startblock) % blocks->nblocks);
	if (shared->base.phs_syncscan)
		ss_report_location(scan->rs_rd, blocks->next);
	return true;
}

void
hg_heap_blocks_forget(TableScanDesc scan)
{
	((HeapScanDesc) scan)->rs_inited = false;
}

void
hg_heap_blocks_deal_again(TableScanDesc scan)
{
	table_parallelscan_reinitialize(scan->rs_rd, scan->rs_parallel);
}

BlockNumber
hg_heap_blocks_next(HgHeapBlocks *blocks, TableScanDesc scan)
{
	HeapScanDesc heap = (HeapScanDesc) scan;
	BlockNumber block;

	if (scan->rs_parallel != NULL && blocks->run == 0)
		return table_block_parallelscan_nextpage(scan->rs_rd, heap->rs_parallelworkerdata,
												 (ParallelBlockTableScanDesc) scan->rs_parallel);
	if (blocks->left == 0 && (scan->rs_parallel == NULL || !hg_heap_blocks_take_run(blocks, scan)))
		return InvalidBlockNumber;
	block = blocks->next;
	blocks->left--;
	blocks->next = block + 1 < blocks->nblocks ? block + 1 : 0;
	return block;
}

int
hg_heap_blocks_skip(HgHeapBlocks *blocks, TableScanDesc scan, int most)
{
	BlockNumber skipped;

	if (scan->rs_parallel != NULL)
		return 0;
	skipped = Min(Min((BlockNumber) most, blocks->left), blocks->nblocks - blocks->next);
	blocks->left -= skipped;
	blocks->next += skipped;
	if (blocks->next == blocks->nblocks)
		blocks->next = 0;
	return (int) skipped;
}

/* Is it known which buffer had the page of a place? */
static inline bool
hg_heap_place_is_known(HgHeapPlace place)
{
	return place.recent > 0 && place.recent <= NBuffers;
}

/* Pin the page of a place. */
static Buffer
hg_heap_place_read(TableScanDesc scan, HgHeapPlace place)
{
	if (!hg_heap_place_is_known(place) ||
		!hg_read_recent_buffer(scan->rs_rd, place.block, place.recent))
		return ReadBufferExtended(scan->rs_rd, MAIN_FORKNUM, place.block, RBM_NORMAL,
								  ((HeapScanDesc) scan)->rs_strategy);
	pgstat_count_buffer_read(scan->rs_rd);
	pgstat_count_buffer_hit(scan->rs_rd);
	return place.recent;
}

/* Have the scan stand at a block, pinned. */
static void
hg_heap_page_pin(HeapScanDesc scan, HgHeapPlace place)
{
	if (BufferIsValid(scan->rs_cbuf))
	{
		ReleaseBuffer(scan->rs_cbuf);
		scan->rs_cbuf = InvalidBuffer;
	}
	scan->rs_cbuf = hg_heap_place_read(&scan->rs_base, place);
	scan->rs_cblock = place.block;
}

/* Have the scan's state tell of the rows of a block that the snapshot sees. */
static void
hg_heap_page_prepare(HeapScanDesc scan, BlockNumber block)
{
#if HG_HAVE_HEAPGETPAGE
	heapgetpage(&scan->rs_base, block);
#else
	hg_heap_page_pin(scan, (HgHeapPlace){block, InvalidBuffer});
	heap_prepare_pagescan(&scan->rs_base);
#endif
}

/* Have a page hold the rows under these lines of the block that the scan's state tells of. */
static void
hg_heap_page_hold(HgHeapPage *page, HeapScanDesc scan, const OffsetNumber *lines, int nlines,
				  TupleTableSlot *slot)
{
	Page content = BufferGetPage(scan->rs_cbuf);

	Assert(nlines <= HG_BATCH_ROWS);
	/* others of a parallel scan are told by who hands out its blocks */
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
hg_heap_page_read(HgHeapPage *page, TableScanDesc scan, BlockNumber block, int taken, int room,
				  TupleTableSlot *slot)
{
	HeapScanDesc heap = (HeapScanDesc) scan;
	int left;

	/* its pin on the page before */
	ExecClearTuple(slot);
	hg_heap_page_prepare(heap, block);
	/* what a snapshot sees of a page stays the same, under the same line pointers */
	Assert(taken <= (int) heap->rs_ntuples);
	left = (int) heap->rs_ntuples - taken;
	hg_heap_page_hold(page, heap, heap->rs_vistuples + taken, Min(room, left), slot);
	return page->ntuples == left;
}

void
hg_heap_page_take(HgHeapPage *page, TableScanDesc scan, HgHeapPlace place,
				  const OffsetNumber *lines, int nlines, TupleTableSlot *slot)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	ExecClearTuple(slot);
	hg_heap_page_pin(heap, place);
	/* who was alone with the page before may be moving its rows still, and is not behind this */
	LockBuffer(heap->rs_cbuf, BUFFER_LOCK_SHARE);
	LockBuffer(heap->rs_cbuf, BUFFER_LOCK_UNLOCK);
	hg_heap_page_hold(page, heap, lines, nlines, slot);
}

/*
 * What is known of the last id that was asked about: the rows of a page have few of them.
 */
typedef struct HgIdAge
{
	TransactionId id;
	bool is_older; /* than the one that was given */
	bool is_past;  /* than what the snapshot has to look at more closely */
} HgIdAge;

/* Does a snapshot see a row?  As HeapTupleSatisfiesMVCC() has it, whose quickest way is first. */
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

/* The newer one of two ids, of which the first may be invalid. */
static inline TransactionId
hg_heap_newer_id(TransactionId newest, TransactionId id)
{
	return !TransactionIdIsValid(newest) || TransactionIdPrecedes(newest, id) ? id : newest;
}

/*
 * Has a transaction committed that has ended, and preceded that xmin of a snapshot?  Where a row's
 * hint does not say so yet, the commit log does: a standby writes hints of what its primary has
 * committed when its own minimum recovery point has passed that, which may be much later.
 * *newest becomes the newer one of it and the transaction's id, if it has.  False: it may run still.
 */
static inline bool
hg_heap_id_is_settled(TransactionId id, bool is_committed, TransactionId xmin,
					  TransactionId *newest)
{
	if (!is_committed && !TransactionIdPrecedes(id, xmin))
		return false;
	if (is_committed || TransactionIdDidCommit(id))
		*newest = hg_heap_newer_id(*newest, id);
	return true;
}

/*
 * Have all transactions ended that have to do with a row's being there, for a snapshot of that
 * xmin?  *newest becomes the newest one that was committed.
 */
static inline bool
hg_heap_row_is_settled(HeapTupleHeader header, TransactionId xmin, TransactionId *newest)
{
	uint16 info = header->t_infomask;

	if ((info & HEAP_MOVED) != 0)
		return false;
	if (HeapTupleHeaderXminInvalid(header))
		return true;
	if (!HeapTupleHeaderXminFrozen(header) &&
		!hg_heap_id_is_settled(HeapTupleHeaderGetRawXmin(header),
							   HeapTupleHeaderXminCommitted(header), xmin, newest))
		return false;
	if ((info & HEAP_XMAX_INVALID) != 0 || HEAP_XMAX_IS_LOCKED_ONLY(info))
		return true;
	return (info & HEAP_XMAX_IS_MULTI) == 0 &&
		   hg_heap_id_is_settled(HeapTupleHeaderGetRawXmax(header),
								 (info & HEAP_XMAX_COMMITTED) != 0, xmin, newest);
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

/* Where the page of a place is, or was: as hg_heap_page_ahead(), without a search where it can. */
static const char *
hg_heap_place_ahead(Relation relation, HgHeapPlace place)
{
	if (!hg_heap_place_is_known(place))
		return hg_heap_page_ahead(relation, place.block);
	HG_PREFETCH(GetBufferDescriptor(place.recent - 1));
	return (const char *) BufferGetBlock(place.recent);
}

/* Have a page pruned, as core has it before it looks which of its rows are to be seen. */
static void
hg_heap_page_prune(Relation relation pg_attribute_unused(), Buffer buffer pg_attribute_unused())
{
#if HG_HAVE_PRUNE_OPT
	heap_page_prune_opt(relation, buffer);
#endif
}

void
hg_heap_look_begin(HgHeapLook *look, TableScanDesc scan, HgHeapPlace place, HgHeapPlace following)
{
	look->scan = scan;
	look->block = place.block;
	look->ahead = hg_heap_place_ahead(scan->rs_rd, following);
	if (look->ahead != NULL)
		HG_PREFETCH(look->ahead);
	look->buffer = hg_heap_place_read(scan, place);
	hg_heap_page_prune(scan->rs_rd, look->buffer);
	LockBuffer(look->buffer, BUFFER_LOCK_SHARE);
}

XLogRecPtr
hg_heap_look_lsn(const HgHeapLook *look)
{
	return BufferGetLSNAtomic(look->buffer);
}

void
hg_heap_look_lines(const HgHeapLook *look, TransactionId id, HgHeapLines *lines)
{
	TableScanDesc scan = look->scan;
	Page page = BufferGetPage(look->buffer);
	OffsetNumber end = PageGetMaxOffsetNumber(page);
	HgIdAge age = {.id = InvalidTransactionId};
	Size asked = 0;

	memset(lines->older, 0, sizeof(lines->older));
	lines->nothers = 0;
	lines->settled = true;
	lines->newest = InvalidTransactionId;
	for (OffsetNumber offset = FirstOffsetNumber; offset <= end; offset++)
	{
		ItemId line = PageGetItemId(page, offset);
		HeapTupleHeader header;
		TransactionId xmin;
		bool visible;

		if (look->ahead != NULL)
			for (Size part = BLCKSZ * offset / end; asked < part; asked += HG_CACHE_LINE)
				HG_PREFETCH(look->ahead + asked);
		if (!ItemIdIsNormal(line))
			continue;
		header = (HeapTupleHeader) PageGetItem(page, line);
		xmin = HeapTupleHeaderGetRawXmin(header);
		if (xmin != age.id)
			age = (HgIdAge){.id = xmin,
							.is_older = TransactionIdPrecedes(xmin, id),
							.is_past = TransactionIdPrecedes(xmin, scan->rs_snapshot->xmin)};
		visible = hg_heap_row_is_visible(scan, look->block, offset, page, look->buffer, &age);
		/* what its hints say of transactions they may have been told just now */
		if (lines->settled)
			lines->settled =
				hg_heap_row_is_settled(header, scan->rs_snapshot->xmin, &lines->newest);
		if (!visible)
			continue;
		if (age.is_older)
			lines->older[(offset - 1) / 64] |= UINT64CONST(1) << (offset - 1) % 64;
		else
			lines->others[lines->nothers++] = offset;
	}
}

void
hg_heap_look_end(const HgHeapLook *look)
{
	UnlockReleaseBuffer(look->buffer);
}

/*
 * Count the rows of a page, all of which are to be seen: two line pointers at a time, whose states
 * are where engines look for them, too (engine/hg_pages_parse.h).
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
 * Where a block of a scan is likely to be that has just come to the one before: tables that were
 * read or written in one go lie in buffers one behind the other.  Rings have no such order, and
 * keep few of their buffers.
 */
static HgHeapPlace
hg_heap_place_guess(HeapScanDesc scan, HgHeapPlace before, BlockNumber block)
{
	HgHeapPlace place = {block, InvalidBuffer};

	if (scan->rs_strategy == NULL && before.recent != InvalidBuffer && before.block + 1 == block)
		place.recent = before.recent + 1;
	return place;
}

/* Leave out of a copy of a page the rows that the scan's snapshot does not see. */
static int
hg_heap_page_leave_out(TableScanDesc scan, BlockNumber block, Buffer buffer, char *copy)
{
	ItemId lines = ((PageHeader) copy)->pd_linp;
	Page page = BufferGetPage(buffer);
	/* the copy may lie where others can write to */
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

/* Is each row of a page, which is locked, to be seen by all? */
static bool
hg_heap_page_is_visible(TableScanDesc scan, Page page)
{
	return PageIsAllVisible(page) && !scan->rs_snapshot->takenDuringRecovery;
}

int
hg_heap_page_copy(TableScanDesc scan, BlockNumber block, HgHeapPlace *before, char *to)
{
	HgHeapPlace place = hg_heap_place_guess((HeapScanDesc) scan, *before, block);
	Buffer buffer = hg_heap_place_read(scan, place);
	Page page = BufferGetPage(buffer);
	int rows;

	/* others may set hint bits meanwhile, and nothing else: nobody asks the copy for these */
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!hg_heap_page_is_visible(scan, page))
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		hg_heap_page_prune(scan->rs_rd, buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
	}
	memcpy(to, page, BLCKSZ);
	rows = hg_heap_page_is_visible(scan, page) ? hg_heap_page_count(page)
											   : hg_heap_page_leave_out(scan, block, buffer, to);
	UnlockReleaseBuffer(buffer);
	*before = (HgHeapPlace){block, buffer};
	if (scan->rs_parallel == NULL && (scan->rs_flags & SO_ALLOW_SYNC) != 0)
		ss_report_location(scan->rs_rd, block);
	return rows;
}

void
hg_heap_page_end(TableScanDesc scan, TupleTableSlot *slot)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	ExecClearTuple(slot);
	if (BufferIsValid(heap->rs_cbuf))
	{
		ReleaseBuffer(heap->rs_cbuf);
		heap->rs_cbuf = InvalidBuffer;
	}
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
