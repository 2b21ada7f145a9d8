/*-------------------------------------------------------------------------
 *
 * hg_computed.h
 *	  Computed columns of graph replicas: programs that compute a column from other columns of a
 *	  side.
 *
 * A column of a side that is a graph replica (hg_replica.h) is either a column replica or COMPUTED
 * from columns of the side that come before it.  The caller uses both in the same way.  A PROGRAM
 * computes the column by a sequence of steps on a stack of numbers.  Each step pops the numbers
 * that it takes and pushes one.  At the end one number is left: the value.
 *
 *	(a + 1) * b		COLUMN a, CONSTANT 1, ADD, COLUMN b, MULTIPLY
 *
 * NUMBERS are signed and exact.  Each step says how many bits its result must fit, 16, 32 or 64; a
 * result that does not fit OVERFLOWS.  The result is NULL if an operand is NULL, and does not
 * overflow then.
 *
 * Build computes the values after the side's lookups, so that programs can use columns of rows
 * that were looked up.  If a step overflows for a row of the side's graph that counts, with or
 * without a match, build answers HG_OVERFLOW, after which only close is allowed.  All engines do
 * so for the same rows.  The caller then has to find out for itself whether the rows that matter
 * overflow.
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

/* Maximum number of steps of a program, and of numbers on its stack. */
#define HG_MAX_STEPS 32
#define HG_MAX_STEP_NUMBERS 8

/* Bytes of a computed value. */
#define HG_COMPUTED_WIDTH 8

	typedef enum HgStepKind
	{
		HG_STEP_COLUMN = 0, /* the row's value in a column */
		HG_STEP_CONSTANT,
		HG_STEP_NEGATE, /* of one number */
		HG_STEP_FIT,	/* the number unchanged, checked against bits */
		HG_STEP_MODULO, /* remainder of a division by the constant; it has the sign of the number */
		HG_STEP_ADD,	/* of two numbers; the left operand was pushed first */
		HG_STEP_SUBTRACT,
		HG_STEP_MULTIPLY,
		HG_STEP_KINDS /* number of kinds, not a kind */
	} HgStepKind;

	typedef struct HgStep
	{
		uint8_t kind;	   /* HgStepKind */
		uint8_t bits;	   /* width that its result must fit: 16, 32 or 64 */
		uint8_t column;	   /* COLUMN: index in the side's columns, below the computed one */
		uint8_t is_signed; /* COLUMN: 1: two's complement, 0: unsigned */
		uint32_t unused;   /* 0 */
		int64_t constant;  /* CONSTANT; MODULO: not 0 */
	} HgStep;

	typedef struct HgProgram
	{
		uint32_t nsteps;
		uint32_t unused; /* 0 */
		HgStep steps[HG_MAX_STEPS];
	} HgProgram;

	/* Returns how many numbers a step pops: 0, 1 or 2. */
	static inline uint32_t
	hg_step_takes(const HgStep *step)
	{
		if (step->kind >= HG_STEP_ADD)
			return 2;
		return step->kind >= HG_STEP_NEGATE ? 1 : 0;
	}

	/*
	 * Checks that steps leave exactly one number, and read only columns with an index below
	 * column.  Returns HG_OK, or HG_INVALID with an explanation.
	 */
	extern HgStatus hg_steps_check(const HgStep *steps, uint32_t nsteps, uint32_t column,
								   HgError *error);

	/*
	 * Checks that a program can compute the column with this index of a side from columns before
	 * it.  Returns HG_OK, or HG_INVALID with an explanation.
	 */
	extern HgStatus hg_program_check(const HgProgram *program, uint32_t column, HgError *error);

	/* Returns how many columns of a side are computed. */
	extern uint32_t hg_computed_columns(const HgJobSpec *spec, HgSide side);

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------------------
 * Steps of one row's numbers, on the host and in kernels
 * ------------------------------------------------------------------------ */

/*
 * Returns the result of a step of one number.  Of a result that does not fit 64 bits it returns
 * the low 64 bits and sets *fits to false; otherwise it leaves *fits unchanged or sets it to true.
 */
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

/* Returns true if a product, whose low 64 bits are given, fits 64 bits. */
HG_HOST_DEVICE bool
hg_step_product_fits(int64_t left, int64_t right, int64_t product)
{
#ifdef __CUDA_ARCH__
	return __mul64hi(left, right) == product >> 63;
#else
	return (__int128) left * right == product;
#endif
}

/* Returns the result of a step of two numbers, its low 64 bits; sets *fits. */
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

/* Returns true if a number fits bits bits, 1 to 64, in two's complement. */
HG_HOST_DEVICE bool
hg_step_fits(int64_t value, uint32_t bits)
{
	const uint32_t above = 64 - bits;

	return (int64_t) ((uint64_t) value << above) >> above == value;
}

#endif /* HG_COMPUTED_H */
