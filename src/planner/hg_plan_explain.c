/*-------------------------------------------------------------------------
 *
 * hg_plan_explain.c
 *	  EXPLAIN (HASHGRAPH): which joins and aggregations of a plan are ours, and why others are not.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "commands/defrem.h"
#include "utils/builtins.h"

#include "backend/hg_last_plan.h"
#include "backend/hg_stats.h"
#include "planner/hg_plan_cached.h"
#include "planner/hg_plan_explain.h"

#if HG_HAVE_EXPLAIN_OPTIONS

static explain_per_plan_hook_type hg_next_explain_per_plan;
static int hg_explain_id;
static bool hg_explain_is_planned;

/* Stores the option's value as the extension's state of an EXPLAIN. */
static void
hg_explain_set(ExplainState *es, DefElem *option, ParseState *pstate pg_attribute_unused())
{
	static bool on = true;

	SetExplainExtensionState(es, hg_explain_id, defGetBoolean(option) ? &on : NULL);
}

/* Prints one join or aggregation as text. */
static void
hg_explain_step_text(ExplainState *es, const HgPlanStep *step, const List *names)
{
	const char *reason = hg_plan_reason_text(step->reason);
	const ListCell *lc;

	ExplainIndentText(es);
	appendStringInfoString(es->str, step->node);
	foreach (lc, names)
		appendStringInfo(es->str, "%s%s", foreach_current_index(lc) == 0 ? " of " : ", ",
						 quote_identifier(lfirst(lc)));
	appendStringInfo(es->str, ": %s", step->chosen ? "chosen" : "not chosen");
	if (reason != NULL)
		appendStringInfo(es->str, ", %s", reason);
	appendStringInfoChar(es->str, '\n');
}

static void
hg_explain_step(ExplainState *es, const HgPlanStep *step, List *names)
{
	const char *reason = hg_plan_reason_text(step->reason);

	ExplainOpenGroup("Step", NULL, true, es);
	ExplainPropertyText("Operation", step->aggregate ? "Aggregate" : "Join", es);
	ExplainPropertyText("Node", step->node, es);
	ExplainPropertyList("Relations", names, es);
	ExplainPropertyBool("Chosen", step->chosen, es);
	if (reason != NULL)
		ExplainPropertyText("Reason", reason, es);
	ExplainCloseGroup("Step", NULL, true, es);
}

static void
hg_explain_plan(ExplainState *es, const HgLastPlan *plan)
{
	int count = plan != NULL ? hg_last_plan_count(plan) : 0;
	bool text = es->format == EXPLAIN_FORMAT_TEXT;

	if (text && count > 0)
	{
		ExplainIndentText(es);
		appendStringInfoString(es->str, "HashGraph:\n");
		es->indent++;
	}
	else
		ExplainOpenGroup("HashGraph", "HashGraph", false, es);
	for (int i = 0; i < count; i++)
	{
		const HgPlanStep *step = hg_last_plan_step(plan, i);
		List *names = hg_last_plan_names(plan, step);

		if (text)
			hg_explain_step_text(es, step, names);
		else
			hg_explain_step(es, step, names);
	}
	if (text && count > 0)
		es->indent--;
	else
		ExplainCloseGroup("HashGraph", "HashGraph", false, es);
}

static void
hg_explain_per_plan(PlannedStmt *statement, IntoClause *into, ExplainState *es, const char *query,
					ParamListInfo params, QueryEnvironment *environment)
{
	const HgLastPlan *last;
	HgLastPlan *plan;

	if (hg_next_explain_per_plan != NULL)
		hg_next_explain_per_plan(statement, into, es, query, params, environment);
	if (GetExplainExtensionState(es, hg_explain_id) != NULL)
	{
		if (hg_explain_is_planned && hg_last_plan_find(statement, &last))
			hg_explain_plan(es, last);
		else
		{
			plan = hg_last_plan_begin();
			hg_plan_cached_fill(plan, statement,
								hg_explain_is_planned ? HG_REASON_CACHED : HG_REASON_NOT_PRELOADED);
			hg_explain_plan(es, plan);
		}
	}
	/* rules may have turned the explained statement into several */
	hg_stats_expect_plan();
}

void
hg_plan_explain_init(bool planned)
{
	hg_explain_is_planned = planned;
	hg_explain_id = GetExplainExtensionId("hashgraph");
	hg_register_explain_option("hashgraph", hg_explain_set);
	hg_next_explain_per_plan = explain_per_plan_hook;
	explain_per_plan_hook = hg_explain_per_plan;
}

#else

void
hg_plan_explain_init(bool planned pg_attribute_unused())
{
}

#endif
