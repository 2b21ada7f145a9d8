/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_copartition.h
 *	  Graph versions that are co-partitioned with another one of their table.
 *
 * Where rows of a graph that is partitioned over several devices look others up by another key, the
 * graph by that key is CO-PARTITIONED with it (engine/hg_partitioning.h): each device has those of
 * its rows that it has of the graph that is partitioned, under the same numbers.  Joins ask for
 * that by the column which the graph is by that is partitioned; and it is found out anew where that
 * has another version, or is partitioned otherwise.
 *
 * It may be partitioned by its own keys as well, and be whole somewhere.
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

/* Ask for a graph to be co-partitioned with that of its table by this column. */
extern void hg_graph_copartition_ask(HgResidentGraph *graph, AttrNumber column);

/*
 * The columns of those that it is asked to be co-partitioned with, numbers[HG_GRAPH_COPARTITIONS].
 */
extern int hg_graph_copartition_asked(HgResidentGraph *graph, AttrNumber *numbers);

/*
 * How it is co-partitioned with a version that is partitioned over these devices; NULL: it is not.
 */
extern HgGraphCopartition *hg_graph_copartition_find(HgResidentGraph *graph,
													 const HgResidentGraph *with,
													 HgDeviceSet device_set);

/*
 * Note how it is, with so many rows in each partition; what devices have of it as it was
 * co-partitioned with an older version is let go of.  NULL: there is no room.
 */
extern HgGraphCopartition *hg_graph_copartition_add(HgResidentGraph *graph,
													const HgResidentGraph *with,
													const HgGraphPartitions *partitioning,
													const uint64 *rows);

/*
 * Have all devices their partitions, as far as is known here?  And of one of the ways it is
 * partitioned?
 */
extern bool hg_graph_copartition_is_replicated(HgGraphCopartition *copartition,
											   const HgReplicaHolders *holders);
extern bool hg_graph_copartition_has_replicas(HgResidentGraph *graph,
											  const HgReplicaHolders *holders);

/*
 * Is it to be found out how it is co-partitioned with the newest version by a key that it is asked
 * for, or is a partition to be given to a device?
 */
extern bool hg_graph_copartition_is_due(HgResidentGraph *graph, HgResidentGraph *with,
										const HgReplicaHolders *holders);

/*
 * A version that is partitioned, as it is to be, over places whose devices are known; NULL: it is
 * not.
 */
extern HgGraphPartitions *hg_graph_copartition_partitions(HgResidentGraph *with,
														  const HgReplicaHolders *holders);

#endif /* HG_RESIDENT_GRAPH_COPARTITION_H */
