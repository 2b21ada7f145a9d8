/*-------------------------------------------------------------------------
 *
 * hg_sql_resident_columns.c
 *	  Looks up the columns and keys of a table that a caller names for caching.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/lsyscache.h"

#include "batch/hg_graph_key.h"
#include "loader/hg_loader_column.h"
#include "resident/hg_resident_report.h"
#include "sql/hg_sql_resident.h"

/* Returns the number of a column; raises an error if it does not exist or can't be cached. */
static AttrNumber
hg_sql_resident_column(Relation rel, const char *name)
{
	AttrNumber number = name != NULL ? get_attnum(RelationGetRelid(rel), name) : 0;
	HgResidentReason reason;

	if (number <= 0)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("column \"%s\" of relation \"%s\" does not exist",
							   name != NULL ? name : "NULL", RelationGetRelationName(rel))));
	reason = hg_encode_may_take_in(TupleDescAttr(RelationGetDescr(rel), number - 1));
	if (reason != HG_REASON_NONE)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("column \"%s\" of relation \"%s\" cannot be resident", name,
							   RelationGetRelationName(rel)),
						errdetail("The reason is that %s.", hg_resident_reason_text(reason))));
	return number;
}

List *
hg_sql_resident_columns(Relation rel, const ArrayType *names)
{
	TupleDesc desc = RelationGetDescr(rel);
	List *numbers = NIL;
	Datum *elements;
	bool *nulls;
	int n;

	if (names == NULL)
	{
		for (int i = 0; i < desc->natts; i++)
			if (hg_encode_may_take_in(TupleDescAttr(desc, i)) == HG_REASON_NONE)
				numbers = lappend_int(numbers, i + 1);
		return numbers;
	}
	deconstruct_array(unconstify(ArrayType *, names), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
		numbers = lappend_int(
			numbers,
			hg_sql_resident_column(rel, nulls[i] ? NULL : NameStr(*DatumGetName(elements[i]))));
	return numbers;
}

/* Raises the error for a key that can't have a graph. */
static void
hg_sql_resident_refuse_key(Relation rel, const HgKeyNumbers *key, const char *why)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < key->n; i++)
		appendStringInfo(
			&names, "%s\"%s\"", i > 0 ? ", " : "",
			NameStr(TupleDescAttr(RelationGetDescr(rel), key->numbers[i] - 1)->attname));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s %s of relation \"%s\" cannot have a HashGraph",
					key->n > 1 ? "columns" : "column", names.data, RelationGetRelationName(rel)),
			 errdetail("The reason is that %s.", why)));
}

/* Returns the key with these column names; NULLs at the end are ignored. */
static HgKeyNumbers
hg_sql_resident_key(Relation rel, const Datum *names, const bool *nulls, int n)
{
	HgResidentColumn columns[HG_GRAPH_COLUMNS] = {0};
	HgKeyNumbers key = {0};
	HgGraphKey made;

	while (n > 1 && nulls[n - 1])
		n--;
	if (n > HG_GRAPH_COLUMNS)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						errmsg("a HashGraph has at most %d columns", HG_GRAPH_COLUMNS)));
	for (int i = 0; i < n; i++)
	{
		AttrNumber number =
			hg_sql_resident_column(rel, nulls[i] ? NULL : NameStr(*DatumGetName(names[i])));

		if (hg_key_numbers_have(&key, number))
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
							errmsg("column \"%s\" appears twice in a key",
								   NameStr(*DatumGetName(names[i])))));
		columns[i] = hg_resident_column(TupleDescAttr(RelationGetDescr(rel), number - 1));
		key.numbers[key.n++] = number;
	}
	if (hg_graph_key_create(n, columns, &made) == NULL)
		hg_sql_resident_refuse_key(rel, &key, hg_resident_reason_text(HG_REASON_GRAPH_TYPE));
	return key;
}

int
hg_sql_resident_keys(Relation rel, ArrayType *names, HgKeyNumbers **keys, List **numbers)
{
	Datum *elements;
	bool *nulls;
	int n;
	int width;

	*keys = NULL;
	if (names == NULL || ARR_NDIM(names) == 0)
		return 0;
	if (ARR_NDIM(names) > 2)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("\"keys\" has more than two dimensions"),
						errhint("Each row of an array of two is a key of several columns.")));
	width = ARR_NDIM(names) == 2 ? ARR_DIMS(names)[1] : 1;
	deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &elements, &nulls, &n);
	n /= width;
	*keys = palloc(n * sizeof(HgKeyNumbers));
	for (int i = 0; i < n; i++)
	{
		(*keys)[i] = hg_sql_resident_key(rel, &elements[i * width], &nulls[i * width], width);
		for (int k = 0; k < (*keys)[i].n; k++)
			*numbers = list_append_unique_int(*numbers, (*keys)[i].numbers[k]);
	}
	return n;
}

const AttrNumber *
hg_sql_resident_numbers(const List *numbers, int *n)
{
	AttrNumber *array = palloc(Max(list_length(numbers), 1) * sizeof(AttrNumber));
	ListCell *cell;

	*n = 0;
	foreach (cell, numbers)
		array[(*n)++] = (AttrNumber) lfirst_int(cell);
	return array;
}

List *
hg_sql_resident_names(Relation rel, const List *numbers)
{
	List *names = NIL;
	ListCell *cell;

	foreach (cell, numbers)
		names = lappend(
			names, NameStr(TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1)->attname));
	return names;
}
