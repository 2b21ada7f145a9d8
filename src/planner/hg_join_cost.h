/*-------------------------------------------------------------------------
 *
 * hg_join_cost.h
 *	  The cost of the join node.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COST_H
#define HG_JOIN_COST_H

#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"

#include "planner/hg_input_cost.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_join_plan.h"

/* Returns the side that is not partial, if processes join both sides together; else -1. */
extern int hg_join_read_once(const Path *outer, const Path *inner, bool parallel_hash);

/* What all joins of a relation by the same number of workers have in common. */
typedef struct HgJoinShare
{
	int workers;
	double rows; /* that each process returns */
	Cost cost;	 /* lower bound of the cost beside both sides */
} HgJoinShare;

/* Fills in *share for the relation's expected rows. */
extern void hg_join_share(const RelOptInfo *joinrel, int workers, HgJoinShare *share);

/* Returns how much too high hg_join_least_cost() is for counted rows or a side read once. */
extern Cost hg_join_least_saving(const RelOptInfo *joinrel, const HgJoinShare *share,
								 const HgInputCost *outer, const HgInputCost *inner,
								 bool parallel_hash);

/*
 * Returns a lower bound of the total cost of a join of two unparameterized paths. together:
 * processes join both sides together, and not each for itself.
 */
static inline Cost
hg_join_least_cost(const RelOptInfo *joinrel, const HgJoinShare *share, const HgInputCost *outer,
				   const HgInputCost *inner, bool parallel_hash)
{
	Cost least = share->cost + outer->least - outer->workers + inner->least - inner->workers;

	if (outer->joined)
		least -= Min(outer->path->rows, share->rows) * hg_operator_cost(HG_THROUGH_SAVED_NS);
	if (joinrel->reltarget->exprs == NIL ||
		(parallel_hash && outer->path->parallel_workers != inner->path->parallel_workers))
		least -= hg_join_least_saving(joinrel, share, outer, inner, parallel_hash);
	return least;
}

/*
 * Fills in rows and costs of a path with these inputs and keys whose other fields are set. A path
 * with parallel_workers is partial.
 */
extern void hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
						 const JoinPathExtraData *extra, const HgJoinKeys *keys);

#endif /* HG_JOIN_COST_H */
