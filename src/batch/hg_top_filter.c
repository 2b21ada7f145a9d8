/*-------------------------------------------------------------------------
 *
 * hg_top_filter.c
 *	  Removes rows of a scan that cannot be among the first rows of an ORDER BY with a LIMIT.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "batch/hg_top_filter.h"

/* Rows of a sample, and the part of them that must be rejected for testing to go on. */
#define HG_TOP_SAMPLE 8192
#define HG_TOP_PAYS 4

/* The share of rows that are assumed to be selected before the first sample. */
#define HG_TOP_FIRST_SHARE 0.5

/* HgRowCheck.apply */
static int
hg_top_filter_check_rows(HgRowCheck *check, const HgBatch *batch, uint16 *which)
{
	return hg_top_filter_apply((HgTopFilter *) check, batch, which);
}

/* HgRowCheck.rejects_all */
static bool
hg_top_filter_check_bounds(HgRowCheck *check, const HgValueBounds *bounds, uint32 nrows)
{
	return hg_top_filter_rejects_all((HgTopFilter *) check, bounds, nrows);
}

/* HgRowCheck.apply_arrays */
static int
hg_top_filter_check_arrays(HgRowCheck *check, const HgPredicateColumn *columns, uint32 first, int n,
						   bool *holds)
{
	return hg_top_filter_apply_arrays((HgTopFilter *) check, columns, first, n, holds);
}

HgTopFilter *
hg_top_filter_create(const HgTopKeys *top, Form_pg_attribute att, Oid ordering_operator)
{
	bool descending;
	HgValueOrder value_order = hg_value_order_by(att->atttypid, ordering_operator, &descending);
	HgTopFilter *filter;

	if (!hg_order_is_integer(value_order) && value_order != HG_ORDER_NUMERIC)
		return NULL;
	filter = palloc0(sizeof(HgTopFilter));
	filter->check.ncolumns = 1;
	filter->check.columns = &filter->order.column;
	filter->check.rejects_all = hg_top_filter_check_bounds;
	filter->check.takes_scaled = true;
	filter->top = top;
	filter->value_order = value_order;
	filter->order.descending = descending;
	filter->order.nulls_first = top->keys[0].ssup_nulls_first;
	filter->desc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(filter->desc, 1, NULL, att->atttypid, att->atttypmod, 0);
	filter->context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph top filter", ALLOCSET_SMALL_SIZES);
	hg_top_filter_restart(filter);
	return filter;
}

void
hg_top_filter_restart(HgTopFilter *filter)
{
	filter->resume = filter->tested = filter->rejected = 0;
	filter->share = HG_TOP_FIRST_SHARE;
}

/* Sets *last to the last row's key as an integer; returns false for a numeric that has none. */
static bool
hg_top_filter_last(const HgTopFilter *filter, int128 *last)
{
	Datum value = filter->top->last->values[0];

	if (filter->value_order == HG_ORDER_NUMERIC)
		return hg_predicate_scale_value(value, last);
	*last = hg_order_integer(filter->value_order, filter->top->types[0].len, value);
	return true;
}

/* Returns the rows that are not rejected, in CurrentMemoryContext; NULL if no row is rejected. */
static HgPredicate *
hg_top_filter_make(const HgTopFilter *filter)
{
	const HgTopKeys *top = filter->top;
	bool nulls_first = filter->order.nulls_first;
	/* further sort keys decide about rows with the same first key */
	bool keeps_ties = top->nkeys > 1;
	bool keeps_nulls = nulls_first;
	int128 low = HG_INTERVAL_MIN;
	int128 high = HG_INTERVAL_MAX;
	HgPredicate *kept[2];

	if (top->last->nulls[0])
	{
		keeps_nulls = keeps_ties;
		if (nulls_first)
		{
			/* an empty interval */
			low = 1;
			high = 0;
		}
		else if (keeps_ties)
			return NULL;
	}
	else
	{
		int128 last;

		if (!hg_top_filter_last(filter, &last))
			return NULL;
		if (filter->order.descending)
			low = last + (keeps_ties ? 0 : 1);
		else
			high = last - (keeps_ties ? 0 : 1);
	}
	kept[0] = hg_predicate_integer(1, filter->value_order, hg_intervals_between(low, high));
	if (!keeps_nulls)
		return kept[0];
	kept[1] = hg_predicate_null(1, true);
	return hg_predicate_combine(HG_PREDICATE_OR, 2, kept);
}

bool
hg_top_filter_begin(HgTopFilter *filter)
{
	if (filter->changes != filter->top->changes)
	{
		MemoryContext old;
		AttrNumber attno = 1;
		int nattnos = 1;

		MemoryContextReset(filter->context);
		old = MemoryContextSwitchTo(filter->context);
		filter->kept = filter->top->complete ? hg_top_filter_make(filter) : NULL;
		if (filter->kept != NULL)
			hg_predicate_bind(filter->kept, filter->desc, &attno, &nattnos);
		filter->changes = filter->top->changes;
		MemoryContextSwitchTo(old);
	}
	return filter->kept != NULL;
}

/*
 * Counts rows that were tested one by one, and those that were selected.  If few rows of a sample
 * were rejected, as many rows as before are not tested.
 */
static void
hg_top_filter_count(HgTopFilter *filter, int tested, int selected)
{
	filter->removed += tested - selected;
	filter->tested += tested;
	filter->rejected += tested - selected;
	if (filter->tested < HG_TOP_SAMPLE)
		return;
	filter->share = 1 - (double) filter->rejected / filter->tested;
	if (filter->rejected < filter->tested / HG_TOP_PAYS)
		filter->resume = 2 * filter->top->seen;
	filter->tested = filter->rejected = 0;
}

int
hg_top_filter_apply(HgTopFilter *filter, const HgBatch *batch, uint16 *which)
{
	bool holds[HG_BATCH_ROWS];
	bool recheck[HG_BATCH_ROWS];
	bool any;
	int nwhich = 0;

	memset(recheck, false, batch->nrows * sizeof(bool));
	any = hg_predicate_apply(filter->kept, batch, holds, recheck);
	for (int i = 0; i < batch->nrows; i++)
	{
		which[nwhich] = (uint16) i;
		nwhich += holds[i] | (any & recheck[i]);
	}
	hg_top_filter_count(filter, batch->nrows, nwhich);
	return nwhich;
}

/* Returns the number of flags that are true. */
static int
hg_top_filter_count_flags(const bool *flags, int n)
{
	int count = 0;
	int i = 0;

	for (; i + 8 <= n; i += 8)
	{
		uint64 bytes;

		memcpy(&bytes, flags + i, sizeof(bytes));
		/* the highest byte of the product is the sum of all bytes */
		count += (int) ((bytes * UINT64CONST(0x0101010101010101)) >> 56);
	}
	for (; i < n; i++)
		count += flags[i];
	return count;
}

int
hg_top_filter_apply_arrays(HgTopFilter *filter, const HgPredicateColumn *columns, uint32 first,
						   int n, bool *holds)
{
	int nselected;

	if (!hg_predicate_takes_arrays(filter->kept, columns))
		return -1;
	hg_predicate_apply_arrays(filter->kept, columns, first, n, holds);
	nselected = hg_top_filter_count_flags(holds, n);
	hg_top_filter_count(filter, n, nselected);
	return nselected;
}

bool
hg_top_filter_rejects_all(HgTopFilter *filter, const HgValueBounds *bounds, uint32 nrows)
{
	if (hg_predicate_share(filter->kept, bounds) != HG_SHARE_NONE)
		return false;
	filter->removed += nrows;
	return true;
}

HgRowCheck *
hg_top_filter_check(HgTopFilter *filter)
{
	if (!hg_top_filter_begin(filter))
		return NULL;
	filter->check.apply = hg_top_filter_tests_rows(filter) ? hg_top_filter_check_rows : NULL;
	filter->check.apply_arrays = filter->check.apply != NULL ? hg_top_filter_check_arrays : NULL;
	filter->check.share = filter->share;
	return &filter->check;
}
