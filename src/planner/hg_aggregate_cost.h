/*-------------------------------------------------------------------------
 *
 * hg_aggregate_cost.h
 *	  What the aggregate node costs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_COST_H
#define HG_AGGREGATE_COST_H

#include "planner/hg_aggregate_plan.h"

/* What a forced aggregate costs, the whole of it. */
#define HG_FORCED_AGGREGATE_COST 0.001

/* Fill in rows and costs of a path whose other fields are set; groups is before HAVING. */
extern void hg_aggregate_cost(PlannerInfo *root, HgAggregatePath *path, double groups);

#endif /* HG_AGGREGATE_COST_H */
