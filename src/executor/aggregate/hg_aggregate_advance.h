/*-------------------------------------------------------------------------
 *
 * hg_aggregate_advance.h
 *	  Aggregate functions take the rows of a batch.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_ADVANCE_H
#define HG_AGGREGATE_ADVANCE_H

#include "batch/hg_arithmetic.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/* Rows of a batch: rows[count], or all of the first count where rows is NULL. */
typedef struct HgSelection
{
	const uint16 *rows;
	int count;
} HgSelection;

/*
 * Take the selected rows: values and nulls (or NULL: none is) of the argument, by row.
 * Row r belongs to groups[r], or where groups is NULL all rows belong to group.
 */
extern void hg_function_advance(const HgFunction *function, HgSelection selection,
								const Datum *values, const bool *nulls, HgGroup *const *groups,
								HgGroup *group);

/* The same of an argument that is numbers. */
extern void hg_function_advance_numbers(const HgFunction *function, HgSelection selection,
										const HgNumbers *numbers, HgGroup *const *groups,
										HgGroup *group);

/* Is it a sum, or an average, of numerics? */
static inline bool
hg_function_sums_numerics(const HgFunction *function)
{
	return function->kind == HG_AGGREGATE_SUM_NUMERIC || function->kind == HG_AGGREGATE_AVG_NUMERIC;
}

/* ... which takes count values that are not NULL by their sum, scaled by 10^scale. */
extern void hg_function_merge_scaled(const HgFunction *function, HgGroup *group, int64 count,
									 int128 scaled, int scale);

#endif /* HG_AGGREGATE_ADVANCE_H */
