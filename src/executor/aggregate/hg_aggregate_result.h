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

#include "batch/hg_batch.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/* Returns true if a function of this kind over the same rows can share the function's state. */
extern bool hg_function_has_state_of(const HgFunction *function, HgAggregateKind kind);

/*
 * Returns the result of an aggregate of the given kind from this function's state in a group, and
 * sets *isnull.  A by-reference result lies in CurrentMemoryContext or in the group's states.
 * Raises the errors of the aggregate's own functions, such as overflow.
 */
extern Datum hg_function_finish(const HgFunction *function, HgAggregateKind kind, HgGroup *group,
								bool *isnull);

/*
 * Returns how many rows INTERSECT or EXCEPT returns of a group.  The function is the sum of the
 * rows' branch numbers, 0 (left) or 1 (right).
 */
extern int64 hg_aggregate_copies(const HgFunction *function, SetOpCmd command,
								 const HgGroup *group);

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

typedef struct HgAggregateState HgAggregateState;	/* hg_aggregate_state.h */
typedef struct HgAggregateHaving HgAggregateHaving; /* HAVING, evaluated over columns */

/*
 * Prepares HAVING for evaluation over columns; allocates in CurrentMemoryContext.  The state's
 * groups and results must be set up first.  Returns NULL if there is no HAVING, or if it cannot be
 * evaluated over columns.
 */
extern HgAggregateHaving *hg_aggregate_begin_having(HgAggregateState *state);

/* Discards the cached outcomes, because group numbers now mean other groups. */
extern void hg_aggregate_forget_having(HgAggregateHaving *having);

/*
 * Returns true if HAVING is known not to be true for the group with a number, from 0; otherwise the
 * caller evaluates it.  state->having must not be NULL.
 */
extern bool hg_aggregate_is_ruled_out(HgAggregateState *state, uint32 number);

#endif /* HG_AGGREGATE_RESULT_H */
