/*-------------------------------------------------------------------------
 *
 * hg_computed.h
 *	  Computed columns of graph replicas: what a job makes of columns that it has.
 *
 * A column of a side that is a graph replica (hg_replica.h) is a replica as well, or it is COMPUTED
 * of columns of the side that come before it, and then it is asked for like any other.  What
 * computes it is a PROGRAM: steps, one after the other, each of which leaves a number, and takes
 * those that the last steps before it have left and no step has taken yet.  In the end there is
 * one, which is the value.
 *
 *	(a + 1) * b		COLUMN a, CONSTANT 1, ADD, COLUMN b, MULTIPLY
 *
 * NUMBERS are signed, and exact.  Each step says how many bits its own has to fit, 16, 32 or 64:
 * where it does not, it OVERFLOWS.  A number is NULL where one that it is made of is, and then it
 * does not overflow.
 *
 * Values are there from build on, which computes them when the side's lookups are done: columns of
 * what was found are columns as others are.  Where a step overflows for a row of the side's graph
 * that counts, whether it has a match or not, build answers HG_OVERFLOW, after which only close is
 * left.  So does each engine for the same rows, and whoever asked looks for himself whether the
 * rows that matter are among these.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COMPUTED_H
#define HG_COMPUTED_H

#include "hg_engine.h"
#include "hg_hash.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Steps of a program, and numbers that are left at a time, at most. */
#define HG_MAX_STEPS 32
#define HG_MAX_STEP_NUMBERS 8

/* Bytes of a computed value. */
#define HG_COMPUTED_WIDTH 8

	typedef enum HgStepKind
	{
		HG_STEP_COLUMN = 0, /* the row's value in a column */
		HG_STEP_CONSTANT,
		HG_STEP_NEGATE, /* of one number */
		HG_STEP_FIT,	/* the number itself, which is to fit */
		HG_STEP_MODULO, /* what is left of one that is divided by the constant, with its sign */
		HG_STEP_ADD,	/* of two numbers, of which the first was left first */
		HG_STEP_SUBTRACT,
		HG_STEP_MULTIPLY,
		HG_STEP_KINDS /* number of kinds, not a kind */
	} HgStepKind;

	typedef struct HgStep
	{
		uint8_t kind;	   /* HgStepKind */
		uint8_t bits;	   /* that its number fits: 16, 32 or 64 */
		uint8_t column;	   /* COLUMN: of the side, before the one that is computed */
		uint8_t is_signed; /* COLUMN: 1: two's complement, 0: not */
		uint32_t unused;   /* 0 */
		int64_t constant;  /* CONSTANT; MODULO: not 0 */
	} HgStep;

	typedef struct HgProgram
	{
		uint32_t nsteps;
		uint32_t unused; /* 0 */
		HgStep steps[HG_MAX_STEPS];
	} HgProgram;

	/* The numbers that a step takes. */
	static inline uint32_t
	hg_step_takes(const HgStep *step)
	{
		if (step->kind >= HG_STEP_ADD)
			return 2;
		return step->kind >= HG_STEP_NEGATE ? 1 : 0;
	}

	/*
	 * Can steps leave one number, of columns ahead of one of this number?  HG_OK, or HG_INVALID
	 * with an explanation.
	 */
	extern HgStatus hg_steps_check(const HgStep *steps, uint32_t nsteps, uint32_t column,
								   HgError *error);

	/*
	 * Can a program compute the column of this number of a side, of columns before it?  HG_OK, or
	 * HG_INVALID with an explanation.
	 */
	extern HgStatus hg_program_check(const HgProgram *program, uint32_t column, HgError *error);

	/* How many columns of a side are computed. */
	extern uint32_t hg_computed_columns(const HgJobSpec *spec, HgSide side);

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------------------
 * Steps of one row's numbers, on the host and in kernels
 * ------------------------------------------------------------------------ */

/* What a step makes of one number; of more than 64 bits they are the low ones, and do not fit. */
HG_HOST_DEVICE int64_t
hg_step_one(const HgStep *step, int64_t value, bool *fits)
{
	if (step->kind == HG_STEP_MODULO)
		return step->constant == -1 ? 0 : value % step->constant;
	if (step->kind != HG_STEP_NEGATE)
		return value;
	*fits = value != INT64_MIN;
	return (int64_t) (0 - (uint64_t) value);
}

/* Does a product fit 64 bits, of which these are the low ones? */
HG_HOST_DEVICE bool
hg_step_product_fits(int64_t left, int64_t right, int64_t product)
{
#ifdef __CUDA_ARCH__
	return __mul64hi(left, right) == product >> 63;
#else
	return (__int128) left * right == product;
#endif
}

/* What a step makes of two numbers; likewise. */
HG_HOST_DEVICE int64_t
hg_step_two(const HgStep *step, int64_t left, int64_t right, bool *fits)
{
	const uint64_t a = (uint64_t) left;
	const uint64_t b = (uint64_t) right;
	int64_t value;

	switch (step->kind)
	{
		case HG_STEP_ADD:
			value = (int64_t) (a + b);
			*fits = ((left ^ value) & (right ^ value)) >= 0;
			break;
		case HG_STEP_SUBTRACT:
			value = (int64_t) (a - b);
			*fits = ((left ^ right) & (left ^ value)) >= 0;
			break;
		default:
			value = (int64_t) (a * b);
			*fits = hg_step_product_fits(left, right, value);
			break;
	}
	return value;
}

/* Is a number one of so many bits? */
HG_HOST_DEVICE bool
hg_step_fits(int64_t value, uint32_t bits)
{
	const uint32_t above = 64 - bits;

	return (int64_t) ((uint64_t) value << above) >> above == value;
}

#endif /* HG_COMPUTED_H */
