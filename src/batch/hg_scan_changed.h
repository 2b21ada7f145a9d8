/*-------------------------------------------------------------------------
 *
 * hg_scan_changed.h
 *	  Rows of changed blocks that are still those of a segment version.
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
 * Returns the horizon of a version: rows of its blocks whose xmin precedes it are the version's,
 * and other rows are not.  Returns InvalidTransactionId if ids have advanced too far to know.
 */
extern TransactionId hg_changed_horizon(const HgSegmentVersion *version);

/* How the version's rows of a block were found. */
typedef enum HgChangedFound
{
	HG_CHANGED_UNKNOWN = 0, /* unknown which rows are the version's */
	HG_CHANGED_EXAMINED,
	HG_CHANGED_RECALLED /* from the page visibility cache */
} HgChangedFound;

/*
 * Finds the rows of a version's changed block that the scan's snapshot sees.  Sets the bits of
 * those that are the version's, by row number in the version, and *count to their number.  *lines
 * gets the line pointers of the other visible rows.  following is the block that comes next, or
 * negative.  horizon is hg_changed_horizon()'s.
 */
extern HgChangedFound hg_changed_find(TableScanDesc scan, HgSegmentVersion *version,
									  const HgSegmentRows *rows, int block, int following,
									  TransactionId horizon, uint64 *bits, uint32 *count,
									  HgHeapLines *lines);

/*
 * Changed blocks of a segment whose unchanged rows are covered.  It has no pointers, so that
 * processes of a parallel scan can share it.
 */
typedef struct HgChangedBlocks
{
	HgBlockBits blocks;
	uint32 starts[HG_SEGMENT_BLOCKS];  /* start of the block's delta rows in lines */
	uint16 counts[HG_SEGMENT_BLOCKS];  /* number of the block's delta rows */
	Buffer buffers[HG_SEGMENT_BLOCKS]; /* the buffer that had the page */
	uint32 nlines;
	uint32 room;
	OffsetNumber lines[FLEXIBLE_ARRAY_MEMBER]; /* [nlines] line pointers of all delta rows */
} HgChangedBlocks;

/*
 * Adds a block and its delta rows to blocks, or to a new set if blocks is NULL, in
 * CurrentMemoryContext.  Returns the set, which may have moved.
 */
extern HgChangedBlocks *hg_changed_add(HgChangedBlocks *blocks, int block,
									   const HgHeapLines *lines);

/* Returns the bytes of a set; 0 for NULL. */
extern Size hg_changed_bytes(const HgChangedBlocks *blocks);

#endif /* HG_SCAN_CHANGED_H */
