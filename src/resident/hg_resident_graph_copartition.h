/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_copartition.h
 *	  Graph versions that are co-partitioned with another graph of their table.
 *
 * If a graph is partitioned over several devices and a join has its rows look other tables up by
 * another key, the table's graph by that key is CO-PARTITIONED with it
 * (engine/hg_partitioning.h).  Each device then has the same rows of both graphs, under the same
 * numbers.  The join requests this, and names the partitioned graph by its key column.  The
 * co-partitioning is computed anew when that graph has another version or partitioning.
 *
 * A graph may also be partitioned by its own key, and have whole replicas.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_COPARTITION_H
#define HG_RESIDENT_GRAPH_COPARTITION_H

#include "hg_compat.h"

#include "engine/hg_partitioning.h"
#include "resident/hg_resident_graph_version.h"

/*
 * Requests that a graph be co-partitioned with the table's graph by this column.  At most
 * HG_GRAPH_COPARTITIONS columns are requested; a new one replaces an idle one, or is ignored.
 */
extern void hg_graph_copartition_ask(HgResidentGraph *graph, AttrNumber column);

/* Stores the requested columns in numbers[HG_GRAPH_COPARTITIONS], and returns their number. */
extern int hg_graph_copartition_asked(HgResidentGraph *graph, AttrNumber *numbers);

/* Returns the co-partitioning with a version that is partitioned over these devices, or NULL. */
extern HgGraphCopartition *hg_graph_copartition_find(HgResidentGraph *graph,
													 const HgResidentGraph *with,
													 HgDeviceSet device_set);

/*
 * Stores how the graph is co-partitioned with a partitioning of another graph; rows[] has the
 * number of rows of each partition.  Devices drop the graph's partitions of an older
 * co-partitioning with the graph of that column.  Returns NULL if there is no memory.
 */
extern HgGraphCopartition *hg_graph_copartition_add(HgResidentGraph *graph,
													const HgResidentGraph *with,
													const HgGraphPartitions *partitioning,
													const uint64 *rows);

/* Returns true if devices have all partitions of a co-partitioning. */
extern bool hg_graph_copartition_is_replicated(HgGraphCopartition *copartition,
											   const HgReplicaHolders *holders);

/* Returns true if devices have all partitions of any co-partitioning of the graph. */
extern bool hg_graph_copartition_has_replicas(HgResidentGraph *graph,
											  const HgReplicaHolders *holders);

/*
 * Returns true if a loader has work for a requested co-partitioning with this version: to compute
 * it, or to send a partition to a device.
 */
extern bool hg_graph_copartition_is_due(HgResidentGraph *graph, HgResidentGraph *with,
										const HgReplicaHolders *holders);

/*
 * Returns the partitioning of a version, or NULL if it has none over the devices that it should
 * have now.
 */
extern HgGraphPartitions *hg_graph_copartition_partitions(HgResidentGraph *with,
														  const HgReplicaHolders *holders);

#endif /* HG_RESIDENT_GRAPH_COPARTITION_H */
