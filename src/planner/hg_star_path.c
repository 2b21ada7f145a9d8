/*-------------------------------------------------------------------------
 *
 * hg_star_path.c
 *	  Offers multi-way joins that a device does at once.
 *
 * The executor asks a device about any tree of joins that forms such a star. The planner's own
 * trees may have other shapes, or have parts that processes join. This file offers the tree that
 * can be asked about. It begins with the largest table, the fact relation. Each further table is
 * joined or left joined by one integer that is unique in it. If no index guarantees uniqueness,
 * statistics suggest it. The device checks, and if they were wrong, the joins are executed as
 * usual.
 *
 * If all joins are left joins, each fact row must have a match in the first one. A key column of
 * the fact relation without NULLs suggests that. The path is for an aggregate that a device can
 * answer completely, and has a device's price.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "parser/parsetree.h"

#include "executor/join/hg_join_cover.h"
#include "executor/join/hg_join_star_graphs.h"
#include "hg_guc.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"

/* The least valid share of a table that is looked up. */
#define HG_STAR_SHARE 0.9

/* The tree so far. */
typedef struct HgStarTree
{
	PlannerInfo *root;
	Relids tables; /* tables to join */
	bool left;	   /* all joins are left joins */
	RelOptInfo *fact_rel;
	Path *path;		 /* of the tables joined so far */
	int njoins;		 /* joins so far */
	double edges;	 /* rows of all tables' graphs */
	double filtered; /* rows of the graphs of tables with clauses */
	double share;	 /* of the rows that are valid in all graphs */
} HgStarTree;

/* Returns true if all outer joins of the query are left joins with a single table. */
static bool
hg_star_takes_outer_joins(const PlannerInfo *root)
{
	ListCell *lc;

	foreach (lc, root->join_info_list)
	{
		const SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (sjinfo->jointype != JOIN_LEFT || bms_membership(sjinfo->syn_righthand) != BMS_SINGLETON)
			return false;
	}
	return true;
}

/* Returns the left join with a table; NULL if its joins are inner ones. */
static SpecialJoinInfo *
hg_star_left_join(const PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell *lc;

	foreach (lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (bms_equal(sjinfo->syn_righthand, rel->relids))
			return sjinfo;
	}
	return NULL;
}

/* Returns true if a table's join clauses, except implied ones, are ON clauses of a left join. */
static bool
hg_star_takes_clauses(const RelOptInfo *rel)
{
	ListCell *lc;

	foreach (lc, rel->joininfo)
		if (lfirst_node(RestrictInfo, lc)->is_pushed_down)
			return false;
	return true;
}

/* Returns true if a device can know all rows of a table from its graph alone. */
static bool
hg_star_takes_table(PlannerInfo *root, const RelOptInfo *rel)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	return !rte->inh && rte->tablesample == NULL && rel->reloptkind == RELOPT_BASEREL &&
		   rel->rtekind == RTE_RELATION && rel->lateral_relids == NULL &&
		   hg_star_takes_clauses(rel) && hg_scan_has_graph(rel) && hg_graph_takes_quals(rel);
}

/*
 * Finds the fact relation, the largest table. False if a device cannot know the rows of all
 * tables, or the fact relation is left joined.
 */
static bool
hg_star_find_fact_rel(HgStarTree *tree)
{
	int relid = -1;

	while ((relid = bms_next_member(tree->tables, relid)) >= 0)
	{
		RelOptInfo *rel = tree->root->simple_rel_array[relid];

		if (rel == NULL || !hg_star_takes_table(tree->root, rel))
			return false;
		if (tree->fact_rel == NULL || rel->tuples > tree->fact_rel->tuples)
			tree->fact_rel = rel;
	}
	return tree->fact_rel != NULL && hg_star_left_join(tree->root, tree->fact_rel) == NULL;
}

/* Adds a table's graph to the tree; false if a device has none or too much of it has changed. */
static bool
hg_star_add_table(HgStarTree *tree, const RelOptInfo *rel, const HgGraphExtent *extent)
{
	if (!hg_graph_extent_is_of_stars(extent) ||
		extent->share < (rel == tree->fact_rel ? 0 : HG_STAR_SHARE))
		return false;
	tree->share *= extent->share;
	tree->edges += extent->rows;
	if (rel->baserestrictinfo != NIL)
		tree->filtered += extent->rows;
	return true;
}

/* Returns the clauses that join a table with the tree: none yet, one, or several (no tree). */
static List *
hg_star_clauses(const HgStarTree *tree, RelOptInfo *rel, Relids both, SpecialJoinInfo *left_join)
{
	const Relids joined = tree->path->parent->relids;
	const Relids inputs = bms_union(joined, rel->relids);
	List *clauses = hg_implied_equalities(tree->root, both, joined, rel, left_join);
	ListCell *lc;

	foreach (lc, rel->joininfo)
		if (hg_clause_is_for(lfirst_node(RestrictInfo, lc), inputs))
			clauses = lappend(clauses, lfirst(lc));
	return clauses;
}

/* Returns true if the values by which a table is joined seem to be unique in it. */
static bool
hg_star_seems_unique(PlannerInfo *root, const RelOptInfo *rel, const RestrictInfo *clause)
{
	const bool left = bms_is_member((int) rel->relid, clause->left_relids);
	HgKeyRange range;

	return hg_key_range(root, clause, left, &range) && range.unique;
}

/* Returns true if each fact row seems to have a match in a left joined table. */
static bool
hg_star_seems_complete(PlannerInfo *root, const RelOptInfo *rel, const RestrictInfo *clause)
{
	const bool left = !bms_is_member((int) rel->relid, clause->left_relids);
	HgKeyRange range;

	return rel->baserestrictinfo == NIL && hg_key_range(root, clause, left, &range) && !range.nulls;
}

/* Returns the relids of the join of the tree with a table. */
static Relids
hg_star_both(const RelOptInfo *joined, const RelOptInfo *rel, const SpecialJoinInfo *left_join)
{
	Relids both = bms_union(joined->relids, rel->relids);
	const int relid = left_join != NULL ? (int) hg_outer_join_relid(left_join) : 0;

	return relid != 0 ? bms_add_member(both, relid) : both;
}

/*
 * Joins a table with the tree. Returns false if that is impossible, or too early. The first table,
 * which is joined with the fact relation alone, need not have unique values. It is not left joined
 * if another table is not.
 */
static bool
hg_star_join(HgStarTree *tree, RelOptInfo *rel, bool unique)
{
	PlannerInfo *root = tree->root;
	RelOptInfo *joined = tree->path->parent;
	SpecialJoinInfo *left_join = hg_star_left_join(root, rel);
	const JoinType join_type = left_join != NULL ? JOIN_LEFT : JOIN_INNER;
	Relids both = hg_star_both(joined, rel, left_join);
	List *clauses = hg_star_clauses(tree, rel, both, left_join);
	const RestrictInfo *clause = list_length(clauses) == 1 ? linitial(clauses) : NULL;
	RelOptInfo *joinrel;
	const HgJoinPath *join;
	HgGraphExtent extents[2];
	RelOptInfo *from = NULL;
	bool is_unique;
	Path *path;

	/* a left join may have any clause */
	if (clause == NULL || !clause->can_join)
		return false;
	if (left_join != NULL && tree->njoins == 0 &&
		!(tree->left && unique && hg_star_seems_complete(root, rel, clause)))
		return false;
	joinrel = find_join_rel(root, both);
	if (joinrel == NULL)
		return false;
	is_unique = innerrel_is_unique(root, both, joined->relids, rel, join_type, clauses, false);
	if ((is_unique || hg_star_seems_unique(root, rel, clause)) != unique)
		return false;
	path = hg_join_path_of(root, joinrel, tree->path, create_seqscan_path(root, rel, NULL, 0),
						   join_type, clauses, is_unique);
	if (path == NULL)
		return false;
	join = (const HgJoinPath *) path;
	extents[HG_OUTER] = hg_graph_clause_extent(root, join->hash_clauses, HG_OUTER, &from);
	extents[HG_INNER] = hg_graph_clause_extent(root, join->hash_clauses, HG_INNER, &rel);
	if (!hg_graph_extent_is_of_stars(&extents[HG_OUTER]) ||
		!hg_star_add_table(tree, rel, &extents[HG_INNER]) ||
		(tree->njoins == 0 && !hg_star_add_table(tree, from, &extents[HG_OUTER])))
		return false;
	tree->path = path;
	tree->njoins++;
	return true;
}

/* Joins one more table; false if none can be joined. */
static bool
hg_star_extend(HgStarTree *tree)
{
	for (int unique = tree->njoins == 0 ? 0 : 1; unique <= 1; unique++)
		for (int relid = -1; (relid = bms_next_member(tree->tables, relid)) >= 0;)
			if (!bms_is_member(relid, tree->path->parent->relids) &&
				hg_star_join(tree, tree->root->simple_rel_array[relid], unique != 0))
				return true;
	return false;
}

Path *
hg_star_path(PlannerInfo *root, RelOptInfo *rel)
{
	HgStarTree tree = {.root = root, .share = 1};
	HgJoinPath *path;
	int ntables;

	if (rel->reloptkind != RELOPT_JOINREL || hg_force || !hg_join_cover_enabled() ||
		root->placeholder_list != NIL || root->parse->rowMarks != NIL)
		return NULL;
	tree.tables = bms_intersect(rel->relids, root->all_baserels);
	ntables = bms_num_members(tree.tables);
	if (ntables < 3 || ntables > HG_TREE_TABLES || !hg_star_takes_outer_joins(root) ||
		!hg_star_find_fact_rel(&tree))
		return NULL;
	tree.left = list_length(root->join_info_list) == ntables - 1;
	tree.path = create_seqscan_path(root, tree.fact_rel, NULL, 0);
	while (tree.njoins < ntables - 1)
		if (!hg_star_extend(&tree))
			return NULL;
	if (!hg_cover_asks_star(tree.njoins, tree.fact_rel->tuples, tree.edges))
		return NULL;
	/* changed fact rows, and those that find changed rows, are joined as usual */
	path = (HgJoinPath *) tree.path;
	path->multiway = true;
	path->asked = hg_graph_star_cost(tree.njoins, tree.edges, tree.filtered) +
				  path->custom.path.total_cost * (1 - tree.share);
	return &path->custom.path;
}

bool
hg_star_is_one_join(PlannerInfo *root, const HgJoinPath *path)
{
	const bool inner = path->join_type == JOIN_INNER;
	const RestrictInfo *clause;
	HgGraphExtent extents[2];
	RelOptInfo *rels[2];
	HgSide found;

	if ((!inner && path->join_type != JOIN_LEFT && path->join_type != JOIN_RIGHT) ||
		path->parallel_hash || list_length(path->hash_clauses) != 1)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		extents[side] =
			hg_graph_clause_extent(root, path->hash_clauses, (HgSide) side, &rels[side]);
		if (extents[side].share <= 0 || !extents[side].has_replica)
			return false;
	}
	/* the larger table is the fact relation */
	found = extents[HG_INNER].rows <= extents[HG_OUTER].rows ? HG_INNER : HG_OUTER;
	if (!hg_cover_asks_star(1, extents[hg_other_side(found)].rows,
							extents[HG_OUTER].rows + extents[HG_INNER].rows))
		return false;
	clause = linitial_node(RestrictInfo, path->hash_clauses);
	if (!inner && (found != (path->join_type == JOIN_LEFT ? HG_INNER : HG_OUTER) ||
				   !hg_star_seems_complete(root, rels[found], clause)))
		return false;
	return (found == HG_INNER && path->inner_unique) ||
		   hg_star_seems_unique(root, rels[found], clause);
}
