/*-------------------------------------------------------------------------
 *
 * hg_plan_reasons.c
 *	  Why joins and aggregations of a plan are not done by our nodes.
 *
 * After a statement has been planned, its chosen paths are walked once from the top down. Each
 * becomes a step of the session's last plan (backend/hg_last_plan.h). Paths still have the
 * relations and clauses that decided, which a plan does not. This happens for every statement, so
 * it takes only a few hundred instructions for each join.
 *
 * A statement that is planned during another one's planning, by a function that the planner
 * evaluates, is left out.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "commands/defrem.h"
#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"

#include "backend/hg_last_plan.h"
#include "backend/hg_stats.h"
#include "hg_guc.h"
#include "planner/hg_core_path.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_paths.h"
#include "planner/hg_plan_notes.h"
#include "planner/hg_plan_reasons.h"

/* ---------------------------------------------------------------------
 * Why a join of core's is not one of ours
 *
 * The chosen join is checked by the same conditions, in the same order, as hg_join_path.c checks
 * every pair of relations. Nothing needs to be recorded while paths are made. test/t/join_why.pl
 * checks that the answers are those that the planner acted on.
 * ---------------------------------------------------------------------
 */

/* Appends the clauses moved into the inner side of a nested loop: parameters, and joins' own. */
static List *
hg_add_moved_clauses(List *clauses, const Path *inner)
{
	const HgJoinPath *ours = hg_path_join(inner);
	const JoinPath *join = (const JoinPath *) inner;

	if (inner->param_info == NULL)
		return clauses;
	clauses = list_concat(clauses, inner->param_info->ppi_clauses);
	if (ours != NULL)
	{
		clauses = list_concat(clauses, ours->restrictlist);
		clauses = hg_add_moved_clauses(clauses, linitial(ours->custom.custom_paths));
		return hg_add_moved_clauses(clauses, lsecond(ours->custom.custom_paths));
	}
	switch (nodeTag(inner))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			clauses = list_concat(clauses, join->joinrestrictinfo);
			clauses = hg_add_moved_clauses(clauses, join->outerjoinpath);
			return hg_add_moved_clauses(clauses, join->innerjoinpath);
		case T_MaterialPath:
			return hg_add_moved_clauses(clauses, ((const MaterialPath *) inner)->subpath);
		case T_MemoizePath:
			return hg_add_moved_clauses(clauses, ((const MemoizePath *) inner)->subpath);
		case T_ProjectionPath:
			return hg_add_moved_clauses(clauses, ((const ProjectionPath *) inner)->subpath);
		default:
			return clauses;
	}
}

/* Returns true if a clause of a join can be a hash key. */
static bool
hg_join_has_hash_clause(PlannerInfo *root, const JoinPath *path)
{
	RelOptInfo *outerrel = path->outerjoinpath->parent;
	RelOptInfo *innerrel = path->innerjoinpath->parent;
	List *clauses = path->joinrestrictinfo;
	HgJoinKeys keys;

	if (path->innerjoinpath->param_info != NULL)
		clauses = hg_add_moved_clauses(list_copy(clauses), path->innerjoinpath);
	return hg_find_hash_clauses(root, path->path.parent, outerrel, innerrel, path->jointype,
								clauses, &keys) != NIL;
}

/*
 * Returns the first reason, in the order of hg_join_path.c, why a chosen join of core's is not one
 * of ours. Only while the planner's memory exists.
 */
static HgPlanReason
hg_join_reason(PlannerInfo *root, const JoinPath *path)
{
	RelOptInfo *joinrel = path->path.parent;
	RelOptInfo *outerrel = path->outerjoinpath->parent;
	RelOptInfo *innerrel = path->innerjoinpath->parent;
	const Path *outer = outerrel->cheapest_total_path;
	const Path *inner = innerrel->cheapest_total_path;
	JoinPathExtraData extra = {0};

	if (!hg_enabled)
		return HG_REASON_NOT_ENABLED;
	hg_join_extra_of(&extra, joinrel);
	if (!hg_force && !hg_hashjoin_enabled(&extra) && path->jointype != JOIN_FULL)
		return HG_REASON_NO_HASHJOIN;
	if (!hg_force && hg_inputs_small(outer, inner) &&
		!hg_core_loops_may_go(root, joinrel, false, 0) &&
		!hg_core_loops_may_go(root, joinrel, true, 0))
		return HG_REASON_FEW_ROWS;
	if (bms_overlap(PATH_REQ_OUTER(outer), innerrel->relids) ||
		bms_overlap(PATH_REQ_OUTER(inner), outerrel->relids))
		return HG_REASON_LATERAL;
	if (!hg_rel_is_eligible(root, outerrel) || !hg_rel_is_eligible(root, innerrel))
		return HG_REASON_COLUMNS;
	if (!hg_clauses_are_eligible(root, path->joinrestrictinfo))
		return HG_REASON_CONSTANT_CLAUSE;
	return hg_join_has_hash_clause(root, path) ? HG_REASON_COST : HG_REASON_NO_CLAUSE;
}

/* ---------------------------------------------------------------------
 * EXPLAIN (HASHGRAPH): which joins and aggregations of a plan are ours, and why others are not
 * ---------------------------------------------------------------------
 */

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

static planner_hook_type hg_next_planner;

typedef struct HgReasonWalk
{
	HgLastPlan *plan; /* the plan to fill */
	const HgPlanNotes *notes;
} HgReasonWalk;

static void hg_walk_path(HgReasonWalk *walk, PlannerInfo *root, const Path *path);

/* Adds the names of relations, except those that stand for no rows of a relation. */
static void
hg_walk_add_names(HgReasonWalk *walk, PlannerInfo *root, Relids relids)
{
	int relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		const RelOptInfo *rel = root->simple_rel_array[relid];
		const RangeTblEntry *rte = root->simple_rte_array[relid];

		/* an outer join has none */
		if (rel == NULL || rte->rtekind == RTE_RESULT || rte->rtekind == RTE_JOIN)
			continue;
		hg_last_plan_add_name(walk->plan, rte->eref->aliasname,
							  rel->reloptkind == RELOPT_OTHER_MEMBER_REL ? rte->relid : InvalidOid);
	}
}

/* Returns the input of a path between groups and what is grouped; NULL for other paths. */
static const Path *
hg_groups_input(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_AggPath:
		case T_GatherMergePath:
		case T_GatherPath:
		case T_GroupPath:
		case T_IncrementalSortPath:
		case T_ProjectionPath:
		case T_SortPath:
			return hg_path_input(path);
		case T_CustomPath:
			return ((const CustomPath *) path)->custom_paths != NIL
					   ? linitial(((const CustomPath *) path)->custom_paths)
					   : NULL;
		default:
			return NULL;
	}
}

/* Adds an aggregation, with the relations of the nearest scan or join path below. */
static void
hg_walk_add_groups(HgReasonWalk *walk, PlannerInfo *root, const char *node, HgPlanReason reason,
				   const Path *input)
{
	Relids relids = root->all_baserels;

	if (!hg_last_plan_add(walk->plan, node, true, reason == HG_REASON_CHOSEN, reason))
		return;
	/* the branches are no base relations */
	if (input != NULL && root->parse->setOperations != NULL)
		relids = input->parent->relids;
	while (input != NULL && !IS_SIMPLE_REL(input->parent) && !IS_JOIN_REL(input->parent))
		input = hg_groups_input(input);
	/* min() or max() by an index has no input here, but only one relation */
	if (input == NULL)
		hg_walk_add_names(walk, root, relids);
	/* the join is the next step */
	else if (IsA(input, HashPath) || IsA(input, NestPath) || IsA(input, MergePath) ||
			 (IsA(input, CustomPath) && hg_path_join(input) != NULL))
		hg_last_plan_share_names(walk->plan);
	else
		hg_walk_add_names(walk, root, input->parent->relids);
}

/* Returns true if a relation is of a query's groups, for which alone the node is considered. */
static bool
hg_rel_is_grouped(const PlannerInfo *root, RelOptInfo *rel)
{
	return list_member_ptr(root->upper_rels[UPPERREL_GROUP_AGG], rel) ||
		   list_member_ptr(root->upper_rels[UPPERREL_PARTIAL_GROUP_AGG], rel);
}

/* Returns the name of the plan node that core's grouping path becomes. */
static const char *
hg_groups_name(const Path *path)
{
	if (IsA(path, GroupPath))
		return "Group";
	if (IsA(path, MinMaxAggPath))
		return "Result";
	switch (IsA(path, AggPath) ? ((const AggPath *) path)->aggstrategy
							   : ((const GroupingSetsPath *) path)->aggstrategy)
	{
		case AGG_HASHED:
			return "HashAggregate";
		case AGG_SORTED:
			return "GroupAggregate";
		case AGG_MIXED:
			return "MixedAggregate";
		default:
			return "Aggregate";
	}
}

/* Returns true if groups of an input were made before rows were joined. */
static bool
hg_groups_are_joined(const Path *input)
{
	while (input != NULL && !hg_rel_has_partial_groups(input->parent))
		input = hg_groups_input(input);
	return input != NULL;
}

/*
 * Adds an aggregation of core's, unless it combines partial groups, which belong to the node that
 * made them. If they were made below a join, where our node is not considered, it is added.
 */
static void
hg_walk_groups(HgReasonWalk *walk, PlannerInfo *root, const Path *path, const Path *input)
{
	bool combines = IsA(path, AggPath) && DO_AGGSPLIT_COMBINE(((const AggPath *) path)->aggsplit);

	if (hg_rel_is_grouped(root, path->parent) && (!combines || hg_groups_are_joined(input)))
		hg_walk_add_groups(walk, root, hg_groups_name(path),
						   hg_plan_notes_find(walk->notes, root, path->parent), input);
	if (input != NULL)
		hg_walk_path(walk, root, input);
}

static void
hg_walk_list(HgReasonWalk *walk, PlannerInfo *root, const List *paths)
{
	ListCell *lc;

	foreach (lc, paths)
		hg_walk_path(walk, root, lfirst(lc));
}

static void
hg_walk_join(HgReasonWalk *walk, PlannerInfo *root, const JoinPath *path, const char *node)
{
	if (hg_last_plan_add(walk->plan, node, false, false, hg_join_reason(root, path)))
		hg_walk_add_names(walk, root, path->path.parent->relids);
	hg_walk_path(walk, root, path->outerjoinpath);
	hg_walk_path(walk, root, path->innerjoinpath);
}

/* Adds a node of ours, or walks one of another extension. */
static void
hg_walk_custom(HgReasonWalk *walk, PlannerInfo *root, const CustomPath *path)
{
	if (hg_path_join(&path->path) != NULL)
	{
		if (hg_last_plan_add(walk->plan, path->methods->CustomName, false, true, HG_REASON_CHOSEN))
			hg_walk_add_names(walk, root, path->path.parent->relids);
		/* the nested loop of an adaptive join joins the same relations */
		hg_walk_path(walk, root, linitial(path->custom_paths));
		hg_walk_path(walk, root, lsecond(path->custom_paths));
		return;
	}
	if (hg_path_is_groups(&path->path))
		hg_walk_add_groups(walk, root, path->methods->CustomName, HG_REASON_CHOSEN,
						   linitial(path->custom_paths));
	hg_walk_list(walk, root, path->custom_paths);
}

static void
hg_walk_path(HgReasonWalk *walk, PlannerInfo *root, const Path *path)
{
	check_stack_depth();
	switch (nodeTag(path))
	{
		case T_NestPath:
			hg_walk_join(walk, root, (const JoinPath *) path, "Nested Loop");
			break;
		case T_MergePath:
			hg_walk_join(walk, root, (const JoinPath *) path, "Merge Join");
			break;
		case T_HashPath:
			hg_walk_join(walk, root, (const JoinPath *) path, "Hash Join");
			break;
		case T_CustomPath:
			hg_walk_custom(walk, root, (const CustomPath *) path);
			break;
		case T_AggPath:
		case T_GroupPath:
		case T_GroupingSetsPath:
			hg_walk_groups(walk, root, path, hg_path_input(path));
			break;
		case T_MinMaxAggPath:
			hg_walk_groups(walk, root, path, NULL);
			break;
		case T_SubqueryScanPath:
			hg_walk_path(walk, path->parent->subroot, hg_path_input(path));
			break;
		case T_AppendPath:
			hg_walk_list(walk, root, ((const AppendPath *) path)->subpaths);
			break;
		case T_MergeAppendPath:
			hg_walk_list(walk, root, ((const MergeAppendPath *) path)->subpaths);
			break;
		case T_SetOpPath:
			hg_walk_list(walk, root, hg_setop_inputs((const SetOpPath *) path));
			break;
		case T_RecursiveUnionPath:
			hg_walk_path(walk, root, ((const RecursiveUnionPath *) path)->leftpath);
			hg_walk_path(walk, root, ((const RecursiveUnionPath *) path)->rightpath);
			break;
		case T_GatherPath:
		case T_GatherMergePath:
		case T_IncrementalSortPath:
		case T_LimitPath:
		case T_LockRowsPath:
		case T_MaterialPath:
		case T_MemoizePath:
		case T_ModifyTablePath:
		case T_ProjectionPath:
		case T_ProjectSetPath:
		case T_SortPath:
		case T_UniquePath:
		case T_WindowAggPath:
			hg_walk_path(walk, root, hg_path_input(path));
			break;
		default:
			/* up to 18 there are two kinds of paths that remove duplicates */
			if (path->pathtype == T_Unique)
				hg_walk_path(walk, root, hg_path_input(path));
			break;
	}
}

/* Returns the relation of a query's result; NULL for the query that stands for min() or max(). */
static const RelOptInfo *
hg_find_final_rel(const PlannerInfo *root)
{
	return root->upper_rels[UPPERREL_FINAL] != NIL ? linitial(root->upper_rels[UPPERREL_FINAL])
												   : NULL;
}

/* Finds the path that became a subquery's plan, because the planner does not record it. */
static const Path *
hg_find_subplan_path(const RelOptInfo *rel, const Plan *plan)
{
	ListCell *lc;

	if (IsA(plan, Material))
		plan = plan->lefttree;
	foreach (lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		if (path->total_cost == plan->total_cost && path->startup_cost == plan->startup_cost)
			return path;
	}
	return rel->cheapest_total_path;
}

/* Returns the share of the rows that the planner was told to expect to be fetched. */
static double
hg_tuple_fraction(int cursor_options)
{
	if ((cursor_options & CURSOR_OPT_FAST_PLAN) == 0 || cursor_tuple_fraction >= 1.0)
		return 0.0;
	return cursor_tuple_fraction > 0.0 ? cursor_tuple_fraction : 1e-10;
}

/* Fills a plan with the steps of a statement. */
static void
hg_walk_statement(HgReasonWalk *walk, PlannedStmt *statement, int cursor_options)
{
	PlannerInfo *root = walk->notes->root;
	RelOptInfo *rel = unconstify(RelOptInfo *, hg_find_final_rel(root));
	ListCell *plan;
	ListCell *subroot;

	hg_walk_path(walk, root, get_cheapest_fractional_path(rel, hg_tuple_fraction(cursor_options)));
	forboth(plan, root->glob->subplans, subroot, root->glob->subroots)
	{
		const RelOptInfo *result = hg_find_final_rel(lfirst(subroot));

		/* one of two alternative subplans has no plan */
		if (lfirst(plan) != NULL && result != NULL)
			hg_walk_path(walk, lfirst(subroot), hg_find_subplan_path(result, lfirst(plan)));
	}
}

static PlannedStmt *
hg_planner(HG_PLANNER_PARAMETERS)
{
	HgPlanNotes notes;
	PlannedStmt *volatile statement = NULL;

	hg_plan_notes_begin(&notes);
	PG_TRY();
	{
		statement = hg_next_planner(HG_PLANNER_ARGUMENTS);
	}
	PG_FINALLY();
	{
		hg_plan_notes_end(&notes);
	}
	PG_END_TRY();
	if (hg_enabled)
		hg_decide_jit(statement);
	if (notes.outer == NULL && notes.root != NULL && hg_last_plan_is_wanted())
	{
		HgReasonWalk walk = {hg_last_plan_begin(), &notes};

		hg_walk_statement(&walk, statement, cursor_options);
		hg_last_plan_publish(walk.plan, statement, false);
	}
	return statement;
}

void
hg_plan_reasons_init(void)
{
	hg_next_planner = planner_hook != NULL ? planner_hook : standard_planner;
	planner_hook = hg_planner;
}
