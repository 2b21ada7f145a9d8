/*-------------------------------------------------------------------------
 *
 * hg_join.h
 *	  The join node: what the planner hands over.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_H
#define HG_JOIN_H

#include "nodes/extensible.h"

/*
 * A plan node is a CustomScan with scanrelid 0, two custom_plans (outer, inner), behind which there
 * may be a nested loop (hg_join_lookup.h), and
 *
 *	custom_scan_tlist	the columns of the outer child, then those of the inner one, then columns
 *						for computed
 *						keys, whose values are stored with their
 *						rows
 *	custom_exprs		lists of expressions over that list: see HgPlanExprs
 *	custom_private		see HgPlanPrivate
 *	scan.plan.qual		what is asked of a joined row after null extension (WHERE)
 */
typedef enum HgPlanExprs
{
	HG_EXPRS_OUTER_KEYS,   /* for each clause its outer operand */
	HG_EXPRS_INNER_KEYS,   /* ... and its inner one */
	HG_EXPRS_HASH_CLAUSES, /* the clauses themselves, outer operand on the left */
	HG_EXPRS_JOIN_QUAL,	   /* the rest of the ON clause */
	HG_EXPRS_COUNT
} HgPlanExprs;

typedef enum HgPlanPrivate
{
	HG_PRIVATE_MARK,		   /* hg_library_mark() */
	HG_PRIVATE_JOIN_TYPE,	   /* Integer: JoinType */
	HG_PRIVATE_INNER_UNIQUE,   /* Integer: 1 where an outer row has one match at most */
	HG_PRIVATE_OUTER_COLUMNS,  /* Integer: how many of custom_scan_tlist are outer */
	HG_PRIVATE_INNER_COLUMNS,  /* Integer: ... and how many behind them are inner */
	HG_PRIVATE_COMPUTED_KEYS,  /* IntList: the place in custom_scan_tlist, from 0, for the value of
								* each outer key, then of each inner key; or -1 */
	HG_PRIVATE_OPERATORS,	   /* OidList: the clauses' operators */
	HG_PRIVATE_COLLATIONS,	   /* OidList: ... and their input collations */
	HG_PRIVATE_TOGETHER,	   /* Integer: workers planned that share both sides; else 0 */
	HG_PRIVATE_READ_ONCE,	   /* Integer: HgSide of which one of them reads all; else -1 */
	HG_PRIVATE_DENSE,		   /* Integer: 1 where the inner keys are known to be dense */
	HG_PRIVATE_LOOKUP_ROWS,	   /* Integer: up to so many outer rows are joined by the nested loop */
	HG_PRIVATE_LOOKUP_AT_ONCE, /* Integer: 1 where it joins them as they are read */
	HG_PRIVATE_LOOKUP_MATCHES, /* Integer: rows that its index is expected to find for each, or 0 */
	HG_PRIVATE_LOOKUP_COLUMNS, /* IntList: for each entry of custom_scan_tlist its attribute of the
								* nested loop's rows, or 0; NIL: there is none */
	HG_PRIVATE_COUNT
} HgPlanPrivate;

/*
 * The methods that a plan node carries; registered by hg_join_init, which hg_executor_init calls.
 */
extern const CustomScanMethods hg_join_scan_methods;

extern void hg_join_init(void);

#endif /* HG_JOIN_H */
