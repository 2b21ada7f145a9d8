/*-------------------------------------------------------------------------
 *
 * hg_page_quals.c
 *	  Compiles the qual of a table scan for an engine that takes rows out of the table's pages.
 *
 * Supported are comparisons of an integer column with a constant, tests of a column for NULL, and
 * boolean columns (engine/hg_pages.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/lsyscache.h"

#include "batch/hg_comparison.h"
#include "batch/hg_page_quals.h"
#include "batch/hg_value_order.h"

/* Operators by btree strategy. */
static const HgPageOperator hg_page_operators[] = {
	[BTLessStrategyNumber] = HG_PAGE_LESS,
	[BTLessEqualStrategyNumber] = HG_PAGE_LESS_EQUAL,
	[BTEqualStrategyNumber] = HG_PAGE_EQUAL,
	[BTGreaterEqualStrategyNumber] = HG_PAGE_GREATER_EQUAL,
	[BTGreaterStrategyNumber] = HG_PAGE_GREATER,
};

/* Returns true if an engine can read an attribute. */
static bool
hg_page_quals_reaches(TupleDesc desc, AttrNumber attno)
{
	return attno > 0 && attno <= desc->natts && attno <= HG_PAGES_MAX_ATTRIBUTES &&
		   !hg_attribute_is_virtual(TupleDescAttr(desc, attno - 1));
}

/* "column operator constant" */
static bool
hg_page_quals_compare(TupleDesc desc, const OpExpr *op, HgPageQual *qual)
{
	Node *column;
	Const *constant;
	Oid opno = op->opno;
	HgComparison comparison;

	if (list_length(op->args) != 2)
		return false;
	column = linitial(op->args);
	constant = lsecond(op->args);
	if (IsA(column, Const))
	{
		column = lsecond(op->args);
		constant = linitial(op->args);
		opno = get_commutator(opno);
	}
	if (!IsA(constant, Const) || constant->constisnull ||
		!hg_comparison_init(&comparison, column, constant->consttype, opno, op->inputcollid,
							false) ||
		!hg_page_quals_reaches(desc, comparison.attno))
		return false;
	if ((comparison.order != HG_ORDER_SIGNED && comparison.order != HG_ORDER_UNSIGNED) ||
		!hg_order_is_shared(comparison.type, constant->consttype))
		return false;
	if (comparison.negated && comparison.strategy != BTEqualStrategyNumber)
		return false;
	qual->attribute = (uint16) (comparison.attno - 1);
	qual->operation =
		comparison.negated ? HG_PAGE_NOT_EQUAL : (uint8) hg_page_operators[comparison.strategy];
	qual->is_signed = comparison.order == HG_ORDER_SIGNED;
	qual->constant = (uint64) hg_order_integer(comparison.order, get_typlen(constant->consttype),
											   constant->constvalue);
	return true;
}

/* "column IS NULL", or IS NOT NULL */
static bool
hg_page_quals_test(TupleDesc desc, const NullTest *test, HgPageQual *qual)
{
	const Var *var = (const Var *) test->arg;

	if (test->argisrow || !IsA(var, Var) || !hg_page_quals_reaches(desc, var->varattno))
		return false;
	qual->attribute = (uint16) (var->varattno - 1);
	qual->operation = test->nulltesttype == IS_NULL ? HG_PAGE_IS_NULL : HG_PAGE_IS_NOT_NULL;
	return true;
}

/* "column", or "NOT column" if holds is false */
static bool
hg_page_quals_boolean(TupleDesc desc, Node *column, bool holds, HgPageQual *qual)
{
	const Var *var = (const Var *) column;

	if (!IsA(var, Var) || var->vartype != BOOLOID || !hg_page_quals_reaches(desc, var->varattno))
		return false;
	qual->attribute = (uint16) (var->varattno - 1);
	qual->operation = HG_PAGE_EQUAL;
	qual->constant = holds ? 1 : 0;
	return true;
}

static bool
hg_page_quals_clause(TupleDesc desc, Node *clause, HgPageQual *qual)
{
	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return hg_page_quals_compare(desc, (OpExpr *) clause, qual);
		case T_NullTest:
			return hg_page_quals_test(desc, (NullTest *) clause, qual);
		case T_Var:
			return hg_page_quals_boolean(desc, clause, true, qual);
		case T_BoolExpr:
			return ((BoolExpr *) clause)->boolop == NOT_EXPR &&
				   hg_page_quals_boolean(desc, linitial(((BoolExpr *) clause)->args), false, qual);
		default:
			return false;
	}
}

bool
hg_page_quals_fill(TupleDesc desc, List *qual, HgPageSpec *spec)
{
	ListCell *lc;

	if (list_length(qual) > HG_PAGES_MAX_QUALS)
		return false;
	foreach (lc, qual)
		if (!hg_page_quals_clause(desc, lfirst(lc), &spec->quals[spec->nquals++]))
			return false;
	return true;
}
