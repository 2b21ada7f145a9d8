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

/* A set of group columns. */
typedef struct HgPlannedSet
{
	Bitmapset *columns; /* indexes of the set's columns in the query's GROUP BY; the DISTINCT column
						 * follows these */
	int parent;			/* index of the set whose groups are combined; -1: groups are of rows */
	bool returned;		/* the query has this set; otherwise only other sets need its groups */
	bool shared;		/* the processes below a Gather share its groups, and each returns some */
	bool never_empty;	/* it has one group even of no rows */
	double groups;		/* estimated number */
} HgPlannedSet;

/*
 * Returns the HgPlannedSets of a query with grouping sets or with aggregates over the distinct
 * values of a column, which is NULL if there are none.  The first one has all columns, and its
 * groups are made of the input's rows.  Every other set follows its parent, which has all of its
 * columns, and all sets below a set follow it directly.  rows is the number of the input's rows.
 * The query has at most HG_MOST_SETS sets.
 */
extern List *hg_grouping_sets_plan(PlannerInfo *root, Var *distinct, double rows);

/*
 * Returns the HgPlannedSets of groups of ncolumns columns that processes below a Gather share: the
 * groups of one process's rows, whose number is own, and those of them that it returns.
 */
extern List *hg_shared_groups_plan(int ncolumns, double own, double returned);

/* Returns true if a column of GROUP BY, given by its index, is in each of the query's sets. */
extern bool hg_grouping_sets_all_have(const List *sets, int column);

/* Returns true if no groups but those of the last set are returned, or if sets is NIL. */
extern bool hg_grouping_sets_return_last(const List *sets);

#endif /* HG_GROUPING_SETS_H */
