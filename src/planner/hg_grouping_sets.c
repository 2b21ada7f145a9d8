/*-------------------------------------------------------------------------
 *
 * hg_grouping_sets.c
 *	  Grouping sets as a tree: which groups are combined from which.
 *
 * Rows are hashed once, by the columns of all sets together.  If the query does not have this set,
 * its groups are made but not returned.  The groups of every other set are combined from those of
 * a set that has its columns and more.  Of several such sets the one with the fewest groups is
 * taken.  A set that the query has twice is combined from itself.
 *
 * DISTINCT AGGREGATES.  For each set of the query there is one that has the DISTINCT column too.
 * The query's set is combined from it, because its groups have each value of the column once.
 * A query without grouping sets has one set: its GROUP BY.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "planner/hg_grouping_sets.h"

/* Returns the indexes in GROUP BY of a set's columns, which are given by their references. */
static Bitmapset *
hg_set_columns(const List *group_clause, const List *references)
{
	Bitmapset *columns = NULL;
	ListCell *lc;

	foreach (lc, group_clause)
		if (list_member_int(references, (int) lfirst_node(SortGroupClause, lc)->tleSortGroupRef))
			columns = bms_add_member(columns, foreach_current_index(lc));
	return columns;
}

/* Returns the estimated number of groups of a set. */
static double
hg_set_groups(PlannerInfo *root, Var *distinct, const Bitmapset *columns, double rows)
{
	List *exprs = get_sortgrouplist_exprs(HG_GROUP_CLAUSE(root), root->processed_tlist);
	List *of_set = NIL;
	int column = -1;

	exprs = lappend(exprs, distinct);
	while ((column = bms_next_member(columns, column)) >= 0)
		of_set = lappend(of_set, list_nth(exprs, column));
	return of_set != NIL ? estimate_num_groups(root, of_set, rows, NULL, NULL) : 1;
}

static HgPlannedSet *
hg_set_create(PlannerInfo *root, Var *distinct, Bitmapset *columns, bool returned, double rows)
{
	HgPlannedSet *set = palloc0(sizeof(HgPlannedSet));

	set->columns = columns;
	set->parent = -1;
	set->returned = returned;
	/* a GROUP BY of constants alone has no columns either */
	set->never_empty = bms_is_empty(columns) &&
					   (root->parse->groupingSets != NIL || root->parse->groupClause == NIL);
	set->groups = hg_set_groups(root, distinct, columns, rows);
	return set;
}

/* Returns the query's sets: its grouping sets, or its GROUP BY. */
static List *
hg_query_sets(PlannerInfo *root, Var *distinct, double rows)
{
	List *group_clause = HG_GROUP_CLAUSE(root);
	List *sets = NIL;
	ListCell *lc;

	if (root->parse->groupingSets == NIL)
		return list_make1(hg_set_create(
			root, distinct, bms_add_range(NULL, 0, list_length(group_clause) - 1), true, rows));
	/* the planner has expanded them to lists of references */
	foreach (lc, root->parse->groupingSets)
		sets = lappend(sets, hg_set_create(root, distinct, hg_set_columns(group_clause, lfirst(lc)),
										   true, rows));
	return sets;
}

/* Returns true if a list of sets has one with these columns. */
static bool
hg_sets_have(const List *sets, const Bitmapset *columns)
{
	ListCell *lc;

	foreach (lc, sets)
		if (bms_equal(((const HgPlannedSet *) lfirst(lc))->columns, columns))
			return true;
	return false;
}

/* Returns the sets that have the DISTINCT column beside those of each of the query's sets. */
static List *
hg_distinct_sets(PlannerInfo *root, Var *distinct, const List *sets, double rows)
{
	List *with = NIL;
	ListCell *lc;

	foreach (lc, sets)
	{
		Bitmapset *columns = bms_add_member(bms_copy(((const HgPlannedSet *) lfirst(lc))->columns),
											list_length(HG_GROUP_CLAUSE(root)));

		if (!hg_sets_have(with, columns))
			with = lappend(with, hg_set_create(root, distinct, columns, false, rows));
	}
	return with;
}

/* Sorts sets with more columns first. */
static int
hg_compare_sets(const ListCell *a, const ListCell *b)
{
	return bms_num_members(((const HgPlannedSet *) lfirst(b))->columns) -
		   bms_num_members(((const HgPlannedSet *) lfirst(a))->columns);
}

/*
 * Returns true if a set can be combined from another one.  distinct is the index of the DISTINCT
 * column, or -1.
 */
static bool
hg_set_may_combine(const HgPlannedSet *set, const HgPlannedSet *from, int distinct)
{
	if (!bms_is_subset(set->columns, from->columns))
		return false;
	/* a value of the DISTINCT column may be in several groups of a finer set */
	return distinct < 0 || bms_is_member(distinct, set->columns) ||
		   bms_num_members(from->columns) ==
			   bms_num_members(set->columns) + bms_is_member(distinct, from->columns);
}

/* Returns the index of the best parent of a set among the sets before it; -1: there is none. */
static int
hg_set_parent(const List *sets, int number, int distinct)
{
	const HgPlannedSet *parent = NULL;
	int index = -1;

	for (int i = 0; i < number; i++)
	{
		const HgPlannedSet *other = list_nth(sets, i);

		if (!hg_set_may_combine(list_nth(sets, number), other, distinct) ||
			(parent != NULL && other->groups >= parent->groups))
			continue;
		parent = other;
		index = i;
	}
	return index;
}

/* Appends a set, whose parent has a new index, and all sets below it. */
static void
hg_sets_append(const List *sets, const int *parents, int number, int parent, List **result)
{
	HgPlannedSet *set = list_nth(sets, number);
	int index = list_length(*result);

	set->parent = parent;
	*result = lappend(*result, set);
	for (int i = number + 1; i < list_length(sets); i++)
		if (parents[i] == number)
			hg_sets_append(sets, parents, i, index, result);
}

List *
hg_grouping_sets_plan(PlannerInfo *root, Var *distinct, double rows)
{
	int ncolumns = list_length(HG_GROUP_CLAUSE(root)) + (distinct != NULL);
	List *sets = hg_query_sets(root, distinct, rows);
	List *result = NIL;
	int *parents;

	Assert(list_length(sets) <= HG_MOST_SETS);
	if (distinct != NULL)
		sets = list_concat(sets, hg_distinct_sets(root, distinct, sets, rows));
	list_sort(sets, hg_compare_sets);
	if (bms_num_members(((const HgPlannedSet *) linitial(sets))->columns) < ncolumns)
		sets = lcons(
			hg_set_create(root, distinct, bms_add_range(NULL, 0, ncolumns - 1), false, rows), sets);
	parents = palloc(list_length(sets) * sizeof(int));
	for (int i = 0; i < list_length(sets); i++)
		parents[i] = hg_set_parent(sets, i, distinct != NULL ? ncolumns - 1 : -1);
	hg_sets_append(sets, parents, 0, -1, &result);
	return result;
}

List *
hg_shared_groups_plan(int ncolumns, double own, double returned)
{
	HgPlannedSet *of_rows = palloc0(sizeof(HgPlannedSet));
	HgPlannedSet *shared = palloc0(sizeof(HgPlannedSet));

	of_rows->columns = shared->columns = bms_add_range(NULL, 0, ncolumns - 1);
	of_rows->parent = -1;
	of_rows->groups = own;
	shared->returned = shared->shared = true;
	shared->groups = returned;
	return list_make2(of_rows, shared);
}

bool
hg_grouping_sets_all_have(const List *sets, int column)
{
	ListCell *lc;

	foreach (lc, sets)
		if (!bms_is_member(column, ((const HgPlannedSet *) lfirst(lc))->columns))
			return false;
	return true;
}

bool
hg_grouping_sets_return_last(const List *sets)
{
	ListCell *lc;

	foreach (lc, sets)
		if (((const HgPlannedSet *) lfirst(lc))->returned && lnext(sets, lc) != NULL)
			return false;
	return true;
}
