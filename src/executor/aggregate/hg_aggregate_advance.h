/*-------------------------------------------------------------------------
 *
 * hg_aggregate_advance.h
 *	  Functions that advance aggregate states by the rows of a batch.
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

/* Selected rows of a batch, as indexes: rows[count], or the first count rows if rows is NULL. */
typedef struct HgSelection
{
	const uint16 *rows;
	int count;
} HgSelection;

/*
 * Advances a function's states by the selected rows.  values and nulls are the argument's, indexed
 * by row; nulls is NULL if no value is NULL.  Row r belongs to groups[r]; if groups is NULL, all
 * rows belong to group.
 */
extern void hg_function_advance(const HgFunction *function, HgSelection selection,
								const Datum *values, const bool *nulls, HgGroup *const *groups,
								HgGroup *group);

/* As hg_function_advance(), for an argument that was computed column by column. */
extern void hg_function_advance_numbers(const HgFunction *function, HgSelection selection,
										const HgNumbers *numbers, HgGroup *const *groups,
										HgGroup *group);

/* Returns true if a function is sum(numeric) or avg(numeric). */
static inline bool
hg_function_sums_numerics(const HgFunction *function)
{
	return function->kind == HG_AGGREGATE_SUM_NUMERIC || function->kind == HG_AGGREGATE_AVG_NUMERIC;
}

/*
 * Adds count values to the state of a sum or average of numerics.  scaled is their sum times
 * 10^scale; NULLs are not counted.
 */
extern void hg_function_merge_scaled(const HgFunction *function, HgGroup *group, int64 count,
									 int128 scaled, int scale);

#endif /* HG_AGGREGATE_ADVANCE_H */
