/*-------------------------------------------------------------------------
 *
 * hg_join_replica_partitions.h
 *	  Finds the devices of two joined graphs, at least one of which is partitioned over several.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_REPLICA_PARTITIONS_H
#define HG_JOIN_REPLICA_PARTITIONS_H

#include "backend/matcher/hg_matcher_spec.h"
#include "resident/hg_resident_graph.h"

/* Devices that have all of a side's graph, and devices that together have its partitions. */
typedef struct HgSideDevices
{
	HgDeviceSet whole;
	HgDeviceSet partitioned;
} HgSideDevices;

/*
 * Finds the devices that have partitions of the sides' graphs, by HgSide; at[].whole is set by the
 * caller.  Returns the devices that have partitions of one side, and of the other side either
 * partitions or all of it; 0: none.
 */
extern HgDeviceSet hg_replica_find_partitions(HgPinnedGraph *const graphs[2],
											  HgReplicaCovered replica[2], HgSideDevices at[2]);

/*
 * Reports to the loader how many bytes of replicas the join needs, because no device has all of
 * them.  columns: the bytes of column replicas among them.
 */
extern void hg_replica_report_demand(HgPinnedGraph *const graphs[2], uint64 columns);

/*
 * Requests copies of the two graphs on common devices: of the smaller one where the larger is, or
 * of the one that is not partitioned where the partitions of the other are.
 */
extern void hg_replica_bring_together(HgPinnedGraph *const graphs[2], const HgSideDevices at[2]);

#endif /* HG_JOIN_REPLICA_PARTITIONS_H */
