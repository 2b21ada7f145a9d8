/*-------------------------------------------------------------------------
 *
 * hg_scan_resident.h
 *	  The blocks of a table scan of which some are read from cached columns.
 *
 * Which blocks are valid is determined once for a scan, when its first rows are asked for
 * (hg_resident_validity.c), and holds through its rescans.  The scan then comes block by block: as
 * RUNS of rows that lie one behind the other in the arrays of a segment version, and as blocks
 * that are to be read from the heap.  Each process of a parallel query determines it for itself: a
 * block's rows are the same wherever they are taken from, and it is taken by one process.  But
 * where rows are covered one process does so for all (hg_shared_covered.h).
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
#include "batch/hg_scan_changed.h"
#include "resident/hg_resident_array.h"
#include "resident/hg_resident_validity.h"

typedef struct HgResidentScan HgResidentScan;

/*
 * Determines the blocks of a scan that are valid in all of these attributes (from 1, each once).
 * The scan has not been read, and its table has at least nblocks blocks.  In CurrentMemoryContext;
 * NULL: no block is valid, and the scan is core's.
 */
extern HgResidentScan *hg_resident_scan_create(Relation rel, Snapshot snapshot, BlockNumber nblocks,
											   int nattnos, const AttrNumber *attnos);

/* Opens a scan whose valid blocks are known, of a table of nsegments segments. */
extern HgResidentScan *hg_resident_scan_open(Relation rel, HgValidBlocks *valid, uint32 nsegments,
											 int nattnos, const AttrNumber *attnos);

/* What a scan comes to. */
typedef struct HgResidentRun
{
	/* cached rows: the next ones of the run; nrows is 0 if the block is not valid */
	int nrows;
	uint32 first;
	uint32 segment; /* that they are of */
	/* a block to be read from the heap, where nrows is 0, of which so many rows were taken ... */
	HgHeapBlocks *blocks;
	BlockNumber block;
	int taken;
	/* ... and the next such one, or invalid; */
	BlockNumber following;
	/* if some of its rows are covered, the line pointers of the delta rows; else NULL */
	const OffsetNumber *lines;
	int nlines;
	Buffer recent; /* then, the buffer that had the page */
} HgResidentRun;

/*
 * Sets what comes next; false at the end.  It stays what comes next until all rows of the run, or
 * of the block, have been taken.  *blocks grows by the valid blocks of it.
 */
extern bool hg_resident_scan_next(HgResidentScan *resident, TableScanDesc scan, HgResidentRun *run,
								  uint64 *blocks);

/* The first rows of a run have been taken. */
extern void hg_resident_scan_skip(HgResidentScan *resident, int nrows);

/* The next rows of a block have been taken from the heap, or all that were left. */
extern void hg_resident_scan_skip_block(HgResidentScan *resident, int nrows, bool all);

/* A column of the segment that the scan stands at. */
typedef struct HgResidentSource
{
	HgResidentColumn column;
	HgSegmentArray array;
	const HgSegmentBounds *bounds;
	HgDictionary dictionary; /* where the array has one */
} HgResidentSource;

/* That of an attribute, which is one of the scan's: it stays there, and tells of each segment. */
extern const HgResidentSource *hg_resident_scan_source(const HgResidentScan *resident,
													   AttrNumber attno);

/* Returns the valid blocks of the scan. */
extern const HgValidBlocks *hg_resident_scan_valid(const HgResidentScan *resident,
												   uint32 *nsegments);

/* Passes over the valid blocks of a segment from now on: their rows are covered. */
extern void hg_resident_scan_pass(HgResidentScan *resident, const HgValidSegment *segment);

/*
 * The same, and the blocks are counted as read from the cache; *blocks grows by them.  Returns the
 * number of their rows.
 */
extern uint32 hg_resident_scan_cover(HgResidentScan *resident, const HgValidSegment *segment,
									 uint64 *blocks);

/*
 * Covers the rows of a changed block of a covered segment, all but those that lines tell of: the
 * scan comes to the latter alone.  Blocks of a segment ascend.
 */
extern void hg_resident_scan_cover_older(HgResidentScan *resident, const HgValidSegment *segment,
										 int block, const HgHeapLines *lines);

/*
 * What the scan keeps of such blocks of a segment; NULL: there are none.  And another process's,
 * which stay where they are: this one passes over their rows too.
 */
extern const HgChangedBlocks *hg_resident_scan_covered_older(const HgResidentScan *resident,
															 const HgValidSegment *segment);
extern void hg_resident_scan_pass_older(HgResidentScan *resident, const HgValidSegment *segment,
										HgChangedBlocks *older);

/* What all that takes. */
extern Size hg_resident_scan_covered_bytes(const HgResidentScan *resident);

/* From the next rescan on no segment is passed over. */
extern void hg_resident_scan_uncover(HgResidentScan *resident);

/*
 * Stand at a segment: columns are those of its rows.  Where a run has begun it is to stand where it
 * stood before the next of its rows are asked for.  NULL: it stands at none.
 */
extern void hg_resident_scan_stand(HgResidentScan *resident, const HgValidSegment *segment);
extern const HgValidSegment *hg_resident_scan_stands(const HgResidentScan *resident);

#endif /* HG_SCAN_RESIDENT_H */
