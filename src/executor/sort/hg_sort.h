/*-------------------------------------------------------------------------
 *
 * hg_sort.h
 *	  The sort node: the layout of its plan, which the planner fills in.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SORT_H
#define HG_SORT_H

#include "nodes/extensible.h"

/*
 * A plan node is a CustomScan with scanrelid 0 and
 *
 *	custom_plans		the input: a join or an aggregate of this extension
 *	custom_scan_tlist	the columns of the input
 *	custom_private		see HgSortPrivate
 */
typedef enum HgSortPrivate
{
	HG_SORT_MARK,		 /* hg_library_mark() */
	HG_SORT_LIMIT,		 /* Integer: number of rows that are needed */
	HG_SORT_COLUMNS,	 /* IntList: the sort keys, as attribute numbers of the input */
	HG_SORT_OPERATORS,	 /* OidList: their ordering operators */
	HG_SORT_COLLATIONS,	 /* OidList */
	HG_SORT_NULLS_FIRST, /* IntList: 1 if NULLs come first, else 0 */
	HG_SORT_PRIVATE_COUNT
} HgSortPrivate;

/*
 * Part of work memory that core's sort gets if rows do not fit.  Rows in memory have the rest,
 * which is freed while they move.
 */
#define HG_SORT_SPILL_PART 4

/* Part of work memory that copies of sort keys may take; the rows have the rest. */
#define HG_SORT_KEYS_PART 8

/* Estimated bytes of a copied sort key, and of a row's keys beside it. */
#define HG_SORT_KEY_BYTES 16
#define HG_SORT_ENTRY_BYTES 32

/* Methods that a sort plan node carries. */
extern const CustomScanMethods hg_sort_scan_methods;

#endif /* HG_SORT_H */
