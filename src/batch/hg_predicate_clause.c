/*-------------------------------------------------------------------------
 *
 * hg_predicate_clause.c
 *	  Turns expressions of a table scan's qual into predicates.
 *
 * Supported are comparisons of columns and computed numbers with constants and with each other, =
 * ANY and similar over constant arrays, LIKE with no wildcard but %, tests for NULL and truth,
 * boolean columns, and AND, OR and NOT of these.
 *
 * Three-valued logic: callers ask for the rows for which an expression is TRUE, or for those for
 * which it is FALSE.  NOT swaps the two.  AND and OR ask the same of their arguments, and swap
 * their kind for FALSE.  Rows in neither set are NULL.  So NULLs matter for columns only.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "batch/hg_comparison.h"
#include "batch/hg_predicate.h"

static HgPredicate *
hg_predicate_from_operator(const OpExpr *op, bool holds)
{
	Node *left;
	Node *right;
	Oid opno = op->opno;
	HgComparison comparison;
	Const *constant;
	Oid type;

	if (list_length(op->args) != 2)
		return NULL;
	left = linitial(op->args);
	right = lsecond(op->args);
	if (IsA(left, Const))
	{
		Node *swap = left;

		left = right;
		right = swap;
		opno = get_commutator(opno);
	}
	if (!IsA(right, Const))
		return hg_comparison_predicate_column(linitial(op->args), right, op->opno, !holds);
	constant = (Const *) right;
	/* all supported operators are strict */
	if (hg_text_is_like(opno) || (OidIsValid(opno) && hg_text_is_like(get_negator(opno))))
		return constant->constisnull
				   ? hg_predicate_constant(false)
				   : hg_predicate_from_like(hg_comparison_column(left, &type), constant,
											op->inputcollid, hg_text_is_like(opno) != holds);
	if (!hg_comparison_init(&comparison, left, constant->consttype, opno, op->inputcollid, !holds))
		return NULL;
	if (constant->constisnull)
		return hg_comparison_null(&comparison);
	return hg_comparison_predicate(&comparison, 1, &constant->constvalue, false);
}

/* "column IS DISTINCT FROM constant". */
static HgPredicate *
hg_predicate_from_distinct(const DistinctExpr *distinct, bool holds)
{
	OpExpr equal = *distinct;
	HgPredicate *predicate;

	if (!IsA(lsecond(distinct->args), Const) || ((Const *) lsecond(distinct->args))->constisnull)
		return NULL;
	equal.xpr.type = T_OpExpr;
	predicate = hg_predicate_from_operator(&equal, true);
	return holds && predicate != NULL ? hg_predicate_not(predicate) : predicate;
}

/* "column operator ANY (array)", or ALL. */
static HgPredicate *
hg_predicate_from_array(const ScalarArrayOpExpr *op, bool holds)
{
	const Const *constant = lsecond(op->args);
	/* for FALSE, comparisons are negated, and ANY and ALL are swapped */
	bool all = op->useOr != holds;
	HgComparison comparison;
	ArrayType *array;
	int16 length;
	bool by_value;
	char align;
	Datum *values;
	bool *nulls;
	int nvalues;
	int n = 0;

	if (!IsA(constant, Const) ||
		!hg_comparison_init(&comparison, linitial(op->args), get_element_type(constant->consttype),
							op->opno, op->inputcollid, !holds))
		return NULL;
	if (constant->constisnull)
		return hg_comparison_null(&comparison);
	array = DatumGetArrayTypeP(constant->constvalue);
	if (ARR_ELEMTYPE(array) != comparison.other_type)
		return NULL;
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &values, &nulls,
					  &nvalues);
	for (int i = 0; i < nvalues; i++)
	{
		/* a comparison with NULL neither holds nor fails */
		if (nulls[i] && all)
			return hg_comparison_null(&comparison);
		if (!nulls[i])
			values[n++] = values[i];
	}
	/* with an empty array, the result does not depend on the left side */
	if (n == 0 && all)
		return comparison.compared != NULL ? NULL : hg_predicate_constant(true);
	if (n == 0)
		return hg_comparison_null(&comparison);
	return hg_comparison_predicate(&comparison, n, values, all);
}

/* Combines all clauses; NULL if one is not supported or they compute too much. */
static HgPredicate *
hg_predicate_from_list(List *clauses, HgPredicateKind kind, bool holds)
{
	HgPredicate **args = palloc(list_length(clauses) * sizeof(HgPredicate *));
	int nterms = 0;
	int n = 0;
	ListCell *lc;

	foreach (lc, clauses)
	{
		args[n] = hg_predicate_from_clause(lfirst(lc), holds);
		if (args[n] == NULL)
			return NULL;
		nterms += args[n++]->nterms;
		if (nterms > HG_MAX_COMPARED_TERMS)
			return NULL;
	}
	return hg_predicate_combine(kind, n, args);
}

static HgPredicate *
hg_predicate_from_bool(const BoolExpr *expr, bool holds)
{
	switch (expr->boolop)
	{
		case AND_EXPR:
			return hg_predicate_from_list(expr->args, holds ? HG_PREDICATE_AND : HG_PREDICATE_OR,
										  holds);
		case OR_EXPR:
			return hg_predicate_from_list(expr->args, holds ? HG_PREDICATE_OR : HG_PREDICATE_AND,
										  holds);
		default:
			return hg_predicate_from_clause(linitial(expr->args), !holds);
	}
}

/* Returns true if an expression contains a test for NULL of a boolean expression. */
static bool
hg_clause_asks_unknown(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, BooleanTest) && (((BooleanTest *) node)->booltesttype == IS_UNKNOWN ||
								   ((BooleanTest *) node)->booltesttype == IS_NOT_UNKNOWN))
		return true;
	if (IsA(node, NullTest) && exprType((Node *) ((NullTest *) node)->arg) == BOOLOID &&
		!IsA(((NullTest *) node)->arg, Var))
		return true;
	return expression_tree_walker(node, hg_clause_asks_unknown, context);
}

/*
 * Returns the rows for which a boolean expression is NULL, or is not.  That takes two predicates
 * of the expression.  Nested tests would double them each time, and are not supported.
 */
static HgPredicate *
hg_predicate_from_unknown(Node *arg, bool unknown)
{
	HgPredicate *either[2];
	HgPredicate *known;

	if (hg_clause_asks_unknown(arg, NULL))
		return NULL;
	either[0] = hg_predicate_from_clause(arg, true);
	either[1] = hg_predicate_from_clause(arg, false);
	if (either[0] == NULL || either[1] == NULL)
		return NULL;
	known = hg_predicate_combine(HG_PREDICATE_OR, 2, either);
	return unknown ? hg_predicate_not(known) : known;
}

static HgPredicate *
hg_predicate_from_null_test(const NullTest *test, bool holds)
{
	bool is_null = (test->nulltesttype == IS_NULL) == holds;
	Node *arg = (Node *) test->arg;

	if (test->argisrow)
		return NULL;
	while (IsA(arg, RelabelType))
		arg = (Node *) ((RelabelType *) arg)->arg;
	if (IsA(arg, Var))
		return ((Var *) arg)->varattno > 0 ? hg_predicate_null(((Var *) arg)->varattno, is_null)
										   : NULL;
	return exprType(arg) == BOOLOID ? hg_predicate_from_unknown(arg, is_null) : NULL;
}

static HgPredicate *
hg_predicate_from_boolean_test(const BooleanTest *test, bool holds)
{
	Node *arg = (Node *) test->arg;
	bool negated = !holds;
	HgPredicate *predicate;

	switch (test->booltesttype)
	{
		case IS_UNKNOWN:
		case IS_NOT_UNKNOWN:
			return hg_predicate_from_unknown(arg, (test->booltesttype == IS_UNKNOWN) == holds);
		case IS_NOT_TRUE:
			negated = !negated;
			pg_fallthrough;
		case IS_TRUE:
			predicate = hg_predicate_from_clause(arg, true);
			break;
		case IS_NOT_FALSE:
			negated = !negated;
			pg_fallthrough;
		default:
			predicate = hg_predicate_from_clause(arg, false);
			break;
	}
	return negated && predicate != NULL ? hg_predicate_not(predicate) : predicate;
}

HgPredicate *
hg_predicate_from_clause(Node *clause, bool holds)
{
	Oid type;
	AttrNumber attno;

	check_stack_depth();
	switch (nodeTag(clause))
	{
		case T_Const:
			return hg_predicate_constant(!((Const *) clause)->constisnull &&
										 DatumGetBool(((Const *) clause)->constvalue) == holds);
		case T_Var:
			attno = hg_comparison_column(clause, &type);
			if (attno == 0 || type != BOOLOID)
				return NULL;
			return hg_predicate_integer(attno, HG_ORDER_SIGNED, hg_intervals_between(holds, holds));
		case T_OpExpr:
			return hg_predicate_from_operator((OpExpr *) clause, holds);
		case T_DistinctExpr:
			return hg_predicate_from_distinct((DistinctExpr *) clause, holds);
		case T_ScalarArrayOpExpr:
			return hg_predicate_from_array((ScalarArrayOpExpr *) clause, holds);
		case T_BoolExpr:
			return hg_predicate_from_bool((BoolExpr *) clause, holds);
		case T_NullTest:
			return hg_predicate_from_null_test((NullTest *) clause, holds);
		case T_BooleanTest:
			return hg_predicate_from_boolean_test((BooleanTest *) clause, holds);
		default:
			return NULL;
	}
}
