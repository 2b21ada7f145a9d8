/*-------------------------------------------------------------------------
 *
 * hg_aggregate.h
 *	  The aggregate node: the layout of its plan, which the planner fills in.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_H
#define HG_AGGREGATE_H

#include "nodes/extensible.h"

/*
 * A plan node is a CustomScan with scanrelid 0, one custom_plan (the input), and
 *
 *	custom_scan_tlist	the columns of the input, then the Aggrefs, then the GroupingFuncs
 *	custom_exprs		lists of expressions over the input's columns: see HgAggregateExprs
 *	custom_private		see HgAggregatePrivate
 *	scan.plan.qual		HAVING
 */
typedef enum HgAggregateExprs
{
	HG_AGGREGATE_ARGUMENTS, /* for each Aggref its argument; NULL for count(*) */
	HG_AGGREGATE_FILTERS,	/* for each Aggref its FILTER clause, or NULL */
	HG_AGGREGATE_EXPRS_COUNT
} HgAggregateExprs;

typedef enum HgAggregatePrivate
{
	HG_AGGREGATE_MARK,			/* hg_library_mark() */
	HG_AGGREGATE_GROUPED,		/* Integer: 1 if there is a GROUP BY, else 0 */
	HG_AGGREGATE_INPUT_COLUMNS, /* Integer: number of input columns in custom_scan_tlist */
	/* IntList: for each Aggref the number of the DISTINCT column whose values it takes; or -1 */
	HG_AGGREGATE_DISTINCT,
	/* IntList: the group columns, then the DISTINCT columns, as indexes in custom_scan_tlist */
	HG_AGGREGATE_KEYS,
	HG_AGGREGATE_EQUALITIES, /* OidList: equality operators of these columns */
	HG_AGGREGATE_COLLATIONS, /* OidList: collations of these columns */
	HG_AGGREGATE_GROUP_KEYS, /* Integer: number of group columns in KEYS */
	/* Integer: index of the column with the number of the branch of INTERSECT or EXCEPT; or -1 */
	HG_AGGREGATE_BRANCH,
	/* Integer: that number in the rows that make groups, which come first */
	HG_AGGREGATE_GROUPING_BRANCH,
	HG_AGGREGATE_COMMAND, /* Integer: the SetOpCmd of INTERSECT or EXCEPT; or -1 */
	/* grouping sets (hg_aggregate_sets.h): lists with a member for each; empty if there is one */
	HG_AGGREGATE_SETS,			  /* IntLists: a set's group columns, as indexes in KEYS */
	HG_AGGREGATE_SET_PARENTS,	  /* IntLists: the sets that its groups are combined from; or NIL */
	HG_AGGREGATE_SET_KEYS_ONLY,	  /* IntList: 1 if its groups have no states, else 0 */
	HG_AGGREGATE_SET_RETURNED,	  /* IntList: 1 if its groups are returned, else 0 */
	HG_AGGREGATE_SET_SHARED,	  /* IntList: 1 if processes below a Gather share its groups */
	HG_AGGREGATE_SET_NEVER_EMPTY, /* IntList: 1 if it has a group even of no rows, else 0 */
	HG_AGGREGATE_SET_GROUPINGS,	  /* IntLists: values of the GroupingFuncs for its groups */
	HG_AGGREGATE_SET_GROUPS,	  /* IntList: their expected number; also if there is one set */
	HG_AGGREGATE_PRIVATE_COUNT
} HgAggregatePrivate;

/* Methods that an aggregate plan node carries. */
extern const CustomScanMethods hg_aggregate_scan_methods;

#endif /* HG_AGGREGATE_H */
