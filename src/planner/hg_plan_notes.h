/*-------------------------------------------------------------------------
 *
 * hg_plan_notes.h
 *	  What is noted of a statement while it is planned, for whoever asks why.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLAN_NOTES_H
#define HG_PLAN_NOTES_H

#include "nodes/pathnodes.h"

#include "backend/hg_last_plan.h"

/* Why groups are not made by a node of ours. */
typedef struct HgGroupsNote
{
	const PlannerInfo *root;
	Relids relids; /* of the grouped relation; NULL: it is not one of partitions */
	HgPlanReason reason;
} HgGroupsNote;

/* Most statements have no more groups. */
#define HG_FEW_GROUPS 4

/* Notes of one run of the planner. */
typedef struct HgPlanNotes
{
	struct HgPlanNotes *outer; /* of a run that this one runs in; or NULL */
	MemoryContext context;	   /* that lasts until the plan is there */
	PlannerInfo *root;		   /* of the statement; NULL until it has been planned */
	HgGroupsNote *groups;	   /* [allocated]: */
	HgGroupsNote few[HG_FEW_GROUPS];
	int count;
	int allocated;
} HgPlanNotes;

/* Begin to take notes, and end it; on errors too.  The notes are the caller's. */
extern void hg_plan_notes_begin(HgPlanNotes *notes);
extern void hg_plan_notes_end(HgPlanNotes *notes);

/* Note that a query, or one that it is a part of, has been planned. */
extern void hg_plan_notes_query(PlannerInfo *root);

/* Note why groups are not made by a node of ours, unless its path is chosen. */
extern void hg_plan_notes_groups(const PlannerInfo *root, const RelOptInfo *rel,
								 HgPlanReason reason);

/* Returns what was noted of groups, or of those that they are parts of. */
extern HgPlanReason hg_plan_notes_find(const HgPlanNotes *notes, const PlannerInfo *root,
									   const RelOptInfo *rel);

#endif /* HG_PLAN_NOTES_H */
