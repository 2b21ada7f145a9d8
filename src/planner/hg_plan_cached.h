/*-------------------------------------------------------------------------
 *
 * hg_plan_cached.h
 *	  Joins and aggregations of plans that were planned earlier.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLAN_CACHED_H
#define HG_PLAN_CACHED_H

#include "nodes/plannodes.h"

#include "backend/hg_last_plan.h"

/* Adds the joins and aggregations of a statement to a plan, all with the same reason. */
extern void hg_plan_cached_fill(HgLastPlan *plan, const PlannedStmt *statement,
								HgPlanReason reason);

/* Installs an ExecutorStart_hook, which reports executed plans from the plan cache. */
extern void hg_plan_cached_init(void);

#endif /* HG_PLAN_CACHED_H */
