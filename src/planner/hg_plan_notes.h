/*-------------------------------------------------------------------------
 *
 * hg_plan_notes.h
 *	  Notes about a statement's planning that explain the plan afterwards.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLAN_NOTES_H
#define HG_PLAN_NOTES_H

#include "nodes/pathnodes.h"

#include "backend/hg_last_plan.h"

/* Why our node does not make some groups. */
typedef struct HgGroupsNote
{
	const PlannerInfo *root;
	Relids relids; /* of the grouped relation; NULL: not of partitions */
	HgPlanReason reason;
} HgGroupsNote;

/* Most statements have no more groups. */
#define HG_FEW_GROUPS 4

/* Notes of one run of the planner. */
typedef struct HgPlanNotes
{
	struct HgPlanNotes *outer; /* of the enclosing run; or NULL */
	MemoryContext context;	   /* lives until the plan is there */
	PlannerInfo *root;		   /* of the statement; NULL until it has been planned */
	HgGroupsNote *groups;	   /* [allocated] */
	HgGroupsNote few[HG_FEW_GROUPS];
	int count;
	int allocated;
} HgPlanNotes;

/* Begins the notes of a run of the planner. The caller owns them. */
extern void hg_plan_notes_begin(HgPlanNotes *notes);
/* Ends the notes of a run. Call it on errors too. */
extern void hg_plan_notes_end(HgPlanNotes *notes);

/* Notes that a query, or a part of it, has been planned. */
extern void hg_plan_notes_query(PlannerInfo *root);

/* Notes why our node does not make some groups, unless its path is chosen. */
extern void hg_plan_notes_groups(const PlannerInfo *root, const RelOptInfo *rel,
								 HgPlanReason reason);

/*
 * Returns what was noted of these groups, or else what was noted last of root, which is of the
 * groups that they are a part of; HG_REASON_COST if nothing was noted of root.
 */
extern HgPlanReason hg_plan_notes_find(const HgPlanNotes *notes, const PlannerInfo *root,
									   const RelOptInfo *rel);

#endif /* HG_PLAN_NOTES_H */
