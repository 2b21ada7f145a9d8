/*-------------------------------------------------------------------------
 *
 * hg_sort_path.c
 *	  Offers the sort node for ORDER BY above our joins and scans, and with a LIMIT above groups.
 *
 * With a LIMIT the node is offered if LIMIT and OFFSET are constants, because core tells the bound
 * only to its own nodes while a query runs.  The node rejects rows before they are formed, so all
 * columns of the input must be plain: an expression could raise an error for a rejected row, as
 * core's plan would.  The same holds for HAVING, and for final functions.  Only results that the
 * aggregate node computes itself are allowed, whose errors it raises for rejected groups too.
 * Functions that core evaluates after the sort are evaluated by this node, for the rows that it
 * returns.
 *
 * Without a LIMIT the node is offered if the first sort key has words (hg_sort_rows.h), and if the
 * rows are expected to fit into memory.  Beyond it, core's sort does the work.
 *
 * COST, for N rows of the input and a limit of L, over the cost of the input:
 *
 *	rows		minus hg_path_saving() of a join or a scan, because rows are not formed
 *	check		N * HG_SORT_CHECK_NS
 *	accepted	A * (HG_FORM_ROW_NS and core's price of an insertion into a heap of L rows), where
 *				A = L * (1 + ln(N / L)) is the number of accepted rows if the order is random
 *	return		L * cpu_operator_cost, as core
 *
 * Core charges the insertion for all N rows.
 *
 * Without a limit:
 *
 *	rows		minus hg_path_saving(), as above
 *	store		N * HG_SORT_STORE_NS
 *	sort		N * log2(N) * HG_SORT_COMPARE_NS; core: twice cpu_operator_cost
 *	return		N * HG_FORM_ROW_NS
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/syscache.h"

#include "backend/hg_library.h"
#include "engine/hg_cost_table.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/sort/hg_sort.h"
#include "executor/sort/hg_sort_rows.h"
#include "hg_guc.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_grouping_sets.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"

/* A path of the sort node. */
typedef struct HgSortPath
{
	CustomPath custom; /* must be first; custom_paths is the input */
	int limit;
	List *clauses; /* SortGroupClauses, over the input's target */
} HgSortPath;

/* ---------------------------------------------------------------------
 * The plan
 * ---------------------------------------------------------------------
 */

static Plan *
hg_sort_plan(PlannerInfo *root pg_attribute_unused(), RelOptInfo *rel pg_attribute_unused(),
			 CustomPath *best_path, List *tlist, List *clauses pg_attribute_unused(),
			 List *custom_plans)
{
	const HgSortPath *path = (const HgSortPath *) best_path;
	CustomScan *cscan = makeNode(CustomScan);
	List *input = ((Plan *) linitial(custom_plans))->targetlist;
	List *columns = NIL;
	List *operators = NIL;
	List *collations = NIL;
	List *nulls_first = NIL;
	ListCell *lc;

	foreach (lc, path->clauses)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		const TargetEntry *tle = get_sortgroupref_tle(clause->tleSortGroupRef, input);

		columns = lappend_int(columns, tle->resno);
		operators = lappend_oid(operators, clause->sortop);
		collations = lappend_oid(collations, exprCollation((Node *) tle->expr));
		nulls_first = lappend_int(nulls_first, clause->nulls_first ? 1 : 0);
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_scan_tlist = hg_plan_scan_tlist(custom_plans);
	cscan->custom_private =
		list_concat(list_make3(hg_library_mark(), makeInteger(path->limit), columns),
					list_make3(operators, collations, nulls_first));
	cscan->methods = &hg_sort_scan_methods;
	StaticAssertDecl(HG_SORT_PRIVATE_COUNT == 6, "the list has as many members as its enum");
	return &cscan->scan.plan;
}

static const CustomPathMethods hg_sort_path_methods = {
	.CustomName = "HashGraphSort",
	.PlanCustomPath = hg_sort_plan,
};

/* ---------------------------------------------------------------------
 * Is the node possible?
 * ---------------------------------------------------------------------
 */

/* Returns the value of a constant of LIMIT or OFFSET; -1: it is none, or is NULL. */
static int64
hg_limit_value(const Node *node)
{
	if (node == NULL || !IsA(node, Const) || ((const Const *) node)->constisnull)
		return -1;
	return DatumGetInt64(((const Const *) node)->constvalue);
}

/*
 * Returns the number of rows that a query needs of its sorted rows; 0: the node cannot be used, or
 * the copies of so many rows' keys would not fit into their part of work memory.
 */
static int
hg_needed_rows(const Query *parse)
{
	const Size entry = HG_SORT_ENTRY_BYTES + list_length(parse->sortClause) * HG_SORT_KEY_BYTES;
	int64 most = (int64) ((Size) work_mem * 1024 / HG_SORT_KEYS_PART / entry);
	int64 count = hg_limit_value(parse->limitCount);
	int64 offset = parse->limitOffset != NULL ? hg_limit_value(parse->limitOffset) : 0;

	if (parse->limitOption != LIMIT_OPTION_COUNT || count <= 0 || offset < 0 || count > most ||
		offset > most - count)
		return 0;
	return (int) (count + offset);
}

/* Returns true if a query needs all of its sorted rows. */
static bool
hg_needs_all_rows(const Query *parse)
{
	const Node *count = parse->limitCount;

	return count == NULL || (IsA(count, Const) && ((const Const *) count)->constisnull);
}

/* Returns true if an aggregate runs a final function of its own, which may raise an error. */
static bool
hg_aggref_runs_final(const Aggref *aggref)
{
	HeapTuple tuple;
	bool runs;

	if (hg_aggregate_kind(aggref->aggfnoid) != HG_AGGREGATE_TRANSITION)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	runs = OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn);
	ReleaseSysCache(tuple);
	return runs;
}

/*
 * Returns true if groups can be rejected without hiding an error. Groups from which other sets are
 * combined are returned in the order of that.
 */
static bool
hg_groups_can_be_rejected(const HgAggregatePath *groups)
{
	ListCell *lc;

	if (groups->having != NIL || !groups->grouped || !hg_grouping_sets_return_last(groups->sets))
		return false;
	foreach (lc, groups->aggrefs)
		if (hg_aggref_runs_final(lfirst_node(Aggref, lc)))
			return false;
	return true;
}

/* Returns true if a column of groups is one that they are grouped by, plain or computed below. */
static bool
hg_is_grouped_by(const HgAggregatePath *groups, int column)
{
	Index ref = get_pathtarget_sortgroupref(groups->custom.path.pathtarget, column);

	return ref > 0 && get_sortgroupref_clause_noerr(ref, groups->group_clause) != NULL;
}

/*
 * Returns true if all columns of a path are plain: columns of its inputs and, of groups (else
 * NULL), aggregates and what is grouped by.
 */
static bool
hg_target_is_columns(const PathTarget *target, const HgAggregatePath *groups)
{
	ListCell *lc;

	foreach (lc, target->exprs)
		if (!IsA(lfirst(lc), Var) && !(groups != NULL && IsA(lfirst(lc), Aggref)) &&
			!(groups != NULL && hg_is_grouped_by(groups, foreach_current_index(lc))))
			return false;
	return true;
}

/* Returns true if a target has all sort keys. */
static bool
hg_target_has_keys(const PathTarget *target, const List *clauses)
{
	const ListCell *lc;

	foreach (lc, clauses)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		int ncolumns = list_length(target->exprs);
		int i = 0;

		while (i < ncolumns && get_pathtarget_sortgroupref(target, i) != clause->tleSortGroupRef)
			i++;
		if (i == ncolumns)
			return false;
	}
	return true;
}

/* Returns true if the node can read a path as a scan of cached columns. */
static bool
hg_sort_takes_scan(const Path *path)
{
	/* workers of this node do not learn whether they may use the cache */
	return path->parallel_workers == 0 && hg_path_is_cached(path) &&
		   (path->parent->tuples >= hg_min_rows || hg_force);
}

/*
 * Returns true if a path in its relation's list still exists. Core adds an input that is sorted to
 * the ordered relation as it is, and frees it there if another path is better: the input's list
 * then points to memory that is free, or in use for something else. Of that, nothing is one of
 * these paths whose parent is the input: those that core makes meanwhile belong to the ordered
 * relation. What has been freed and still looks like a path is in the query's order already, which
 * hg_sort_takes() refuses.
 */
static bool
hg_path_exists(const RelOptInfo *rel, const Path *path)
{
	return (IsA(path, Path) || IsA(path, AppendPath) || IsA(path, ProjectionPath) ||
			IsA(path, CustomPath)) &&
		   path->parent == rel;
}

/* Returns true if the node can stand above a path. */
static bool
hg_sort_takes(const PlannerInfo *root, const Path *path)
{
	const HgJoinPath *join = hg_path_join(path);
	const HgAggregatePath *groups = hg_path_is_groups(path) ? (const HgAggregatePath *) path : NULL;

	if (path->param_info != NULL || pathkeys_contained_in(root->sort_pathkeys, path->pathkeys) ||
		!hg_target_is_columns(path->pathtarget, groups) ||
		!hg_target_has_keys(path->pathtarget, root->parse->sortClause))
		return false;
	if (groups != NULL)
		return hg_groups_can_be_rejected(groups);
	return join != NULL ? !hg_join_path_filters(join) : hg_sort_takes_scan(path);
}

/* Returns the bytes of a row in memory. */
static Size
hg_sorted_row_bytes(const PlannerInfo *root, const Path *input)
{
	const PathTarget *target = input->pathtarget;

	return MAXALIGN(target->width) + list_length(target->exprs) * sizeof(uint64) / 2 +
		   hg_sort_row_bytes(list_length(root->parse->sortClause) - 1);
}

/* Returns true if the node compares the first sort key of an input faster than core's sort. */
static bool
hg_sort_has_words(const PlannerInfo *root, const Path *input)
{
	const SortGroupClause *clause = linitial_node(SortGroupClause, root->parse->sortClause);
	const PathTarget *target = input->pathtarget;
	ListCell *lc;

	foreach (lc, target->exprs)
	{
		const Node *expr = lfirst(lc);

		if (get_pathtarget_sortgroupref(target, foreach_current_index(lc)) ==
			clause->tleSortGroupRef)
			return hg_sort_rows_takes(exprType(expr), clause->sortop, exprCollation(expr));
	}
	return false;
}

/*
 * Returns true if the node can save time: if it needs fewer rows than there are or, for all rows,
 * if these are expected to fit into memory.
 */
static bool
hg_sort_pays(const PlannerInfo *root, const Path *input, int limit)
{
	if (limit > 0)
		return limit < input->rows;
	if (hg_path_is_groups(input) || !hg_sort_has_words(root, input))
		return false;
	return hg_force || input->rows * hg_sorted_row_bytes(root, input) <
						   (double) (work_mem - work_mem / HG_SORT_SPILL_PART) * 1024;
}

/* ---------------------------------------------------------------------
 * Paths and their costs
 * ---------------------------------------------------------------------
 */

/* Fills in rows and costs. */
static void
hg_sort_path_cost(HgSortPath *path, const Path *input)
{
	Path *out = &path->custom.path;
	double limit = path->limit;
	double accepted = limit > 0 ? Min(input->rows, limit * (1 + log(input->rows / limit))) : 0;
	Cost insertion = limit > 0 ? 2.0 * cpu_operator_cost * log2(2.0 * limit) : 0;

	out->rows = input->rows;
	hg_path_set_disabled_nodes(out, hg_path_disabled_nodes(input));
	if (hg_force)
	{
		out->startup_cost = out->total_cost = input->total_cost;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}
	out->startup_cost = input->total_cost - hg_path_saving(input);
	if (path->limit > 0)
	{
		out->startup_cost += input->rows * hg_operator_cost(HG_SORT_CHECK_NS) +
							 accepted * (insertion + hg_tuple_cost(HG_FORM_ROW_NS));
		out->total_cost = out->startup_cost + limit * cpu_operator_cost;
	}
	else
	{
		out->startup_cost +=
			input->rows * hg_operator_cost(HG_SORT_STORE_NS) +
			input->rows * log2(Max(input->rows, 2)) * hg_operator_cost(HG_SORT_COMPARE_NS);
		out->total_cost = out->startup_cost + input->rows * hg_tuple_cost(HG_FORM_ROW_NS);
	}
	if (!enable_sort)
		hg_path_disable(out);
}

/* Returns a path of the node above an input, which hg_sort_takes() takes. */
static Path *
hg_sort_path_create(const PlannerInfo *root, RelOptInfo *rel, Path *input, int limit)
{
	HgSortPath *path = (HgSortPath *) newNode(sizeof(HgSortPath), T_CustomPath);

	path->custom.path.pathtype = T_CustomScan;
	path->custom.path.parent = rel;
	path->custom.path.pathtarget = input->pathtarget;
	path->custom.path.pathkeys = root->sort_pathkeys;
	path->custom.path.parallel_safe = rel->consider_parallel && input->parallel_safe;
	path->custom.path.parallel_workers = input->parallel_workers;
	path->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom.custom_paths = list_make1(input);
	path->custom.methods = &hg_sort_path_methods;
	path->limit = limit;
	path->clauses = root->parse->sortClause;
	hg_sort_path_cost(path, input);
	return &path->custom.path;
}

/* Returns the paths of a list that the node can stand above, and should. */
static List *
hg_find_sort_inputs(const PlannerInfo *root, const RelOptInfo *rel, const List *paths, int limit)
{
	List *inputs = NIL;
	ListCell *lc;

	foreach (lc, paths)
	{
		Path *path = lfirst(lc);

		if (hg_path_exists(rel, path) && hg_sort_takes(root, path) &&
			hg_sort_pays(root, path, limit))
			inputs = lappend(inputs, path);
	}
	return inputs;
}

/* Adds a sorted path with the target that the query needs. */
static void
hg_add_sorted(PlannerInfo *root, RelOptInfo *ordered_rel, Path *path)
{
	PathTarget *target = root->upper_targets[UPPERREL_ORDERED];

	if (path->pathtarget != target)
		path = apply_projection_to_path(root, ordered_rel, path, target);
	add_path(ordered_rel, path);
}

/* Offers the node above an input that several processes share. */
static void
hg_consider_shared_sort(PlannerInfo *root, RelOptInfo *ordered_rel, Path *input, int limit)
{
	double rows = input->rows * input->parallel_workers;
	Path *path = hg_sort_path_create(root, ordered_rel, input, limit);

	hg_add_sorted(root, ordered_rel,
				  (Path *) create_gather_merge_path(root, ordered_rel, path, path->pathtarget,
													root->sort_pathkeys, NULL, &rows));
}

void
hg_consider_sort(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	const Query *parse = root->parse;
	bool all = hg_needs_all_rows(parse);
	int limit = all ? 0 : hg_needed_rows(parse);
	List *inputs;
	List *partial_inputs = NIL;
	ListCell *lc;

	/* targets of set operations number their columns otherwise than the query's ORDER BY */
	if ((!all && limit == 0) || root->sort_pathkeys == NIL || parse->rowMarks != NIL ||
		parse->hasTargetSRFs || parse->setOperations != NULL)
		return;
	inputs = hg_find_sort_inputs(root, input_rel, input_rel->pathlist, limit);
	if (ordered_rel->consider_parallel)
		partial_inputs = hg_find_sort_inputs(root, input_rel, input_rel->partial_pathlist, limit);
	/* from here on, sorted inputs may be freed */
	foreach (lc, inputs)
		hg_add_sorted(root, ordered_rel, hg_sort_path_create(root, ordered_rel, lfirst(lc), limit));
	foreach (lc, partial_inputs)
		hg_consider_shared_sort(root, ordered_rel, lfirst(lc), limit);
}
