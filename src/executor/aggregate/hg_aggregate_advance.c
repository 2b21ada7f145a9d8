/*-------------------------------------------------------------------------
 *
 * hg_aggregate_advance.c
 *	  Functions that advance aggregate states by the rows of a batch.
 *
 * Each loop below is written once, as an inline function whose constant arguments say what does
 * not change within it, so that the compiler makes a tight loop for each case.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_numeric.h"
#include "batch/hg_predicate.h"
#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_sums.h"

/* ---------------------------------------------------------------------
 * FILTER and HAVING clauses that are evaluated column by column over a batch
 *
 * A filter is a predicate (hg_predicate.h) over the batch's own arrays.  Permission to call its
 * functions was checked when the expression for rechecks was initialized.
 * ---------------------------------------------------------------------
 */

struct HgColumnFilter
{
	HgPredicate *predicate;
	int *columns;  /* [view->ncolumns] columns of the batch */
	HgBatch *view; /* the batch's arrays of these columns */
};

HgColumnFilter *
hg_column_filter_create(const Expr *filter, TupleDesc desc, int ncolumns, const int *attnos)
{
	HgPredicate *predicate =
		hg_predicate_from_clause(unconstify(Node *, (const Node *) filter), true);
	AttrNumber *used = palloc(Max(desc->natts, 1) * sizeof(AttrNumber));
	HgColumnFilter *columns;
	int nused = 0;

	if (predicate == NULL)
		return NULL;
	hg_predicate_bind(predicate, desc, used, &nused);
	columns = palloc(sizeof(HgColumnFilter));
	columns->predicate = predicate;
	columns->columns = palloc0(Max(nused, 1) * sizeof(int));
	columns->view = hg_batch_create_partial(nused, 0, NULL);
	for (int i = 0; i < nused; i++)
		while (attnos[columns->columns[i]] != used[i])
		{
			columns->columns[i]++;
			Assert(columns->columns[i] < ncolumns);
		}
	pfree(used);
	return columns;
}

void
hg_column_filter_take_scaled(const HgColumnFilter *filter, bool *takes_scaled)
{
	for (int i = 0; i < filter->view->ncolumns; i++)
		takes_scaled[filter->columns[i]] = true;
}

void
hg_column_filter_apply(HgColumnFilter *filter, const HgBatch *batch, bool *passes, bool *recheck)
{
	HgBatch *view = filter->view;

	view->nrows = batch->nrows;
	for (int i = 0; i < view->ncolumns; i++)
	{
		int column = filter->columns[i];

		view->values[i] = batch->values[column];
		view->nulls[i] = batch->nulls[column];
		view->has_nulls[i] = batch->has_nulls[column];
		view->scales[i] = batch->scales[column];
	}
	memset(recheck, false, batch->nrows * sizeof(bool));
	(void) hg_predicate_apply(filter->predicate, view, passes, recheck);
}

/* ---------------------------------------------------------------------
 * Functions that advance aggregate states without a batch: from arrays, from a device's groups, or
 * by a row count
 * ---------------------------------------------------------------------
 */

/* Returns element i of an array of words. */
static pg_attribute_always_inline int64
hg_array_word(const void *array, int i, HgWordType type)
{
	switch (type)
	{
		case HG_WORD_INT2:
			return ((const int16 *) array)[i];
		case HG_WORD_INT4:
			return ((const int32 *) array)[i];
		case HG_WORD_UINT4:
			return ((const uint32 *) array)[i];
		case HG_WORD_INT8:
			break;
	}
	return ((const int64 *) array)[i];
}

static pg_attribute_always_inline void
hg_array_sum(HgSumState *state, int nrows, const void *array, HgWordType type)
{
	uint64 sum = 0;

	for (int i = 0; i < nrows; i++)
		sum += (uint64) hg_array_word(array, i, type);
	state->count += nrows;
	state->sum = (int64) ((uint64) state->sum + sum);
}

static void
hg_array_big_sum(HgBigSumState *state, int nrows, const int64 *array)
{
	HgHalves sum = {0};

	for (int i = 0; i < nrows; i++)
		hg_halves_add(&sum, array[i]);
	hg_big_sum_take(state, nrows, hg_halves_total(&sum));
}

static pg_attribute_always_inline void
hg_array_extreme(HgExtremeState *state, int nrows, const void *array, HgWordType type,
				 bool greatest)
{
	int64 extreme = state->any ? state->value : hg_array_word(array, 0, type);

	for (int i = 0; i < nrows; i++)
	{
		int64 value = hg_array_word(array, i, type);

		extreme = greatest ? Max(extreme, value) : Min(extreme, value);
	}
	state->value = extreme;
	state->any = true;
}

void
hg_function_advance_array(const HgFunction *function, int nrows, const void *array, HgGroup *group)
{
	void *state = (char *) group + function->offset;

#define HG_CALL_SUM(type) hg_array_sum(state, nrows, array, type)
#define HG_CALL_MIN(type) hg_array_extreme(state, nrows, array, type, false)
#define HG_CALL_MAX(type) hg_array_extreme(state, nrows, array, type, true)

	Assert(nrows > 0);
	switch (function->kind)
	{
		case HG_AGGREGATE_COUNT:
			*(int64 *) state += nrows;
			break;
		case HG_AGGREGATE_SUM_INT:
		case HG_AGGREGATE_AVG_INT:
			HG_FOR_WORD(function->word, HG_CALL_SUM);
			break;
		case HG_AGGREGATE_SUM_BIGINT:
		case HG_AGGREGATE_AVG_BIGINT:
			hg_array_big_sum(state, nrows, array);
			break;
		case HG_AGGREGATE_MIN:
			HG_FOR_WORD(function->word, HG_CALL_MIN);
			break;
		case HG_AGGREGATE_MAX:
			HG_FOR_WORD(function->word, HG_CALL_MAX);
			break;
		default:
			Assert(false);
			break;
	}
#undef HG_CALL_SUM
#undef HG_CALL_MIN
#undef HG_CALL_MAX
}

void
hg_function_merge(const HgFunction *function, HgGroup *group, uint64 rows, const uint64 *item)
{
	void *at = (char *) group + function->offset;
	HgSumState *sum = at;
	HgBigSumState *big = at;
	HgExtremeState *extreme = at;
	int64 value;

	switch (function->kind)
	{
		case HG_AGGREGATE_COUNT:
			*(int64 *) at += (int64) (item != NULL ? item[0] : rows);
			break;
		case HG_AGGREGATE_SUM_INT:
		case HG_AGGREGATE_AVG_INT:
			sum->count += (int64) item[0];
			sum->sum = (int64) ((uint64) sum->sum + item[1]);
			break;
		case HG_AGGREGATE_SUM_BIGINT:
		case HG_AGGREGATE_AVG_BIGINT:
			hg_big_sum_take(big, (int64) item[0], (int128) item[2] << 64 | item[1]);
			break;
		case HG_AGGREGATE_MIN:
		case HG_AGGREGATE_MAX:
			if (item[0] == 0)
				break;
			value = (int64) item[1];
			if (!extreme->any || (function->kind == HG_AGGREGATE_MAX ? value > extreme->value
																	 : value < extreme->value))
				extreme->value = value;
			extreme->any = true;
			break;
		default:
			Assert(false);
			break;
	}
}

void
hg_function_count(const HgFunction *function, HgGroup *group, uint64 rows)
{
	Assert(function->kind == HG_AGGREGATE_COUNT);
	*(int64 *) ((char *) group + function->offset) += (int64) rows;
}

/* Loops over the rows of a selection, all if the constant all is set. */
#define HG_EACH_ROW(row)                                                                           \
	for (int i = 0, row = 0; i < selection.count && (row = all ? i : selection.rows[i], true); i++)

#define HG_STATE(type, row) ((type *) ((char *) (plain ? group : groups[row]) + function->offset))

/* Returns the selected rows that are not NULL, in rows if some are.  nulls = NULL: none is. */
static inline HgSelection
hg_selection_without(HgSelection selection, const bool *nulls, uint16 *rows)
{
	int count = 0;

	if (nulls == NULL)
		return selection;
	for (int i = 0; i < selection.count; i++)
	{
		rows[count] = selection.rows != NULL ? selection.rows[i] : i;
		count += nulls[rows[count]] ? 0 : 1;
	}
	return (HgSelection){rows, count};
}

/* ---------------------------------------------------------------------
 * Values
 * ---------------------------------------------------------------------
 */

static pg_attribute_always_inline int64
hg_word(Datum value, HgWordType type)
{
	switch (type)
	{
		case HG_WORD_INT2:
			return DatumGetInt16(value);
		case HG_WORD_INT4:
			return DatumGetInt32(value);
		case HG_WORD_UINT4:
			return DatumGetUInt32(value);
		case HG_WORD_INT8:
			break;
	}
	return DatumGetInt64(value);
}

static inline void
hg_big_sum_add(HgBigSumState *state, int64 value)
{
	state->low += (uint64) value;
	state->high += (value < 0 ? -1 : 0) + (state->low < (uint64) value);
}

/*
 * Adds the sum of count values, scaled by 10^scale, to a state's sum.  Returns false, and does
 * nothing, if 128 bits do not hold the result.
 */
static inline bool
hg_numeric_add(HgNumericState *state, int64 count, int128 scaled, int scale)
{
	int128 sum = hg_numeric_sum_of(state);

	if (unlikely(scale != state->scale) &&
		!(scale > state->scale ? hg_numeric_scale_up(&sum, scale - state->scale)
							   : hg_numeric_scale_up(&scaled, state->scale - scale)))
		return false;
	if (__builtin_add_overflow(sum, scaled, &sum))
		return false;
	state->summed += count;
	state->low = (uint64) sum;
	state->high = (int64) (sum >> 64);
	state->scale = Max(state->scale, scale);
	return true;
}

static pg_attribute_always_inline void
hg_advance_count(const HgFunction *function, HgSelection selection, HgGroup *const *groups,
				 HgGroup *group, bool plain, bool all)
{
	if (plain)
	{
		*HG_STATE(int64, 0) += selection.count;
		return;
	}
	HG_EACH_ROW(row)
	(*HG_STATE(int64, row))++;
}

static pg_attribute_always_inline void
hg_advance_sum(const HgFunction *function, HgSelection selection, const Datum *values,
			   HgGroup *const *groups, HgGroup *group, bool plain, bool all, HgWordType type)
{
	if (plain)
	{
		/* unsigned, so that wrapping is defined */
		uint64 sum = 0;

		HG_EACH_ROW(row)
		sum += (uint64) hg_word(values[row], type);
		HG_STATE(HgSumState, 0)->sum = (int64) ((uint64) HG_STATE(HgSumState, 0)->sum + sum);
		HG_STATE(HgSumState, 0)->count += selection.count;
		return;
	}
	HG_EACH_ROW(row)
	{
		HgSumState *state = HG_STATE(HgSumState, row);

		state->count++;
		state->sum = (int64) ((uint64) state->sum + (uint64) hg_word(values[row], type));
	}
}

static pg_attribute_always_inline void
hg_advance_big_sum(const HgFunction *function, HgSelection selection, const Datum *values,
				   HgGroup *const *groups, HgGroup *group, bool plain, bool all)
{
	if (plain)
	{
		HgHalves sum = {0};

		HG_EACH_ROW(row)
		hg_halves_add(&sum, DatumGetInt64(values[row]));
		hg_big_sum_take(HG_STATE(HgBigSumState, 0), selection.count, hg_halves_total(&sum));
		return;
	}
	HG_EACH_ROW(row)
	{
		HgBigSumState *state = HG_STATE(HgBigSumState, row);

		state->count++;
		hg_big_sum_add(state, DatumGetInt64(values[row]));
	}
}

static pg_attribute_always_inline void
hg_advance_extreme(const HgFunction *function, HgSelection selection, const Datum *values,
				   HgGroup *const *groups, HgGroup *group, bool plain, bool all, HgWordType type,
				   bool greatest)
{
	if (plain)
	{
		HgExtremeState *state = HG_STATE(HgExtremeState, 0);
		int64 extreme = state->any ? state->value : greatest ? PG_INT64_MIN : PG_INT64_MAX;

		HG_EACH_ROW(row)
		{
			int64 value = hg_word(values[row], type);

			extreme = greatest ? Max(extreme, value) : Min(extreme, value);
		}
		state->value = extreme;
		state->any = state->any || selection.count > 0;
		return;
	}
	HG_EACH_ROW(row)
	{
		HgExtremeState *state = HG_STATE(HgExtremeState, row);
		int64 value = hg_word(values[row], type);

		if (!state->any || (greatest ? value > state->value : value < state->value))
			state->value = value;
		state->any = true;
	}
}

static pg_attribute_always_inline void
hg_advance_numeric(const HgFunction *function, HgSelection selection, const Datum *values,
				   HgGroup *const *groups, HgGroup *group, bool plain, bool all)
{
	HG_EACH_ROW(row)
	{
		HgNumericState *state = HG_STATE(HgNumericState, row);
		int128 scaled;
		int scale;

		state->count++;
		if (!hg_numeric_decode(values[row], &scaled, &scale) ||
			!hg_numeric_add(state, 1, scaled, scale))
			hg_transition_advance(function->transition, &state->rest, values[row], false);
	}
}

/* Minima and maxima of numerics that are not scaled: by the aggregate's own function. */
static pg_attribute_always_inline void
hg_advance_rest(const HgFunction *function, HgSelection selection, const Datum *values,
				HgGroup *const *groups, HgGroup *group, bool plain, bool all)
{
	HG_EACH_ROW(row)
	hg_transition_advance(function->transition, &HG_STATE(HgNumericExtremeState, row)->rest,
						  values[row], false);
}

static pg_attribute_always_inline void
hg_advance_inline(const HgFunction *function, HgSelection selection, const Datum *values,
				  HgWordType word, HgGroup *const *groups, HgGroup *group, bool plain, bool all)
{
#define HG_ADVANCE_SUM(type)                                                                       \
	hg_advance_sum(function, selection, values, groups, group, plain, all, type)
#define HG_ADVANCE_MIN(type)                                                                       \
	hg_advance_extreme(function, selection, values, groups, group, plain, all, type, false)
#define HG_ADVANCE_MAX(type)                                                                       \
	hg_advance_extreme(function, selection, values, groups, group, plain, all, type, true)

	switch (function->kind)
	{
		case HG_AGGREGATE_COUNT:
			hg_advance_count(function, selection, groups, group, plain, all);
			break;
		case HG_AGGREGATE_SUM_INT:
		case HG_AGGREGATE_AVG_INT:
			HG_FOR_WORD(word, HG_ADVANCE_SUM);
			break;
		case HG_AGGREGATE_SUM_BIGINT:
		case HG_AGGREGATE_AVG_BIGINT:
			hg_advance_big_sum(function, selection, values, groups, group, plain, all);
			break;
		case HG_AGGREGATE_SUM_NUMERIC:
		case HG_AGGREGATE_AVG_NUMERIC:
			hg_advance_numeric(function, selection, values, groups, group, plain, all);
			break;
		case HG_AGGREGATE_MIN:
			HG_FOR_WORD(word, HG_ADVANCE_MIN);
			break;
		case HG_AGGREGATE_MAX:
			HG_FOR_WORD(word, HG_ADVANCE_MAX);
			break;
		case HG_AGGREGATE_MIN_NUMERIC:
		case HG_AGGREGATE_MAX_NUMERIC:
			hg_advance_rest(function, selection, values, groups, group, plain, all);
			break;
		default:
			Assert(false);
			break;
	}
#undef HG_ADVANCE_SUM
#undef HG_ADVANCE_MIN
#undef HG_ADVANCE_MAX
}

void
hg_function_advance(const HgFunction *function, HgSelection selection, const Datum *values,
					const bool *nulls, HgGroup *const *groups, HgGroup *group)
{
	uint16 rows[HG_BATCH_ROWS];

	if (function->kind == HG_AGGREGATE_TRANSITION)
	{
		for (int i = 0; i < selection.count; i++)
		{
			int row = selection.rows != NULL ? selection.rows[i] : i;
			char *of = (char *) (groups != NULL ? groups[row] : group);
			bool null = nulls != NULL && nulls[row];

			hg_transition_advance(function->transition,
								  (HgTransitionState *) (of + function->offset),
								  null ? (Datum) 0 : values[row], null);
		}
		return;
	}

	/* all other kinds ignore NULLs */
	selection = hg_selection_without(selection, nulls, rows);
	if (groups == NULL && selection.rows == NULL)
		hg_advance_inline(function, selection, values, function->word, groups, group, true, true);
	else if (groups == NULL)
		hg_advance_inline(function, selection, values, function->word, groups, group, true, false);
	else if (selection.rows == NULL)
		hg_advance_inline(function, selection, values, function->word, groups, group, false, true);
	else
		hg_advance_inline(function, selection, values, function->word, groups, group, false, false);
}

/* ---------------------------------------------------------------------
 * Numbers
 * ---------------------------------------------------------------------
 */

/* Adds a scaled integer to a state's sum, or to the rest. */
static inline void
hg_numeric_take(const HgFunction *function, HgNumericState *state, int64 scaled, int scale)
{
	state->count++;
	if (!hg_numeric_add(state, 1, scaled, scale))
		hg_transition_advance(function->transition, &state->rest, hg_numeric_make(scaled, scale),
							  false);
}

/* As hg_advance_numeric(), for scaled integers. */
static pg_attribute_always_inline void
hg_advance_scaled(const HgFunction *function, HgSelection selection, const int64 *values, int scale,
				  HgGroup *const *groups, HgGroup *group, bool plain, bool all)
{
	if (plain)
	{
		HgNumericState *state = HG_STATE(HgNumericState, 0);
		HgHalves sum = {0};

		HG_EACH_ROW(row)
		hg_halves_add(&sum, values[row]);
		if (hg_numeric_add(state, selection.count, hg_halves_total(&sum), scale))
		{
			state->count += selection.count;
			return;
		}
	}
	HG_EACH_ROW(row)
	hg_numeric_take(function, HG_STATE(HgNumericState, row), values[row], scale);
}

/* Minima and maxima of scaled integers. */
static pg_attribute_always_inline void
hg_advance_numeric_extreme(const HgFunction *function, HgSelection selection, const int64 *values,
						   int scale, HgGroup *const *groups, HgGroup *group, bool plain, bool all,
						   bool greatest)
{
	HG_EACH_ROW(row)
	{
		HgNumericExtremeState *state = HG_STATE(HgNumericExtremeState, row);

		hg_numeric_extreme_take(function, state, values[row], scale, greatest);
	}
}

static pg_attribute_always_inline void
hg_advance_numbers(const HgFunction *function, HgSelection selection, const HgNumbers *numbers,
				   HgGroup *const *groups, HgGroup *group, bool plain, bool all)
{
	if (function->kind == HG_AGGREGATE_MIN_NUMERIC)
	{
		hg_advance_numeric_extreme(function, selection, numbers->values, numbers->scale, groups,
								   group, plain, all, false);
		return;
	}
	if (function->kind == HG_AGGREGATE_MAX_NUMERIC)
	{
		hg_advance_numeric_extreme(function, selection, numbers->values, numbers->scale, groups,
								   group, plain, all, true);
		return;
	}
	if (hg_function_sums_numerics(function))
		hg_advance_scaled(function, selection, numbers->values, numbers->scale, groups, group,
						  plain, all);
	else
		hg_advance_inline(function, selection, (const Datum *) numbers->values, HG_WORD_INT8,
						  groups, group, plain, all);
}

void
hg_function_advance_numbers(const HgFunction *function, HgSelection selection,
							const HgNumbers *numbers, HgGroup *const *groups, HgGroup *group)
{
	uint16 rows[HG_BATCH_ROWS];

	selection = hg_selection_without(selection, numbers->nulls, rows);
	/* without a value there is no scale */
	if (selection.count == 0)
		return;
	if (groups == NULL && selection.rows == NULL)
		hg_advance_numbers(function, selection, numbers, groups, group, true, true);
	else if (groups == NULL)
		hg_advance_numbers(function, selection, numbers, groups, group, true, false);
	else if (selection.rows == NULL)
		hg_advance_numbers(function, selection, numbers, groups, group, false, true);
	else
		hg_advance_numbers(function, selection, numbers, groups, group, false, false);
}

void
hg_function_merge_scaled(const HgFunction *function, HgGroup *group, int64 count, int128 scaled,
						 int scale)
{
	HgNumericState *state = (HgNumericState *) ((char *) group + function->offset);

	if (count == 0)
		return;
	state->count += count;
	if (hg_numeric_add(state, count, scaled, scale))
		return;
	/* if 128 bits do not hold it, the sum is one value of the rest, and the others count as 0 */
	state->summed += count - 1;
	hg_transition_advance(function->transition, &state->rest, hg_numeric_make(scaled, scale),
						  false);
}
