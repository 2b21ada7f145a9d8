/*-------------------------------------------------------------------------
 *
 * hg_aggregate_filter.h
 *	  FILTER clauses that are evaluated over the columns of a batch.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_FILTER_H
#define HG_AGGREGATE_FILTER_H

#include "access/tupdesc.h"
#include "nodes/primnodes.h"

#include "batch/hg_batch.h"

typedef struct HgColumnFilter HgColumnFilter;

/*
 * A filter over rows of desc, whose attribute attnos[c] is column c of a batch, of ncolumns; in
 * CurrentMemoryContext.  NULL where it is none that is evaluated over columns.
 */
extern HgColumnFilter *hg_column_filter_create(const Expr *filter, TupleDesc desc, int ncolumns,
											   const int *attnos);

/* Take numerics that a filter looks at as integers, too. */
extern void hg_column_filter_take_scaled(const HgColumnFilter *filter, bool *takes_scaled);

/*
 * Sets for each row of a batch whether it passes.  Where recheck is set the expression is to be
 * evaluated instead.
 */
extern void hg_column_filter_apply(HgColumnFilter *filter, const HgBatch *batch, bool *passes,
								   bool *recheck);

#endif /* HG_AGGREGATE_FILTER_H */
