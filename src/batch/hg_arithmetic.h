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

/* A number of each row of a batch. */
typedef struct HgNumbers
{
	const int64 *values; /* [rows] integers; or numerics scaled by 10^scale; of no NULL */
	const bool *nulls;	 /* [rows], or NULL: none is NULL */
	int scale;			 /* the display scale of numerics; 0 for integers */
} HgNumbers;

/* Expressions over the columns of batches, each part of them that they share once. */
typedef struct HgArithmetic HgArithmetic;

/* Is an expression one that is made of columns by what is computed here? */
extern bool hg_arithmetic_takes(const Expr *expr);

/*
 * None so far, in CurrentMemoryContext.  A Var with attribute attnos[c] is column c of a batch, of
 * ncolumns.
 */
extern HgArithmetic *hg_arithmetic_create(int ncolumns, const int *attnos);

/* Have column c be columns[c] of the batches to come, which stays where it is. */
extern void hg_arithmetic_bind(HgArithmetic *arithmetic, const int *columns);

/* Add an expression; returns its number, or -1 where it is none that can be computed so. */
extern int hg_arithmetic_add(HgArithmetic *arithmetic, Expr *expr);

/* The terms of all expressions: each takes so many bytes once there is a batch. */
extern int hg_arithmetic_count(const HgArithmetic *arithmetic);

/* Is a column of numerics one that expressions are made of? */
extern bool hg_arithmetic_uses_numeric(const HgArithmetic *arithmetic, int column);

/* Go on to the rows of another batch, which stays as it is until the next one. */
extern void hg_arithmetic_begin_batch(HgArithmetic *arithmetic, const HgBatch *batch);

/*
 * The numbers of an expression for all rows of the batch, until the next one.  NULL where some of
 * them don't fit, for an error or not: then the expression is to be evaluated row by row.
 */
extern const HgNumbers *hg_arithmetic_evaluate(HgArithmetic *arithmetic, int number);

#endif /* HG_ARITHMETIC_H */
