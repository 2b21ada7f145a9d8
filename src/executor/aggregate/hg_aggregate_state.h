/*-------------------------------------------------------------------------
 *
 * hg_aggregate_state.h
 *	  The aggregate node's state: what the plan says, and the parts of the node's files.
 *
 * Each part is a structure of the header that is named for it.  It is changed by that file's
 * functions alone, unless the header says who else does; what is no part is hg_aggregate.c's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_STATE_H
#define HG_AGGREGATE_STATE_H

#include "nodes/execnodes.h"

#include "backend/hg_budget.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"
#include "executor/aggregate/hg_aggregate_having.h"
#include "executor/aggregate/hg_aggregate_reduce.h"
#include "executor/aggregate/hg_aggregate_shared.h"
#include "executor/aggregate/hg_aggregate_spill.h"
#include "executor/aggregate/hg_aggregate_take.h"

/* Where the node stands; hg_aggregate.c tells the way. */
typedef enum HgAggregatePhase
{
	HG_AGGREGATE_READ,
	HG_AGGREGATE_RETURN,
	HG_AGGREGATE_NEXT_PARTITION,
	HG_AGGREGATE_DONE
} HgAggregatePhase;

/* What an aggregate returns: functions that sum and average the same have one state. */
typedef struct HgResult
{
	const HgFunction *function;
	HgAggregateKind kind;
} HgResult;

struct HgAggregateState
{
	CustomScanState css; /* must be first */

	/* from the plan */
	bool grouped;
	bool counts; /* nothing but the number of rows is needed */
	int nfunctions;
	HgFunction *functions; /* [nfunctions] that take rows */
	int nresults;
	HgResult *results;		   /* [nresults] of the aggregates */
	Bitmapset *params;		   /* PARAM_EXECs that filters and arguments use */
	int first_result;		   /* index of the first aggregate in the scan slot */
	HgAggregateHaving *having; /* of many groups at once; NULL: they are looked at one by one */

	/* the input */
	int ncolumns; /* that are needed of it */
	int *attnos;  /* [ncolumns] their attributes in the input's rows, from 1 */
	HgBatchSource *source;
	HgBatch *batch;
	HgRun run;		   /* rows that lie in arrays ... */
	bool takes_arrays; /* ... and are taken from there */

	/* what is made of it */
	HgBudget budget;		   /* of groups, and of buffers of files */
	MemoryContext context;	   /* owns all that follows */
	MemoryContext row_context; /* of transition, hash and equality functions */
	MemoryContext states;	   /* what groups and their states have by reference */
	HgGroups *groups;
	HgAggregateTaking taking;
	HgAggregateReduction reduction;
	HgAggregateSpill spill;

	/* where the node stands */
	HgAggregatePhase phase;
	uint32 next_group; /* to return */
	bool rescannable;  /* all groups of the input are in memory */

	HgAggregateRecord record; /* what this process did: each file adds to it */
	HgAggregateParticipants participants;
};

#endif /* HG_AGGREGATE_STATE_H */
