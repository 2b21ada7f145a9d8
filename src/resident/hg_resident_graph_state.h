/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_state.h
 *	  What is to become of the HashGraphs that a table's entry asks for.
 *
 * A graph is made of what the table's slots have, and stays as it is while versions come to slots
 * and go: it is OUT OF STEP then, which costs joins a look at the rows of those versions, and
 * nothing else.  A loader makes the next one
 *
 *	-	at once, when it has taken versions in, if as many segments as HG_GRAPH_STEP_PART says are
 *		out of step.  Keeping the rows of all others costs some half of making a graph of 10 million
 *		rows anew (150 ms of a core against 250), so that of a stream of changes of 1 % each costs a
 *		fifteenth of that, where ten of them gather;
 *	-	when nothing has come or gone for HG_GRAPH_REST_MS, however few segments they are, if
 *		making graphs takes no more than HG_GRAPH_TIME_PART of a core's time;
 *	-	when somebody asks for it.
 *
 * Where device processes are ready, they are given copies of each graph, once, and again when they
 * have had to let go of it (resident/hg_resident_graph_version.h says which of them).
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

/* A graph is made again when this part of its segments is out of step. */
#define HG_GRAPH_STEP_PART 10

/* ... or when it has been, however few they are, for so long, in ms, ... */
#define HG_GRAPH_REST_MS 3000

/* ... and so many times as long as the last one took to be made has passed. */
#define HG_GRAPH_TIME_PART 50

/* Blocks of a table, as a graph of it is concerned. */
typedef struct HgGraphBlocks
{
	BlockNumber resident; /* blocks that may be valid, and whose rows the graph has */
	BlockNumber stale;	  /* of which there are rows in memory, and not so ... */
	BlockNumber changed;  /* ... among others that may be, of which the graph has rows */
} HgGraphBlocks;

/* Count them in a locked entry, by the generation of the database's chain. */
extern HgGraphBlocks hg_graph_blocks(const HgDirectoryEntry *entry, const HgResidentGraph *graph,
									 uint64 generation);

/* The device processes that graphs are to be given to; false: there are none. */
extern bool hg_graph_replica_holders(HgReplicaHolders *holders);

/* Is anything of a graph of a locked entry, which has a version, to be given to a device process?
 */
extern bool hg_graph_is_to_be_given(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph,
									const HgReplicaHolders *holders);

/* Look at the graphs of a locked entry, once in a while.  Is anything to be made, or to be given?
 */
extern bool hg_graphs_observe(HgDirectoryEntry *entry);

/*
 * Those of a locked entry together: HG_RESIDENT_QUEUED while one is to be made, else
 * HG_RESIDENT_DECLINED, with a reason, where one was declined since a time, else HG_RESIDENT_READY.
 */
extern HgResidentState hg_graphs_state(const HgDirectoryEntry *entry, TimestampTz since,
									   HgResidentReason *reason);

/* Is a graph of a locked entry pinned, as all of its columns are? */
extern bool hg_graph_is_to_stay(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph);

/* May a graph of a locked entry be made: are its columns there, or will be? */
extern bool hg_graph_may_be_made(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph);

/* Say of a graph that it is not made, and why; what there is of it goes. */
extern void hg_graph_decline(HgDirectoryGraph *graph, HgResidentReason reason);

#endif /* HG_RESIDENT_GRAPH_STATE_H */
