/*-------------------------------------------------------------------------
 *
 * hg_aggregate_sums.h
 *	  The states of the aggregates that are computed inline.
 *
 * Only hg_aggregate_advance.c, hg_aggregate_combine.c and hg_aggregate_result.c use them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SUMS_H
#define HG_AGGREGATE_SUMS_H

#include "batch/hg_numeric.h"
#include "executor/aggregate/hg_aggregate_function.h"

/* The state of sum and avg of int2 and int4, without NULLs. */
typedef struct HgSumState
{
	int64 count;
	int64 sum;
} HgSumState;

/* The state of sum and avg of int8. */
typedef struct HgBigSumState
{
	int64 count;
	uint64 low; /* low and high: a sum of 128 bits in two's complement */
	int64 high;
} HgBigSumState;

/* The state of sum and avg of numeric. */
typedef struct HgNumericState
{
	int64 count;
	int64 summed; /* number of values in the scaled sum */
	uint64 low;	  /* low and high: the sum times 10^scale, 128 bits */
	int64 high;
	int scale;				/* greatest display scale of the summed values */
	HgTransitionState rest; /* values that did not fit into the scaled sum */
} HgNumericState;

/* The state of min or max of a type that compares as an integer. */
typedef struct HgExtremeState
{
	int64 value;
	bool any;
} HgExtremeState;

/* The state of min and max of numeric. */
typedef struct HgNumericExtremeState
{
	int64 scaled; /* in units of 10^-scale */
	int scale;
	bool any;				/* scaled has a value */
	HgTransitionState rest; /* values with other scales, and those that came as numerics */
} HgNumericExtremeState;

/* Advances a minimum or, if greatest is set, a maximum of numerics by value / 10^scale. */
static inline void
hg_numeric_extreme_take(const HgFunction *function, HgNumericExtremeState *state, int64 value,
						int scale, bool greatest)
{
	if (unlikely(state->any && state->scale != scale))
	{
		hg_transition_advance(function->transition, &state->rest, hg_numeric_make(value, scale),
							  false);
		return;
	}
	if (!state->any || (greatest ? value > state->scaled : value < state->scaled))
		state->scaled = value;
	state->scale = scale;
	state->any = true;
}

/* Returns the sum of a state. */
static inline int128
hg_big_sum_of(const HgBigSumState *state)
{
	return (int128) state->high << 64 | state->low;
}

/* Returns the scaled sum of a state, without the rest. */
static inline int128
hg_numeric_sum_of(const HgNumericState *state)
{
	return (int128) state->high << 64 | state->low;
}

/* A sum of up to 2^31 values in halves of 32 bits, which neither overflow nor wait for a carry. */
typedef struct HgHalves
{
	int64 high;
	uint64 low;
} HgHalves;

/* Adds a value. */
static inline void
hg_halves_add(HgHalves *sum, int64 value)
{
	sum->high += value >> 32;
	sum->low += (uint32) value;
}

/* Returns the sum that is stored as two halves: high * 2^32 + low. */
static inline int128
hg_halves_total(const HgHalves *sum)
{
	return (int128) sum->high * ((int64) 1 << 32) + sum->low;
}

/* Adds to a state count values whose sum is given. */
static inline void
hg_big_sum_take(HgBigSumState *state, int64 count, int128 sum)
{
	sum += hg_big_sum_of(state);
	state->count += count;
	state->low = (uint64) sum;
	state->high = (int64) (sum >> 64);
}

#endif /* HG_AGGREGATE_SUMS_H */
