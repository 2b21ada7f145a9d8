/*-------------------------------------------------------------------------
 *
 * hg_set_operation_path.c
 *	  Offers the aggregate node for UNION, INTERSECT and EXCEPT, which group the rows of their
 *	  branches by all columns.
 *
 * The planner calls the hook for each set operation when it has its own paths. They sort or hash
 * the rows of the branches. The branches are found in these paths, and are appended once more,
 * because the planner may have kept only some of its paths. UNION ALL and recursive queries are
 * left to core.
 *
 * INTERSECT and EXCEPT, with or without ALL, add the number of the branch to each row: 0 is the
 * left one, and 1 the right one. The sum of these numbers in a group counts its rows of the right
 * branch. The counts of both branches decide how often the group is returned
 * (hg_aggregate_copies()). Only rows of the branch that is appended first make groups. EXCEPT
 * begins with the left branch, and INTERSECT with the one that has fewer groups, as core does.
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

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "hg_guc.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"

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

/* Returns the path whose rows a path of core's sorts or hashes. */
static Path *
hg_path_of_rows(Path *path)
{
	while (IsA(path, AggPath) || IsA(path, SortPath) || IsA(path, ProjectionPath) ||
		   hg_path_is_unique(path))
		path = hg_path_input(path);
	return path;
}

/*
 * Returns the cheapest path of all rows of a branch, of which another path is given: one of several
 * processes or an ordered one. Up to 16 the paths of a UNION below another operation have a
 * relation without paths, and are the cheapest.
 */
static Path *
hg_branch_path(Path *path)
{
	return path->parent->cheapest_total_path != NULL ? path->parent->cheapest_total_path : path;
}

/* Returns true if a path is known to return no rows. */
static bool
hg_path_is_empty(const Path *path)
{
	for (;;)
	{
		if (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		else if (IsA(path, SubqueryScanPath))
			path = ((const SubqueryScanPath *) path)->subpath;
		else
			return IS_DUMMY_APPEND(path);
	}
}

/* Returns paths of the branches from a path of core's; NIL: it does not have them all. */
static List *
hg_paths_of_branches(Path *path)
{
	List *inputs;

	path = hg_path_of_rows(path);
	if (IsA(path, SetOpPath))
	{
		inputs = hg_setop_inputs((SetOpPath *) path);
		if (list_length(inputs) == 2)
			return list_make2(hg_path_of_rows(linitial(inputs)), hg_path_of_rows(lsecond(inputs)));
		path = hg_path_of_rows(linitial(inputs));
	}
	if (IsA(path, GatherPath))
		path = ((GatherPath *) path)->subpath;
	if (IsA(path, AppendPath))
		return ((AppendPath *) path)->subpaths;
	return IsA(path, MergeAppendPath) ? ((MergeAppendPath *) path)->subpaths : NIL;
}

/* Returns a target with one more column. */
static PathTarget *
hg_target_with(const PathTarget *target, Expr *column)
{
	PathTarget *result = copy_pathtarget(unconstify(PathTarget *, target));

	add_column_to_pathtarget(result, column, 0);
	return result;
}

/* Returns the column with the number of the branch, behind the columns of a set operation. */
static Var *
hg_branch_column(const SetOperationStmt *operation)
{
	return makeVar(0, list_length(operation->colTypes) + 1, INT4OID, -1, InvalidOid, 0);
}

/*
 * Returns a path that appends all rows of the branches, with the number of the branch unless the
 * operation is UNION. Up to 17 the branches have it already.
 */
static Path *
hg_append_branches(PlannerInfo *root, RelOptInfo *rel, const List *paths,
				   const SetOperationStmt *operation)
{
	bool numbered = HG_HAVE_SETOP_INPUTS && operation->op != SETOP_UNION;
	List *cheapest = NIL;
	Path *append;
	ListCell *lc;

	foreach (lc, paths)
	{
		Path *path = hg_branch_path(lfirst(lc));

		if (numbered)
		{
			Const *number = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
									  Int32GetDatum(foreach_current_index(lc)), false, true);

			path = (Path *) create_projection_path(
				root, path->parent, path, hg_target_with(path->pathtarget, (Expr *) number));
		}
		cheapest = lappend(cheapest, path);
	}
	append = hg_create_append_path(root, rel, cheapest);
	if (numbered)
		append->pathtarget =
			hg_target_with(append->pathtarget, (Expr *) hg_branch_column(operation));
	return append;
}

/*
 * Returns how many different rows a branch is expected to have. The planner does the same for
 * branches of INTERSECT and EXCEPT.
 */
static double
hg_branch_groups(const Path *path)
{
	const double rows = path->rows;
	PlannerInfo *subroot = path->parent->subroot;
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

/*
 * Returns true if the planner knows how long the values of a branch are: not those of expressions
 * of types without a length. All of such values are hashed, and may go to files. PostgreSQL sorts
 * INTERSECT and EXCEPT, and compares a column only if those before it are equal.
 */
static bool
hg_branch_has_widths(const Path *path)
{
	const PlannerInfo *subroot = path->parent->subroot;
	ListCell *lc;

	if (subroot == NULL)
		return true;
	foreach (lc, subroot->parse->targetList)
	{
		Node *expr = strip_implicit_coercions((Node *) lfirst_node(TargetEntry, lc)->expr);

		if (!IsA(expr, Var) && !IsA(expr, Const) && exprType(expr) != NUMERICOID &&
			get_typlen(exprType(expr)) < 0)
			return false;
	}
	return true;
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

/* Returns the number of a branch, which its rows have in their last column. */
static int
hg_branch_number(const Path *path)
{
	return DatumGetInt32(castNode(Const, llast(path->pathtarget->exprs))->constvalue);
}

/* Returns the sum of the branch numbers of a group. */
static Aggref *
hg_branch_sum(const SetOperationStmt *operation)
{
	Aggref *aggref = makeNode(Aggref);

	aggref->aggfnoid = F_SUM_INT4;
	aggref->aggtype = aggref->aggtranstype = INT8OID;
	aggref->aggargtypes = list_make1_oid(INT4OID);
	aggref->args =
		list_make1(makeTargetEntry((Expr *) hg_branch_column(operation), 1, NULL, false));
	aggref->aggkind = AGGKIND_NORMAL;
	aggref->aggsplit = AGGSPLIT_SIMPLE;
	aggref->aggno = aggref->aggtransno = aggref->location = -1;
	return aggref;
}

/* Returns the command that core's node has for an INTERSECT or EXCEPT. */
static SetOpCmd
hg_set_operation_command(const SetOperationStmt *operation)
{
	if (operation->op == SETOP_INTERSECT)
		return operation->all ? SETOPCMD_INTERSECT_ALL : SETOPCMD_INTERSECT;
	return operation->all ? SETOPCMD_EXCEPT_ALL : SETOPCMD_EXCEPT;
}

/*
 * Removes core's hashed path of INTERSECT or EXCEPT if ours costs no more. Core charges little for
 * a row, and nothing for the groups that it makes: they are charged here as in hg_aggregate_cost().
 */
static void
hg_remove_hashed_path(RelOptInfo *rel, const HgAggregatePath *ours)
{
	const Path *path = &ours->custom.path;
	double rows = ((const Path *) linitial(ours->custom.custom_paths))->rows;
	Cost group = cpu_tuple_cost + list_length(ours->aggrefs) * cpu_operator_cost;
	Cost hidden = rows * hg_operator_cost(HG_SETOP_HIDDEN_NS);
	ListCell *lc;

	foreach (lc, rel->pathlist)
	{
		const SetOpPath *core = (const SetOpPath *) hg_path_of_rows(lfirst(lc));

		if (IsA(core, SetOpPath) && core->strategy == SETOP_HASHED &&
			hg_path_disabled_nodes(path) <= hg_path_disabled_nodes(&core->path) &&
			path->total_cost <= core->path.total_cost + core->numGroups * group + hidden)
			rel->pathlist = foreach_delete_current(rel->pathlist, lc);
	}
}

/* Adds the node above one input. The operation around this one decides the target. */
static void
hg_add_set_operation(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, Path *input,
					 const SetOperationStmt *operation, double groups)
{
	HgAggregatePath *path = hg_aggregate_path_make(
		rel, target, input, true, hg_set_operation_clause(operation, rel->reltarget));

	path->first_branch = hg_first_branch(operation);
	path->grouping_branch = -1;
	if (operation->op != SETOP_UNION)
	{
		path->grouping_branch = hg_branch_number(linitial(((AppendPath *) input)->subpaths));
		path->command = hg_set_operation_command(operation);
		path->aggrefs = list_make1(hg_branch_sum(operation));
	}
	hg_aggregate_cost(root, path, groups);
	/* no statistics tell how many rows it returns: as many as core expects */
	if (operation->op != SETOP_UNION)
		path->custom.path.rows = operation->all ? rel->rows : Min(groups, rel->rows);
	hg_remove_hashed_path(rel, path);
	hg_add_groups(root, rel, &path->custom.path);
}

void
hg_consider_set_operation(PlannerInfo *root, RelOptInfo *rel)
{
	const SetOperationStmt *operation;
	Relids branches;
	List *gathers = NIL;
	List *paths = NIL;
	double rows = 0;
	double groups = 0;
	PathTarget *target;
	Path *input;
	ListCell *lc;

	if (root->hasRecursion || rel->pathlist == NIL)
		return;
	operation = hg_find_set_operation(root->parse->setOperations, rel->relids, &branches);
	if (operation == NULL || (operation->op == SETOP_UNION && operation->all) ||
		operation->groupClauses == NIL || !grouping_is_hashable(operation->groupClauses))
		return;
	foreach (lc, rel->pathlist)
	{
		Path *path = hg_path_of_rows(lfirst(lc));

		if (paths == NIL)
			paths = hg_paths_of_branches(path);
		if (IsA(path, GatherPath))
			gathers = list_append_unique_ptr(gathers, path);
	}
	if (paths == NIL)
		return;
	foreach (lc, paths)
	{
		const Path *branch = hg_branch_path(lfirst(lc));

		/* since 18 core may not read the other branch then, which may have errors */
		if (operation->op != SETOP_UNION && hg_path_is_empty(branch))
			return;
		rows += branch->rows;
	}
	if (rows < hg_min_rows && !hg_force)
		return;
	foreach (lc, paths)
		if (operation->op != SETOP_UNION && !hg_force &&
			!hg_branch_has_widths(hg_branch_path(lfirst(lc))))
			return;
	target = ((const Path *) linitial(rel->pathlist))->pathtarget;
	input = hg_append_branches(root, rel, paths, operation);
	foreach (lc, paths)
		if (operation->op == SETOP_UNION || foreach_current_index(lc) == 0)
			groups += hg_branch_groups(hg_branch_path(lfirst(lc)));
	hg_add_set_operation(root, rel, target, input, operation, Min(groups, input->rows));
	foreach (lc, gathers)
		hg_add_set_operation(root, rel, target, lfirst(lc), operation, Min(groups, input->rows));
}
