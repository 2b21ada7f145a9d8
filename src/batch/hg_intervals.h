/*-------------------------------------------------------------------------
 *
 * hg_intervals.h
 *	  Sets of integers as intervals.
 *
 * The integers are those of 128 bits, so that the neighbours of what has 64 are among them.  Sets
 * are immutable, and made in CurrentMemoryContext.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INTERVALS_H
#define HG_INTERVALS_H

#include "postgres.h"

#define HG_INTERVAL_MIN ((int128) ((uint128) 1 << 127))
#define HG_INTERVAL_MAX (~HG_INTERVAL_MIN)

/* Both ends are in it. */
typedef struct HgInterval
{
	int128 low;
	int128 high;
} HgInterval;

/* They ascend, and between two of them there is an integer. */
typedef struct HgIntervals
{
	int n;
	HgInterval intervals[FLEXIBLE_ARRAY_MEMBER];
} HgIntervals;

/*
 * What is in any of these, which are sorted by it; one whose ends are the wrong way round is empty.
 */
extern HgIntervals *hg_intervals_create(int n, HgInterval *intervals);

/* One interval. */
extern HgIntervals *hg_intervals_between(int128 low, int128 high);

extern HgIntervals *hg_intervals_complement(const HgIntervals *set);

/* Is an integer in a set? */
extern bool hg_intervals_contain(const HgIntervals *set, int128 value);

/* Are all integers from low to high in a set; is any of them? */
extern bool hg_intervals_cover(const HgIntervals *set, int128 low, int128 high);
extern bool hg_intervals_meet(const HgIntervals *set, int128 low, int128 high);

#endif /* HG_INTERVALS_H */
