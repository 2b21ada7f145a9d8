/*-------------------------------------------------------------------------
 *
 * hg_aggregate_sums.h
 *	  The states of aggregates that are not computed by their own functions.
 *
 * They are of the files that advance them (hg_aggregate_advance.c, hg_aggregate_bulk.c) and make
 * results of them (hg_aggregate_result.c), and nobody else's.
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
	uint64 low;	  /* ... scaled by 10^scale, as above */
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
	int64 scaled; /* of 10^-scale */
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

/*
 * A sum of up to 2^31 values, in halves of 32 bits: neither overflows, and neither waits for a
 * carry of the other.
 */
typedef struct HgHalves
{
	int64 high;
	uint64 low;
} HgHalves;

static inline void
hg_halves_add(HgHalves *sum, int64 value)
{
	sum->high += value >> 32;
	sum->low += (uint32) value;
}

static inline int128
hg_halves_total(const HgHalves *sum)
{
	return (int128) sum->high * ((int64) 1 << 32) + sum->low;
}

/* Add the sum of some values. */
static inline void
hg_big_sum_take(HgBigSumState *state, int64 count, int128 sum)
{
	sum += hg_big_sum_of(state);
	state->count += count;
	state->low = (uint64) sum;
	state->high = (int64) (sum >> 64);
}

#endif /* HG_AGGREGATE_SUMS_H */
