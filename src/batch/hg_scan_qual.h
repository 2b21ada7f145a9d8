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

/*
 * The qual of a plan over rows of desc, an implicitly ANDed list, in CurrentMemoryContext; NULL
 * where it is empty, or has anything in it but comparisons of integers, dates and timestamps
 * with constants, and IS NOT NULL.
 */
extern HgRangeQual *hg_range_qual_create(TupleDesc desc, List *qual);

/* Keep those of tuples[ntuples], in their order, that the qual holds for; returns their number. */
extern int hg_range_qual_filter(HgRangeQual *qual, int ntuples, HeapTupleHeader *tuples);

#endif /* HG_SCAN_QUAL_H */
