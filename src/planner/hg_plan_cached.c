/*-------------------------------------------------------------------------
 *
 * hg_plan_cached.c
 *	  Joins and aggregations of plans that were planned earlier.
 *
 * A cached plan may have been made long ago, with other settings and statistics. Its nodes tell
 * what they join and whether they are ours, but not why.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "parser/parsetree.h"

#include "backend/hg_stats.h"
#include "executor/aggregate/hg_aggregate.h"
#include "executor/join/hg_join.h"
#include "planner/hg_plan_reasons.h"

static ExecutorStart_hook_type hg_next_executor_start;

typedef struct HgCachedWalk
{
	HgLastPlan *plan; /* the plan to fill */
	List *rtable;
	HgPlanReason reason;
} HgCachedWalk;

List *
hg_plan_inputs(const Plan *plan)
{
	List *inputs = NIL;

	switch (nodeTag(plan))
	{
		case T_Append:
			return list_copy(((const Append *) plan)->appendplans);
		case T_MergeAppend:
			return list_copy(((const MergeAppend *) plan)->mergeplans);
		case T_SubqueryScan:
			return list_make1(((const SubqueryScan *) plan)->subplan);
		case T_CustomScan:
			inputs = list_copy(((const CustomScan *) plan)->custom_plans);
			if (((const CustomScan *) plan)->methods == &hg_join_scan_methods)
				inputs = list_truncate(inputs, 2);
			return inputs;
		default:
			if (plan->lefttree != NULL)
				inputs = lappend(inputs, plan->lefttree);
			if (plan->righttree != NULL)
				inputs = lappend(inputs, plan->righttree);
			return inputs;
	}
}

/* Returns the relations of a plan's rows, as indexes into the flat range table. */
static Bitmapset *
hg_plan_relids(const Plan *plan)
{
	Bitmapset *relids = NULL;
	ListCell *lc;

	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_ForeignScan:
			return bms_copy(((const ForeignScan *) plan)->fs_relids);
		case T_CustomScan:
			if (((const Scan *) plan)->scanrelid > 0)
				return bms_make_singleton(((const Scan *) plan)->scanrelid);
			break;
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_SubqueryScan:
		case T_FunctionScan:
		case T_ValuesScan:
		case T_TableFuncScan:
		case T_CteScan:
		case T_NamedTuplestoreScan:
		case T_WorkTableScan:
			return bms_make_singleton(((const Scan *) plan)->scanrelid);
		default:
			break;
	}
	foreach (lc, hg_plan_inputs(plan))
		relids = bms_join(relids, hg_plan_relids(lfirst(lc)));
	return relids;
}

static void
hg_cached_add(HgCachedWalk *walk, const Plan *plan, const char *node, bool aggregate, bool ours)
{
	Bitmapset *relids;
	int relid = -1;

	if (!hg_last_plan_add(walk->plan, node, aggregate, ours, walk->reason))
		return;
	relids = hg_plan_relids(plan);
	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		const RangeTblEntry *rte = rt_fetch(relid, walk->rtable);

		if (rte->rtekind != RTE_JOIN)
			hg_last_plan_add_name(walk->plan, rte->eref->aliasname, InvalidOid);
	}
}

static void
hg_cached_add_groups(HgCachedWalk *walk, const Agg *agg)
{
	/* what combines partial groups belongs to the node that made them */
	if (DO_AGGSPLIT_COMBINE(agg->aggsplit))
		return;
	switch (agg->aggstrategy)
	{
		case AGG_HASHED:
			hg_cached_add(walk, &agg->plan, "HashAggregate", true, false);
			break;
		case AGG_SORTED:
			hg_cached_add(walk, &agg->plan, "GroupAggregate", true, false);
			break;
		case AGG_MIXED:
			hg_cached_add(walk, &agg->plan, "MixedAggregate", true, false);
			break;
		case AGG_PLAIN:
			hg_cached_add(walk, &agg->plan, "Aggregate", true, false);
			break;
	}
}

static void
hg_cached_walk(HgCachedWalk *walk, const Plan *plan)
{
	ListCell *lc;

	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_NestLoop:
			hg_cached_add(walk, plan, "Nested Loop", false, false);
			break;
		case T_MergeJoin:
			hg_cached_add(walk, plan, "Merge Join", false, false);
			break;
		case T_HashJoin:
			hg_cached_add(walk, plan, "Hash Join", false, false);
			break;
		case T_Agg:
			hg_cached_add_groups(walk, (const Agg *) plan);
			break;
		case T_Group:
			hg_cached_add(walk, plan, "Group", true, false);
			break;
		case T_CustomScan:
			if (((const CustomScan *) plan)->methods == &hg_join_scan_methods)
				hg_cached_add(walk, plan, hg_join_scan_methods.CustomName, false, true);
			else if (((const CustomScan *) plan)->methods == &hg_aggregate_scan_methods)
				hg_cached_add(walk, plan, hg_aggregate_scan_methods.CustomName, true, true);
			break;
		default:
			break;
	}
	foreach (lc, hg_plan_inputs(plan))
		hg_cached_walk(walk, lfirst(lc));
}

void
hg_plan_cached_fill(HgLastPlan *plan, const PlannedStmt *statement, HgPlanReason reason)
{
	HgCachedWalk walk = {plan, statement->rtable, reason};
	ListCell *lc;

	hg_cached_walk(&walk, statement->planTree);
	foreach (lc, statement->subplans)
		if (lfirst(lc) != NULL)
			hg_cached_walk(&walk, lfirst(lc));
}

static void
hg_plan_executor_start(QueryDesc *query, int eflags)
{
	const PlannedStmt *statement = query->plannedstmt;

	/* parallel workers run a part of their leader's plan */
	if (!IsParallelWorker() && hg_stats_starts_plan() && !hg_last_plan_start(statement))
	{
		HgLastPlan *plan = hg_last_plan_begin();

		hg_plan_cached_fill(plan, statement, HG_REASON_CACHED);
		hg_last_plan_publish(plan, statement, true);
	}
	hg_next_executor_start(query, eflags);
}

void
hg_plan_cached_init(void)
{
	hg_next_executor_start =
		ExecutorStart_hook != NULL ? ExecutorStart_hook : standard_ExecutorStart;
	ExecutorStart_hook = hg_plan_executor_start;
}
