/*-------------------------------------------------------------------------
 *
 * hg_sql_stat.c
 *	  hashgraph_last_joins(), hashgraph_stat() and hashgraph_stat_reset().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "backend/hg_last_plan.h"
#include "backend/hg_privilege.h"
#include "backend/hg_progress.h"
#include "backend/hg_stats.h"
#include "engine/hg_engine.h"
#include "resident/hg_resident_statistics.h"
#include "sql/hg_sql_row.h"

PG_FUNCTION_INFO_V1(hashgraph_last_joins);
PG_FUNCTION_INFO_V1(hashgraph_last_joins_0_2);
PG_FUNCTION_INFO_V1(hashgraph_last_joins_0_3);
PG_FUNCTION_INFO_V1(hashgraph_stat);
PG_FUNCTION_INFO_V1(hashgraph_stat_0_4);
PG_FUNCTION_INFO_V1(hashgraph_stat_reset);

/* Numbers of the columns of hashgraph_last_joins(). */
typedef enum HgLastJoinsColumn
{
	JOIN_ORDINAL = 0,
	JOIN_NODE,
	JOIN_TYPE,
	JOIN_BACKEND,
	JOIN_DEVICE,
	JOIN_FALLBACK,
	JOIN_BUILD,
	JOIN_PROBE,
	JOIN_EXECUTIONS,
	JOIN_OUTER_ROWS,
	JOIN_INNER_ROWS,
	JOIN_OUTER_NULL_KEYS,
	JOIN_INNER_NULL_KEYS,
	JOIN_VERTICES,
	JOIN_BINS,
	JOIN_MATCHES,
	JOIN_RECHECK,
	JOIN_ROWS_OUT,
	JOIN_COMPARISONS,
	JOIN_INTERSECTIONS,
	JOIN_PARTITIONS,
	JOIN_DEVICE_RANGES, /* since 0.2 */
	JOIN_MEMORY_BYTES,
	JOIN_ENGINE_BYTES,
	JOIN_SPILLED_BYTES,
	JOIN_SENT_ROWS, /* since 0.3 */
	JOIN_START_MS,
	JOIN_SCAN_MS,
	JOIN_TRANSFER_MS,
	JOIN_BIN_MS,
	JOIN_BUILD_MS,
	JOIN_MATCH_MS,
	JOIN_TOTAL_MS,
	JOIN_COLUMNS
} HgLastJoinsColumn;

/* Numbers of the columns of hashgraph_stat(). */
typedef enum HgStatColumn
{
	STAT_JOINS = 0,
	STAT_CPU_JOINS,
	STAT_CUDA_JOINS,
	STAT_FALLBACKS,
	STAT_ERRORS,
	STAT_OUTER_ROWS,
	STAT_INNER_ROWS,
	STAT_MATCHES,
	STAT_ROWS_OUT,
	STAT_SPILLED_JOINS,
	STAT_SPILLED_BYTES,
	STAT_SCAN_MS,
	STAT_TRANSFER_MS,
	STAT_BIN_MS,
	STAT_BUILD_MS,
	STAT_MATCH_MS,
	STAT_TOTAL_MS,
	STAT_STATS_RESET,
	STAT_LOOKUPS, /* this and later columns: since 0.4 */
	STAT_SWITCHES,
	STAT_COLUMNS
} HgStatColumn;

static void
hg_sql_last_joins_fill(HgSqlRow *row, int ordinal, const HgJoinRecord *record)
{
	const HgMatcherReport *report = &record->report;
	const HgJobStats *job = &report->job;

	hg_sql_row_set(row, JOIN_ORDINAL, Int32GetDatum(ordinal));
	hg_sql_row_set_text(row, JOIN_NODE, record->node);
	hg_sql_row_set_text(row, JOIN_TYPE, record->join_type);
	hg_sql_row_set_text(row, JOIN_BACKEND, report->backend);
	hg_sql_row_set_text(row, JOIN_DEVICE, report->device);
	hg_sql_row_set_text(row, JOIN_FALLBACK, hg_report_fallback(report));
	hg_sql_row_set_text(row, JOIN_BUILD, hg_build_name(job->build));
	hg_sql_row_set_text(row, JOIN_PROBE, hg_probe_name(job->probe));
	hg_sql_row_set_count(row, JOIN_EXECUTIONS, record->executions);
	hg_sql_row_set_count(row, JOIN_OUTER_ROWS, job->rows[HG_OUTER] + record->null_keys[HG_OUTER]);
	hg_sql_row_set_count(row, JOIN_INNER_ROWS, job->rows[HG_INNER] + record->null_keys[HG_INNER]);
	hg_sql_row_set_count(row, JOIN_OUTER_NULL_KEYS, record->null_keys[HG_OUTER]);
	hg_sql_row_set_count(row, JOIN_INNER_NULL_KEYS, record->null_keys[HG_INNER]);
	hg_sql_row_set_count(row, JOIN_VERTICES, job->vertices);
	hg_sql_row_set_count(row, JOIN_BINS, job->bins);
	hg_sql_row_set_count(row, JOIN_MATCHES, job->matches);
	hg_sql_row_set(row, JOIN_RECHECK, BoolGetDatum(record->recheck));
	hg_sql_row_set_count(row, JOIN_ROWS_OUT, record->rows_out);
	hg_sql_row_set_count(row, JOIN_COMPARISONS, job->comparisons);
	hg_sql_row_set_count(row, JOIN_INTERSECTIONS, job->intersections);
	hg_sql_row_set_count(row, JOIN_PARTITIONS, record->partitions);
	if (report->device[0] != '\0')
		hg_sql_row_set_count(row, JOIN_DEVICE_RANGES, job->passes);
	hg_sql_row_set_count(row, JOIN_MEMORY_BYTES, record->memory_bytes);
	hg_sql_row_set_count(row, JOIN_ENGINE_BYTES, job->peak_bytes);
	hg_sql_row_set_count(row, JOIN_SPILLED_BYTES, record->spilled_bytes);
	hg_sql_row_set_count(row, JOIN_SENT_ROWS, report->uploaded_rows);
	hg_sql_row_set_number(row, JOIN_START_MS, report->start_ms);
	hg_sql_row_set_number(row, JOIN_SCAN_MS, record->scan_ms);
	hg_sql_row_set_number(row, JOIN_TRANSFER_MS, job->phase_ms[HG_PHASE_TRANSFER]);
	hg_sql_row_set_number(row, JOIN_BIN_MS, job->phase_ms[HG_PHASE_BIN]);
	hg_sql_row_set_number(row, JOIN_BUILD_MS, job->phase_ms[HG_PHASE_BUILD]);
	hg_sql_row_set_number(row, JOIN_MATCH_MS, job->phase_ms[HG_PHASE_MATCH]);
	hg_sql_row_set_number(row, JOIN_TOTAL_MS, record->total_ms);
}

/*
 * Returns the joins of this session's last statement that had one, if the current user may see
 * them.  Leaves out the columns missing[nmissing], the last one first, which the installed version
 * of the extension does not declare.
 */
static void
hg_sql_last_joins_return(FunctionCallInfo fcinfo, int nmissing, const HgLastJoinsColumn *missing)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const HgJoinRecord *records;
	int count;
	int visible = 0;

	InitMaterializedSRF(fcinfo, 0);
	records = hg_stats_last_joins(&count);
	for (int i = 0; i < count; i++)
	{
		HgSqlRow row;

		if (!hg_privilege_may_see_join(records[i].user))
			continue;
		row = hg_sql_row_start(fcinfo, JOIN_COLUMNS - nmissing);
		hg_sql_last_joins_fill(&row, ++visible, &records[i]);
		for (int m = 0; m < nmissing; m++)
			hg_sql_row_leave_out(&row, missing[m]);
		tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
	}
}

/* hashgraph_last_joins() of version 0.1. */
Datum
hashgraph_last_joins(PG_FUNCTION_ARGS)
{
	const HgLastJoinsColumn missing[] = {JOIN_SENT_ROWS, JOIN_DEVICE_RANGES};

	hg_sql_last_joins_return(fcinfo, lengthof(missing), missing);
	return (Datum) 0;
}

/* hashgraph_last_joins() of version 0.2. */
Datum
hashgraph_last_joins_0_2(PG_FUNCTION_ARGS)
{
	const HgLastJoinsColumn missing[] = {JOIN_SENT_ROWS};

	hg_sql_last_joins_return(fcinfo, lengthof(missing), missing);
	return (Datum) 0;
}

/* hashgraph_last_joins() since 0.3. */
Datum
hashgraph_last_joins_0_3(PG_FUNCTION_ARGS)
{
	hg_sql_last_joins_return(fcinfo, 0, NULL);
	return (Datum) 0;
}

static void
hg_sql_stat_check(bool counted)
{
	if (!counted)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("hashgraph counts joins only if loaded via \"shared_preload_libraries\""),
				 errhint("Add hashgraph to shared_preload_libraries and restart the server.")));
}

/* Returns this database's counters since the last reset, as a row of ncolumns columns. */
static Datum
hg_sql_stat_return(FunctionCallInfo fcinfo, int ncolumns)
{
	HgSqlRow row = hg_sql_row_start(fcinfo, ncolumns);
	HgStatCounters counters;

	hg_sql_stat_check(hg_stats_read(&counters));
	hg_sql_row_set_count(&row, STAT_JOINS, counters.joins);
	hg_sql_row_set_count(&row, STAT_CPU_JOINS, counters.cpu_joins);
	hg_sql_row_set_count(&row, STAT_CUDA_JOINS, counters.cuda_joins);
	hg_sql_row_set_count(&row, STAT_FALLBACKS, counters.fallbacks);
	hg_sql_row_set_count(&row, STAT_ERRORS, counters.errors);
	hg_sql_row_set_count(&row, STAT_OUTER_ROWS, counters.outer_rows);
	hg_sql_row_set_count(&row, STAT_INNER_ROWS, counters.inner_rows);
	hg_sql_row_set_count(&row, STAT_MATCHES, counters.matches);
	hg_sql_row_set_count(&row, STAT_ROWS_OUT, counters.rows_out);
	hg_sql_row_set_count(&row, STAT_SPILLED_JOINS, counters.spilled_joins);
	hg_sql_row_set_count(&row, STAT_SPILLED_BYTES, counters.spilled_bytes);
	hg_sql_row_set_number(&row, STAT_SCAN_MS, counters.scan_ms);
	hg_sql_row_set_number(&row, STAT_TRANSFER_MS, counters.transfer_ms);
	hg_sql_row_set_number(&row, STAT_BIN_MS, counters.bin_ms);
	hg_sql_row_set_number(&row, STAT_BUILD_MS, counters.build_ms);
	hg_sql_row_set_number(&row, STAT_MATCH_MS, counters.match_ms);
	hg_sql_row_set_number(&row, STAT_TOTAL_MS, counters.total_ms);
	hg_sql_row_set(&row, STAT_STATS_RESET, TimestampTzGetDatum(counters.reset_at));
	if (ncolumns > STAT_LOOKUPS)
	{
		hg_sql_row_set_count(&row, STAT_LOOKUPS, counters.lookups);
		hg_sql_row_set_count(&row, STAT_SWITCHES, counters.switches);
	}
	return hg_sql_row_finish(&row);
}

/* hashgraph_stat() before version 0.4. */
Datum
hashgraph_stat(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(hg_sql_stat_return(fcinfo, STAT_LOOKUPS));
}

/* hashgraph_stat() since 0.4. */
Datum
hashgraph_stat_0_4(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(hg_sql_stat_return(fcinfo, STAT_COLUMNS));
}

/* hashgraph_stat_reset(): resets this database's counters, and the server's of the cache. */
Datum
hashgraph_stat_reset(PG_FUNCTION_ARGS)
{
	hg_resident_statistics_reset();
	hg_sql_stat_check(hg_stats_reset());
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------------------
 * hashgraph_last_plan()
 * ---------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(hashgraph_last_plan);

/* Numbers of the columns of hashgraph_last_plan(). */
typedef enum HgLastPlanColumn
{
	STEP_NUMBER = 0,
	STEP_OPERATION,
	STEP_NODE,
	STEP_RELATIONS,
	STEP_CHOSEN,
	STEP_REASON,
	STEP_COLUMNS
} HgLastPlanColumn;

/* Returns names as a text array. */
static Datum
hg_sql_name_array(const List *names)
{
	int count = list_length(names);
	Datum *elements = palloc(Max(count, 1) * sizeof(Datum));
	const ListCell *lc;

	foreach (lc, names)
		elements[foreach_current_index(lc)] = CStringGetTextDatum(lfirst(lc));
	return PointerGetDatum(construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* hashgraph_last_plan(): the session's last plan, if the current user may see it. */
Datum
hashgraph_last_plan(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const HgLastPlan *plan;

	InitMaterializedSRF(fcinfo, 0);
	plan = hg_last_plan_for(fcinfo->flinfo->fn_oid);
	for (int i = 0; plan != NULL && i < hg_last_plan_count(plan); i++)
	{
		const HgPlanStep *step = hg_last_plan_step(plan, i);
		const char *reason = hg_plan_reason_text(step->reason);
		HgSqlRow row = hg_sql_row_start(fcinfo, STEP_COLUMNS);

		hg_sql_row_set(&row, STEP_NUMBER, Int32GetDatum(i + 1));
		hg_sql_row_set_text(&row, STEP_OPERATION, step->aggregate ? "aggregate" : "join");
		hg_sql_row_set_text(&row, STEP_NODE, step->node);
		hg_sql_row_set(&row, STEP_RELATIONS, hg_sql_name_array(hg_last_plan_names(plan, step)));
		hg_sql_row_set(&row, STEP_CHOSEN, BoolGetDatum(step->chosen));
		if (reason != NULL)
			hg_sql_row_set_text(&row, STEP_REASON, reason);
		tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
	}
	return (Datum) 0;
}

/* ---------------------------------------------------------------------
 * hashgraph_progress(): the joins that run on the server
 * ---------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(hashgraph_progress);

/* Numbers of the columns of hashgraph_progress(). */
typedef enum HgProgressColumn
{
	PROGRESS_PID = 0,
	PROGRESS_LEADER_PID,
	PROGRESS_DATID,
	PROGRESS_PLAN_NODE_ID,
	PROGRESS_JOIN_TYPE,
	PROGRESS_OUTER_RELATIONS,
	PROGRESS_INNER_RELATIONS,
	PROGRESS_PHASE,
	PROGRESS_BACKEND,
	PROGRESS_EXECUTIONS,
	PROGRESS_OUTER_ROWS,
	PROGRESS_OUTER_ROWS_EXPECTED,
	PROGRESS_INNER_ROWS,
	PROGRESS_INNER_ROWS_EXPECTED,
	PROGRESS_PARTITIONS,
	PROGRESS_PARTITIONS_DONE,
	PROGRESS_MATCHES,
	PROGRESS_ROWS_OUT,
	PROGRESS_MEMORY_BYTES,
	PROGRESS_SPILLED_BYTES,
	PROGRESS_STARTED,
	PROGRESS_COLUMNS
} HgProgressColumn;

/* Returns the relations of a side as an array of OIDs. */
static Datum
hg_sql_progress_relations(const HgProgressJoin *join, HgSide side)
{
	Datum relations[HG_PROGRESS_RELATIONS];

	for (int i = 0; i < join->nrelations[side]; i++)
		relations[i] = ObjectIdGetDatum(join->relations[side][i]);
	return PointerGetDatum(construct_array(relations, join->nrelations[side], OIDOID, sizeof(Oid),
										   true, TYPALIGN_INT));
}

/* Fills in the columns that need the privilege to see the join. */
static void
hg_sql_progress_fill(HgSqlRow *row, const HgProgressRow *join)
{
	const HgProgressCounts *counts = &join->counts;

	if (join->leader != 0)
		hg_sql_row_set(row, PROGRESS_LEADER_PID, Int32GetDatum(join->leader));
	hg_sql_row_set(row, PROGRESS_PLAN_NODE_ID, Int32GetDatum(join->join.plan_node));
	hg_sql_row_set_text(row, PROGRESS_JOIN_TYPE, join->join.join_type);
	hg_sql_row_set(row, PROGRESS_OUTER_RELATIONS, hg_sql_progress_relations(&join->join, HG_OUTER));
	hg_sql_row_set(row, PROGRESS_INNER_RELATIONS, hg_sql_progress_relations(&join->join, HG_INNER));
	hg_sql_row_set_text(row, PROGRESS_PHASE, join->phase.words);
	hg_sql_row_set_text(row, PROGRESS_BACKEND, join->backend);
	hg_sql_row_set_count(row, PROGRESS_EXECUTIONS, counts->executions);
	hg_sql_row_set_count(row, PROGRESS_OUTER_ROWS, counts->rows[HG_OUTER]);
	hg_sql_row_set_count(row, PROGRESS_OUTER_ROWS_EXPECTED, counts->expected[HG_OUTER]);
	hg_sql_row_set_count(row, PROGRESS_INNER_ROWS, counts->rows[HG_INNER]);
	hg_sql_row_set_count(row, PROGRESS_INNER_ROWS_EXPECTED, counts->expected[HG_INNER]);
	hg_sql_row_set_count(row, PROGRESS_PARTITIONS, counts->partitions);
	hg_sql_row_set_count(row, PROGRESS_PARTITIONS_DONE, counts->joined);
	hg_sql_row_set_count(row, PROGRESS_MATCHES, counts->matches);
	hg_sql_row_set_count(row, PROGRESS_ROWS_OUT, counts->rows_out);
	hg_sql_row_set_count(row, PROGRESS_MEMORY_BYTES, counts->memory_bytes);
	hg_sql_row_set_count(row, PROGRESS_SPILLED_BYTES, counts->spilled_bytes);
	hg_sql_row_set(row, PROGRESS_STARTED, TimestampTzGetDatum(join->started));
}

/*
 * hashgraph_progress(): the running joins.  Of a join that the current user may not see it shows
 * only process and database, as PostgreSQL does for the progress of commands.
 */
Datum
hashgraph_progress(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HgProgressRow join;
	int index = 0;

	if (!hg_progress_exists())
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg(
				 "hashgraph shows running joins only if loaded via \"shared_preload_libraries\""),
			 errhint("Add hashgraph to shared_preload_libraries and restart the server.")));
	InitMaterializedSRF(fcinfo, 0);
	while (hg_progress_next(&index, &join))
	{
		HgSqlRow row = hg_sql_row_start(fcinfo, PROGRESS_COLUMNS);

		hg_sql_row_set(&row, PROGRESS_PID, Int32GetDatum(join.pid));
		hg_sql_row_set(&row, PROGRESS_DATID, ObjectIdGetDatum(join.database));
		if (hg_privilege_may_see_join(join.join.user))
			hg_sql_progress_fill(&row, &join);
		tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
	}
	return (Datum) 0;
}
