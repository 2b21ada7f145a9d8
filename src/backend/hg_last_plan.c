/*-------------------------------------------------------------------------
 *
 * hg_last_plan.c
 *	  The joins and aggregations of the last plan, and why PostgreSQL's nodes do them.
 *
 * A plan is stored as an array of steps and a string of names, in memory that the session reuses.
 * This is done for each planned statement, so nothing is formatted or looked up before a user
 * asks.
 *
 * THREE PLANS are stored: the last one, the one before, and one that is being filled.  If the last
 * one turns out to be that of the statement that calls hashgraph_last_plan(), the one before
 * replaces it.  The function's OID is not known until it is called.  From then on, statements that
 * call it are recognized by the hash of its catalog entry, which PostgreSQL stores for each
 * function that a plan depends on.
 *
 * WHICH STATEMENT.  A plan is published when it has been made.  Executing or explaining it starts
 * it, for the first time.  The same plan of a plan cache starts again without being planned;
 * whoever sees that publishes it anew.  A copy of a plan is recognized by its costs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "backend/hg_last_plan.h"
#include "backend/hg_privilege.h"
#include "backend/hg_stats.h"

/* Maximum number of functions of a plan that are remembered. */
#define HG_LAST_PLAN_FUNCTIONS 16

struct HgLastPlan
{
	HgPlanStep *steps; /* [allocated_steps] */
	char *names; /* [allocated_bytes]: for each name an Oid, and the alias with its terminator */
	int count;
	int allocated_steps;
	int bytes;
	int allocated_bytes;
	/* Set when the plan is published: */
	Oid user;								  /* its owner */
	uint64 statement;						  /* number of the statement */
	uint64 discards;						  /* number of DISCARD ALLs of the session before */
	uint32 functions[HG_LAST_PLAN_FUNCTIONS]; /* hashes of functions that it depends on */
	int nfunctions;
};

/* The statement that was planned last, as far as needed to recognize a copy of it. */
typedef struct HgPlanned
{
	bool started; /* it has been executed or explained */
	bool listed;  /* the last plan has its steps; else it has none */
	NodeTag tag;  /* of its topmost node, like the costs and rows */
	int subplans;
	int relations;
	Cost startup_cost;
	Cost total_cost;
	Cardinality rows;
} HgPlanned;

static HgPlanned hg_planned;

static MemoryContext hg_last_plan_context;
static HgLastPlan hg_plans[3];
static HgLastPlan *hg_last = &hg_plans[0];
static HgLastPlan *hg_before = &hg_plans[1];
static HgLastPlan *hg_filled = &hg_plans[2];

/* The hash of hashgraph_last_plan(); 0 until it has been called. */
static uint32 hg_asking_function;

const char *
hg_plan_reason_text(HgPlanReason reason)
{
	switch (reason)
	{
		case HG_REASON_COST:
			return "costs more than PostgreSQL's plan";
		case HG_REASON_FEW_ROWS:
			return "fewer input rows than hashgraph.min_rows";
		case HG_REASON_NO_CLAUSE:
			return "no hashable equality clause";
		case HG_REASON_LATERAL:
			return "lateral reference between the inputs";
		case HG_REASON_COLUMNS:
			return "input column that cannot be returned";
		case HG_REASON_CONSTANT_CLAUSE:
			return "clause without columns";
		case HG_REASON_GROUPING_SETS:
			return "grouping sets";
		case HG_REASON_GROUP_KEYS:
			return "volatile or unhashable group column";
		case HG_REASON_AGGREGATE:
			return "unsupported aggregate";
		case HG_REASON_NOT_ENABLED:
			return "hashgraph.enabled is off";
		case HG_REASON_NO_HASHJOIN:
			return "enable_hashjoin is off";
		case HG_REASON_NO_HASHAGG:
			return "enable_hashagg is off";
		case HG_REASON_NOT_PRELOADED:
			return "library not preloaded";
		case HG_REASON_CACHED:
			return "unknown: cached plan";
		case HG_REASON_CHOSEN:
		case HG_REASONS:
			break;
	}
	return NULL;
}

/* Enlarges an array in the session's memory to at least needed elements. */
static void *
hg_last_plan_enlarge(void *array, int *allocated, int needed, size_t size)
{
	int more = Max(2 * *allocated, Max(needed, 64));

	if (hg_last_plan_context == NULL)
		hg_last_plan_context =
			AllocSetContextCreate(TopMemoryContext, "hashgraph last plan", ALLOCSET_DEFAULT_SIZES);
	array = array == NULL ? MemoryContextAlloc(hg_last_plan_context, more * size)
						  : repalloc(array, more * size);
	*allocated = more;
	return array;
}

HgLastPlan *
hg_last_plan_begin(void)
{
	hg_filled->count = 0;
	hg_filled->bytes = 0;
	return hg_filled;
}

bool
hg_last_plan_add(HgLastPlan *plan, const char *node, bool aggregate, bool chosen,
				 HgPlanReason reason)
{
	if (plan->count == HG_LAST_PLAN_STEPS)
		return false;
	if (plan->count == plan->allocated_steps)
		plan->steps = hg_last_plan_enlarge(plan->steps, &plan->allocated_steps, plan->count + 1,
										   sizeof(HgPlanStep));
	plan->steps[plan->count++] = (HgPlanStep){node, aggregate, chosen, reason, 0, plan->bytes};
	return true;
}

void
hg_last_plan_add_name(HgLastPlan *plan, const char *alias, Oid child)
{
	int length = strlen(alias) + 1;
	int needed = plan->bytes + sizeof(Oid) + length;

	if (needed > HG_LAST_PLAN_NAME_BYTES)
		return;
	if (needed > plan->allocated_bytes)
		plan->names = hg_last_plan_enlarge(plan->names, &plan->allocated_bytes, needed, 1);
	memcpy(plan->names + plan->bytes, &child, sizeof(Oid));
	memcpy(plan->names + plan->bytes + sizeof(Oid), alias, length);
	plan->bytes = needed;
	plan->steps[plan->count - 1].names++;
}

void
hg_last_plan_share_names(HgLastPlan *plan)
{
	plan->steps[plan->count - 1].names = -1;
}

/* Returns true if a statement calls hashgraph_last_plan(). */
static bool
hg_last_plan_is_asked(const PlannedStmt *statement)
{
	ListCell *lc;

	if (hg_asking_function != 0)
		foreach (lc, statement->invalItems)
		{
			const PlanInvalItem *item = lfirst_node(PlanInvalItem, lc);

			if (item->cacheId == PROCOID && item->hashValue == hg_asking_function)
				return true;
		}
	return false;
}

bool
hg_last_plan_is_wanted(void)
{
	return hg_stats_expects_plan() ||
		   !(hg_planned.started && hg_planned.listed && hg_stats_is_running() &&
			 hg_last->statement == hg_stats_statement());
}

static HgPlanned
hg_planned_of(const PlannedStmt *statement)
{
	const Plan *top = statement->planTree;

	return (HgPlanned){.tag = nodeTag(top),
					   .subplans = list_length(statement->subplans),
					   .relations = list_length(statement->rtable),
					   .startup_cost = top->startup_cost,
					   .total_cost = top->total_cost,
					   .rows = top->plan_rows};
}

/* Returns true if this is the statement that was planned last, or a copy of it. */
static bool
hg_planned_is(const PlannedStmt *statement)
{
	HgPlanned other = hg_planned_of(statement);

	return hg_planned.total_cost == other.total_cost &&
		   hg_planned.startup_cost == other.startup_cost && hg_planned.rows == other.rows &&
		   hg_planned.tag == other.tag && hg_planned.subplans == other.subplans &&
		   hg_planned.relations == other.relations;
}

/* Stores the hashes of functions that a statement depends on. */
static void
hg_last_plan_set_functions(HgLastPlan *plan, const PlannedStmt *statement)
{
	ListCell *lc;

	plan->nfunctions = 0;
	foreach (lc, statement->invalItems)
	{
		const PlanInvalItem *item = lfirst_node(PlanInvalItem, lc);

		if (item->cacheId == PROCOID && plan->nfunctions < HG_LAST_PLAN_FUNCTIONS)
			plan->functions[plan->nfunctions++] = item->hashValue;
	}
}

void
hg_last_plan_publish(HgLastPlan *plan, const PlannedStmt *statement, bool started)
{
	HgLastPlan *spare = hg_before;

	Assert(plan == hg_filled);
	hg_planned = hg_planned_of(statement);
	hg_planned.started = started;
	hg_planned.listed = plan->count > 0 && !hg_last_plan_is_asked(statement);
	if (!hg_planned.listed)
		return;
	plan->user = GetUserId();
	plan->statement = hg_stats_statement();
	plan->discards = hg_stats_discards();
	hg_last_plan_set_functions(plan, statement);
	hg_before = hg_last;
	hg_last = plan;
	hg_filled = spare;
}

bool
hg_last_plan_start(const PlannedStmt *statement)
{
	if (hg_planned.started || !hg_planned_is(statement))
		return false;
	hg_planned.started = true;
	return true;
}

bool
hg_last_plan_find(const PlannedStmt *statement, const HgLastPlan **plan)
{
	*plan = hg_planned.listed ? hg_last : NULL;
	return hg_planned.started && hg_planned_is(statement);
}

/* Returns true if a plan depends on hashgraph_last_plan(). */
static bool
hg_last_plan_asks(const HgLastPlan *plan)
{
	for (int i = 0; i < plan->nfunctions; i++)
		if (plan->functions[i] == hg_asking_function)
			return true;
	return false;
}

const HgLastPlan *
hg_last_plan_for(Oid function)
{
	hg_asking_function = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(function));
	if (hg_last->count > 0 && hg_last_plan_asks(hg_last))
	{
		HgLastPlan *asking = hg_last;

		hg_last = hg_before;
		hg_before = asking;
		asking->count = 0;
		hg_planned.listed = false;
	}
	if (hg_last->count == 0 || hg_last_plan_asks(hg_last) ||
		hg_last->discards != hg_stats_discards() || !hg_privilege_may_see_join(hg_last->user))
		return NULL;
	return hg_last;
}

int
hg_last_plan_count(const HgLastPlan *plan)
{
	return plan->count;
}

const HgPlanStep *
hg_last_plan_step(const HgLastPlan *plan, int number)
{
	return &plan->steps[number];
}

List *
hg_last_plan_names(const HgLastPlan *plan, const HgPlanStep *step)
{
	List *names = NIL;
	const char *at;

	/* there was no room for the next step */
	if (step->names < 0 && ++step == plan->steps + plan->count)
		return NIL;
	at = plan->names + step->offset;
	for (int i = 0; i < step->names; i++)
	{
		Oid child;
		char *name = NULL;

		memcpy(&child, at, sizeof(Oid));
		at += sizeof(Oid);
		if (OidIsValid(child))
			name = get_rel_name(child);
		names = lappend(names, name != NULL ? name : pstrdup(at));
		at += strlen(at) + 1;
	}
	return names;
}
