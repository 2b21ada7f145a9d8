/*-------------------------------------------------------------------------
 *
 * hg_top_filter.h
 *	  Removes rows of a scan that cannot be among the first rows of an ORDER BY with a LIMIT.
 *
 * The filter tests the first sort key, which is a column of the scan.  It rejects rows that
 * hg_top_keys_rejects_first() would reject.  The bounds of a segment's values may show that it
 * rejects all rows of the segment.  The more rows have been sorted, the more it rejects.
 *
 * Before each batch, a reader calls hg_top_filter_begin().  If that returns true, it may pass the
 * batch to the functions below it.  Rows are not tested one by one for a while if few of them were
 * rejected.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TOP_FILTER_H
#define HG_TOP_FILTER_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "batch/hg_predicate.h"
#include "batch/hg_top_keys.h"

/* A batch has this number of rows if at most this share of rows is selected. */
#define HG_TOP_SMALL_BATCH 64
#define HG_TOP_SMALL_SHARE 0.25

typedef struct HgTopFilter
{
	HgRowCheck check; /* over the sort key alone */
	HgRowOrder order; /* its column, which the reader of the scan sets, is also the check's */
	const HgTopKeys *top;
	HgValueOrder value_order;
	TupleDesc desc;		   /* one attribute, of the sort key's type */
	MemoryContext context; /* owns the predicate */
	HgPredicate *kept;	   /* the rows that are not rejected; NULL if no row is rejected */
	uint64 changes;		   /* top->changes for which kept was made */
	uint64 resume;		   /* rows are tested one by one once top->seen is this */
	uint64 tested;		   /* rows tested one by one in the current sample */
	uint64 rejected;	   /* rows rejected among them */
	double share;		   /* estimated share of the rows that are selected */
	uint64 removed;		   /* rows rejected, over all scans */
} HgTopFilter;

/*
 * Creates the filter of an order in CurrentMemoryContext, which reads *top as long as it lives.
 * att is the first sort key, and ordering_operator its ordering operator.  Returns NULL if its
 * values are neither compared as integers nor as numerics, or by another operator than the type's
 * own.
 */
extern HgTopFilter *hg_top_filter_create(const HgTopKeys *top, Form_pg_attribute att,
										 Oid ordering_operator);

/* Tests rows one by one again, after hg_top_keys_reset(). */
extern void hg_top_filter_restart(HgTopFilter *filter);

/* Brings the filter up to date with *top.  Returns true if it may reject rows now. */
extern bool hg_top_filter_begin(HgTopFilter *filter);

/* Returns true if rows are to be tested one by one now. */
static inline bool
hg_top_filter_tests_rows(const HgTopFilter *filter)
{
	return filter->top->seen >= filter->resume;
}

/*
 * Returns HgBatchSource.max_rows of the scan's next batch.  The rows that a scan finds while it
 * fills a batch do not make the filter reject more of those behind them.  So batches are small
 * before the filter rejects any row, and if it rejects most rows.
 */
static inline int
hg_top_filter_batch_rows(const HgTopFilter *filter)
{
	if (!filter->top->complete)
		return 1;
	return filter->share < HG_TOP_SMALL_SHARE ? HG_TOP_SMALL_BATCH : HG_BATCH_ROWS;
}

/*
 * Tests column 0 of a batch after hg_top_filter_begin() has returned true: sets which[] to the
 * rows that are selected, and returns their number.
 */
extern int hg_top_filter_apply(HgTopFilter *filter, const HgBatch *batch, uint16 *which);

/* Tests rows of a segment.  HgRowCheck.apply_arrays() describes the arguments and the result. */
extern int hg_top_filter_apply_arrays(HgTopFilter *filter, const HgPredicateColumn *columns,
									  uint32 first, int n, bool *holds);

/*
 * Returns true if all of nrows rows are rejected, whose first sort key has these bounds, and counts
 * them as removed.  Call it after hg_top_filter_begin() has returned true.
 */
extern bool hg_top_filter_rejects_all(HgTopFilter *filter, const HgValueBounds *bounds,
									  uint32 nrows);

/*
 * For a scan whose consumer has no other check: calls hg_top_filter_begin() and returns the check
 * for the next batch, which the filter owns, or NULL.
 */
extern HgRowCheck *hg_top_filter_check(HgTopFilter *filter);

#endif /* HG_TOP_FILTER_H */
