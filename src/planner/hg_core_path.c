/*-------------------------------------------------------------------------
 *
 * hg_core_path.c
 *	  Joins of core's that take, or risk to take, much longer than their price says.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

#include "planner/hg_core_path.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_planner_run.h"

/*
 * A join that hashes may cost so much more than a loop that reads all of its inner side: a part of
 * it, and so many units, which is up to 0.1 ms.
 */
#define HG_LOOP_PREMIUM 0.1
#define HG_LOOP_PREMIUM_UNITS 25.0

/*
 * Where rows may be wanted in the order of a loop, and not all of them, hashing may cost up to so
 * many times the loop's first row.
 */
#define HG_LOOP_FIRST_ROW 2.0

/*
 * A side with this many rows or fewer bounds the time of a loop, so that it may stay.  A join that
 * hashes a small table instead is moved to where rows are expected to be fewest: a query with a
 * table of 12 types took 2.6 s so, and 0.38 s with core's order.
 */
#define HG_LOOP_FEW_ROWS 16

bool
hg_first_rows_matter(const PlannerInfo *root, const RelOptInfo *joinrel)
{
	const Query *query = root->parse;

	return joinrel->consider_startup && !query->hasAggs && query->groupClause == NIL &&
		   query->groupingSets == NIL && query->havingQual == NULL &&
		   query->distinctClause == NIL && query->sortClause == NIL && query->windowClause == NIL;
}

bool
hg_path_has_join(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
		{
			const JoinPath *join = (const JoinPath *) path;

			return hg_path_has_join(join->outerjoinpath) || hg_path_has_join(join->innerjoinpath);
		}
		case T_GatherPath:
			return hg_path_has_join(((const GatherPath *) path)->subpath);
		default:
			return hg_path_join(path) != NULL;
	}
}

/* Returns true if a relation has few rows at most: of a small table, or by a unique index. */
static bool
hg_rel_has_few_rows(PlannerInfo *root, RelOptInfo *rel)
{
	return rel->rtekind == RTE_RELATION && IS_SIMPLE_REL(rel) &&
		   (rel->tuples <= HG_LOOP_FEW_ROWS || hg_rel_has_one_row(root, rel));
}

/* Returns true if a loop reads all of its inner side for each outer row. */
static bool
hg_loop_is_whole(const Path *loop)
{
	return ((const JoinPath *) loop)->innerjoinpath->param_info == NULL;
}

/* Returns true if the time of a loop is bounded, as one of its sides has few rows. */
static bool
hg_loop_has_few_rows(PlannerInfo *root, const Path *loop)
{
	const JoinPath *join = (const JoinPath *) loop;

	return hg_rel_has_few_rows(root, join->outerjoinpath->parent) ||
		   hg_rel_has_few_rows(root, join->innerjoinpath->parent);
}

/*
 * Returns what the first row of a loop costs that reads all of its inner side: that much has to be
 * read before the second outer row, though core charges a part of it with each row.
 */
static Cost
hg_loop_first_row_cost(const Path *loop)
{
	const Path *inner = ((const JoinPath *) loop)->innerjoinpath;

	return loop->startup_cost + inner->total_cost - inner->startup_cost;
}

bool
hg_order_is_useful(const PlannerInfo *root, const Path *path)
{
	return path->pathkeys != NIL && root->query_pathkeys != NIL &&
		   linitial(path->pathkeys) == linitial(root->query_pathkeys);
}

/* Returns what a join that hashes may cost at most to take the place of a loop. */
static Cost
hg_loop_bound(PlannerInfo *root, const Path *loop)
{
	Cost bound;

	if (hg_loop_is_whole(loop))
		bound = loop->total_cost * (1 + HG_LOOP_PREMIUM) + HG_LOOP_PREMIUM_UNITS;
	else
		bound = ((const JoinPath *) loop)->outerjoinpath->total_cost +
				hg_loop_lookups_cost(root, (const NestPath *) loop);
	/* of partial paths only ours contain what starting workers costs */
	bound += hg_workers_cost(loop->parent, loop->parallel_workers, hg_workers_priced(loop));
	/* without the loop its order takes a sort, and all rows of a query that may want few */
	if (loop->pathkeys != NIL)
		bound -= hg_sort_cost(root, loop->pathkeys, loop->rows, loop->pathtarget->width);
	if (loop->parent->consider_startup && hg_order_is_useful(root, loop))
		bound = Min(bound, hg_loop_first_row_cost(loop) * HG_LOOP_FIRST_ROW);
	return bound;
}

/*
 * Returns what a join that hashes may cost at most to take the place of one of the paths of a
 * relation; negative if hg_core_loops_may_go() does not tell of it.  *behind tells of another path
 * before it that takes no parameters, and is kept for the next one.
 */
static Cost
hg_core_loop_bound(PlannerInfo *root, const Path *path, bool *behind)
{
	Cost bound;

	if (!IsA(path, NestPath) || path->param_info != NULL)
	{
		*behind = *behind || path->param_info == NULL;
		return -1;
	}
	/*
	 * Behind another path a loop is chosen for its order alone, or for a first row that comes
	 * sooner, which is of no use where rows are grouped or sorted.
	 */
	if (path->pathkeys == NIL && *behind && !path->parent->consider_startup)
		return -1;
	if (hg_loop_is_whole(path))
		return hg_loop_has_few_rows(root, path) ? -1 : hg_loop_bound(root, path);
	if (path->total_cost < HG_LOOP_LEAST_UNITS &&
		!hg_path_has_join(((const JoinPath *) path)->outerjoinpath))
		return -1;
	bound = hg_loop_bound(root, path);
	return bound * HG_FUZZ_FACTOR >= path->total_cost ? bound : -1;
}

bool
hg_core_loops_may_go(PlannerInfo *root, const RelOptInfo *joinrel, bool partial, Cost least)
{
	List *paths = partial ? joinrel->partial_pathlist : joinrel->pathlist;
	bool behind = false;
	ListCell *lc;

	if (paths == NIL || hg_first_rows_matter(root, joinrel))
		return false;
	foreach (lc, paths)
		if (hg_core_loop_bound(root, lfirst(lc), &behind) >= least)
			return true;
	return false;
}

/* Returns true if a path is a hash join that takes no less than a path of ours. */
static bool
hg_path_is_slower_hash(const Path *path, Cost ours)
{
	const JoinPath *join = (const JoinPath *) path;

	return IsA(path, HashPath) && path->param_info == NULL &&
		   path->total_cost + join->outerjoinpath->rows * hg_tuple_cost(HG_HASH_HIDDEN_NS) >= ours;
}

bool
hg_core_hash_may_go(const PlannerInfo *root, const RelOptInfo *joinrel, bool partial, Cost least)
{
	List *paths = partial ? joinrel->partial_pathlist : joinrel->pathlist;

	return paths != NIL && hg_path_is_slower_hash(linitial(paths), least) &&
		   !hg_first_rows_matter(root, joinrel);
}

void
hg_core_paths_remove(PlannerInfo *root, const Path *ours)
{
	RelOptInfo *joinrel = ours->parent;
	bool partial = ours->parallel_workers > 0;
	List **paths = partial ? &joinrel->partial_pathlist : &joinrel->pathlist;
	bool behind = false;
	ListCell *lc;

	if (hg_first_rows_matter(root, joinrel))
		return;
	foreach (lc, *paths)
	{
		const Path *path = lfirst(lc);
		Cost bound = hg_core_loop_bound(root, path, &behind);

		if (hg_path_disabled_nodes(ours) <= hg_path_disabled_nodes(path) &&
			(ours->total_cost <= bound || hg_path_is_slower_hash(path, ours->total_cost)))
			*paths = foreach_delete_current(*paths, lc);
	}
}

/* ---------------------------------------------------------------------
 * Paths that a loop put aside
 * ---------------------------------------------------------------------
 */

/*
 * A copy of the cheapest path of a joined relation that is no loop, partial ones or all, when no
 * loop was cheaper.
 */
typedef struct HgCheapest
{
	HgRunKey key; /* the relation, and whether the path is a partial one */
	const Path *path;
	Path *copy;
} HgCheapest;

#define HG_CHEAPEST_BITS 9

static HgCheapest hg_cheapest[1 << HG_CHEAPEST_BITS];

/* Returns a copy of a path of a join, whose inputs it shares; NULL if its size is not known. */
static Path *
hg_join_path_copy(const Path *path)
{
	size_t size;

	if (IsA(path, MergePath))
		size = sizeof(MergePath);
	else if (IsA(path, HashPath))
		size = sizeof(HashPath);
	else if (hg_path_join(path) != NULL && IsA(path, CustomPath))
		size = sizeof(HgJoinPath);
	else
		return NULL;
	return memcpy(palloc(size), path, size);
}

/* Returns the cheapest of a list of paths that takes no parameters; NULL if there is none. */
static const Path *
hg_cheapest_path(const List *paths)
{
	ListCell *lc;

	foreach (lc, paths)
		if (((const Path *) lfirst(lc))->param_info == NULL)
			return lfirst(lc);
	return NULL;
}

static void
hg_cheapest_restore(RelOptInfo *joinrel, uint64 run, bool partial)
{
	List **paths = partial ? &joinrel->partial_pathlist : &joinrel->pathlist;
	const Path *first = hg_cheapest_path(*paths);
	HgRunKey key = {run, joinrel, partial};
	HgCheapest *found;
	bool known;

	/* what a loop puts aside is wanted when the loop is gone */
	if (first == NULL || IsA(first, NestPath))
		return;
	found = hg_planner_run_entry(hg_cheapest, sizeof(HgCheapest), HG_CHEAPEST_BITS, key, &known);
	if (known && found->path == first)
		return;
	/* a hash join that has been removed as it takes longer than its price is not */
	if (known && found->copy != NULL && found->copy->total_cost < first->total_cost &&
		!hg_path_is_slower_hash(found->copy, first->total_cost))
	{
		if (partial)
			add_partial_path(joinrel, found->copy);
		else
			add_path(joinrel, found->copy);
		first = hg_cheapest_path(*paths);
	}
	*found = (HgCheapest){key, first, hg_join_path_copy(first)};
}

void
hg_core_paths_restore(PlannerInfo *root, RelOptInfo *joinrel)
{
	uint64 run = hg_planner_run_find(root, joinrel);

	if (run == 0 || !hg_query_tables(root, run)->has_lookups)
		return;
	hg_cheapest_restore(joinrel, run, false);
	hg_cheapest_restore(joinrel, run, true);
}
