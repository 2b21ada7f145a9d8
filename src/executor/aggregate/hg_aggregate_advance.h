/*-------------------------------------------------------------------------
 *
 * hg_aggregate_advance.h
 *	  Functions that advance aggregate states by the rows of a batch.
 *
 * The state of an HgFunction in a group lies at function->offset of the HgGroup.  These functions
 * raise the errors of the aggregate's own functions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_ADVANCE_H
#define HG_AGGREGATE_ADVANCE_H

#include "access/tupdesc.h"
#include "nodes/primnodes.h"

#include "batch/hg_arithmetic.h"
#include "batch/hg_batch.h"
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

/* Does what hg_function_advance() does, for an argument whose values and NULLs are in numbers. */
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
 * Adds count values that are not NULL to the state of a sum or average of numerics.  scaled is
 * their sum times 10^scale.
 */
extern void hg_function_merge_scaled(const HgFunction *function, HgGroup *group, int64 count,
									 int128 scaled, int scale);

/*
 * Advances a group's state by nrows rows, at least 1.  The function must satisfy
 * hg_function_takes_arrays().  array holds nrows integers of type function->word, none of them
 * NULL, and stays the caller's.  A count ignores it, and array may then be NULL.
 */
extern void hg_function_advance_array(const HgFunction *function, int nrows, const void *array,
									  HgGroup *group);

/*
 * Merges a device's result for one group into the group's state.  item points to the words of the
 * function's argument in the group's record (engine/hg_reduce.h).  For a count without an argument
 * item is NULL, and rows, the number of reduced rows, is added.
 */
extern void hg_function_merge(const HgFunction *function, HgGroup *group, uint64 rows,
							  const uint64 *item);

/* Adds a number of rows to the state of a count. */
extern void hg_function_count(const HgFunction *function, HgGroup *group, uint64 rows);

/* A FILTER or HAVING clause as a predicate over columns (batch/hg_predicate.h). */
typedef struct HgColumnFilter HgColumnFilter;

/*
 * Compiles a clause into a filter, in CurrentMemoryContext.  Attribute attnos[c] of desc is column
 * c of the batches, which have ncolumns.  Returns NULL if the clause cannot be evaluated over
 * columns.
 */
extern HgColumnFilter *hg_column_filter_create(const Expr *filter, TupleDesc desc, int ncolumns,
											   const int *attnos);

/* Sets takes_scaled[column] to true for the columns that the filter uses (HgBatch.takes_scaled). */
extern void hg_column_filter_take_scaled(const HgColumnFilter *filter, bool *takes_scaled);

/*
 * Sets passes[i] to whether row i of the batch passes the filter, and recheck[i] to whether that is
 * unknown: then passes[i] is meaningless, and the caller evaluates the expression for the row.
 */
extern void hg_column_filter_apply(HgColumnFilter *filter, const HgBatch *batch, bool *passes,
								   bool *recheck);

#endif /* HG_AGGREGATE_ADVANCE_H */
