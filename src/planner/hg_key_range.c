/*-------------------------------------------------------------------------
 *
 * hg_key_range.c
 *	  The range of a join's keys, as far as statistics tell.
 *
 * ANALYZE stores the bounds of a column in its histogram and most common values. They come from a
 * sample, so some keys lie beyond them: code that must know reads the keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/hg_key_range.h"
#include "planner/hg_planner_run.h"

/* A share of distinct values that counts as all distinct, because ANALYZE estimates. */
#define HG_ALL_DISTINCT 0.95

/* Converts a value to an integer; false if its type is not integer-like. */
static bool
hg_key_integer(Oid type, Datum value, double *integer)
{
	switch (type)
	{
		case INT2OID:
			*integer = DatumGetInt16(value);
			return true;
		case INT4OID:
			*integer = DatumGetInt32(value);
			return true;
		case INT8OID:
			*integer = (double) DatumGetInt64(value);
			return true;
		case OIDOID:
			*integer = DatumGetObjectId(value);
			return true;
		case DATEOID:
			*integer = DatumGetDateADT(value);
			return true;
		default:
			return false;
	}
}

/* Widens bounds by the values of a slot; false if it has none. */
static bool
hg_key_widen(const VariableStatData *variable, int kind, double *least, double *greatest)
{
	AttStatsSlot slot;
	bool found = false;

	if (!get_attstatsslot(&slot, variable->statsTuple, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return false;
	for (int i = 0; i < slot.nvalues; i++)
	{
		double value;

		/* a histogram is sorted */
		if (kind == STATISTIC_KIND_HISTOGRAM && i > 0 && i < slot.nvalues - 1)
			continue;
		if (!hg_key_integer(slot.valuetype, slot.values[i], &value))
			break;
		*least = Min(*least, value);
		*greatest = Max(*greatest, value);
		found = true;
	}
	free_attstatsslot(&slot);
	return found;
}

/* Returns true if ANALYZE has seen no value twice, for which stadistinct has a special value. */
static bool
hg_key_saw_none_twice(const VariableStatData *variable)
{
	Form_pg_statistic stats = (Form_pg_statistic) GETSTRUCT(variable->statsTuple);

	return stats->stadistinct <= (float4) - (1.0 - stats->stanullfrac);
}

static bool
hg_key_estimate(PlannerInfo *root, Node *key, HgKeyRange *range)
{
	VariableStatData variable;
	double least = HUGE_VAL;
	double greatest = -HUGE_VAL;
	bool known = false;
	bool is_default;

	examine_variable(root, key, 0, &variable);
	/* this calls no user-defined operator on values of rows that the user may not see */
	if (HeapTupleIsValid(variable.statsTuple) && variable.rel != NULL)
	{
		known = hg_key_widen(&variable, STATISTIC_KIND_HISTOGRAM, &least, &greatest);
		known |= hg_key_widen(&variable, STATISTIC_KIND_MCV, &least, &greatest);
	}
	if (known)
	{
		range->size = greatest - least + 1;
		range->repeats = !variable.isunique && get_variable_numdistinct(&variable, &is_default) <
												   HG_ALL_DISTINCT * variable.rel->tuples;
		range->unique = variable.isunique || hg_key_saw_none_twice(&variable);
		range->nulls = ((Form_pg_statistic) GETSTRUCT(variable.statsTuple))->stanullfrac > 0;
	}
	ReleaseVariableStats(variable);
	return known;
}

/* A cached range, because statistics are arrays that must be deconstructed each time. */
typedef struct HgFoundRange
{
	HgRunKey key; /* a clause, and whether it is its left operand */
	bool known;
	HgKeyRange range;
} HgFoundRange;

#define HG_FOUND_RANGES_BITS 7

static HgFoundRange hg_found_ranges[1 << HG_FOUND_RANGES_BITS];

bool
hg_key_range(PlannerInfo *root, const RestrictInfo *clause, bool left, HgKeyRange *range)
{
	HgFoundRange fresh = {.key = {hg_planner_run_find(root, clause), clause, left}};
	bool known = false;
	HgFoundRange *found = &fresh;

	if (fresh.key.run != 0)
		found = hg_planner_run_entry(hg_found_ranges, sizeof(HgFoundRange), HG_FOUND_RANGES_BITS,
									 fresh.key, &known);
	if (!known)
	{
		fresh.known = hg_key_estimate(
			root, left ? get_leftop(clause->clause) : get_rightop(clause->clause), &fresh.range);
		*found = fresh;
	}
	*range = found->range;
	return found->known;
}
