/*-------------------------------------------------------------------------
 *
 * hg_loader_replica_partitions.h
 *	  Computes partitionings of graphs, and sends partitions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_REPLICA_PARTITIONS_H
#define HG_LOADER_REPLICA_PARTITIONS_H

#include "hg_compat.h"

#include "resident/hg_resident_graph.h"

/*
 * Computes how a pinned graph is partitioned over these devices, and links that to its version.
 * If the area has no room even after evictions, that is noted in the version.  Returns false if
 * is_left returned true.
 */
extern bool hg_replica_partition(HgResidentRelation key, const HgPinnedGraph *graph,
								 HgDeviceSet device_set, bool (*is_left)(void));

/* A partition of a pinned graph to be sent. */
typedef struct HgReplicaPartition
{
	const HgPinnedGraph *graph;
	const HgPinnedGraph
		*with; /* graph that it is co-partitioned with; NULL: partitioned by its own key */
	const HgPartitioning *partitions; /* of with, or else of graph */
	uint32 partition;
} HgReplicaPartition;

/* Sends the edges of a partition to a job that was opened for it. */
extern HgStatus hg_replica_put_partition(HgEngine *engine, HgJob *job,
										 const HgReplicaPartition *partition, HgError *error);

/*
 * Counts the rows that a graph has in each partition of another graph of its table, in
 * rows[partitions->count].  Returns false if is_left returned true.
 */
extern bool hg_replica_count_copartition(const HgPinnedGraph *graph, const HgPinnedGraph *with,
										 const HgPartitioning *partitions, uint64 *rows,
										 bool (*is_left)(void));

/*
 * Copies values of a partition's rows to the beginning of to, and their NULL flags to nulls_to.
 * values[count], width bytes each, and nulls[count] (or NULL) are those of a part's rows from
 * first on, a multiple of 64.  Returns the number of copied values.  *number is the row number in
 * the partition of the first.
 */
extern uint32 hg_replica_select_partition(const HgPartitioning *partitions, uint32 partition,
										  uint32 part, uint32 first, uint32 count, uint32 width,
										  const void *values, const uint8 *nulls, void *to,
										  uint8 *nulls_to, uint64 *number);

#endif /* HG_LOADER_REPLICA_PARTITIONS_H */
