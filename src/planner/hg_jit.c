/*-------------------------------------------------------------------------
 *
 * hg_jit.c
 *	  Decides again whether expressions of a plan are compiled.
 *
 * PostgreSQL compiles expressions, and the code that takes columns out of rows, if the plan costs
 * more than jit_above_cost. Our nodes evaluate most filters and arguments over columns, and take
 * columns out of pages by themselves. What they cost therefore does not count. PostgreSQL also adds
 * the cost of a run of a subquery for each row, which does not count if results are kept or hashed.
 * Compiling takes 0.2 s or more. The costs that EXPLAIN shows stay as they are.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "jit/jit.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "executor/aggregate/hg_aggregate.h"
#include "executor/join/hg_join.h"
#include "executor/lookup/hg_scan_lookup.h"
#include "executor/sort/hg_sort.h"
#include "planner/hg_paths.h"
#include "planner/hg_plan_reasons.h"

/* The subqueries that a node's expressions call. */
typedef struct HgKeptSubplans
{
	const PlannedStmt *statement;
	bool kept; /* results or rows of one of them are kept */
	Cost runs; /* costs of one run of each */
} HgKeptSubplans;

/* Returns true if a plan has a node that hashes the rows of a correlated subquery. */
static bool
hg_plan_looks_up(const Plan *plan)
{
	ListCell *lc;

	if (IsA(plan, CustomScan) && ((const CustomScan *) plan)->methods == &hg_scan_lookup_methods)
		return true;
	foreach (lc, hg_plan_inputs(plan))
		if (hg_plan_looks_up(lfirst(lc)))
			return true;
	return false;
}

static bool
hg_find_kept_walker(Node *node, HgKeptSubplans *found)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan))
	{
		const SubPlan *subplan = (const SubPlan *) node;
		const Plan *plan = list_nth(found->statement->subplans, subplan->plan_id - 1);

		found->runs += plan->total_cost;
		found->kept |= subplan->useHashTable || IsA(plan, Memoize) || hg_plan_looks_up(plan);
	}
	return expression_tree_walker(node, hg_find_kept_walker, found);
}

/* Returns true if a plan is a node of ours that reads rows. */
static bool
hg_plan_is_ours(const Plan *plan)
{
	const CustomScan *scan = (const CustomScan *) plan;

	return IsA(plan, CustomScan) &&
		   (scan->methods == &hg_join_scan_methods || scan->methods == &hg_aggregate_scan_methods ||
			scan->methods == &hg_sort_scan_methods);
}

/*
 * Returns the part of a plan's cost that compiled expressions do not reduce: that of our joins,
 * aggregations and sorts and of the scans that they read, of passing rows on in Appends and
 * subquery scans below them, and what a node costs beyond its inputs because each call of a
 * subquery whose result is kept seems to run it.  read tells that one of our nodes reads the plan.
 */
static Cost
hg_uncompiled_cost(const PlannedStmt *statement, const Plan *plan, bool read)
{
	HgKeptSubplans found = {statement};
	const bool ours = hg_plan_is_ours(plan);
	const bool passes = read && (IsA(plan, Append) || IsA(plan, SubqueryScan));
	Cost own = plan->total_cost; /* beyond the inputs */
	double rows = 0;			 /* of the inputs */
	Cost cost = 0;
	ListCell *lc;

	check_stack_depth();
	if (read && IsA(plan, SeqScan))
		return plan->total_cost;
	foreach (lc, plan->initPlan)
		cost += hg_uncompiled_cost(
			statement, list_nth(statement->subplans, lfirst_node(SubPlan, lc)->plan_id - 1), false);
	(void) hg_find_kept_walker((Node *) plan->qual, &found);
	(void) hg_find_kept_walker((Node *) plan->targetlist, &found);
	if (IsA(plan, CustomScan))
		(void) hg_find_kept_walker((Node *) ((const CustomScan *) plan)->custom_exprs, &found);
	foreach (lc, hg_plan_inputs(plan))
	{
		const Plan *input = lfirst(lc);
		/* an inner side that keeps its rows runs once */
		const bool repeats = IsA(plan, NestLoop) && input == plan->righttree &&
							 !IsA(input, Material) && !IsA(input, Sort);
		const double times = repeats ? Max(plan->lefttree->plan_rows, 1) : 1;

		own -= input->total_cost * times;
		rows += input->plan_rows;
		cost += times * hg_uncompiled_cost(statement, input, ours || passes);
	}
	if (found.kept || ours)
		cost += own - found.runs;
	else if (passes)
		cost += Min(own, rows * cpu_tuple_cost);
	/* an adaptive join shows the inner side that it may not read */
	return Min(Max(cost, 0), plan->total_cost);
}

void
hg_decide_jit(PlannedStmt *statement)
{
	Cost cost = statement->planTree->total_cost;

	if ((statement->jitFlags & PGJIT_PERFORM) == 0)
		return;
	cost -= hg_uncompiled_cost(statement, statement->planTree, false);
	/* as standard_planner() does; a limit of 0 asks for JIT of all plans */
	if (cost < jit_above_cost)
		statement->jitFlags = PGJIT_NONE;
	if (cost < jit_optimize_above_cost)
		statement->jitFlags &= ~PGJIT_OPT3;
	if (cost < jit_inline_above_cost)
		statement->jitFlags &= ~PGJIT_INLINE;
}
