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
 * Advances a group's state by nrows rows.  array holds the values of the argument, none of them
 * NULL, or is NULL if rows are counted.
 */
extern void hg_function_advance_array(const HgFunction *function, int nrows, const void *array,
									  HgGroup *group);

/*
 * Merges rows that a device has reduced into a group's state.  rows is their number.  item points
 * to the words of the reduced argument (hg_engine.h), or is NULL if rows are counted.
 */
extern void hg_function_merge(const HgFunction *function, HgGroup *group, uint64 rows,
							  const uint64 *item);

/* Adds rows to the state of a count. */
extern void hg_function_count(const HgFunction *function, HgGroup *group, uint64 rows);

#endif /* HG_AGGREGATE_BULK_H */
