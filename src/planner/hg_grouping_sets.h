/*-------------------------------------------------------------------------
 *
 * hg_grouping_sets.h
 *	  Grouping sets as a tree: which groups are combined from which.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_GROUPING_SETS_H
#define HG_GROUPING_SETS_H

#include "nodes/pathnodes.h"

/* Largest number of grouping sets of an aggregate node. */
#define HG_MOST_SETS 64

/* A column whose distinct values some aggregates take, of the rows that pass their filter. */
typedef struct HgDistinct
{
	Var *column;
	Oid equality; /* its equality operator */
	Expr *filter; /* the FILTER clause; NULL: none */
} HgDistinct;

/* A set of group columns. */
typedef struct HgPlannedSet
{
	Bitmapset *columns; /* indexes of the set's columns in the query's GROUP BY; the DISTINCT
						 * columns follow these */
	List *parents;		/* the HgPlannedSets whose groups are combined; NIL: groups are of rows */
	bool keys_only;		/* its groups have no states: only their DISTINCT column is needed */
	bool returned;		/* its groups are returned; otherwise only other sets need them */
	bool shared;		/* the processes below a Gather share its groups, and each returns some */
	bool never_empty;	/* it has one group even of no rows */
	double rows;		/* estimated number of rows, or of groups, that its groups are made of */
	double groups;		/* estimated number */
} HgPlannedSet;

/*
 * Returns the HgPlannedSets of a query with grouping sets or with DISTINCT aggregates.  Every set
 * follows its parents, which have all of its columns.  The first set's groups are made of the
 * input's rows and have the states of all aggregates that are not DISTINCT.  distinct are the
 * HgDistincts of the query; one without a filter is the first if there is one.  rows is the number
 * of the input's rows.  The number of the query's sets times that of its HgDistincts is at most
 * HG_MOST_SETS.
 */
extern List *hg_grouping_sets_plan(PlannerInfo *root, const List *distinct, double rows);

/*
 * Returns HgDistincts with the one first whose values are cheapest to group by together with the
 * columns of GROUP BY, among those without a filter.
 */
extern List *hg_grouping_sets_order(PlannerInfo *root, List *distinct, double rows);

/* Returns a list of one HgPlannedSet: of a GROUP BY or DISTINCT of ncolumns with so many groups. */
extern List *hg_one_set_plan(int ncolumns, double groups);

/*
 * Returns the HgPlannedSets for the processes below a Gather that share the groups of some sets,
 * none of which has a DISTINCT column.  First come the sets given, changed to those of one process,
 * which has so many rows; then the shared sets, of whose groups each process returns one part in
 * divisor.
 */
extern List *hg_shared_sets_plan(List *sets, double rows, double divisor);

/* Returns true if no groups but those of the last set are returned, or if sets is NIL. */
extern bool hg_grouping_sets_return_last(const List *sets);

#endif /* HG_GROUPING_SETS_H */
