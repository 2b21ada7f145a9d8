/*-------------------------------------------------------------------------
 *
 * hg_predicate.c
 *	  Clauses over columns, which are decided for the rows of a batch at once.
 *
 * A comparison with constants is a set of intervals, of the integers that values are compared as
 * (hg_value_order.h) or of the units of numerics; whole conditions on a column, as BETWEEN and IN
 * are, become one set, and what is known of a segment's least and greatest value tells whether its
 * rows are in it.  Bytes are compared as they are stored.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/uuid.h"

#include "batch/hg_numeric.h"
#include "batch/hg_predicate.h"
#include "batch/hg_values.h"

/* ---------------------------------------------------------------------
 * Making predicates
 * ---------------------------------------------------------------------
 */

static HgPredicate *
hg_predicate_create(HgPredicateKind kind, AttrNumber attno, HgValueOrder order)
{
	HgPredicate *predicate = palloc0(sizeof(HgPredicate));

	predicate->kind = kind;
	predicate->attno = attno;
	predicate->order = order;
	return predicate;
}

HgPredicate *
hg_predicate_constant(bool holds)
{
	return hg_predicate_create(holds ? HG_PREDICATE_ALL : HG_PREDICATE_NONE, 0, HG_ORDER_UNKNOWN);
}

HgPredicate *
hg_predicate_null(AttrNumber attno, bool is_null)
{
	return hg_predicate_create(is_null ? HG_PREDICATE_IS_NULL : HG_PREDICATE_NOT_NULL, attno,
							   HG_ORDER_UNKNOWN);
}

/* The part of a set within 64 bits, in units of 10^-scale where the set's are finer. */
static HgIntervals *
hg_predicate_scaled(const HgIntervals *set, int scale)
{
	HgInterval *scaled = palloc(Max(set->n, 1) * sizeof(HgInterval));
	int128 unit = 1;
	HgIntervals *result;

	for (int i = scale; i < HG_PREDICATE_SCALE; i++)
		unit *= 10;
	for (int i = 0; i < set->n; i++)
	{
		int128 low = set->intervals[i].low;
		int128 high = set->intervals[i].high;

		/* rounded up and down: division goes towards 0 */
		scaled[i].low = Max(low / unit + (low > 0 && low % unit != 0), PG_INT64_MIN);
		scaled[i].high = Min(high / unit - (high < 0 && high % unit != 0), PG_INT64_MAX);
	}
	result = hg_intervals_create(set->n, scaled);
	pfree(scaled);
	return result;
}

/* Have what is applied to the values of 64 bits, in units of 10^-scale. */
static void
hg_predicate_prepare(HgPredicate *predicate, int scale)
{
	HgIntervals *set = hg_predicate_scaled(predicate->set, scale);
	HgIntervals *others = hg_predicate_scaled(hg_intervals_complement(predicate->set), scale);
	const HgIntervals *fast = others->n < set->n ? others : set;

	if (predicate->fast_lows != NULL)
	{
		pfree(predicate->fast_lows);
		pfree(predicate->fast_highs);
	}
	predicate->scale = scale;
	predicate->fast_negated = fast == others;
	predicate->nfast = fast->n;
	predicate->fast_lows = palloc(Max(fast->n, 1) * sizeof(int64));
	predicate->fast_highs = palloc(Max(fast->n, 1) * sizeof(int64));
	for (int i = 0; i < fast->n; i++)
	{
		predicate->fast_lows[i] = (int64) fast->intervals[i].low;
		predicate->fast_highs[i] = (int64) fast->intervals[i].high;
	}
	pfree(set);
	pfree(others);
}

static void
hg_predicate_set(HgPredicate *predicate, HgIntervals *set)
{
	predicate->set = set;
	hg_predicate_prepare(predicate, HG_PREDICATE_SCALE);
}

HgPredicate *
hg_predicate_integer(AttrNumber attno, HgValueOrder order, HgIntervals *set)
{
	HgPredicate *predicate = hg_predicate_create(
		order == HG_ORDER_NUMERIC ? HG_PREDICATE_NUMERIC : HG_PREDICATE_INTEGER, attno, order);

	hg_predicate_set(predicate, set);
	return predicate;
}

HgPredicate *
hg_predicate_order(AttrNumber attno, HgValueOrder order, AttrNumber other_attno, HgIntervals *set)
{
	HgPredicate *predicate = hg_predicate_create(HG_PREDICATE_ORDER, attno, order);

	predicate->other_attno = other_attno;
	hg_predicate_set(predicate, set);
	return predicate;
}

HgPredicate *
hg_predicate_bytes(AttrNumber attno, HgValueOrder order, HgBytes constant, const bool *allows)
{
	HgPredicate *predicate = hg_predicate_create(HG_PREDICATE_BYTES, attno, order);

	predicate->bytes = palloc(sizeof(HgBytes));
	predicate->bytes[0] = constant;
	predicate->nbytes = 1;
	memcpy(predicate->allows, allows, sizeof(predicate->allows));
	return predicate;
}

/* Bytes as memcmp() orders them, and what is longer behind what it begins with. */
static inline int
hg_bytes_compare(HgBytes a, HgBytes b)
{
	int order = memcmp(a.data, b.data, Min(a.length, b.length));

	return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* An order that is quickly told: lengths first. */
static inline int
hg_bytes_compare_quickly(HgBytes a, HgBytes b)
{
	if (a.length != b.length)
		return a.length < b.length ? -1 : 1;
	return memcmp(a.data, b.data, a.length);
}

static int
hg_bytes_compare_sort(const void *a, const void *b)
{
	return hg_bytes_compare_quickly(*(const HgBytes *) a, *(const HgBytes *) b);
}

HgPredicate *
hg_predicate_equal(AttrNumber attno, HgValueOrder order, int nconstants, HgBytes *constants,
				   bool negated)
{
	HgPredicate *predicate = hg_predicate_create(HG_PREDICATE_EQUAL, attno, order);

	qsort(constants, nconstants, sizeof(HgBytes), hg_bytes_compare_sort);
	predicate->bytes = palloc(Max(nconstants, 1) * sizeof(HgBytes));
	predicate->negated = negated;
	for (int i = 0; i < nconstants; i++)
		if (i == 0 || hg_bytes_compare_quickly(constants[i - 1], constants[i]) != 0)
			predicate->bytes[predicate->nbytes++] = constants[i];
	return predicate;
}

HgPredicate *
hg_predicate_prefix(AttrNumber attno, HgValueOrder order, HgBytes prefix, bool negated)
{
	HgPredicate *predicate = hg_predicate_create(HG_PREDICATE_PREFIX, attno, order);

	predicate->bytes = palloc(sizeof(HgBytes));
	predicate->bytes[0] = prefix;
	predicate->nbytes = 1;
	predicate->negated = negated;
	return predicate;
}

/* Is a predicate a set of a column's values? */
static inline bool
hg_predicate_is_set(const HgPredicate *predicate)
{
	return predicate->kind == HG_PREDICATE_INTEGER || predicate->kind == HG_PREDICATE_NUMERIC;
}

/*
 * The first of some predicates and those behind it that are sets of the same column, whose places
 * become NULL: all of them at once, since a list of alternatives may be long.
 */
static HgPredicate *
hg_predicate_merge(HgPredicateKind kind, int nargs, HgPredicate **args)
{
	HgPredicate *first = args[0];
	HgIntervals **sets;
	int n = 0;

	if (!hg_predicate_is_set(first))
		return first;
	sets = palloc(nargs * sizeof(HgIntervals *));
	for (int i = 0; i < nargs; i++)
	{
		if (args[i] == NULL || args[i]->kind != first->kind || args[i]->attno != first->attno)
			continue;
		sets[n++] = args[i]->set;
		args[i] = NULL;
	}
	if (n == 1)
		return first;
	return hg_predicate_integer(first->attno, first->order,
								kind == HG_PREDICATE_AND ? hg_intervals_intersection(n, sets)
														 : hg_intervals_union(n, sets));
}

HgPredicate *
hg_predicate_combine(HgPredicateKind kind, int nargs, HgPredicate **args)
{
	HgPredicate *predicate = hg_predicate_create(kind, 0, HG_ORDER_UNKNOWN);

	Assert(kind == HG_PREDICATE_AND || kind == HG_PREDICATE_OR);
	predicate->args = palloc(Max(nargs, 1) * sizeof(HgPredicate *));
	for (int i = 0; i < nargs; i++)
		if (args[i] != NULL)
			predicate->args[predicate->nargs++] = hg_predicate_merge(kind, nargs - i, args + i);
	return predicate->nargs == 1 ? predicate->args[0] : predicate;
}

HgPredicate *
hg_predicate_not(HgPredicate *arg)
{
	HgPredicate *predicate = hg_predicate_create(HG_PREDICATE_NOT, 0, HG_ORDER_UNKNOWN);

	predicate->args = palloc(sizeof(HgPredicate *));
	predicate->args[0] = arg;
	predicate->nargs = 1;
	return predicate;
}

/* ---------------------------------------------------------------------
 * Bytes
 * ---------------------------------------------------------------------
 */

HgBytes
hg_predicate_value(HgValueOrder order, Datum value)
{
	const struct varlena *varlena = (const struct varlena *) DatumGetPointer(value);
	HgBytes bytes;

	if (order == HG_ORDER_UUID)
	{
		bytes.data = (const char *) varlena;
		bytes.length = UUID_LEN;
		return bytes;
	}
	bytes.data = VARDATA_ANY(varlena);
	bytes.length = (int) VARSIZE_ANY_EXHDR(varlena);
	if (order == HG_ORDER_BLANKS)
		while (bytes.length > 0 && bytes.data[bytes.length - 1] == ' ')
			bytes.length--;
	return bytes;
}

/* Is a value neither compressed nor out of line? */
static inline bool
hg_predicate_is_inline(HgValueOrder order, Datum value)
{
	const struct varlena *varlena = (const struct varlena *) DatumGetPointer(value);

	return order == HG_ORDER_UUID || !VARATT_IS_EXTENDED(varlena) || VARATT_IS_SHORT(varlena);
}

/* Are bytes those of one of a predicate's constants? */
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

static inline bool
hg_predicate_test_bytes(const HgPredicate *predicate, HgBytes value)
{
	HgBytes constant;
	int order;

	if (predicate->kind == HG_PREDICATE_EQUAL)
		return hg_predicate_is_equal(predicate, value) != predicate->negated;
	constant = predicate->bytes[0];
	if (predicate->kind == HG_PREDICATE_PREFIX)
		return (value.length >= constant.length &&
				memcmp(value.data, constant.data, constant.length) == 0) != predicate->negated;
	order = hg_bytes_compare(value, constant);
	return predicate->allows[(order > 0) - (order < 0) + 1];
}

bool
hg_predicate_apply_value(const HgPredicate *predicate, Datum value, bool *holds)
{
	bool known = hg_predicate_is_inline(predicate->order, value);

	*holds =
		known && hg_predicate_test_bytes(predicate, hg_predicate_value(predicate->order, value));
	return known;
}

static bool
hg_predicate_apply_bytes(const HgPredicate *predicate, const HgBatch *batch, bool *holds,
						 bool *undecided)
{
	const Datum *values = batch->values[predicate->column];
	bool any = false;

	for (int i = 0; i < batch->nrows; i++)
	{
		if (hg_batch_is_null(batch, predicate->column, i))
			holds[i] = false;
		else if (!hg_predicate_apply_value(predicate, values[i], &holds[i]))
			undecided[i] = any = true;
	}
	return any;
}

/* ---------------------------------------------------------------------
 * Integers
 * ---------------------------------------------------------------------
 */

/* Is an integer in one of the intervals that are prepared? */
static inline bool
hg_predicate_find(const HgPredicate *predicate, int64 value)
{
	int first = 0;

	/* the last one that begins there or ahead of it, without branches */
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

/*
 * holds[i] = values[i] is from least to greatest, and not so if negated.  One comparison tells it,
 * of the distance to the least in the unsigned type.
 */
#define HG_TEST_VALUES(type, unsigned_type)                                                        \
	do                                                                                             \
	{                                                                                              \
		const type *array = values;                                                                \
		unsigned_type from = (unsigned_type) least;                                                \
		unsigned_type range = (unsigned_type) ((unsigned_type) greatest - from);                   \
                                                                                                   \
		for (int i = 0; i < n; i++)                                                                \
			holds[i] = ((unsigned_type) ((unsigned_type) array[i] - from) <= range) != negated;    \
	} while (0)

void
hg_predicate_apply_plain(const HgPredicate *predicate, const void *values, int n, bool *holds)
{
	bool negated = predicate->fast_negated;
	int64 most = PG_INT64_MAX >> (64 - predicate->attlen * BITS_PER_BYTE);
	int64 least = 1;
	int64 greatest = 0;

	Assert(hg_predicate_is_plain(predicate));
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
	switch (predicate->attlen)
	{
		case 1:
			HG_TEST_VALUES(int8, uint8);
			break;
		case 2:
			HG_TEST_VALUES(int16, uint16);
			break;
		case 4:
			HG_TEST_VALUES(int32, uint32);
			break;
		default:
			HG_TEST_VALUES(int64, uint64);
			break;
	}
}

/* No row whose column is NULL holds. */
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

bool
hg_predicate_units(Datum value, int128 *units)
{
	int scale;

	/* far from the ends of 128 bits, so that a set may have the next one too */
	return hg_numeric_decode(value, units, &scale) && scale <= HG_PREDICATE_SCALE &&
		   hg_numeric_scale_up(units, HG_PREDICATE_SCALE - scale) && *units < ((int128) 1 << 126) &&
		   *units > -((int128) 1 << 126);
}

static bool
hg_predicate_apply_numerics(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							bool *undecided)
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
		int128 units;

		if (hg_batch_is_null(batch, predicate->column, i))
			holds[i] = false;
		else if (hg_predicate_units(values[i], &units))
			holds[i] = hg_intervals_contain(predicate->set, units);
		else
		{
			holds[i] = false;
			undecided[i] = any = true;
		}
	}
	return any;
}

/* ---------------------------------------------------------------------
 * All of them
 * ---------------------------------------------------------------------
 */

static bool
hg_predicate_apply_args(HgPredicate *predicate, const HgBatch *batch, bool *holds, bool *undecided)
{
	bool more[HG_BATCH_ROWS];
	bool any = false;

	memset(holds, predicate->kind == HG_PREDICATE_AND, batch->nrows * sizeof(bool));
	for (int a = 0; a < predicate->nargs; a++)
	{
		any |= hg_predicate_apply(predicate->args[a], batch, more, undecided);
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
hg_predicate_apply(HgPredicate *predicate, const HgBatch *batch, bool *holds, bool *undecided)
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
			return hg_predicate_apply_args(predicate, batch, holds, undecided);
		case HG_PREDICATE_NOT:
			any = hg_predicate_apply(predicate->args[0], batch, holds, undecided);
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
			return hg_predicate_apply_numerics(predicate, batch, holds, undecided);
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_PREFIX:
			return hg_predicate_apply_bytes(predicate, batch, holds, undecided);
	}
	pg_unreachable();
}

static HgPredicateShare
hg_predicate_judge_args(const HgPredicate *predicate, const HgValueBounds *bounds)
{
	/* one such argument decides, and all of the other kind do */
	HgPredicateShare decisive = predicate->kind == HG_PREDICATE_AND ? HG_SHARE_NONE : HG_SHARE_ALL;
	HgPredicateShare share = predicate->kind == HG_PREDICATE_AND ? HG_SHARE_ALL : HG_SHARE_NONE;

	for (int a = 0; a < predicate->nargs; a++)
	{
		HgPredicateShare one = hg_predicate_judge(predicate->args[a], bounds);

		if (one == decisive)
			return decisive;
		if (one == HG_SHARE_SOME)
			share = HG_SHARE_SOME;
	}
	return share;
}

HgPredicateShare
hg_predicate_judge(const HgPredicate *predicate, const HgValueBounds *bounds)
{
	const HgValueBounds *column = &bounds[predicate->column];
	HgPredicateShare share;

	switch (predicate->kind)
	{
		case HG_PREDICATE_NONE:
			return HG_SHARE_NONE;
		case HG_PREDICATE_ALL:
			return HG_SHARE_ALL;
		case HG_PREDICATE_AND:
		case HG_PREDICATE_OR:
			return hg_predicate_judge_args(predicate, bounds);
		case HG_PREDICATE_NOT:
			share = hg_predicate_judge(predicate->args[0], bounds);
			return share == HG_SHARE_NONE  ? HG_SHARE_ALL
				   : share == HG_SHARE_ALL ? HG_SHARE_NONE
										   : HG_SHARE_SOME;
		case HG_PREDICATE_IS_NULL:
			return column->all_nulls   ? HG_SHARE_ALL
				   : column->has_nulls ? HG_SHARE_SOME
									   : HG_SHARE_NONE;
		case HG_PREDICATE_NOT_NULL:
			return column->all_nulls   ? HG_SHARE_NONE
				   : column->has_nulls ? HG_SHARE_SOME
									   : HG_SHARE_ALL;
		case HG_PREDICATE_INTEGER:
		case HG_PREDICATE_NUMERIC:
			if (column->all_nulls)
				return HG_SHARE_NONE;
			if (!column->known)
				return HG_SHARE_SOME;
			if (!hg_intervals_meet(predicate->set, column->low, column->high))
				return HG_SHARE_NONE;
			return !column->has_nulls &&
						   hg_intervals_cover(predicate->set, column->low, column->high)
					   ? HG_SHARE_ALL
					   : HG_SHARE_SOME;
		case HG_PREDICATE_ORDER:
			return column->all_nulls || bounds[predicate->other].all_nulls ? HG_SHARE_NONE
																		   : HG_SHARE_SOME;
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_PREFIX:
			return column->all_nulls ? HG_SHARE_NONE : HG_SHARE_SOME;
	}
	pg_unreachable();
}

void
hg_predicate_mark(const HgPredicate *predicate, bool *used)
{
	for (int a = 0; a < predicate->nargs; a++)
		hg_predicate_mark(predicate->args[a], used);
	if (predicate->attno > 0)
		used[predicate->column] = true;
	if (predicate->other_attno > 0)
		used[predicate->other] = true;
}

/* The column of an attribute, which is added to those that are there. */
static int
hg_predicate_column(AttrNumber attno, AttrNumber *attnos, int *nattnos)
{
	int column = 0;

	while (column < *nattnos && attnos[column] != attno)
		column++;
	if (column == *nattnos)
		attnos[(*nattnos)++] = attno;
	return column;
}

void
hg_predicate_bind(HgPredicate *predicate, TupleDesc desc, AttrNumber *attnos, int *nattnos)
{
	for (int a = 0; a < predicate->nargs; a++)
		hg_predicate_bind(predicate->args[a], desc, attnos, nattnos);
	if (predicate->attno > 0)
	{
		predicate->column = hg_predicate_column(predicate->attno, attnos, nattnos);
		predicate->attlen = TupleDescAttr(desc, predicate->attno - 1)->attlen;
	}
	if (predicate->other_attno > 0)
	{
		predicate->other = hg_predicate_column(predicate->other_attno, attnos, nattnos);
		predicate->other_attlen = TupleDescAttr(desc, predicate->other_attno - 1)->attlen;
	}
}
