/*-------------------------------------------------------------------------
 *
 * hg_plan_cached.h
 *	  Joins and aggregations of plans whose planning is over and forgotten.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLAN_CACHED_H
#define HG_PLAN_CACHED_H

#include "nodes/plannodes.h"

#include "backend/hg_last_plan.h"

/* Fill a plan with the steps of a statement, as far as its nodes tell, all with this reason. */
extern void hg_plan_cached_fill(HgLastPlan *plan, const PlannedStmt *statement,
								HgPlanReason reason);

/* Hook into the executor's start for good: to see plans run that were not planned for that. */
extern void hg_plan_cached_init(void);

#endif /* HG_PLAN_CACHED_H */
