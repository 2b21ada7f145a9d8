/*-------------------------------------------------------------------------
 *
 * hg_star_path.c
 *	  Offer joins of several tables that a device joins at once.
 *
 * The executor asks a device about any tree of joins that is such a star.  The planner's own
 * trees may be of other shapes, or of parts that processes join: so what is offered here is the
 * tree that is asked about, the largest table first, and then one of those that are joined with
 * what there is, each by one integer that is unique in it, or left joined so.  Where no index says
 * so statistics do: the device counts, and the joins are joined as ever where they were wrong.
 * Where all joins are left joins each row of the facts must have a match in the first one, for
 * which it speaks that none is without a value.  It is for an aggregate that asks for no more than
 * a device can tell, and its price is a device's.
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
#include "executor/join/hg_join_cover_cost.h"
#include "executor/join/hg_join_tree.h"
#include "hg_guc.h"
#include "planner/hg_graph_cost.h"
#include "planner/hg_join_clauses.h"
#include "planner/hg_join_path.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_key_range.h"
#include "planner/hg_scan_share.h"
#include "planner/hg_star_path.h"

/* The share of the blocks of a table that is looked up which may not have changed, at least. */
#define HG_STAR_SHARE 0.9

/* The tree, as far as it is made. */
typedef struct HgStarTree
{
	PlannerInfo *root;
	Relids tables; /* that are joined */
	bool left;	   /* all by left joins */
	RelOptInfo *facts;
	Path *path;		 /* of what is joined */
	int njoins;		 /* so far */
	double edges;	 /* of all tables' graphs ... */
	double filtered; /* ... of those that have clauses */
	double share;	 /* of the rows that it joins as it knows them */
} HgStarTree;

/* Are all outer joins of the query left joins with a table alone? */
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

/* The left join with a table; NULL: its joins are inner ones. */
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

/* Is each clause of a table and others, but those that are implied, what a left join is by? */
static bool
hg_star_takes_clauses(const RelOptInfo *rel)
{
	ListCell *lc;

	foreach (lc, rel->joininfo)
		if (lfirst_node(RestrictInfo, lc)->is_pushed_down)
			return false;
	return true;
}

/* Can a device know the rows of a table by themselves?  All of them, and no other table's. */
static bool
hg_star_takes_table(PlannerInfo *root, const RelOptInfo *rel)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	return !rte->inh && rte->tablesample == NULL && rel->reloptkind == RELOPT_BASEREL &&
		   rel->rtekind == RTE_RELATION && rel->lateral_relids == NULL &&
		   hg_star_takes_clauses(rel) && hg_scan_has_graph(rel) && hg_graph_takes_quals(rel);
}

/* Can it know the rows of all tables?  The largest one are the facts, which are not left joined. */
static bool
hg_star_find_facts(HgStarTree *tree)
{
	int relid = -1;

	while ((relid = bms_next_member(tree->tables, relid)) >= 0)
	{
		RelOptInfo *rel = tree->root->simple_rel_array[relid];

		if (rel == NULL || !hg_star_takes_table(tree->root, rel))
			return false;
		if (tree->facts == NULL || rel->tuples > tree->facts->tuples)
			tree->facts = rel;
	}
	return tree->facts != NULL && hg_star_left_join(tree->root, tree->facts) == NULL;
}

/* Add what there is of a table; false where a device can't know its rows, or too few of them. */
static bool
hg_star_add_table(HgStarTree *tree, const RelOptInfo *rel, const HgGraphExtent *extent)
{
	if (!hg_graph_extent_is_of_stars(extent) ||
		extent->share < (rel == tree->facts ? 0 : HG_STAR_SHARE))
		return false;
	tree->share *= extent->share;
	tree->edges += extent->rows;
	if (rel->baserestrictinfo != NIL)
		tree->filtered += extent->rows;
	return true;
}

/*
 * The clauses by which a table is joined with what there is: none yet; one; or several, and it is
 * no tree.
 */
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

/* Do values that a table is joined by seem to be unique in it? */
static bool
hg_star_seems_unique(PlannerInfo *root, const RelOptInfo *rel, const RestrictInfo *clause)
{
	const bool left = bms_is_member((int) rel->relid, clause->left_relids);
	HgKeyRange range;

	return hg_key_range(root, clause, left, &range) && range.unique;
}

/* Does each row of the facts seem to have a match in a table that is left joined? */
static bool
hg_star_seems_complete(PlannerInfo *root, const RelOptInfo *rel, const RestrictInfo *clause)
{
	const bool left = !bms_is_member((int) rel->relid, clause->left_relids);
	HgKeyRange range;

	return rel->baserestrictinfo == NIL && hg_key_range(root, clause, left, &range) && !range.nulls;
}

/* What a join of what there is with a table is of. */
static Relids
hg_star_both(const RelOptInfo *joined, const RelOptInfo *rel, const SpecialJoinInfo *left_join)
{
	Relids both = bms_union(joined->relids, rel->relids);
	const int relid = left_join != NULL ? (int) hg_outer_join_relid(left_join) : 0;

	return relid != 0 ? bms_add_member(both, relid) : both;
}

/*
 * Join a table with what there is.  False: it can't be, or not yet.  The first one, which facts
 * alone are joined with, need not have unique values, and is not left joined if another one is not.
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

	/* what a left join is by may be anything */
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

/* Join one more of the tables; false: there is none that can be. */
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
		!hg_star_find_facts(&tree))
		return NULL;
	tree.left = list_length(root->join_info_list) == ntables - 1;
	tree.path = create_seqscan_path(root, tree.facts, NULL, 0);
	while (tree.njoins < ntables - 1)
		if (!hg_star_extend(&tree))
			return NULL;
	if (!hg_cover_asks_star(tree.njoins, tree.facts->tuples, tree.edges))
		return NULL;
	/* facts that have changed, or find what has, are joined as ever */
	path = (HgJoinPath *) tree.path;
	path->at_once = true;
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
		path->together || list_length(path->hash_clauses) != 1)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		extents[side] =
			hg_graph_clause_extent(root, path->hash_clauses, (HgSide) side, &rels[side]);
		if (extents[side].share <= 0 || !extents[side].has_replica)
			return false;
	}
	/* the larger one are the facts */
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
