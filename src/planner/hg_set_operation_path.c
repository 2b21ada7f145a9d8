/*-------------------------------------------------------------------------
 *
 * hg_set_operation_path.c
 *	  Offers the aggregate node for UNION, which groups the rows of its branches by all columns.
 *
 * The planner calls the hook for each set operation when it has its own paths. They append the
 * branches, and sort or hash the rows. The branches are found in these paths, and are appended once
 * more, because the planner may have kept only some of its paths. UNION ALL and recursive queries
 * are left to core.
 *
 * The planner gives the columns of a set operation no relation: their Vars have a varno of 0. The
 * plan names them after the columns of the first branch, as EXPLAIN cannot print such Vars.
 *
 * Core expects that a UNION removes no rows. Here the groups of each branch are estimated, on
 * which depends whether they fit into work memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "hg_guc.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_paths.h"

static create_upper_paths_hook_type hg_prev_create_upper_paths_hook;

/* Returns the set operation of a tree whose branches are some relations; NULL: there is none. */
static const SetOperationStmt *
hg_find_set_operation(const Node *node, Relids relids, Relids *branches)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;
	const SetOperationStmt *found;
	Relids right;

	if (IsA(node, RangeTblRef))
	{
		*branches = bms_make_singleton(((const RangeTblRef *) node)->rtindex);
		return NULL;
	}
	found = hg_find_set_operation(operation->larg, relids, branches);
	if (found == NULL)
		found = hg_find_set_operation(operation->rarg, relids, &right);
	if (found != NULL)
		return found;
	*branches = bms_join(*branches, right);
	return bms_equal(*branches, relids) ? operation : NULL;
}

/* Returns the first branch of a set operation, as an index into the range table. */
static Index
hg_first_branch(const SetOperationStmt *operation)
{
	const Node *node = operation->larg;

	while (IsA(node, SetOperationStmt))
		node = ((const SetOperationStmt *) node)->larg;
	return ((const RangeTblRef *) node)->rtindex;
}

/* Returns the path whose rows a path of core's sorts or hashes to find duplicates. */
static Path *
hg_path_of_branches(Path *path)
{
	for (;;)
	{
		if (IsA(path, AggPath))
			path = ((AggPath *) path)->subpath;
		else if (IsA(path, SortPath))
			path = ((SortPath *) path)->subpath;
		else if (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		else if (hg_path_is_unique(path))
			path = hg_path_unique_input(path);
		else
			return path;
	}
}

/* Returns the paths that are appended; NIL: the path is not one that appends them. */
static List *
hg_appended_paths(const Path *path)
{
	if (IsA(path, GatherPath))
		path = ((const GatherPath *) path)->subpath;
	if (IsA(path, AppendPath))
		return ((const AppendPath *) path)->subpaths;
	return IsA(path, MergeAppendPath) ? ((const MergeAppendPath *) path)->subpaths : NIL;
}

/* Returns a path that appends all rows of the branches, whose paths are in a list. */
static Path *
hg_append_branches(PlannerInfo *root, RelOptInfo *rel, const List *paths)
{
	List *cheapest = NIL;
	ListCell *lc;

	foreach (lc, paths)
		cheapest = lappend(cheapest, ((const Path *) lfirst(lc))->parent->cheapest_total_path);
	return (Path *) create_append_path(root, rel, cheapest, NIL, NIL, NULL, 0, false, -1);
}

/*
 * Returns how many different rows a branch is expected to have. The planner does the same for
 * branches of INTERSECT and EXCEPT.
 */
static double
hg_branch_groups(const RelOptInfo *rel)
{
	const double rows = rel->cheapest_total_path->rows;
	PlannerInfo *subroot = rel->subroot;
	const Query *subquery;

	if (subroot == NULL)
		return rows;
	subquery = subroot->parse;
	if (subquery->groupClause != NIL || subquery->groupingSets != NIL ||
		subquery->distinctClause != NIL || subquery->hasAggs || subroot->hasHavingQual ||
		subquery->setOperations != NULL)
		return rows;
	return estimate_num_groups(subroot, get_tlist_exprs(subquery->targetList, false), rows, NULL,
							   NULL);
}

/* Returns the clause that groups a set operation's rows. */
static List *
hg_set_operation_clause(const SetOperationStmt *operation, const PathTarget *target)
{
	List *result = copyObject(operation->groupClauses);
	ListCell *lc;

	foreach (lc, result)
		lfirst_node(SortGroupClause, lc)->tleSortGroupRef =
			get_pathtarget_sortgroupref(target, foreach_current_index(lc));
	return result;
}

/* Adds the node above one input. */
static void
hg_add_set_operation(PlannerInfo *root, RelOptInfo *rel, Path *input,
					 const SetOperationStmt *operation, double groups)
{
	HgAggregatePath *path =
		hg_aggregate_path_make(rel, input->pathtarget, input, true,
							   hg_set_operation_clause(operation, rel->reltarget));

	path->first_branch = hg_first_branch(operation);
	hg_aggregate_cost(root, path, groups);
	hg_add_groups(root, rel, &path->custom.path);
}

/* Offers the node for a set operation. */
static void
hg_consider_set_operation(PlannerInfo *root, RelOptInfo *rel)
{
	const SetOperationStmt *operation;
	Relids branches;
	List *gathers = NIL;
	List *paths = NIL;
	double groups = 0;
	Path *input;
	ListCell *lc;

	if (!hg_enabled || root->hasRecursion || rel->pathlist == NIL)
		return;
	operation = hg_find_set_operation(root->parse->setOperations, rel->relids, &branches);
	if (operation == NULL || operation->all || operation->op != SETOP_UNION ||
		operation->groupClauses == NIL || !grouping_is_hashable(operation->groupClauses))
		return;
	foreach (lc, rel->pathlist)
	{
		Path *path = hg_path_of_branches(lfirst(lc));

		if (paths == NIL)
			paths = hg_appended_paths(path);
		if (IsA(path, GatherPath))
			gathers = list_append_unique_ptr(gathers, path);
	}
	if (paths == NIL)
		return;
	input = hg_append_branches(root, rel, paths);
	if (input->rows < hg_min_rows && !hg_force)
		return;
	foreach (lc, paths)
		groups += hg_branch_groups(((const Path *) lfirst(lc))->parent);
	hg_add_set_operation(root, rel, input, operation, Min(groups, input->rows));
	foreach (lc, gathers)
		hg_add_set_operation(root, rel, lfirst(lc), operation, Min(groups, input->rows));
}

static void
hg_create_set_operation_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
							  RelOptInfo *output_rel, void *extra)
{
	if (hg_prev_create_upper_paths_hook != NULL)
		hg_prev_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	if (stage == UPPERREL_SETOP)
		hg_consider_set_operation(root, output_rel);
}

void
hg_set_operation_path_init(void)
{
	hg_prev_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = hg_create_set_operation_paths;
}
