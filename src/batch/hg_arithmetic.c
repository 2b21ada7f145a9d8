/*-------------------------------------------------------------------------
 *
 * hg_arithmetic.c
 *	  Arithmetic over the columns of a batch, column by column: arguments of aggregates, and
 *	  expressions that conditions compare.
 *
 * It computes +, -, * and unary minus of int2, int4, int8 and numeric, casts between them that do
 * not round, and % of integers by a constant other than 0, over constants and columns.  An
 * expression is a tree of terms.  A term has one 64-bit number for each row of the batch: an
 * integer, or a numeric as a scaled integer, with one display scale for all rows.  So an operator
 * is one loop over two arrays.  Common subexpressions share a term.
 *
 * Results are either PostgreSQL's to the digit, or missing.  The display scale of a sum or
 * difference is the greater of its operands', that of a product is their sum, and numbers are
 * exact, as in numeric.c.  If a number does not fit, the term and all terms that use it fail for
 * the batch.  That is so for values with different display scales; for a numeric that has too many
 * digits, or is NaN or infinite; for an integer out of its type's range; and for an overflow of 64
 * bits.  The caller then evaluates the expression row by row, and PostgreSQL raises its own errors
 * for the right rows.  So rows of the batch that a filter removes may be computed too.
 *
 * All operators are strict: NULL if an operand is NULL.  A column's number is then 0, so that
 * results of it fit.
 *
 * ExecInitExpr(), which the caller needs anyway, checks privileges on functions.
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
#include "batch/hg_arithmetic.h"

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

/* Returns the width of an integer type, 0 for numeric, -1 for any other type. */
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

/* Finds the kind of a function; false if it is not computed here. */
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

/* Returns the divisor that a constant is, 1 if that is NULL; 0 if division is not supported. */
static int64
hg_term_divisor(const Expr *expr)
{
	const Const *constant = (const Const *) expr;

	if (!IsA(constant, Const))
		return 0;
	return constant->constisnull ? 1 : hg_value_integer(constant->constlen, constant->constvalue);
}

/* Returns true if a term of this kind can have the arguments. */
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

/* Makes the term a constant; false if it does not fit. */
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

/* Makes the term a column; false if the Var is none of them. */
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

/* Makes the term a function of its arguments' terms; false if that is not supported. */
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
		/* no term uses its parts */
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
 * Terms of a batch. Each function returns false if the term fails.
 * ---------------------------------------------------------------------
 */

/* Allocates a term's numbers, and sets those of a constant. */
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

/* Loads the numbers of a column of the batch. */
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

/* Returns true if all numbers fit an integer type.  A row with NULL may not fit either. */
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

/* Returns a term's operand times 10^decimals, or NULL on overflow. */
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

/* Sets NULL where either operand is NULL. */
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

/* Computes remainders of integers, with the dividend's sign. */
static void
hg_term_divide(const HgTerm *term, const int64 *values, int n)
{
	const int64 divisor = term->constant;

	/* processors trap on the least integer divided by -1 */
	if (divisor == -1)
		memset(term->values, 0, n * sizeof(int64));
	else if (term->width <= (int) sizeof(int32))
		for (int i = 0; i < n; i++)
			term->values[i] = (int32) values[i] % (int32) divisor;
	else
		for (int i = 0; i < n; i++)
			term->values[i] = values[i] % divisor;
}

/* Computes a term of one operand. */
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

/* Computes a term of two operands. */
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
