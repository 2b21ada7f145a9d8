/*-------------------------------------------------------------------------
 *
 * hg_arithmetic_term.h
 *	  The terms of expressions over the columns of a batch (hg_arithmetic.c), for what is
 *	  made of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ARITHMETIC_TERM_H
#define HG_ARITHMETIC_TERM_H

#include "hg_compat.h"

#include "batch/hg_arithmetic.h"

/* The most decimals of a number: 10^decimals of a product still fits 64 bits. */
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

/* What has been done of a term for the batch. */
typedef enum HgTermProgress
{
	HG_TERM_OPEN,
	HG_TERM_DONE,
	HG_TERM_FAILED
} HgTermProgress;

typedef struct HgTerm
{
	const Expr *expr; /* to tell it from others */
	HgTermKind kind;
	int width;		 /* of an integer: bytes; 0: a numeric */
	int column;		 /* of a batch, or of those that it is bound to */
	int operands[2]; /* numbers of terms; -1: none */
	int64 constant;	 /* of CONSTANT, 0 where that is NULL; what MODULO divides by, 1 there */
	bool constant_null;

	HgTermProgress progress;
	HgNumbers numbers;
	int64 *values; /* [HG_BATCH_ROWS] of its own, NULL ahead of the first batch, ... */
	int64 *scaled; /* ... and of the operand that is scaled by more decimals */
	bool *nulls;   /* [HG_BATCH_ROWS] of its own */
} HgTerm;

struct HgArithmetic
{
	int ncolumns;
	const int *attnos;	/* [ncolumns] */
	const int *columns; /* [ncolumns] of a batch; NULL: they are these */
	List *terms;		/* HgTerms by number */
	const HgBatch *batch;
};

static inline HgTerm *
hg_arithmetic_term(const HgArithmetic *arithmetic, int number)
{
	return list_nth(arithmetic->terms, number);
}

#endif /* HG_ARITHMETIC_TERM_H */
