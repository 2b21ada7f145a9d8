/*-------------------------------------------------------------------------
 *
 * hg_sql_last_plan.c
 *	  hashgraph_last_plan().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/tuplestore.h"

#include "backend/hg_last_plan.h"
#include "sql/hg_sql_row.h"

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
