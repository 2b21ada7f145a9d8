/*-------------------------------------------------------------------------
 *
 * hg_scan_qual.h
 *	  Quals of a table scan that are comparisons of columns with constants.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_QUAL_H
#define HG_SCAN_QUAL_H

#include "nodes/pg_list.h"

#include "batch/hg_scan_tuples.h"

typedef struct HgRangeQual HgRangeQual;

/* Is a clause one of those of the simplest kind? */
extern bool hg_range_qual_takes(Node *clause);

/*
 * Of the qual of a plan over rows of desc, an implicitly ANDed list, the comparisons of integers,
 * dates and timestamps with constants or with one another, and IS NOT NULL, in
 * CurrentMemoryContext; NULL where there is none.  Those behind a clause that calls volatile
 * functions are left out.  *rest is a list of the other clauses, in their order.
 */
extern HgRangeQual *hg_range_qual_create(TupleDesc desc, List *qual, List **rest);

/* The attributes that are compared, each once; returns their number. */
extern int hg_range_qual_attributes(const HgRangeQual *qual, const AttrNumber **attnos);

/* Are all columns that are compared at the same place in each row without NULLs? */
extern bool hg_range_qual_is_fixed(const HgRangeQual *qual);

/*
 * Which of tuples[ntuples], in their order, it holds for: their places are left in which[ntuples];
 * returns their number.  With in_order those of its clauses alone are evaluated that no clause
 * with a parameter stands ahead of, in the whole qual.
 */
extern int hg_range_qual_filter(HgRangeQual *qual, bool in_order, int ntuples,
								const HeapTupleHeader *tuples, uint16 *which);

/* The same for rows that are columns elsewhere: put the attributes above into this empty batch... */
extern HgBatch *hg_range_qual_batch(HgRangeQual *qual);
/* ... and have its rows decided on. */
extern int hg_range_qual_decide(HgRangeQual *qual, bool in_order, uint16 *which);

#endif /* HG_SCAN_QUAL_H */
