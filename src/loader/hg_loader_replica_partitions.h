/*-------------------------------------------------------------------------
 *
 * hg_loader_replica_partitions.h
 *	  Partitioning graphs, and sending the rows of one.
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
 * Find out how a pinned graph of a table is partitioned over these devices, and link that to its
 * version; where there is no room for it, even if others make some, that is noted.  False: is_left
 * said to go.
 */
extern bool hg_replica_partition(HgResidentRelation key, const HgPinnedGraph *graph,
								 HgDeviceSet device_set, bool (*is_left)(void));

/* A partition of a pinned graph. */
typedef struct HgReplicaPartition
{
	const HgPinnedGraph *graph;
	const HgPinnedGraph *with; /* along with which it is partitioned; NULL: it is by its own keys */
	const HgPartitioning *partitions; /* of that, or of it */
	uint32 partition;
} HgReplicaPartition;

/* Send the edges of a partition to a job that was opened for it. */
extern HgStatus hg_replica_put_partition(HgEngine *engine, HgJob *job,
										 const HgReplicaPartition *partition, HgError *error);

/*
 * Count the rows that a graph has in each partition of another one of its table, rows[count].
 * False: is_left said to go.
 */
extern bool hg_replica_count_copartition(const HgPinnedGraph *graph, const HgPinnedGraph *with,
										 const HgPartitioning *partitions, uint64 *rows,
										 bool (*is_left)(void));

/*
 * Of values[count] of a part's rows from first on, which is a multiple of 64, each width bytes, and
 * bytes that tell NULL, or NULL: bring those of a partition's rows together at the beginning.
 * Returns how many there are, and *number is that of the first of them in the partition.
 */
extern uint32 hg_replica_select_partition(const HgPartitioning *partitions, uint32 partition,
										  uint32 part, uint32 first, uint32 count, uint32 width,
										  const void *values, const uint8 *nulls, void *to,
										  uint8 *nulls_to, uint64 *number);

#endif /* HG_LOADER_REPLICA_PARTITIONS_H */
