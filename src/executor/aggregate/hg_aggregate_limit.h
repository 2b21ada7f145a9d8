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
	int value;				/* the first sort key's index in HgGroup.values */
	const HgResult *result; /* the first sort key if it is a result; or NULL */
	uint32 blocks;			/* number of full blocks of the groups that are returned */
	uint32 stride;			/* the step from one of them to the next */
	/* if the key is a sum of numerics, the last accepted key as a scaled integer */
	uint64 changes; /* HgTopKeys.changes for which the following fields hold */
	bool scaled;	/* it is one */
	int128 last;
	int scale;
} HgAggregateLimit;

/*
 * Lets an aggregate node skip groups that *top rejects by their first sort key, which is attribute
 * attno of the node's rows, and count all groups in top->seen.  top must outlive the node.
 * Returns false, and does nothing, if the plan is no aggregate node of this extension.
 */
extern bool hg_aggregate_set_limit(PlanState *plan, HgTopKeys *top, int attno);

/* Prepares hg_aggregate_limited_group() for a number of groups. */
extern void hg_aggregate_limit_begin(HgAggregateLimit *limit, uint32 count);

/*
 * Returns the number of the group that comes at position next of count groups if some are rejected.
 * Groups are often made in the order of the sort key, or against it.  So full blocks of them come
 * in another order, in which the first blocks are from everywhere, and in each the last group comes
 * first.  Then most groups are rejected, whatever their order.
 */
static inline uint32
hg_aggregate_limited_group(const HgAggregateLimit *limit, uint32 next, uint32 count)
{
	uint32 block = next / HG_BATCH_ROWS;
	uint32 offset = next % HG_BATCH_ROWS;

	if (block < limit->blocks)
		return (uint32) ((uint64) block * limit->stride % limit->blocks) * HG_BATCH_ROWS +
			   (HG_BATCH_ROWS - 1 - offset);
	return count - 1 - offset;
}

/* Returns true if a group of the current set is rejected.  May raise its results' errors. */
extern bool hg_aggregate_is_beyond(HgAggregateState *state, HgGroup *group);

#endif /* HG_AGGREGATE_LIMIT_H */
