/*-------------------------------------------------------------------------
 *
 * hg_aggregate_path.c
 *	  Offer the aggregate node above joins of ours, and below them.
 *
 * The planner calls the hook when it has its own paths for a query's GROUP BY and aggregates.
 * The node is offered where all aggregates are among those that the executor knows
 * (hg_aggregate_kind) and used plainly: no DISTINCT, no ORDER BY; group columns can be hashed;
 * and the input is a HashGraph join, a table that is read by pages for a subquery whose
 * groups are joined, or one of which something is resident, with its partitions.  All else is left
 * to core, which aggregates rows; so is what has nothing to do with a join or a resident column.
 *
 * COSTS.  For N rows of the input, G groups, k group columns and a aggregates, over the cost of
 * the input:
 *
 *	rows		hg_path_saving(): the input has been charged for rows that are not formed, where
 *				it can hand over columns; and hg_columns_saving()
 *	keys		N * k * cpu_operator_cost / 2
 *				hash, find, compare
 *	aggregates	N * a * cpu_operator_cost / 4, and what arguments and filters cost that are no
 *				plain columns; nothing where rows of a resident table are only counted, and a tenth
 *				for arguments and filters of its rows that are computed column by column
 *	groups		G * (cpu_tuple_cost + a * cpu_operator_cost), and HAVING
 *	disk		rows whose groups exceed work memory are written and read once
 *
 * Where hashing groups is disabled the node is, just as core's own hash aggregate.
 *
 * Core charges N * (k + a) * cpu_operator_cost and the same for groups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_aggregate.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "batch/hg_bound_params.h"
#include "batch/hg_scan_qual.h"
#include "executor/aggregate/hg_aggregate_arithmetic.h"
#include "executor/aggregate/hg_aggregate_kind.h"
#include "hg_guc.h"
#include "planner/hg_aggregate_path.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_input_cost.h"
#include "planner/hg_join_path.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_scan_path.h"
#include "planner/hg_scan_share.h"

/* Costs for each row, in units of cpu_operator_cost. */
#define HG_KEY_COST 0.5
#define HG_AGGREGATE_COST 0.25

/* What is left of the price of arguments and filters that are computed column by column. */
#define HG_BY_COLUMN_SHARE 0.1

/* What a forced aggregate costs, the whole of it. */
#define HG_FORCED_COST 0.001

/* Bytes of a group beside its values, for estimates. */
#define HG_GROUP_BYTES 48

static create_upper_paths_hook_type hg_prev_create_upper_paths_hook;

static const CustomPathMethods hg_aggregate_path_methods = {
	.CustomName = "HashGraphAggregate",
	.PlanCustomPath = hg_aggregate_plan,
};

/*
 * Can the node compute it?  Its functions go over the rows of a batch one after the other, and not
 * row by row: what is volatile would be called in another order than core's.
 */
static bool
hg_aggref_supported(const Aggref *aggref)
{
	Node *argument = (Node *) aggref->args;
	Node *filter = (Node *) aggref->aggfilter;

	if (hg_aggregate_kind(aggref->aggfnoid) == HG_AGGREGATE_UNSUPPORTED)
		return false;
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->agglevelsup > 0 || aggref->aggvariadic ||
		aggref->aggorder != NIL || aggref->aggdistinct != NIL || aggref->aggdirectargs != NIL ||
		list_length(aggref->args) > 1)
		return false;
	return !contain_subplans(argument) && !contain_volatile_functions(argument) &&
		   !contain_subplans(filter) && !contain_volatile_functions(filter);
}

/*
 * The Aggrefs of expressions, each once; false where one of them, or something else that needs
 * core's own node, is not supported.
 */
static bool
hg_find_aggrefs(List *exprs, List **aggrefs)
{
	List *found = pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
													  PVC_INCLUDE_PLACEHOLDERS);
	ListCell *lc;

	*aggrefs = NIL;
	foreach (lc, found)
	{
		Node *node = lfirst(lc);

		if (IsA(node, GroupingFunc) ||
			(IsA(node, Aggref) && !hg_aggref_supported((const Aggref *) node)))
			return false;
		if (IsA(node, Aggref))
			*aggrefs = list_append_unique(*aggrefs, node);
	}
	return true;
}

/* The cheapest of an input's paths that is a join of ours, or a projection of one. */
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

/* Is an aggregate's argument computed column by column? */
static bool
hg_aggref_is_arithmetic(const Aggref *aggref)
{
	return aggref->args != NIL &&
		   hg_arithmetic_takes(linitial_node(TargetEntry, aggref->args)->expr);
}

/* Do all of these do nothing but count rows? */
static bool
hg_aggrefs_count(const List *aggrefs)
{
	ListCell *lc;

	foreach (lc, aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		if (!hg_aggref_counts_rows(aggref) || aggref->aggfilter != NULL)
			return false;
	}
	return true;
}

/* Is it a column by value? */
static bool
hg_is_plain_column(const Node *node)
{
	return IsA(node, Var) && get_typbyval(((const Var *) node)->vartype);
}

/* Can a device make an aggregate function's results of columns of its? */
static bool
hg_aggref_may_be_asked(const Aggref *aggref)
{
	const HgAggregateKind kind = hg_aggregate_kind(aggref->aggfnoid);

	return (kind == HG_AGGREGATE_COUNT || hg_aggregate_is_of_integers(kind)) &&
		   aggref->aggfilter == NULL &&
		   (aggref->args == NIL ||
			hg_is_plain_column((const Node *) linitial_node(TargetEntry, aggref->args)->expr));
}

/* Is a device asked for all that a path wants of a join, as far as its columns go? */
static bool
hg_aggregate_asks_device(const HgAggregatePath *path, const HgJoinPath *join)
{
	ListCell *lc;

	if (join == NULL || join->asked < 0)
		return false;
	foreach (lc, path->aggrefs)
		if (!hg_aggref_may_be_asked(lfirst_node(Aggref, lc)))
			return false;
	foreach (lc, path->group_clause)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		const PathTarget *target = path->custom.path.pathtarget;
		bool plain = false;

		for (int i = 0; i < list_length(target->exprs) && !plain; i++)
			plain = get_pathtarget_sortgroupref(target, i) == clause->tleSortGroupRef &&
					hg_is_plain_column(list_nth(target->exprs, i));
		if (!plain)
			return false;
	}
	return true;
}

/* Fill in rows and costs of a path whose other fields are set; groups is before HAVING. */
static void
hg_aggregate_cost(PlannerInfo *root, HgAggregatePath *path, double groups)
{
	Path *out = &path->custom.path;
	const Path *input = linitial(path->custom.custom_paths);
	int nkeys = list_length(path->group_clause);
	int naggs = list_length(path->aggrefs);
	bool served = hg_path_is_served(input);
	bool counted = served && path->group_clause == NIL && hg_aggrefs_count(path->aggrefs);
	bool asks = hg_aggregate_asks_device(path, hg_path_join(input));
	Cost startup = input->total_cost - hg_path_saving(input);
	Cost run;
	QualCost having;
	double bytes;
	ListCell *lc;

	out->rows = groups;
	if (path->having != NIL)
		out->rows =
			clamp_row_est(groups * clauselist_selectivity(root, path->having, 0, JOIN_INNER, NULL));
	hg_path_set_disabled_nodes(out, hg_path_disabled_nodes(input));
	if (hg_force)
	{
		out->startup_cost = 0;
		out->total_cost = out->parallel_workers > 0 ? 0 : HG_FORCED_COST;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}

	startup = Max(startup - hg_columns_saving(input, counted), 0);
	if (!asks && !counted)
		startup +=
			input->rows * cpu_operator_cost * (nkeys * HG_KEY_COST + naggs * HG_AGGREGATE_COST);
	foreach (lc, path->aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);
		QualCost inside;

		cost_qual_eval_node(&inside, (Node *) aggref->args, root);
		if (served && hg_aggref_is_arithmetic(aggref))
			inside.per_tuple *= HG_BY_COLUMN_SHARE;
		startup += inside.startup + inside.per_tuple * input->rows;
		cost_qual_eval_node(&inside, (Node *) aggref->aggfilter, root);
		if (served && aggref->aggfilter != NULL &&
			hg_find_params((Node *) aggref->aggfilter, PARAM_EXEC) == NULL &&
			hg_column_qual_takes((Node *) aggref->aggfilter))
			inside.per_tuple *= HG_BY_COLUMN_SHARE;
		startup += inside.startup + inside.per_tuple * input->rows;
	}
	/* all of that is the device's then */
	if (asks)
		startup = hg_path_join(input)->asked;

	bytes = groups * (input->pathtarget->width + HG_GROUP_BYTES + naggs * 2.0 * sizeof(Datum));
	if (bytes > get_hash_memory_limit())
		startup += 2 * seq_page_cost * input->rows * (input->pathtarget->width + HG_GROUP_BYTES) /
				   BLCKSZ * (1 - get_hash_memory_limit() / bytes);

	cost_qual_eval(&having, path->having, root);
	startup += having.startup + out->pathtarget->cost.startup;
	run = groups * (cpu_tuple_cost + naggs * cpu_operator_cost + having.per_tuple) +
		  out->rows * out->pathtarget->cost.per_tuple;
	out->startup_cost = startup;
	out->total_cost = startup + run;
	if (nkeys > 0 && !enable_hashagg)
		hg_path_disable(out);
}

/*
 * The path that computes the aggregates of rel's target over a path of the input, or NULL where
 * the node can't do that.
 */
static Path *
hg_aggregate_path_create(PlannerInfo *root, RelOptInfo *rel, Path *input, List *having,
						 double groups)
{
	HgAggregatePath *path;
	List *aggrefs;

	if (!hg_find_aggrefs(list_concat_copy(rel->reltarget->exprs, having), &aggrefs))
		return NULL;

	path = (HgAggregatePath *) newNode(sizeof(HgAggregatePath), T_CustomPath);
	path->custom.path.pathtype = T_CustomScan;
	path->custom.path.parent = rel;
	path->custom.path.pathtarget = rel->reltarget;
	path->custom.path.parallel_safe = rel->consider_parallel && input->parallel_safe;
	path->custom.path.parallel_workers = input->parallel_workers;
	/* it gets shared memory then, to tell what each process did */
	path->custom.path.parallel_aware = input->parallel_workers > 0;
	path->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom.custom_paths = list_make1(input);
	path->custom.methods = &hg_aggregate_path_methods;
	path->grouped = root->parse->groupClause != NIL;
	path->group_clause = HG_GROUP_CLAUSE(root);
	path->aggrefs = aggrefs;
	path->having = having;
	hg_aggregate_cost(root, path, groups);
	return &path->custom.path;
}

/*
 * A scan by pages of a table of which something is resident, or whose groups are to be joined, by
 * one process or by each of some workers; or NULL.
 */
static Path *
hg_find_scan(PlannerInfo *root, RelOptInfo *rel, int workers)
{
	const PlannerInfo *above = root->parent_root;
	bool joined = above != NULL && bms_membership(above->all_baserels) == BMS_MULTIPLE;
	Path *scan;

	if (!IS_SIMPLE_REL(rel) || (!joined && hg_scan_share(rel) == 0) ||
		hg_scan_path_find(rel) == NULL)
		return NULL;
	/* its own target, which aggregates are computed of, and may be of several processes */
	scan = create_seqscan_path(root, rel, NULL, workers);
	return hg_path_saving(scan) > 0 ? scan : NULL;
}

/*
 * The scan of the one table that is aggregated: as above; or the cheapest path, where that is one
 * of partitions of which something is resident; or NULL.
 */
static Path *
hg_find_table(PlannerInfo *root, RelOptInfo *rel, Path *cheapest)
{
	if (rel->tuples < hg_min_rows && !hg_force)
		return NULL;
	if (IsA(cheapest, AppendPath) && cheapest->param_info == NULL && hg_path_is_served(cheapest))
		return cheapest;
	return hg_find_scan(root, rel, cheapest->parallel_workers);
}

/*
 * The inputs to consider among the paths of a relation, whose cheapest is known: the best join of
 * ours that there is, and the one that would do what core's best path does.  Rows
 * may be too dear to be had from the latter, but none will be formed.
 */
static List *
hg_find_inputs(PlannerInfo *root, RelOptInfo *rel, List *pathlist, Path *cheapest)
{
	Path *scan = hg_find_table(root, rel, cheapest);
	Path *join = hg_find_join_path(pathlist);
	List *inputs = join != NULL ? list_make1(join) : NIL;

	if (scan != NULL)
		return list_make1(scan);
	if (hg_path_join(cheapest) == NULL)
	{
		join = hg_join_path_instead(root, cheapest);
		if (join != NULL)
			inputs = lappend(inputs, join);
	}
	return inputs;
}

/* Offer the node in one process. */
static void
hg_consider_serial(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel, List *having,
				   double groups)
{
	ListCell *lc;

	foreach (lc,
			 hg_find_inputs(root, input_rel, input_rel->pathlist, input_rel->cheapest_total_path))
	{
		Path *path = hg_aggregate_path_create(root, grouped_rel, lfirst(lc), having, groups);

		if (path != NULL)
			add_path(grouped_rel, path);
	}
}

/*
 * Offer the node in every process below a Gather, each for its own part of the input: core's
 * own Finalize Aggregate combines what they return.
 */
static void
hg_consider_parallel(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					 const GroupPathExtraData *extra, double groups)
{
	RelOptInfo *partial_rel;
	AggStrategy strategy = AGG_PLAIN;
	ListCell *lc;

	/* what is constant in all rows is no column to group by, and all is sorted by nothing */
	if (root->parse->groupClause != NIL)
		strategy = HG_GROUP_CLAUSE(root) != NIL ? AGG_HASHED : AGG_SORTED;
	/* core has decided whether these aggregates can be combined, and made their target */
	if (input_rel->partial_pathlist == NIL || !extra->partial_costs_set ||
		!grouped_rel->consider_parallel)
		return;
	partial_rel = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, grouped_rel->relids);
	foreach (lc, hg_find_inputs(root, input_rel, input_rel->partial_pathlist,
								linitial(input_rel->partial_pathlist)))
	{
		Path *input = lfirst(lc);
		Path *path = hg_aggregate_path_create(root, partial_rel, input, NIL,
											  Min(groups, clamp_row_est(input->rows)));
		double rows;
		Cost gathered;

		if (path == NULL)
			return;
		rows = path->rows * path->parallel_workers;
		path = (Path *) create_gather_path(root, partial_rel, path, partial_rel->reltarget, NULL,
										   &rows);
		gathered = path->total_cost;
		path = (Path *) create_agg_path(
			root, grouped_rel, path, grouped_rel->reltarget, strategy, AGGSPLIT_FINAL_DESERIAL,
			HG_GROUP_CLAUSE(root), (List *) extra->havingQual, &extra->agg_final_costs, groups);
		/* forced where nothing is asked for a Gather */
		if (hg_force)
		{
			path->total_cost = Min(path->total_cost, gathered + HG_FORCED_COST / 2);
			path->startup_cost = Min(path->startup_cost, path->total_cost);
			hg_path_set_disabled_nodes(path, 0);
		}
		add_path(grouped_rel, path);
	}
}

/* The number of groups that core expects, before HAVING. */
static double
hg_count_groups(const RelOptInfo *grouped_rel)
{
	ListCell *lc;

	foreach (lc, grouped_rel->pathlist)
		if (IsA(lfirst(lc), AggPath))
			return ((const AggPath *) lfirst(lc))->aggstrategy == AGG_PLAIN
					   ? 1
					   : ((const AggPath *) lfirst(lc))->numGroups;
	return ((const Path *) linitial(grouped_rel->pathlist))->rows;
}

/* Offer the node for a query's grouping. */
static void
hg_consider_aggregate(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					  const GroupPathExtraData *extra)
{
	const Query *parse = root->parse;
	double groups;

	/* a part of a partitionwise aggregation may have no groups of its own, but partial ones */
	if (parse->groupingSets != NIL || grouped_rel->pathlist == NIL)
		return;
	if ((parse->groupClause == NIL && !parse->hasAggs) ||
		!grouping_is_hashable(HG_GROUP_CLAUSE(root)))
		return;

	groups = hg_count_groups(grouped_rel);
	hg_consider_serial(root, input_rel, grouped_rel, (List *) extra->havingQual, groups);
	hg_consider_parallel(root, input_rel, grouped_rel, extra, groups);
}

static void
hg_create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
					  RelOptInfo *output_rel, void *extra)
{
	if (hg_prev_create_upper_paths_hook != NULL)
		hg_prev_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	if (hg_enabled && stage == UPPERREL_GROUP_AGG && extra != NULL)
		hg_consider_aggregate(root, input_rel, output_rel, extra);
}

void
hg_aggregate_path_init(void)
{
	hg_prev_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = hg_create_upper_paths;
}
