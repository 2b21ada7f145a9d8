/*-------------------------------------------------------------------------
 *
 * hg_scan_changed.c
 *	  Rows of changed blocks that are still those of a segment version.
 *
 * A block in which one row has changed is not valid, but its other rows are unchanged.  A
 * HashGraph of the version may still be used for them.  It only takes to find out which rows they
 * are; their values are not read.
 *
 * Claim: a version's horizon is the xmin of a snapshot that was taken before its first block was
 * read.  A row in one of its blocks whose raw xmin precedes the horizon is the row that the
 * version has for that line pointer.
 *
 * Proof: an inserting transaction has its own id, or a subtransaction's, whose parent's is
 * smaller, and is running.  If the row was inserted after the block was read, its transaction had
 * not ended when the snapshot was taken, so that its id does not precede the horizon.  So the row
 * was inserted before the block was read.  It was on the page then: a row keeps its line pointer
 * from its insertion until it is removed, and does not come back.  Blocks that are truncated and
 * filled again get younger rows.  The version has copies of all rows of the block.  And a row is
 * not changed in place, except for its header and by catalog changes.  Freezing keeps the raw
 * xmin; versions of PostgreSQL before 9.4 put an id there that precedes all others.  For rows
 * older than the horizon by half of all ids, the comparison may fail; they are then read from the
 * heap.  A horizon is used only while no newer id can be taken for an older one.
 *
 * Visibility of these rows is determined as by any scan of the heap: under the page's lock, by
 * line pointers and headers (hg_heap_vis.c).  An entry of the page visibility cache
 * (hg_page_vis.h) is used instead if it must still hold.  While the snapshot is registered, the
 * answer stays the same, and so does that for the block's other rows.  These may be read at any
 * later time, and each row is found once.  Their addresses may change: a later reader takes the
 * page's lock again, after the pin.  test/t/cache_graph_joins.pl has blocks of every kind changed,
 * in each way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/pg_bitutils.h"

#include "batch/hg_scan_resident.h"

/* Ids after which a horizon is not used any more: half of what can be compared. */
#define HG_HORIZON_IDS (UINT64CONST(1) << 30)

TransactionId
hg_changed_horizon(const HgSegmentVersion *version)
{
	uint64 next = U64FromFullTransactionId(ReadNextFullTransactionId());

	if (next - U64FromFullTransactionId(version->horizon) > HG_HORIZON_IDS)
		return InvalidTransactionId;
	return XidFromFullTransactionId(version->horizon);
}

/* Sets the bits of rows first + i whose bits in words[] are set. */
static void
hg_changed_set(uint64 *bits, uint32 first, const uint64 *words, uint32 nrows)
{
	uint32 shift = first % 64;

	for (uint32 i = 0; i < nrows; i += 64)
	{
		uint64 word = words[i / 64];

		bits[(first + i) / 64] |= word << shift;
		if (shift > 0 && word >> (64 - shift) != 0)
			bits[(first + i) / 64 + 1] |= word >> (64 - shift);
	}
}

/*
 * Applies a cached entry of a block with the rows first .. end - 1.  Sets the bits of the visible
 * rows, and *lines to the other visible rows.  Returns the number of bits set.
 */
static uint32
hg_changed_recall(const HgPageVis *vis, uint32 first, uint32 end, uint64 *bits, HgHeapLines *lines)
{
	if (vis->gone)
		hg_segment_set_bits(bits, first, end);
	for (int i = 0; i < vis->nrows; i++)
	{
		uint32 row = first + vis->rows[i];

		/* the entry's rows are the exceptions, so their bits are flipped */
		bits[row / 64] ^= UINT64CONST(1) << row % 64;
	}
	lines->nothers = vis->nothers;
	memcpy(lines->others, vis->rows + vis->nrows, vis->nothers * sizeof(OffsetNumber));
	return vis->gone ? end - first - vis->nrows : vis->nrows;
}

/*
 * Stores an entry for a block of nrows rows, of which count are visible and have bits in seen[].
 * An entry has few rows; other blocks are not stored.
 */
static void
hg_changed_store(HgSegmentVersion *version, int block, TransactionId xmin, XLogRecPtr lsn,
				 uint32 nrows, const uint64 *seen, uint32 count, const HgHeapLines *lines)
{
	HgPageVis vis = {.lsn = lsn, .newest = lines->newest, .gone = nrows - count <= count};

	if (!lines->xids_ended ||
		(vis.gone ? nrows - count : count) + lines->nothers > HG_PAGE_VIS_ROWS)
		return;
	for (uint32 i = 0; i < nrows; i += 64)
	{
		uint64 word = vis.gone ? ~seen[i / 64] : seen[i / 64];

		if (nrows - i < 64)
			word &= (UINT64CONST(1) << (nrows - i)) - 1;
		for (; word != 0; word &= word - 1)
			vis.rows[vis.nrows++] = (uint16) (i + pg_rightmost_one_pos64(word));
	}
	vis.nothers = (uint8) lines->nothers;
	memcpy(vis.rows + vis.nrows, lines->others, lines->nothers * sizeof(OffsetNumber));
	hg_page_vis_store(&version->page_vis, block, xmin, &vis, lines->buffer);
}

/* Returns the block of a version and its last known buffer; invalid if block is negative. */
static HgRecentBlock
hg_changed_recent_block(HgSegmentVersion *version, int block)
{
	if (block < 0)
		return (HgRecentBlock){InvalidBlockNumber, InvalidBuffer};
	return (HgRecentBlock){version->first + block, hg_page_vis_buffer(&version->page_vis, block)};
}

HgChangedFound
hg_changed_find(TableScanDesc scan, HgSegmentVersion *version, const HgSegmentRows *rows, int block,
				int following, TransactionId horizon, uint64 *bits, uint32 *count,
				HgHeapLines *lines)
{
	TransactionId xmin = scan->rs_snapshot->xmin;
	uint32 first = rows->first_rows[block];
	uint32 nrows = rows->first_rows[block + 1] - first;
	uint64 seen[HG_LINE_WORDS] = {0}; /* by row, while lines is by line pointer */
	uint32 known = 0;
	HgHeapVis page;
	HgPageVis vis;
	XLogRecPtr lsn;

	hg_heap_vis_begin(&page, scan, hg_changed_recent_block(version, block),
					  hg_changed_recent_block(version, following));
	lines->buffer = page.buffer;
	lsn = hg_heap_vis_lsn(&page);
	if (hg_page_vis_find(&version->page_vis, block, lsn, xmin, &vis))
	{
		hg_page_vis_set_buffer(&version->page_vis, block, page.buffer);
		hg_heap_vis_end(&page);
		*count = hg_changed_recall(&vis, first, first + nrows, bits, lines);
		return HG_CHANGED_RECALLED;
	}
	hg_heap_vis_lines(&page, horizon, lines);
	/* hint bits may have been WAL-logged */
	lsn = hg_heap_vis_lsn(&page);
	hg_heap_vis_end(&page);
	*count = 0;
	for (int i = 0; i < HG_LINE_WORDS; i++)
		*count += pg_popcount64(lines->older[i]);
	if (hg_segment_is_dense(rows, block))
	{
		/* bits behind the version's rows are of other line pointers */
		memcpy(seen, lines->older, sizeof(seen));
		for (uint32 i = 0; i < nrows; i += 64)
			known +=
				pg_popcount64(nrows - i < 64 ? seen[i / 64] & ((UINT64CONST(1) << (nrows - i)) - 1)
											 : seen[i / 64]);
	}
	else
		for (uint32 i = 0; i < nrows; i++)
		{
			uint32 line = hg_segment_offset(rows, block, (int) i) - 1;
			uint64 bit = lines->older[line / 64] >> line % 64 & 1;

			seen[i / 64] |= bit << i % 64;
			known += (uint32) bit;
		}
	/* every older row must be one of the version's */
	if (known != *count)
		return HG_CHANGED_UNKNOWN;
	hg_changed_set(bits, first, seen, nrows);
	hg_changed_store(version, block, xmin, lsn, nrows, seen, *count, lines);
	return HG_CHANGED_EXAMINED;
}

HgChangedBlocks *
hg_changed_add(HgChangedBlocks *blocks, int block, const HgHeapLines *lines)
{
	uint32 nlines = blocks != NULL ? blocks->nlines : 0;
	uint32 end = nlines + lines->nothers;

	if (blocks == NULL || end > blocks->room)
	{
		uint32 room = Max(end, 2 * nlines);
		Size bytes = offsetof(HgChangedBlocks, lines) + room * sizeof(OffsetNumber);

		blocks = blocks == NULL ? palloc0(bytes) : repalloc(blocks, bytes);
		blocks->room = room;
	}
	hg_block_bits_set(&blocks->blocks, block);
	blocks->starts[block] = nlines;
	blocks->counts[block] = (uint16) lines->nothers;
	blocks->buffers[block] = lines->buffer;
	if (lines->nothers > 0)
		memcpy(blocks->lines + nlines, lines->others, lines->nothers * sizeof(OffsetNumber));
	blocks->nlines = end;
	return blocks;
}

Size
hg_changed_bytes(const HgChangedBlocks *blocks)
{
	return blocks != NULL ? offsetof(HgChangedBlocks, lines) + blocks->room * sizeof(OffsetNumber)
						  : 0;
}
