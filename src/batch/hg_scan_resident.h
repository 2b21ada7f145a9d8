/*-------------------------------------------------------------------------
 *
 * hg_scan_resident.h
 *	  Table scans of which some blocks are read from cached columns.
 *
 * The valid blocks are determined once for a scan, before its first row is read
 * (hg_resident_validity.c), and stay valid through its rescans.  The scan returns runs and blocks:
 * a caller loops over hg_resident_scan_next(), reads the rows itself, and then calls a skip
 * function.  A run has consecutive rows in the arrays of a segment version; a block must be read
 * from the heap.  The processes of a parallel query determine valid blocks independently: a block
 * has the same rows in the cache as in the heap, and one process reads it.  If rows are covered,
 * one process decides for all (hg_shared_covered.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_RESIDENT_H
#define HG_SCAN_RESIDENT_H

#include "hg_compat.h"

#include "access/relscan.h"

#include "batch/hg_batch.h"
#include "batch/hg_heap_page.h"
#include "resident/hg_resident_array.h"
#include "resident/hg_resident_validity.h"
#include "resident/hg_resident_version.h"

/* hg_scan_changed.c: rows of changed blocks that are still those of a segment version */

/*
 * Returns the horizon of a segment version: rows of its blocks whose xmin precedes it are in the
 * version, and other rows are not.  Returns InvalidTransactionId if ids have advanced too far.
 */
extern TransactionId hg_changed_horizon(const HgSegmentVersion *version);

/* How the version's rows of a block were found. */
typedef enum HgChangedFound
{
	HG_CHANGED_UNKNOWN = 0, /* unknown which rows are the version's */
	HG_CHANGED_EXAMINED,	/* by reading the page */
	HG_CHANGED_RECALLED		/* from the page visibility cache */
} HgChangedFound;

/*
 * Finds the rows of a version's changed block that the scan's snapshot sees.  Sets the bits of the
 * rows that are in the version, by row number in it, and *count to their number.  The bits of the
 * block's rows must be 0 before.  In *lines, buffer, nothers and others are then valid: the other
 * visible rows.  After HG_CHANGED_UNKNOWN no bit has changed, and *count and *lines are undefined.
 *
 * rows is hg_segment_rows() of the version, and horizon its hg_changed_horizon().  block counts
 * from the version's first block; so does following, the block of the next call, or negative.
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
 * Adds a block, counted from the segment's first, and its delta rows, lines->others, to blocks; or
 * to a new set in CurrentMemoryContext if blocks is NULL.  Returns the set, which may have moved.
 */
extern HgChangedBlocks *hg_changed_add(HgChangedBlocks *blocks, int block,
									   const HgHeapLines *lines);

/* Returns the memory that a set of changed blocks takes, in bytes; 0 for NULL. */
extern Size hg_changed_bytes(const HgChangedBlocks *blocks);

/* hg_scan_resident.c: table scans of which some blocks are read from cached columns */

typedef struct HgResidentScan HgResidentScan;

/*
 * Creates a scan in CurrentMemoryContext, and determines the blocks that are valid in all of the
 * attributes attnos[nattnos] (from 1, each once).  The table has at least nblocks blocks.  Pins
 * their versions.  Returns NULL if no block is valid, or the cache may not be used.
 */
extern HgResidentScan *hg_resident_scan_create(Relation rel, Snapshot snapshot, BlockNumber nblocks,
											   int nattnos, const AttrNumber *attnos);

/*
 * Creates a scan in CurrentMemoryContext whose valid blocks are known.  nsegments is the number of
 * segments of the whole table, cached or not (hg_segment_count).  The scan uses *valid without a
 * copy and does not free it: it must outlive the scan.
 */
extern HgResidentScan *hg_resident_scan_open(Relation rel, HgValidBlocks *valid, uint32 nsegments,
											 int nattnos, const AttrNumber *attnos);

/* The next run or block of a scan. */
typedef struct HgResidentRun
{
	/* rows left in the run; 0 if the next block must be read from the heap */
	int nrows;
	uint32 first;	/* row of the segment at which the run begins */
	uint32 segment; /* of the run */
	/* if nrows is 0: the block to read from the heap */
	HgHeapBlocks *blocks;
	BlockNumber block;
	int taken; /* rows of the block that were already read */
	/*
	 * if nrows is 0: the next block that is not valid, among the 64 blocks after this one, or
	 * InvalidBlockNumber
	 */
	BlockNumber following;
	/* the line pointers of the delta rows, if the block has covered rows; else NULL */
	const OffsetNumber *lines;
	int nlines;
	Buffer recent; /* if lines is set, the buffer that had the page */
} HgResidentRun;

/*
 * Sets *run to the next run, of which only nrows, first and segment are set, or to the next block
 * of scan.  Covered rows are passed over; after a rescan of scan, it starts again.  Repeated calls
 * return the same one until its rows are skipped.  *blocks grows by the number of valid blocks of
 * each run that begins.  Returns false at the end.  Raises an error if the versions are not pinned
 * any more in the middle of a run.
 */
extern bool hg_resident_scan_next(HgResidentScan *resident, TableScanDesc scan, HgResidentRun *run,
								  uint64 *blocks);

/* Skips the first rows of a run, which have been read. */
extern void hg_resident_scan_skip(HgResidentScan *resident, int nrows);

/*
 * Skips nrows rows of the current block, which were read from the heap.  If all is true, none is
 * left, and the block is ended.
 */
extern void hg_resident_scan_skip_block(HgResidentScan *resident, int nrows, bool all);

/*
 * Makes an unread scan that no other process shares, and its rescans, read the valid blocks of the
 * segments numbered segments[nsegments] first, in this order.  Call it once.
 */
extern void hg_resident_scan_lead(HgResidentScan *resident, uint32 nsegments,
								  const uint32 *segments);

/* A column of the segment that the scan is at. */
typedef struct HgResidentSource
{
	HgResidentColumn column;
	HgSegmentArray array;
	const HgSegmentBounds *bounds;
	HgDictionary dictionary; /* if the array has codes */
} HgResidentSource;

/*
 * Returns the column of one of the scan's attributes.  Its contents change when the scan
 * moves to another segment.
 */
extern const HgResidentSource *hg_resident_scan_source(const HgResidentScan *resident,
													   AttrNumber attno);

/* Returns the valid blocks of the scan, and sets *nsegments to the table's segments. */
extern const HgValidBlocks *hg_resident_scan_valid(const HgResidentScan *resident,
												   uint32 *nsegments);

/*
 * Makes the scan, before it is read, skip the valid blocks of a segment, because their rows are
 * covered.
 */
extern void hg_resident_scan_pass(HgResidentScan *resident, const HgValidSegment *segment);

/*
 * Skips the valid blocks of a segment, as hg_resident_scan_pass() does, and counts them as read
 * from the cache.  Adds their number to *blocks.  Returns the number of their rows.
 */
extern uint32 hg_resident_scan_cover(HgResidentScan *resident, const HgValidSegment *segment,
									 uint64 *blocks);

/*
 * Makes the scan return only lines->others of a changed block of a covered segment, because its
 * other rows are covered.  Blocks of a segment must ascend.
 */
extern void hg_resident_scan_cover_older(HgResidentScan *resident, const HgValidSegment *segment,
										 int block, const HgHeapLines *lines);

/* Returns the changed blocks of a segment whose rows are covered, or NULL. */
extern const HgChangedBlocks *hg_resident_scan_covered_older(const HgResidentScan *resident,
															 const HgValidSegment *segment);

/*
 * Makes this scan use the changed blocks of another process, which are not copied and must outlive
 * the scan.
 */
extern void hg_resident_scan_pass_older(HgResidentScan *resident, const HgValidSegment *segment,
										HgChangedBlocks *older);

/* Returns the bytes of all sets of changed blocks. */
extern Size hg_resident_scan_covered_bytes(const HgResidentScan *resident);

/* Makes the scan skip no segment, from the next rescan on. */
extern void hg_resident_scan_uncover(HgResidentScan *resident);

/*
 * Moves the columns (HgResidentSource) to a segment.  If a run is in progress, the caller must move
 * back to the segment of the run before it reads on.
 */
extern void hg_resident_scan_stand(HgResidentScan *resident, const HgValidSegment *segment);
/* Returns the segment that the columns are at, or NULL. */
extern const HgValidSegment *hg_resident_scan_stands(const HgResidentScan *resident);

#endif /* HG_SCAN_RESIDENT_H */
