/*-------------------------------------------------------------------------
 *
 * hg_aggregate_reduce.h
 *	  Groups that a device makes of the join's matches, merged into the aggregate node's groups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_REDUCE_H
#define HG_AGGREGATE_REDUCE_H

#include "batch/hg_batch.h"
#include "executor/join/hg_join_reduce.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */

typedef struct HgAggregateReduction
{
	HgReducer reducer;	 /* what the join may reduce its rows to, instead of returning them */
	int *items;			 /* [functions] index of the reduced item of each function's argument */
	int *column_indexes; /* [functions] where its words begin in a record; 0: rows are counted */
	HgBatch *batch;		 /* receives the keys of records */
} HgAggregateReduction;

/*
 * Sets up state->reduction, and asks the join below, if there is one, to hand over groups instead
 * of rows wherever it can: next() of the source then merges them into the node's groups.  The
 * node's groups, functions and source must be set up.
 */
extern void hg_aggregate_begin_reduction(HgAggregateState *state);

#endif /* HG_AGGREGATE_REDUCE_H */
