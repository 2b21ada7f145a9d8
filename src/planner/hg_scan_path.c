/*-------------------------------------------------------------------------
 *
 * hg_scan_path.c
 *	  Sequential scans that core would not take, to be read by the nodes.
 *
 * The nodes read a table faster than core does, so that its sequential scan may be the best input
 * where core has found an index scan that it likes better, and has dropped the other one.
 *
 * But the rows of a relation need not be those that a sequential scan finds in its heap: other
 * extensions replace the paths of a table by their own, which bring rows from elsewhere, and
 * hints of users take paths away.  So a sequential scan is read only where one is among the
 * relation's paths, which all are to give the same rows.  Where core has found better, the
 * hook puts it back among core's own paths before other extensions look at them, but for those
 * that were loaded later and change paths before they call the hooks that were there: who
 * replaces them later replaces it too (test/t/011_provider.pl).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "hg_guc.h"
#include "planner/hg_join_cost.h"
#include "planner/hg_scan_path.h"

static set_rel_pathlist_hook_type hg_prev_set_rel_pathlist_hook;

/* Is a path core's own sequential scan of a relation, for one process? */
static bool
hg_path_is_scan(const Path *path, const RelOptInfo *rel)
{
	return IsA(path, Path) && path->pathtype == T_SeqScan && path->parent == rel &&
		   path->param_info == NULL;
}

/*
 * The cheapest unparameterized path of a relation whose paths are core's own scans of its table,
 * none of them sequential; else NULL.
 */
static const Path *
hg_rel_index_path(const RelOptInfo *rel)
{
	const Path *cheapest = NULL;
	ListCell *lc;

	foreach (lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		switch (nodeTag(path))
		{
			case T_IndexPath:
			case T_BitmapHeapPath:
			case T_TidPath:
			case T_TidRangePath:
				break;
			default:
				return NULL;
		}
		/* they are in order */
		if (path->param_info == NULL && cheapest == NULL)
			cheapest = path;
	}
	return cheapest;
}

/* Is a relation to be joined, by itself or as the groups that a subquery makes of it? */
static bool
hg_rel_is_joined(const PlannerInfo *root)
{
	return bms_membership(root->all_baserels) == BMS_MULTIPLE ||
		   (root->parent_root != NULL &&
			bms_membership(root->parent_root->all_baserels) == BMS_MULTIPLE);
}

/* Put a path among those of a relation, where add_path() would. */
static void
hg_rel_insert_path(RelOptInfo *rel, Path *path)
{
	int place = 0;
	ListCell *lc;

	foreach (lc, rel->pathlist)
	{
		const Path *other = lfirst(lc);

		if (hg_path_disabled_nodes(other) > hg_path_disabled_nodes(path) ||
			(hg_path_disabled_nodes(other) == hg_path_disabled_nodes(path) &&
			 other->total_cost > path->total_cost))
			break;
		place++;
	}
	rel->pathlist = list_insert_nth(rel->pathlist, place, path);
}

/* Have a sequential scan among the paths of a relation where it may be the best for a node. */
static void
hg_scan_path_keep(PlannerInfo *root, RelOptInfo *rel)
{
	const Path *cheapest = hg_rel_index_path(rel);
	Path *scan;

	if (cheapest == NULL || !hg_seqscan_enabled(rel) || !bms_is_empty(rel->lateral_relids) ||
		!hg_rel_is_joined(root))
		return;
	scan = create_seqscan_path(root, rel, NULL, 0);
	if (hg_force || scan->total_cost - hg_path_saving(scan) < cheapest->total_cost)
		hg_rel_insert_path(rel, scan);
}

static void
hg_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (hg_enabled && rte->rtekind == RTE_RELATION)
		hg_scan_path_keep(root, rel);
	if (hg_prev_set_rel_pathlist_hook != NULL)
		hg_prev_set_rel_pathlist_hook(root, rel, rti, rte);
}

Path *
hg_scan_path_find(const RelOptInfo *rel)
{
	ListCell *lc;

	if (!hg_seqscan_enabled(rel) || !bms_is_empty(rel->lateral_relids))
		return NULL;
	foreach (lc, rel->pathlist)
	{
		Path *path = lfirst(lc);

		if (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if (hg_path_is_scan(path, rel))
			return path;
	}
	return NULL;
}

Path *
hg_cheapest_input(const RelOptInfo *rel)
{
	Path *total = rel->cheapest_total_path;
	Path *scan;

	if ((total->pathtype != T_BitmapHeapScan && total->pathtype != T_IndexScan &&
		 total->pathtype != T_IndexOnlyScan) ||
		total->param_info != NULL)
		return total;
	scan = hg_scan_path_find(rel);
	return scan != NULL && scan->total_cost - hg_path_saving(scan) < total->total_cost ? scan
																					   : total;
}

void
hg_scan_path_init(void)
{
	hg_prev_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = hg_set_rel_pathlist;
}
