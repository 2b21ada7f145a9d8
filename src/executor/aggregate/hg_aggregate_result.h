/*-------------------------------------------------------------------------
 *
 * hg_aggregate_result.h
 *	  Results of aggregate functions, of the states that their rows have made.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_RESULT_H
#define HG_AGGREGATE_RESULT_H

#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/* May a function that takes the same rows have its result from the state of this one? */
extern bool hg_function_has_state_of(const HgFunction *function, HgAggregateKind kind);

/*
 * The result of a function of a kind that has this one's state for a group, in CurrentMemoryContext
 * or in the group.
 */
extern Datum hg_function_finish(const HgFunction *function, HgAggregateKind kind, HgGroup *group,
								bool *isnull);

/* A sum of numerics as it is in its state. */
typedef struct HgScaledSum
{
	int128 scaled; /* of 10^-scale */
	int scale;
	bool isnull;
	bool known; /* else it has other values too, or is no such sum */
} HgScaledSum;

/* That of HG_AGGREGATE_SUM_NUMERIC for a group. */
extern HgScaledSum hg_function_scaled(const HgFunction *function, const HgGroup *group);

#endif /* HG_AGGREGATE_RESULT_H */
