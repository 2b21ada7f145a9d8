/*-------------------------------------------------------------------------
 *
 * hg_lookup_cost.c
 *	  What plans take beyond their price where they look rows up in an index.
 *
 * The price of a lookup in the inner loop of a nested loop depends on how often there will be one:
 * pages that many of them read are read once.  Core makes the path of the index before it knows
 * which joins will use it, and takes for granted that there will be as many lookups as the table
 * whose columns are looked up has rows (get_loop_count()), and so that the pages are shared
 * by as many.  Where joins leave few of these rows, pages are charged to lookups that never are:
 * TPC-H's question 9 looks 319,000 orders up, and pays for each what it would cost if it were one
 * of 6 million, 0.03 units beside the 0.43 for the way down the index.  It takes 7 us, which
 * at the 2 us that core's scans take for a unit are 3.5.
 *
 * So the price of a lookup is asked for again here, from core, for as many as there will be.  The
 * difference is what the plan hides.  Our node, whose price is that of scans, is compared with what
 * such plans really take; and where it is the better choice, it takes a price just below theirs, as
 * core compares prices and would not choose it otherwise.  Core's own paths keep their prices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_statistic.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/hg_join_cost.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_lookup_cost.h"

/* Nothing takes more than so many times its price: what costs more still is not looked at. */
#define HG_MOST_HIDDEN 10

/*
 * Of what random pages cost by core's price: they are cached where the node is worth a thought, and
 * take 2 to 5 us, not the 8 of random_page_cost at 2 us a unit.
 */
#define HG_CACHED 0.5

/* What is so much cheaper than another path is preferred to it (add_path()'s fuzz is 1 %). */
#define HG_CHEAPER 0.985

/* From which correlation on a table's rows lie in the order of a column. */
#define HG_IN_ORDER 0.9

/* As many lookups as core has reckoned with, or more. */
static double
hg_expected_lookups(const PlannerInfo *root, const Path *inner)
{
	Relids required = PATH_REQ_OUTER(inner);
	double least = 0;
	int relid = -1;

	while ((relid = bms_next_member(required, relid)) >= 0)
	{
		const RelOptInfo *rel =
			relid < root->simple_rel_array_size ? root->simple_rel_array[relid] : NULL;

		if (rel != NULL && rel->rows > 0 && (least == 0 || rel->rows < least))
			least = rel->rows;
	}
	return least;
}

/* The table whose rows a path returns in their order, joined with others or not; 0: none. */
static Index
hg_scanned_first(const Path *path)
{
	for (;;)
		switch (path->pathtype)
		{
			case T_SeqScan:
			case T_BitmapHeapScan:
				return path->parent->relid;
			case T_NestLoop:
			case T_HashJoin:
				path = ((const JoinPath *) path)->outerjoinpath;
				break;
			case T_CustomScan:
				if (hg_path_join(path) == NULL)
					return 0;
				path = linitial(((const CustomPath *) path)->custom_paths);
				break;
			default:
				return 0;
		}
}

/* Do a table's rows lie in the order of one of its columns, or nearly so? */
static bool
hg_column_is_in_order(PlannerInfo *root, const Var *column, Oid less)
{
	VariableStatData stats;
	AttStatsSlot slot;
	bool in_order = false;

	examine_variable(root, (Node *) column, 0, &stats);
	if (HeapTupleIsValid(stats.statsTuple) &&
		get_attstatsslot(&slot, stats.statsTuple, STATISTIC_KIND_CORRELATION, less,
						 ATTSTATSSLOT_NUMBERS))
	{
		in_order = slot.nnumbers == 1 && fabs(slot.numbers[0]) > HG_IN_ORDER;
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(stats);
	return in_order;
}

/*
 * Does a lookup find its rows where the plan below has just read the one that asks for them: in the
 * same table, which lies in the order of the column that is looked up?
 */
static bool
hg_lookup_is_near(PlannerInfo *root, const IndexPath *inner, const Path *outer)
{
	Index first = hg_scanned_first(outer);
	const IndexClause *clause =
		inner->indexclauses != NIL ? linitial_node(IndexClause, inner->indexclauses) : NULL;
	List *columns;
	ListCell *lc;
	bool near = false;

	if (first == 0 || clause == NULL || clause->indexcol != 0 ||
		planner_rt_fetch(first, root)->relid !=
			planner_rt_fetch(inner->path.parent->relid, root)->relid)
		return false;
	columns = pull_var_clause((Node *) clause->rinfo->clause, PVC_RECURSE_PLACEHOLDERS);
	foreach (lc, columns)
	{
		const Var *column = lfirst_node(Var, lc);

		if (column->varno == (int) first && column->varlevelsup == 0 &&
			column->varattno == inner->indexinfo->indexkeys[0])
			near = hg_column_is_in_order(
				root, column,
				get_opfamily_member(inner->indexinfo->opfamily[0], inner->indexinfo->opcintype[0],
									inner->indexinfo->opcintype[0], BTLessStrategyNumber));
	}
	list_free(columns);
	return near;
}

/*
 * What a lookup takes more than its price, where asked for again it has another one.  Settings may
 * have changed since, as hints change them for the paths of one relation.
 */
static Cost
hg_price_gap(const Path *again, const Path *path)
{
	return Max(hg_cost_unmarked(again->total_cost) - hg_cost_unmarked(path->total_cost), 0) *
		   HG_CACHED;
}

/* What the lookups of a nested loop take beyond their price, each. */
static Cost
hg_lookup_hidden(PlannerInfo *root, const Path *outer, const Path *inner)
{
	/* pages that one process has read the others find */
	double lookups = outer->rows * hg_parallel_divisor(outer);

	if (lookups >= hg_expected_lookups(root, inner))
		return 0;
	if (IsA(inner, IndexPath) && !hg_lookup_is_near(root, (const IndexPath *) inner, outer))
	{
		IndexPath again = *(const IndexPath *) inner;

		cost_index(&again, root, Max(lookups, 1), false);
		return hg_price_gap(&again.path, inner);
	}
	if (IsA(inner, BitmapHeapPath))
	{
		BitmapHeapPath again = *(const BitmapHeapPath *) inner;

		cost_bitmap_heap_scan(&again.path, root, inner->parent, inner->param_info, again.bitmapqual,
							  Max(lookups, 1));
		return hg_price_gap(&again.path, inner);
	}
	return 0;
}

/*
 * What a join takes beyond its price, but for what its inputs do: those that it is compared with
 * have the same inputs, or others that hide as much.
 */
static Cost
hg_hidden_cost(PlannerInfo *root, const Path *path)
{
	const HgJoinPath *ours;

	if (IsA(path, NestPath))
	{
		const JoinPath *join = (const JoinPath *) path;

		return join->innerjoinpath->param_info == NULL
				   ? 0
				   : join->outerjoinpath->rows *
						 hg_lookup_hidden(root, join->outerjoinpath, join->innerjoinpath);
	}
	ours = hg_path_join(path);
	return ours != NULL ? ours->hidden : 0;
}

bool
hg_path_may_win(PlannerInfo *root, List *paths, int disabled_nodes, Cost least)
{
	ListCell *lc;

	foreach (lc, paths)
	{
		const Path *other = lfirst(lc);

		if (other->param_info != NULL)
			continue;
		if (hg_path_disabled_nodes(other) < disabled_nodes ||
			least > other->total_cost * HG_MOST_HIDDEN)
			return false;
		if (hg_path_disabled_nodes(other) == disabled_nodes && other->total_cost < least &&
			other->total_cost + hg_hidden_cost(root, other) < least)
			return false;
	}
	return true;
}

Cost
hg_price_beside(PlannerInfo *root, List *paths, const Path *path)
{
	Cost price = path->total_cost;
	ListCell *lc;

	foreach (lc, paths)
	{
		const Path *other = lfirst(lc);

		if (other->param_info != NULL || other->total_cost > path->total_cost ||
			hg_path_disabled_nodes(other) != hg_path_disabled_nodes(path))
			continue;
		if (other->total_cost + hg_hidden_cost(root, other) < path->total_cost)
			return path->total_cost;
		price = Min(price, other->total_cost * HG_CHEAPER);
	}
	return price;
}
