/*-------------------------------------------------------------------------
 *
 * wrong_estimates.c
 *	  A module for tests that makes the planner's row estimates wrong by a factor.
 *
 * Loaded by test/t/join_estimates.pl and test/perf/estimates.pl, which build it.  Settings:
 *
 *	wrong_estimates.factor	By how much the selectivities of conditions on the columns are wrong:
 *							at 0.001 a thousand times fewer rows are expected than PostgreSQL
 *							would expect, at 1000 a thousand times more, at 1 as many.
 *	wrong_estimates.columns	The names of the columns, in whatever table, separated by commas.  A
 *							test names columns that queries filter by and do not join by, so
 *							that joins of the filtered rows are wrong by the same factor.
 *
 * The module supplies changed column statistics through get_relation_stats_hook.  PostgreSQL's
 * selectivities of =, <, BETWEEN, IN, LIKE and the like are sums of frequencies of common values
 * and shares of the other values that are not null.  So both are multiplied: stanullfrac becomes
 * 1 - factor * (1 - stanullfrac), which is negative for factors above 1 and is used in sums only,
 * and each frequency is multiplied by the factor.  PostgreSQL clamps the sums, so that an
 * estimate is at least one row and at most all rows of the table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

PG_MODULE_MAGIC;

void _PG_init(void);

static double wrong_factor = 1;
static char *wrong_columns = NULL;
static get_relation_stats_hook_type prev_get_relation_stats_hook;

/* True if conditions on a column are to be misjudged. */
static bool
wrong_column(Oid relation, AttrNumber attribute)
{
	char *name = get_attname(relation, attribute, true);
	char *columns = pstrdup(wrong_columns);
	List *names = NIL;
	ListCell *lc;

	if (name == NULL || !SplitIdentifierString(columns, ',', &names))
		return false;
	foreach (lc, names)
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	return false;
}

/* The frequencies of a statistics slot, an array of float4, multiplied by the factor. */
static Datum
wrong_frequencies(Datum numbers)
{
	ArrayType *array = DatumGetArrayTypePCopy(numbers);
	float4 *frequency = (float4 *) ARR_DATA_PTR(array);
	int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	for (int i = 0; i < count; i++)
		frequency[i] = (float4) (frequency[i] * wrong_factor);
	return PointerGetDatum(array);
}

/* A copy of a column's statistics with the shares of its values multiplied by the factor. */
static HeapTuple
wrong_statistics(HeapTuple tuple)
{
	Form_pg_statistic form = (Form_pg_statistic) GETSTRUCT(tuple);
	const int16 kinds[] = {form->stakind1, form->stakind2, form->stakind3, form->stakind4,
						   form->stakind5};
	Datum values[Natts_pg_statistic] = {0};
	bool nulls[Natts_pg_statistic] = {false};
	bool replaces[Natts_pg_statistic] = {false};
	Relation catalog = table_open(StatisticRelationId, AccessShareLock);
	HeapTuple changed;

	values[Anum_pg_statistic_stanullfrac - 1] =
		Float4GetDatum((float4) (1 - wrong_factor * (1 - form->stanullfrac)));
	replaces[Anum_pg_statistic_stanullfrac - 1] = true;

	/* the share of all values that are not common is clamped before it is divided among them */
	if (wrong_factor > 1)
	{
		values[Anum_pg_statistic_stadistinct - 1] =
			Float4GetDatum((float4) (form->stadistinct / wrong_factor));
		replaces[Anum_pg_statistic_stadistinct - 1] = true;
	}
	for (int slot = 0; slot < STATISTIC_NUM_SLOTS; slot++)
	{
		int attribute = Anum_pg_statistic_stanumbers1 + slot;
		bool isnull;
		Datum numbers = SysCacheGetAttr(STATRELATTINH, tuple, attribute, &isnull);

		if (kinds[slot] != STATISTIC_KIND_MCV || isnull)
			continue;
		values[attribute - 1] = wrong_frequencies(numbers);
		replaces[attribute - 1] = true;
	}
	changed = heap_modify_tuple(tuple, RelationGetDescr(catalog), values, nulls, replaces);
	table_close(catalog, AccessShareLock);
	return changed;
}

static bool
wrong_get_relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum,
						 VariableStatData *vardata)
{
	HeapTuple tuple;

	if (prev_get_relation_stats_hook != NULL &&
		prev_get_relation_stats_hook(root, rte, attnum, vardata))
		return true;
	if (wrong_factor == 1 || !wrong_column(rte->relid, attnum))
		return false;
	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(rte->relid), Int16GetDatum(attnum),
							BoolGetDatum(rte->inh));
	if (!HeapTupleIsValid(tuple))
		return false;
	vardata->statsTuple = wrong_statistics(tuple);
	vardata->freefunc = heap_freetuple;
	vardata->acl_ok = true;
	ReleaseSysCache(tuple);
	return true;
}

void
_PG_init(void)
{
	DefineCustomRealVariable("wrong_estimates.factor",
							 "By how much row estimates of filters are wrong.", NULL, &wrong_factor,
							 1, 1e-6, 1e6, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("wrong_estimates.columns",
							   "Columns whose filters are estimated wrongly.", NULL, &wrong_columns,
							   "", PGC_USERSET, 0, NULL, NULL, NULL);
	prev_get_relation_stats_hook = get_relation_stats_hook;
	get_relation_stats_hook = wrong_get_relation_stats;
}
