/*-------------------------------------------------------------------------
 *
 * hg_aggregate_plan.c
 *	  The path of the aggregate node, and the plan that it becomes.
 *
 * The plan's custom_scan_tlist is the input's target list followed by the Aggrefs. In it,
 * setrefs.c finds the Aggrefs and group columns of the target list and HAVING as a whole, and the
 * input's columns for the arguments in custom_exprs. executor/aggregate/hg_aggregate.h describes
 * the rest of the plan.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "backend/hg_library.h"
#include "executor/aggregate/hg_aggregate.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_join_plan.h"

bool
hg_aggref_counts_rows(const Aggref *aggref)
{
	const Expr *argument;

	if (hg_aggregate_kind(aggref->aggfnoid) != HG_AGGREGATE_COUNT)
		return false;
	if (aggref->args == NIL)
		return true;
	argument = linitial_node(TargetEntry, aggref->args)->expr;
	return IsA(argument, Const) && !((const Const *) argument)->constisnull;
}

/* Returns a copy of an aggregate's argument; NULL if it counts rows. */
static Expr *
hg_aggref_argument(const Aggref *aggref)
{
	if (hg_aggref_counts_rows(aggref))
		return NULL;
	return copyObject(linitial_node(TargetEntry, aggref->args)->expr);
}

Plan *
hg_aggregate_plan(PlannerInfo *root pg_attribute_unused(), RelOptInfo *rel pg_attribute_unused(),
				  CustomPath *best_path, List *tlist, List *clauses pg_attribute_unused(),
				  List *custom_plans)
{
	HgAggregatePath *path = (HgAggregatePath *) best_path;
	CustomScan *cscan = makeNode(CustomScan);
	List *input = ((Plan *) linitial(custom_plans))->targetlist;
	List *scan_tlist = hg_plan_scan_tlist(custom_plans);
	List *arguments = NIL;
	List *filters = NIL;
	List *keys = NIL;
	List *equalities = NIL;
	List *collations = NIL;
	ListCell *lc;

	foreach (lc, path->aggrefs)
	{
		Aggref *aggref = lfirst_node(Aggref, lc);

		scan_tlist = lappend(scan_tlist, makeTargetEntry((Expr *) copyObject(aggref),
														 list_length(scan_tlist) + 1, NULL, false));
		arguments = lappend(arguments, hg_aggref_argument(aggref));
		filters = lappend(filters, copyObject(aggref->aggfilter));
	}
	foreach (lc, path->group_clause)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		const TargetEntry *tle = get_sortgroupref_tle(clause->tleSortGroupRef, input);

		keys = lappend_int(keys, tle->resno - 1);
		equalities = lappend_oid(equalities, clause->eqop);
		collations = lappend_oid(collations, exprCollation((Node *) tle->expr));
	}
	if (path->distinct != NULL)
	{
		const TargetEntry *tle = tlist_member((Expr *) path->distinct, input);

		keys = lappend_int(keys, tle->resno - 1);
		equalities = lappend_oid(equalities, path->distinct_equality);
		collations = lappend_oid(collations, path->distinct->varcollid);
	}

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = copyObject(path->having);
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_exprs = list_make2(arguments, filters);
	cscan->custom_scan_tlist = scan_tlist;
	cscan->custom_private = list_concat(
		list_make3(hg_library_mark(), makeInteger(path->grouped), makeInteger(list_length(input))),
		list_make3(keys, equalities, collations));
	cscan->methods = &hg_aggregate_scan_methods;
	StaticAssertDecl(HG_AGGREGATE_EXPRS_COUNT == 2 && HG_AGGREGATE_PRIVATE_COUNT == 6,
					 "the plan's lists have as many members as their enums");
	return &cscan->scan.plan;
}
