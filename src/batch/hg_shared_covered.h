/*-------------------------------------------------------------------------
 *
 * hg_shared_covered.h
 *	  Covered rows of a table that the processes of a parallel query scan together.
 *
 * The leader determines the covered rows (hg_covered.h) once, before there are workers, and tells
 * them.  The graph version and the segment versions lie in memory that all processes share.  The
 * query's DSA has the bits of the rows that pass a qual, and the line pointers of the delta rows
 * of blocks that are covered in part (hg_scan_changed.h).  Each process pins these versions for
 * itself.  So all processes have the same covered rows under the same numbers, and pass over the
 * same blocks of the table.  The join decides which process joins what.
 *
 * A process that begins late must not find versions that have been freed.  The leader HOLDS what
 * it has covered until it lets go.  A worker pins it before that, under a lock that keeps the
 * leader from letting go.  Only pins are taken under the lock, because it holds off interrupts:
 * pinned versions stay as they are, so that the worker finds its covered rows after it.
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

/* In the query's DSM: no pointers. */
typedef struct HgSharedCovered
{
	bool covered;		  /* true if rows are covered, and the rest is valid */
	uint32 nparts;		  /* segments of the table */
	int nvalid_segments;  /* number of segments with valid blocks */
	dsa_pointer graph;	  /* in the memory of residents */
	dsa_pointer valid;	  /* HgValidCopy[nvalid_segments], in the query's DSA */
	dsa_pointer segments; /* HgSharedCoveredSegment[nvalid_segments] likewise */
	uint64 bytes;		  /* that this takes there */

	/* the next segment, where covered rows are read after all: each by one process */
	pg_atomic_uint32 next_part;
} HgSharedCovered;

/* Sets that no row is covered. */
extern void hg_shared_covered_init(HgSharedCovered *shared);

/* Publishes the covered rows of a scan for other processes. */
extern void hg_shared_covered_publish(HgSharedCovered *shared, dsa_area *area,
									  const HgCovered *covered, const HgResidentScan *scan);

/* What a worker pins of a scan: its valid blocks, and the graph that has its covered rows. */
struct HgSharedPins
{
	HgValidBlocks *valid;
	HgPinnedGraph *graph;
};

/*
 * Pin either while the leader holds it, until CurrentMemoryContext is reset or CurrentResourceOwner
 * released.
 */
extern void hg_shared_covered_pin_valid(const HgSharedCovered *shared, dsa_area *area,
										HgSharedPins *pins);
extern void hg_shared_covered_pin_graph(const HgSharedCovered *shared, HgSharedPins *pins);

/*
 * Covers the leader's rows in another process, which has pinned their versions, in
 * CurrentMemoryContext.  The scan passes over them.  See hg_covered_create().
 */
extern HgCovered *hg_shared_covered_attach(const HgSharedCovered *shared, dsa_area *area,
										   Relation rel, const HgGraphKey *key,
										   const HgSharedPins *pins, int ncolumns,
										   const HgResidentColumn *columns, HgResidentScan *scan);

#endif /* HG_SHARED_COVERED_H */
