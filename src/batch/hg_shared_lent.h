/*-------------------------------------------------------------------------
 *
 * hg_shared_lent.h
 *	  Lent rows of a table that the processes of a parallel query scan together.
 *
 * Which rows are lent (hg_lent.h) is decided once, by the leader before there are workers, and told
 * to them: the graph version and the versions of segments, which lie in the memory of all, and the
 * bits of the rows that a qual leaves, in the query's DSA, beside line pointers of what is to be
 * read of blocks of which some rows are lent (hg_scan_changed.h).  Each process pins these versions
 * for itself.  So all of them have the same lent rows under the same numbers, and pass over the
 * same blocks of the table; whoever is to join what is whose is the join's to say.
 *
 * A process that begins late must not find versions that have been freed.  The leader HOLDS what it
 * has lent until it says otherwise.  A worker pins it while that is so, under a lock that keeps the
 * leader from letting go.  Pins alone are taken under the lock, because it holds off interrupts:
 * pinned versions stay as they are, so that the worker finds its lent rows after it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARED_LENT_H
#define HG_SHARED_LENT_H

#include "hg_compat.h"

#include "port/atomics.h"
#include "utils/dsa.h"

#include "batch/hg_lent.h"
#include "batch/hg_scan_resident.h"

/* In the query's DSM: no pointers. */
typedef struct HgSharedLent
{
	bool lent;			  /* rows are, and the rest is valid */
	uint32 nparts;		  /* segments of the table */
	int nserved;		  /* ... of which so many are served */
	dsa_pointer graph;	  /* in the memory of residents */
	dsa_pointer served;	  /* HgServedCopy[nserved], in the query's DSA */
	dsa_pointer segments; /* HgSharedLentSegment[nserved] likewise */
	uint64 bytes;		  /* that this takes there */

	/* the next segment, where lent rows are read after all: each by one process */
	pg_atomic_uint32 next_part;
} HgSharedLent;

/* Nothing is lent. */
extern void hg_shared_lent_init(HgSharedLent *shared);

/* Tell others of lent rows of a scan. */
extern void hg_shared_lent_publish(HgSharedLent *shared, dsa_area *area, const HgLent *lent,
								   const HgResidentScan *scan);

/* What a worker pins of a scan: what is served of it, and the graph that its rows are lent from. */
struct HgSharedPins
{
	HgServed *served;
	HgPinnedGraph *graph;
};

/*
 * Pin either while the leader holds it, until CurrentMemoryContext is reset or CurrentResourceOwner
 * released.
 */
extern void hg_shared_lent_pin_served(const HgSharedLent *shared, dsa_area *area,
									  HgSharedPins *pins);
extern void hg_shared_lent_pin_graph(const HgSharedLent *shared, HgSharedPins *pins);

/*
 * Lend the leader's rows in another process, which has pinned their versions, in
 * CurrentMemoryContext; its scan passes over them.  See hg_lent_create().
 */
extern HgLent *hg_shared_lent_attach(const HgSharedLent *shared, dsa_area *area, Relation rel,
									 const HgGraphKey *key, const HgSharedPins *pins, int ncolumns,
									 const HgResidentColumn *columns, HgResidentScan *scan);

#endif /* HG_SHARED_LENT_H */
