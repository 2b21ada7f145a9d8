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
 * DISTINCT AGGREGATES.  For each set of the query there is one that has a DISTINCT column too.
 * The query's set is combined from it, because its groups have each value of the column once.
 * A query without grouping sets has one set: its GROUP BY.
 *
 * The groups of one DISTINCT column also have the states of the aggregates that are not DISTINCT.
 * Each further column, and each column of the rows that pass a FILTER, has a tree of sets of its
 * own, whose first set is made of rows too.  Their groups are keys without states, and the query's
 * sets are combined from the sets of all trees.  If every DISTINCT aggregate has a FILTER, the
 * states are in groups of the columns of GROUP BY.
 *
 * BELOW A GATHER every process makes the sets of its own rows.  The groups of each set of the query
 * are then combined again, from those of all processes (executor/aggregate/hg_aggregate_shared.h).
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

/* What the sets of a query are planned from. */
typedef struct HgSetsQuery
{
	PlannerInfo *root;
	const List *distinct; /* HgDistincts */
	double rows;		  /* number of the input's rows */
	int ngrouped; /* number of columns of GROUP BY, and index of the first DISTINCT column */
	int stated;	  /* index of the DISTINCT column whose groups have states; or -1 */
} HgSetsQuery;

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

/* Sets the estimated numbers of rows and of groups of a set. */
static void
hg_set_estimate(const HgSetsQuery *query, HgPlannedSet *set)
{
	List *exprs =
		get_sortgrouplist_exprs(HG_GROUP_CLAUSE(query->root), query->root->processed_tlist);
	List *of_set = NIL;
	int column = -1;

	set->rows = query->rows;
	while ((column = bms_next_member(set->columns, column)) >= 0)
	{
		const HgDistinct *distinct;

		if (column < query->ngrouped)
		{
			of_set = lappend(of_set, list_nth(exprs, column));
			continue;
		}
		distinct = list_nth(query->distinct, column - query->ngrouped);
		of_set = lappend(of_set, distinct->column);
		if (distinct->filter != NULL)
			set->rows *=
				clause_selectivity(query->root, (Node *) distinct->filter, 0, JOIN_INNER, NULL);
	}
	set->rows = clamp_row_est(set->rows);
	set->groups =
		of_set != NIL ? estimate_num_groups(query->root, of_set, set->rows, NULL, NULL) : 1;
}

static HgPlannedSet *
hg_set_create(const HgSetsQuery *query, Bitmapset *columns, bool returned)
{
	const Query *parse = query->root->parse;
	HgPlannedSet *set = palloc0(sizeof(HgPlannedSet));

	set->columns = columns;
	set->returned = returned;
	/* a GROUP BY of constants alone has no columns either */
	set->never_empty =
		bms_is_empty(columns) && (parse->groupingSets != NIL || parse->groupClause == NIL);
	hg_set_estimate(query, set);
	return set;
}

/* Returns the indexes of all columns of GROUP BY and of a DISTINCT column, unless it is -1. */
static Bitmapset *
hg_all_columns(const HgSetsQuery *query, int distinct)
{
	Bitmapset *columns = bms_add_range(NULL, 0, query->ngrouped - 1);

	return distinct >= 0 ? bms_add_member(columns, distinct) : columns;
}

/* Returns the query's sets: its grouping sets, or its GROUP BY. */
static List *
hg_query_sets(const HgSetsQuery *query)
{
	const Query *parse = query->root->parse;
	List *sets = NIL;
	ListCell *lc;

	if (parse->groupingSets == NIL)
		return list_make1(hg_set_create(query, hg_all_columns(query, -1), true));
	/* the planner has expanded them to lists of references */
	foreach (lc, parse->groupingSets)
		sets = lappend(
			sets,
			hg_set_create(query, hg_set_columns(HG_GROUP_CLAUSE(query->root), lfirst(lc)), true));
	return sets;
}

/* Returns the set of a list that has these columns, or NULL. */
static HgPlannedSet *
hg_sets_find(const List *sets, const Bitmapset *columns)
{
	ListCell *lc;

	foreach (lc, sets)
		if (bms_equal(((const HgPlannedSet *) lfirst(lc))->columns, columns))
			return lfirst(lc);
	return NULL;
}

/* Returns the columns of a set with a DISTINCT column. */
static Bitmapset *
hg_columns_with(const HgPlannedSet *set, int distinct)
{
	return bms_add_member(bms_copy(set->columns), distinct);
}

/* Returns the sets that have a DISTINCT column beside those of each of the query's sets. */
static List *
hg_distinct_sets(const HgSetsQuery *query, const List *sets, int distinct)
{
	List *with = NIL;
	ListCell *lc;

	foreach (lc, sets)
	{
		Bitmapset *columns = hg_columns_with(lfirst(lc), distinct);

		if (hg_sets_find(with, columns) == NULL)
			with = lappend(with, hg_set_create(query, columns, false));
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

/* Returns true if the states of a set can be combined from another one. */
static bool
hg_set_may_combine(const HgSetsQuery *query, const HgPlannedSet *set, const HgPlannedSet *from)
{
	if (!bms_is_subset(set->columns, from->columns))
		return false;
	if (query->distinct == NIL || from->keys_only)
		return true;
	/* the groups of the other sets take distinct values, beside the states */
	if (query->stated < 0)
		return !from->returned;
	/* a value of the DISTINCT column may be in several groups of a finer set */
	return bms_is_member(query->stated, set->columns) ||
		   bms_num_members(from->columns) ==
			   bms_num_members(set->columns) + bms_is_member(query->stated, from->columns);
}

/*
 * Sorts sets, adds one with these columns in front if there is none that can be made of rows, and
 * sets the parent of each other one: the set before it with the fewest groups that it can be
 * combined from.
 */
static List *
hg_sets_make_tree(const HgSetsQuery *query, List *sets, Bitmapset *columns, bool keys_only)
{
	const HgPlannedSet *first;
	ListCell *lc;
	ListCell *before;

	list_sort(sets, hg_compare_sets);
	first = linitial(sets);
	if (!bms_equal(first->columns, columns) || (first->returned && query->distinct != NIL))
		sets = lcons(hg_set_create(query, columns, false), sets);
	foreach (lc, sets)
	{
		HgPlannedSet *set = lfirst(lc);
		HgPlannedSet *parent = NULL;

		set->keys_only = keys_only;
		foreach (before, sets)
		{
			HgPlannedSet *other = lfirst(before);

			if (other == set)
				break;
			if (hg_set_may_combine(query, set, other) &&
				(parent == NULL || other->groups < parent->groups))
				parent = other;
		}
		if (parent == NULL)
			continue;
		set->parents = list_make1(parent);
		set->rows = parent->groups;
	}
	return sets;
}

/*
 * Returns the sets of a DISTINCT column whose groups have no states, and makes them parents of the
 * query's sets.  A set that the query has twice is combined from itself alone.
 */
static List *
hg_sets_without_states(const HgSetsQuery *query, const List *queried, int distinct)
{
	List *tree = hg_distinct_sets(query, queried, distinct);
	ListCell *lc;

	tree = hg_sets_make_tree(query, tree, hg_all_columns(query, distinct), true);
	foreach (lc, queried)
	{
		HgPlannedSet *set = lfirst(lc);
		HgPlannedSet *parent;

		if (query->stated >= 0 &&
			!bms_is_member(query->stated, ((HgPlannedSet *) linitial(set->parents))->columns))
			continue;
		parent = hg_sets_find(tree, hg_columns_with(set, distinct));
		set->parents = lappend(set->parents, parent);
		set->rows += parent->groups;
	}
	return tree;
}

/* Appends a set, and all sets below it whose other parents are in the result. */
static void
hg_sets_append(List *sets, HgPlannedSet *set, List **result)
{
	ListCell *lc;

	*result = lappend(*result, set);
	foreach (lc, sets)
	{
		HgPlannedSet *below = lfirst(lc);

		if (list_member_ptr(below->parents, set) &&
			list_difference_ptr(below->parents, *result) == NIL)
			hg_sets_append(sets, below, result);
	}
}

/* Returns a description of a query. */
static HgSetsQuery
hg_sets_query(PlannerInfo *root, const List *distinct, double rows)
{
	HgSetsQuery query = {root, distinct, rows, list_length(HG_GROUP_CLAUSE(root)), -1};

	if (distinct != NIL && ((const HgDistinct *) linitial(distinct))->filter == NULL)
		query.stated = query.ngrouped;
	return query;
}

List *
hg_grouping_sets_plan(PlannerInfo *root, const List *distinct, double rows)
{
	HgSetsQuery query = hg_sets_query(root, distinct, rows);
	List *queried = hg_query_sets(&query);
	List *sets = list_copy(queried);
	List *result = NIL;
	ListCell *lc;

	Assert(list_length(sets) * Max(list_length(distinct), 1) <= HG_MOST_SETS);
	if (query.stated >= 0)
		sets = list_concat(sets, hg_distinct_sets(&query, queried, query.stated));
	sets = hg_sets_make_tree(&query, sets, hg_all_columns(&query, query.stated), false);
	for (int d = query.stated >= 0; d < list_length(distinct); d++)
		sets = list_concat(sets, hg_sets_without_states(&query, queried, query.ngrouped + d));
	foreach (lc, sets)
		if (((const HgPlannedSet *) lfirst(lc))->parents == NIL)
			hg_sets_append(sets, lfirst(lc), &result);
	return result;
}

List *
hg_grouping_sets_order(PlannerInfo *root, List *distinct, double rows)
{
	HgSetsQuery query = hg_sets_query(root, distinct, rows);
	HgDistinct *best = NULL;
	double least = 0;
	ListCell *lc;

	foreach (lc, distinct)
	{
		HgPlannedSet set = {.columns =
								hg_all_columns(&query, query.ngrouped + foreach_current_index(lc))};

		if (((const HgDistinct *) lfirst(lc))->filter != NULL)
			continue;
		hg_set_estimate(&query, &set);
		if (best == NULL || set.groups < least)
		{
			best = lfirst(lc);
			least = set.groups;
		}
	}
	return best != NULL ? lcons(best, list_delete_ptr(distinct, best)) : distinct;
}

List *
hg_one_set_plan(int ncolumns, double groups)
{
	HgPlannedSet *set = palloc0(sizeof(HgPlannedSet));

	set->columns = bms_add_range(NULL, 0, ncolumns - 1);
	set->returned = true;
	set->groups = groups;
	return list_make1(set);
}

List *
hg_shared_sets_plan(List *sets, double rows, double divisor)
{
	List *shared_sets = NIL;
	ListCell *lc;

	foreach (lc, sets)
	{
		HgPlannedSet *own = lfirst(lc);
		HgPlannedSet *shared;
		double groups = own->groups;

		Assert(!own->keys_only);
		own->groups = Min(groups, rows);
		own->rows = own->parents != NIL ? ((HgPlannedSet *) linitial(own->parents))->groups : rows;
		if (!own->returned)
			continue;
		shared = palloc0(sizeof(HgPlannedSet));
		shared->columns = own->columns;
		shared->parents = list_make1(own);
		shared->rows = own->groups;
		shared->returned = shared->shared = true;
		shared->groups = clamp_row_est(groups / divisor);
		own->returned = false;
		shared_sets = lappend(shared_sets, shared);
	}
	return list_concat_copy(sets, shared_sets);
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
