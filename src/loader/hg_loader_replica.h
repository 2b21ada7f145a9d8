/*-------------------------------------------------------------------------
 *
 * hg_loader_replica.h
 *	  Sends replicas of a table's graphs to devices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_REPLICA_H
#define HG_LOADER_REPLICA_H

#include "hg_compat.h"

#include "backend/hg_cleanup.h"
#include "loader/hg_loader_column.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_key.h"

/*
 * Sends the replicas of a table's graphs and their columns that device processes shall have and do
 * not have, until is_left returns true: the loader must exit.  A replica that a process refuses is
 * sent again later.  No transaction is open before or after.  Memory comes from context.
 */
extern void hg_loader_replicate_graphs(HgResidentRelation key, bool (*is_left)(void),
									   MemoryContext context);

/*
 * Sends columns of a graph's rows to a device: which values, and in which form.
 *
 * A column has the rows of the segment versions that the graph lists.  If one of them has been
 * replaced there is no replica: the next graph version comes soon, and its columns have the newer
 * versions.
 *
 * Values in arrays of a width that an engine supports are sent as they are.  Numerics that all
 * have one display scale are sent as scaled integers.  Of other types, columns with few distinct
 * and no long values are sent as codes that are the same in the whole table
 * (resident/hg_resident_graph_version.h).  Codes are computed here from the dictionaries of
 * segments, or from the values of a segment without one.
 */

/* A column of a pinned graph's rows. */
typedef struct HgReplicaColumn
{
	HgCleanup cleanup; /* of pins */
	HgResidentColumn column;
	bool (*is_left)(void);
	uint32 nparts;
	dsa_pointer *versions; /* [nparts] pinned; invalid: the graph has no rows of the segment */
	uint8 *nulls;		   /* [HG_REPLICA_ROWS] NULL flags to send */
	int scale;			   /* display scale of scaled integers; -1: none */
	HgCodes *codes;		   /* of values that are sent as codes; or NULL */
	uint16 **of_parts;	   /* [nparts] codes to send, by the segment's own code; or NULL */
	void *put;			   /* [HG_REPLICA_ROWS] codes or scaled integers to send */
	void *selected; /* [HG_REPLICA_ROWS] values of a partition's rows to send; NULL until used */
	uint8 *selected_nulls; /* [HG_REPLICA_ROWS] their NULL flags */
	HgReplicaColumnSpec spec;
} HgReplicaColumn;

/*
 * Pins the column's versions and computes its codes or scale.  The result lies in
 * CurrentMemoryContext.  Returns NULL if the column can have no replica, or is_left returned true.
 */
extern HgReplicaColumn *hg_replica_column_pin(HgResidentRelation key, const HgPinnedGraph *graph,
											  AttrNumber number, bool (*is_left)(void));
/* Unpins the segment versions that the column replica is made of. */
extern void hg_replica_column_unpin(HgReplicaColumn *replica);

/*
 * Sends the values of all rows, or if partitions is not NULL those of one partition's rows, to a
 * job that makes the replica (HgStoreCalls.put_values).  Returns the engine's status.
 */
extern HgStatus hg_replica_column_put(HgReplicaColumn *replica, HgEngine *engine, HgJob *job,
									  const HgPartitioning *partitions, uint32 partition,
									  HgError *error);

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

/* Sends the edges of a partition to a job that makes its replica (HgStoreCalls.put_edges). */
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
 * Copies the values of those rows of a part that are in a partition to `to`, and their NULL flags
 * to nulls_to.  values[count], of width bytes each, and nulls[count] (or NULL) are those of the
 * part's rows from row `first` on, which is a multiple of 64.  Returns the number of copied values.
 * *number becomes the number that the first of them has in the partition.
 */
extern uint32 hg_replica_select_partition(const HgPartitioning *partitions, uint32 partition,
										  uint32 part, uint32 first, uint32 count, uint32 width,
										  const void *values, const uint8 *nulls, void *to,
										  uint8 *nulls_to, uint64 *number);

#endif /* HG_LOADER_REPLICA_H */
