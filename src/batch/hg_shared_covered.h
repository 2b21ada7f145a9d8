/*-------------------------------------------------------------------------
 *
 * hg_shared_covered.h
 *	  Covered rows of a table that the processes of a parallel query scan together.
 *
 * The leader determines the covered rows (hg_covered.h) once, before workers start, and publishes
 * them.  The graph version and the segment versions are in memory that all processes share.  The
 * query's DSA has the bits of the rows that pass a qual, and the line pointers of the delta rows
 * of blocks that are covered in part (hg_scan_resident.h).  Each process pins these versions for
 * itself.  So all processes have the same covered rows under the same numbers, and skip the same
 * blocks of the table.  The join decides which process joins which rows.
 *
 * A process that begins late must not find versions that have been freed.  The leader pins its
 * covered versions until it releases them.  A worker pins them earlier, under a lock that keeps
 * the leader from releasing.  The lock holds off interrupts, so that a worker takes only pins
 * under it, and finds its covered rows afterwards.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARED_COVERED_H
#define HG_SHARED_COVERED_H

#include "hg_compat.h"

#include "port/atomics.h"
#include "utils/dsa.h"

#include "batch/hg_covered.h"
#include "batch/hg_scan_resident.h"

/* In the query's DSM, without pointers. */
typedef struct HgSharedCovered
{
	bool covered;		  /* true if rows are covered, and the rest is valid */
	uint32 nparts;		  /* segments of the table */
	int nvalid_segments;  /* number of segments with valid blocks */
	dsa_pointer graph;	  /* in the memory of cached columns and indexes */
	dsa_pointer valid;	  /* HgValidCopy[nvalid_segments], in the query's DSA */
	dsa_pointer segments; /* HgSharedCoveredSegment[nvalid_segments], in the query's DSA */
	uint64 bytes;		  /* bytes in the query's DSA */

	/* If covered rows are uncovered: the next segment that no process has taken. */
	pg_atomic_uint32 next_part;
} HgSharedCovered;

/* Initializes the shared state: no row is covered. */
extern void hg_shared_covered_init(HgSharedCovered *shared);

/* In the leader: copies which rows of scan are covered to *shared and the area, for workers. */
extern void hg_shared_covered_publish(HgSharedCovered *shared, dsa_area *area,
									  const HgCovered *covered, const HgResidentScan *scan);

/* A worker's pins: the valid blocks of a scan, and the graph that has its covered rows. */
typedef struct HgSharedPins
{
	HgValidBlocks *valid;
	HgPinnedGraph *graph;
} HgSharedPins;

/*
 * Pins the leader's valid blocks, in pins->valid, while the leader has them pinned.  The pin lasts
 * until CurrentMemoryContext is reset or CurrentResourceOwner is released.
 */
extern void hg_shared_covered_pin_valid(const HgSharedCovered *shared, dsa_area *area,
										HgSharedPins *pins);
/* Pins the leader's graph, in pins->graph, under the same conditions and for as long. */
extern void hg_shared_covered_pin_graph(const HgSharedCovered *shared, HgSharedPins *pins);

/*
 * Covers the leader's rows in another process, in CurrentMemoryContext.  pins has their versions.
 * Makes scan, which was opened with pins->valid, skip their blocks.  See hg_covered_create() for
 * the other arguments.
 */
extern HgCovered *hg_shared_covered_attach(const HgSharedCovered *shared, dsa_area *area,
										   Relation rel, const HgGraphKey *key,
										   const HgSharedPins *pins, int ncolumns,
										   const HgResidentColumn *columns, HgResidentScan *scan);

#endif /* HG_SHARED_COVERED_H */
