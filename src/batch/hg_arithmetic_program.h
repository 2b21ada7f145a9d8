/*-------------------------------------------------------------------------
 *
 * hg_arithmetic_program.h
 *	  Expressions over the columns of a batch as programs for a device, which has these columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ARITHMETIC_PROGRAM_H
#define HG_ARITHMETIC_PROGRAM_H

#include "batch/hg_arithmetic.h"
#include "engine/hg_computed.h"

/* A column that a program computes others of, as a device has it. */
typedef struct HgOperand
{
	uint32 column; /* of a side */
	int scale;	   /* of scaled integers; -1: of none */
} HgOperand;

/* The columns that an expression is made of. */
extern Bitmapset *hg_arithmetic_columns(const HgArithmetic *arithmetic, int number);

/*
 * The program that computes an expression for a device, which has its columns as operands[column]
 * tells.  *scale is the display scale of its values, or -1 where they are integers.  False: there
 * is none.
 */
extern bool hg_arithmetic_program(const HgArithmetic *arithmetic, int number,
								  const HgOperand *operands, HgProgram *program, int *scale);

/* Makes a program scale its number by so many more decimals; false: there is no room. */
extern bool hg_arithmetic_scale_up(HgProgram *program, int decimals);

#endif /* HG_ARITHMETIC_PROGRAM_H */
