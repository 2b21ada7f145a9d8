/*-------------------------------------------------------------------------
 *
 * hg_arithmetic_term.h
 *	  Terms of arithmetic expressions (hg_arithmetic.c), for the files that evaluate or compile
 *	  them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ARITHMETIC_TERM_H
#define HG_ARITHMETIC_TERM_H

#include "hg_compat.h"

#include "batch/hg_arithmetic.h"

/* The most decimals of a number: 10^HG_MOST_DECIMALS fits 64 bits. */
#define HG_MOST_DECIMALS 18

typedef enum HgTermKind
{
	HG_TERM_COLUMN,
	HG_TERM_CONSTANT,
	HG_TERM_CAST,
	HG_TERM_NEGATE,
	HG_TERM_ADD,
	HG_TERM_SUBTRACT,
	HG_TERM_MULTIPLY,
	HG_TERM_MODULO /* by a constant other than 0 */
} HgTermKind;

/* Progress of a term within the current batch. */
typedef enum HgTermProgress
{
	HG_TERM_OPEN,
	HG_TERM_DONE,
	HG_TERM_FAILED
} HgTermProgress;

typedef struct HgTerm
{
	const Expr *expr; /* identifies the term */
	HgTermKind kind;
	int width;		 /* bytes of an integer; 0 for a numeric */
	int column;		 /* of the batch, or index in HgArithmetic.columns */
	int operands[2]; /* numbers of the operands' terms; -1 if there is none */
	/* The value of CONSTANT, 0 if that is NULL; the divisor of MODULO, 1 if that is NULL. */
	int64 constant;
	bool constant_null;

	HgTermProgress progress;
	HgNumbers numbers;
	/* [HG_BATCH_ROWS] the term's own memory for results; NULL before the first batch. */
	int64 *values;
	/* [HG_BATCH_ROWS] an operand scaled by more decimals. */
	int64 *scaled;
	bool *nulls; /* [HG_BATCH_ROWS] own memory */
} HgTerm;

struct HgArithmetic
{
	int ncolumns;
	const int *attnos; /* [ncolumns] */
	/* [ncolumns] of a batch; NULL if column c is column c of the batch. */
	const int *columns;
	List *terms; /* HgTerms by number */
	const HgBatch *batch;
};

/* Returns a term by its number. */
static inline HgTerm *
hg_arithmetic_term(const HgArithmetic *arithmetic, int number)
{
	return list_nth(arithmetic->terms, number);
}

#endif /* HG_ARITHMETIC_TERM_H */
