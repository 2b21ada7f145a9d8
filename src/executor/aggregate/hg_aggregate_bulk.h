/*-------------------------------------------------------------------------
 *
 * hg_aggregate_bulk.h
 *	  Aggregate functions take rows that come together: in arrays, reduced, or only counted.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_BULK_H
#define HG_AGGREGATE_BULK_H

#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/* Take nrows rows for one group: the array of the argument, or NULL where rows are counted. */
extern void hg_function_advance_array(const HgFunction *function, int nrows, const void *array,
									  HgGroup *group);

/*
 * Take rows that a device has reduced: their number, and the words of the item that tells of the
 * argument's values (hg_engine.h), or NULL where rows are counted.
 */
extern void hg_function_merge(const HgFunction *function, HgGroup *group, uint64 rows,
							  const uint64 *item);

/* Count rows that come without a batch. */
extern void hg_function_count(const HgFunction *function, HgGroup *group, uint64 rows);

#endif /* HG_AGGREGATE_BULK_H */
