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
 * Returns why a join of core's that was chosen is not one of ours: what stood in the way first,
 * while paths were made.  For as long as the planner's memory is there.
 */
extern HgPlanReason hg_join_reason(PlannerInfo *root, const JoinPath *path);

#endif /* HG_JOIN_REASON_H */
