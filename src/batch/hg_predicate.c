/*-------------------------------------------------------------------------
 *
 * hg_predicate.c
 *	  Clauses over columns, as sets of rows.
 *
 * A comparison with constants is a set of intervals of integers (hg_value_order.h), or of the
 * scaled integers of numerics.  All conditions on one column, such as BETWEEN and IN, become one
 * set.  A segment's least and greatest value show whether its rows are in the set.  Bytes are
 * compared as they are stored.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_numeric.h"
#include "batch/hg_predicate.h"

/* ---------------------------------------------------------------------
 * Sets
 * ---------------------------------------------------------------------
 */

/* Returns the part of a set within 64 bits, for numbers with scale decimals. */
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

		/* round up and down, because division truncates */
		scaled[i].low = Max(low / unit + (low > 0 && low % unit != 0), PG_INT64_MIN);
		scaled[i].high = Min(high / unit - (high < 0 && high % unit != 0), PG_INT64_MAX);
	}
	result = hg_intervals_create(set->n, scaled);
	pfree(scaled);
	return result;
}

void
hg_predicate_prepare(HgPredicate *predicate, int scale)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(predicate));
	HgIntervals *complement = hg_intervals_complement(predicate->set);
	HgIntervals *set = hg_predicate_scaled(predicate->set, scale);
	HgIntervals *others = hg_predicate_scaled(complement, scale);
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
	pfree(complement);
	MemoryContextSwitchTo(old);
}

bool
hg_predicate_scale_value(Datum value, int128 *scaled)
{
	int scale;

	/* far from the ends of 128 bits, so that neighbours are in range */
	return hg_numeric_decode(value, scaled, &scale) && scale <= HG_PREDICATE_SCALE &&
		   hg_numeric_scale_up(scaled, HG_PREDICATE_SCALE - scale) &&
		   *scaled < ((int128) 1 << 126) && *scaled > -((int128) 1 << 126);
}

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
hg_predicate_computed(HgCompared *compared, HgValueOrder order, HgIntervals *set)
{
	HgPredicate *predicate = hg_predicate_create(
		compared->exprs[1] != NULL ? HG_PREDICATE_COMPUTED_ORDER : HG_PREDICATE_COMPUTED, 0, order);

	predicate->compared = compared;
	predicate->nterms = hg_arithmetic_count(compared->arithmetic);
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
hg_predicate_like(AttrNumber attno, int nparts, const HgBytes *parts, bool at_start, bool at_end,
				  bool negated)
{
	HgPredicate *predicate = hg_predicate_create(HG_PREDICATE_LIKE, attno, HG_ORDER_TEXT);

	predicate->bytes = palloc(Max(nparts, 1) * sizeof(HgBytes));
	memcpy(predicate->bytes, parts, nparts * sizeof(HgBytes));
	predicate->nbytes = nparts;
	predicate->at_start = at_start;
	predicate->at_end = at_end;
	predicate->negated = negated;
	return predicate;
}

/* Returns true if a predicate is a set of integers or scaled integers. */
static bool
hg_predicate_is_set(const HgPredicate *predicate)
{
	return predicate->kind == HG_PREDICATE_INTEGER || predicate->kind == HG_PREDICATE_NUMERIC ||
		   predicate->kind == HG_PREDICATE_COMPUTED;
}

/* Returns true if two predicates can be merged: sets of the same column or expression. */
static bool
hg_predicate_alike(const HgPredicate *a, const HgPredicate *b)
{
	return a->kind == b->kind && hg_predicate_is_set(a) && a->attno == b->attno &&
		   (a->kind != HG_PREDICATE_COMPUTED || hg_compared_equal(a->compared, b->compared));
}

/* Merges the predicates that are like args[0] into their intersection (AND) or union (OR). */
static HgPredicate *
hg_predicate_combine_alike(HgPredicateKind kind, int nargs, HgPredicate **args)
{
	bool all = kind == HG_PREDICATE_AND;
	HgInterval *intervals;
	HgIntervals *set;
	int most = 0;
	int n = 0;

	/* a complement has at most one more interval than the set */
	for (int i = 0; i < nargs; i++)
		if (hg_predicate_alike(args[0], args[i]))
			most += args[i]->set->n + 1;
	intervals = palloc_extended(most * sizeof(HgInterval), MCXT_ALLOC_HUGE);
	for (int i = 0; i < nargs; i++)
		if (hg_predicate_alike(args[0], args[i]))
		{
			HgIntervals *one = all ? hg_intervals_complement(args[i]->set) : args[i]->set;

			memcpy(intervals + n, one->intervals, one->n * sizeof(HgInterval));
			n += one->n;
			if (all)
				pfree(one);
		}
	set = hg_intervals_create(n, intervals);
	pfree(intervals);
	if (all)
		set = hg_intervals_complement(set);
	return args[0]->kind == HG_PREDICATE_COMPUTED
			   ? hg_predicate_computed(args[0]->compared, args[0]->order, set)
			   : hg_predicate_integer(args[0]->attno, args[0]->order, set);
}

HgPredicate *
hg_predicate_combine(HgPredicateKind kind, int nargs, HgPredicate **args)
{
	HgPredicate *predicate = hg_predicate_create(kind, 0, HG_ORDER_UNKNOWN);
	bool *done = palloc0(Max(nargs, 1) * sizeof(bool));

	Assert(kind == HG_PREDICATE_AND || kind == HG_PREDICATE_OR);
	predicate->args = palloc(Max(nargs, 1) * sizeof(HgPredicate *));
	for (int i = 0; i < nargs; i++)
	{
		bool others = false;

		if (done[i])
			continue;
		/* there are at most as many sets as columns and expressions */
		if (hg_predicate_is_set(args[i]))
			for (int other = i + 1; other < nargs; other++)
				if (hg_predicate_alike(args[i], args[other]))
					done[other] = others = true;
		predicate->args[predicate->nargs] =
			others ? hg_predicate_combine_alike(kind, nargs - i, args + i) : args[i];
		predicate->nterms += predicate->args[predicate->nargs++]->nterms;
	}
	pfree(done);
	return predicate->nargs == 1 ? predicate->args[0] : predicate;
}

HgPredicate *
hg_predicate_not(HgPredicate *arg)
{
	HgPredicate *predicate = hg_predicate_create(HG_PREDICATE_NOT, 0, HG_ORDER_UNKNOWN);

	predicate->args = palloc(sizeof(HgPredicate *));
	predicate->args[0] = arg;
	predicate->nargs = 1;
	predicate->nterms = arg->nterms;
	return predicate;
}

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

void
hg_predicate_mark(const HgPredicate *predicate, bool *used)
{
	for (int a = 0; a < predicate->nargs; a++)
		hg_predicate_mark(predicate->args[a], used);
	if (predicate->attno > 0)
		used[predicate->column] = true;
	if (predicate->other_attno > 0)
		used[predicate->other] = true;
	for (int c = 0; predicate->compared != NULL && c < predicate->compared->ncolumns; c++)
		used[predicate->compared->columns[c]] = true;
}

/* By a column's type, either all comparisons of it are of bytes or none is. */
void
hg_predicate_mark_codes(const HgPredicate *predicate, bool *used)
{
	for (int a = 0; a < predicate->nargs; a++)
		hg_predicate_mark_codes(predicate->args[a], used);
	if (predicate->kind == HG_PREDICATE_BYTES || predicate->kind == HG_PREDICATE_EQUAL ||
		predicate->kind == HG_PREDICATE_LIKE)
		used[predicate->column] = true;
}

/* Returns the column of an attribute, which is appended if it is missing. */
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
	for (int c = 0; predicate->compared != NULL && c < predicate->compared->ncolumns; c++)
		predicate->compared->columns[c] =
			hg_predicate_column((AttrNumber) predicate->compared->attnos[c], attnos, nattnos);
}

/* ---------------------------------------------------------------------
 * Bounds
 * ---------------------------------------------------------------------
 */

static HgPredicateShare
hg_predicate_args_share(const HgPredicate *predicate, const HgValueBounds *bounds)
{
	/* one decisive argument decides; otherwise all must have the other share */
	HgPredicateShare decisive = predicate->kind == HG_PREDICATE_AND ? HG_SHARE_NONE : HG_SHARE_ALL;
	HgPredicateShare share = predicate->kind == HG_PREDICATE_AND ? HG_SHARE_ALL : HG_SHARE_NONE;

	for (int a = 0; a < predicate->nargs; a++)
	{
		HgPredicateShare one = hg_predicate_share(predicate->args[a], bounds);

		if (one == decisive)
			return decisive;
		if (one == HG_SHARE_SOME)
			share = HG_SHARE_SOME;
	}
	return share;
}

HgPredicateShare
hg_predicate_share(const HgPredicate *predicate, const HgValueBounds *bounds)
{
	const HgValueBounds *column = &bounds[predicate->column];
	HgPredicateShare share;

	/* an error in any row must be raised, whatever the other arguments are */
	if (predicate->nterms > 0)
		return HG_SHARE_SOME;
	switch (predicate->kind)
	{
		case HG_PREDICATE_NONE:
			return HG_SHARE_NONE;
		case HG_PREDICATE_ALL:
			return HG_SHARE_ALL;
		case HG_PREDICATE_AND:
		case HG_PREDICATE_OR:
			return hg_predicate_args_share(predicate, bounds);
		case HG_PREDICATE_NOT:
			share = hg_predicate_share(predicate->args[0], bounds);
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
		case HG_PREDICATE_COMPUTED:
		case HG_PREDICATE_COMPUTED_ORDER:
			return HG_SHARE_SOME;
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_LIKE:
			return column->all_nulls ? HG_SHARE_NONE : HG_SHARE_SOME;
	}
	pg_unreachable();
}
