/*-------------------------------------------------------------------------
 *
 * hg_scan_changed.h
 *	  Rows of changed blocks that are those of a segment version still.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_CHANGED_H
#define HG_SCAN_CHANGED_H

#include "access/relscan.h"

#include "batch/hg_heap_vis.h"
#include "resident/hg_resident_version.h"

/*
 * The id by which rows of a version are known in the heap: those of its blocks whose ids precede it
 * are the version's, and all others are not.  Invalid where that can't be told any more.
 */
extern TransactionId hg_changed_horizon(const HgSegmentVersion *version);

/* How it was found which rows of a block are still the version's. */
typedef enum HgChangedFound
{
	HG_CHANGED_UNTOLD = 0, /* it is not known */
	HG_CHANGED_LOOKED_AT,
	HG_CHANGED_RECALLED /* from the page visibility cache */
} HgChangedFound;

/*
 * Which rows of a version's block, whose rows are to be told from others by that id, does a scan's
 * snapshot see?  Their bits are set, of which there is one for each row of the version, and *count
 * becomes how many they are; lines tell of other rows of the block.  The block that comes next is
 * following, unless that is negative.
 */
extern HgChangedFound hg_changed_find(TableScanDesc scan, HgSegmentVersion *version,
									  const HgSegmentRows *rows, int block, int following,
									  TransactionId horizon, uint64 *bits, uint32 *count,
									  HgHeapLines *lines);

/*
 * Blocks of a segment whose older rows are had from elsewhere: without pointers, as processes that
 * scan a table together share them.
 */
typedef struct HgChangedBlocks
{
	HgBlockBits blocks;
	uint32 starts[HG_SEGMENT_BLOCKS];  /* where the lines of a block's other rows begin ... */
	uint16 counts[HG_SEGMENT_BLOCKS];  /* ... and how many they are */
	Buffer buffers[HG_SEGMENT_BLOCKS]; /* that had the page of such a block */
	uint32 nlines;
	uint32 room;
	OffsetNumber lines[FLEXIBLE_ARRAY_MEMBER]; /* [nlines] line pointers of all of them */
} HgChangedBlocks;

/*
 * Add a block with its other rows to blocks, or to NULL, which are none, in CurrentMemoryContext.
 * Returns where they are now.
 */
extern HgChangedBlocks *hg_changed_add(HgChangedBlocks *blocks, int block,
									   const HgHeapLines *lines);

/* What they take; of NULL nothing. */
extern Size hg_changed_bytes(const HgChangedBlocks *blocks);

#endif /* HG_SCAN_CHANGED_H */
