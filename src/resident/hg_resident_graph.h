/*-------------------------------------------------------------------------
 *
 * hg_resident_graph.h
 *	  Cached HashGraphs ("graphs"): finding and pinning them, and what devices have of them.
 *
 * A graph version (hg_resident_graph_version.h) LISTS the segment versions whose rows it has, by
 * their serial numbers.  A scan for which a segment version is valid (hg_resident_validity.h) sees
 * by its serial whether the graph has its rows.  The graph pins no segment version.  A segment
 * version that was replaced is valid for nobody, so its rows in the graph do not count.  The rows
 * of the new segment version are missing until the next graph version is made, by merging them
 * into this one.
 *
 * KEYS.  A graph stores one key word for each row.  A join computes the same word from the same
 * columns (hg_resident_graph_key.h): the sign-extended value of a single integer column; several
 * short values side by side; or, for any other key, a hash of the values.  If words are hashes, a
 * join compares the values of matches too.  Rows with a NULL in a key column are not in the graph.
 *
 * Functions that return a set of devices read the records of hg_resident_device_copy.h, which are
 * hints: a device may have lost a replica since.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_H
#define HG_RESIDENT_GRAPH_H

#include "hg_compat.h"

#include "backend/hg_cleanup.h"
#include "engine/hg_flat.h"
#include "engine/hg_partitioning.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph_version.h"

/* A graph version that this process has pinned, at addresses of this process. */
typedef struct HgPinnedGraph
{
	HgCleanup cleanup;
	dsa_pointer pointer;
	HgFlatGraph flat;
	uint32 nsegments;
	const uint64 *serials; /* [nsegments] */
	/* the partitioning of the last hg_resident_graph_partitioned(), or NULL */
	const HgGraphPartitions *partitioning;
	HgPartitioning partitions; /* its arrays at addresses of this process */
} HgPinnedGraph;

/*
 * Pins the newest version of the graph of a table's key, and records its use.  Returns NULL if
 * there is none, and then marks a requested graph as missed.  Also returns NULL if no process has
 * the version pinned and hg_resident_memory_is_idle() is true.  The result lies in
 * CurrentMemoryContext.  The reset of that context, the end of CurrentResourceOwner or
 * hg_resident_graph_unpin() unpins it, whichever comes first.
 */
extern HgPinnedGraph *hg_resident_graph_pin(Relation rel, const HgGraphKey *key);
/* Pins it as hg_resident_graph_pin() does, without recording that it was used or missed. */
extern HgPinnedGraph *hg_resident_graph_peek(Relation rel, const HgGraphKey *key);
/* Pins a version that another process has pinned and keeps pinned meanwhile. */
extern HgPinnedGraph *hg_resident_graph_pin_too(dsa_pointer version);
/*
 * Pins the newest version of the graph of a table's key for a loader.  Returns NULL if there is no
 * version, or if holders is not NULL and neither the graph nor a partition or a column has to be
 * sent to any of these devices.  Does not note that the graph was used.
 */
extern HgPinnedGraph *hg_resident_graph_pin_to_send(HgResidentRelation key,
													const HgKeyNumbers *numbers,
													const HgReplicaHolders *holders);
/* Unpins a graph.  May be called more than once, and does not free *graph. */
extern void hg_resident_graph_unpin(HgPinnedGraph *graph);

/* Returns the key of a pinned graph; valid while it is pinned. */
extern const HgGraphKey *hg_resident_graph_key(const HgPinnedGraph *graph);

/*
 * Returns the devices that are recorded to have a replica of the whole graph, and sets *use to name
 * it in a job (hg_replica.h).  Records that a join requests whole replicas.
 */
extern HgDeviceSet hg_resident_graph_replica(const HgPinnedGraph *graph, HgReplicaUse *use);

/*
 * Returns the devices that have a replica of a column of the graph's rows, and requests such a
 * replica.  Unless it returns 0, sets *use, and sets *codes to the codes that the devices have
 * instead of values, or to NULL if they have values.
 */
extern HgDeviceSet hg_resident_graph_replica_column(const HgPinnedGraph *graph, AttrNumber number,
													HgReplicaColumnUse *use,
													const HgGraphCodes **codes);

/*
 * Returns the devices over which the graph is partitioned if each is recorded to have its
 * partition, and sets *use.  Otherwise returns 0.  *partitions becomes the partitioning, valid
 * while the graph is pinned, or NULL.
 */
extern HgDeviceSet hg_resident_graph_partitioned(HgPinnedGraph *graph, HgReplicaUse *use,
												 const HgPartitioning **partitions);

/*
 * Does for partitions what hg_resident_graph_replica_column() does for a whole replica.  The graph
 * must still have the partitioning that hg_resident_graph_partitioned() returned; otherwise
 * returns 0.
 */
extern HgDeviceSet hg_resident_graph_partitioned_column(const HgPinnedGraph *graph,
														AttrNumber number, HgReplicaColumnUse *use,
														const HgGraphCodes **codes);

/*
 * hg_resident_graph_partitioned() must have returned devices for the other graph of the table. If
 * both are the same version, returns these devices. Otherwise requests that the graph be
 * co-partitioned with the other one, and returns the devices if each is recorded to have its
 * partition, else 0. Always sets *use, and *copartition except `found`, which is NULL and the
 * caller's to set. copartition->rows is valid while graph is pinned.
 */
extern HgDeviceSet hg_resident_graph_copartition(const HgPinnedGraph *graph,
												 const HgPinnedGraph *with, HgReplicaUse *use,
												 HgCopartition *copartition);

/* Returns true if the graph is partitioned, whether or not devices have its partitions. */
extern bool hg_resident_graph_is_partitioned(const HgPinnedGraph *graph);

/* Returns true if it is partitioned because it, or what joins need with it, fits no device. */
extern bool hg_resident_graph_is_too_large(const HgPinnedGraph *graph);

/* Returns true if a device has a replica, or several have all of its partitions. */
extern bool hg_resident_graph_is_replicated(const HgPinnedGraph *graph);

/*
 * Stores how much device memory a join needs that no device could answer, for the loader.  If no
 * device has that much, the loader partitions this graph (see HgGraphDemand).
 */
extern void hg_resident_graph_report_demand(const HgPinnedGraph *graph,
											const HgGraphDemand *demand);

/* Returns the least device memory that a replica of the whole graph takes, in bytes. */
extern uint64 hg_resident_graph_least_bytes(const HgPinnedGraph *graph);

/*
 * Requests that a graph be partitioned over the devices that its join partner is partitioned over.
 * Does nothing for small graphs, which get whole replicas.
 */
extern void hg_resident_graph_bring_partitions(const HgPinnedGraph *graph, HgDeviceSet device_set);

/* Requests a replica on the first device of the set, which has replicas of the graph's partner. */
extern void hg_resident_graph_bring(const HgPinnedGraph *graph, HgDeviceSet device_set);

/* Requests a replica on each device of the set. */
extern void hg_resident_graph_bring_all(const HgPinnedGraph *graph, HgDeviceSet device_set);

/*
 * Records that the devices of a set do not have the replicas in *missing, which they have reported,
 * as far as they are the graph's or its columns', or with partitioned its partitions'.
 */
extern void hg_resident_graph_set_missing(const HgPinnedGraph *graph, bool partitioned,
										  HgDeviceSet device_set, const HgMissingReplicas *missing);
/* Records it for the partitions that the graph has by being co-partitioned with another one. */
extern void hg_resident_graph_set_missing_copartition(const HgPinnedGraph *graph,
													  const HgPinnedGraph *with,
													  HgDeviceSet device_set,
													  const HgMissingReplicas *missing);

/*
 * Remembers that a device could not answer a multi-way join with rows of this graph, because a row
 * found more than one row in a graph that it looked up.  found is a hash, not 0, of the graphs that
 * were looked up.  The last HG_GRAPH_AMBIGUOUS hashes are remembered.
 */
extern void hg_resident_graph_note_ambiguous(const HgPinnedGraph *graph, uint64 found);

/* Returns true if that is remembered for the hash, so that the caller need not ask a device. */
extern bool hg_resident_graph_is_ambiguous(const HgPinnedGraph *graph, uint64 found);

/*
 * Stores how many of the graph's rows a check of all changed blocks found gone.  blocks is their
 * number in blocks: the sum, over the changed blocks, of the share of the block's rows that are
 * gone.  hg_resident_graph_extent() estimates from it how many rows of changed blocks remain.
 * Blocks that change later count as having lost no row, until the next check.
 */
extern void hg_resident_graph_note_lost(const HgPinnedGraph *graph, double blocks);

/*
 * Requests replicas of a column of the rows of a table's graph.  Returns true if one device is
 * recorded to have such a replica already, or each device with a partition to have the column of
 * its partition.  Returns false if there is no graph of the key.
 */
extern bool hg_resident_graph_ask_column(Relation rel, const HgGraphKey *key, AttrNumber number);

/* Does what hg_resident_graph_ask_column() does, for a graph that is pinned. */
extern bool hg_resident_graph_has_column(const HgPinnedGraph *graph, AttrNumber number);

/* Returns how much of a table a graph of the key covers now; all zeroes if there is no graph. */
extern HgGraphExtent hg_resident_graph_extent(Relation rel, const HgGraphKey *key);

/*
 * Returns the number of a table's graphs whose columns still have the definitions of the key.
 * *keys becomes an array of their keys in CurrentMemoryContext.
 */
extern int hg_resident_graph_keys(Relation rel, HgGraphKey **keys);

/* Returns true if a table has a version of any graph. */
extern bool hg_resident_graph_any(HgResidentRelation key);

/*
 * Graph versions that are co-partitioned with another graph of their table.
 *
 * If a graph is partitioned over several devices and a join has its rows look other tables up by
 * another key, the table's graph by that key is CO-PARTITIONED with it
 * (engine/hg_partitioning.h).  Each device then has the same rows of both graphs, under the same
 * numbers.  The join requests this, and names the partitioned graph by its key column.  The
 * co-partitioning is computed anew when that graph has another version or partitioning.
 *
 * A graph may also be partitioned by its own key, and have whole replicas.
 */

/*
 * Requests that a graph be co-partitioned with the table's graph by this column.  At most
 * HG_GRAPH_COPARTITIONS columns are requested; a new one replaces an idle one, or is ignored.
 */
extern void hg_graph_copartition_ask(HgResidentGraph *graph, AttrNumber column);

/*
 * Sets numbers[HG_GRAPH_COPARTITIONS] to the columns for which hg_graph_copartition_ask() was
 * called, without the idle ones.  Returns their number.
 */
extern int hg_graph_copartition_asked(HgResidentGraph *graph, AttrNumber *numbers);

/* Returns the graph's co-partitioning with a version partitioned over these devices, or NULL. */
extern HgGraphCopartition *hg_graph_copartition_find(HgResidentGraph *graph,
													 const HgResidentGraph *with,
													 HgDeviceSet device_set);

/*
 * Adds a co-partitioning of the graph with a partitioning of another graph, and returns it; rows[]
 * has the number of the graph's rows in each partition.  Devices drop the graph's partitions of an
 * older co-partitioning with the graph of that column.  Returns NULL if there is no memory, which
 * it records in the graph.
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
extern bool hg_graph_copartition_needs_loader(HgResidentGraph *graph, HgResidentGraph *with,
											  const HgReplicaHolders *holders);

/*
 * Returns the partitioning of a version, or NULL if it has none over the devices that it should
 * have now.
 */
extern HgGraphPartitions *hg_graph_copartition_partitions(HgResidentGraph *with,
														  const HgReplicaHolders *holders);

#endif /* HG_RESIDENT_GRAPH_H */
