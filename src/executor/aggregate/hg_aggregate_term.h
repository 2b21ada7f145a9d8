/*-------------------------------------------------------------------------
 *
 * hg_aggregate_term.h
 *	  The terms of expressions over the columns of a batch (hg_aggregate_arithmetic.c), for what is
 *	  made of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_TERM_H
#define HG_AGGREGATE_TERM_H

#include "hg_compat.h"

#include "executor/aggregate/hg_aggregate_arithmetic.h"

/* No numbers are finer: a unit of a product is still a power of ten that 64 bits hold. */
#define HG_MOST_DECIMALS 18

typedef enum HgTermKind
{
	HG_TERM_COLUMN,
	HG_TERM_CONSTANT,
	HG_TERM_CAST,
	HG_TERM_NEGATE,
	HG_TERM_ADD,
	HG_TERM_SUBTRACT,
	HG_TERM_MULTIPLY
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
	int column;		 /* of a batch */
	int operands[2]; /* numbers of terms; -1: none */

	HgTermProgress progress;
	HgNumbers numbers;
	int64 *values; /* [HG_BATCH_ROWS] of its own ... */
	int64 *scaled; /* ... and of the operand whose units are to be made finer */
	bool *nulls;   /* [HG_BATCH_ROWS] of its own */
} HgTerm;

struct HgArithmetic
{
	int ncolumns;
	const int *attnos; /* [ncolumns] */
	List *terms;	   /* HgTerms by number */
	const HgBatch *batch;
};

static inline HgTerm *
hg_arithmetic_term(const HgArithmetic *arithmetic, int number)
{
	return list_nth(arithmetic->terms, number);
}

#endif /* HG_AGGREGATE_TERM_H */
