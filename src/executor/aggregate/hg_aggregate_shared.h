/*-------------------------------------------------------------------------
 *
 * hg_aggregate_shared.h
 *	  Shared memory of the aggregate node below a Gather: what each process did, for EXPLAIN, and
 *	  the groups that the processes share.
 *
 * SHARED GROUPS.  Rows of one group are in the input of several processes.  Each process makes
 * groups of its own rows and writes their states to the files of all, partitioned by the hash of
 * the keys.  When all have done so, each takes partitions that no other one takes, combines the
 * states in them, and returns the groups.  So every group is returned once, by one process.
 *
 * With GROUPING SETS each process makes all sets of its own rows first, and writes the groups of
 * each set to files of the set.
 *
 * A process that has returned a row never waits.  A process that begins when the others have read
 * all rows reads none, and takes partitions like them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SHARED_H
#define HG_AGGREGATE_SHARED_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "storage/barrier.h"

#include "batch/hg_scan_table.h"
#include "batch/hg_spill.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */

/* What was done, over all executions, for EXPLAIN. */
typedef struct HgAggregateRecord
{
	int processes; /* processes that took rows */
	uint64 groups;
	uint64 memory_bytes; /* sum of the processes' peaks */
	uint64 spilled_bytes;
	uint64 partitions;
	uint64 reduced_rows; /* rows that a device reduced to groups */
	HgScanBlocks blocks; /* blocks of the scanned table; zeros if a join is below */
} HgAggregateRecord;

/* The groups of a set that processes share. */
typedef struct HgSharedGroups
{
	HgSharedSpill spill;
	int bits;						 /* of 2^bits partitions */
	pg_atomic_uint32 next_partition; /* the first one that no process has taken */
} HgSharedGroups;

/*
 * Lies in the query's DSM, so it has no pointers.  The HgSharedGroups of the shared sets, in their
 * order, follow the records.
 */
typedef struct HgAggregateShared
{
	int nprocesses;
	dsm_handle segment; /* that this lies in */
	Barrier barrier;	/* in phase 0 shared groups are written, in phase 1 they are read */
	SharedFileSet files;
	HgAggregateRecord records[FLEXIBLE_ARRAY_MEMBER]; /* [nprocesses]; the leader's is unused */
} HgAggregateShared;

/* This process among those below a Gather.  All zeros if there are no others. */
typedef struct HgAggregateParticipants
{
	HgAggregateShared *shared; /* NULL: no other processes */
	int process;			   /* 0: leader; n: worker n - 1 */
	bool shares_groups;		   /* groups are shared in this execution */
	bool late;				   /* the others have written theirs: this process makes none */
	bool attached;			   /* to the barrier */
	uint64 rows;			   /* rows that the groups in memory have taken, or more */
	HgAggregateRecord others;  /* sum of the workers that have ended */
} HgAggregateParticipants;

/* Returns what this process and the workers that have ended did. */
extern HgAggregateRecord hg_aggregate_current_record(const HgAggregateState *state);

/*
 * Starts to share groups in an execution, if the plan does so: the groups of the shared sets go to
 * files.  Returns false if this process is late: the others have read all rows of the input.
 */
extern bool hg_aggregate_start_sharing(HgAggregateState *state);

/*
 * When memory is full: combines the groups of the first set to the other sets, which writes them to
 * shared files, and removes them.  Does so if groups are shared and have taken many rows each, or
 * so few that most rows would be written to disk anyway.  Returns false if nothing was done; rows
 * of other groups then go to disk.
 */
extern bool hg_aggregate_write_early(HgAggregateState *state);

/*
 * Closes the files of the shared set, if any, to which the groups of the current set were written,
 * so that other processes can read them.
 */
extern void hg_aggregate_publish(HgAggregateState *state);

/*
 * Prepares to read the files of the current set.  For the first shared set it waits until the other
 * processes have published all of their groups too.  Does nothing if the current set is not shared.
 */
extern void hg_aggregate_finish_sharing(HgAggregateState *state);

/*
 * The callbacks of CustomExecMethods for parallel queries.
 *
 * EstimateDSMCustomScan: returns the bytes of HgAggregateShared for the leader and its workers.
 */
extern Size hg_aggregate_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);

/* InitializeDSMCustomScan: initializes HgAggregateShared at coordinate, in the leader. */
extern void hg_aggregate_initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
										void *coordinate);

/*
 * ReInitializeDSMCustomScan: adds up what the workers of the last execution did, in the leader,
 * before workers start again.
 */
extern void hg_aggregate_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
										  void *coordinate);

/* InitializeWorkerCustomScan: attaches a worker to HgAggregateShared at coordinate. */
extern void hg_aggregate_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);

/*
 * ShutdownCustomScan: a worker stores what it did in shared memory; the leader adds up what the
 * workers stored.  The process does not use the shared memory after that.
 */
extern void hg_aggregate_shutdown(CustomScanState *node);

#endif /* HG_AGGREGATE_SHARED_H */
