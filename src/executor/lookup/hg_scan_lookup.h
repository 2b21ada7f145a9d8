/*-------------------------------------------------------------------------
 *
 * hg_scan_lookup.h
 *	  The lookup node: the layout of its plan, which the planner fills in.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_LOOKUP_H
#define HG_SCAN_LOOKUP_H

#include "nodes/extensible.h"

/*
 * A plan node is a CustomScan with scanrelid 0 and
 *
 *	custom_plans		the scan without the node's clauses, and the scan with all clauses
 *	custom_scan_tlist	the columns of the scan
 *	custom_exprs		lists of expressions over them: see HgScanLookupExprs
 *	custom_private		see HgScanLookupPrivate
 *	scan.plan.qual		the clauses that the scan does not evaluate, hash clauses included
 */
typedef enum HgScanLookupExprs
{
	HG_SCAN_LOOKUP_KEYS,   /* for each hash clause the operand with columns */
	HG_SCAN_LOOKUP_VALUES, /* for each hash clause the operand with parameters */
	HG_SCAN_LOOKUP_EXPRS_COUNT
} HgScanLookupExprs;

typedef enum HgScanLookupPrivate
{
	HG_SCAN_LOOKUP_MARK,		 /* hg_library_mark() */
	HG_SCAN_LOOKUP_CLAUSES,		 /* IntList: positions of the hash clauses in scan.plan.qual */
	HG_SCAN_LOOKUP_KEY_HASHES,	 /* OidList: hash functions of the keys */
	HG_SCAN_LOOKUP_VALUE_HASHES, /* OidList: hash functions of the values */
	HG_SCAN_LOOKUP_COLLATIONS,	 /* OidList: collations of the hash clauses */
	HG_SCAN_LOOKUP_READS_ON,	 /* Integer: 1 if reading the scan to its end raises no errors */
	HG_SCAN_LOOKUP_PRIVATE_COUNT
} HgScanLookupPrivate;

/* Methods that a lookup plan node carries. */
extern const CustomScanMethods hg_scan_lookup_methods;

#endif /* HG_SCAN_LOOKUP_H */
