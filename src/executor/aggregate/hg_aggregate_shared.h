/*-------------------------------------------------------------------------
 *
 * hg_aggregate_shared.h
 *	  What the aggregate node's processes did, which is all that they share.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SHARED_H
#define HG_AGGREGATE_SHARED_H

#include "access/parallel.h"
#include "nodes/execnodes.h"

#include "batch/hg_batch.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */

/* What was done, over all executions, for EXPLAIN. */
typedef struct HgAggregateRecord
{
	int processes; /* that took rows */
	uint64 groups;
	uint64 memory_bytes; /* the peak of the budget; of all processes */
	uint64 spilled_bytes;
	uint64 partitions;
	uint64 reduced_rows; /* that came in groups from a device */
	HgScanBlocks blocks; /* of the table that was scanned; none where rows were joined */
} HgAggregateRecord;

/* In the query's DSM: no pointers. */
typedef struct HgAggregateShared
{
	int nprocesses;
	bool may_use_cache; /* workers' scans from resident columns; set by the leader */
	HgAggregateRecord records[FLEXIBLE_ARRAY_MEMBER]; /* [nprocesses], the leader's is unused */
} HgAggregateShared;

/* This process's place among those below a Gather.  Zeros: there are no others. */
typedef struct HgAggregateParticipants
{
	HgAggregateShared *shared; /* or NULL */
	int process;			   /* 0 is the leader */
	HgAggregateRecord others;  /* of the workers that have ended */
} HgAggregateParticipants;

/* What this process and the workers that have ended did. */
extern HgAggregateRecord hg_aggregate_current_record(const HgAggregateState *state);

/* The executor callbacks of these names. */
extern Size hg_aggregate_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void hg_aggregate_initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
										void *coordinate);
extern void hg_aggregate_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
										  void *coordinate);
extern void hg_aggregate_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void hg_aggregate_shutdown(CustomScanState *node);

#endif /* HG_AGGREGATE_SHARED_H */
