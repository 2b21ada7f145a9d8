/*-------------------------------------------------------------------------
 *
 * hg_arithmetic_program.h
 *	  Compiles expressions over the columns of a batch into programs for a device that has the
 *	  columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ARITHMETIC_PROGRAM_H
#define HG_ARITHMETIC_PROGRAM_H

#include "batch/hg_arithmetic.h"
#include "engine/hg_computed.h"

/* A column on a device, as an operand of a program. */
typedef struct HgOperand
{
	uint32 column; /* column index in the device's side */
	int scale;	   /* display scale of scaled integers; -1 if the column has none */
} HgOperand;

/* Returns the set of columns that an expression uses. */
extern Bitmapset *hg_arithmetic_columns(const HgArithmetic *arithmetic, int number);

/*
 * Compiles an expression into a program.  operands[column] describes each column that it uses.
 * *scale is the display scale of the result, or -1 for integers.  Returns false if the expression
 * has no program.
 */
extern bool hg_arithmetic_program(const HgArithmetic *arithmetic, int number,
								  const HgOperand *operands, HgProgram *program, int *scale);

/* Appends steps that multiply the result by 10^decimals; false if there is no room. */
extern bool hg_arithmetic_scale_up(HgProgram *program, int decimals);

#endif /* HG_ARITHMETIC_PROGRAM_H */
