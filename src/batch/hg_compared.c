/*-------------------------------------------------------------------------
 *
 * hg_compared.c
 *	  Expressions over columns of a table whose results a predicate compares.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "batch/hg_numeric.h"
#include "batch/hg_predicate.h"

/* Collects the expressions' distinct columns; false for none, or for system columns. */
static bool
hg_compared_columns(HgCompared *compared)
{
	List *vars = pull_var_clause((Node *) list_make2(compared->exprs[0], compared->exprs[1]), 0);
	Bitmapset *attnos = NULL;
	int attno = -1;
	ListCell *lc;

	foreach (lc, vars)
	{
		const Var *var = lfirst_node(Var, lc);

		if (var->varattno <= 0 || var->varlevelsup > 0)
			return false;
		attnos = bms_add_member(attnos, var->varattno);
	}
	if (attnos == NULL)
		return false;
	compared->attnos = palloc(bms_num_members(attnos) * sizeof(int));
	compared->columns = palloc0(bms_num_members(attnos) * sizeof(int));
	while ((attno = bms_next_member(attnos, attno)) >= 0)
		compared->attnos[compared->ncolumns++] = attno;
	return true;
}

HgCompared *
hg_compared_create(Node *expr, Node *other)
{
	HgCompared *compared = palloc0(sizeof(HgCompared));

	compared->exprs[0] = expr;
	compared->exprs[1] = other;
	for (int i = 0; i < 2 && compared->exprs[i] != NULL; i++)
		if (!hg_arithmetic_takes((const Expr *) compared->exprs[i]))
			return NULL;
	if (!hg_compared_columns(compared))
		return NULL;
	compared->arithmetic = hg_arithmetic_create(compared->ncolumns, compared->attnos);
	hg_arithmetic_bind(compared->arithmetic, compared->columns);
	for (int i = 0; i < 2 && compared->exprs[i] != NULL; i++)
	{
		compared->numbers[i] = hg_arithmetic_add(compared->arithmetic, (Expr *) compared->exprs[i]);
		if (compared->numbers[i] < 0)
			return NULL;
	}
	return hg_arithmetic_count(compared->arithmetic) <= HG_MAX_COMPARED_TERMS ? compared : NULL;
}

bool
hg_compared_equal(const HgCompared *a, const HgCompared *b)
{
	return equal(a->exprs[0], b->exprs[0]) && equal(a->exprs[1], b->exprs[1]);
}

const HgNumbers *
hg_compared_numbers(HgCompared *compared, const HgBatch *batch)
{
	hg_arithmetic_begin_batch(compared->arithmetic, batch);
	return hg_arithmetic_evaluate(compared->arithmetic, compared->numbers[0]);
}

/* Compares numbers of different scales. */
static void
hg_compared_orders_scaled(const HgNumbers *left, const HgNumbers *right, int n, int64 *orders)
{
	int128 left_factor = 1;
	int128 right_factor = 1;

	/* 64 bits times 10^HG_MOST_DECIMALS fit 128 */
	(void) hg_numeric_scale_up(&left_factor, Max(right->scale - left->scale, 0));
	(void) hg_numeric_scale_up(&right_factor, Max(left->scale - right->scale, 0));
	for (int i = 0; i < n; i++)
	{
		int128 a = left->values[i] * left_factor;
		int128 b = right->values[i] * right_factor;

		orders[i] = (a > b) - (a < b);
	}
}

bool
hg_compared_orders(HgCompared *compared, const HgBatch *batch, int64 *orders, bool *nulls)
{
	const HgNumbers *left;
	const HgNumbers *right;

	hg_arithmetic_begin_batch(compared->arithmetic, batch);
	left = hg_arithmetic_evaluate(compared->arithmetic, compared->numbers[0]);
	right = hg_arithmetic_evaluate(compared->arithmetic, compared->numbers[1]);
	if (left == NULL || right == NULL)
		return false;
	if (left->scale == right->scale)
		for (int i = 0; i < batch->nrows; i++)
			orders[i] = (left->values[i] > right->values[i]) - (left->values[i] < right->values[i]);
	else
		hg_compared_orders_scaled(left, right, batch->nrows, orders);
	memset(nulls, false, batch->nrows * sizeof(bool));
	for (int i = 0; left->nulls != NULL && i < batch->nrows; i++)
		nulls[i] |= left->nulls[i];
	for (int i = 0; right->nulls != NULL && i < batch->nrows; i++)
		nulls[i] |= right->nulls[i];
	return true;
}
