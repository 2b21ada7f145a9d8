/*-------------------------------------------------------------------------
 *
 * hg_grouping_sets.c
 *	  The grouping sets of a query as a tree: which groups are combined from which.
 *
 * Rows are hashed once, by the columns of all sets together.  If the query does not have this set,
 * its groups are made but not returned.  The groups of every other set are combined from those of
 * a set that has its columns and more.  Of several such sets the one with the fewest groups is
 * taken.  A set that the query has twice is combined from itself.
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
hg_set_groups(PlannerInfo *root, const Bitmapset *columns, double rows)
{
	List *exprs = get_sortgrouplist_exprs(HG_GROUP_CLAUSE(root), root->processed_tlist);
	List *of_set = NIL;
	int column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		of_set = lappend(of_set, list_nth(exprs, column));
	return of_set != NIL ? estimate_num_groups(root, of_set, rows, NULL, NULL) : 1;
}

static HgPlannedSet *
hg_set_create(PlannerInfo *root, Bitmapset *columns, bool returned, double rows)
{
	HgPlannedSet *set = palloc(sizeof(HgPlannedSet));

	set->columns = columns;
	set->parent = -1;
	set->returned = returned;
	set->groups = hg_set_groups(root, columns, rows);
	return set;
}

/* Sorts sets with more columns first. */
static int
hg_compare_sets(const ListCell *a, const ListCell *b)
{
	return bms_num_members(((const HgPlannedSet *) lfirst(b))->columns) -
		   bms_num_members(((const HgPlannedSet *) lfirst(a))->columns);
}

/* Returns the index of the best parent of a set among the sets before it. */
static int
hg_set_parent(const List *sets, int number)
{
	const HgPlannedSet *set = list_nth(sets, number);
	int parent = 0;

	for (int i = 1; i < number; i++)
	{
		const HgPlannedSet *other = list_nth(sets, i);

		if (bms_is_subset(set->columns, other->columns) &&
			other->groups < ((const HgPlannedSet *) list_nth(sets, parent))->groups)
			parent = i;
	}
	return parent;
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
hg_grouping_sets_plan(PlannerInfo *root, double rows)
{
	List *group_clause = HG_GROUP_CLAUSE(root);
	int ncolumns = list_length(group_clause);
	List *sets = NIL;
	List *result = NIL;
	int parents[HG_MOST_SETS + 1];
	ListCell *lc;

	Assert(list_length(root->parse->groupingSets) <= HG_MOST_SETS);
	/* the planner has expanded them to lists of references */
	foreach (lc, root->parse->groupingSets)
		sets = lappend(sets,
					   hg_set_create(root, hg_set_columns(group_clause, lfirst(lc)), true, rows));
	list_sort(sets, hg_compare_sets);
	if (bms_num_members(((const HgPlannedSet *) linitial(sets))->columns) < ncolumns)
		sets = lcons(hg_set_create(root, bms_add_range(NULL, 0, ncolumns - 1), false, rows), sets);
	for (int i = 0; i < list_length(sets); i++)
		parents[i] = hg_set_parent(sets, i);
	hg_sets_append(sets, parents, 0, -1, &result);
	return result;
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
