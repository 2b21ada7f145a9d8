/*-------------------------------------------------------------------------
 *
 * hg_scan_path.c
 *	  Sequential scans that core would not choose, as inputs of our nodes.
 *
 * Our nodes read a table faster than core does. A sequential scan may therefore be the best input
 * even if core prefers an index scan and has dropped the sequential one.
 *
 * The rows of a relation need not be those in its heap: other extensions replace a table's paths
 * by paths that read elsewhere, and users' hints remove paths. A sequential scan is therefore read
 * only if one is among the relation's paths, which must all return the same rows. If core has
 * found a better path, the hook puts the scan back among core's own paths before other extensions
 * see them. Extensions that were loaded later and change paths before calling earlier hooks come
 * first; one that replaces the paths later replaces the scan too (test/t/join_provider.pl).
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
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"
#include "resident/hg_resident_memory.h"

/* Returns true if a path is core's own sequential scan of a relation. */
static bool
hg_path_is_scan(const Path *path, const RelOptInfo *rel)
{
	return IsA(path, Path) && path->pathtype == T_SeqScan && path->parent == rel &&
		   path->param_info == NULL;
}

/*
 * Returns the cheapest unparameterized path if all paths are core's own scans of a table and none
 * is sequential; else NULL.
 */
static const Path *
hg_cheapest_index_path(const List *paths)
{
	const Path *cheapest = NULL;
	ListCell *lc;

	foreach (lc, paths)
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
		/* the list is ordered by cost */
		if (path->param_info == NULL && cheapest == NULL)
			cheapest = path;
	}
	return cheapest;
}

/*
 * Returns the planner of the query that reads a subquery's rows, or NULL. Set operations only hand
 * on the rows of their branches.
 */
static inline const PlannerInfo *
hg_reading_root(const PlannerInfo *root)
{
	do
		root = root->parent_root;
	while (root != NULL && root->parse->setOperations != NULL);
	return root;
}

/*
 * Returns true if a relation will be joined, directly or as a subquery's rows or groups. The number
 * of tables alone rules out queries that look rows up in one table.
 */
static inline bool
hg_rel_is_joined(const PlannerInfo *root)
{
	const PlannerInfo *above;

	if (root->simple_rel_array_size <= 2 && root->parent_root == NULL)
		return false;
	above = hg_reading_root(root);
	return bms_membership(root->all_baserels) == BMS_MULTIPLE ||
		   (above != NULL && bms_membership(above->all_baserels) == BMS_MULTIPLE);
}

/* Returns true if a query groups or aggregates its rows. */
static inline bool
hg_query_aggregates(const PlannerInfo *root)
{
	return root->parse->hasAggs || root->parse->groupClause != NIL ||
		   root->parse->distinctClause != NIL;
}

/*
 * Returns true if our node may aggregate a relation, directly or as a subquery's rows, with the
 * help of cached columns. Queries without aggregates or groups, and servers without cached columns,
 * are ruled out first.
 */
static inline bool
hg_rel_is_aggregated(const PlannerInfo *root)
{
	const PlannerInfo *above = hg_reading_root(root);

	return (hg_query_aggregates(root) || (above != NULL && hg_query_aggregates(above))) &&
		   hg_resident && hg_resident_memory_exists();
}

/* Returns true if our node may sort a relation, with the help of cached columns. */
static inline bool
hg_rel_is_sorted(const PlannerInfo *root)
{
	return root->parse->sortClause != NIL && hg_resident && hg_resident_memory_exists();
}

/* Inserts a path into a list where add_path() would. */
static List *
hg_insert_path(List *paths, Path *path)
{
	int position = 0;
	ListCell *lc;

	foreach (lc, paths)
	{
		const Path *other = lfirst(lc);

		if (hg_path_disabled_nodes(other) > hg_path_disabled_nodes(path) ||
			(hg_path_disabled_nodes(other) == hg_path_disabled_nodes(path) &&
			 other->total_cost > path->total_cost))
			break;
		position++;
	}
	return list_insert_nth(paths, position, path);
}

/*
 * Adds a sequential scan to the paths of a relation if it may be the best for a node. Only an
 * aggregation itself knows what it would gain.
 */
static List *
hg_keep_scan(const List *paths, Path *scan, bool joined)
{
	const Path *cheapest = hg_cheapest_index_path(paths);
	List *kept = (List *) paths;

	if (cheapest != NULL && (!joined || hg_force ||
							 (hg_least_scan_cost(scan) <= cheapest->total_cost &&
							  scan->total_cost - hg_scan_gain(scan) < cheapest->total_cost)))
		kept = hg_insert_path(kept, scan);
	return kept;
}

/* Adds sequential scans, serial and parallel, if they may be the best for a node. */
static void
hg_scan_path_keep(PlannerInfo *root, RelOptInfo *rel, bool joined)
{
	int workers;

	if (!hg_seqscan_enabled(rel) || !bms_is_empty(rel->lateral_relids))
		return;
	if (hg_cheapest_index_path(rel->pathlist) != NULL)
		rel->pathlist =
			hg_keep_scan(rel->pathlist, create_seqscan_path(root, rel, NULL, 0), joined);
	if (!rel->consider_parallel || hg_cheapest_index_path(rel->partial_pathlist) == NULL)
		return;
	workers = compute_parallel_worker(rel, rel->pages, -1, max_parallel_workers_per_gather);
	if (workers > 0)
		rel->partial_pathlist = hg_keep_scan(rel->partial_pathlist,
											 create_seqscan_path(root, rel, NULL, workers), joined);
}

void
hg_restore_scans(PlannerInfo *root, RelOptInfo *rel, const RangeTblEntry *rte)
{
	bool joined = hg_rel_is_joined(root);

	if (rte->rtekind != RTE_RELATION ||
		(!joined && !hg_rel_is_aggregated(root) && !hg_rel_is_sorted(root)))
		return;
	hg_scan_share_note(rel, rte->relid);
	if (joined || hg_scan_share(rel) > 0)
		hg_scan_path_keep(root, rel, joined);
}

/* Returns the sequential scan among a relation's paths or below a projection there. */
static Path *
hg_find_scan(const RelOptInfo *rel, const List *paths)
{
	ListCell *lc;

	if (!hg_seqscan_enabled(rel) || !bms_is_empty(rel->lateral_relids))
		return NULL;
	foreach (lc, paths)
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
hg_scan_path_find(PlannerInfo *root, RelOptInfo *rel)
{
	Path *scan = hg_find_scan(rel, rel->pathlist);

	/* core may have replaced it by a Gather of the parallel scan, not knowing the saving */
	if (scan == NULL && hg_find_scan(rel, rel->partial_pathlist) != NULL)
		scan = create_seqscan_path(root, rel, NULL, 0);
	return scan;
}

/* Returns the cheaper input of a path and a sequential scan of the relation, which may be NULL. */
static Path *
hg_cheaper_input(Path *path, Path *scan)
{
	return scan != NULL && scan->total_cost - hg_scan_gain(scan) < path->total_cost ? scan : path;
}

/* Returns true if a sequential scan may replace a path. */
static bool
hg_path_may_be_scan(const Path *path)
{
	return path->param_info == NULL &&
		   (path->pathtype == T_BitmapHeapScan || path->pathtype == T_IndexScan ||
			path->pathtype == T_IndexOnlyScan || path->pathtype == T_Gather);
}

Path *
hg_cheapest_input(PlannerInfo *root, RelOptInfo *rel)
{
	Path *path = rel->cheapest_total_path;

	/* core knows the cost of a Gather, but not what is cached */
	if (path->pathtype == T_Gather && hg_scan_share(rel) == 0)
		return path;
	return hg_path_may_be_scan(path) ? hg_cheaper_input(path, hg_scan_path_find(root, rel)) : path;
}

Path *
hg_cheapest_partial_input(const RelOptInfo *rel)
{
	Path *path = rel->partial_pathlist != NIL ? linitial(rel->partial_pathlist) : NULL;

	return path != NULL && hg_path_may_be_scan(path)
			   ? hg_cheaper_input(path, hg_find_scan(rel, rel->partial_pathlist))
			   : path;
}

bool
hg_query_is_rescanned(const PlannerInfo *root)
{
	/* plan_params is only set for the subquery that is being planned */
	for (const PlannerInfo *above = root->parent_root; above != NULL; above = above->parent_root)
		if (above->plan_params != NIL)
			return true;
	return false;
}
