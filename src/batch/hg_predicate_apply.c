/*-------------------------------------------------------------------------
 *
 * hg_predicate_apply.c
 *	  Applies predicates to the rows of a batch.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/hg_predicate.h"
#include "batch/hg_value_order.h"

/* ---------------------------------------------------------------------
 * Bytes
 * ---------------------------------------------------------------------
 */

/* Returns true if bytes equal one of a predicate's constants. */
static inline bool
hg_predicate_is_equal(const HgPredicate *predicate, HgBytes value)
{
	int low = 0;
	int high = predicate->nbytes;

	while (low < high)
	{
		int middle = (low + high) / 2;
		int order = hg_bytes_compare_quickly(value, predicate->bytes[middle]);

		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

/*
 * Returns true if bytes contain a predicate's parts in order.  The first occurrence of each part
 * is taken, which leaves the most bytes for the other parts.
 */
static inline bool
hg_predicate_is_like(const HgPredicate *predicate, HgBytes value)
{
	const HgBytes *part = predicate->bytes;
	const HgBytes *end = predicate->bytes + predicate->nbytes;

	if (predicate->at_start)
	{
		if (value.length < part->length || memcmp(value.data, part->data, part->length) != 0)
			return false;
		value.data += part->length;
		value.length -= part->length;
		part++;
	}
	if (predicate->at_end)
	{
		end--;
		value.length -= end->length;
		if (value.length < 0 || memcmp(value.data + value.length, end->data, end->length) != 0)
			return false;
	}
	for (; part < end; part++)
	{
		const char *found = hg_bytes_find(value, *part);

		if (found == NULL)
			return false;
		value.length -= (int) (found - value.data) + part->length;
		value.data = found + part->length;
	}
	return true;
}

static inline bool
hg_predicate_test_bytes(const HgPredicate *predicate, HgBytes value)
{
	int order;

	if (predicate->kind == HG_PREDICATE_EQUAL)
		return hg_predicate_is_equal(predicate, value) != predicate->negated;
	if (predicate->kind == HG_PREDICATE_LIKE)
		return hg_predicate_is_like(predicate, value) != predicate->negated;
	order = hg_bytes_compare(value, predicate->bytes[0]);
	return predicate->allows[(order > 0) - (order < 0) + 1];
}

/* Sets *holds to whether a predicate holds for a value.  Returns false if that is unknown. */
static inline bool
hg_predicate_apply_value(const HgPredicate *predicate, Datum value, bool *holds)
{
	bool known = hg_bytes_is_inline(predicate->order, value);

	*holds = known && hg_predicate_test_bytes(predicate, hg_bytes_of(predicate->order, value));
	return known;
}

bool
hg_predicate_apply_one(const HgPredicate *predicate, Datum value, bool *holds)
{
	return hg_predicate_apply_value(predicate, value, holds);
}

/* What is known of the value of a code. */
typedef enum HgVerdict
{
	HG_VERDICT_NO, /* NO and YES are also booleans */
	HG_VERDICT_YES,
	HG_VERDICT_RECHECK,
	HG_VERDICT_MISSING /* not tested yet */
} HgVerdict;

/* Makes a predicate's verdicts those of a dictionary, all of them missing. */
static void
hg_predicate_take_dictionary(HgPredicate *predicate, const HgDictionary *dictionary)
{
	if (predicate->dictionary == dictionary->serial)
		return;
	if (predicate->nverdicts < dictionary->ncodes)
	{
		if (predicate->verdicts != NULL)
			pfree(predicate->verdicts);
		predicate->verdicts =
			MemoryContextAlloc(GetMemoryChunkContext(predicate), dictionary->ncodes);
		predicate->nverdicts = dictionary->ncodes;
	}
	if (dictionary->ncodes > 0)
		memset(predicate->verdicts, HG_VERDICT_MISSING, dictionary->ncodes);
	predicate->dictionary = dictionary->serial;
}

/* Returns the verdict of a code.  Each value is tested once. */
static inline HgVerdict
hg_predicate_apply_code(HgPredicate *predicate, const HgDictionary *dictionary, uint32 code)
{
	if (predicate->verdicts[code] == HG_VERDICT_MISSING)
	{
		Datum value = PointerGetDatum(dictionary->bytes + dictionary->starts[code]);
		bool holds;

		if (!hg_predicate_apply_value(predicate, value, &holds))
			predicate->verdicts[code] = HG_VERDICT_RECHECK;
		else
			predicate->verdicts[code] = holds ? HG_VERDICT_YES : HG_VERDICT_NO;
	}
	return (HgVerdict) predicate->verdicts[code];
}

bool
hg_predicate_apply_dictionary(HgPredicate *predicate, const HgDictionary *dictionary)
{
	bool decided = true;

	/* missing verdicts are found out */
	hg_predicate_take_dictionary(predicate, dictionary);
	for (uint32 code = 0; code < dictionary->ncodes && decided; code++)
		decided = hg_predicate_apply_code(predicate, dictionary, code) <= HG_VERDICT_YES;
	return decided;
}

static bool
hg_predicate_apply_codes(HgPredicate *predicate, const HgBatch *batch, bool *holds, bool *recheck)
{
	const HgDictionary *dictionary = batch->dictionaries[predicate->column];
	const Datum *codes = batch->values[predicate->column];
	bool any = false;

	hg_predicate_take_dictionary(predicate, dictionary);
	for (int i = 0; i < batch->nrows; i++)
	{
		HgVerdict verdict = HG_VERDICT_NO;

		if (!hg_batch_is_null(batch, predicate->column, i))
			verdict = hg_predicate_apply_code(predicate, dictionary, DatumGetUInt32(codes[i]));
		holds[i] = verdict == HG_VERDICT_YES;
		if (verdict == HG_VERDICT_RECHECK)
			recheck[i] = any = true;
	}
	return any;
}

static bool
hg_predicate_apply_bytes(HgPredicate *predicate, const HgBatch *batch, bool *holds, bool *recheck)
{
	const Datum *values = batch->values[predicate->column];
	bool any = false;

	if (batch->dictionaries[predicate->column] != NULL)
		return hg_predicate_apply_codes(predicate, batch, holds, recheck);
	for (int i = 0; i < batch->nrows; i++)
	{
		if (hg_batch_is_null(batch, predicate->column, i))
			holds[i] = false;
		else if (!hg_predicate_apply_value(predicate, values[i], &holds[i]))
			recheck[i] = any = true;
	}
	return any;
}

/* ---------------------------------------------------------------------
 * Integers, and scaled integers of numerics
 * ---------------------------------------------------------------------
 */

/* Returns true if an integer is in one of the prepared intervals. */
static inline bool
hg_predicate_find(const HgPredicate *predicate, int64 value)
{
	int first = 0;

	/* binary search without branches for the last interval that begins at or before the value */
	for (int left = predicate->nfast; left > 1; left -= left / 2)
		first += predicate->fast_lows[first + left / 2] <= value ? left / 2 : 0;
	return value >= predicate->fast_lows[first] && value <= predicate->fast_highs[first];
}

static void
hg_predicate_test_integers(const HgPredicate *predicate, int n, const int64 *integers, bool *holds)
{
	bool negated = predicate->fast_negated;

	if (predicate->nfast == 0)
		memset(holds, negated, n * sizeof(bool));
	else if (predicate->nfast == 1)
	{
		int64 low = predicate->fast_lows[0];
		int64 high = predicate->fast_highs[0];

		for (int i = 0; i < n; i++)
			holds[i] = ((integers[i] >= low) & (integers[i] <= high)) != negated;
	}
	else
		for (int i = 0; i < n; i++)
			holds[i] = hg_predicate_find(predicate, integers[i]) != negated;
}

/* Clears holds for rows in which the column is NULL. */
static inline void
hg_predicate_drop_nulls(const HgBatch *batch, int column, bool *holds)
{
	if (batch->has_nulls[column])
		for (int i = 0; i < batch->nrows; i++)
			holds[i] &= !batch->nulls[column][i];
}

static void
hg_predicate_apply_integers(const HgPredicate *predicate, const HgBatch *batch, bool *holds)
{
	int64 integers[HG_BATCH_ROWS];

	hg_order_integers(predicate->order, predicate->attlen, batch->values[predicate->column],
					  batch->nrows, integers);
	if (predicate->kind == HG_PREDICATE_ORDER)
	{
		int64 others[HG_BATCH_ROWS];

		hg_order_integers(predicate->order, predicate->other_attlen,
						  batch->values[predicate->other], batch->nrows, others);
		for (int i = 0; i < batch->nrows; i++)
			integers[i] = (integers[i] > others[i]) - (integers[i] < others[i]);
	}
	hg_predicate_test_integers(predicate, batch->nrows, integers, holds);
	hg_predicate_drop_nulls(batch, predicate->column, holds);
	if (predicate->kind == HG_PREDICATE_ORDER)
		hg_predicate_drop_nulls(batch, predicate->other, holds);
}

static bool
hg_predicate_apply_numerics(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							bool *recheck)
{
	const Datum *values = batch->values[predicate->column];
	int scale = batch->scales[predicate->column];
	bool any = false;

	if (scale >= 0)
	{
		Assert(scale <= HG_PREDICATE_SCALE);
		if (scale != predicate->scale)
			hg_predicate_prepare(predicate, scale);
		hg_predicate_test_integers(predicate, batch->nrows, (const int64 *) values, holds);
		hg_predicate_drop_nulls(batch, predicate->column, holds);
		return false;
	}
	for (int i = 0; i < batch->nrows; i++)
	{
		int128 scaled;

		if (hg_batch_is_null(batch, predicate->column, i))
			holds[i] = false;
		else if (hg_predicate_scale_value(values[i], &scaled))
			holds[i] = hg_intervals_contain(predicate->set, scaled);
		else
		{
			holds[i] = false;
			recheck[i] = any = true;
		}
	}
	return any;
}

/* ---------------------------------------------------------------------
 * Computed numbers
 * ---------------------------------------------------------------------
 */

/* Marks all rows for a recheck. */
static bool
hg_predicate_recheck_all(const HgBatch *batch, bool *holds, bool *recheck)
{
	memset(holds, false, batch->nrows * sizeof(bool));
	memset(recheck, true, batch->nrows * sizeof(bool));
	return batch->nrows > 0;
}

static bool
hg_predicate_apply_computed(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							bool *recheck)
{
	const HgNumbers *numbers = hg_compared_numbers(predicate->compared, batch);

	if (numbers == NULL || numbers->scale > HG_PREDICATE_SCALE)
		return hg_predicate_recheck_all(batch, holds, recheck);
	if (predicate->order == HG_ORDER_NUMERIC && numbers->scale != predicate->scale)
		hg_predicate_prepare(predicate, numbers->scale);
	hg_predicate_test_integers(predicate, batch->nrows, numbers->values, holds);
	for (int i = 0; numbers->nulls != NULL && i < batch->nrows; i++)
		holds[i] &= !numbers->nulls[i];
	return false;
}

static bool
hg_predicate_apply_computed_order(const HgPredicate *predicate, const HgBatch *batch, bool *holds,
								  bool *recheck)
{
	int64 orders[HG_BATCH_ROWS];
	bool nulls[HG_BATCH_ROWS];

	if (!hg_compared_orders(predicate->compared, batch, orders, nulls))
		return hg_predicate_recheck_all(batch, holds, recheck);
	hg_predicate_test_integers(predicate, batch->nrows, orders, holds);
	for (int i = 0; i < batch->nrows; i++)
		holds[i] &= !nulls[i];
	return false;
}

/* ---------------------------------------------------------------------
 * Any predicate
 * ---------------------------------------------------------------------
 */

static bool
hg_predicate_apply_args(HgPredicate *predicate, const HgBatch *batch, bool *holds, bool *recheck)
{
	bool more[HG_BATCH_ROWS];
	bool any = false;

	memset(holds, predicate->kind == HG_PREDICATE_AND, batch->nrows * sizeof(bool));
	for (int a = 0; a < predicate->nargs; a++)
	{
		/* there may be many arguments */
		CHECK_FOR_INTERRUPTS();
		any |= hg_predicate_apply(predicate->args[a], batch, more, recheck);
		if (predicate->kind == HG_PREDICATE_AND)
			for (int i = 0; i < batch->nrows; i++)
				holds[i] &= more[i];
		else
			for (int i = 0; i < batch->nrows; i++)
				holds[i] |= more[i];
	}
	return any;
}

bool
hg_predicate_apply(HgPredicate *predicate, const HgBatch *batch, bool *holds, bool *recheck)
{
	bool any;

	switch (predicate->kind)
	{
		case HG_PREDICATE_NONE:
		case HG_PREDICATE_ALL:
			memset(holds, predicate->kind == HG_PREDICATE_ALL, batch->nrows * sizeof(bool));
			return false;
		case HG_PREDICATE_AND:
		case HG_PREDICATE_OR:
			return hg_predicate_apply_args(predicate, batch, holds, recheck);
		case HG_PREDICATE_NOT:
			any = hg_predicate_apply(predicate->args[0], batch, holds, recheck);
			for (int i = 0; i < batch->nrows; i++)
				holds[i] = !holds[i];
			return any;
		case HG_PREDICATE_IS_NULL:
			if (batch->has_nulls[predicate->column])
				memcpy(holds, batch->nulls[predicate->column], batch->nrows * sizeof(bool));
			else
				memset(holds, false, batch->nrows * sizeof(bool));
			return false;
		case HG_PREDICATE_NOT_NULL:
			memset(holds, true, batch->nrows * sizeof(bool));
			hg_predicate_drop_nulls(batch, predicate->column, holds);
			return false;
		case HG_PREDICATE_INTEGER:
		case HG_PREDICATE_ORDER:
			hg_predicate_apply_integers(predicate, batch, holds);
			return false;
		case HG_PREDICATE_NUMERIC:
			return hg_predicate_apply_numerics(predicate, batch, holds, recheck);
		case HG_PREDICATE_COMPUTED:
			return hg_predicate_apply_computed(predicate, batch, holds, recheck);
		case HG_PREDICATE_COMPUTED_ORDER:
			return hg_predicate_apply_computed_order(predicate, batch, holds, recheck);
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_LIKE:
			return hg_predicate_apply_bytes(predicate, batch, holds, recheck);
	}
	pg_unreachable();
}
