/*-------------------------------------------------------------------------
 *
 * hg_resident_graph.h
 *	  Cached HashGraphs ("graphs"): finding and pinning them, and what devices have of them.
 *
 * A graph version (hg_resident_graph_version.h) LISTS the segment versions whose rows it has, by
 * their serial numbers.  A scan for which a segment version is valid (hg_resident_validity.h) sees
 * by its serial whether the graph has its rows.  The graph pins none of them.  A segment version
 * that was replaced is valid for nobody, so its rows in the graph do not count.  The rows of the
 * new one are missing until the next graph version, which is made of this one and of what has
 * changed.
 *
 * KEYS.  A graph has one word for each row, as joins make it from the same columns
 * (hg_resident_graph_key.h).  The word of a single integer is its value, sign-extended; short
 * values are packed side by side.  Otherwise it is a hash, and a join compares the values too.
 * Rows with a NULL in one of the columns are not in the graph.
 *
 * Functions that return a set of devices go by the records of hg_resident_device_copy.h, which are
 * hints.
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
 * Pins the newest version of the graph of a table's key.  Returns NULL if there is none, and notes
 * that the graph was missed.  The result lies in CurrentMemoryContext.  The reset of that context,
 * the end of CurrentResourceOwner or hg_resident_graph_unpin() unpins it, whichever comes first.
 */
extern HgPinnedGraph *hg_resident_graph_pin(Relation rel, const HgGraphKey *key);
/* Does the same without noting that the graph was used or missed. */
extern HgPinnedGraph *hg_resident_graph_peek(Relation rel, const HgGraphKey *key);
/* Pins a version that another process has pinned and keeps pinned meanwhile. */
extern HgPinnedGraph *hg_resident_graph_pin_too(dsa_pointer version);
/*
 * Pins the newest version of the graph of a table's key for sending any of it to devices; NULL if
 * nothing of it is to be sent, or there is none.  Uses of the graph are not noted.
 */
extern HgPinnedGraph *hg_resident_graph_pin_due(HgResidentRelation key, const HgKeyNumbers *numbers,
												const HgReplicaHolders *holders);
/* Does the same whether or not anything of it is to be sent. */
extern HgPinnedGraph *hg_resident_graph_pin_to_send(HgResidentRelation key,
													const HgKeyNumbers *numbers);
/* Unpins a graph.  May be called more than once. */
extern void hg_resident_graph_unpin(HgPinnedGraph *graph);

/* Returns the key of a pinned graph; valid while it is pinned. */
extern const HgGraphKey *hg_resident_graph_key(const HgPinnedGraph *graph);

/*
 * hg_resident_graph_replica returns the devices that have a replica of the whole graph, and sets
 * *use.  It notes that a join requests a whole replica.  hg_resident_graph_replica_column returns
 * the devices that have a replica of a column of its rows.  It requests the column, and sets *use
 * and *codes unless it returns 0.  *codes has the codes that devices have instead of values; NULL:
 * they have values.
 */
extern HgDeviceSet hg_resident_graph_replica(const HgPinnedGraph *graph, HgReplicaUse *use);
extern HgDeviceSet hg_resident_graph_replica_column(const HgPinnedGraph *graph, AttrNumber number,
													HgReplicaColumnUse *use,
													const HgGraphCodes **codes);

/*
 * Do the same for a partitioned graph: they return the devices that have one partition each, if
 * all of them are recorded to have theirs, and 0 otherwise.  *partitions becomes the partitioning,
 * valid while the graph is pinned, or NULL.  The second function requires the partitioning that
 * the first one returned.
 */
extern HgDeviceSet hg_resident_graph_partitioned(HgPinnedGraph *graph, HgReplicaUse *use,
												 const HgPartitioning **partitions);
extern HgDeviceSet hg_resident_graph_partitioned_column(const HgPinnedGraph *graph,
														AttrNumber number, HgReplicaColumnUse *use,
														const HgGraphCodes **codes);

/*
 * Returns the devices that have the partitions of a graph co-partitioned with another graph of the
 * table, or of that graph itself, if all are recorded to have theirs; 0 otherwise.  Requests the
 * co-partitioning.  Call hg_resident_graph_partitioned() for the other graph first.
 * copartition->rows is valid while graph is pinned.
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
 * Reports the device memory that a join needs which no device has answered.  This graph is the one
 * to partition if no device has that much memory (hg_resident_graph_version.h).
 */
extern void hg_resident_graph_report_demand(const HgPinnedGraph *graph,
											const HgGraphDemand *demand);

/* Returns the least device memory for a replica, in bytes. */
extern uint64 hg_resident_graph_least_bytes(const HgPinnedGraph *graph);

/*
 * Requests that a graph be partitioned over the devices that its join partner is partitioned over.
 * Does nothing for small graphs, which get whole replicas.
 */
extern void hg_resident_graph_bring_partitions(const HgPinnedGraph *graph, HgDeviceSet device_set);

/* Requests a replica on the first of the devices that have its join partner. */
extern void hg_resident_graph_bring(const HgPinnedGraph *graph, HgDeviceSet device_set);

/* Requests a replica on each device of the set. */
extern void hg_resident_graph_bring_all(const HgPinnedGraph *graph, HgDeviceSet device_set);

/* Records the missing replicas that devices have reported, of the graph or its partitions. */
extern void hg_resident_graph_set_missing(const HgPinnedGraph *graph, bool partitioned,
										  HgDeviceSet device_set, const HgMissingReplicas *missing);
/* Does the same for the partitions of the graph as it is co-partitioned with another one. */
extern void hg_resident_graph_set_missing_copartition(const HgPinnedGraph *graph,
													  const HgPinnedGraph *with,
													  HgDeviceSet device_set,
													  const HgMissingReplicas *missing);

/*
 * hg_resident_graph_note_ambiguous remembers that rows of the graph have found more than one row
 * in the graphs whose names combine to this number (HgReplicaLookup).
 * hg_resident_graph_is_ambiguous returns true if that is remembered, so that the lookup is not
 * tried again.  The last HG_GRAPH_AMBIGUOUS numbers are remembered.
 */
extern void hg_resident_graph_note_ambiguous(const HgPinnedGraph *graph, uint64 found);
extern bool hg_resident_graph_is_ambiguous(const HgPinnedGraph *graph, uint64 found);

/*
 * Notes how many blocks' worth of the graph's rows a check of all changed blocks found gone.
 * hg_resident_graph_extent estimates the remaining rows of changed blocks from it.  Blocks that
 * change later count as having lost none, until the next check.
 */
extern void hg_resident_graph_note_lost(const HgPinnedGraph *graph, double blocks);

/*
 * Return true if devices are recorded to have a replica of a column of its rows: one device, or
 * all that have its partitions.  They also request the column.
 */
extern bool hg_resident_graph_ask_column(Relation rel, const HgGraphKey *key, AttrNumber number);
extern bool hg_resident_graph_has_column(const HgPinnedGraph *graph, AttrNumber number);

/* Returns what a graph of the key has of a table; all zeroes if there is no graph. */
extern HgGraphExtent hg_resident_graph_extent(Relation rel, const HgGraphKey *key);

/*
 * Returns the number of a table's graphs whose columns still have the definitions of the key.
 * *keys becomes an array of their keys in CurrentMemoryContext.
 */
extern int hg_resident_graph_keys(Relation rel, HgGraphKey **keys);

/* Returns true if a table has a version of any graph. */
extern bool hg_resident_graph_any(HgResidentRelation key);

#endif /* HG_RESIDENT_GRAPH_H */
