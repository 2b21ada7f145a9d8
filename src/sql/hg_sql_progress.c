/*-------------------------------------------------------------------------
 *
 * hg_sql_progress.c
 *	  hashgraph_progress(): the joins that run on the server.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "backend/hg_privilege.h"
#include "backend/hg_progress.h"
#include "engine/hg_engine.h"
#include "sql/hg_sql_row.h"

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
