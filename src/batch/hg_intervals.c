/*-------------------------------------------------------------------------
 *
 * hg_intervals.c
 *	  Sets of integers as intervals.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_predicate.h"

static int
hg_interval_compare(const void *a, const void *b)
{
	const HgInterval *left = a;
	const HgInterval *right = b;

	return (left->low > right->low) - (left->low < right->low);
}

static HgIntervals *
hg_intervals_alloc(int n)
{
	HgIntervals *set = palloc(offsetof(HgIntervals, intervals) + n * sizeof(HgInterval));

	set->n = 0;
	return set;
}

HgIntervals *
hg_intervals_create(int n, HgInterval *intervals)
{
	HgIntervals *set = hg_intervals_alloc(n);

	qsort(intervals, n, sizeof(HgInterval), hg_interval_compare);
	for (int i = 0; i < n; i++)
	{
		HgInterval *last = &set->intervals[set->n - 1];

		if (intervals[i].low > intervals[i].high)
			continue;
		if (set->n > 0 && (last->high == HG_INTERVAL_MAX || intervals[i].low <= last->high + 1))
			last->high = Max(last->high, intervals[i].high);
		else
			set->intervals[set->n++] = intervals[i];
	}
	return set;
}

HgIntervals *
hg_intervals_between(int128 low, int128 high)
{
	HgInterval interval = {low, high};

	return hg_intervals_create(1, &interval);
}

HgIntervals *
hg_intervals_complement(const HgIntervals *set)
{
	HgIntervals *others = hg_intervals_alloc(set->n + 1);
	int128 low = HG_INTERVAL_MIN;

	for (int i = 0; i < set->n; i++)
	{
		const HgInterval *interval = &set->intervals[i];

		if (interval->low > low)
		{
			others->intervals[others->n].low = low;
			others->intervals[others->n++].high = interval->low - 1;
		}
		if (interval->high == HG_INTERVAL_MAX)
			return others;
		low = interval->high + 1;
	}
	others->intervals[others->n].low = low;
	others->intervals[others->n++].high = HG_INTERVAL_MAX;
	return others;
}

/* Returns the last interval that begins at or before a value, or NULL. */
static inline const HgInterval *
hg_intervals_find(const HgIntervals *set, int128 value)
{
	int low = 0;
	int high = set->n;

	while (low < high)
	{
		int middle = (low + high) / 2;

		if (set->intervals[middle].low <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &set->intervals[low - 1] : NULL;
}

bool
hg_intervals_contain(const HgIntervals *set, int128 value)
{
	return hg_intervals_cover(set, value, value);
}

bool
hg_intervals_cover(const HgIntervals *set, int128 low, int128 high)
{
	const HgInterval *interval = hg_intervals_find(set, low);

	return interval != NULL && interval->high >= high;
}

bool
hg_intervals_meet(const HgIntervals *set, int128 low, int128 high)
{
	const HgInterval *interval = hg_intervals_find(set, high);

	return interval != NULL && interval->high >= low;
}
