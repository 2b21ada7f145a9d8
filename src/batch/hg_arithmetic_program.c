/*-------------------------------------------------------------------------
 *
 * hg_arithmetic_program.c
 *	  Compiles expressions over the columns of a batch into programs for a device that has the
 *	  columns.
 *
 * A program computes the same numbers as hg_arithmetic.c: integers that must fit their type, and
 * scaled integers that must fit 64 bits.  An overflow on the device leaves it without an answer,
 * and all rows are computed here.  PostgreSQL then raises its errors here, and scaled integers
 * that are too large become numerics.  The device also computes rows without a match, and may see
 * an overflow where there is no error, which only costs time.  The same holds for numbers that
 * conditions compare.
 *
 * Display scales are those of the columns on the device.  They are known when the device is asked,
 * and so programs are compiled then.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_arithmetic.h"
#include "batch/hg_numeric.h"

/* A program that is being compiled. */
typedef struct HgProgramWriter
{
	const HgArithmetic *arithmetic;
	const HgOperand *operands;
	HgProgram *program;
} HgProgramWriter;

Bitmapset *
hg_arithmetic_columns(const HgArithmetic *arithmetic, int number)
{
	const HgTerm *term = hg_arithmetic_term(arithmetic, number);
	Bitmapset *columns = NULL;

	if (term->kind == HG_TERM_COLUMN)
		return bms_make_singleton(term->column);
	for (int i = 0; i < 2; i++)
		if (term->operands[i] >= 0)
			columns = bms_join(columns, hg_arithmetic_columns(arithmetic, term->operands[i]));
	return columns;
}

/* Returns the display scale of a term, 0 for integers; -1 if it has none or too many decimals. */
static int
hg_term_scale(const HgProgramWriter *writer, int number)
{
	const HgTerm *term = hg_arithmetic_term(writer->arithmetic, number);
	int left;
	int right;
	int scale;

	if (term->kind == HG_TERM_COLUMN)
		return term->width > 0 ? 0 : writer->operands[term->column].scale;
	if (term->kind == HG_TERM_CONSTANT)
		return term->numbers.scale;
	left = hg_term_scale(writer, term->operands[0]);
	if (left < 0 || term->operands[1] < 0)
		return left;
	right = hg_term_scale(writer, term->operands[1]);
	if (right < 0)
		return -1;
	scale = term->kind == HG_TERM_MULTIPLY ? left + right : Max(left, right);
	return scale <= HG_MOST_DECIMALS ? scale : -1;
}

/* Returns the bits that the numbers of a term must fit. */
static uint8
hg_term_bits(const HgTerm *term)
{
	return term->width > 0 ? (uint8) (term->width * BITS_PER_BYTE) : 64;
}

/* Appends a step; false if there is no room. */
static bool
hg_program_write(HgProgram *program, HgStep step)
{
	if (program->nsteps == HG_MAX_STEPS)
		return false;
	program->steps[program->nsteps++] = step;
	return true;
}

static bool
hg_program_write_kind(HgProgram *program, HgStepKind kind, uint8 bits)
{
	return hg_program_write(program, (HgStep){.kind = (uint8) kind, .bits = bits});
}

static bool
hg_program_write_constant(HgProgram *program, int64 constant)
{
	return hg_program_write(program,
							(HgStep){.kind = HG_STEP_CONSTANT, .bits = 64, .constant = constant});
}

bool
hg_arithmetic_scale_up(HgProgram *program, int decimals)
{
	int128 factor = 1;

	if (decimals == 0)
		return true;
	return hg_numeric_scale_up(&factor, decimals) &&
		   hg_program_write_constant(program, (int64) factor) &&
		   hg_program_write_kind(program, HG_STEP_MULTIPLY, 64);
}

static HgStepKind
hg_term_step(HgTermKind kind)
{
	switch (kind)
	{
		case HG_TERM_NEGATE:
			return HG_STEP_NEGATE;
		case HG_TERM_ADD:
			return HG_STEP_ADD;
		case HG_TERM_SUBTRACT:
			return HG_STEP_SUBTRACT;
		case HG_TERM_MULTIPLY:
			return HG_STEP_MULTIPLY;
		default:
			return HG_STEP_FIT;
	}
}

/* Appends the steps that compute a term.  Scales of the term and its operands are valid. */
static bool
hg_program_write_term(HgProgramWriter *writer, int number)
{
	const HgTerm *term = hg_arithmetic_term(writer->arithmetic, number);
	const bool aligned = term->kind == HG_TERM_ADD || term->kind == HG_TERM_SUBTRACT;
	HgProgram *program = writer->program;

	if (term->kind == HG_TERM_COLUMN)
		return hg_program_write(program,
								(HgStep){.kind = HG_STEP_COLUMN,
										 .bits = 64,
										 .column = (uint8) writer->operands[term->column].column,
										 .is_signed = 1});
	if (term->kind == HG_TERM_CONSTANT)
		return !term->constant_null && hg_program_write_constant(program, term->constant);
	/* the divisor may be NULL, for which there is no step */
	if (term->kind == HG_TERM_MODULO)
		return !hg_arithmetic_term(writer->arithmetic, term->operands[1])->constant_null &&
			   hg_program_write_term(writer, term->operands[0]) &&
			   hg_program_write(program, (HgStep){.kind = HG_STEP_MODULO,
												  .bits = hg_term_bits(term),
												  .constant = term->constant});
	for (int i = 0; i < 2 && term->operands[i] >= 0; i++)
	{
		const int operand = term->operands[i];

		if (!hg_program_write_term(writer, operand) ||
			(aligned && !hg_arithmetic_scale_up(program, hg_term_scale(writer, number) -
															 hg_term_scale(writer, operand))))
			return false;
	}
	return hg_program_write_kind(program, hg_term_step(term->kind), hg_term_bits(term));
}

bool
hg_arithmetic_program(const HgArithmetic *arithmetic, int number, const HgOperand *operands,
					  HgProgram *program, int *scale)
{
	HgProgramWriter writer = {arithmetic, operands, program};

	memset(program, 0, sizeof(*program));
	*scale = hg_term_scale(&writer, number);
	if (*scale < 0 || !hg_program_write_term(&writer, number) ||
		hg_program_check(program, Max(HG_MAX_COLUMNS, HG_MAX_FILTER_COLUMNS), NULL) != HG_OK)
		return false;
	if (hg_arithmetic_term(arithmetic, number)->width > 0)
		*scale = -1;
	return true;
}
