/*-------------------------------------------------------------------------
 *
 * hg_aggregate.h
 *	  The aggregate node: what the planner hands over.
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
 *	custom_scan_tlist	the columns of the input, then the Aggrefs
 *	custom_exprs		lists of expressions over the input's columns: see HgAggregateExprs
 *	custom_private		see HgAggregatePrivate
 *	scan.plan.qual		HAVING
 */
typedef enum HgAggregateExprs
{
	HG_AGGREGATE_ARGUMENTS, /* for each Aggref its argument, or NULL where rows are counted */
	HG_AGGREGATE_FILTERS,	/* for each Aggref its FILTER, or NULL */
	HG_AGGREGATE_EXPRS_COUNT
} HgAggregateExprs;

typedef enum HgAggregatePrivate
{
	HG_AGGREGATE_MARK,			/* hg_library_mark() */
	HG_AGGREGATE_GROUPED,		/* Integer: 1 where there is a GROUP BY */
	HG_AGGREGATE_INPUT_COLUMNS, /* Integer: how many of custom_scan_tlist are the input's */
	HG_AGGREGATE_KEYS,			/* IntList: indexes of the group columns among them, from 0 */
	HG_AGGREGATE_EQUALITIES,	/* OidList: their equality operators */
	HG_AGGREGATE_COLLATIONS,	/* OidList: ... and collations */
	HG_AGGREGATE_PRIVATE_COUNT
} HgAggregatePrivate;

/*
 * The methods that a plan node carries; registered by hg_aggregate_init, which hg_executor_init
 * calls.
 */
extern const CustomScanMethods hg_aggregate_scan_methods;

extern void hg_aggregate_init(void);

#endif /* HG_AGGREGATE_H */
