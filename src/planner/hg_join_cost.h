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

/*
 * Fill in rows and costs of a path of these inputs whose other fields are set; exact tells whether
 * the keys need no recheck, key_width is in bytes.  A path with parallel_workers is partial.
 */
extern void hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
						 const JoinPathExtraData *extra, bool exact, uint32 key_width);

#endif /* HG_JOIN_COST_H */
