/*-------------------------------------------------------------------------
 *
 * hg_aggregate_reduce.h
 *	  The aggregate node's groups that come from a device.
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
	HgReducer reducer;	 /* what the join may make of its rows instead of returning them */
	int *items;			 /* [functions] that tell of their arguments ... */
	int *column_indexes; /* [functions] ... where in a record; 0: the number of rows does */
	HgBatch *batch;		 /* the keys of records */
} HgAggregateReduction;

/* Take groups from the join, where it can give them; groups, functions and source are known. */
extern void hg_aggregate_begin_reduction(HgAggregateState *state);

#endif /* HG_AGGREGATE_REDUCE_H */
