/*-------------------------------------------------------------------------
 *
 * hg_arithmetic.h
 *	  Arithmetic over the columns of a batch, column by column.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ARITHMETIC_H
#define HG_ARITHMETIC_H

#include "nodes/primnodes.h"

#include "batch/hg_batch.h"

/* One number for each row of a batch. */
typedef struct HgNumbers
{
	/* [rows] integers, or numerics times 10^scale; undefined in rows with NULL */
	const int64 *values;
	const bool *nulls; /* [rows], or NULL if no row is NULL */
	int scale;		   /* display scale of numerics; 0 for integers */
} HgNumbers;

/* A set of expressions over the columns of batches; common subexpressions are computed once. */
typedef struct HgArithmetic HgArithmetic;

/*
 * Returns true if the expression has only supported functions over columns and constants.
 * hg_arithmetic_add() may still refuse it.
 */
extern bool hg_arithmetic_takes(const Expr *expr);

/*
 * Creates an empty set of expressions, in CurrentMemoryContext.  A Var with attribute attnos[c] is
 * column c of a batch.  attnos[ncolumns] stays the caller's and must outlive the set.
 */
extern HgArithmetic *hg_arithmetic_create(int ncolumns, const int *attnos);

/* Maps column c to column columns[c] of the batches to come.  The array stays the caller's. */
extern void hg_arithmetic_bind(HgArithmetic *arithmetic, const int *columns);

/* Adds an expression.  Returns its number, or -1 if it cannot be computed here. */
extern int hg_arithmetic_add(HgArithmetic *arithmetic, Expr *expr);

/* Returns the number of terms.  Each takes a fixed amount of memory from the first batch on. */
extern int hg_arithmetic_count(const HgArithmetic *arithmetic);

/* Returns true if an expression uses the column, and the column has numerics. */
extern bool hg_arithmetic_uses_numeric(const HgArithmetic *arithmetic, int column);

/* Begins a batch, which must stay unchanged until the next call. */
extern void hg_arithmetic_begin_batch(HgArithmetic *arithmetic, const HgBatch *batch);

/*
 * Returns the numbers of an expression for all rows of the batch, valid until the next batch.
 * Returns NULL if a row's number does not fit, whether or not PostgreSQL raises an error for it.
 * The caller then evaluates the expression row by row.
 */
extern const HgNumbers *hg_arithmetic_evaluate(HgArithmetic *arithmetic, int number);

#endif /* HG_ARITHMETIC_H */
