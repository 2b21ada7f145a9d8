/*-------------------------------------------------------------------------
 *
 * hg_sql_join.c
 *	  hashgraph_join() over tables.
 *
 * The function runs an ordinary join query of the two tables' ctids through SPI, as the caller
 * under the active snapshot.  It is planned with the join node forced, whatever the settings are,
 * and whether or not the session preloads the library.  So privileges, row security and visibility
 * are PostgreSQL's own, and memory and temporary files are the node's.  If the planner has no use
 * for the node, the query is the same.  The result is a tuplestore, which goes to a temporary file
 * when it exceeds work_mem.
 *
 * A ctid identifies a row of the table's own storage.  If another extension provides the table's
 * rows from elsewhere, the query's plan shows it, and the function raises an error.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "backend/hg_stats.h"
#include "batch/hg_input.h"
#include "engine/hg_hash.h"
#include "executor/join/hg_join.h"
#include "planner/hg_paths.h"
#include "sql/hg_sql_relation.h"

/* ---------------------------------------------------------------------
 * hashgraph_join() over arrays
 *
 * The keys are bigints, which the engine reads in place in an array.  If an array has NULLs, or
 * keys and HashGraphs would exceed work memory, the keys are copied with their positions.  In the
 * latter case that is done part by part.  A part has the keys of both sides with the same share of
 * the hash, by bits of it that vertices are not made from.  The arrays are read once for each
 * part; they are in memory anyway.  A part that has more keys than expected, since one of them is
 * frequent, is joined in pieces of both sides.
 *
 * Matches go to a tuplestore, which goes to a temporary file when it exceeds work_mem.
 * ---------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(hashgraph_join_arrays);

/* Work memory of a key: as the join node computes it, and its position. */
#define KEY_BYTES (hg_held_row_bytes(sizeof(int64), 0) + sizeof(uint32))

/* Minimum number of keys in a piece; and the slack of parts over their average. */
#define LEAST_PIECE 64
#define PIECE_SLACK 1.25

/* Number of elements between two checks for interrupts. */
#define ELEMENTS_PER_LOOK 65536

/* One side: an array, and its current piece. */
typedef struct HgSqlArray
{
	const int64 *data; /* elements that are not NULL */
	const uint8 *validity;
	int count; /* number of elements */
	uint64 nulls;

	/* Where the next piece begins: */
	int next;
	const int64 *next_data;

	/* The current piece; keys and positions are own memory if capacity is not 0. */
	uint64 capacity;
	int64 *keys;	   /* [rows] */
	uint32 *positions; /* [rows] from 1; NULL if row i has position i + 1 */
	uint64 rows;
} HgSqlArray;

/* A join of two arrays. */
typedef struct HgSqlArrayJoin
{
	HgSqlArray arrays[2]; /* by HgSide */
	HgBudget budget;
	HgCharge pieces; /* memory of the current pieces */
	uint32 parts;
	ReturnSetInfo *result;
	HgJoinRecord record;
} HgSqlArrayJoin;

static inline bool
hg_sql_array_is_null(const HgSqlArray *array, int i)
{
	return array->validity != NULL && (array->validity[i / 8] & (1 << (i % 8))) == 0;
}

static void
hg_sql_array_open(HgSqlArray *array, ArrayType *value)
{
	Assert(ARR_ELEMTYPE(value) == INT8OID);
	array->count = ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
	array->data = (const int64 *) ARR_DATA_PTR(value);
	array->validity = ARR_NULLBITMAP(value);
	if (array->validity != NULL)
		for (int i = 0; i < array->count; i++)
		{
			if (i % ELEMENTS_PER_LOOK == 0)
				CHECK_FOR_INTERRUPTS();
			array->nulls += hg_sql_array_is_null(array, i);
		}
}

static void
hg_sql_array_rewind(HgSqlArray *array)
{
	array->next = 0;
	array->next_data = array->data;
}

/* Allocates memory for pieces of up to capacity keys, which are copied from now on. */
static void
hg_sql_array_reserve(HgSqlArray *array, uint64 capacity)
{
	array->capacity = Max(capacity, 1);
	array->keys =
		MemoryContextAllocHuge(CurrentMemoryContext, array->capacity * sizeof(array->keys[0]));
	array->positions =
		MemoryContextAllocHuge(CurrentMemoryContext, array->capacity * sizeof(array->positions[0]));
}

/* Makes the next piece of a part the current one.  It may be empty at the end of the array. */
static void
hg_sql_array_take(HgSqlArray *array, uint32 part, uint32 parts)
{
	int i = array->next;
	const int64 *data = array->next_data;
	uint64 rows = 0;

	if (array->capacity == 0)
	{
		/* the array itself is the only piece */
		array->keys = unconstify(int64 *, data);
		array->rows = array->count - i;
		array->next = array->count;
		return;
	}
	for (; i < array->count && rows < array->capacity; i++)
	{
		int64 key;

		if (i % ELEMENTS_PER_LOOK == 0)
			CHECK_FOR_INTERRUPTS();
		if (hg_sql_array_is_null(array, i))
			continue;
		key = *data++; /* a NULL has no element */
		if (parts > 1)
		{
			uint64 share = hg_mix64((uint64) key) & PG_UINT32_MAX;

			if ((share * parts) >> 32 != part)
				continue;
		}
		array->keys[rows] = key;
		array->positions[rows++] = i + 1;
	}
	array->next = i;
	array->next_data = data;
	array->rows = rows;
}

/* Returns the position in the array of a row of the piece. */
static inline Datum
hg_sql_array_position(const HgSqlArray *array, uint32 row)
{
	return Int64GetDatum(array->positions == NULL ? (int64) row + 1 : array->positions[row]);
}

/* Determines the number of parts, and allocates memory for what must be copied. */
static void
hg_sql_join_divide(HgSqlArrayJoin *join)
{
	double keys = 0;
	double share; /* part of all keys that fits in work memory */

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		keys += join->arrays[side].count - join->arrays[side].nulls;
	share = join->budget.limit / (keys * KEY_BYTES + 1);
	join->parts = share >= 1 ? 1 : (uint32) (PIECE_SLACK / share) + 1;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgSqlArray *array = &join->arrays[side];
		uint64 side_keys = array->count - array->nulls;

		if (join->parts > 1)
			hg_sql_array_reserve(array, Max((uint64) (side_keys * share), LEAST_PIECE));
		else if (array->nulls > 0)
			hg_sql_array_reserve(array, side_keys);
	}
}

/* Reads the next piece of a side, and adds the time. */
static void
hg_sql_join_take(HgSqlArrayJoin *join, HgSide side, uint32 part)
{
	double start = hg_clock_ms();

	hg_sql_array_take(&join->arrays[side], part, join->parts);
	join->record.scan_ms += hg_clock_ms() - start;
}

/* Joins the current pieces. */
static void
hg_sql_join_pieces(HgSqlArrayJoin *join)
{
	HgMatcherSpec spec = {.key_width = sizeof(int64), .mode = HG_MATCH_ALL};
	HgKeyPiece pieces[2];
	HgKeySet sets[2];
	HgMatcher *matcher;
	HgMatcherReport report;
	const uint32 *left;
	const uint32 *right;
	size_t count;
	uint64 bytes = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgSqlArray *array = &join->arrays[side];

		pieces[side] = (HgKeyPiece){.keys = array->keys, .count = array->rows};
		sets[side] = (HgKeySet){
			.pieces = &pieces[side], .npieces = array->rows > 0 ? 1 : 0, .rows = array->rows};
		bytes += array->rows * KEY_BYTES;
	}
	hg_charge_set(&join->pieces, bytes);

	matcher = hg_matcher_create(&spec, &sets[HG_OUTER], &sets[HG_INNER]);
	while (hg_matcher_next(matcher, &left, &right, &count))
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < count; i++)
			tuplestore_putvalues(
				join->result->setResult, join->result->setDesc,
				(Datum[]){hg_sql_array_position(&join->arrays[HG_OUTER], left[i]),
						  hg_sql_array_position(&join->arrays[HG_INNER], right[i])},
				(bool[]){false, false});
		join->record.rows_out += count;
	}
	hg_matcher_report(matcher, &report);
	hg_stats_add_report(&join->record, &report);
	hg_matcher_destroy(matcher);
}

/* Joins a part of both arrays; the first part at least once, so that there is a report. */
static void
hg_sql_join_part(HgSqlArrayJoin *join, uint32 part)
{
	HgSqlArray *outer = &join->arrays[HG_OUTER];
	HgSqlArray *inner = &join->arrays[HG_INNER];

	hg_sql_array_rewind(inner);
	do
	{
		hg_sql_join_take(join, HG_INNER, part);
		hg_sql_array_rewind(outer);
		do
		{
			if (inner->rows == 0 && join->record.executions > 0)
				break;
			hg_sql_join_take(join, HG_OUTER, part);
			if (outer->rows > 0 || join->record.executions == 0)
				hg_sql_join_pieces(join);
		} while (outer->next < outer->count);
	} while (inner->next < inner->count);
}

/* hashgraph_join(left_keys bigint[], right_keys bigint[]) */
Datum
hashgraph_join_arrays(PG_FUNCTION_ARGS)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "hashgraph_join", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	HgSqlArrayJoin *join;
	double start = hg_clock_ms();

	InitMaterializedSRF(fcinfo, 0);
	caller = MemoryContextSwitchTo(context);
	join = palloc0(sizeof(HgSqlArrayJoin));
	join->result = (ReturnSetInfo *) fcinfo->resultinfo;
	join->record.user = GetUserId();
	strlcpy(join->record.node, "hashgraph_join", sizeof(join->record.node));
	strlcpy(join->record.join_type, "Inner", sizeof(join->record.join_type));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_sql_array_open(&join->arrays[side], PG_GETARG_ARRAYTYPE_P(side));
	hg_budget_init(&join->budget, NULL, get_hash_memory_limit());
	join->pieces.budget = &join->budget;
	hg_sql_join_divide(join);
	join->record.scan_ms = hg_clock_ms() - start;
	join->record.partitions = join->parts;

	for (uint32 part = 0; part < join->parts; part++)
		hg_sql_join_part(join, part);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgSqlArray *array = &join->arrays[side];

		join->record.null_keys[side] = array->nulls;
		join->record.report.job.rows[side] = array->count - array->nulls;
	}
	join->record.memory_bytes = join->budget.peak;
	join->record.total_ms = hg_clock_ms() - start;
	hg_stats_record(&join->record);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(hashgraph_join_tables);

/* Switches a setting on until the end of the current GUC level. */
static void
hg_sql_join_switch_on(const char *setting)
{
	(void) set_config_option(setting, "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

/*
 * Opens a cursor for the query.  The settings and hooks are changed only for planning it: what
 * runs inside the query (functions of row security policies) is planned as usual.
 */
static Portal
hg_sql_join_open(const char *query)
{
	SPIPlanPtr plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_NO_SCROLL);
	int level;
	Portal portal;

	if (plan == NULL)
		elog(ERROR, "could not prepare a join: %s", SPI_result_code_string(SPI_result));
	level = NewGUCNestLevel();
	hg_sql_join_switch_on("hashgraph.enabled");
	hg_sql_join_switch_on("hashgraph.force");
	hg_join_path_acquire();
	PG_TRY();
	{
		portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	}
	PG_FINALLY();
	{
		hg_join_path_release();
	}
	PG_END_TRY();
	AtEOXact_GUC(true, level);
	return portal;
}

/* Returns true if all rows of a plan, except in quals, come from core's scans of the tables. */
static bool
hg_sql_join_plan_scans(const Plan *plan, const List *rtable, Oid left, Oid right)
{
	Oid relation;
	ListCell *lc;

	if (plan == NULL)
		return true;
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
			relation = rt_fetch(((const Scan *) plan)->scanrelid, rtable)->relid;
			return relation == left || relation == right;
		case T_CustomScan:
			if (((const CustomScan *) plan)->methods != &hg_join_scan_methods)
				return false;
			foreach (lc, ((const CustomScan *) plan)->custom_plans)
				if (!hg_sql_join_plan_scans(lfirst(lc), rtable, left, right))
					return false;
			return true;
		case T_Result:
			/* it has no input if no row can pass row security */
			break;
		default:
			if (plan->lefttree == NULL)
				return false;
			break;
	}
	return hg_sql_join_plan_scans(plan->lefttree, rtable, left, right) &&
		   hg_sql_join_plan_scans(plan->righttree, rtable, left, right);
}

/* Raises an error unless the portal's query reads both keys' tables themselves. */
static void
hg_sql_join_check_plan(Portal portal, const HgSqlKey *left, const HgSqlKey *right)
{
	const PlannedStmt *statement = linitial_node(PlannedStmt, portal->stmts);

	if (!hg_sql_join_plan_scans(statement->planTree, statement->rtable, left->relation,
								right->relation))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("rows of %s or %s do not come from the table itself", left->table,
						right->table),
				 errdetail("Another extension provides them, and a ctid does not name them."),
				 errhint("Write the join in SQL, or copy the rows to an ordinary table or a "
						 "materialized view.")));
}

/* hashgraph_join(left_rel regclass, left_key name, right_rel regclass, right_key name) */
Datum
hashgraph_join_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HgSqlKey left = hg_sql_key_check(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)));
	HgSqlKey right = hg_sql_key_check(PG_GETARG_OID(2), NameStr(*PG_GETARG_NAME(3)));
	HgKeyClause clause = hg_sql_key_clause(&left, &right);
	char *query = psprintf("SELECT l.ctid, r.ctid FROM ONLY %s AS l JOIN ONLY %s AS r ON %s",
						   left.table, right.table, hg_sql_key_condition(&left, &right, &clause));
	DestReceiver *receiver = CreateDestReceiver(DestTuplestore);
	Portal portal;

	InitMaterializedSRF(fcinfo, 0);
	SetTuplestoreDestReceiverParams(receiver, result->setResult, CurrentMemoryContext, false, NULL,
									NULL);
	SPI_connect();
	portal = hg_sql_join_open(query);
	hg_sql_join_check_plan(portal, &left, &right);
	PortalRunFetch(portal, FETCH_FORWARD, FETCH_ALL, receiver);
	SPI_cursor_close(portal);
	SPI_finish();
	receiver->rDestroy(receiver);
	return (Datum) 0;
}
