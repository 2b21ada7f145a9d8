/*-------------------------------------------------------------------------
 *
 * hg_aggregate_result.h
 *	  Results of aggregate functions, computed from their states.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_RESULT_H
#define HG_AGGREGATE_RESULT_H

#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/* Returns true if a function of this kind over the same rows can share the function's state. */
extern bool hg_function_has_state_of(const HgFunction *function, HgAggregateKind kind);

/*
 * Returns the result of an aggregate of the given kind from this function's state in a group.  A
 * by-reference result lies in CurrentMemoryContext or in the group's states.
 */
extern Datum hg_function_finish(const HgFunction *function, HgAggregateKind kind, HgGroup *group,
								bool *isnull);

/* A sum of numerics as a scaled integer. */
typedef struct HgScaledSum
{
	int128 scaled; /* in units of 10^-scale */
	int scale;
	bool isnull;
	bool known; /* true: scaled is the whole sum */
} HgScaledSum;

/* Returns the sum of a function of kind HG_AGGREGATE_SUM_NUMERIC for a group. */
extern HgScaledSum hg_function_scaled(const HgFunction *function, const HgGroup *group);

#endif /* HG_AGGREGATE_RESULT_H */
