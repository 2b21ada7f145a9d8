/*-------------------------------------------------------------------------
 *
 * hg_sql_join.c
 *	  hashgraph_join(): joins of two tables and of two arrays.
 *
 * Both functions return their matches in a tuplestore, which goes to a temporary
 * file when it passes work_mem.  The keys (and ctids) of both sides are held in
 * memory; nothing else grows with the input, and nothing at all with the output.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "backend/hg_stats.h"
#include "sql/hg_sql_match.h"

PG_FUNCTION_INFO_V1(hashgraph_join_tables);
PG_FUNCTION_INFO_V1(hashgraph_join_arrays);

/* Matches ahead of the current one whose ctids are asked for from memory. */
#define PREFETCH_DISTANCE 16

/* The keys of an array. */
typedef struct HgSqlArray
{
	const int64 *keys; /* [rows], NULLs left out */
	uint32 *positions; /* [rows] from 1; NULL where row i is position i + 1 */
	uint64 rows;
	uint64 nulls;
} HgSqlArray;

/* File a finished join of either function. */
static void
hg_sql_join_record(HgMatcher *matcher, uint64 left_nulls, uint64 right_nulls, uint64 rows_out,
				   uint64 memory_bytes, bool recheck, double scan_ms, instr_time start)
{
	HgJoinRecord record = {
		.node = "hashgraph_join",
		.join_type = "Inner",
		.executions = 1,
		.null_keys = {left_nulls, right_nulls},
		.rows_out = rows_out,
		.partitions = 1,
		.memory_bytes = memory_bytes,
		.recheck = recheck,
		.scan_ms = scan_ms,
	};

	hg_matcher_report(matcher, &record.report);
	record.total_ms = hg_sql_ms_since(start);
	hg_stats_record(&record);
}

/*
 * Put the rows that joined into the result, after the recheck where there is one.
 * Returns their number.
 */
static uint64
hg_sql_join_return_ctids(HgSqlMatch *match, ReturnSetInfo *result)
{
	static const int in_place[HG_SQL_COLUMNS] = {HG_SQL_CTID, HG_SQL_KEY};
	const HgColumnStore *left_rows = match->sides[HG_OUTER].rows;
	const HgColumnStore *right_rows = match->sides[HG_INNER].rows;
	const uint32 *left;
	const uint32 *right;
	size_t count;
	uint64 rows_out = 0;

	while (hg_matcher_next(match->matcher, &left, &right, &count))
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < count; i++)
		{
			Datum left_values[HG_SQL_COLUMNS];
			Datum right_values[HG_SQL_COLUMNS];
			bool nulls[HG_SQL_COLUMNS];

			if (i + PREFETCH_DISTANCE < count)
			{
				hg_column_store_prefetch(left_rows, left[i + PREFETCH_DISTANCE]);
				hg_column_store_prefetch(right_rows, right[i + PREFETCH_DISTANCE]);
			}
			if (!match->exact && !hg_sql_match_recheck(match, left[i], right[i]))
				continue;
			hg_column_store_get(left_rows, left[i], left_values, nulls, in_place);
			hg_column_store_get(right_rows, right[i], right_values, nulls, in_place);
			tuplestore_putvalues(result->setResult, result->setDesc,
								 (Datum[]){left_values[HG_SQL_CTID], right_values[HG_SQL_CTID]},
								 (bool[]){false, false});
			rows_out++;
		}
	}
	return rows_out;
}

/* hashgraph_join(left_rel regclass, left_key name, right_rel regclass, right_key name) */
Datum
hashgraph_join_tables(PG_FUNCTION_ARGS)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "hashgraph_join", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	HgSqlMatch match;
	uint64 rows_out;

	InitMaterializedSRF(fcinfo, 0);
	caller = MemoryContextSwitchTo(context);
	hg_sql_match_open(&match, PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), PG_GETARG_OID(2),
					  NameStr(*PG_GETARG_NAME(3)), true);
	rows_out = hg_sql_join_return_ctids(&match, (ReturnSetInfo *) fcinfo->resultinfo);
	hg_sql_join_record(
		match.matcher, match.sides[HG_OUTER].null_keys, match.sides[HG_INNER].null_keys, rows_out,
		hg_sql_side_bytes(&match.sides[HG_OUTER]) + hg_sql_side_bytes(&match.sides[HG_INNER]),
		!match.exact, match.scan_ms, match.start);
	hg_matcher_destroy(match.matcher);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return (Datum) 0;
}

/*
 * The keys of an array, in storage order.  They lie in the array itself where it has
 * no NULLs, and are copied where it has some.
 */
static HgSqlArray
hg_sql_read_array(ArrayType *array)
{
	HgSqlArray result = {0};
	int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const int64 *data = (const int64 *) ARR_DATA_PTR(array);
	const bits8 *validity = ARR_NULLBITMAP(array);
	int64 *keys;

	Assert(ARR_ELEMTYPE(array) == INT8OID);
	if (validity == NULL)
	{
		result.keys = data;
		result.rows = count;
		return result;
	}

	keys = palloc_extended(count * sizeof(int64), MCXT_ALLOC_HUGE);
	result.positions = palloc(count * sizeof(uint32));
	for (int i = 0; i < count; i++)
	{
		if ((validity[i / 8] & (1 << (i % 8))) == 0)
		{
			result.nulls++;
			continue;
		}
		keys[result.rows] = *data++; /* a NULL takes no room */
		result.positions[result.rows++] = i + 1;
	}
	result.keys = keys;
	return result;
}

/* The position of a row in its array. */
static inline Datum
hg_sql_array_position(const HgSqlArray *array, uint32 row)
{
	return Int64GetDatum(array->positions == NULL ? (int64) row + 1 : array->positions[row]);
}

/* hashgraph_join(left_keys bigint[], right_keys bigint[]) */
Datum
hashgraph_join_arrays(PG_FUNCTION_ARGS)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "hashgraph_join", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HgMatcherSpec spec = {.key_width = sizeof(int64), .mode = HG_MATCH_ALL};
	HgSqlArray arrays[2];
	HgKeyPiece pieces[2];
	HgKeySet sets[2];
	HgMatcher *matcher;
	const uint32 *left;
	const uint32 *right;
	size_t count;
	uint64 rows_out = 0;
	uint64 bytes = 0;
	instr_time start;
	double scan_ms;

	INSTR_TIME_SET_CURRENT(start);
	InitMaterializedSRF(fcinfo, 0);
	caller = MemoryContextSwitchTo(context);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		arrays[side] = hg_sql_read_array(PG_GETARG_ARRAYTYPE_P(side));
		pieces[side] = (HgKeyPiece){.keys = arrays[side].keys, .count = arrays[side].rows};
		sets[side] = (HgKeySet){.pieces = &pieces[side],
								.npieces = arrays[side].rows > 0 ? 1 : 0,
								.rows = arrays[side].rows};
		bytes += arrays[side].rows * sizeof(int64);
	}
	scan_ms = hg_sql_ms_since(start);

	matcher = hg_matcher_create(&spec, &sets[HG_OUTER], &sets[HG_INNER]);
	while (hg_matcher_next(matcher, &left, &right, &count))
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < count; i++)
			tuplestore_putvalues(result->setResult, result->setDesc,
								 (Datum[]){hg_sql_array_position(&arrays[HG_OUTER], left[i]),
										   hg_sql_array_position(&arrays[HG_INNER], right[i])},
								 (bool[]){false, false});
		rows_out += count;
	}
	hg_sql_join_record(matcher, arrays[HG_OUTER].nulls, arrays[HG_INNER].nulls, rows_out, bytes,
					   false, scan_ms, start);
	hg_matcher_destroy(matcher);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return (Datum) 0;
}
