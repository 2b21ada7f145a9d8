/*-------------------------------------------------------------------------
 *
 * hg_plan_notes.c
 *	  Notes about a statement's planning that explain the plan afterwards.
 *
 * There are no notes about joins, which are considered by the thousand: why a join of the plan is
 * core's can be derived from its path afterwards (hg_plan_reasons.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "planner/hg_plan_notes.h"

/* Of the innermost run of the planner; NULL if none runs. */
static HgPlanNotes *hg_plan_notes;

void
hg_plan_notes_begin(HgPlanNotes *notes)
{
	notes->outer = hg_plan_notes;
	notes->context = CurrentMemoryContext;
	notes->root = NULL;
	notes->groups = notes->few;
	notes->count = 0;
	notes->allocated = HG_FEW_GROUPS;
	hg_plan_notes = notes;
}

void
hg_plan_notes_end(HgPlanNotes *notes)
{
	hg_plan_notes = notes->outer;
}

/*
 * Returns true if notes are taken. They are not if the memory of the planning may be freed before
 * the statement has its plan, as with an extension that plans parts for itself.
 */
static inline bool
hg_plan_notes_take(const PlannerInfo *root)
{
	return hg_plan_notes != NULL && hg_plan_notes->context == root->planner_cxt;
}

void
hg_plan_notes_query(PlannerInfo *root)
{
	if (hg_plan_notes_take(root) && root->parent_root == NULL)
		hg_plan_notes->root = root;
}

void
hg_plan_notes_groups(const PlannerInfo *root, const RelOptInfo *rel, HgPlanReason reason)
{
	HgPlanNotes *notes = hg_plan_notes;

	if (!hg_plan_notes_take(root))
		return;
	if (notes->count == notes->allocated)
	{
		HgGroupsNote *more =
			MemoryContextAlloc(notes->context, 2 * notes->allocated * sizeof(HgGroupsNote));

		memcpy(more, notes->groups, notes->count * sizeof(HgGroupsNote));
		notes->groups = more;
		notes->allocated *= 2;
	}
	notes->groups[notes->count++] = (HgGroupsNote){root, rel->relids, reason};
}

HgPlanReason
hg_plan_notes_find(const HgPlanNotes *notes, const PlannerInfo *root, const RelOptInfo *rel)
{
	HgPlanReason found = HG_REASON_COST;

	/* the whole relation is noted last */
	for (int i = 0; i < notes->count; i++)
		if (notes->groups[i].root == root)
		{
			found = notes->groups[i].reason;
			if (bms_equal(notes->groups[i].relids, rel->relids))
				break;
		}
	return found;
}
