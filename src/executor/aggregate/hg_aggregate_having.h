/*-------------------------------------------------------------------------
 *
 * hg_aggregate_having.h
 *	  HAVING, evaluated for many groups at once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_HAVING_H
#define HG_AGGREGATE_HAVING_H

#include "batch/hg_batch.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */
typedef struct HgAggregateHaving HgAggregateHaving;

/*
 * What decides the plan's HAVING over columns of groups and results, which are set up; in
 * CurrentMemoryContext.  NULL: there is none, or it is not decided so.
 */
extern HgAggregateHaving *hg_aggregate_begin_having(HgAggregateState *state);

/* Other groups have these numbers now. */
extern void hg_aggregate_forget_having(HgAggregateHaving *having);

/* Is HAVING known not to be true of a group, by its number? */
extern bool hg_aggregate_is_ruled_out(HgAggregateState *state, uint32 number);

#endif /* HG_AGGREGATE_HAVING_H */
