/*-------------------------------------------------------------------------
 *
 * hg_estimates.c
 *	  Corrects PostgreSQL's estimates of the rows that joins return and of the groups of these rows,
 *	  where its statistics show that its assumptions are wrong.
 *
 * PostgreSQL assumes that a filter of one table chooses keys at random. A filter on the years of a
 * calendar does not: it chooses a range of days, and all rows of a table of sales may be in a few
 * such ranges. Both columns of the calendar, the filtered one and the key, are stored in order,
 * which their statistics say as "correlation". So the filter chooses a range of rows, these have
 * a range of keys, and the histogram of the other table's column says how many of its rows have
 * such keys. The selectivity of the clause "sale.day = calendar.day" is this share of rows over the
 * number of keys in the range.
 *
 * PostgreSQL also assumes that the columns of a join are independent, and multiplies the
 * selectivities of their clauses. The columns of a key are not independent: if they are unique
 * together in one relation, and fewer of them are not, all clauses together choose at most one of
 * its rows. This file expects one, as PostgreSQL does if the columns of the other relation are a
 * foreign key.
 *
 * Estimates of rows are only raised: of the two mistakes, a join that returns more rows than
 * expected costs more. The planner keeps the selectivity of a clause in its RestrictInfo, and asks
 * for it again for each join of these tables. This file asks first, before there is any path of a
 * join, and replaces it.
 *
 * For groups, PostgreSQL looks at the grouped columns alone. But rows that are joined with a unique
 * column of a table have no more values of this table's columns than the other table has keys. And
 * if the rows have a range of keys, a grouped column that is stored in order has only the values of
 * this range: the years with sales, instead of all years of the calendar. Estimates of groups are
 * only lowered, and only in paths of our own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <float.h>
#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planmain.h"
#include "optimizer/tlist.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "hg_guc.h"
#include "planner/hg_paths.h"

/* A column with at least this correlation, in absolute value, is stored in order. */
#define HG_ORDERED_CORRELATION 0.99

/* Estimates that are less than this many times wrong are left as they are. */
#define HG_LEAST_CHANGE 2.0

/* The longest list of an IN whose least and greatest values are looked for. */
#define HG_RANGE_VALUES 8

/* A range of a table's rows in the order of a column, as shares of the table from 0 to 1. */
typedef struct HgRowRange
{
	double low;
	double high;
} HgRowRange;

/* ---------------------------------------------------------------------
 * The rows that a filter chooses
 * ---------------------------------------------------------------------
 */

/* Returns the share of a column's values that are NULL. */
static double
hg_column_nulls(const VariableStatData *column)
{
	return HeapTupleIsValid(column->statsTuple)
			   ? ((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac
			   : 0;
}

/*
 * Returns the correlation of a column's values with their positions in the table; 0: unknown.  That
 * of a column with NULLs is not used, as it leaves their positions out.
 */
static double
hg_column_correlation(const VariableStatData *column)
{
	AttStatsSlot slot;
	double correlation = 0;

	if (HeapTupleIsValid(column->statsTuple) && hg_column_nulls(column) == 0 &&
		get_attstatsslot(&slot, column->statsTuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers == 1)
			correlation = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	return correlation;
}

/* Returns the selectivity of "var operator value" for an operator of btree's strategy. */
static double
hg_column_selectivity(PlannerInfo *root, Var *var, Oid type, Datum value, StrategyNumber strategy)
{
	TypeCacheEntry *cache = lookup_type_cache(var->vartype, TYPECACHE_BTREE_OPFAMILY);
	Oid opno = get_opfamily_member(cache->btree_opf, cache->btree_opintype, type, strategy);
	int16 length;
	bool by_value;
	Const *constant;

	if (!OidIsValid(opno))
		return -1;
	get_typlenbyval(type, &length, &by_value);
	constant = makeConst(type, -1, var->varcollid, length, value, false, by_value);
	return restriction_selectivity(root, opno, list_make2(var, constant), var->varcollid,
								   (int) var->varno);
}

/* Narrows a range to that of the rows with "var = value". */
static bool
hg_range_of_value(PlannerInfo *root, Var *var, Oid type, Datum value, HgRowRange *range)
{
	double below = hg_column_selectivity(root, var, type, value, BTLessStrategyNumber);
	double equal = hg_column_selectivity(root, var, type, value, BTEqualStrategyNumber);

	if (below < 0 || equal < 0)
		return false;
	*range = (HgRowRange){below, Min(below + equal, 1)};
	return true;
}

/* The same for "var = ANY (list)": the range has all its values. */
static bool
hg_range_of_list(PlannerInfo *root, Var *var, const Const *list, HgRowRange *range)
{
	ArrayType *array = DatumGetArrayTypeP(list->constvalue);
	const Oid type = ARR_ELEMTYPE(array);
	int16 length;
	bool by_value;
	char align;
	Datum *values;
	bool *nulls;
	int nvalues;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array, type, length, by_value, align, &values, &nulls, &nvalues);
	if (nvalues == 0 || nvalues > HG_RANGE_VALUES)
		return false;
	*range = (HgRowRange){1, 0};
	for (int i = 0; i < nvalues; i++)
	{
		HgRowRange one;

		if (nulls[i])
			continue;
		if (!hg_range_of_value(root, var, type, values[i], &one))
			return false;
		range->low = Min(range->low, one.low);
		range->high = Max(range->high, one.high);
	}
	return range->low < range->high;
}

/*
 * Sets the range of rows that a clause chooses in the order of a column of the relation, and that
 * column.  Returns false if the clause compares no column with a constant by its order.
 */
static bool
hg_range_of_clause(PlannerInfo *root, RestrictInfo *rinfo, VariableStatData *column,
				   HgRowRange *range)
{
	const bool is_list = IsA(rinfo->clause, ScalarArrayOpExpr);
	Oid opno;
	List *args;
	Node *other;
	bool on_left;
	bool found = false;

	if (is_list && ((ScalarArrayOpExpr *) rinfo->clause)->useOr)
	{
		opno = ((ScalarArrayOpExpr *) rinfo->clause)->opno;
		args = ((ScalarArrayOpExpr *) rinfo->clause)->args;
	}
	else if (is_opclause(rinfo->clause) && list_length(((OpExpr *) rinfo->clause)->args) == 2)
	{
		opno = ((OpExpr *) rinfo->clause)->opno;
		args = ((OpExpr *) rinfo->clause)->args;
	}
	else
		return false;
	if (!get_restriction_variable(root, args, 0, column, &other, &on_left))
		return false;
	if (IsA(column->var, Var) && IsA(other, Const) && !((Const *) other)->constisnull &&
		(on_left || OidIsValid(opno = get_commutator(opno))))
	{
		Var *var = (Var *) column->var;
		TypeCacheEntry *cache = lookup_type_cache(var->vartype, TYPECACHE_BTREE_OPFAMILY);
		const Const *constant = (const Const *) other;
		double selectivity;

		switch (get_op_opfamily_strategy(opno, cache->btree_opf))
		{
			case BTEqualStrategyNumber:
				found = is_list ? hg_range_of_list(root, var, constant, range)
								: hg_range_of_value(root, var, constant->consttype,
													constant->constvalue, range);
				break;
			case BTLessStrategyNumber:
			case BTLessEqualStrategyNumber:
				selectivity = clause_selectivity(root, (Node *) rinfo, 0, JOIN_INNER, NULL);
				*range = (HgRowRange){0, selectivity};
				found = !is_list;
				break;
			case BTGreaterStrategyNumber:
			case BTGreaterEqualStrategyNumber:
				selectivity = clause_selectivity(root, (Node *) rinfo, 0, JOIN_INNER, NULL);
				*range = (HgRowRange){1 - selectivity, 1};
				found = !is_list;
				break;
			default:
				break;
		}
	}
	if (!found)
		ReleaseVariableStats(*column);
	return found;
}

/*
 * Sets the range of a relation's rows, in the order of a key that is stored in order, that its
 * filters choose.  Returns false if none chooses a range.
 */
static bool
hg_filtered_range(PlannerInfo *root, const RelOptInfo *rel, const Var *key, double correlation,
				  HgRowRange *range)
{
	ListCell *lc;

	*range = (HgRowRange){0, 1};
	foreach (lc, rel->baserestrictinfo)
	{
		VariableStatData column;
		HgRowRange one;
		double product;
		double displaced;

		if (!hg_range_of_clause(root, lfirst(lc), &column, &one))
			continue;
		product = hg_column_correlation(&column) * correlation;
		if (((Var *) column.var)->varattno == key->varattno)
			product = 1;
		ReleaseVariableStats(column);
		if (fabs(product) < HG_ORDERED_CORRELATION * HG_ORDERED_CORRELATION)
			continue;
		if (product < 0)
			one = (HgRowRange){1 - one.high, 1 - one.low};
		/* how far rows of so small a share may be from their range, in the root mean square */
		displaced = sqrt((1 - Min(fabs(product), 1)) / (6 * Max(one.high - one.low, DBL_EPSILON)));
		one = (HgRowRange){Max(one.low - displaced, 0), Min(one.high + displaced, 1)};
		range->low = Max(range->low, one.low);
		range->high = Min(range->high, one.high);
	}
	return range->high - range->low < 1;
}

/* ---------------------------------------------------------------------
 * The keys of these rows in the other table
 * ---------------------------------------------------------------------
 */

/* Returns the value at a position, from 0 to 1, between two values. */
static int64
hg_value_between(int64 low, int64 high, double position)
{
	double value = rint((1 - position) * (double) low + position * (double) high);

	/* not all integers are floating-point numbers */
	if (value <= (double) low)
		return low;
	return value >= (double) high ? high : (int64) value;
}

/* Returns the value at a position, from 0 to 1, of a histogram of integers, dates or times. */
static Datum
hg_histogram_value(const AttStatsSlot *histogram, Oid type, double position)
{
	const double at = position * (histogram->nvalues - 1);
	const int bin = Min((int) at, histogram->nvalues - 2);
	const Datum low = histogram->values[bin];
	const Datum high = histogram->values[bin + 1];

	switch (type)
	{
		case INT2OID:
			return Int16GetDatum(
				(int16) hg_value_between(DatumGetInt16(low), DatumGetInt16(high), at - bin));
		case INT4OID:
		case DATEOID:
			return Int32GetDatum(
				(int32) hg_value_between(DatumGetInt32(low), DatumGetInt32(high), at - bin));
		default:
			return Int64GetDatum(
				hg_value_between(DatumGetInt64(low), DatumGetInt64(high), at - bin));
	}
}

/* Returns the share of the rows of a column that have the keys of a range of another relation. */
static double
hg_share_of_keys(PlannerInfo *root, Var *var, const VariableStatData *key, Oid type,
				 const HgRowRange *range)
{
	AttStatsSlot histogram;
	double low;
	double high;

	if (type != INT2OID && type != INT4OID && type != INT8OID && type != DATEOID &&
		type != TIMESTAMPOID && type != TIMESTAMPTZOID)
		return -1;
	if (!HeapTupleIsValid(key->statsTuple) ||
		!get_attstatsslot(&histogram, key->statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						  ATTSTATSSLOT_VALUES))
		return -1;
	if (histogram.nvalues < 2 || histogram.valuetype != type)
	{
		free_attstatsslot(&histogram);
		return -1;
	}
	low = hg_column_selectivity(root, var, type, hg_histogram_value(&histogram, type, range->low),
								BTLessStrategyNumber);
	high = hg_column_selectivity(root, var, type, hg_histogram_value(&histogram, type, range->high),
								 BTLessEqualStrategyNumber);
	free_attstatsslot(&histogram);
	return low < 0 || high < 0 ? -1 : high - low;
}

/*
 * Returns the semijoin or antijoin with one relation on its left, and nothing but the other one on
 * its right; or NULL.
 */
static SpecialJoinInfo *
hg_find_semijoin(const PlannerInfo *root, const RelOptInfo *left, const RelOptInfo *right)
{
	ListCell *lc;

	foreach (lc, root->join_info_list)
	{
		SpecialJoinInfo *info = lfirst(lc);

		if ((info->jointype == JOIN_SEMI || info->jointype == JOIN_ANTI) &&
			bms_equal(right->relids, info->min_righthand) &&
			bms_is_subset(left->relids, info->syn_lefthand))
			return info;
	}
	return NULL;
}

/* Returns the column of a relation that a clause compares; NULL if it compares an expression. */
static Var *
hg_clause_column(const RestrictInfo *rinfo, const RelOptInfo *rel)
{
	Var *column = (Var *) (bms_equal(rinfo->left_relids, rel->relids) ? get_leftop(rinfo->clause)
																	  : get_rightop(rinfo->clause));

	if (IsA(column, RelabelType))
		column = (Var *) ((RelabelType *) column)->arg;
	return IsA(column, Var) && column->varlevelsup == 0 && column->varno == rel->relid ? column
																					   : NULL;
}

/* Returns the selectivity of a clause in an inner join, which the planner keeps. */
static double
hg_join_selectivity(PlannerInfo *root, RestrictInfo *rinfo)
{
	SpecialJoinInfo join = {.type = T_SpecialJoinInfo, .jointype = JOIN_INNER};

	join.min_lefthand = join.syn_lefthand = rinfo->left_relids;
	join.min_righthand = join.syn_righthand = rinfo->right_relids;
	return clause_selectivity(root, (Node *) rinfo, 0, JOIN_INNER, &join);
}

/*
 * Raises the selectivity of a clause if the column of rel is unique, and rel is filtered.  The
 * planner does not look at the selectivity where a foreign key says how many rows there are, and
 * such a foreign key is no longer considered.
 */
static void
hg_raise_for_range(PlannerInfo *root, RestrictInfo *rinfo, const RelOptInfo *other,
				   const RelOptInfo *rel)
{
	Var *key = hg_clause_column(rinfo, rel);
	VariableStatData column;
	HgRowRange range;
	double correlation;

	if (rel->baserestrictinfo == NIL || rel->rtekind != RTE_RELATION || rel->tuples < 1)
		return;
	examine_variable(root, (Node *) key, 0, &column);
	correlation = hg_column_correlation(&column);
	if (column.isunique && fabs(correlation) >= HG_ORDERED_CORRELATION &&
		hg_filtered_range(root, rel, key, correlation, &range))
	{
		const double keys = Max((range.high - range.low) * rel->tuples, rel->rows);
		const HgRowRange values =
			correlation > 0 ? range : (HgRowRange){1 - range.high, 1 - range.low};
		const double share =
			hg_share_of_keys(root, hg_clause_column(rinfo, other), &column, key->vartype, &values);

		if (share / keys > HG_LEAST_CHANGE * hg_join_selectivity(root, rinfo))
		{
			SpecialJoinInfo *semijoin = hg_find_semijoin(root, other, rel);
			ListCell *lc;

			rinfo->norm_selec = Min(share / keys, 1);
			if (semijoin != NULL)
				rinfo->outer_selec =
					Max(clause_selectivity(root, (Node *) rinfo, 0, semijoin->jointype, semijoin),
						Min(share * rel->rows / keys, 1));
			foreach (lc, root->fkey_list)
			{
				const ForeignKeyOptInfo *fkey = lfirst(lc);

				if (fkey->con_relid == other->relid && fkey->ref_relid == rel->relid)
					root->fkey_list = foreach_delete_current(root->fkey_list, lc);
			}
		}
	}
	ReleaseVariableStats(column);
}

/* ---------------------------------------------------------------------
 * Joins of several columns
 * ---------------------------------------------------------------------
 */

/* Returns true if a clause's columns are equal to a column of a third relation, too. */
static bool
hg_clause_is_common(const RestrictInfo *rinfo)
{
	int nmembers = 0;
	ListCell *lc;

	foreach (lc, rinfo->parent_ec->ec_members)
		nmembers += !lfirst_node(EquivalenceMember, lc)->em_is_child;
	return nmembers > 2;
}

/* Returns the clauses that compare the columns of a unique index, one for each; NIL: not all. */
static List *
hg_clauses_of_index(const IndexOptInfo *index, const List *clauses)
{
	List *key = NIL;

	if (!index->unique || !index->immediate || (index->indpred != NIL && !index->predOK))
		return NIL;
	for (int i = 0; i < index->nkeycolumns; i++)
	{
		RestrictInfo *found = NULL;
		ListCell *lc;

		foreach (lc, clauses)
			if (hg_clause_column(lfirst(lc), index->rel)->varattno == index->indexkeys[i])
				found = lfirst(lc);
		if (found == NULL)
			return NIL;
		key = lappend(key, found);
	}
	return key;
}

/*
 * Returns the clauses that compare a key of several columns of a relation; NIL if there is none, or
 * one of a single column.
 */
static List *
hg_find_key(PlannerInfo *root, List *clauses, RelOptInfo *rel, const RelOptInfo *other)
{
	List *key = NIL;
	ListCell *lc;

	if (rel->rtekind == RTE_SUBQUERY &&
		innerrel_is_unique(root, bms_union(rel->relids, other->relids), other->relids, rel,
						   JOIN_INNER, clauses, false))
		return clauses;
	foreach (lc, rel->indexlist)
	{
		List *found = hg_clauses_of_index(lfirst(lc), clauses);

		if (list_length(found) == 1)
			return NIL;
		if (found != NIL)
			key = found;
	}
	return key;
}

/* Returns the greatest share of NULLs in the columns of a relation that clauses compare. */
static double
hg_clauses_nulls(PlannerInfo *root, const List *clauses, const RelOptInfo *rel)
{
	double nulls = 0;
	ListCell *lc;

	foreach (lc, clauses)
	{
		const RestrictInfo *rinfo = lfirst(lc);
		VariableStatData column;

		examine_variable(root, (Node *) hg_clause_column(rinfo, rel), 0, &column);
		nulls = Max(nulls, hg_column_nulls(&column));
		ReleaseVariableStats(column);
	}
	return nulls;
}

/*
 * Raises the selectivities of clauses between two relations if several columns of one are a key:
 * each row of the other one is then expected to have its match there, as a row with a foreign key
 * has.  Clauses of further columns are left as they are.  If possible, clauses are raised that no
 * other clause replaces in joins of more relations.  key has the clauses of the key, or is NIL.
 */
static void
hg_raise_for_key(PlannerInfo *root, const List *key, const RelOptInfo *rel, const RelOptInfo *other)
{
	double common = 0; /* logarithms of selectivities */
	double own = 0;
	double wanted;
	ListCell *lc;

	if (key == NIL || rel->tuples <= 1)
		return;
	wanted = log(Max(1 - hg_clauses_nulls(root, key, other), DBL_EPSILON) / rel->tuples);
	foreach (lc, key)
	{
		RestrictInfo *rinfo = lfirst(lc);
		double selectivity = log(Max(hg_join_selectivity(root, rinfo), DBL_MIN));

		if (hg_clause_is_common(rinfo))
			common += selectivity;
		else
			own += selectivity;
	}
	if (common + own >= wanted - log(HG_LEAST_CHANGE))
		return;
	/* each clause takes a share, and none comes to more than 1 */
	foreach (lc, key)
	{
		RestrictInfo *rinfo = lfirst(lc);

		if (own >= 0)
			rinfo->norm_selec = pow(rinfo->norm_selec, wanted / common);
		else if (!hg_clause_is_common(rinfo))
			rinfo->norm_selec = pow(rinfo->norm_selec, Min(wanted - common, 0) / own);
	}
}

/* The same for the keys of both relations. */
static void
hg_raise_for_keys(PlannerInfo *root, List *clauses, RelOptInfo *const rels[2])
{
	const int smaller = rels[0]->tuples >= rels[1]->tuples;
	List *keys[2];

	for (int i = 0; i < 2; i++)
		keys[i] = hg_find_key(root, clauses, rels[i], rels[1 - i]);
	/* if both have the same key, some rows of the larger one have no match */
	if (list_length(keys[0]) == list_length(keys[1]) &&
		list_difference_ptr(keys[0], keys[1]) == NIL)
		keys[smaller] = NIL;
	for (int i = 0; i < 2; i++)
		hg_raise_for_key(root, keys[i], rels[i], rels[1 - i]);
}

/* ---------------------------------------------------------------------
 * Pairs of relations
 * ---------------------------------------------------------------------
 */

/* Gives clauses with their sides exchanged, of which the planner may have both, the same. */
static void
hg_copy_to_mirrors(const List *clauses, const List *mirrors)
{
	ListCell *lc;
	ListCell *lm;

	foreach (lc, clauses)
		foreach (lm, mirrors)
		{
			const RestrictInfo *rinfo = lfirst(lc);
			RestrictInfo *mirror = lfirst(lm);

			if (mirror->left_em != rinfo->right_em || mirror->right_em != rinfo->left_em)
				continue;
			mirror->norm_selec = rinfo->norm_selec;
			mirror->outer_selec = rinfo->outer_selec;
		}
}

/* Raises the estimates of the clauses between two relations. */
static void
hg_raise_pair(PlannerInfo *root, RelOptInfo *const rels[2])
{
	List *clauses = NIL;
	ListCell *lc;

	foreach (lc, hg_join_equalities(root, rels[0], rels[1]))
	{
		RestrictInfo *rinfo = lfirst(lc);

		if (!is_opclause(rinfo->clause) || hg_clause_column(rinfo, rels[0]) == NULL ||
			hg_clause_column(rinfo, rels[1]) == NULL)
			continue;
		for (int i = 0; i < 2; i++)
			hg_raise_for_range(root, rinfo, rels[i], rels[1 - i]);
		clauses = lappend(clauses, rinfo);
	}
	if (list_length(clauses) > 1)
		hg_raise_for_keys(root, clauses, rels);
	hg_copy_to_mirrors(clauses, hg_join_equalities(root, rels[1], rels[0]));
}

/* Returns a relation's column among a class of equal expressions; NULL if there is none. */
static Var *
hg_class_column(const EquivalenceClass *ec, const RelOptInfo *rel)
{
	ListCell *lc;

	foreach (lc, ec->ec_members)
	{
		Expr *expr = lfirst_node(EquivalenceMember, lc)->em_expr;

		if (IsA(expr, RelabelType))
			expr = ((RelabelType *) expr)->arg;
		if (IsA(expr, Var) && ((Var *) expr)->varno == rel->relid)
			return (Var *) expr;
	}
	return NULL;
}

/*
 * Returns true if the estimates of a pair may be raised: there is a filter or a second clause, and
 * there are rows enough for that to matter.
 */
static bool
hg_pair_may_rise(const PlannerInfo *root, const RelOptInfo *a, const RelOptInfo *b)
{
	int wanted = a->baserestrictinfo != NIL || b->baserestrictinfo != NIL ? 1 : 2;
	int ncommon = 0;

	if (a->rows + b->rows < hg_min_rows || !bms_overlap(a->eclass_indexes, b->eclass_indexes))
		return false;
	for (int i = -1; ncommon < wanted && (i = bms_next_member(a->eclass_indexes, i)) >= 0;)
		ncommon += bms_is_member(i, b->eclass_indexes);
	if (ncommon < wanted)
		return false;
	for (int i = -1; wanted > 0 && (i = bms_next_member(a->eclass_indexes, i)) >= 0;)
	{
		const EquivalenceClass *ec = list_nth(root->eq_classes, i);

		if (bms_is_member(i, b->eclass_indexes) && !ec->ec_has_const &&
			hg_class_column(ec, a) != NULL && hg_class_column(ec, b) != NULL)
			wanted--;
	}
	return wanted == 0;
}

void
hg_raise_join_rows(PlannerInfo *root, RelOptInfo *rel)
{
	if (!hg_join_estimates || rel->reloptkind != RELOPT_BASEREL || !rel->has_eclass_joins)
		return;
	/* the relations that come later have a call of their own */
	for (Index i = 1; i < rel->relid; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (other != NULL && other->reloptkind == RELOPT_BASEREL && other->has_eclass_joins &&
			hg_pair_may_rise(root, rel, other))
			hg_raise_pair(root, (RelOptInfo *[2]){other, rel});
	}
}

/* ---------------------------------------------------------------------
 * Groups of joined rows
 * ---------------------------------------------------------------------
 */

/* Widens a range of values, the first two of an array, by those of a part of a statistics tuple. */
static bool
hg_add_values(const VariableStatData *column, int kind, FmgrInfo *compare, Datum *values, bool any)
{
	const Oid collation = ((const Var *) column->var)->varcollid;
	AttStatsSlot slot;

	if (!HeapTupleIsValid(column->statsTuple) ||
		!get_attstatsslot(&slot, column->statsTuple, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return any;
	for (int i = 0; i < slot.nvalues; i++)
	{
		if (!any ||
			DatumGetInt32(FunctionCall2Coll(compare, collation, slot.values[i], values[0])) < 0)
			values[0] = slot.values[i];
		if (!any ||
			DatumGetInt32(FunctionCall2Coll(compare, collation, slot.values[i], values[1])) > 0)
			values[1] = slot.values[i];
		any = true;
	}
	free_attstatsslot(&slot);
	return any;
}

/*
 * Narrows a range of a relation's rows, in the order of a key, to those between the least and the
 * greatest value of another relation's column, which the key is joined with.
 */
static void
hg_narrow_to_values(PlannerInfo *root, Var *key, const VariableStatData *other, double correlation,
					HgRowRange *range)
{
	const Var *var = (const Var *) other->var;
	TypeCacheEntry *type = lookup_type_cache(var->vartype, TYPECACHE_CMP_PROC_FINFO);
	Datum values[2];
	double low;
	double high;

	if (!get_typbyval(var->vartype) || !OidIsValid(type->cmp_proc) ||
		!hg_add_values(
			other, STATISTIC_KIND_HISTOGRAM, &type->cmp_proc_finfo, values,
			hg_add_values(other, STATISTIC_KIND_MCV, &type->cmp_proc_finfo, values, false)))
		return;
	low = hg_column_selectivity(root, key, var->vartype, values[0], BTLessStrategyNumber);
	high = hg_column_selectivity(root, key, var->vartype, values[1], BTLessEqualStrategyNumber);
	if (low < 0 || high < 0)
		return;
	range->low = Max(range->low, correlation > 0 ? low : 1 - high);
	range->high = Min(range->high, correlation > 0 ? high : 1 - low);
}

/*
 * Returns how many combinations of values some columns of a relation have in a range of its rows in
 * the order of a key.  Those of other columns are combined with each other.
 */
static double
hg_groups_in_range(PlannerInfo *root, List *columns, const Var *key, double correlation,
				   const HgRowRange *range)
{
	double ordered = 0;
	List *others = NIL;
	ListCell *lc;

	foreach (lc, columns)
	{
		VariableStatData column;
		bool is_default;
		double values;

		examine_variable(root, lfirst(lc), 0, &column);
		values = get_variable_numdistinct(&column, &is_default);
		if (!is_default && (((const Var *) lfirst(lc))->varattno == key->varattno ||
							fabs(hg_column_correlation(&column) * correlation) >=
								HG_ORDERED_CORRELATION * HG_ORDERED_CORRELATION))
			ordered += values * Max(range->high - range->low, 0);
		else
			others = lappend(others, lfirst(lc));
		ReleaseVariableStats(column);
	}
	return (1 + ordered) *
		   (others != NIL ? estimate_num_groups(root, others, DBL_MAX, NULL, NULL) : 1);
}

/*
 * Returns how many combinations of values some columns of a relation have in the rows of a join,
 * at most as many as PostgreSQL expects.
 */
static double
hg_groups_of_rel(PlannerInfo *root, const RelOptInfo *joinrel, const RelOptInfo *rel, List *columns)
{
	double groups = estimate_num_groups(root, columns, DBL_MAX, NULL, NULL);
	int i = -1;

	while ((i = bms_next_member(rel->eclass_indexes, i)) >= 0)
	{
		const EquivalenceClass *ec = list_nth(root->eq_classes, i);
		Var *key = ec->ec_has_const ? NULL : hg_class_column(ec, rel);
		VariableStatData column;
		HgRowRange range;
		double correlation;
		bool is_default;
		int other = -1;

		if (key == NULL)
			continue;
		examine_variable(root, (Node *) key, 0, &column);
		correlation = hg_column_correlation(&column);
		ReleaseVariableStats(column);
		if (!column.isunique)
			continue;
		(void) hg_filtered_range(root, rel, key, correlation, &range);
		while ((other = bms_next_member(joinrel->relids, other)) >= 0)
		{
			const RelOptInfo *of = root->simple_rel_array[other];
			Var *equal = of != NULL && of != rel ? hg_class_column(ec, of) : NULL;

			if (equal == NULL)
				continue;
			examine_variable(root, (Node *) equal, 0, &column);
			(void) get_variable_numdistinct(&column, &is_default);
			if (!is_default)
				groups =
					Min(groups, estimate_num_groups(root, list_make1(equal), DBL_MAX, NULL, NULL));
			hg_narrow_to_values(root, key, &column, correlation, &range);
			ReleaseVariableStats(column);
		}
		if (fabs(correlation) >= HG_ORDERED_CORRELATION)
			groups = Min(groups, hg_groups_in_range(root, columns, key, correlation, &range));
	}
	return groups;
}

double
hg_estimate_groups(PlannerInfo *root, const RelOptInfo *input_rel, List *clause, double expected)
{
	List *exprs;
	Relids left = NULL;
	double groups = 1;
	ListCell *lc;
	int relid = -1;

	if (!hg_join_estimates || !IS_JOIN_REL(input_rel) || expected < hg_min_rows)
		return expected;
	exprs = get_sortgrouplist_exprs(clause, root->processed_tlist);
	foreach (lc, exprs)
	{
		const Var *var = lfirst(lc);

		if (!IsA(var, Var) || var->varlevelsup > 0 || root->simple_rel_array[var->varno] == NULL)
			return expected;
		left = bms_add_member(left, (int) var->varno);
	}
	while ((relid = bms_next_member(left, relid)) >= 0)
	{
		List *columns = NIL;

		foreach (lc, exprs)
			if ((int) ((const Var *) lfirst(lc))->varno == relid)
				columns = lappend(columns, lfirst(lc));
		groups *= hg_groups_of_rel(root, input_rel, root->simple_rel_array[relid], columns);
	}
	groups = clamp_row_est(groups);
	return groups * HG_LEAST_CHANGE < expected ? groups : expected;
}
