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

#include <math.h>

#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "backend/hg_library.h"
#include "batch/hg_arithmetic.h"
#include "batch/hg_bound_params.h"
#include "batch/hg_scan_qual.h"
#include "executor/aggregate/hg_aggregate.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_spill.h"
#include "hg_guc.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_graph_cost.h"
#include "planner/hg_input_cost.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_star_path.h"
#include "resident/hg_resident_array.h"

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

/* ---------------------------------------------------------------------
 * The cost of the aggregate node
 *
 * For N rows of the input, G groups, k group columns and a aggregates, over the cost of the input:
 *
 *	rows		minus hg_path_saving(), because the input is charged for forming rows even if it
 *				can return columns, and minus hg_columns_saving()
 *	keys		N * k * HG_GROUP_KEY_NS
 *	aggregates	N * a * HG_AGGREGATE_NS, and the cost of arguments and filters that are no plain
 *				columns; HG_COLUMN_ARGUMENT_LEFT of that if they are computed column by column over
 *				rows of a resident table. Nothing if rows of such a table or of a join of ours are
 *				only counted
 *	groups		G * (cpu_tuple_cost + a * cpu_operator_cost), and HAVING
 *	disk		pages * HG_GROUPS_PAGE * L to write and read the rows of groups that exceed work
 *				memory, partitioned L times until the groups of a partition fit; and HG_GROUPS_FILE
 *				for each partition's file. 65 MB of rows in 64 kB are partitioned six times into
 *				5,460 files, which takes 3.1 s; sorting takes 1.2 s
 *
 * Core charges N * (k + a) * cpu_operator_cost and the same for groups. If hash aggregation is
 * disabled, so is the node.
 * ---------------------------------------------------------------------
 */

/* Estimated bytes of a group beside its values. */
#define HG_GROUP_BYTES 48

/* Returns true if an aggregate's argument is computed column by column. */
static bool
hg_aggref_is_arithmetic(const Aggref *aggref)
{
	return aggref->args != NIL &&
		   hg_arithmetic_takes(linitial_node(TargetEntry, aggref->args)->expr);
}

/* Returns true if all aggregates only count rows. */
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

/* Returns true if an expression is a column of a by-value type. */
static bool
hg_is_plain_column(const Node *node)
{
	return IsA(node, Var) && get_typbyval(((const Var *) node)->vartype);
}

/* Returns true if a device can compute an expression: over one table, or tables joined at once. */
static bool
hg_may_be_computed(PlannerInfo *root, const HgJoinPath *join, const Node *node)
{
	if (!hg_arithmetic_takes((const Expr *) node))
		return false;
	switch (bms_membership(pull_varnos(root, (Node *) node)))
	{
		case BMS_SINGLETON:
			return true;
		case BMS_MULTIPLE:
			return join->multiway || hg_star_is_one_join(root, join);
		default:
			return false;
	}
}

/* Returns true if a device can compute an aggregate function's results from its columns. */
static bool
hg_aggref_may_be_asked(PlannerInfo *root, const HgJoinPath *join, const Aggref *aggref)
{
	const HgAggregateKind kind = hg_aggregate_kind(aggref->aggfnoid);
	const Node *argument;

	if (aggref->aggfilter != NULL)
		return false;
	if (aggref->args == NIL)
		return kind == HG_AGGREGATE_COUNT;
	argument = (const Node *) linitial_node(TargetEntry, aggref->args)->expr;
	switch (kind)
	{
		case HG_AGGREGATE_COUNT:
		case HG_AGGREGATE_SUM_NUMERIC:
		case HG_AGGREGATE_AVG_NUMERIC:
			return IsA(argument, Var) || hg_may_be_computed(root, join, argument);
		default:
			return hg_aggregate_is_of_integers(kind) &&
				   (hg_is_plain_column(argument) || hg_may_be_computed(root, join, argument));
	}
}

/* Returns true if a device can group by an expression, by codes if it is not by value. */
static bool
hg_may_be_grouped_by(const Node *node, double groups)
{
	return hg_is_plain_column(node) || (IsA(node, Var) && groups <= HG_MOST_CODES);
}

/*
 * Returns true if a device with the columns in *exprs can answer all that a path needs of a join.
 */
static bool
hg_aggregate_may_ask_device(PlannerInfo *root, const HgAggregatePath *path, const HgJoinPath *join,
							double groups, List **exprs)
{
	ListCell *lc;

	*exprs = NIL;
	if (join == NULL || join->asked < 0)
		return false;
	if (path->distinct != NULL)
	{
		if (!hg_may_be_grouped_by((const Node *) path->distinct, groups))
			return false;
		*exprs = lappend(*exprs, path->distinct);
	}
	/* of unmatched rows a device only knows the number (hg_join_emit.c), at most */
	if (join->join_type != JOIN_INNER && join->join_type != JOIN_SEMI && !join->multiway &&
		!hg_star_is_one_join(root, join))
		return path->group_clause == NIL && path->distinct == NULL &&
			   hg_aggrefs_count(path->aggrefs);
	foreach (lc, path->aggrefs)
	{
		if (!hg_aggref_may_be_asked(root, join, lfirst_node(Aggref, lc)))
			return false;
		*exprs = lappend(*exprs, lfirst_node(Aggref, lc)->args);
	}
	foreach (lc, path->group_clause)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		const PathTarget *target = path->custom.path.pathtarget;
		bool plain = false;

		for (int i = 0; i < list_length(target->exprs) && !plain; i++)
		{
			Node *expr = list_nth(target->exprs, i);

			plain = get_pathtarget_sortgroupref(target, i) == clause->tleSortGroupRef &&
					hg_may_be_grouped_by(expr, groups);
			if (plain)
				*exprs = lappend(*exprs, expr);
		}
		if (!plain)
			return false;
	}
	return true;
}

/* Returns true if a device is asked for all that a path needs: if it already has the columns. */
static bool
hg_aggregate_asks_device(PlannerInfo *root, const HgAggregatePath *path, double groups)
{
	const HgJoinPath *join = hg_path_join(linitial(path->custom.custom_paths));
	List *exprs;

	return hg_aggregate_may_ask_device(root, path, join, groups, &exprs) &&
		   (exprs == NIL || hg_graph_ask_columns(root, join, exprs));
}

/*
 * Estimates the bytes of a group: a row, its states, and another row for each value that a state
 * stores beyond the first one.
 */
static inline double
hg_group_bytes(const HgAggregatePath *path, int row_width, int nvalues)
{
	return row_width * Max(nvalues, 1.0) + HG_GROUP_BYTES +
		   list_length(path->aggrefs) * 2.0 * sizeof(Datum);
}

/* Returns the number of states of a group that store a value outside a Datum. */
static int
hg_count_values(const HgAggregatePath *path)
{
	int nvalues = 0;
	ListCell *lc;

	foreach (lc, path->aggrefs)
		nvalues += !get_typbyval(lfirst_node(Aggref, lc)->aggtranstype);
	return nvalues;
}

/* Returns the cost of partitioning rows on disk until each partition's groups fit in memory. */
static Cost
hg_aggregate_disk_cost(const HgAggregatePath *path, const Path *input, double groups)
{
	int width = input->pathtarget->width;
	double limit = (double) get_hash_memory_limit();
	double bytes = groups * hg_group_bytes(path, width, list_length(path->aggrefs));
	double pages = ceil(input->rows * (width + HG_GROUP_BYTES) / BLCKSZ);
	double files = 0;
	double written;
	int partitions;
	int level;

	/* the types of states are only looked up if they may matter */
	if (bytes > limit)
		bytes = groups * hg_group_bytes(path, width, hg_count_values(path));
	if (bytes <= limit)
		return 0;
	written = 1 - limit / bytes;
	partitions = 1 << hg_aggregate_spill_bits(bytes, (uint64) limit);
	/* buffers and hash tables take part of the memory */
	for (level = 0; level < HG_SPILL_LEVELS && bytes > limit / 2; level++)
	{
		bytes /= partitions;
		files += pow(partitions, level + 1);
	}
	return level * written * pages * HG_GROUPS_PAGE * seq_page_cost +
		   Min(files, input->rows) * HG_GROUPS_FILE * random_page_cost;
}

void
hg_aggregate_cost(PlannerInfo *root, HgAggregatePath *path, double groups)
{
	Path *out = &path->custom.path;
	const Path *input = linitial(path->custom.custom_paths);
	int nkeys = list_length(path->group_clause) + (path->distinct != NULL);
	int naggs = list_length(path->aggrefs);
	bool cached = hg_path_is_cached(input);
	bool counted =
		(cached || hg_path_join(input) != NULL) && nkeys == 0 && hg_aggrefs_count(path->aggrefs);
	bool asks = hg_aggregate_asks_device(root, path, groups);
	Cost startup = input->total_cost - hg_path_saving(input);
	Cost run;
	QualCost having;
	ListCell *lc;

	out->rows = groups;
	if (path->having != NIL)
		out->rows =
			clamp_row_est(groups * clauselist_selectivity(root, path->having, 0, JOIN_INNER, NULL));
	hg_path_set_disabled_nodes(out, hg_path_disabled_nodes(input));
	if (hg_force)
	{
		out->startup_cost = 0;
		out->total_cost = out->parallel_workers > 0 ? 0 : HG_FORCED_TOTAL;
		if (hg_partitions_compete(input->parent))
			out->total_cost += input->total_cost;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}

	startup = Max(startup - hg_columns_saving(input, counted), 0);
	if (!asks && !counted)
		startup +=
			input->rows * hg_operator_cost(nkeys * HG_GROUP_KEY_NS + naggs * HG_AGGREGATE_NS);
	foreach (lc, path->aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);
		QualCost inside;

		cost_qual_eval_node(&inside, (Node *) aggref->args, root);
		if (cached && hg_aggref_is_arithmetic(aggref))
			inside.per_tuple *= HG_COLUMN_ARGUMENT_LEFT;
		startup += inside.startup + inside.per_tuple * input->rows;
		cost_qual_eval_node(&inside, (Node *) aggref->aggfilter, root);
		if (cached && aggref->aggfilter != NULL &&
			hg_find_params((Node *) aggref->aggfilter, PARAM_EXEC) == NULL &&
			hg_column_qual_takes((Node *) aggref->aggfilter))
			inside.per_tuple *= HG_COLUMN_ARGUMENT_LEFT;
		startup += inside.startup + inside.per_tuple * input->rows;
	}
	/* the device does all of the above */
	if (asks)
		startup = hg_path_join(input)->asked;
	startup +=
		hg_workers_cost(out->parent, out->parallel_workers, asks ? 0 : hg_workers_priced(input));

	startup += hg_aggregate_disk_cost(path, input, groups);

	cost_qual_eval(&having, path->having, root);
	startup += having.startup + out->pathtarget->cost.startup;
	run = groups * (cpu_tuple_cost + naggs * cpu_operator_cost + having.per_tuple) +
		  out->rows * out->pathtarget->cost.per_tuple;
	out->startup_cost = startup;
	out->total_cost = startup + run;
	if (nkeys > 0 && !enable_hashagg)
		hg_path_disable(out);
}
