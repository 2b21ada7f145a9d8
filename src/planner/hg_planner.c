/*-------------------------------------------------------------------------
 *
 * hg_planner.c
 *	  Hooks into the planner: which of our paths are considered where.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "hg_guc.h"
#include "planner/hg_paths.h"
#include "planner/hg_plan_notes.h"
#include "planner/hg_plan_reasons.h"

static set_rel_pathlist_hook_type hg_prev_set_rel_pathlist_hook;
static create_upper_paths_hook_type hg_prev_create_upper_paths_hook;

static void
hg_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (hg_enabled)
	{
		hg_raise_join_rows(root, rel);
		hg_restore_scans(root, rel, rte);
	}
	if (hg_prev_set_rel_pathlist_hook != NULL)
		hg_prev_set_rel_pathlist_hook(root, rel, rti, rte);
	if (hg_enabled)
		hg_consider_scan_lookup(root, rel, rte);
}

static void
hg_create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
					  RelOptInfo *output_rel, void *extra)
{
	if (hg_prev_create_upper_paths_hook != NULL)
		hg_prev_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	/* what is asked about a plan's reasons includes that our nodes are switched off */
	if (stage == UPPERREL_GROUP_AGG && extra != NULL)
		hg_consider_aggregate(root, input_rel, output_rel, extra);
	else if (stage == UPPERREL_FINAL)
		hg_plan_notes_query(root);
	if (!hg_enabled)
		return;
	switch (stage)
	{
		case UPPERREL_SETOP:
			hg_consider_set_operation(root, output_rel);
			break;
		case UPPERREL_PARTIAL_DISTINCT:
		case UPPERREL_DISTINCT:
			hg_consider_distinct(root, input_rel, output_rel, stage == UPPERREL_PARTIAL_DISTINCT);
			break;
		case UPPERREL_ORDERED:
			hg_consider_sort(root, input_rel, output_rel);
			break;
		case UPPERREL_FINAL:
			hg_memoize_subquery(root, output_rel);
			break;
		default:
			break;
	}
}

void
hg_planner_init(bool preloading)
{
	hg_plan_explain_init(preloading);
	if (!preloading)
		return;
	hg_prev_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = hg_set_rel_pathlist;
	hg_prev_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = hg_create_upper_paths;
	hg_join_path_acquire();
	hg_plan_reasons_init();
	hg_plan_cached_init();
}
