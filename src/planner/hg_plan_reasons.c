/*-------------------------------------------------------------------------
 *
 * hg_plan_reasons.c
 *	  Why joins and aggregations of a statement's plan are not done by nodes of ours.
 *
 * When a statement has been planned, the paths that were chosen are walked once, from the top down:
 * each is a step of the session's last plan (backend/hg_last_plan.h).  Paths are still there then,
 * and with them the relations and clauses that decided; a plan has none of these.  This is done for
 * every statement, and so it does no more than a few hundred instructions for each join.
 *
 * A statement that is planned while another one is, by a function that the planner evaluates, is
 * left out.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"

#include "backend/hg_last_plan.h"
#include "planner/hg_aggregate_path.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_join_reason.h"
#include "planner/hg_plan_notes.h"
#include "planner/hg_plan_reasons.h"

static planner_hook_type hg_next_planner;

typedef struct HgReasonWalk
{
	HgLastPlan *plan; /* that is filled */
	const HgPlanNotes *notes;
} HgReasonWalk;

static void hg_walk_path(HgReasonWalk *walk, PlannerInfo *root, const Path *path);

/* Add the names of relations, but of what stands for no rows of a relation. */
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

/* The input of a path of a kind that has one lies in the same place in all of these. */
#define HG_HAS_INPUT(type) (offsetof(type, subpath) == offsetof(SubqueryScanPath, subpath))

StaticAssertDecl(HG_HAS_INPUT(AggPath) && HG_HAS_INPUT(GatherMergePath) &&
					 HG_HAS_INPUT(GatherPath) && HG_HAS_INPUT(GroupingSetsPath) &&
					 HG_HAS_INPUT(GroupPath) && HG_HAS_INPUT(LimitPath) &&
					 HG_HAS_INPUT(LockRowsPath) && HG_HAS_INPUT(MaterialPath) &&
					 HG_HAS_INPUT(MemoizePath) && HG_HAS_INPUT(ModifyTablePath) &&
					 HG_HAS_INPUT(ProjectionPath) && HG_HAS_INPUT(ProjectSetPath) &&
					 HG_HAS_INPUT(SortPath) && offsetof(IncrementalSortPath, spath) == 0 &&
					 HG_HAS_INPUT(UniquePath) && HG_HAS_INPUT(WindowAggPath),
				 "paths with one input have it in the same place");

static inline const Path *
hg_path_input(const Path *path)
{
	return ((const SubqueryScanPath *) path)->subpath;
}

/* The input of a path between groups and what is grouped; NULL where it is none of these. */
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

/* Add an aggregation, with the relations of the nearest path below that is a scan or a join. */
static void
hg_walk_add_groups(HgReasonWalk *walk, PlannerInfo *root, const char *node, HgPlanReason reason,
				   const Path *input)
{
	if (!hg_last_plan_add(walk->plan, node, true, reason == HG_REASON_CHOSEN, reason))
		return;
	while (input != NULL && !IS_SIMPLE_REL(input->parent) && !IS_JOIN_REL(input->parent))
		input = hg_groups_input(input);
	/* min() or max() of an index's first entry has no input here: there is one relation */
	if (input == NULL)
		hg_walk_add_names(walk, root, root->all_baserels);
	/* a join is the next step */
	else if (IsA(input, HashPath) || IsA(input, NestPath) || IsA(input, MergePath) ||
			 (IsA(input, CustomPath) && hg_path_join(input) != NULL))
		hg_last_plan_share_names(walk->plan);
	else
		hg_walk_add_names(walk, root, input->parent->relids);
}

/* Returns true if a relation is of a query's groups: the node is considered for no others. */
static bool
hg_rel_is_grouped(const PlannerInfo *root, RelOptInfo *rel)
{
	return list_member_ptr(root->upper_rels[UPPERREL_GROUP_AGG], rel) ||
		   list_member_ptr(root->upper_rels[UPPERREL_PARTIAL_GROUP_AGG], rel);
}

/* The name of the plan's node that a path of core's becomes which makes groups. */
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

/* Were groups that come from an input made before rows were joined? */
static bool
hg_groups_are_joined(const Path *input)
{
	while (input != NULL && !hg_rel_has_partial_groups(input->parent))
		input = hg_groups_input(input);
	return input != NULL;
}

/*
 * Add an aggregation of core's, but what combines partial groups: it belongs to whoever made them,
 * unless that was below a join, where the node is not considered.
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

/* A node of ours, or of another extension. */
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
	/* of two that make groups of distinct values the lower one is a part of the upper one */
	if (hg_path_is_groups(&path->path) && ((const HgAggregatePath *) path)->distinct == NULL)
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
			/* up to 18 there are two kinds of paths that drop duplicates */
			if (path->pathtype == T_Unique)
				hg_walk_path(walk, root, hg_path_input(path));
			break;
	}
}

/* The relation of a query's result; NULL where it has none, as what stands for min() or max(). */
static const RelOptInfo *
hg_find_final_rel(const PlannerInfo *root)
{
	return root->upper_rels[UPPERREL_FINAL] != NIL ? linitial(root->upper_rels[UPPERREL_FINAL])
												   : NULL;
}

/* The path of a subquery that became a plan: the planner does not say which it has taken. */
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

/* The share of the rows that the planner was asked to expect to be fetched. */
static double
hg_tuple_fraction(int cursor_options)
{
	if ((cursor_options & CURSOR_OPT_FAST_PLAN) == 0 || cursor_tuple_fraction >= 1.0)
		return 0.0;
	return cursor_tuple_fraction > 0.0 ? cursor_tuple_fraction : 1e-10;
}

/* Fill a plan with the steps of a statement. */
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

		/* one of two alternatives has no plan */
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
