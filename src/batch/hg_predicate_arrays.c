/*-------------------------------------------------------------------------
 *
 * hg_predicate_arrays.c
 *	  Applies predicates directly to the arrays of a segment.
 *
 * Integers and scaled integers are compared in their stored width.  Codes of a dictionary have
 * verdicts.  Rows are processed in steps of constant size, which compilers vectorize.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_predicate.h"

/* Rows of a step. */
#define HG_STEP 64

/* The largest dictionary whose values are all tested before the rows. */
#define HG_FEW_CODES 256

/* Executes a statement for each i < n. */
#define HG_FOR_ROWS(n, what)                                                                       \
	do                                                                                             \
	{                                                                                              \
		int i_ = 0;                                                                                \
                                                                                                   \
		for (; i_ + HG_STEP <= (n); i_ += HG_STEP)                                                 \
			for (int i = i_; i < i_ + HG_STEP; i++)                                                \
				what;                                                                              \
		for (int i = i_; i < (n); i++)                                                             \
			what;                                                                                  \
	} while (0)

/* ---------------------------------------------------------------------
 * Which predicates can be applied to arrays
 * ---------------------------------------------------------------------
 */

/* Returns true if a column is stored as signed integers of its own width. */
static bool
hg_predicate_is_signed(const HgPredicate *predicate, const HgSegmentArray *array)
{
	return predicate->order == HG_ORDER_SIGNED && array->form.encoding == HG_ENCODING_FIXED &&
		   array->width <= (int) sizeof(int64);
}

static bool
hg_predicate_takes_scaled(HgPredicate *predicate, const HgSegmentArray *array)
{
	if (array->form.encoding != HG_ENCODING_SCALED || array->form.scale > HG_PREDICATE_SCALE)
		return false;
	if (predicate->scale != array->form.scale)
		hg_predicate_prepare(predicate, array->form.scale);
	return predicate->nfast <= 1;
}

static bool
hg_predicate_takes_codes(HgPredicate *predicate, const HgPredicateColumn *column)
{
	return column->array->form.encoding == HG_ENCODING_DICTIONARY &&
		   column->dictionary->ncodes > 0 && column->dictionary->ncodes <= HG_FEW_CODES &&
		   column->array->width == 1 &&
		   hg_predicate_apply_dictionary(predicate, column->dictionary);
}

bool
hg_predicate_takes_arrays(HgPredicate *predicate, const HgPredicateColumn *columns)
{
	const HgPredicateColumn *column = &columns[predicate->column];

	switch (predicate->kind)
	{
		case HG_PREDICATE_NONE:
		case HG_PREDICATE_ALL:
		case HG_PREDICATE_IS_NULL:
		case HG_PREDICATE_NOT_NULL:
			return true;
		case HG_PREDICATE_AND:
		case HG_PREDICATE_OR:
		case HG_PREDICATE_NOT:
			/* most of many arguments change no row */
			if (predicate->nargs > HG_STEP)
				return false;
			for (int a = 0; a < predicate->nargs; a++)
				if (!hg_predicate_takes_arrays(predicate->args[a], columns))
					return false;
			return true;
		case HG_PREDICATE_INTEGER:
			return predicate->nfast <= 1 && hg_predicate_is_signed(predicate, column->array);
		case HG_PREDICATE_NUMERIC:
			return hg_predicate_takes_scaled(predicate, column->array);
		case HG_PREDICATE_ORDER:
			return hg_predicate_is_signed(predicate, column->array) &&
				   hg_predicate_is_signed(predicate, columns[predicate->other].array) &&
				   column->array->width == columns[predicate->other].array->width;
		case HG_PREDICATE_COMPUTED:
		case HG_PREDICATE_COMPUTED_ORDER:
			return false;
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_LIKE:
			return hg_predicate_takes_codes(predicate, column);
	}
	pg_unreachable();
}

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

/* Clears holds[i] if the column of row first + i is NULL, or with is_null if it is not. */
static void
hg_array_select_nulls(const HgSegmentArray *array, uint32 first, int n, bool is_null, bool *holds)
{
	if (array->valid == NULL && is_null)
		memset(holds, false, n * sizeof(bool));
	else if (array->valid != NULL)
		for (int i = 0; i < n; i++)
			holds[i] &= hg_segment_bit(array->valid, first + i) != is_null;
}

/*
 * Sets holds[i] to whether values[i] is in [least, greatest], or outside if negated.  It is one
 * comparison of unsigned distances from least.
 */
#define HG_WITHIN(type, unsigned_type)                                                             \
	static void hg_within_##type(const type *restrict values, int n, int64 least, int64 greatest,  \
								 bool negated, bool *restrict holds)                               \
	{                                                                                              \
		unsigned_type from = (unsigned_type) least;                                                \
		unsigned_type range = (unsigned_type) ((unsigned_type) greatest - from);                   \
                                                                                                   \
		HG_FOR_ROWS(n, holds[i] = ((unsigned_type) ((unsigned_type) values[i] - from) <= range) != \
								  negated);                                                        \
	}

HG_WITHIN(int8, uint8)
HG_WITHIN(int16, uint16)
HG_WITHIN(int32, uint32)
HG_WITHIN(int64, uint64)

/* Applies the predicate's only interval to integers. */
static void
hg_array_within(const HgPredicate *predicate, const HgSegmentArray *array, uint32 first, int n,
				bool *holds)
{
	const void *values = array->values + (Size) first * array->width;
	int64 most = PG_INT64_MAX >> (64 - array->width * BITS_PER_BYTE);
	bool negated = predicate->fast_negated;
	int64 least = 1;
	int64 greatest = 0;

	if (predicate->nfast > 0)
	{
		least = Max(predicate->fast_lows[0], -most - 1);
		greatest = Min(predicate->fast_highs[0], most);
	}
	if (least > greatest)
	{
		memset(holds, negated, n * sizeof(bool));
		return;
	}
	switch (array->width)
	{
		case 1:
			hg_within_int8(values, n, least, greatest, negated, holds);
			break;
		case 2:
			hg_within_int16(values, n, least, greatest, negated, holds);
			break;
		case 4:
			hg_within_int32(values, n, least, greatest, negated, holds);
			break;
		default:
			hg_within_int64(values, n, least, greatest, negated, holds);
			break;
	}
}

/* Sets holds[i] to whether the order of values[i] to others[i] is one of allows. */
#define HG_ORDERED(type)                                                                           \
	static void hg_ordered_##type(const type *restrict values, const type *restrict others, int n, \
								  const bool *allows, bool *restrict holds)                        \
	{                                                                                              \
		bool less = allows[0];                                                                     \
		bool equal = allows[1];                                                                    \
		bool greater = allows[2];                                                                  \
                                                                                                   \
		if (less == greater)                                                                       \
			HG_FOR_ROWS(n, holds[i] = (values[i] == others[i]) != less);                           \
		else if (less == equal)                                                                    \
			HG_FOR_ROWS(n, holds[i] = (values[i] > others[i]) == greater);                         \
		else                                                                                       \
			HG_FOR_ROWS(n, holds[i] = (values[i] < others[i]) == less);                            \
	}

HG_ORDERED(int8)
HG_ORDERED(int16)
HG_ORDERED(int32)
HG_ORDERED(int64)

static void
hg_array_ordered(const HgPredicate *predicate, const HgSegmentArray *array,
				 const HgSegmentArray *other_array, uint32 first, int n, bool *holds)
{
	const void *values = array->values + (Size) first * array->width;
	const void *others = other_array->values + (Size) first * array->width;
	bool allows[3];

	for (int order = 0; order < 3; order++)
		allows[order] = hg_intervals_contain(predicate->set, order - 1);
	if (allows[0] == allows[1] && allows[1] == allows[2])
	{
		memset(holds, allows[0], n * sizeof(bool));
		return;
	}
	switch (array->width)
	{
		case 1:
			hg_ordered_int8(values, others, n, allows, holds);
			break;
		case 2:
			hg_ordered_int16(values, others, n, allows, holds);
			break;
		case 4:
			hg_ordered_int32(values, others, n, allows, holds);
			break;
		default:
			hg_ordered_int64(values, others, n, allows, holds);
			break;
	}
}

/* Applies the verdicts of a dictionary's codes. */
static void
hg_array_apply_verdicts(const HgPredicate *predicate, const HgSegmentArray *array, uint32 first,
						int n, bool *restrict holds)
{
	const uint8 *codes = (const uint8 *) array->values + first;
	const uint8 *verdicts = predicate->verdicts;

	for (int i = 0; i < n; i++)
		holds[i] = verdicts[codes[i]];
}

/* ---------------------------------------------------------------------
 * Any predicate
 * ---------------------------------------------------------------------
 */

static void
hg_predicate_apply_args_arrays(const HgPredicate *predicate, const HgPredicateColumn *columns,
							   uint32 first, int n, bool *restrict holds)
{
	bool more[HG_BATCH_ROWS];

	memset(holds, predicate->kind == HG_PREDICATE_AND, n * sizeof(bool));
	for (int a = 0; a < predicate->nargs; a++)
	{
		hg_predicate_apply_arrays(predicate->args[a], columns, first, n, more);
		if (predicate->kind == HG_PREDICATE_AND)
			HG_FOR_ROWS(n, holds[i] &= more[i]);
		else
			HG_FOR_ROWS(n, holds[i] |= more[i]);
	}
}

void
hg_predicate_apply_arrays(const HgPredicate *predicate, const HgPredicateColumn *columns,
						  uint32 first, int n, bool *holds)
{
	const HgSegmentArray *array = columns[predicate->column].array;

	switch (predicate->kind)
	{
		case HG_PREDICATE_NONE:
		case HG_PREDICATE_ALL:
			memset(holds, predicate->kind == HG_PREDICATE_ALL, n * sizeof(bool));
			return;
		case HG_PREDICATE_AND:
		case HG_PREDICATE_OR:
			hg_predicate_apply_args_arrays(predicate, columns, first, n, holds);
			return;
		case HG_PREDICATE_NOT:
			hg_predicate_apply_arrays(predicate->args[0], columns, first, n, holds);
			for (int i = 0; i < n; i++)
				holds[i] = !holds[i];
			return;
		case HG_PREDICATE_IS_NULL:
		case HG_PREDICATE_NOT_NULL:
			memset(holds, true, n * sizeof(bool));
			hg_array_select_nulls(array, first, n, predicate->kind == HG_PREDICATE_IS_NULL, holds);
			return;
		case HG_PREDICATE_INTEGER:
		case HG_PREDICATE_NUMERIC:
			hg_array_within(predicate, array, first, n, holds);
			break;
		case HG_PREDICATE_ORDER:
			hg_array_ordered(predicate, array, columns[predicate->other].array, first, n, holds);
			hg_array_select_nulls(columns[predicate->other].array, first, n, false, holds);
			break;
		case HG_PREDICATE_COMPUTED:
		case HG_PREDICATE_COMPUTED_ORDER:
			/* hg_predicate_takes_arrays() refuses both kinds */
			pg_unreachable();
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_LIKE:
			hg_array_apply_verdicts(predicate, array, first, n, holds);
			break;
	}
	hg_array_select_nulls(array, first, n, false, holds);
}
