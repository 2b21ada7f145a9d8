/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_needs.h
 *	  What joins need of devices beside a graph version.
 *
 * A device answers a join where it has all replicas that this takes: the graphs of its tables, and
 * columns of theirs.  Each of them may be small enough for a device, and all together too large for
 * any: then they come and go, and no join is ever answered.  So a join that was not answered TELLS
 * what it needs together, with the graph that would be partitioned over several devices for it, and
 * the loader, which knows their memory for replicas, partitions it as one that is too large by
 * itself.
 *
 * One graph of a table is partitioned for that, and the others are co-partitioned with it
 * (hg_resident_graph_copartition.h).  Those are not given to a device whole, unless a join has
 * wanted it since: what joins wanted last counts.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_NEEDS_H
#define HG_RESIDENT_GRAPH_NEEDS_H

#include "hg_compat.h"

#include "port/atomics.h"

/* Bytes of devices' memory, at least. */
typedef struct HgGraphNeeds
{
	uint64 partitioning; /* where the graph is partitioned each device has a part of these ... */
	uint64 whole;		 /* ... beside all of these */
} HgGraphNeeds;

/* Those of the join that has told last, in shared memory; and when one wanted the graph whole. */
typedef struct HgGraphWishes
{
	pg_atomic_uint64 partitioning; /* HgGraphNeeds; both are 0: none has told */
	pg_atomic_uint64 whole;
	pg_atomic_uint64 most_weighed; /* bytes, together, that the graph was not partitioned for ... */
	pg_atomic_uint64 weighed_at;   /* ... and when that was decided last; 0: never */
	pg_atomic_uint64 whole_at;	   /* 0: never */
} HgGraphWishes;

extern void hg_graph_wishes_init(HgGraphWishes *wishes);

extern void hg_graph_wishes_tell(HgGraphWishes *wishes, const HgGraphNeeds *needs);
extern HgGraphNeeds hg_graph_wishes_told(HgGraphWishes *wishes);

/*
 * Is it to be decided whether the graph is partitioned for what has been told?  So it is for more
 * than was weighed before, and else now and then.  It was, and the graph is not.
 */
extern bool hg_graph_wishes_are_due(HgGraphWishes *wishes);
extern void hg_graph_wishes_set_weighed(HgGraphWishes *wishes);

/* How much of it each of so many devices needs a replica of; 1: where nothing is partitioned. */
static inline uint64
hg_graph_needs_each(const HgGraphNeeds *needs, uint32 devices)
{
	return needs->partitioning / devices + needs->whole;
}

#endif /* HG_RESIDENT_GRAPH_NEEDS_H */
