/*-------------------------------------------------------------------------
 *
 * hg_sql_join.c
 *	  hashgraph_join() over tables.
 *
 * The function is an ordinary join query of the two tables' ctids, run through SPI as
 * the caller under the active snapshot and planned with the join node forced, whatever
 * the settings are and whether or not the session preloads the library: privileges, row
 * security and visibility are PostgreSQL's own, and memory and temporary files those of
 * the node.  Should the planner have no use for the node, it is the same query all the
 * same.  The result is a tuplestore, which goes to a temporary file when it passes
 * work_mem.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "planner/hg_planner.h"
#include "sql/hg_sql_relation.h"

PG_FUNCTION_INFO_V1(hashgraph_join_tables);

/* Switch a setting on until the end of the current level of settings. */
static void
hg_sql_join_switch_on(const char *setting)
{
	(void) set_config_option(setting, "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

/*
 * Open a cursor for the query.  Planning is all that the settings and hooks are changed for:
 * what runs inside the query (a row security policy's functions) is planned as ever.
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
	hg_planner_acquire();
	PG_TRY();
	{
		portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	}
	PG_FINALLY();
	{
		hg_planner_release();
	}
	PG_END_TRY();
	AtEOXact_GUC(true, level);
	return portal;
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
	PortalRunFetch(portal, FETCH_FORWARD, FETCH_ALL, receiver);
	SPI_cursor_close(portal);
	SPI_finish();
	receiver->rDestroy(receiver);
	return (Datum) 0;
}
