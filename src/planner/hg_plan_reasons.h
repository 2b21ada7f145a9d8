/*-------------------------------------------------------------------------
 *
 * hg_plan_reasons.h
 *	  Why joins and aggregations of a plan are not done by our nodes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLAN_REASONS_H
#define HG_PLAN_REASONS_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "backend/hg_last_plan.h"

/* hg_plan_cached.c: joins and aggregations of plans that were planned earlier */

/* Returns the inputs of a plan node, without the nested loop of an adaptive join of ours. */
extern List *hg_plan_inputs(const Plan *plan);

/* Adds the joins and aggregations of a statement to a plan, all with the same reason. */
extern void hg_plan_cached_fill(HgLastPlan *plan, const PlannedStmt *statement,
								HgPlanReason reason);

/* Installs an ExecutorStart_hook, which reports executed plans from the plan cache. */
extern void hg_plan_cached_init(void);

/* Why joins and aggregations of a plan are not done by our nodes. */

/*
 * Registers the option of EXPLAIN, if PostgreSQL lets extensions add options. planned: this
 * session's statements are planned with our nodes, so that reasons are known.
 */
extern void hg_plan_explain_init(bool planned);

/*
 * Installs a planner_hook, which records the plan of each statement as the session's last plan.
 */
extern void hg_plan_reasons_init(void);

#endif /* HG_PLAN_REASONS_H */
