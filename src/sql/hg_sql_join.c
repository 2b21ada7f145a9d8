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
#include "hg_compat.h"

#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "executor/join/hg_join.h"
#include "planner/hg_join_path.h"
#include "sql/hg_sql_relation.h"

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
