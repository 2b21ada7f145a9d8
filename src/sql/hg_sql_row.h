/*-------------------------------------------------------------------------
 *
 * hg_sql_row.h
 *	  Result rows with many columns, which are filled one by one.
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
 * Starts a row of NULLs of the function's result type.  Raises an error if that is no row type
 * with this number of columns: the installed SQL may be of another version than the library.
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

/* Returns the row as the function's result. */
static inline Datum
hg_sql_row_finish(HgSqlRow *row)
{
	return HeapTupleGetDatum(heap_form_tuple(row->desc, row->values, row->nulls));
}

/* Sets a column, by its number from 0. */
static inline void
hg_sql_row_set(HgSqlRow *row, int column, Datum value)
{
	row->values[column] = value;
	row->nulls[column] = false;
}

/*
 * Removes a column that the installed result type lacks.  Each later column moves down by one.
 * Remove the last column first.
 */
static inline void
hg_sql_row_leave_out(HgSqlRow *row, int column)
{
	int after = HG_SQL_ROW_COLUMNS - column - 1;

	memmove(&row->values[column], &row->values[column + 1], after * sizeof(Datum));
	memmove(&row->nulls[column], &row->nulls[column + 1], after * sizeof(bool));
}

/* Sets a bigint column. */
static inline void
hg_sql_row_set_count(HgSqlRow *row, int column, uint64 value)
{
	hg_sql_row_set(row, column, Int64GetDatum((int64) value));
}

/* Sets a double precision column. */
static inline void
hg_sql_row_set_number(HgSqlRow *row, int column, double value)
{
	hg_sql_row_set(row, column, Float8GetDatum(value));
}

/* Sets a double precision column to value / by; leaves it NULL if by is 0. */
static inline void
hg_sql_row_set_ratio(HgSqlRow *row, int column, uint64 value, uint64 by)
{
	if (by > 0)
		hg_sql_row_set_number(row, column, (double) value / (double) by);
}

/* Sets a text column; leaves it NULL if value is empty. */
static inline void
hg_sql_row_set_text(HgSqlRow *row, int column, const char *value)
{
	if (value[0] != '\0')
		hg_sql_row_set(row, column, CStringGetTextDatum(value));
}

#endif /* HG_SQL_ROW_H */
