/*-------------------------------------------------------------------------
 *
 * hg_aggregate_cost.h
 *	  The cost of the aggregate node.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_COST_H
#define HG_AGGREGATE_COST_H

#include "planner/hg_aggregate_plan.h"

/* Fills in rows and costs of a path; groups is the number of groups before HAVING. */
extern void hg_aggregate_cost(PlannerInfo *root, HgAggregatePath *path, double groups);

#endif /* HG_AGGREGATE_COST_H */
