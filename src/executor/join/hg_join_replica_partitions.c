/*-------------------------------------------------------------------------
 *
 * hg_join_replica_partitions.c
 *	  Finds the devices of two joined graphs, at least one of which is partitioned over several.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_replica_partitions.h"

/* Returns the devices that have both sides, at least one of them in partitions; 0: none. */
static HgDeviceSet
hg_replica_partitioned_devices(HgReplicaCovered replica[2], const HgSideDevices at[2])
{
	if (at[HG_OUTER].partitioned != 0 && at[HG_OUTER].partitioned == at[HG_INNER].partitioned)
		return at[HG_OUTER].partitioned;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgSide other = hg_other_side((HgSide) side);

		if (at[side].partitioned != 0 &&
			(at[other].whole & at[side].partitioned) == at[side].partitioned)
		{
			replica[other].partitions = NULL;
			return at[side].partitioned;
		}
	}
	return 0;
}

HgDeviceSet
hg_replica_find_partitions(HgPinnedGraph *const graphs[2], HgReplicaCovered replica[2],
						   HgSideDevices at[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		at[side].partitioned = hg_resident_graph_partitioned(graphs[side], &replica[side].use,
															 &replica[side].partitions);
	return hg_replica_partitioned_devices(replica, at);
}

/* Returns the side of the larger graph. */
static HgSide
hg_replica_larger(HgPinnedGraph *const graphs[2])
{
	return graphs[HG_OUTER]->flat.rows > graphs[HG_INNER]->flat.rows ? HG_OUTER : HG_INNER;
}

void
hg_replica_report_demand(HgPinnedGraph *const graphs[2], uint64 columns)
{
	/* the smaller graph is partitioned with the larger, or too small to matter */
	const HgGraphDemand demand = {.partitioning = hg_resident_graph_least_bytes(graphs[HG_OUTER]) +
												  hg_resident_graph_least_bytes(graphs[HG_INNER]) +
												  columns};

	hg_resident_graph_report_demand(graphs[hg_replica_larger(graphs)], &demand);
}

void
hg_replica_bring_together(HgPinnedGraph *const graphs[2], const HgSideDevices at[2])
{
	const HgSide larger = hg_replica_larger(graphs);
	const HgSide smaller = hg_other_side(larger);

	if (at[larger].partitioned != 0)
		hg_resident_graph_bring_partitions(graphs[smaller], at[larger].partitioned);
	else if (at[smaller].partitioned != 0)
		hg_resident_graph_bring_partitions(graphs[larger], at[smaller].partitioned);
	else if (at[larger].whole != 0 && at[smaller].whole != 0)
		hg_resident_graph_bring(graphs[smaller], at[larger].whole);
}
