/*-------------------------------------------------------------------------
 *
 * hg_sql_row.h
 *	  Result rows of many columns, filled one by one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_ROW_H
#define HG_SQL_ROW_H

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#define HG_SQL_ROW_COLUMNS 40

typedef struct HgSqlRow
{
	TupleDesc desc;
	Datum values[HG_SQL_ROW_COLUMNS];
	bool nulls[HG_SQL_ROW_COLUMNS];
} HgSqlRow;

/*
 * Start a row of all NULLs of the type that the function returns, which must be a row
 * of that many columns: the installed SQL may be of another version than the library.
 */
static inline HgSqlRow
hg_sql_row_start(FunctionCallInfo fcinfo, int columns)
{
	HgSqlRow row = {0};

	Assert(columns <= HG_SQL_ROW_COLUMNS);
	if (get_call_result_type(fcinfo, NULL, &row.desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (row.desc->natts != columns)
		elog(ERROR, "return type has %d columns, expected %d", row.desc->natts, columns);
	row.desc = BlessTupleDesc(row.desc);
	memset(row.nulls, true, sizeof(row.nulls));
	return row;
}

/* The row as a function returns it. */
static inline Datum
hg_sql_row_finish(HgSqlRow *row)
{
	return HeapTupleGetDatum(heap_form_tuple(row->desc, row->values, row->nulls));
}

static inline void
hg_sql_row_set(HgSqlRow *row, int column, Datum value)
{
	row->values[column] = value;
	row->nulls[column] = false;
}

/* Close the gap of a column that the result's version does not have. */
static inline void
hg_sql_row_leave_out(HgSqlRow *row, int column)
{
	int after = HG_SQL_ROW_COLUMNS - column - 1;

	memmove(&row->values[column], &row->values[column + 1], after * sizeof(Datum));
	memmove(&row->nulls[column], &row->nulls[column + 1], after * sizeof(bool));
}

/* A bigint. */
static inline void
hg_sql_row_set_count(HgSqlRow *row, int column, uint64 value)
{
	hg_sql_row_set(row, column, Int64GetDatum((int64) value));
}

/* A double precision. */
static inline void
hg_sql_row_set_number(HgSqlRow *row, int column, double value)
{
	hg_sql_row_set(row, column, Float8GetDatum(value));
}

/* A double precision, left NULL where nothing is divided by nothing. */
static inline void
hg_sql_row_set_ratio(HgSqlRow *row, int column, uint64 value, uint64 by)
{
	if (by > 0)
		hg_sql_row_set_number(row, column, (double) value / (double) by);
}

/* A text, left NULL where it is empty. */
static inline void
hg_sql_row_set_text(HgSqlRow *row, int column, const char *value)
{
	if (value[0] != '\0')
		hg_sql_row_set(row, column, CStringGetTextDatum(value));
}

#endif /* HG_SQL_ROW_H */
