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
