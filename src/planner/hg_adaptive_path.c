/*-------------------------------------------------------------------------
 *
 * hg_adaptive_path.c
 *	  Joins that count their outer rows before they choose between an index and hashing.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"

#include "batch/hg_input.h"
#include "executor/join/hg_join_lookup.h"
#include "planner/hg_core_path.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"

/* More outer rows are never collected to be counted. */
#define HG_ADAPTIVE_MOST_ROWS 1000000.0

/*
 * Lookups are left to run until they cost so many times what hashing does: prices of either are
 * right within such a factor, core's plan would look them all up, and where an estimate was wrong
 * there are many more of them as a rule.
 */
#define HG_ADAPTIVE_MARGIN 4.0

/* The same if the inner side is cached: hashing reads memory, while lookups read pages. */
#define HG_ADAPTIVE_CACHED_MARGIN 1.0

/*
 * Where the first rows matter, lookups that were made before the switch come on top of hashing: of
 * what the loop alone would have taken by then, hashing is to be no more than a tenth.
 */
#define HG_ADAPTIVE_FIRST_MARGIN 10.0

/*
 * In a subquery that is run again for each outer row a loop is cheap up to so many times as much:
 * making the node ready is paid for in each run, and what a Memoize has found is kept.
 */
#define HG_ADAPTIVE_RESCANS 10.0

/* ---------------------------------------------------------------------
 * The outer rows as a path
 * ---------------------------------------------------------------------
 */

static Plan *
hg_feed_plan(PlannerInfo *root pg_attribute_unused(), RelOptInfo *rel pg_attribute_unused(),
			 CustomPath *best_path, List *tlist, List *clauses pg_attribute_unused(),
			 List *custom_plans pg_attribute_unused())
{
	CustomScan *cscan = makeNode(CustomScan);

	/* the clauses are those of the outer path, whose rows have passed them */
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_scan_tlist = copyObject(tlist);
	cscan->methods = &hg_join_feed_methods;
	return &cscan->scan.plan;
}

static const CustomPathMethods hg_feed_path_methods = {
	.CustomName = "HashGraphFeed",
	.PlanCustomPath = hg_feed_plan,
};

/* A path that returns the rows of an outer path that a join holds. */
static Path *
hg_feed_path(const Path *outer)
{
	CustomPath *feed = makeNode(CustomPath);

	feed->path = *outer;
	feed->path.type = T_CustomPath;
	feed->path.pathtype = T_CustomScan;
	feed->path.pathkeys = NIL;
	feed->path.parallel_aware = false;
	feed->methods = &hg_feed_path_methods;
	return &feed->path;
}

/* ---------------------------------------------------------------------
 * Adaptive paths
 * ---------------------------------------------------------------------
 */

/* The inner relation's index path by which rows of an outer path are looked up most cheaply. */
static Path *
hg_adaptive_index(const Path *outer, const RelOptInfo *innerrel)
{
	Path *best = NULL;
	ListCell *lc;

	foreach (lc, innerrel->cheapest_parameterized_paths)
	{
		Path *inner = lfirst(lc);

		if (inner->param_info != NULL && (IsA(inner, IndexPath) || IsA(inner, BitmapHeapPath)) &&
			bms_is_subset(PATH_REQ_OUTER(inner), outer->parent->relids) &&
			(outer->parallel_workers == 0 || inner->parallel_safe) &&
			(best == NULL || inner->total_cost < best->total_cost))
			best = inner;
	}
	return best;
}

/*
 * An adaptive join returns rows in no order.  The order of a loop that it replaces is given up if
 * a sort of the expected rows takes no more than this, and the query does not return it.
 */
#define HG_ADAPTIVE_SORT_UNITS 25.0

/* Returns true if rows are grouped in an order that the groups are not returned in. */
static bool
hg_groups_are_sorted_again(const PlannerInfo *root)
{
	return root->group_pathkeys != NIL && root->query_pathkeys == root->group_pathkeys &&
		   root->sort_pathkeys != NIL &&
		   linitial(root->sort_pathkeys) != linitial(root->group_pathkeys);
}

/* Returns true if the order of a loop's rows, if they have one, may be given up. */
static bool
hg_loop_order_may_go(PlannerInfo *root, const Path *loop)
{
	return loop->pathkeys == NIL ||
		   ((hg_groups_are_sorted_again(root) || !hg_order_is_useful(root, loop)) &&
			!hg_first_rows_matter(root, loop->parent) &&
			hg_sort_cost(root, loop->pathkeys, loop->rows, loop->pathtarget->width) <=
				HG_ADAPTIVE_SORT_UNITS);
}

/* Returns true if a path is a nested loop of two relations into an index, whose order may go. */
static bool
hg_path_is_lookup(PlannerInfo *root, const Path *path, const RelOptInfo *outerrel,
				  const RelOptInfo *innerrel)
{
	const JoinPath *loop = (const JoinPath *) path;

	return IsA(path, NestPath) && path->param_info == NULL &&
		   loop->innerjoinpath->param_info != NULL && loop->outerjoinpath->parent == outerrel &&
		   loop->innerjoinpath->parent == innerrel && hg_loop_order_may_go(root, path);
}

/* The first of a relation's paths, partial ones or all, which is the cheapest; or NULL. */
static Path *
hg_first_path(const RelOptInfo *rel, bool partial)
{
	List *paths = partial ? rel->partial_pathlist : rel->pathlist;

	return paths != NIL ? linitial(paths) : NULL;
}

/*
 * Returns true if the cheapest path of a join (NULL: there is none) is better than one that looks
 * rows up and costs at least so much, or is an adaptive one and as good.
 */
static bool
hg_adaptive_is_beaten(const Path *first, Cost least)
{
	const HgJoinPath *ours = first != NULL ? hg_path_join(first) : NULL;

	if (ours != NULL && ours->lookup_rows > 0)
		return first->total_cost <= least * HG_FUZZ_FACTOR;
	return first != NULL && first->total_cost * HG_FUZZ_FACTOR < least;
}

/* Returns true if clauses that no row decides put a Result above a relation's scan. */
static bool
hg_rel_is_gated(const PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell *lc;

	if (root->hasPseudoConstantQuals)
		foreach (lc, rel->baserestrictinfo)
			if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
				return true;
	return false;
}

NestPath *
hg_adaptive_loop(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Cost outer_cost,
				 const RelOptInfo *innerrel, JoinType join_type, JoinPathExtraData *extra)
{
	const Path *first = hg_first_path(joinrel, outer->parallel_workers > 0);
	NestPath *loop;

	if (!hg_nestloop_enabled(extra) || outer->param_info != NULL ||
		hg_rel_is_gated(root, outer->parent) ||
		(join_type != JOIN_INNER && join_type != JOIN_LEFT && join_type != JOIN_SEMI &&
		 join_type != JOIN_ANTI))
		return NULL;
	if (first != NULL && hg_path_is_lookup(root, first, outer->parent, innerrel))
	{
		loop = palloc(sizeof(NestPath));
		*loop = *(const NestPath *) first;
		/* its outer path may return a row sooner */
		if (outer->startup_cost > loop->jpath.outerjoinpath->startup_cost &&
			hg_first_rows_matter(root, joinrel))
			return NULL;
	}
	/* of lookups in a join only core's are considered */
	else if (IS_JOIN_REL(innerrel))
		return NULL;
	else
	{
		JoinCostWorkspace workspace;
		double lookups = outer->rows - 1;
		Path *inner;

		/* before core is asked for the price of a lookup */
		if (hg_adaptive_is_beaten(first, outer_cost + lookups * hg_lookup_least_cost()))
			return NULL;
		inner = hg_adaptive_index(outer, innerrel);
		if (inner == NULL)
			return NULL;
		if (lookups > 0 &&
			hg_adaptive_is_beaten(first, outer_cost + lookups * hg_lookup_cost(root, outer, inner,
																			   inner->total_cost,
																			   outer->rows)))
			return NULL;
		hg_initial_cost_nestloop(root, &workspace, join_type, outer, inner, extra);
		loop = create_nestloop_path(root, joinrel, join_type, &workspace, extra, outer, inner,
									extra->restrictlist, NIL, NULL);
	}
	return loop;
}

/* Returns the cost of a CTE that is computed once; 0 if it is recursive, or part of its query. */
static Cost
hg_cte_cost(const PlannerInfo *root, const RangeTblEntry *rte)
{
	ListCell *lc;

	for (Index level = 0; level < rte->ctelevelsup && root != NULL; level++)
		root = root->parent_root;
	if (root == NULL || rte->self_reference)
		return 0;
	foreach (lc, root->parse->cteList)
	{
		int index = foreach_current_index(lc);

		if (strcmp(lfirst_node(CommonTableExpr, lc)->ctename, rte->ctename) == 0 &&
			index < list_length(root->cte_plan_ids) && list_nth_int(root->cte_plan_ids, index) > 0)
			return ((const Plan *) list_nth(root->glob->subplans,
											list_nth_int(root->cte_plan_ids, index) - 1))
				->total_cost;
	}
	return 0;
}

/* Returns the cost of the CTEs that relations read, whose paths only pay for reading them. */
static Cost
hg_ctes_cost(const PlannerInfo *root, const Bitmapset *relids)
{
	Cost cost = 0;
	int relid = -1;

	/* CTEs are planned first, as subplans */
	while (root->glob->subplans != NIL && (relid = bms_next_member(relids, relid)) >= 0)
	{
		const RangeTblEntry *rte = planner_rt_fetch(relid, root);
		const RelOptInfo *rel =
			relid < root->simple_rel_array_size ? root->simple_rel_array[relid] : NULL;

		if (rte->rtekind == RTE_CTE)
			cost += hg_cte_cost(root, rte);
		else if (rte->rtekind == RTE_SUBQUERY && rel != NULL && rel->subroot != NULL)
			cost += hg_ctes_cost(rel->subroot, rel->subroot->all_baserels);
	}
	return cost;
}

bool
hg_adaptive_loop_is_cheap(PlannerInfo *root, const NestPath *loop, Cost outer_cost)
{
	bool rescanned = hg_query_is_rescanned(root);
	Cost least = HG_LOOP_LEAST_UNITS * (rescanned ? HG_ADAPTIVE_RESCANS : 1);
	const Path *outer = loop->jpath.outerjoinpath;
	Cost priced =
		Max(loop->jpath.path.total_cost - outer->total_cost, outer->rows * hg_lookup_least_cost());

	/* before core is asked for the price of a lookup */
	if ((outer_cost + priced >= least ||
		 !hg_lookup_price_is_most(root, loop->jpath.innerjoinpath)) &&
		outer_cost + hg_loop_lookups_cost(root, loop) >= least)
		return false;
	return rescanned ||
		   (!hg_path_has_join(outer) && hg_ctes_cost(root, outer->parent->relids) < least);
}

/* Returns true if a join returns nothing but columns of its sides. */
static bool
hg_join_returns_columns(const HgJoinPath *path)
{
	ListCell *lc;

	foreach (lc, path->custom.path.parent->reltarget->exprs)
	{
		Expr *expr = lfirst(lc);
		bool of_side = IsA(expr, Var);

		for (int side = HG_OUTER; side <= HG_INNER && !of_side; side++)
		{
			const Path *input = list_nth(path->custom.custom_paths, side);

			of_side = list_member(input->pathtarget->exprs, expr);
		}
		if (!of_side)
			return false;
	}
	return true;
}

/*
 * The number of outer rows up to which looking them up costs no more than hashing the inner side
 * does so many times, where that costs hashing.
 */
static double
hg_adaptive_rows(PlannerInfo *root, const NestPath *loop, Cost hashing, double times)
{
	double rows = HG_ADAPTIVE_MOST_ROWS;

	/* the more there are, the more of them find their pages read: begin with the most */
	for (int step = 0; step < 2; step++)
		rows = hashing * times / hg_loop_lookup_cost(root, loop, rows);
	return Min(rows, HG_ADAPTIVE_MOST_ROWS);
}

/* Returns the number of outer rows that a process can hold until all have been counted. */
static double
hg_adaptive_held_rows(const Path *outer)
{
	return (double) get_hash_memory_limit() / 2 /
		   (double) hg_held_row_bytes(sizeof(uint64), outer->pathtarget->width);
}

/* Clauses without those that are constant in a run, which a Result above the join tests. */
static List *
hg_clauses_of_rows(List *restrictlist)
{
	List *clauses = NIL;
	ListCell *lc;

	foreach (lc, restrictlist)
		if (!lfirst_node(RestrictInfo, lc)->pseudoconstant)
			clauses = lappend(clauses, lfirst(lc));
	return clauses;
}

/*
 * Returns how many rows an index is expected to find for each outer row, before filters, rounded
 * up; 0 if that is not known, or there is no more than one.
 */
static int
hg_lookup_matches(const Path *inner)
{
	const IndexPath *path;
	double rows;

	inner = hg_first_lookup(inner);
	if (IsA(inner, MemoizePath))
		inner = ((const MemoizePath *) inner)->subpath;
	if (IsA(inner, BitmapHeapPath))
		path = (const IndexPath *) ((const BitmapHeapPath *) inner)->bitmapqual;
	else
		path = (const IndexPath *) inner;
	if (!IsA(path, IndexPath) || (path->indexinfo->unique &&
								  list_length(path->indexclauses) >= path->indexinfo->nkeycolumns))
		return 0;
	rows = ceil(path->indexselectivity * inner->parent->tuples);
	return (int) Min(Max(rows, 1), HG_ADAPTIVE_MOST_ROWS);
}

bool
hg_adaptive_path(PlannerInfo *root, HgJoinPath *path, NestPath *loop, Cost outer_cost)
{
	const Path *outer = linitial(path->custom.custom_paths);
	Cost lookups = hg_loop_lookups_cost(root, loop);
	Path *adaptive = &path->custom.path;
	bool at_once = hg_first_rows_matter(root, adaptive->parent);
	/* whose rows are counted as one, and looked up by each beside the others */
	double processes = path->parallel_hash ? hg_parallel_divisor(outer) : 1;
	double margin = hg_path_is_cached(lsecond(path->custom.custom_paths))
						? HG_ADAPTIVE_CACHED_MARGIN
						: HG_ADAPTIVE_MARGIN;
	double times = processes * (at_once ? HG_ADAPTIVE_FIRST_MARGIN : margin);
	double rows;

	if (hg_join_path_filters(path) || !hg_join_returns_columns(path))
		return false;
	rows = hg_adaptive_rows(root, loop, adaptive->total_cost - outer_cost, times);
	/* which can't be looked up in chunks: each process has to hold its own until all are counted */
	if (path->parallel_hash)
		rows = Min(rows, hg_adaptive_held_rows(outer) * processes);
	if (rows < Max(outer->rows, 1) * times)
		return false;
	loop->jpath.outerjoinpath = hg_feed_path(outer);
	/* else a Result would stand between the join and its loop */
	loop->jpath.joinrestrictinfo = hg_clauses_of_rows(loop->jpath.joinrestrictinfo);
	path->custom.custom_paths = lappend(path->custom.custom_paths, loop);
	path->lookup_rows = rows;
	path->lookup_at_once = at_once;
	path->lookup_matches = hg_lookup_matches(loop->jpath.innerjoinpath);
	adaptive->startup_cost = at_once ? loop->jpath.path.startup_cost : outer_cost;
	adaptive->total_cost = outer_cost + lookups + outer->rows * hg_operator_cost(HG_KEPT_ROW_NS);
	hg_path_set_disabled_nodes(
		adaptive, Max(hg_path_disabled_nodes(adaptive), hg_path_disabled_nodes(&loop->jpath.path)));
	return true;
}

void
hg_adaptive_replace(PlannerInfo *root, RelOptInfo *joinrel, const Path *adaptive)
{
	const HgJoinPath *path = hg_path_join(adaptive);
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);
	List **paths = adaptive->parallel_workers > 0 ? &joinrel->partial_pathlist : &joinrel->pathlist;
	bool first_alone = hg_first_rows_matter(root, joinrel);
	ListCell *lc;

	foreach (lc, *paths)
	{
		if (hg_path_is_lookup(root, lfirst(lc), outer->parent, inner->parent))
			*paths = foreach_delete_current(*paths, lc);
		if (first_alone)
			break;
	}
}
