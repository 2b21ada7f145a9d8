/*-------------------------------------------------------------------------
 *
 * hg_aggregate_having.h
 *	  HAVING, evaluated for many groups at a time.
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
 * Prepares HAVING for evaluation over columns; allocates in CurrentMemoryContext.  The state's
 * groups and results must be set up first.  Returns NULL if there is no HAVING, or if it cannot be
 * evaluated over columns.
 */
extern HgAggregateHaving *hg_aggregate_begin_having(HgAggregateState *state);

/* Discards the cached outcomes, because group numbers now mean other groups. */
extern void hg_aggregate_forget_having(HgAggregateHaving *having);

/* Returns true if HAVING is known to be false for a group; otherwise the caller evaluates it. */
extern bool hg_aggregate_is_ruled_out(HgAggregateState *state, uint32 number);

#endif /* HG_AGGREGATE_HAVING_H */
