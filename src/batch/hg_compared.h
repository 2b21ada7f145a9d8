/*-------------------------------------------------------------------------
 *
 * hg_compared.h
 *	  Expressions over columns of a table whose numbers are compared.
 *
 * There is one expression, whose numbers are in a set or not, or there are two, whose order is
 * asked for (hg_predicate.h).  What is computed is told in hg_arithmetic.c: exactly what
 * PostgreSQL computes, or nothing, for all rows of a batch.  So comparing raises no error, and a
 * row that would raise one is to be rechecked.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COMPARED_H
#define HG_COMPARED_H

#include "access/attnum.h"

#include "batch/hg_arithmetic.h"

/* Terms of the expressions that all conditions of a scan compare, at most. */
#define HG_MAX_COMPARED_TERMS 256

typedef struct HgCompared
{
	Node *exprs[2]; /* which stay where they are; NULL: there is no second one */
	HgArithmetic *arithmetic;
	int numbers[2]; /* of the expressions */
	int ncolumns;
	int *attnos;  /* [ncolumns] of the table */
	int *columns; /* [ncolumns] of a batch; whoever binds a predicate fills it in */
} HgCompared;

/*
 * An expression, and another one or NULL, in CurrentMemoryContext; NULL where they are not
 * computed, or have no columns.
 */
extern HgCompared *hg_compared_create(Node *expr, Node *other);

/* Are they the same? */
extern bool hg_compared_equal(const HgCompared *a, const HgCompared *b);

/*
 * Where there is one expression, its numbers for all rows of a batch, until the next one; NULL
 * where some don't fit.
 */
extern const HgNumbers *hg_compared_numbers(HgCompared *compared, const HgBatch *batch);

/*
 * Where there are two, orders[i] = -1, 0 or 1, the order of the one's number of row i to the
 * other's, and nulls[i] = is one of them NULL?  False where some don't fit.
 */
extern bool hg_compared_orders(HgCompared *compared, const HgBatch *batch, int64 *orders,
							   bool *nulls);

#endif /* HG_COMPARED_H */
