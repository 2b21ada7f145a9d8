/*-------------------------------------------------------------------------
 *
 * hg_join.h
 *	  The join node: the layout of its plan, which the planner fills in.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_H
#define HG_JOIN_H

#include "nodes/extensible.h"

/*
 * A plan node is a CustomScan with scanrelid 0 and custom_plans outer, inner and, for an adaptive
 * join, a nested loop (hg_join_lookup.h).  Its other members are
 *
 *	custom_scan_tlist	the columns of the outer child, then those of the inner one, then the
 *						values of computed keys, which are stored with their rows
 *	custom_exprs		lists of expressions over that list: see HgPlanExprs
 *	custom_private		see HgPlanPrivate
 *	scan.plan.qual		the WHERE conditions, evaluated on joined rows after null extension
 */
typedef enum HgPlanExprs
{
	HG_EXPRS_OUTER_KEYS,   /* the outer operand of each hash clause */
	HG_EXPRS_INNER_KEYS,   /* the inner operand of each hash clause */
	HG_EXPRS_HASH_CLAUSES, /* the hash clauses, outer operand on the left */
	HG_EXPRS_JOIN_QUAL,	   /* the rest of the ON clause */
	HG_EXPRS_COUNT
} HgPlanExprs;

typedef enum HgPlanPrivate
{
	HG_PRIVATE_MARK,		   /* hg_library_mark() */
	HG_PRIVATE_NUMBERS,		   /* IntList: see HgPlanNumber */
	HG_PRIVATE_COMPUTED_KEYS,  /* IntList: by outer key, then inner key, the index of its value in
								* custom_scan_tlist; -1: a column */
	HG_PRIVATE_OPERATORS,	   /* OidList: operators of the hash clauses */
	HG_PRIVATE_COLLATIONS,	   /* OidList: input collations of the hash clauses */
	HG_PRIVATE_LOOKUP_COLUMNS, /* IntList: by entry of custom_scan_tlist, its attribute in the
								* loop's rows, or 0; NIL: no loop */
	HG_PRIVATE_COUNT
} HgPlanPrivate;

typedef enum HgPlanNumber
{
	HG_NUMBER_JOIN_TYPE,	  /* JoinType */
	HG_NUMBER_INNER_UNIQUE,	  /* 1 if an outer row has at most one match */
	HG_NUMBER_OUTER_COLUMNS,  /* number of outer columns in custom_scan_tlist */
	HG_NUMBER_INNER_COLUMNS,  /* number of inner columns, which follow them */
	HG_NUMBER_PARALLEL_HASH,  /* planned workers if processes share both sides; else 0 */
	HG_NUMBER_READ_ONCE,	  /* HgSide that a single process reads for all; else -1 */
	HG_NUMBER_DENSE,		  /* 1 if the inner keys are known to be dense */
	HG_NUMBER_LOOKUP_ROWS,	  /* the nested loop joins up to this number of outer rows */
	HG_NUMBER_LOOKUP_AT_ONCE, /* 1 if it joins them as they are read */
	HG_NUMBER_LOOKUP_MATCHES, /* expected rows of its index per outer row; or 0 */
	HG_NUMBER_PARALLEL,		  /* planned workers if it is below a Gather; else 0 */
	HG_NUMBER_COUNT
} HgPlanNumber;

/* Methods that a join plan node carries. */
extern const CustomScanMethods hg_join_scan_methods;

#endif /* HG_JOIN_H */
