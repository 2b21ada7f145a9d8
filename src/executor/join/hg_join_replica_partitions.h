/*-------------------------------------------------------------------------
 *
 * hg_join_replica_partitions.h
 *	  Where two graphs that are joined are, if one of them at least is partitioned over several
 *	  devices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_REPLICA_PARTITIONS_H
#define HG_JOIN_REPLICA_PARTITIONS_H

#include "backend/matcher/hg_matcher_spec.h"
#include "resident/hg_resident_graph.h"

/*
 * The devices that have a replica of a side's graph, and those that have all partitions of it
 * together.
 */
typedef struct HgSideDevices
{
	HgDeviceSet whole;
	HgDeviceSet partitioned;
} HgSideDevices;

/*
 * Find out which devices have partitions of the sides' graphs, by HgSide, where those that have all
 * of them are known.  The places of devices that have partitions of one side, and of the other one
 * either partitions, too, or all of it; 0: there are none.
 */
extern HgDeviceSet hg_replica_find_partitions(HgPinnedGraph *const graphs[2],
											  HgReplicaCovered replica[2], HgSideDevices at[2]);

/*
 * No device has all that is asked for: tell the loader, which gives devices their replicas, how
 * many bytes the join needs, and how many of these are columns.
 */
extern void hg_replica_tell_needs(HgPinnedGraph *const graphs[2], uint64 columns);

/*
 * Different devices have the replicas of the two sides' graphs: have the smaller brought to the
 * larger, or that which is not partitioned to the one that is.
 */
extern void hg_replica_bring_together(HgPinnedGraph *const graphs[2], const HgSideDevices at[2]);

#endif /* HG_JOIN_REPLICA_PARTITIONS_H */
