/*-------------------------------------------------------------------------
 *
 * hg_aggregate_bulk.c
 *	  Functions that advance aggregate states without a batch: from arrays, from a device's groups,
 *	  or by a row count.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/aggregate/hg_aggregate_bulk.h"
#include "executor/aggregate/hg_aggregate_sums.h"

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
