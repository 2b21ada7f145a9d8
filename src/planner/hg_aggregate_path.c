/*-------------------------------------------------------------------------
 *
 * hg_aggregate_path.c
 *	  Offers the aggregate node.
 *
 * The planner calls the hook when it has its own paths for a query's GROUP BY and aggregates, or
 * for its SELECT DISTINCT, which groups by all columns and aggregates nothing. The node is offered
 * if the executor knows all aggregates (hg_aggregate_kind) and they have no ORDER BY, and if the
 * group columns can be hashed. All else is left to core. The input is a HashGraph join or a table
 * if possible, whose columns the node reads without forming rows, or else any path with
 * hashgraph.min_rows rows.
 *
 * GROUPING SETS. One node hashes the rows by the columns of all sets, and combines the groups of
 * each set from those of a finer one (hg_grouping_sets.h). GROUPING() is a column of the node's
 * scan slot, because only an Agg node may evaluate it. A set makes columns NULL by their
 * expression, and core replaces no constant by a column. So a column without variables is left to
 * core.
 *
 * DISTINCT AGGREGATES. If some aggregates are over the distinct values of a column, there is a
 * grouping set with that column too, whose groups are not returned. Each of its groups has one
 * value, which the groups that are combined from it take once. There is such a set for each column
 * and FILTER. Of values that are equal but differ, core takes any one; here they are only counted,
 * or are of by-value types, where equal values do not differ.
 *
 * SHARED GROUPS. If there are many groups, the processes below a Gather share them: each finishes
 * and returns some of them (hg_aggregate_shared.h). Groups of grouping sets are shared however few
 * there are, because core has no partial groups for them.
 *
 * PARTIAL GROUPS. If groups are few, each of these processes makes its own, which core's Finalize
 * Aggregate combines. The same holds for partitions that are grouped one by one by something other
 * than their key (enable_partitionwise_aggregate). By the key, the groups of each partition are
 * complete: core plans each like a query and calls the hook. It does not call the hook for a
 * partition with partial groups, and has chosen among these paths when it calls the hook for all.
 * Our paths are then added to the partitions' paths, and appended and combined once more.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "executor/aggregate/hg_aggregate_function.h"
#include "hg_guc.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_grouping_sets.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"
#include "planner/hg_plan_notes.h"

/* The first keys of a sort, which decide most comparisons. */
#define HG_COMPARED_KEYS 3

/* The first groups come at once if they cost at most this part of all. */
#define HG_AT_ONCE_PART 0.01

static const CustomPathMethods hg_aggregate_path_methods = {
	.CustomName = "HashGraphAggregate",
	.PlanCustomPath = hg_aggregate_plan,
};

bool
hg_path_is_groups(const Path *path)
{
	return IsA(path, CustomPath) &&
		   ((const CustomPath *) path)->methods == &hg_aggregate_path_methods;
}

/*
 * Returns true if the node can compute an aggregate. The node evaluates each function for a batch
 * of rows before the next one. Volatile functions are refused because they would be called in
 * another order than core's.
 */
static bool
hg_aggref_supported(const Aggref *aggref)
{
	Node *argument = (Node *) aggref->args;
	Node *filter = (Node *) aggref->aggfilter;

	if (hg_aggregate_kind(aggref->aggfnoid) == HG_AGGREGATE_UNSUPPORTED)
		return false;
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->agglevelsup > 0 || aggref->aggvariadic ||
		aggref->aggorder != NIL || aggref->aggdirectargs != NIL || list_length(aggref->args) > 1)
		return false;
	return !contain_subplans(argument) && !contain_volatile_functions(argument) &&
		   !contain_subplans(filter) && !contain_volatile_functions(filter);
}

/*
 * Collects the distinct Aggrefs of expressions, and their GROUPING() calls. Returns false if one of
 * the Aggrefs is not supported.
 */
static bool
hg_find_aggrefs(List *exprs, List **aggrefs, List **groupings)
{
	List *found = pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
													  PVC_INCLUDE_PLACEHOLDERS);
	ListCell *lc;

	*aggrefs = *groupings = NIL;
	foreach (lc, found)
	{
		Node *node = lfirst(lc);

		if (IsA(node, Aggref) && !hg_aggref_supported((const Aggref *) node))
			return false;
		if (IsA(node, Aggref))
			*aggrefs = list_append_unique(*aggrefs, node);
		else if (IsA(node, GroupingFunc))
			*groupings = list_append_unique(*groupings, node);
	}
	return true;
}

/* Returns the cheapest unparameterized join of ours among the paths, or a projection of one. */
static Path *
hg_find_join_path(List *pathlist)
{
	Path *best = NULL;
	ListCell *lc;

	foreach (lc, pathlist)
	{
		Path *path = lfirst(lc);

		if (path->param_info == NULL && hg_path_join(path) != NULL &&
			(best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	return best;
}

HgAggregatePath *
hg_aggregate_path_make(RelOptInfo *rel, PathTarget *target, Path *input, bool grouped,
					   List *group_clause)
{
	HgAggregatePath *path = (HgAggregatePath *) newNode(sizeof(HgAggregatePath), T_CustomPath);

	path->custom.path.pathtype = T_CustomScan;
	path->custom.path.parent = rel;
	path->custom.path.pathtarget = target;
	path->custom.path.parallel_safe = rel->consider_parallel && input->parallel_safe;
	path->custom.path.parallel_workers = input->parallel_workers;
	/* it gets shared memory, to report what each process did */
	path->custom.path.parallel_aware = input->parallel_workers > 0;
	path->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom.custom_paths = list_make1(input);
	path->custom.methods = &hg_aggregate_path_methods;
	path->grouped = grouped;
	path->group_clause = group_clause;
	return path;
}

/*
 * Returns true if no state of an aggregate is a value that may be long, as the least text is. All
 * grouping sets have such values at once, and those of groups in memory do not go to files.
 */
static bool
hg_aggrefs_are_narrow(const List *aggrefs)
{
	ListCell *lc;

	foreach (lc, aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		if (aggref->aggtranstype == aggref->aggtype && aggref->aggtype != NUMERICOID &&
			get_typlen(aggref->aggtype) < 0)
			return false;
	}
	return true;
}

/*
 * Sets *distinct to the HgDistincts of some aggregates. Returns false if one of the columns cannot
 * be hashed or has values that are equal but not the same. PostgreSQL aggregates the values in
 * their order, on which sums of floating-point numbers depend.
 */
static bool
hg_find_distinct(const List *aggrefs, List **distinct)
{
	ListCell *lc;

	*distinct = NIL;
	foreach (lc, aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);
		const SortGroupClause *clause;
		Var *var;
		HgDistinct *found;

		if (aggref->aggdistinct == NIL || hg_aggref_distinct(*distinct, aggref) >= 0)
			continue;
		clause = linitial_node(SortGroupClause, aggref->aggdistinct);
		var = (Var *) linitial_node(TargetEntry, aggref->args)->expr;
		if (!IsA(var, Var) || var->varlevelsup > 0 || !clause->hashable)
			return false;
		found = palloc(sizeof(HgDistinct));
		*found = (HgDistinct){var, clause->eqop, aggref->aggfilter};
		*distinct = lappend(*distinct, found);
	}
	foreach (lc, aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);
		Oid type;

		if (aggref->aggdistinct == NIL || hg_aggregate_kind(aggref->aggfnoid) == HG_AGGREGATE_COUNT)
			continue;
		type = exprType((Node *) linitial_node(TargetEntry, aggref->args)->expr);
		if (!get_typbyval(type) || type == FLOAT4OID || type == FLOAT8OID)
			return false;
	}
	return true;
}

/* Returns true if a column is one that a path groups by, whatever may make it NULL. */
static bool
hg_is_group_column(PlannerInfo *root, const HgAggregatePath *path, const Var *column)
{
	List *exprs = get_sortgrouplist_exprs(path->group_clause, root->processed_tlist);
	ListCell *lc;

	foreach (lc, exprs)
	{
		const Var *var = lfirst(lc);

		/* from 18 on grouping sets mark a column that they may make NULL */
		if (IsA(var, Var) && var->varno == column->varno && var->varattno == column->varattno)
			return true;
	}
	return false;
}

/*
 * Returns our path over an input with the aggregates of rel's target, without grouping sets and
 * cost; NULL if impossible.
 */
static HgAggregatePath *
hg_aggregate_path_begin(PlannerInfo *root, RelOptInfo *rel, Path *input, List *having)
{
	HgAggregatePath *path;
	List *aggrefs;
	List *groupings;
	List *distinct;

	/* without sets GROUPING() is rare and left to core */
	if (!hg_find_aggrefs(list_concat_copy(rel->reltarget->exprs, having), &aggrefs, &groupings) ||
		(groupings != NIL && root->parse->groupingSets == NIL) ||
		!hg_find_distinct(aggrefs, &distinct))
		return NULL;
	path = hg_aggregate_path_make(rel, rel->reltarget, input, root->parse->groupClause != NIL,
								  HG_GROUP_CLAUSE(root));
	path->aggrefs = aggrefs;
	path->groupings = groupings;
	path->having = having;
	path->distinct = distinct;
	return root->parse->groupingSets == NIL || hg_aggregate_marks_agree(root, path) ? path : NULL;
}

/*
 * Returns true if the DISTINCT columns of a path can be more keys of groups: if the input has them,
 * and no group column is one, as a column is a key once; and if there are not too many.
 */
static bool
hg_distinct_supported(PlannerInfo *root, const HgAggregatePath *path)
{
	const Path *input = linitial(path->custom.custom_paths);
	ListCell *lc;

	foreach (lc, path->distinct)
	{
		Var *column = ((const HgDistinct *) lfirst(lc))->column;

		if (!list_member(input->pathtarget->exprs, column) ||
			hg_is_group_column(root, path, column))
			return false;
	}
	return list_length(path->distinct) * Max(list_length(root->parse->groupingSets), 1) <=
		   HG_MOST_SETS;
}

/* Returns our path over an input with the aggregates of rel's target; NULL if impossible. */
static Path *
hg_aggregate_path_create(PlannerInfo *root, RelOptInfo *rel, Path *input, List *having,
						 double groups)
{
	HgAggregatePath *path = hg_aggregate_path_begin(root, rel, input, having);

	if (path == NULL)
		return NULL;
	if (root->parse->groupingSets != NIL || path->distinct != NIL)
	{
		if (!hg_aggrefs_are_narrow(path->aggrefs) || !hg_distinct_supported(root, path))
			return NULL;
		path->distinct = hg_grouping_sets_order(root, path->distinct, input->rows);
		path->sets = hg_grouping_sets_plan(root, path->distinct, input->rows);
		groups = ((const HgPlannedSet *) linitial(path->sets))->groups;
	}
	hg_aggregate_cost(root, path, groups);
	return &path->custom.path;
}

/* Returns a scan of a table by pages, with as many workers as its cheapest path, or NULL. */
static Path *
hg_find_scan(PlannerInfo *root, RelOptInfo *rel, const Path *cheapest)
{
	Path *scan;

	if (!IS_SIMPLE_REL(rel) || hg_scan_path_find(root, rel) == NULL)
		return NULL;
	/* a path with the table's own target, possibly for several processes */
	scan = create_seqscan_path(root, rel, NULL, cheapest->parallel_workers);
	if (hg_path_saving(scan) <= 0)
		return NULL;
	/* a forced aggregation costs nothing, but must not scan a table again for each outer row */
	if (hg_force && hg_query_is_rescanned(root) &&
		scan->total_cost - hg_path_saving(scan) > cheapest->total_cost)
		return NULL;
	return scan;
}

/*
 * Returns true if a table is too small for the node; a relation that is no table counts as small.
 */
static bool
hg_table_is_small(const RelOptInfo *rel)
{
	return rel->tuples < hg_min_rows && !hg_force;
}

/*
 * Returns the scan of the one table that is aggregated, or the cheapest path if it appends scans
 * of cached columns, or NULL.
 */
static Path *
hg_find_table(PlannerInfo *root, RelOptInfo *rel, Path *cheapest)
{
	const Path *scans = cheapest;

	if (hg_table_is_small(rel))
		return NULL;
	if (IsA(scans, ProjectionPath))
		scans = ((const ProjectionPath *) scans)->subpath;
	if ((IsA(scans, AppendPath) || IsA(scans, SubqueryScanPath)) && cheapest->param_info == NULL &&
		hg_path_reads_cache(cheapest))
		return cheapest;
	return hg_find_scan(root, rel, cheapest);
}

/* Returns true if the node may read the rows of a path of core's. */
static bool
hg_path_is_input(const Path *path)
{
	/* a table scan is considered anyway, and the node below Gather, where it costs less */
	if (path->pathtype == T_SeqScan || path->pathtype == T_Gather ||
		path->pathtype == T_GatherMerge)
		return false;
	/* a forced node is nearer to the tables */
	if (hg_force)
		return path->pathtype != T_Append && path->pathtype != T_MergeAppend;
	return path->rows >= hg_min_rows;
}

/*
 * Returns the inputs to consider of a relation: a table scan, or else our best join and our join
 * like core's best path, which may cost too much for forming rows, but none are formed.  Core's
 * best path is considered beside a table scan, or if there is nothing else.
 */
static List *
hg_find_inputs(PlannerInfo *root, RelOptInfo *rel, List *pathlist, Path *cheapest)
{
	Path *scan = hg_find_table(root, rel, cheapest);
	List *inputs = NIL;

	if (scan != NULL)
		inputs = list_make1(scan);
	else
	{
		Path *join = hg_find_join_path(pathlist);
		Path *instead =
			hg_path_join(cheapest) == NULL ? hg_join_path_instead(root, cheapest) : NULL;

		if (join != NULL)
			inputs = lappend(inputs, join);
		if (instead != NULL)
			inputs = lappend(inputs, instead);
	}
	if ((inputs == NIL || (scan != NULL && !hg_force)) && hg_path_is_input(cheapest))
		inputs = list_append_unique_ptr(inputs, cheapest);
	return inputs;
}

/*
 * Returns true if the first groups of a path of core's may be all that is needed: of the query, or
 * if they come at once, of a query around it that has a LIMIT.
 */
static bool
hg_first_groups_are_wanted(const PlannerInfo *root, const Path *path)
{
	if (path->parent->consider_startup)
		return true;
	if (path->startup_cost > HG_AT_ONCE_PART * path->total_cost)
		return false;
	for (root = root->parent_root; root != NULL; root = root->parent_root)
		if (root->tuple_fraction > 0)
			return true;
	return false;
}

/*
 * Returns true if the first groups of a path of core's may be all that is needed and come sooner
 * than those of another path. That is not so if something above sorts them in another order, of
 * which they do not have even the first key: incremental sorts need no more.
 */
static bool
hg_first_groups_matter(const PlannerInfo *root, const Path *path, const Path *other)
{
	List *wanted = root->window_pathkeys != NIL ? root->window_pathkeys : root->sort_pathkeys;
	int ncommon;

	return hg_first_groups_are_wanted(root, path) && path->startup_cost < other->startup_cost &&
		   (pathkeys_count_contained_in(wanted, path->pathkeys, &ncommon) ||
			(enable_incremental_sort && ncommon > 0));
}

/* Returns true if a path of core's groups its rows by their order. */
static bool
hg_path_sorts_to_group(const Path *path)
{
	return path->pathkeys != NIL &&
		   (IsA(path, GroupPath) || IsA(path, GroupingSetsPath) || hg_path_is_unique(path) ||
			(IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy == AGG_SORTED));
}

/* Returns the sort, in one process or in several, whose rows a path of core's groups; or NULL. */
static const Path *
hg_sort_to_group(const Path *path)
{
	while (!IsA(path, SortPath))
	{
		if (!IsA(path, AggPath) && !IsA(path, GroupPath) && !IsA(path, GroupingSetsPath) &&
			!IsA(path, GatherMergePath) && !hg_path_is_unique(path))
			return NULL;
		path = hg_path_input(path);
	}
	return path;
}

/* Returns true if a path combines partial groups by core's Finalize Aggregate. */
static bool
hg_path_is_final(const Path *path)
{
	return IsA(path, AggPath) && ((const AggPath *) path)->aggsplit == AGGSPLIT_FINAL_DESERIAL;
}

/*
 * Returns what a sort of core's costs beyond its price: core charges the same for comparing texts
 * as for comparing integers.
 */
static Cost
hg_sort_hidden_cost(const List *pathkeys, double rows)
{
	int ntexts = 0;
	int nkeys = 0;
	ListCell *lc;

	/* further keys are seldom compared */
	foreach (lc, pathkeys)
	{
		Oid collation = lfirst_node(PathKey, lc)->pk_eclass->ec_collation;

		ntexts += OidIsValid(collation) && collation != C_COLLATION_OID;
		if (++nkeys == HG_COMPARED_KEYS)
			break;
	}
	return ntexts * rows * log2(Max(rows, 2)) * hg_operator_cost(HG_COMPARE_TEXT_NS);
}

/* Returns the aggregates in a path's target, and other parts of its expressions. */
static List *
hg_path_aggrefs(const Path *path)
{
	return pull_var_clause((Node *) path->pathtarget->exprs, PVC_INCLUDE_AGGREGATES |
																 PVC_RECURSE_WINDOWFUNCS |
																 PVC_INCLUDE_PLACEHOLDERS);
}

/* Returns what Finalize Aggregate costs beyond its price: core charges little for each group. */
static Cost
hg_final_hidden_cost(const Path *path)
{
	double ns = HG_FINAL_GROUP_NS;
	ListCell *lc;

	foreach (lc, hg_path_aggrefs(path))
		if (IsA(lfirst(lc), Aggref) && lfirst_node(Aggref, lc)->aggtranstype == INTERNALOID)
			ns += HG_COMBINE_INTERNAL_NS;
	return ((const AggPath *) path)->subpath->rows * hg_operator_cost(ns);
}

/*
 * Returns what core's node for a path sorts the values of DISTINCT aggregates for, group by group,
 * of which it charges nothing. The values are priced like integers.
 */
static Cost
hg_distinct_hidden_cost(PlannerInfo *root, const Path *path)
{
	const AggPath *agg = (const AggPath *) path;
	double groups;
	Cost cost = 0;
	ListCell *lc;

	if (!IsA(path, AggPath))
		return 0;
	groups = agg->aggstrategy == AGG_PLAIN ? 1 : Max(agg->numGroups, 1);
	foreach (lc, hg_path_aggrefs(path))
		if (IsA(lfirst(lc), Aggref) && lfirst_node(Aggref, lc)->aggdistinct != NIL &&
			!HG_AGGREF_PRESORTED(lfirst_node(Aggref, lc)))
			cost += groups * hg_sort_cost(root, NIL, agg->subpath->rows / groups, sizeof(int32));
	return cost;
}

/* Returns the cost of a path for groups, and what core's nodes cost beyond their price. */
static Cost
hg_groups_real_cost(PlannerInfo *root, const Path *path)
{
	const Path *sort = hg_sort_to_group(path);
	Cost hidden;

	if (hg_force)
		return path->total_cost;
	hidden =
		hg_path_is_final(path) ? hg_final_hidden_cost(path) : hg_distinct_hidden_cost(root, path);
	if (hg_path_sorts_to_group(path) && sort != NULL)
		hidden += hg_sort_hidden_cost(sort->pathkeys, sort->rows);
	return path->total_cost + hidden;
}

/* Returns a copy of a path of core's that groups sorted rows, with another input in that order. */
static Path *
hg_groups_over(const Path *path, Path *sorted)
{
	const Path *input = hg_path_input(path);
	size_t size;
	Path *copy;

	if (IsA(path, AggPath))
		size = sizeof(AggPath);
	else if (IsA(path, GroupPath))
		size = sizeof(GroupPath);
	else
		size = sizeof(GroupingSetsPath);
	copy = memcpy(palloc(size), path, size);
	((SubqueryScanPath *) copy)->subpath = sorted;
	copy->parallel_safe = path->parallel_safe && sorted->parallel_safe;
	copy->startup_cost += sorted->startup_cost - input->startup_cost;
	copy->total_cost += sorted->total_cost - input->total_cost;
	hg_path_set_disabled_nodes(copy, hg_path_disabled_nodes(path) + hg_path_disabled_nodes(sorted) -
										 hg_path_disabled_nodes(input));
	return copy;
}

/* Returns true if a path of core's has one process sort the rows of a relation to group them. */
static bool
hg_path_sorts_rows_of(const Path *path, const RelOptInfo *rel)
{
	const Path *sort;

	if (!IsA(path, AggPath) && !IsA(path, GroupPath) && !IsA(path, GroupingSetsPath))
		return false;
	sort = hg_path_input(path);
	/* a Finalize Aggregate sorts partial groups */
	return IsA(sort, SortPath) && hg_path_input(sort)->parent == rel;
}

/*
 * Has several processes sort rows to be grouped where core has one sort them, only because it
 * underprices comparisons of texts.
 */
static void
hg_sort_groups_below_gather(PlannerInfo *root, const RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	ListCell *lc;
	ListCell *li;

	foreach (lc, input_rel->pathlist)
	{
		Path *sorted = lfirst(lc);

		if (!IsA(sorted, GatherMergePath))
			continue;
		foreach (li, grouped_rel->pathlist)
		{
			const Path *path = lfirst(li);

			if (hg_path_sorts_rows_of(path, input_rel) &&
				pathkeys_contained_in(hg_path_input(path)->pathkeys, sorted->pathkeys))
			{
				Path *copy = hg_groups_over(path, sorted);

				if (hg_path_disabled_nodes(copy) <= hg_path_disabled_nodes(path) &&
					hg_groups_real_cost(root, copy) < hg_groups_real_cost(root, path))
					lfirst(li) = copy;
			}
		}
	}
}

/*
 * Returns true if a path for groups replaces another one that finalizes partial groups, groups
 * rows by their order, has several grouping sets or sorts the values of DISTINCT aggregates.
 */
static bool
hg_groups_replace(PlannerInfo *root, const Path *path, const Path *other)
{
	Cost sorting = other->pathkeys != NIL
					   ? hg_sort_cost(root, other->pathkeys, path->rows, path->pathtarget->width)
					   : 0;

	return (hg_path_is_final(other) || hg_path_sorts_to_group(other) ||
			IsA(other, GroupingSetsPath) || hg_distinct_hidden_cost(root, other) > 0) &&
		   hg_path_disabled_nodes(path) <= hg_path_disabled_nodes(other) &&
		   hg_groups_real_cost(root, path) + sorting <= hg_groups_real_cost(root, other) &&
		   !hg_first_groups_matter(root, other, path);
}

void
hg_add_groups(PlannerInfo *root, RelOptInfo *grouped_rel, Path *ours)
{
	ListCell *lc;

	foreach (lc, grouped_rel->pathlist)
		if (hg_path_is_groups(lfirst(lc)) && hg_groups_replace(root, lfirst(lc), ours))
			return;
	foreach (lc, grouped_rel->pathlist)
		if (hg_groups_replace(root, ours, lfirst(lc)))
			grouped_rel->pathlist = foreach_delete_current(grouped_rel->pathlist, lc);
	add_path(grouped_rel, ours);
}

/* Returns the inputs of all rows to consider: those above, and a join of all tables at once. */
static List *
hg_find_whole_inputs(PlannerInfo *root, RelOptInfo *rel)
{
	List *inputs = hg_find_inputs(root, rel, rel->pathlist, rel->cheapest_total_path);
	Path *star = hg_star_path(root, rel);

	return star != NULL ? lappend(inputs, star) : inputs;
}

/* Offers the node in one process. Returns why it cannot be used, or HG_REASON_COST. */
static HgPlanReason
hg_consider_serial(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel, List *having,
				   double groups)
{
	List *inputs = hg_find_whole_inputs(root, input_rel);
	HgPlanReason reason = HG_REASON_AGGREGATE;
	ListCell *lc;

	if (inputs == NIL)
		return HG_REASON_FEW_ROWS;
	foreach (lc, inputs)
	{
		Path *path = hg_aggregate_path_create(root, grouped_rel, lfirst(lc), having, groups);

		if (path == NULL)
			continue;
		hg_add_groups(root, grouped_rel, path);
		reason = enable_hashagg || root->parse->groupClause == NIL ? HG_REASON_COST
																   : HG_REASON_NO_HASHAGG;
	}
	return reason;
}

/* Returns core's relation for the groups of relids at a stage; or NULL. */
static RelOptInfo *
hg_find_grouped_rel(const PlannerInfo *root, UpperRelationKind stage, Relids relids)
{
	ListCell *lc;

	foreach (lc, root->upper_rels[stage])
	{
		RelOptInfo *rel = lfirst_node(RelOptInfo, lc);

		if (bms_equal(rel->relids, relids))
			return rel;
	}
	return NULL;
}

/* Returns the number of groups that core expects of some paths, before HAVING. */
static double
hg_count_groups(const List *pathlist)
{
	ListCell *lc;

	foreach (lc, pathlist)
		if (IsA(lfirst(lc), AggPath))
			return ((const AggPath *) lfirst(lc))->aggstrategy == AGG_PLAIN
					   ? 1
					   : ((const AggPath *) lfirst(lc))->numGroups;
	return ((const Path *) linitial(pathlist))->rows;
}

/* Our paths that make partial groups: of all rows, or of each process's rows. */
typedef struct HgPartialGroups
{
	List *whole;
	List *of_processes;
} HgPartialGroups;

static bool
hg_path_is_cheaper(const Path *path, const Path *other)
{
	int more = hg_path_disabled_nodes(path) - hg_path_disabled_nodes(other);

	return more != 0 ? more < 0 : path->total_cost < other->total_cost;
}

/*
 * Adds our paths to core's, freeing none, because core has built on them. Returns true if one of
 * ours is now the first choice among the partial paths or the others.
 */
static bool
hg_add_beside(RelOptInfo *partial_rel, const HgPartialGroups *groups)
{
	const Path *cheapest = partial_rel->cheapest_total_path;
	bool first = false;
	ListCell *lc;

	foreach (lc, groups->of_processes)
	{
		Path *path = lfirst(lc);

		if (partial_rel->partial_pathlist == NIL ||
			hg_path_is_cheaper(path, linitial(partial_rel->partial_pathlist)))
		{
			partial_rel->partial_pathlist = lcons(path, partial_rel->partial_pathlist);
			first = true;
		}
		else
			partial_rel->partial_pathlist = lappend(partial_rel->partial_pathlist, path);
	}
	if (groups->whole != NIL)
	{
		partial_rel->pathlist = list_concat(partial_rel->pathlist, groups->whole);
		set_cheapest(partial_rel);
	}
	return first || partial_rel->cheapest_total_path != cheapest;
}

/* Appends our paths that make partial groups of some inputs. */
static void
hg_find_partial_groups(PlannerInfo *root, RelOptInfo *partial_rel, const List *inputs,
					   double groups, List **paths)
{
	ListCell *lc;

	foreach (lc, inputs)
	{
		Path *input = lfirst(lc);
		Path *path = hg_aggregate_path_create(root, partial_rel, input, NIL,
											  Min(groups, clamp_row_est(input->rows)));

		if (path != NULL)
			*paths = lappend(*paths, path);
	}
}

/* Returns the inputs of a process's rows to consider. */
static List *
hg_find_partial_inputs(PlannerInfo *root, RelOptInfo *rel)
{
	/* as in hg_consider_partial_paths() of joins */
	if (rel->partial_pathlist == NIL || (hg_force && hg_query_is_rescanned(root)))
		return NIL;
	return hg_find_inputs(root, rel, rel->partial_pathlist, linitial(rel->partial_pathlist));
}

/*
 * Adds paths that append the partial groups of partitions, as core has done before the hook. Does
 * nothing if core has made whole groups of each partition, and called the hook for each; if a
 * partition has no partial groups; or if none of our paths is the cheapest.
 */
static void
hg_append_partial_groups(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *partial_rel,
						 HgPartialGroups *partial)
{
	List *pathlist = partial_rel->pathlist;
	List *partial_pathlist = partial_rel->partial_pathlist;
	List *grouped_parts = NIL;
	bool chosen = false;

	if (!IS_PARTITIONED_REL(input_rel))
		return;
	for (int i = 0; i < input_rel->nparts; i++)
	{
		RelOptInfo *part = input_rel->part_rels[i];
		RelOptInfo *grouped_part;
		HgPartialGroups of_part = {NIL, NIL};
		const RelOptInfo *whole;
		double groups;

		if (part == NULL || IS_DUMMY_REL(part))
			continue;
		whole = hg_find_grouped_rel(root, UPPERREL_GROUP_AGG, part->relids);
		grouped_part = hg_find_grouped_rel(root, UPPERREL_PARTIAL_GROUP_AGG, part->relids);
		if (grouped_part == NULL || grouped_part->pathlist == NIL || whole == NULL ||
			whole->pathlist != NIL)
			return;
		groups = hg_count_groups(grouped_part->pathlist);
		hg_find_partial_groups(
			root, grouped_part,
			hg_find_inputs(root, part, part->pathlist, part->cheapest_total_path), groups,
			&of_part.whole);
		if (grouped_part->consider_parallel)
			hg_find_partial_groups(root, grouped_part, hg_find_partial_inputs(root, part), groups,
								   &of_part.of_processes);
		hg_append_partial_groups(root, part, grouped_part, &of_part);
		chosen |= hg_add_beside(grouped_part, &of_part);
		grouped_parts = lappend(grouped_parts, grouped_part);
	}
	if (!chosen)
		return;

	/* core has built on its own paths: keep ours apart */
	partial_rel->pathlist = NIL;
	partial_rel->partial_pathlist = NIL;
	add_paths_to_append_rel(root, partial_rel, grouped_parts);
	partial->whole = list_concat(partial->whole, partial_rel->pathlist);
	partial->of_processes = list_concat(partial->of_processes, partial_rel->partial_pathlist);
	partial_rel->pathlist = pathlist;
	partial_rel->partial_pathlist = partial_pathlist;
}

/*
 * Lets a path above our groups of several processes win if our nodes are forced, even in tests that
 * set the costs of a Gather to 0. gathered is the cost of the Gather.
 */
static void
hg_force_gathered(Path *path, Cost gathered)
{
	if (!hg_force)
		return;
	path->total_cost = Min(path->total_cost, gathered + HG_FORCED_TOTAL / 2);
	path->startup_cost = Min(path->startup_cost, path->total_cost);
	hg_path_set_disabled_nodes(path, 0);
}

/* Offers core's Finalize Aggregate above the partial groups of a path. */
static void
hg_consider_final(PlannerInfo *root, RelOptInfo *grouped_rel, Path *path,
				  const GroupPathExtraData *extra, double groups)
{
	AggStrategy strategy = AGG_PLAIN;
	Cost cost = path->total_cost;

	/* GROUP BY constants leaves no column to group by: that is a sort by nothing */
	if (root->parse->groupClause != NIL)
		strategy = HG_GROUP_CLAUSE(root) != NIL ? AGG_HASHED : AGG_SORTED;
	path = (Path *) create_agg_path(root, grouped_rel, path, grouped_rel->reltarget, strategy,
									AGGSPLIT_FINAL_DESERIAL, HG_GROUP_CLAUSE(root),
									(List *) extra->havingQual, &extra->agg_final_costs, groups);
	hg_force_gathered(path, cost);
	hg_add_groups(root, grouped_rel, path);
}

/*
 * The least number of groups that processes share.  Fewer are not worth their files, and core
 * finalizes partial ones, unless there are grouping sets.
 */
#define HG_LEAST_SHARED 1000

/* Returns true if the processes below a Gather may share groups of a clause. */
static bool
hg_may_share(const PlannerInfo *root, const RelOptInfo *rel, const List *group_clause,
			 double groups)
{
	return rel->consider_parallel && !IS_OTHER_REL(rel) && group_clause != NIL &&
		   (groups >= HG_LEAST_SHARED || root->parse->groupingSets != NIL);
}

/*
 * Offers a path over a process's rows, whose groups the processes below a Gather share.  sets are
 * the sets of all rows.
 */
static void
hg_add_shared(PlannerInfo *root, HgAggregatePath *path, List *sets)
{
	const Path *input = linitial(path->custom.custom_paths);

	path->sets = hg_shared_sets_plan(sets, clamp_row_est(input->rows), hg_parallel_divisor(input));
	hg_aggregate_cost(root, path, ((const HgPlannedSet *) linitial(path->sets))->groups);
	add_partial_path(path->custom.path.parent, &path->custom.path);
}

/*
 * Offers a Gather above the best of the paths that hg_add_shared() has offered. It comes after the
 * other paths of ours.
 */
static void
hg_gather_shared(PlannerInfo *root, RelOptInfo *rel)
{
	Path *path = rel->partial_pathlist != NIL ? linitial(rel->partial_pathlist) : NULL;
	Path *gather;
	double rows;

	if (path == NULL || !hg_path_is_groups(path))
		return;
	rows = path->rows * hg_parallel_divisor(path);
	gather = (Path *) create_gather_path(root, rel, path, path->pathtarget, NULL, &rows);
	hg_force_gathered(gather, gather->total_cost);
	hg_add_groups(root, rel, gather);
}

/*
 * Offers the node for partial groups: in every process below a Gather for its share of the input,
 * which is one of inputs, or for one partition after the other.
 */
static void
hg_consider_partial(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					const List *inputs, const GroupPathExtraData *extra, double groups)
{
	/* it exists if core has decided that these aggregates can be combined */
	RelOptInfo *partial_rel =
		hg_find_grouped_rel(root, UPPERREL_PARTIAL_GROUP_AGG, grouped_rel->relids);
	HgPartialGroups partial = {NIL, NIL};
	ListCell *lc;

	if (partial_rel == NULL)
		return;
	hg_find_partial_groups(root, partial_rel, inputs, groups, &partial.of_processes);
	hg_append_partial_groups(root, input_rel, partial_rel, &partial);
	/* paths of a partition are appended to those of the others */
	hg_add_beside(partial_rel, &partial);
	foreach (lc, partial.whole)
		hg_consider_final(root, grouped_rel, lfirst(lc), extra, groups);
	foreach (lc, partial.of_processes)
	{
		Path *path = lfirst(lc);
		double rows = path->rows * path->parallel_workers;

		hg_consider_final(root, grouped_rel,
						  (Path *) create_gather_path(root, partial_rel, path,
													  partial_rel->reltarget, NULL, &rows),
						  extra, groups);
	}
}

/* Offers groups that the processes below a Gather share; inputs have a process's rows. */
static void
hg_consider_shared(PlannerInfo *root, RelOptInfo *grouped_rel, const List *inputs, List *having,
				   double groups)
{
	ListCell *lc;

	if (!hg_may_share(root, grouped_rel, HG_GROUP_CLAUSE(root), groups))
		return;
	foreach (lc, inputs)
	{
		Path *input = lfirst(lc);
		HgAggregatePath *path = hg_aggregate_path_begin(root, grouped_rel, input, having);

		if (path == NULL || path->distinct != NIL)
			continue;
		if (root->parse->groupingSets == NIL)
			hg_add_shared(root, path, hg_one_set_plan(list_length(path->group_clause), groups));
		else if (hg_aggrefs_are_narrow(path->aggrefs))
			hg_add_shared(
				root, path,
				hg_grouping_sets_plan(root, NIL, input->rows * hg_parallel_divisor(input)));
	}
	hg_gather_shared(root, grouped_rel);
}

/*
 * Returns true if the node can make groups for the query's grouping sets. A custom scan identifies
 * columns by expression, so equal ones, of which a set may have one, would be one column.
 */
static bool
hg_grouping_sets_supported(const PlannerInfo *root)
{
	List *exprs = get_sortgrouplist_exprs(HG_GROUP_CLAUSE(root), root->processed_tlist);
	List *known = NIL;
	ListCell *lc;

	if (list_length(root->parse->groupingSets) > HG_MOST_SETS)
		return false;
	foreach (lc, exprs)
		if (pull_var_clause(lfirst(lc), PVC_RECURSE_PLACEHOLDERS) == NIL ||
			list_member(known, lfirst(lc)))
			return false;
		else
			known = lappend(known, lfirst(lc));
	return true;
}

/* Returns why the node cannot group a query's rows by a clause at all, or HG_REASON_COST. */
static HgPlanReason
hg_groups_reason(const PlannerInfo *root, List *group_clause)
{
	if (!hg_enabled)
		return HG_REASON_NOT_ENABLED;
	if (root->parse->groupingSets != NIL && !hg_grouping_sets_supported(root))
		return HG_REASON_GROUPING_SETS;
	/*
	 * a custom scan identifies columns by expression, so equal volatile ones would be one column
	 */
	if (!grouping_is_hashable(group_clause) ||
		contain_volatile_functions(
			(Node *) get_sortgrouplist_exprs(group_clause, root->processed_tlist)))
		return HG_REASON_GROUP_KEYS;
	return HG_REASON_COST;
}

/* Returns true if core sorts rows to make the first groups sooner than all groups by hashing. */
static bool
hg_core_sorts_first_groups(const List *pathlist)
{
	Cost sorted = get_float8_infinity();
	Cost hashed = get_float8_infinity();
	ListCell *lc;

	foreach (lc, pathlist)
	{
		const Path *path = lfirst(lc);

		if (hg_path_sorts_to_group(path))
			sorted = Min(sorted, path->startup_cost);
		else
			hashed = Min(hashed, path->total_cost);
	}
	return sorted < hashed;
}

/*
 * Returns true if core probably finds the first groups sooner, by sorting the rows of a table that
 * lie in the order of the query's first sort key already: it then finishes no other groups. Core
 * prices that sort as if they lay anyhow. pathlist are core's paths for the groups. Returns false
 * for cached tables.
 */
static bool
hg_first_groups_are_sorted(PlannerInfo *root, RelOptInfo *input_rel, const RelOptInfo *grouped_rel,
						   const List *pathlist, List *group_clause)
{
	const SortGroupClause *clause;
	const Node *key;
	const TypeCacheEntry *type;

	if (hg_force || !grouped_rel->consider_startup || root->parse->sortClause == NIL ||
		!IS_SIMPLE_REL(input_rel) || hg_path_is_cached(input_rel->cheapest_total_path) ||
		!hg_core_sorts_first_groups(pathlist))
		return false;
	clause = linitial_node(SortGroupClause, root->parse->sortClause);
	key = get_sortgroupclause_expr(unconstify(SortGroupClause *, clause), root->processed_tlist);
	if (!IsA(key, Var) ||
		get_sortgroupref_clause_noerr(clause->tleSortGroupRef, group_clause) == NULL)
		return false;
	type = lookup_type_cache(exprType(key), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	return (clause->sortop == type->lt_opr || clause->sortop == type->gt_opr) &&
		   hg_column_is_in_order(root, (const Var *) key, type->lt_opr);
}

void
hg_consider_aggregate(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					  const GroupPathExtraData *extra)
{
	const Query *parse = root->parse;
	HgPlanReason reason;
	List *inputs = NIL;
	double groups;

	/* a partition may have only partial groups */
	if (grouped_rel->pathlist == NIL || (parse->groupClause == NIL && !parse->hasAggs))
		return;
	reason = hg_groups_reason(root, HG_GROUP_CLAUSE(root));
	if (reason == HG_REASON_COST)
		hg_sort_groups_below_gather(root, input_rel, grouped_rel);
	if (reason == HG_REASON_COST &&
		!hg_first_groups_are_sorted(root, input_rel, grouped_rel, grouped_rel->pathlist,
									HG_GROUP_CLAUSE(root)))
	{
		groups = hg_estimate_groups(root, input_rel, HG_GROUP_CLAUSE(root),
									hg_count_groups(grouped_rel->pathlist));
		reason =
			hg_consider_serial(root, input_rel, grouped_rel, (List *) extra->havingQual, groups);
		if (grouped_rel->consider_parallel)
			inputs = hg_find_partial_inputs(root, input_rel);
		hg_consider_partial(root, input_rel, grouped_rel, inputs, extra, groups);
		hg_consider_shared(root, grouped_rel, inputs, (List *) extra->havingQual, groups);
	}
	hg_plan_notes_groups(root, grouped_rel, reason);
}

static HgAggregatePath *
hg_distinct_path_make(RelOptInfo *distinct_rel, Path *input, List *clause)
{
	return hg_aggregate_path_make(distinct_rel, input->pathtarget, input, true, clause);
}

void
hg_consider_distinct(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *distinct_rel,
					 bool partial)
{
	List *core = partial ? distinct_rel->partial_pathlist : distinct_rel->pathlist;
	List *clause = HG_DISTINCT_CLAUSE(root);
	List *inputs;
	double groups;
	ListCell *lc;

	/* since 18 only a WindowAgg can tell of window functions in EXPLAIN */
	if (core == NIL || clause == NIL || root->parse->hasDistinctOn || root->parse->hasWindowFuncs ||
		hg_groups_reason(root, clause) != HG_REASON_COST ||
		hg_first_groups_are_sorted(root, input_rel, distinct_rel, core, clause))
		return;
	groups = hg_estimate_groups(root, input_rel, clause, hg_count_groups(core));
	inputs =
		partial ? hg_find_partial_inputs(root, input_rel) : hg_find_whole_inputs(root, input_rel);
	foreach (lc, inputs)
	{
		Path *input = lfirst(lc);
		HgAggregatePath *path = hg_distinct_path_make(distinct_rel, input, clause);

		hg_aggregate_cost(root, path, Min(groups, clamp_row_est(input->rows)));
		if (partial)
			add_partial_path(distinct_rel, &path->custom.path);
		else
			hg_add_groups(root, distinct_rel, &path->custom.path);
	}
	if (partial || !hg_may_share(root, distinct_rel, clause, groups))
		return;
	foreach (lc, hg_find_partial_inputs(root, input_rel))
		hg_add_shared(root, hg_distinct_path_make(distinct_rel, lfirst(lc), clause),
					  hg_one_set_plan(list_length(clause), groups));
	hg_gather_shared(root, distinct_rel);
}
