/*-------------------------------------------------------------------------
 *
 * hg_aggregate_limit.h
 *	  Groups that a node above rejects by their first sort key, before a row is formed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_LIMIT_H
#define HG_AGGREGATE_LIMIT_H

#include "nodes/execnodes.h"

#include "batch/hg_top_keys.h"
#include "executor/aggregate/hg_aggregate_groups.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */
typedef struct HgResult HgResult;				  /* hg_aggregate_state.h */

/* Zeros: no group is rejected. */
typedef struct HgAggregateLimit
{
	HgTopKeys *top;
	int value; /* the first sort key's index in HgGroup.values; -1: a result */
	const HgResult *result;
	/* if the key is a sum of numerics, the last accepted key as a scaled integer */
	uint64 changes; /* HgTopKeys.changes for which the following fields hold */
	bool scaled;	/* it is one */
	int128 last;
	int scale;
} HgAggregateLimit;

/*
 * Lets an aggregate node skip groups that top rejects by their first key, which is an attribute of
 * the node's rows, and to count the groups.  Returns false, and does nothing, if the plan is no
 * aggregate node.
 */
extern bool hg_aggregate_set_limit(PlanState *plan, HgTopKeys *top, int attno);

/*
 * Returns the number of the group that comes at position next of count groups if some are rejected.
 * Groups are often made in the order of the sort key, or against it.  In each block of them the
 * last comes first, so that against the order most of a block are rejected.
 */
static inline uint32
hg_aggregate_limited_group(uint32 next, uint32 count)
{
	uint32 first = next - next % HG_BATCH_ROWS;
	uint32 end = Min(count, first + HG_BATCH_ROWS);

	return first + (end - 1 - next);
}

/* Returns true if a group is rejected. */
extern bool hg_aggregate_is_beyond(HgAggregateState *state, HgGroup *group);

#endif /* HG_AGGREGATE_LIMIT_H */
