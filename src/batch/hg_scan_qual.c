/*-------------------------------------------------------------------------
 *
 * hg_scan_qual.c
 *	  Quals of a table scan that are comparisons of columns with constants.
 *
 * Each comparison holds for a range of values, or for all but a range.  It is evaluated for all
 * rows of a page in one loop over the column's values.  None of these comparisons can fail or
 * tell anything about a value, so that it does not matter to which rows they are applied, or
 * in which order.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/primnodes.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "batch/hg_scan_qual.h"

/* A clause: its column is not NULL and in [low, high], or is not in there. */
typedef struct HgRange
{
	AttrNumber attno;
	int column;
	int16 attlen;
	bool negated;
	bool not_null; /* any value will do */
	int64 low;
	int64 high;
} HgRange;

struct HgRangeQual
{
	int nranges;
	HgRange *ranges;
	HgTupleLayout *layout; /* of the columns that are compared */
	HgBatch *batch;
};

/* A constant of a type that is an integer inside, of any width. */
static int64
hg_range_integer(const Const *constant)
{
	switch (constant->constlen)
	{
		case 2:
			return DatumGetInt16(constant->constvalue);
		case 4:
			return DatumGetInt32(constant->constvalue);
		default:
			return DatumGetInt64(constant->constvalue);
	}
}

static bool
hg_range_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Are values of both types compared as the integers that they are inside? */
static bool
hg_range_comparable(Oid type, Oid other)
{
	if (hg_range_is_integer(type))
		return hg_range_is_integer(other);
	return type == other && (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID);
}

/* The range for which "column operator value" holds; false if the family lacks the operator. */
static bool
hg_range_set(HgRange *range, Oid opno, Oid family, int64 value)
{
	int strategy = get_op_opfamily_strategy(opno, family);

	if (strategy == InvalidStrategy)
	{
		Oid negator = get_negator(opno);

		if (!OidIsValid(negator) ||
			get_op_opfamily_strategy(negator, family) != BTEqualStrategyNumber)
			return false;
		strategy = BTEqualStrategyNumber;
		range->negated = true;
	}
	range->low = range->high = value;
	switch (strategy)
	{
		case BTLessStrategyNumber: /* not >= */
			range->high = PG_INT64_MAX;
			range->negated = true;
			break;
		case BTLessEqualStrategyNumber:
			range->low = PG_INT64_MIN;
			break;
		case BTGreaterEqualStrategyNumber:
			range->high = PG_INT64_MAX;
			break;
		case BTGreaterStrategyNumber: /* not <= */
			range->low = PG_INT64_MIN;
			range->negated = true;
			break;
		default:
			break;
	}
	return true;
}

/* A clause as a range; false where it is none. */
static bool
hg_range_from_clause(HgRange *range, Node *clause)
{
	OpExpr *op;
	Node *left;
	Node *right;
	Oid opno;
	Oid family;

	if (IsA(clause, NullTest))
	{
		NullTest *test = (NullTest *) clause;

		if (test->nulltesttype != IS_NOT_NULL || test->argisrow || !IsA(test->arg, Var))
			return false;
		range->attno = ((Var *) test->arg)->varattno;
		range->not_null = true;
		return range->attno > 0;
	}
	if (!IsA(clause, OpExpr) || list_length(((OpExpr *) clause)->args) != 2)
		return false;
	op = (OpExpr *) clause;
	opno = op->opno;
	left = linitial(op->args);
	right = lsecond(op->args);
	if (IsA(left, Const) && IsA(right, Var))
	{
		Node *swap = left;

		left = right;
		right = swap;
		opno = get_commutator(opno);
	}
	if (!IsA(left, Var) || !IsA(right, Const) || ((Const *) right)->constisnull ||
		!OidIsValid(opno) || opno >= FirstGenbkiObjectId)
		return false;
	range->attno = ((Var *) left)->varattno;
	if (range->attno <= 0 ||
		!hg_range_comparable(((Var *) left)->vartype, ((Const *) right)->consttype))
		return false;
	family = lookup_type_cache(((Var *) left)->vartype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	return hg_range_set(range, opno, family, hg_range_integer((Const *) right));
}

HgRangeQual *
hg_range_qual_create(TupleDesc desc, List *qual)
{
	HgRangeQual *ranges;
	AttrNumber *attnos;
	int nattnos = 0;
	ListCell *lc;

	if (qual == NIL)
		return NULL;
	ranges = palloc0(sizeof(HgRangeQual));
	ranges->ranges = palloc0(list_length(qual) * sizeof(HgRange));
	attnos = palloc(list_length(qual) * sizeof(AttrNumber));
	foreach (lc, qual)
	{
		HgRange *range = &ranges->ranges[ranges->nranges++];

		if (!hg_range_from_clause(range, lfirst(lc)))
			return NULL;
		range->attlen = TupleDescAttr(desc, range->attno - 1)->attlen;
		while (range->column < nattnos && attnos[range->column] != range->attno)
			range->column++;
		if (range->column == nattnos)
			attnos[nattnos++] = range->attno;
	}
	ranges->layout = hg_tuple_layout_create(desc, nattnos, attnos);
	ranges->batch = hg_batch_create(nattnos);
	return ranges;
}

/* Clear keep[i] where a clause does not hold for row i. */
static void
hg_range_apply(const HgRange *range, const HgBatch *batch, bool *keep)
{
	const Datum *values = batch->values[range->column];
	int64 low = range->low;
	int64 high = range->high;
	bool negated = range->negated;

	if (batch->has_nulls[range->column])
		for (int i = 0; i < batch->nrows; i++)
			keep[i] &= !batch->nulls[range->column][i];
	if (range->not_null)
		return;

#define HG_RANGE_LOOP(get)                                                                         \
	for (int i = 0; i < batch->nrows; i++)                                                         \
	{                                                                                              \
		int64 value = get(values[i]);                                                              \
                                                                                                   \
		keep[i] &= ((value >= low) & (value <= high)) != negated;                                  \
	}

	switch (range->attlen)
	{
		case 2:
			HG_RANGE_LOOP(DatumGetInt16);
			break;
		case 4:
			HG_RANGE_LOOP(DatumGetInt32);
			break;
		default:
			HG_RANGE_LOOP(DatumGetInt64);
			break;
	}
#undef HG_RANGE_LOOP
}

int
hg_range_qual_filter(HgRangeQual *qual, int ntuples, HeapTupleHeader *tuples)
{
	HgBatch *batch = qual->batch;
	bool keep[HG_BATCH_ROWS];
	int kept = 0;

	batch->nrows = 0;
	memset(batch->has_nulls, 0, batch->ncolumns * sizeof(bool));
	hg_tuple_layout_add(qual->layout, ntuples, tuples, batch);
	memset(keep, true, ntuples * sizeof(bool));
	for (int r = 0; r < qual->nranges; r++)
		hg_range_apply(&qual->ranges[r], batch, keep);
	for (int i = 0; i < ntuples; i++)
	{
		/* without a branch, which would be one in two that is not foreseen */
		tuples[kept] = tuples[i];
		kept += keep[i];
	}
	return kept;
}
