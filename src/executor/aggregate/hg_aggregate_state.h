/*-------------------------------------------------------------------------
 *
 * hg_aggregate_state.h
 *	  The aggregate node's state: the plan's settings, and one part for each of the node's files.
 *
 * A part is a structure of the header that is named after it.  Only that file's functions change
 * it, unless the header says otherwise.  Other fields belong to hg_aggregate.c.
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
#include "executor/aggregate/hg_aggregate_limit.h"
#include "executor/aggregate/hg_aggregate_reduce.h"
#include "executor/aggregate/hg_aggregate_result.h"
#include "executor/aggregate/hg_aggregate_sets.h"
#include "executor/aggregate/hg_aggregate_shared.h"
#include "executor/aggregate/hg_aggregate_spill.h"
#include "executor/aggregate/hg_aggregate_take.h"

/* The phases of the node; see hg_aggregate.c. */
typedef enum HgAggregatePhase
{
	HG_AGGREGATE_READ,
	HG_AGGREGATE_RETURN,
	HG_AGGREGATE_NEXT_PARTITION,
	HG_AGGREGATE_NEXT_SET,
	HG_AGGREGATE_DONE
} HgAggregatePhase;

/* The result of an aggregate.  A sum and an average of the same share one function's state. */
struct HgResult
{
	const HgFunction *function;
	HgAggregateKind kind;
};

struct HgAggregateState
{
	CustomScanState css; /* must be first */

	/* from the plan */
	bool grouped;
	bool counts; /* only the number of input rows is needed */
	int nfunctions;
	HgFunction *functions; /* [nfunctions] that have states */
	int nresults;
	HgResult *results;		   /* [nresults] one for each Aggref, of the current set */
	Bitmapset *params;		   /* PARAM_EXEC numbers in filters and arguments */
	int first_result;		   /* index of the first aggregate in the scan slot */
	HgAggregateLimit limit;	   /* of the node above */
	HgAggregateHaving *having; /* evaluates HAVING for many groups at once; NULL: one by one */

	/* the input */
	int branch_column;	 /* the column with the branch of a set operation; or -1 */
	int grouping_branch; /* its value in rows that make groups */
	SetOpCmd command;	 /* of that set operation */
	int ncolumns;		 /* columns of the input that are needed */
	int *attnos;		 /* [ncolumns] their attribute numbers in the input's rows, from 1 */
	HgBatchSource *source;
	HgBatch *batch;
	HgRun run;		   /* rows in arrays */
	bool takes_arrays; /* functions read rows from arrays if the source has them */

	/* the groups */
	HgBudget budget;		   /* for groups and file buffers */
	MemoryContext context;	   /* owns all that follows */
	MemoryContext row_context; /* functions of the types and aggregates run in it */
	MemoryContext states;	   /* by-reference values of groups and states */
	HgGroups *groups;		   /* of the current set */
	HgAggregateSets sets;
	HgAggregateTaking taking;
	HgAggregateReduction reduction;
	HgAggregateSpill spill;

	/* progress */
	HgAggregatePhase phase;
	uint32 next_group; /* next group to return */
	int64 copies;	   /* rows that are still to be returned of the group before it */
	bool rescannable;  /* all groups are in memory, so that a rescan can return them */

	HgAggregateRecord record; /* what this process did; each file adds to it */
	HgAggregateParticipants participants;
};

/* Returns true if a result is a sum of numerics, which usually is a scaled integer. */
static inline bool
hg_result_is_scaled(const HgResult *result)
{
	return result->kind == HG_AGGREGATE_SUM_NUMERIC && !result->function->partial;
}

#endif /* HG_AGGREGATE_STATE_H */
