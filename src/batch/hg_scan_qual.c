/*-------------------------------------------------------------------------
 *
 * hg_scan_qual.c
 *	  Quals of a table scan that are comparisons of columns with constants or columns.
 *
 * A comparison with a constant holds for a range of values, or for all but a range; one of two
 * columns holds for a range of their order, which is -1, 0 or 1.  It is evaluated for all
 * rows of a page in one loop over the columns' values.
 *
 * ORDER.  Core evaluates the clauses of a qual in their order, and none behind one that does not
 * hold.  The comparisons go ahead of other clauses all the same.  To which rows they are applied
 * does not matter, since none can fail or tell anything about a value; those other clauses are
 * then evaluated for fewer rows, which must not be seen:
 *
 *	-	A clause that calls volatile functions is evaluated for the rows that core evaluates it for:
 *		a comparison behind it stays there.
 *	-	A parameter may be the result of a plan that is run when it is needed first, if ever.  Until
 *		then a comparison behind it stays there too (in_order).
 *	-	Of a clause that is neither, its errors alone are seen, and those that a row with a false
 *		comparison would raise are not.  Core has that freedom too: it orders a qual's clauses by
 *		cost, and lets a cheap one that is leakproof overtake even the quals of a security
 *		barrier.  The comparisons of a date with a timestamp are not marked as leakproof, but are
 *		those of two dates here, which are.
 *
 * The regression topic page_scan counts the calls.
 *
 *
 * A date is compared with a timestamp as the day that begins with it, or after it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "batch/hg_scan_qual.h"
#include "batch/hg_values.h"

/*
 * A clause: its column, or the order of its column and the other one, is not NULL and in
 * [low, high], or is not in there.
 */
typedef struct HgRange
{
	AttrNumber attno;
	AttrNumber other_attno; /* 0: none */
	int column;
	int other;
	int16 attlen;
	int16 other_attlen;
	bool negated;
	bool not_null; /* any value will do */
	int64 low;
	int64 high;
} HgRange;

struct HgRangeQual
{
	int nranges;
	int nfirst; /* of them stand ahead of the first clause with a parameter */
	HgRange *ranges;
	int nattnos;
	AttrNumber *attnos;	   /* [nattnos] of the columns that are compared */
	HgTupleLayout *layout; /* of these */
	HgBatch *batch;
};

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

/*
 * The range for which "column operator value" holds, where with between the value is somewhere
 * between this integer and the next; false if the family lacks the operator.
 */
static bool
hg_range_set(HgRange *range, Oid opno, Oid family, int64 value, bool between)
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
	/* from the next integer on it is above the value, and no integer equals it */
	if (between)
	{
		if (strategy == BTLessStrategyNumber || strategy == BTGreaterEqualStrategyNumber)
			range->low++;
		else if (strategy == BTEqualStrategyNumber)
			range->high--;
	}
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
	Oid type;
	Oid family;
	int64 value;
	bool between_days = false;

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
	if (IsA(left, Const))
	{
		Node *swap = left;

		left = right;
		right = swap;
		opno = get_commutator(opno);
	}
	if (!IsA(left, Var) || !OidIsValid(opno) || opno >= FirstGenbkiObjectId ||
		((Var *) left)->varattno <= 0)
		return false;
	type = ((Var *) left)->vartype;
	range->attno = ((Var *) left)->varattno;
	if (IsA(right, Var))
	{
		range->other_attno = ((Var *) right)->varattno;
		if (range->other_attno <= 0 || !hg_range_comparable(type, ((Var *) right)->vartype))
			return false;
		value = 0;
	}
	else if (!IsA(right, Const) || ((Const *) right)->constisnull)
		return false;
	else if (hg_range_comparable(type, ((Const *) right)->consttype))
		value = hg_value_integer(((Const *) right)->constlen, ((Const *) right)->constvalue);
	else if (type == DATEOID && ((Const *) right)->consttype == TIMESTAMPOID)
	{
		Timestamp timestamp = DatumGetTimestamp(((Const *) right)->constvalue);

		if (TIMESTAMP_NOT_FINITE(timestamp))
			return false;
		value = timestamp / USECS_PER_DAY - (timestamp % USECS_PER_DAY < 0);
		between_days = timestamp % USECS_PER_DAY != 0;
	}
	else
		return false;
	family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	return hg_range_set(range, opno, family, value, between_days);
}

bool
hg_range_qual_takes(Node *clause)
{
	HgRange range = {0};

	return hg_range_from_clause(&range, clause);
}

/* The column of an attribute, which is added to those that are compared. */
static int
hg_range_column(AttrNumber attno, AttrNumber *attnos, int *nattnos)
{
	int column = 0;

	while (column < *nattnos && attnos[column] != attno)
		column++;
	if (column == *nattnos)
		attnos[(*nattnos)++] = attno;
	return column;
}

/* Is the result of a plan, or what a plan above computes, among what a clause needs? */
static bool
hg_range_find_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		return true;
	return expression_tree_walker(node, hg_range_find_param, context);
}

HgRangeQual *
hg_range_qual_create(TupleDesc desc, List *qual, List **rest)
{
	HgRangeQual *ranges = palloc0(sizeof(HgRangeQual));
	AttrNumber *attnos = palloc(Max(list_length(qual), 1) * 2 * sizeof(AttrNumber));
	int nattnos = 0;
	bool param_ahead = false;
	bool volatile_ahead = false;
	ListCell *lc;

	*rest = NIL;
	ranges->ranges = palloc(Max(list_length(qual), 1) * sizeof(HgRange));
	foreach (lc, qual)
	{
		HgRange *range = &ranges->ranges[ranges->nranges];

		memset(range, 0, sizeof(HgRange));
		if (volatile_ahead || !hg_range_from_clause(range, lfirst(lc)))
		{
			*rest = lappend(*rest, lfirst(lc));
			param_ahead = param_ahead || hg_range_find_param(lfirst(lc), NULL);
			volatile_ahead = volatile_ahead || contain_volatile_functions(lfirst(lc));
			continue;
		}
		ranges->nranges++;
		ranges->nfirst += !param_ahead;
		range->attlen = TupleDescAttr(desc, range->attno - 1)->attlen;
		range->column = hg_range_column(range->attno, attnos, &nattnos);
		if (range->other_attno != 0)
		{
			range->other_attlen = TupleDescAttr(desc, range->other_attno - 1)->attlen;
			range->other = hg_range_column(range->other_attno, attnos, &nattnos);
		}
	}
	if (ranges->nranges == 0)
		return NULL;
	ranges->nattnos = nattnos;
	ranges->attnos = attnos;
	ranges->layout = hg_tuple_layout_create(desc, nattnos, attnos);
	ranges->batch = hg_batch_create(nattnos);
	return ranges;
}

/* Clear keep[i] where a clause does not hold for row i. */
static void
hg_range_apply(const HgRange *range, const HgBatch *batch, bool *keep)
{
	int64 integers[HG_BATCH_ROWS];
	int64 low = range->low;
	int64 high = range->high;
	bool negated = range->negated;

	if (batch->has_nulls[range->column])
		for (int i = 0; i < batch->nrows; i++)
			keep[i] &= !batch->nulls[range->column][i];
	if (range->not_null)
		return;
	hg_values_integers(range->attlen, batch->values[range->column], batch->nrows, integers);
	if (range->other_attno != 0)
	{
		int64 others[HG_BATCH_ROWS];

		if (batch->has_nulls[range->other])
			for (int i = 0; i < batch->nrows; i++)
				keep[i] &= !batch->nulls[range->other][i];
		hg_values_integers(range->other_attlen, batch->values[range->other], batch->nrows, others);
		for (int i = 0; i < batch->nrows; i++)
			integers[i] = (integers[i] > others[i]) - (integers[i] < others[i]);
	}
	for (int i = 0; i < batch->nrows; i++)
		keep[i] &= ((integers[i] >= low) & (integers[i] <= high)) != negated;
}

bool
hg_range_qual_is_fixed(const HgRangeQual *qual)
{
	return hg_tuple_layout_is_fixed(qual->layout);
}

int
hg_range_qual_attributes(const HgRangeQual *qual, const AttrNumber **attnos)
{
	*attnos = qual->attnos;
	return qual->nattnos;
}

HgBatch *
hg_range_qual_batch(HgRangeQual *qual)
{
	qual->batch->nrows = 0;
	memset(qual->batch->has_nulls, 0, qual->batch->ncolumns * sizeof(bool));
	return qual->batch;
}

int
hg_range_qual_decide(HgRangeQual *qual, bool in_order, uint16 *which)
{
	int nranges = in_order ? qual->nfirst : qual->nranges;
	int nrows = qual->batch->nrows;
	bool keep[HG_BATCH_ROWS];
	int kept = 0;

	memset(keep, true, nrows * sizeof(bool));
	for (int r = 0; r < nranges; r++)
		hg_range_apply(&qual->ranges[r], qual->batch, keep);
	for (int i = 0; i < nrows; i++)
	{
		/* without a branch, which would be one in two that is not foreseen */
		which[kept] = i;
		kept += keep[i];
	}
	return kept;
}

int
hg_range_qual_filter(HgRangeQual *qual, bool in_order, int ntuples, const HeapTupleHeader *tuples,
					 uint16 *which)
{
	hg_tuple_layout_add(qual->layout, ntuples, tuples, hg_range_qual_batch(qual));
	return hg_range_qual_decide(qual, in_order, which);
}
