/*-------------------------------------------------------------------------
 *
 * hg_arithmetic.c
 *	  Arithmetic over the columns of a batch, column by column: arguments of aggregates, and what
 *	  conditions compare.
 *
 * What is computed: +, -, * and unary minus of int2, int4, int8 and numeric, casts between them
 * that do not round, % of integers by a constant other than 0, constants and columns.  An
 * expression is a tree of TERMS, each of which has a number for each row of the batch, as 64 bits:
 * an integer, or a numeric as a scaled integer, all of them with the same display scale.  So one
 * loop over two arrays is all that an operator takes, and expressions that have parts in common
 * have the terms of these in common.
 *
 * Results are PostgreSQL's to the digit, or there are none.  The display scale of a sum or
 * difference is the greater one of its operands', that of a product their sum, and numbers are
 * exact, as in numeric.c.  Whatever does not fit makes the term, and all that are made of it,
 * FAIL for the batch: values with different display scales, a numeric of too many digits, NaN or
 * infinite; an integer out of its type's range, 64 bits that overflow.  The caller then evaluates
 * the expression row by row as PostgreSQL does, which raises the errors that it raises, for the
 * rows that it raises them for.  So it does not matter that all rows of a batch are computed, those
 * too that a filter leaves out.
 *
 * All operators are strict: NULL where an operand is.  A column's number is 0 there, so that what
 * is made of it fits as others do.
 *
 * Privileges on functions are checked by ExecInitExpr(), which the caller needs anyway.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "batch/hg_numeric.h"
#include "batch/hg_values.h"
#include "batch/hg_arithmetic_term.h"

StaticAssertDecl(sizeof(Datum) == sizeof(int64), "columns of int64 are arrays of Datums");

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

HgArithmetic *
hg_arithmetic_create(int ncolumns, const int *attnos)
{
	HgArithmetic *arithmetic = palloc0(sizeof(HgArithmetic));

	arithmetic->ncolumns = ncolumns;
	arithmetic->attnos = attnos;
	return arithmetic;
}

void
hg_arithmetic_bind(HgArithmetic *arithmetic, const int *columns)
{
	arithmetic->columns = columns;
}

int
hg_arithmetic_count(const HgArithmetic *arithmetic)
{
	return list_length(arithmetic->terms);
}

/* The width of an integer type, 0 for numeric, -1 for any other. */
static int
hg_number_width(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
			return sizeof(int16);
		case INT4OID:
			return sizeof(int32);
		case INT8OID:
			return sizeof(int64);
		case NUMERICOID:
			return 0;
		default:
			return -1;
	}
}

/* What a function does; false where it is none of those that are computed here. */
static bool
hg_term_kind(Oid function, HgTermKind *kind)
{
	switch (function)
	{
		case F_INT2PL:
		case F_INT4PL:
		case F_INT8PL:
		case F_INT24PL:
		case F_INT42PL:
		case F_INT28PL:
		case F_INT82PL:
		case F_INT48PL:
		case F_INT84PL:
		case F_NUMERIC_ADD:
			*kind = HG_TERM_ADD;
			return true;
		case F_INT2MI:
		case F_INT4MI:
		case F_INT8MI:
		case F_INT24MI:
		case F_INT42MI:
		case F_INT28MI:
		case F_INT82MI:
		case F_INT48MI:
		case F_INT84MI:
		case F_NUMERIC_SUB:
			*kind = HG_TERM_SUBTRACT;
			return true;
		case F_INT2MUL:
		case F_INT4MUL:
		case F_INT8MUL:
		case F_INT24MUL:
		case F_INT42MUL:
		case F_INT28MUL:
		case F_INT82MUL:
		case F_INT48MUL:
		case F_INT84MUL:
		case F_NUMERIC_MUL:
			*kind = HG_TERM_MULTIPLY;
			return true;
		case F_INT2MOD:
		case F_INT4MOD:
		case F_INT8MOD:
			*kind = HG_TERM_MODULO;
			return true;
		case F_INT2UM:
		case F_INT4UM:
		case F_INT8UM:
		case F_NUMERIC_UMINUS:
			*kind = HG_TERM_NEGATE;
			return true;
		case F_INT2_INT4:
		case F_INT2_INT8:
		case F_INT4_INT2:
		case F_INT4_INT8:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			*kind = HG_TERM_CAST;
			return true;
		default:
			return false;
	}
}

/* What an integer is divided by, 1 where that is NULL; 0: it is none to divide by. */
static int64
hg_term_divisor(const Expr *expr)
{
	const Const *constant = (const Const *) expr;

	if (!IsA(constant, Const))
		return 0;
	return constant->constisnull ? 1 : hg_value_integer(constant->constlen, constant->constvalue);
}

/* Can a kind of term be made of these arguments, as far as they matter for it? */
static bool
hg_term_takes(HgTermKind kind, List *arguments)
{
	return kind != HG_TERM_MODULO || hg_term_divisor(lsecond(arguments)) != 0;
}

bool
hg_arithmetic_takes(const Expr *expr)
{
	List *arguments;
	HgTermKind kind;
	Oid function;
	ListCell *lc;

	check_stack_depth();
	if (hg_number_width(exprType((const Node *) expr)) < 0)
		return false;
	switch (nodeTag(expr))
	{
		case T_Var:
		case T_Const:
			return true;
		case T_RelabelType:
			return hg_arithmetic_takes(((const RelabelType *) expr)->arg);
		case T_OpExpr:
			function = ((const OpExpr *) expr)->opfuncid;
			arguments = ((const OpExpr *) expr)->args;
			break;
		case T_FuncExpr:
			function = ((const FuncExpr *) expr)->funcid;
			arguments = ((const FuncExpr *) expr)->args;
			break;
		default:
			return false;
	}
	if (!hg_term_kind(function, &kind) || !hg_term_takes(kind, arguments))
		return false;
	foreach (lc, arguments)
		if (!hg_arithmetic_takes(lfirst(lc)))
			return false;
	return true;
}

/* The number of a constant, or NULL; false where it does not fit. */
static bool
hg_term_begin_constant(HgTerm *term, const Const *constant)
{
	int128 scaled = 0;

	term->kind = HG_TERM_CONSTANT;
	term->constant_null = constant->constisnull;
	if (constant->constisnull)
		return true;
	if (term->width > 0)
		scaled = hg_value_integer(term->width, constant->constvalue);
	else if (!hg_numeric_decode(constant->constvalue, &scaled, &term->numbers.scale) ||
			 scaled < PG_INT64_MIN || scaled > PG_INT64_MAX)
		return false;
	term->constant = (int64) scaled;
	return true;
}

/* The column of a Var. */
static bool
hg_term_begin_column(HgTerm *term, const HgArithmetic *arithmetic, const Var *var)
{
	term->kind = HG_TERM_COLUMN;
	for (int c = 0; c < arithmetic->ncolumns; c++)
		if (arithmetic->attnos[c] == var->varattno)
		{
			term->column = c;
			return true;
		}
	return false;
}

/* What a function makes of its arguments, which are terms too. */
static bool
hg_term_begin_function(HgTerm *term, HgArithmetic *arithmetic, Oid function, List *arguments)
{
	ListCell *lc;

	if (!hg_term_kind(function, &term->kind) || !hg_term_takes(term->kind, arguments))
		return false;
	Assert(list_length(arguments) <= 2);
	if (term->kind == HG_TERM_MODULO)
		term->constant = hg_term_divisor(lsecond(arguments));
	foreach (lc, arguments)
	{
		int operand = hg_arithmetic_add(arithmetic, lfirst(lc));

		if (operand < 0)
			return false;
		term->operands[foreach_current_index(lc)] = operand;
	}
	return true;
}

static HgTerm *
hg_term_create(const Expr *expr, int width)
{
	HgTerm *term = palloc0(sizeof(HgTerm));

	term->expr = expr;
	term->width = width;
	term->operands[0] = term->operands[1] = -1;
	return term;
}

int
hg_arithmetic_add(HgArithmetic *arithmetic, Expr *expr)
{
	HgTerm *term;
	ListCell *lc;
	bool known;
	int before = list_length(arithmetic->terms);
	int width;

	check_stack_depth();
	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	width = hg_number_width(exprType((Node *) expr));
	if (width < 0)
		return -1;
	foreach (lc, arithmetic->terms)
		if (equal(((HgTerm *) lfirst(lc))->expr, expr))
			return foreach_current_index(lc);

	term = hg_term_create(expr, width);
	switch (nodeTag(expr))
	{
		case T_Var:
			known = hg_term_begin_column(term, arithmetic, (const Var *) expr);
			break;
		case T_Const:
			known = hg_term_begin_constant(term, (const Const *) expr);
			break;
		case T_OpExpr:
			known = hg_term_begin_function(term, arithmetic, ((OpExpr *) expr)->opfuncid,
										   ((OpExpr *) expr)->args);
			break;
		case T_FuncExpr:
			known = hg_term_begin_function(term, arithmetic, ((FuncExpr *) expr)->funcid,
										   ((FuncExpr *) expr)->args);
			break;
		default:
			known = false;
			break;
	}
	if (!known)
	{
		/* its parts are nobody's */
		arithmetic->terms = list_truncate(arithmetic->terms, before);
		return -1;
	}
	arithmetic->terms = lappend(arithmetic->terms, term);
	return list_length(arithmetic->terms) - 1;
}

bool
hg_arithmetic_uses_numeric(const HgArithmetic *arithmetic, int column)
{
	ListCell *lc;

	foreach (lc, arithmetic->terms)
	{
		const HgTerm *term = lfirst(lc);

		if (term->kind == HG_TERM_COLUMN && term->column == column && term->width == 0)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------
 * Terms of a batch
 *
 * Each returns false where the term fails.
 * ---------------------------------------------------------------------
 */

/* Have room for a term's numbers, in which those of a constant are already. */
static void
hg_term_prepare(HgArithmetic *arithmetic, HgTerm *term)
{
	MemoryContext context = GetMemoryChunkContext(arithmetic);

	if (term->values != NULL)
		return;
	term->scaled = MemoryContextAlloc(context, HG_BATCH_ROWS * sizeof(int64));
	term->nulls = MemoryContextAlloc(context, HG_BATCH_ROWS * sizeof(bool));
	term->values = MemoryContextAlloc(context, HG_BATCH_ROWS * sizeof(int64));
	term->numbers.values = term->values;
	if (term->kind == HG_TERM_CONSTANT)
	{
		for (int i = 0; i < HG_BATCH_ROWS; i++)
			term->values[i] = term->constant;
		memset(term->nulls, term->constant_null, HG_BATCH_ROWS * sizeof(bool));
		term->numbers.nulls = term->constant_null ? term->nulls : NULL;
	}
}

/* The numbers of a column of a batch. */
static bool
hg_term_load_column(HgTerm *term, const HgBatch *batch, int column)
{
	const Datum *values = batch->values[column];
	const bool *nulls = batch->has_nulls[column] ? batch->nulls[column] : NULL;

	term->numbers.nulls = nulls;
	term->numbers.values = term->values;
	if (term->width == 0 && batch->scales[column] < 0)
		return hg_numeric_decode_column(values, nulls, batch->nrows, term->values,
										&term->numbers.scale);
	if (term->width == 0)
		term->numbers.scale = batch->scales[column];
	if (term->width == 0 && nulls == NULL)
		term->numbers.values = (const int64 *) values;
	else
		hg_values_integers(term->width > 0 ? term->width : sizeof(int64), values, batch->nrows,
						   term->values);
	for (int i = 0; nulls != NULL && i < batch->nrows; i++)
		if (nulls[i])
			term->values[i] = 0;
	return true;
}

/* Do all of these fit an integer type?  Those of rows with NULL may not, and make it fail too. */
static bool
hg_term_fits(int width, const int64 *values, int n)
{
	bool fit = true;

	if (width == sizeof(int16))
		for (int i = 0; i < n; i++)
			fit &= values[i] == (int16) values[i];
	else if (width == sizeof(int32))
		for (int i = 0; i < n; i++)
			fit &= values[i] == (int32) values[i];
	return fit;
}

/* Returns the numbers of a term scaled by so many more decimals; NULL: they don't fit. */
static const int64 *
hg_term_scale_up(HgTerm *term, const int64 *values, int n, int decimals)
{
	int128 factor = 1;
	bool overflow = false;

	if (decimals == 0)
		return values;
	if (decimals > HG_MOST_DECIMALS || !hg_numeric_scale_up(&factor, decimals))
		return NULL;
	for (int i = 0; i < n; i++)
		overflow |= __builtin_mul_overflow(values[i], (int64) factor, &term->scaled[i]);
	return overflow ? NULL : term->scaled;
}

/* NULL where either operand is. */
static void
hg_term_merge_nulls(HgTerm *term, const bool *left, const bool *right, int n)
{
	if (left == NULL || right == NULL || left == right)
	{
		term->numbers.nulls = left != NULL ? left : right;
		return;
	}
	for (int i = 0; i < n; i++)
		term->nulls[i] = left[i] | right[i];
	term->numbers.nulls = term->nulls;
}

/* The remainders of integers, with their signs. */
static void
hg_term_divide(const HgTerm *term, const int64 *values, int n)
{
	const int64 divisor = term->constant;

	/* the least integer by -1 is none that processors divide */
	if (divisor == -1)
		memset(term->values, 0, n * sizeof(int64));
	else if (term->width <= (int) sizeof(int32))
		for (int i = 0; i < n; i++)
			term->values[i] = (int32) values[i] % (int32) divisor;
	else
		for (int i = 0; i < n; i++)
			term->values[i] = values[i] % divisor;
}

/* What a term makes of its one operand. */
static bool
hg_term_compute_unary(HgTerm *term, const HgNumbers *operand, int n)
{
	bool overflow = false;

	term->numbers = *operand;
	if (term->kind == HG_TERM_NEGATE)
	{
		for (int i = 0; i < n; i++)
			overflow |= __builtin_sub_overflow((int64) 0, operand->values[i], &term->values[i]);
		term->numbers.values = term->values;
	}
	return !overflow && (term->width == 0 || hg_term_fits(term->width, term->numbers.values, n));
}

/* ... and of its two. */
static bool
hg_term_compute_binary(HgTerm *term, const HgNumbers *left, const HgNumbers *right, int n)
{
	const int64 *a = left->values;
	const int64 *b = right->values;
	int64 *result = term->values;
	bool overflow = false;

	hg_term_merge_nulls(term, left->nulls, right->nulls, n);
	if (term->kind == HG_TERM_MODULO)
		hg_term_divide(term, a, n);
	else if (term->kind == HG_TERM_MULTIPLY)
	{
		term->numbers.scale = left->scale + right->scale;
		for (int i = 0; i < n; i++)
			overflow |= __builtin_mul_overflow(a[i], b[i], &result[i]);
	}
	else
	{
		term->numbers.scale = Max(left->scale, right->scale);
		a = hg_term_scale_up(term, a, n, term->numbers.scale - left->scale);
		b = hg_term_scale_up(term, b, n, term->numbers.scale - right->scale);
		if (a == NULL || b == NULL)
			return false;
		if (term->kind == HG_TERM_ADD)
			for (int i = 0; i < n; i++)
				overflow |= __builtin_add_overflow(a[i], b[i], &result[i]);
		else
			for (int i = 0; i < n; i++)
				overflow |= __builtin_sub_overflow(a[i], b[i], &result[i]);
	}
	return !overflow && term->numbers.scale <= HG_MOST_DECIMALS &&
		   (term->width == 0 || hg_term_fits(term->width, result, n));
}

static bool
hg_term_compute(HgArithmetic *arithmetic, HgTerm *term)
{
	const HgNumbers *left;
	const HgNumbers *right;

	hg_term_prepare(arithmetic, term);
	if (term->kind == HG_TERM_COLUMN)
		return hg_term_load_column(term, arithmetic->batch,
								   arithmetic->columns != NULL ? arithmetic->columns[term->column]
															   : term->column);
	if (term->kind == HG_TERM_CONSTANT)
		return true;
	left = hg_arithmetic_evaluate(arithmetic, term->operands[0]);
	if (left == NULL || term->operands[1] < 0)
		return left != NULL && hg_term_compute_unary(term, left, arithmetic->batch->nrows);
	right = hg_arithmetic_evaluate(arithmetic, term->operands[1]);
	return right != NULL && hg_term_compute_binary(term, left, right, arithmetic->batch->nrows);
}

void
hg_arithmetic_begin_batch(HgArithmetic *arithmetic, const HgBatch *batch)
{
	ListCell *lc;

	arithmetic->batch = batch;
	foreach (lc, arithmetic->terms)
		((HgTerm *) lfirst(lc))->progress = HG_TERM_OPEN;
}

const HgNumbers *
hg_arithmetic_evaluate(HgArithmetic *arithmetic, int number)
{
	HgTerm *term = hg_arithmetic_term(arithmetic, number);

	if (term->progress == HG_TERM_OPEN)
		term->progress = hg_term_compute(arithmetic, term) ? HG_TERM_DONE : HG_TERM_FAILED;
	return term->progress == HG_TERM_DONE ? &term->numbers : NULL;
}
