/*-------------------------------------------------------------------------
 *
 * hg_compared.h
 *	  Expressions over columns of a table whose results a predicate compares.
 *
 * One expression's numbers are in a set or not; two expressions are compared with each other
 * (hg_predicate.h).  hg_arithmetic.c computes either exactly what PostgreSQL computes, or nothing
 * for the whole batch.  So a comparison raises no error, and a row that would raise one is
 * rechecked.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COMPARED_H
#define HG_COMPARED_H

#include "access/attnum.h"

#include "batch/hg_arithmetic.h"

/* The most terms of all expressions that a scan's conditions compare. */
#define HG_MAX_COMPARED_TERMS 256

typedef struct HgCompared
{
	Node *exprs[2]; /* not copied; the second is NULL if there is only one */
	HgArithmetic *arithmetic;
	int numbers[2]; /* of the expressions in arithmetic */
	int ncolumns;
	int *attnos;  /* [ncolumns] attributes of the table */
	int *columns; /* [ncolumns] of a batch; filled in by what binds a predicate */
} HgCompared;

/*
 * Creates the comparison of one expression, or of two if other is not NULL, in
 * CurrentMemoryContext.  Returns NULL if the expressions have no columns or cannot be computed
 * column by column.
 */
extern HgCompared *hg_compared_create(Node *expr, Node *other);

/* Returns true if both compare the same expressions. */
extern bool hg_compared_equal(const HgCompared *a, const HgCompared *b);

/*
 * Returns the numbers of the only expression for all rows of a batch, valid until the next batch.
 * Returns NULL if a row's number does not fit.
 */
extern const HgNumbers *hg_compared_numbers(HgCompared *compared, const HgBatch *batch);

/*
 * Compares the two expressions: orders[i] is -1, 0 or 1, the order of the first to the second in
 * row i.  nulls[i] is true if either is NULL there.  Returns false if a row's number does not fit.
 */
extern bool hg_compared_orders(HgCompared *compared, const HgBatch *batch, int64 *orders,
							   bool *nulls);

#endif /* HG_COMPARED_H */
