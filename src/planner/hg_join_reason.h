/*-------------------------------------------------------------------------
 *
 * hg_join_reason.h
 *	  Why a join of core's is not one of ours.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_REASON_H
#define HG_JOIN_REASON_H

#include "nodes/pathnodes.h"

#include "backend/hg_last_plan.h"

/*
 * Returns the first reason, in the order of hg_join_path.c, why a chosen join of core's is not one
 * of ours. Only while the planner's memory exists.
 */
extern HgPlanReason hg_join_reason(PlannerInfo *root, const JoinPath *path);

#endif /* HG_JOIN_REASON_H */
