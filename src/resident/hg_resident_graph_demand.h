/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_demand.h
 *	  The device memory that joins need beside a graph version.
 *
 * A device answers a join if it has all replicas that the join needs: the graphs of its tables,
 * and columns.  Each may fit a device, but not all together.  Then they would evict each other in
 * turn, and no join would ever be answered by a device.  So a join that was not answered REPORTS
 * the memory that it needs in total, with the graph to partition over several devices for it.  The
 * loader, which knows the devices' memory for replicas, partitions it as it does a graph that is
 * too large alone.
 *
 * One graph of a table is partitioned for that, and the others are co-partitioned with it
 * (hg_resident_graph_copartition.h).  Those get no whole replicas, unless a join has requested one
 * since: the last request counts.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_DEMAND_H
#define HG_RESIDENT_GRAPH_DEMAND_H

#include "hg_compat.h"

#include "port/atomics.h"

/* Least device memory that a join needs, in bytes. */
typedef struct HgGraphDemand
{
	uint64 partitioning; /* divided among devices if the graph is partitioned */
	uint64 whole;		 /* needed by each device */
} HgGraphDemand;

/* The needs of the join that reported last, in shared memory. */
typedef struct HgGraphWishes
{
	pg_atomic_uint64 partitioning; /* as in HgGraphDemand; both 0: no report */
	pg_atomic_uint64 whole;
	pg_atomic_uint64 most_weighed; /* largest total that the graph was not partitioned for */
	pg_atomic_uint64 weighed_at;   /* when that was decided last; 0: never */
	pg_atomic_uint64 whole_at;	   /* when a join last requested a whole replica; 0: never */
} HgGraphWishes;

/* Sets all members to 0. */
extern void hg_graph_wishes_init(HgGraphWishes *wishes);

/* Store the needs of a join, and return the needs that were stored last. */
extern void hg_graph_wishes_store(HgGraphWishes *wishes, const HgGraphDemand *demand);
extern HgGraphDemand hg_graph_wishes_load(HgGraphWishes *wishes);

/*
 * hg_graph_wishes_are_due returns true if a loader shall decide whether to partition the graph:
 * the needs have exceeded those it decided on before, or that was HG_REPLICA_RETRY_MS ago.
 * hg_graph_wishes_set_weighed notes the decision against it.
 */
extern bool hg_graph_wishes_are_due(HgGraphWishes *wishes);
extern void hg_graph_wishes_set_weighed(HgGraphWishes *wishes);

/* Returns the bytes that each of several devices needs; with 1 nothing is partitioned. */
static inline uint64
hg_graph_demand_each(const HgGraphDemand *demand, uint32 devices)
{
	return demand->partitioning / devices + demand->whole;
}

#endif /* HG_RESIDENT_GRAPH_DEMAND_H */
