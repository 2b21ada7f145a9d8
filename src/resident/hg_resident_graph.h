/*-------------------------------------------------------------------------
 *
 * hg_resident_graph.h
 *	  Resident HashGraphs: of keys of a table that is resident, in the area.
 *
 * A graph version (hg_resident_graph_version.h) LISTS the segment versions whose rows it has, by
 * their serial numbers.  So a scan for which a segment version is valid (hg_resident_validity.h)
 * knows by its serial whether the graph has its rows.  The graph pins none of them: a version that
 * has been replaced is valid for nobody, so its rows in a graph don't count, and those of the new
 * one do not stand there, until the next graph version, which is made of this one and of what has
 * changed.
 *
 * KEYS.  A graph has a word for each row, as joins make them of the same columns
 * (hg_resident_graph_key.h): that of an integer alone is its value, widened with its sign; that of
 * short values is made of these, side by side; and else it is a hash, so that whoever joins by it
 * compares the values too.  Rows with a NULL in one of the columns are not in it.
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
#include "resident/hg_resident_graph_codes.h"
#include "resident/hg_resident_graph_version.h"

/* A graph version that this process has pinned, with addresses of its own. */
typedef struct HgPinnedGraph
{
	HgCleanup cleanup;
	dsa_pointer pointer;
	HgFlatGraph flat;
	uint32 nsegments;
	const uint64 *serials; /* [nsegments] */
	const HgGraphPartitions
		*partitioning; /* how it is partitioned, where that was asked for; NULL: it was not */
	HgPartitioning partitions; /* ... at addresses of this process */
} HgPinnedGraph;

/*
 * Pin the newest graph of a table's key.  NULL: there is none.  The result lies in
 * CurrentMemoryContext, which unpins it when it is reset, as the end of CurrentResourceOwner and
 * hg_resident_graph_unpin() do, whichever comes first.
 */
extern HgPinnedGraph *hg_resident_graph_pin(Relation rel, const HgGraphKey *key);
/* The same for who compares it, and has no use of it: nobody learns that it was, or was missed. */
extern HgPinnedGraph *hg_resident_graph_peek(Relation rel, const HgGraphKey *key);
/* The same of the version that another process has pinned, which does not let go of it meanwhile.
 */
extern HgPinnedGraph *hg_resident_graph_pin_too(dsa_pointer version);
/*
 * Pin the graph of a table's key that device processes are to be given, or columns of it; NULL
 * where there is none.
 */
extern HgPinnedGraph *hg_resident_graph_pin_due(HgResidentRelation key, const HgKeyNumbers *numbers,
												const HgReplicaHolders *holders);
/* Pin the newest version of the graph of a table's key, for who gives it to devices; or NULL. */
extern HgPinnedGraph *hg_resident_graph_pin_to_give(HgResidentRelation key,
													const HgKeyNumbers *numbers);
extern void hg_resident_graph_unpin(HgPinnedGraph *graph);

/* What a pinned graph is of. */
extern const HgGraphKey *hg_resident_graph_key(const HgPinnedGraph *graph);

/*
 * The devices whose processes have a replica of a pinned graph, as far as is known here, and of a
 * column of its rows.  One of a column that is nowhere is asked for. *codes tells what they have in
 * place of values; NULL: they have the values.
 */
extern HgDeviceSet hg_resident_graph_replica(const HgPinnedGraph *graph, HgReplicaUse *use);
extern HgDeviceSet hg_resident_graph_replica_column(const HgPinnedGraph *graph, AttrNumber number,
													HgReplicaColumnUse *use,
													const HgGraphCodes **codes);

/*
 * The same of a graph that is partitioned: the places whose device processes have a partition each,
 * where all of them are known to have them, and how it is partitioned, which stays as long as the
 * pin; and where they all have those of a column as well.  Else 0.
 */
extern HgDeviceSet hg_resident_graph_partitioned(HgPinnedGraph *graph, HgReplicaUse *use,
												 const HgPartitioning **partitions);
extern HgDeviceSet hg_resident_graph_partitioned_column(const HgPinnedGraph *graph,
														AttrNumber number, HgReplicaColumnUse *use,
														const HgGraphCodes **codes);

/*
 * The same of a graph by another key, or of that itself, as it is co-partitioned with one by a
 * column of the table, of which all partitions are known to have replicas.  Where it is not all
 * there it is asked for.
 */
extern HgDeviceSet hg_resident_graph_copartition(const HgPinnedGraph *graph,
												 const HgPinnedGraph *with, HgReplicaUse *use,
												 HgCopartition *copartition);

/* Is it partitioned, whether devices have its partitions or not? */
extern bool hg_resident_graph_is_partitioned(const HgPinnedGraph *graph);

/* Is it partitioned because no device alone has room for it, or for what joins need with it? */
extern bool hg_resident_graph_is_too_large(const HgPinnedGraph *graph);

/* True if any device has a replica of it, or several have all of its partitions. */
extern bool hg_resident_graph_is_replicated(const HgPinnedGraph *graph);

/*
 * A join that no device has answered needs so much together, and this graph is the one to be
 * partitioned for it where no device has memory for all of that (hg_resident_graph_needs.h).
 */
extern void hg_resident_graph_tell_needs(const HgPinnedGraph *graph, const HgGraphNeeds *needs);

/* What a device needs for a copy of it, at least. */
extern uint64 hg_resident_graph_least_bytes(const HgPinnedGraph *graph);

/*
 * What it is to be joined with is partitioned over these devices: have it partitioned so, unless it
 * comes whole.
 */
extern void hg_resident_graph_bring_partitions(const HgPinnedGraph *graph, HgDeviceSet device_set);

/* What it is to be joined with is at these places: have a copy brought to the first of them. */
extern void hg_resident_graph_bring(const HgPinnedGraph *graph, HgDeviceSet device_set);

/* All of these places are to have a copy. */
extern void hg_resident_graph_bring_all(const HgPinnedGraph *graph, HgDeviceSet device_set);

/*
 * The processes at these devices have answered what is not there any more: note that of it, or of
 * their partitions of it, and of columns of its rows, which is.
 */
extern void hg_resident_graph_missed(const HgPinnedGraph *graph, bool partitioned,
									 HgDeviceSet device_set, const HgMissingReplicas *missing);
/* The same of their partitions of it as it is co-partitioned with another one. */
extern void hg_resident_graph_missed_copartition(const HgPinnedGraph *graph,
												 const HgPinnedGraph *with, HgDeviceSet device_set,
												 const HgMissingReplicas *missing);

/*
 * Rows of a graph that look others up in graphs whose names come to this number (HgReplicaLookup)
 * have found more than one: that is not to be tried again.  The last few such numbers are
 * remembered.
 */
extern void hg_resident_graph_note_ambiguous(const HgPinnedGraph *graph, uint64 found);
extern bool hg_resident_graph_is_ambiguous(const HgPinnedGraph *graph, uint64 found);

/*
 * Notes that a check of all changed blocks found that so many blocks' worth of the graph's rows
 * have gone.  It is remembered, and tells how many rows of changed blocks there still are, where
 * no more has changed.  Blocks that change later are taken to have lost none, until they are
 * checked.
 */
extern void hg_resident_graph_note_lost(const HgPinnedGraph *graph, double blocks);

/*
 * True if devices are known to have a replica of a column of the rows of a table's graph beside
 * that of the graph: one of them, or all that have its partitions.  The column is asked for, so
 * that a loader brings it if it is not there.
 */
extern bool hg_resident_graph_ask_column(Relation rel, const HgGraphKey *key, AttrNumber number);
/* The same of a pinned graph. */
extern bool hg_resident_graph_has_column(const HgPinnedGraph *graph, AttrNumber number);

/* What there is of a table in a graph of a key. */
extern HgGraphExtent hg_resident_graph_extent(Relation rel, const HgGraphKey *key);

/*
 * The keys of those graphs of a table that are of its columns as they are now, in
 * CurrentMemoryContext; returns their number.
 */
extern int hg_resident_graph_keys(Relation rel, HgGraphKey **keys);

/* Has a table any graph? */
extern bool hg_resident_graph_any(HgResidentRelation key);

#endif /* HG_RESIDENT_GRAPH_H */
