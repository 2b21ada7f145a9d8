/*-------------------------------------------------------------------------
 *
 * hg_join_cost.h
 *	  What the join node costs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COST_H
#define HG_JOIN_COST_H

#include "nodes/pathnodes.h"

#include "planner/hg_input_cost.h"
#include "planner/hg_join_plan.h"

/* The HgSide of two paths that is not partial, where processes take both sides together; or -1. */
extern int hg_join_read_once(const Path *outer, const Path *inner, bool together);

/*
 * A lower bound of the total cost of a join of two paths that are not parameterized, whose sides
 * processes take together or each for itself.
 */
extern Cost hg_join_least_cost(const RelOptInfo *joinrel, const HgInputCost *const inputs[2],
							   bool together);

/* The keys of a join. */
typedef struct HgJoinKeys
{
	bool exact;		  /* matches need no recheck */
	uint32 width;	  /* in bytes */
	QualCost cost[2]; /* to evaluate those of a row, by HgSide */
} HgJoinKeys;

/* What the keys of hash clauses cost, whose outer_is_left is set, by HgSide. */
extern void hg_join_keys_cost(PlannerInfo *root, List *hash_clauses, QualCost cost[2]);

/*
 * Fill in rows and costs of a path of these inputs and keys whose other fields are set.  A path
 * with parallel_workers is partial.
 */
extern void hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
						 const JoinPathExtraData *extra, const HgJoinKeys *keys);

#endif /* HG_JOIN_COST_H */
