/*-------------------------------------------------------------------------
 *
 * hg_aggregate_program.h
 *	  Expressions over the columns of a batch as programs for a device, which has these columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_PROGRAM_H
#define HG_AGGREGATE_PROGRAM_H

#include "batch/hg_arithmetic.h"
#include "engine/hg_computed.h"
#include "executor/join/hg_join_reduce.h"

/* The columns that an expression is made of. */
extern Bitmapset *hg_arithmetic_columns(const HgArithmetic *arithmetic, int number);

/*
 * The program that computes an expression for a device, which has its columns as operands[column]
 * tells.  *scale is the display scale of its values, or -1 where they are integers.  False: there
 * is none.
 */
extern bool hg_arithmetic_program(const HgArithmetic *arithmetic, int number,
								  const HgOperand *operands, HgProgram *program, int *scale);

#endif /* HG_AGGREGATE_PROGRAM_H */
