/*-------------------------------------------------------------------------
 *
 * hg_aggregate_sums.h
 *	  The states of aggregates that are not computed by their own functions.
 *
 * They are of the files that advance them (hg_aggregate_function.c) and make results of them
 * (hg_aggregate_result.c), and nobody else's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SUMS_H
#define HG_AGGREGATE_SUMS_H

#include "executor/aggregate/hg_aggregate_transition.h"

typedef struct HgSumState
{
	int64 count;
	int64 sum;
} HgSumState;

typedef struct HgBigSumState
{
	int64 count;
	uint64 low; /* of a sum of 128 bits in two's complement */
	int64 high;
} HgBigSumState;

typedef struct HgNumericState
{
	int64 count;
	int64 summed; /* values that are in the sum ... */
	uint64 low;	  /* ... in units of 10^-scale, as above */
	int64 high;
	int scale;				/* the greatest display scale of these values */
	HgTransitionState rest; /* of values that are not in it */
} HgNumericState;

typedef struct HgExtremeState
{
	int64 value;
	bool any;
} HgExtremeState;

typedef struct HgNumericExtremeState
{
	int64 units; /* of 10^-scale */
	int scale;
	bool any;				/* ... there are */
	HgTransitionState rest; /* of values with other scales, and of such as came as numerics */
} HgNumericExtremeState;

static inline int128
hg_big_sum_of(const HgBigSumState *state)
{
	return (int128) state->high << 64 | state->low;
}

static inline int128
hg_numeric_sum_of(const HgNumericState *state)
{
	return (int128) state->high << 64 | state->low;
}

#endif /* HG_AGGREGATE_SUMS_H */
