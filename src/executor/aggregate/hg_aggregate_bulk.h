/*-------------------------------------------------------------------------
 *
 * hg_aggregate_bulk.h
 *	  Functions that advance aggregate states without a batch: from arrays, from a device's groups,
 *	  or by a row count.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_BULK_H
#define HG_AGGREGATE_BULK_H

#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/*
 * Advances a group's state by nrows rows, at least 1.  The function must satisfy
 * hg_function_takes_arrays().  array holds nrows integers of type function->word, none of them
 * NULL, and stays the caller's.  A count ignores it, and array may then be NULL.
 */
extern void hg_function_advance_array(const HgFunction *function, int nrows, const void *array,
									  HgGroup *group);

/*
 * Merges a device's result for one group into the group's state.  item points to the words of the
 * argument (engine/hg_reduce.h).  For a count without an argument item is NULL, and rows, the
 * number of reduced rows, is added.
 */
extern void hg_function_merge(const HgFunction *function, HgGroup *group, uint64 rows,
							  const uint64 *item);

/* Adds rows to the state of a count. */
extern void hg_function_count(const HgFunction *function, HgGroup *group, uint64 rows);

#endif /* HG_AGGREGATE_BULK_H */
