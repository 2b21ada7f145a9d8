/*-------------------------------------------------------------------------
 *
 * hg_whole_loop.c
 *	  Nested loops that read all of their inner side for each outer row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/paths.h"

#include "planner/hg_whole_loop.h"

/*
 * A join that hashes may cost so much more than a loop: a part of it, and so many units, which is
 * up to 0.1 ms.
 */
#define HG_LOOP_PREMIUM 0.1
#define HG_LOOP_PREMIUM_UNITS 25.0

/* Of so many rows a loop takes no more than some times what hashing does. */
#define HG_LOOP_FEW_ROWS 10

/* Are there few rows of a relation at most: of a small table, or by a unique index? */
static bool
hg_rel_has_few_rows(PlannerInfo *root, RelOptInfo *rel)
{
	return rel->rtekind == RTE_RELATION && IS_SIMPLE_REL(rel) &&
		   (rel->tuples <= HG_LOOP_FEW_ROWS ||
			relation_has_unique_index_for(root, rel, NIL, NIL, NIL));
}

/* Does a path read all of one relation for each row of the other, and nobody wants its order? */
static bool
hg_path_is_whole_loop(const Path *path, const RelOptInfo *rel, const RelOptInfo *other)
{
	const JoinPath *loop = (const JoinPath *) path;

	if (!IsA(path, NestPath) || path->param_info != NULL || path->pathkeys != NIL ||
		loop->innerjoinpath->param_info != NULL)
		return false;
	return (loop->outerjoinpath->parent == rel && loop->innerjoinpath->parent == other) ||
		   (loop->outerjoinpath->parent == other && loop->innerjoinpath->parent == rel);
}

List *
hg_whole_loops(PlannerInfo *root, const RelOptInfo *joinrel, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, bool partial)
{
	List *loops = NIL;
	ListCell *lc;

	if (joinrel->consider_startup)
		return NIL;
	foreach (lc, partial ? joinrel->partial_pathlist : joinrel->pathlist)
	{
		Path *path = lfirst(lc);

		/* those behind another path are not chosen */
		if (!hg_path_is_whole_loop(path, outerrel, innerrel))
			break;
		loops = lappend(loops, path);
	}
	if (loops != NIL &&
		(hg_rel_has_few_rows(root, outerrel) || hg_rel_has_few_rows(root, innerrel)))
		return NIL;
	return loops;
}

void
hg_whole_loops_remove(RelOptInfo *joinrel, List *loops, const Path *hashed)
{
	ListCell *lc;

	foreach (lc, loops)
	{
		Path *loop = lfirst(lc);

		if (hg_path_disabled_nodes(hashed) > hg_path_disabled_nodes(loop) ||
			hashed->total_cost > loop->total_cost * (1 + HG_LOOP_PREMIUM) + HG_LOOP_PREMIUM_UNITS)
			continue;
		joinrel->pathlist = list_delete_ptr(joinrel->pathlist, loop);
		joinrel->partial_pathlist = list_delete_ptr(joinrel->partial_pathlist, loop);
	}
}
