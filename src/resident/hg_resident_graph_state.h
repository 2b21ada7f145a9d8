/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_state.h
 *	  Decides when a table's graphs are made, made again, and sent to devices.
 *
 * A graph is made from the segment versions in the table's slots.  It is OUT OF STEP once slots
 * have other versions.  Joins then read the rows of those segments themselves, so their results
 * stay correct.  A loader makes the next graph version
 *
 *	-	at once, when it has loaded segments, if one in HG_GRAPH_STEP_PART segments is out of step.
 *		Merging the rows of all others takes more than half of the time of making a graph of 10
 *		million rows anew (150 ms of a core against 250).  Ten changes of 1 % each are merged at
 *		once, so each of them costs 15 ms, about a sixteenth of making the graph anew;
 *	-	when no slot has changed for HG_GRAPH_REST_MS, however few segments are out of step.  But
 *		the last version must be older than HG_GRAPH_TIME_PART times the time that making it took,
 *		so that making a graph takes at most a fiftieth of a core's time;
 *	-	when a user requests it.
 *
 * Ready device processes get replicas of each graph once, and again when they have dropped them
 * (hg_resident_graph_version.h says which devices).
 *
 * An entry is LOCKED if the caller has it from hg_directory_lock(); exclusively, if the function
 * changes it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_STATE_H
#define HG_RESIDENT_GRAPH_STATE_H

#include "hg_compat.h"

#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph_version.h"

/* A graph is made again at once if one in this many of its segments is out of step. */
#define HG_GRAPH_STEP_PART 10

/* A graph that is out of step at all is made again if no slot has changed for this time, in ms. */
#define HG_GRAPH_REST_MS 3000

/* Wait between two versions of a graph, as a multiple of the time that making one took. */
#define HG_GRAPH_TIME_PART 50

/* Blocks of a table, as seen by a graph of it. */
typedef struct HgGraphBlocks
{
	BlockNumber resident; /* may be valid, and the graph has their rows */
	BlockNumber stale;	  /* other blocks of loaded versions */
	BlockNumber changed;  /* stale blocks of segments that have resident ones */
} HgGraphBlocks;

/*
 * Counts the blocks of a locked entry's table, as seen by a version of one of its graphs.
 * generation is the current generation of the database's chain.  With 0 (no chain) no block counts
 * as resident.
 */
extern HgGraphBlocks hg_graph_blocks(const HgDirectoryEntry *entry, const HgResidentGraph *graph,
									 uint64 generation);

/* Sets *holders to the device processes that may get replicas; false if none is ready. */
extern bool hg_graph_replica_holders(HgReplicaHolders *holders);

/*
 * Returns true if a loader must send a graph's replica, or a partition of it, to a device.  The
 * graph must have a version.
 */
extern bool hg_graph_needs_loader(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph,
								  const HgReplicaHolders *holders);

/*
 * Marks the graphs of a locked entry that a loader shall make now (wanted).  Returns true if it has
 * to make a graph, or to send a replica.
 */
extern bool hg_graphs_observe(HgDirectoryEntry *entry);

/*
 * Returns the state of a locked entry's graphs together: HG_RESIDENT_QUEUED if one is to be made
 * or is being made; HG_RESIDENT_DECLINED, with *reason, if one was declined at or after `since`;
 * otherwise HG_RESIDENT_READY, with HG_REASON_NONE.  With HG_RESIDENT_QUEUED *reason means
 * nothing.  Graphs with an evicted or declined column are ignored.
 */
extern HgResidentState hg_graphs_state(const HgDirectoryEntry *entry, TimestampTz since,
									   HgResidentReason *reason);

/* Returns true if all columns of a graph's key are pinned, so that the graph is not evicted. */
extern bool hg_graph_is_to_stay(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph);

/* Returns true if no column of a graph's key is evicted or declined. */
extern bool hg_graph_may_be_made(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph);

/*
 * Marks a graph as declined: no loader makes it while the reason holds.  The directory's use of its
 * version ends.
 */
extern void hg_graph_decline(HgDirectoryGraph *graph, HgResidentReason reason);

#endif /* HG_RESIDENT_GRAPH_STATE_H */
