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
#include "optimizer/optimizer.h"

#include "planner/hg_input_cost.h"
#include "planner/hg_join_clauses.h"
#include "planner/hg_join_plan.h"

/* The HgSide of two paths that is not partial, where processes take both sides together; or -1. */
extern int hg_join_read_once(const Path *outer, const Path *inner, bool together);

/* What joins of a relation by so many workers have in common. */
typedef struct HgJoinShare
{
	int workers;
	double rows; /* that each process returns */
	Cost cost;	 /* at least, beside both sides */
} HgJoinShare;

/* Fill in what they have in common, for the rows that the relation is expected to have. */
extern void hg_join_share(const RelOptInfo *joinrel, int workers, HgJoinShare *share);

/*
 * Returns by how much the parts of hg_join_least_cost() are too high where one side is read once,
 * or rows are only counted.
 */
extern Cost hg_join_least_saving(const RelOptInfo *joinrel, const HgJoinShare *share,
								 const HgInputCost *outer, const HgInputCost *inner, bool together);

/*
 * A lower bound of the total cost of a join of two paths that are not parameterized, whose sides
 * processes take together or each for itself.
 */
static inline Cost
hg_join_least_cost(const RelOptInfo *joinrel, const HgJoinShare *share, const HgInputCost *outer,
				   const HgInputCost *inner, bool together)
{
	Cost least = share->cost + outer->least - outer->workers + inner->least - inner->workers;

	if (outer->joined)
		least -= Min(outer->path->rows, share->rows) * HG_THROUGH_SAVED * cpu_operator_cost;
	if (joinrel->reltarget->exprs == NIL ||
		(together && outer->path->parallel_workers != inner->path->parallel_workers))
		least -= hg_join_least_saving(joinrel, share, outer, inner, together);
	return least;
}

/*
 * Fill in rows and costs of a path of these inputs and keys whose other fields are set.  A path
 * with parallel_workers is partial.
 */
extern void hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
						 const JoinPathExtraData *extra, const HgJoinKeys *keys);

#endif /* HG_JOIN_COST_H */
