/*-------------------------------------------------------------------------
 *
 * hg_intervals.h
 *	  Sets of integers as intervals.
 *
 * Integers have 128 bits, so that neighbours of 64-bit integers are representable.  Sets are
 * immutable, and are created in CurrentMemoryContext.
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

/* Both ends are included. */
typedef struct HgInterval
{
	int128 low;
	int128 high;
} HgInterval;

/* Ascending intervals, with at least one integer between two of them. */
typedef struct HgIntervals
{
	int n;
	HgInterval intervals[FLEXIBLE_ARRAY_MEMBER];
} HgIntervals;

/* Returns the union of intervals[n], which is sorted.  An interval with low > high is empty. */
extern HgIntervals *hg_intervals_create(int n, HgInterval *intervals);

/* Returns the set of the integers from low to high, both included. */
extern HgIntervals *hg_intervals_between(int128 low, int128 high);

/* Returns the set of all integers that are not in a set. */
extern HgIntervals *hg_intervals_complement(const HgIntervals *set);

/* Returns true if the integer is in the set. */
extern bool hg_intervals_contain(const HgIntervals *set, int128 value);

/* Returns true if all integers from low to high are in the set. */
extern bool hg_intervals_cover(const HgIntervals *set, int128 low, int128 high);

/* Returns true if any integer from low to high is in the set. */
extern bool hg_intervals_meet(const HgIntervals *set, int128 low, int128 high);

#endif /* HG_INTERVALS_H */
