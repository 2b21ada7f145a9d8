/*-------------------------------------------------------------------------
 *
 * hg_aggregate_filter.h
 *	  FILTER and HAVING clauses that are evaluated column by column over a batch.
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
 * Compiles a clause into a filter, in CurrentMemoryContext.  Attribute attnos[c] of desc is column
 * c of the batches, which have ncolumns.  Returns NULL if the clause cannot be evaluated over
 * columns.
 */
extern HgColumnFilter *hg_column_filter_create(const Expr *filter, TupleDesc desc, int ncolumns,
											   const int *attnos);

/* Sets takes_scaled for the filter's columns, so that numerics come as scaled integers. */
extern void hg_column_filter_take_scaled(const HgColumnFilter *filter, bool *takes_scaled);

/*
 * Sets passes[i] if row i of the batch passes the filter.  If recheck[i] is set, passes[i] is
 * meaningless and the caller evaluates the expression for that row.
 */
extern void hg_column_filter_apply(HgColumnFilter *filter, const HgBatch *batch, bool *passes,
								   bool *recheck);

#endif /* HG_AGGREGATE_FILTER_H */
