/*-------------------------------------------------------------------------
 *
 * hg_arithmetic.h
 *	  Arithmetic over the columns of a batch, column by column, here or by a device.
 *
 * A caller creates a set, adds expressions, and then for each batch calls
 * hg_arithmetic_begin_batch() and hg_arithmetic_evaluate().  For a device, it compiles an
 * expression with hg_arithmetic_program() instead.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ARITHMETIC_H
#define HG_ARITHMETIC_H

#include "hg_compat.h"

#include "nodes/primnodes.h"

#include "batch/hg_batch.h"
#include "engine/hg_computed.h"

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

/* Adds an expression, without a copy.  Returns its number, or -1 if it cannot be computed here. */
extern int hg_arithmetic_add(HgArithmetic *arithmetic, Expr *expr);

/*
 * Returns the number of terms, which are the distinct subexpressions.  Each takes a fixed amount of
 * memory from the first batch on.
 */
extern int hg_arithmetic_count(const HgArithmetic *arithmetic);

/* Returns true if an expression uses the set's column, and that has numerics. */
extern bool hg_arithmetic_uses_numeric(const HgArithmetic *arithmetic, int column);

/* Begins a batch, which must stay unchanged until the next call. */
extern void hg_arithmetic_begin_batch(HgArithmetic *arithmetic, const HgBatch *batch);

/*
 * Returns the numbers of an expression for all rows of the batch, valid until the next batch.
 * Returns NULL if it cannot compute all rows: a number does not fit its type or 64 bits (even the
 * undefined one of a row with NULL), has more than HG_MOST_DECIMALS decimals, or a column's
 * numerics differ in scale or cannot be decoded (hg_numeric_decode_column()). PostgreSQL need not
 * raise an error for such a row. The caller then evaluates the expression row by row.
 */
extern const HgNumbers *hg_arithmetic_evaluate(HgArithmetic *arithmetic, int number);

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

/*
 * hg_arithmetic_program.c: compiles expressions over the columns of a batch into programs for a
 * device that has the columns
 */

/* A column on a device, as an operand of a program. */
typedef struct HgOperand
{
	uint32 column; /* column index in the device's side */
	int scale;	   /* display scale of scaled integers; -1 if the column has none */
} HgOperand;

/* Returns the set of columns, as indexes in attnos, that an expression uses; a new Bitmapset. */
extern Bitmapset *hg_arithmetic_columns(const HgArithmetic *arithmetic, int number);

/*
 * Compiles an expression into a program.  operands[column] describes each column that it uses.
 * *scale is the display scale of the result, or -1 for integers.  Returns false if the expression
 * has no program.
 */
extern bool hg_arithmetic_program(const HgArithmetic *arithmetic, int number,
								  const HgOperand *operands, HgProgram *program, int *scale);

/* Appends steps that multiply the program's result by 10^decimals; false if there is no room. */
extern bool hg_arithmetic_scale_up(HgProgram *program, int decimals);

#endif /* HG_ARITHMETIC_H */
