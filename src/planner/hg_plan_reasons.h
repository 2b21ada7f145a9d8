/*-------------------------------------------------------------------------
 *
 * hg_plan_reasons.h
 *	  Why joins and aggregations of a statement's plan are not done by nodes of ours.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLAN_REASONS_H
#define HG_PLAN_REASONS_H

#include "postgres.h"

/* Hook into the planner for good: what it plans becomes the session's last plan. */
extern void hg_plan_reasons_init(void);

#endif /* HG_PLAN_REASONS_H */
