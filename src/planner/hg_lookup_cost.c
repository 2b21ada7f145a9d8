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
 * It is the other way about where shared buffers hold all pages and few rows are looked up: each
 * page is charged random_page_cost then, and a lookup 6 to 8 units, but it takes 1 to 2 us, about
 * the 0.5 units that core charges for its way down the index and its row.  Core's hash join
 * costs so much that such a loop is chosen all the same; our node, which costs less, would win
 * from it and take longer: where 1,200 rows of 400,000 were looked up in that same table, it took
 * 23 ms at a price of 9,600, and the loop 2.5 ms at 13,000.  So where core would choose such a
 * loop, and it takes much less than our node, the node's price is put just above the loop's.
 * It is left as it is
 *
 *	- where core would choose another plan, which is slower than both;
 *	- where shared buffers can't hold all tables of the query: they push each other's pages out;
 *	- where most of what a loop takes is reading its outer rows, which the node does faster.
 *
 * The planner takes the two sides of an inner join in both orders, and offers a lookup in one of
 * them only: the loops of the order that is still to come are priced ahead.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/hg_input_cost.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_lookup_cost.h"
#include "planner/hg_planner_run.h"

/* Nothing takes more than so many times its price: what costs more still is not looked at. */
#define HG_MOST_HIDDEN 10

/*
 * Of what random pages cost by core's price: they are cached where the node is worth a thought, and
 * take 2 to 5 us, not the 8 of random_page_cost at 2 us a unit.
 */
#define HG_CACHED 0.5

/* ... and where shared buffers hold them, 0.1 to 0.3 us. */
#define HG_BUFFERED 0.1

/* So many lookups that a page is charged to none of them, if the cache can hold it. */
#define HG_MANY 1e9

/*
 * A loop is left alone that seems to take so many times less: if there are twice as many rows to
 * look up as was expected, which happens often, it takes twice as long, and the node hardly longer.
 */
#define HG_MUCH_CHEAPER 3

/* What a lookup takes at least, in units of cpu_tuple_cost: half of its way down an index. */
#define HG_LEAST_LOOKUP 25

/* Up to so many times another path's cost is equal to it for add_path(). */
#define HG_EQUAL 1.01

/* What is so much cheaper than another path is preferred to it. */
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
 * Prices of lookups that were asked for in a run of the planner: the same ones are compared again
 * and again.  A path that looks rows of a table up is never freed before it ends.
 */
typedef struct HgPrice
{
	uint64 run;
	const Path *inner;
	double lookups;
	Cost price;
} HgPrice;

#define HG_PRICES_BITS 9

static HgPrice hg_prices[1 << HG_PRICES_BITS];

/*
 * Core's price of a lookup where there are so many, by the settings of now: they may have changed
 * since the path was made, as hints change them for the paths of one relation.
 */
static Cost
hg_ask_price(PlannerInfo *root, const Path *inner, double lookups)
{
	if (IsA(inner, IndexPath))
	{
		IndexPath again = *(const IndexPath *) inner;

		cost_index(&again, root, lookups, false);
		return hg_cost_unmarked(again.path.total_cost);
	}
	else
	{
		BitmapHeapPath again = *(const BitmapHeapPath *) inner;

		cost_bitmap_heap_scan(&again.path, root, inner->parent, inner->param_info, again.bitmapqual,
							  lookups);
		return hg_cost_unmarked(again.path.total_cost);
	}
}

/* The same, of what was asked for before where possible: core takes long to answer. */
static Cost
hg_lookup_price(PlannerInfo *root, const Path *inner, double lookups)
{
	uint64 run = hg_planner_run_find(root, inner);
	HgPrice *place;
	uint64 bits;
	Cost price;

	if (run == 0)
		return hg_ask_price(root, inner, lookups);
	memcpy(&bits, &lookups, sizeof(bits));
	place = &hg_prices[hg_planner_run_place(inner, bits, HG_PRICES_BITS)];
	if (place->run == run && place->inner == inner && place->lookups == lookups)
		return place->price;
	price = hg_ask_price(root, inner, lookups);
	/* where an access method's estimate has had a query planned meanwhile, nobody asks for it */
	*place = (HgPrice){run, inner, lookups, price};
	return price;
}

/* Can core be asked for the price of a lookup again? */
static bool
hg_lookup_has_price(const Path *inner)
{
	return inner->param_info != NULL && (IsA(inner, IndexPath) || IsA(inner, BitmapHeapPath));
}

/* What so many lookups take beyond their price, each, for rows of an outer path. */
static Cost
hg_lookup_hidden(PlannerInfo *root, const Path *outer, const Path *inner, double lookups)
{
	Cost hidden;

	if (!hg_lookup_has_price(inner) || lookups >= hg_expected_lookups(root, inner) ||
		(IsA(inner, IndexPath) && hg_lookup_is_near(root, (const IndexPath *) inner, outer)))
		return 0;
	hidden = hg_lookup_price(root, inner, Max(lookups, 1)) - hg_cost_unmarked(inner->total_cost);
	return Max(hidden, 0) * HG_CACHED;
}

/* How many lookups the rows of an outer path need: pages that one process has read the others find.
 */
static double
hg_path_lookups(const Path *outer)
{
	return outer->rows * hg_parallel_divisor(outer);
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

		return join->outerjoinpath->rows * hg_lookup_hidden(root, join->outerjoinpath,
															join->innerjoinpath,
															hg_path_lookups(join->outerjoinpath));
	}
	ours = hg_path_join(path);
	return ours != NULL ? ours->hidden : 0;
}

/* Does a path take less than such a cost, with what it hides? */
static bool
hg_path_takes_less(PlannerInfo *root, const Path *path, Cost cost)
{
	return path->total_cost < cost && path->total_cost + hg_hidden_cost(root, path) < cost;
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
		if (hg_path_disabled_nodes(other) == disabled_nodes &&
			hg_path_takes_less(root, other, least))
			return false;
	}
	return true;
}

bool
hg_tables_are_buffered(const PlannerInfo *root)
{
	return root->total_table_pages <= NBuffers;
}

/*
 * What a lookup takes less than its price where shared buffers can hold the tables of the query and
 * the index, so that it finds its pages there; 0 where they can't.
 */
static Cost
hg_lookup_saving(PlannerInfo *root, const Path *inner)
{
	double pages = root->total_table_pages;
	Cost saving;

	if (!hg_lookup_has_price(inner))
		return 0;
	if (IsA(inner, IndexPath))
		pages += ((const IndexPath *) inner)->indexinfo->pages;
	if (pages > NBuffers)
		return 0;
	saving = hg_cost_unmarked(inner->total_cost) - hg_lookup_price(root, inner, HG_MANY);
	return Max(saving, 0) * (1 - HG_BUFFERED);
}

Cost
hg_loop_lookup_cost(PlannerInfo *root, const NestPath *loop, double lookups)
{
	const Path *outer = loop->jpath.outerjoinpath;
	const Path *inner = loop->jpath.innerjoinpath;
	Cost price = (loop->jpath.path.total_cost - outer->total_cost) / Max(outer->rows, 1);

	price += hg_lookup_hidden(root, outer, inner, lookups) - hg_lookup_saving(root, inner);
	return Max(price, HG_LEAST_LOOKUP * cpu_tuple_cost);
}

/* ... and what a path does for all lookups of the nested loops in it. */
static Cost
hg_lookups_saving(PlannerInfo *root, const Path *path)
{
	const HgJoinPath *ours = hg_path_join(path);
	const JoinPath *join = (const JoinPath *) path;

	if (ours != NULL)
	{
		Cost saving = 0;
		ListCell *lc;

		foreach (lc, ours->custom.custom_paths)
			saving += hg_lookups_saving(root, lfirst(lc));
		return saving;
	}
	switch (path->pathtype)
	{
		case T_NestLoop:
			return hg_lookups_saving(root, join->outerjoinpath) +
				   join->outerjoinpath->rows * hg_lookup_saving(root, join->innerjoinpath);
		case T_HashJoin:
		case T_MergeJoin:
			return hg_lookups_saving(root, join->outerjoinpath) +
				   hg_lookups_saving(root, join->innerjoinpath);
		default:
			return 0;
	}
}

/* Are there so few lookups that a nested loop may take much less than such a cost? */
static bool
hg_lookups_are_few(const Path *outer, Cost cost)
{
	return outer->rows * HG_LEAST_LOOKUP * cpu_tuple_cost * HG_MUCH_CHEAPER < cost;
}

/* What a path costs until its rows have been gathered, but for what each of them costs there. */
static Cost
hg_gathered_cost(const Path *path, bool partial)
{
	return path->total_cost + (partial ? parallel_setup_cost : 0);
}

/* The nested loop that a path is, or that it may run; else NULL. */
static const Path *
hg_path_loop(const Path *path)
{
	const HgJoinPath *ours = hg_path_join(path);

	if (ours != NULL && ours->lookup_rows > 0)
		return lthird(ours->custom.custom_paths);
	return IsA(path, NestPath) ? path : NULL;
}

/* The nested loop that core would choose, of all paths or partial ones; NULL: another plan. */
static const Path *
hg_chosen_loop(List *const paths[2], int disabled_nodes, Cost *cost)
{
	const Path *chosen = NULL;
	Cost least = 0;

	for (int partial = 0; partial < 2; partial++)
	{
		ListCell *lc;

		foreach (lc, paths[partial])
		{
			const Path *other = lfirst(lc);
			const Path *loop = hg_path_loop(other);
			Cost other_cost = hg_gathered_cost(other, partial);
			/* of costs that add_path() takes for equal it prefers the sooner first row, a loop's */
			Cost compared = loop != NULL ? other_cost / HG_EQUAL : other_cost;

			if (other->param_info != NULL || (hg_path_join(other) != NULL && loop == NULL) ||
				hg_path_disabled_nodes(other) != disabled_nodes ||
				(chosen != NULL && compared >= least))
				continue;
			chosen = loop != NULL ? loop : other;
			least = compared;
			*cost = other_cost;
		}
	}
	return chosen != NULL && IsA(chosen, NestPath) ? chosen : NULL;
}

bool
hg_price_below(PlannerInfo *root, const List *paths, const Path *path, Cost *price)
{
	ListCell *lc;

	*price = path->total_cost;
	foreach (lc, paths)
	{
		const Path *other = lfirst(lc);

		if (other->param_info != NULL || other->total_cost > path->total_cost ||
			hg_path_disabled_nodes(other) != hg_path_disabled_nodes(path))
			continue;
		if (hg_path_takes_less(root, other, path->total_cost))
		{
			*price = path->total_cost;
			return true;
		}
		*price = Min(*price, other->total_cost * HG_CHEAPER);
	}
	return *price < path->total_cost;
}

Cost
hg_price_above(PlannerInfo *root, List *const paths[2], const Path *path, bool partial)
{
	Cost price = path->total_cost;
	Cost cost = hg_gathered_cost(path, partial);
	const Path *loop;
	Cost loop_cost;

	loop = hg_chosen_loop(paths, hg_path_disabled_nodes(path), &loop_cost);
	if (loop != NULL && loop_cost > cost * HG_CHEAPER &&
		hg_lookups_are_few(((const JoinPath *) loop)->outerjoinpath, cost) &&
		(loop_cost - hg_lookups_saving(root, loop)) * HG_MUCH_CHEAPER <
			cost - hg_lookups_saving(root, path))
		price += Max(loop_cost / HG_CHEAPER - cost, 0);
	return price;
}

List *
hg_loops_ahead(RelOptInfo *joinrel, const Path *outer, const RelOptInfo *innerrel, Cost cost)
{
	List *loops = NIL;
	ListCell *lc;

	if (outer == NULL || outer->param_info != NULL || !hg_lookups_are_few(outer, cost))
		return NIL;
	foreach (lc, innerrel->cheapest_parameterized_paths)
	{
		Path *inner = lfirst(lc);
		NestPath *loop;
		Path *path;

		if (!hg_lookup_has_price(inner) ||
			!bms_is_subset(PATH_REQ_OUTER(inner), outer->parent->relids) ||
			(outer->parallel_workers > 0 && !inner->parallel_safe))
			continue;
		loop = makeNode(NestPath);
		path = &loop->jpath.path;
		path->pathtype = T_NestLoop;
		path->parent = joinrel;
		path->rows = joinrel->rows;
		path->parallel_workers = outer->parallel_workers;
		hg_path_set_disabled_nodes(path,
								   hg_path_disabled_nodes(outer) + hg_path_disabled_nodes(inner));
		path->total_cost =
			outer->total_cost + outer->rows * (inner->total_cost + inner->rows * cpu_tuple_cost);
		loop->jpath.jointype = JOIN_INNER;
		loop->jpath.outerjoinpath = unconstify(Path *, outer);
		loop->jpath.innerjoinpath = inner;
		loops = lappend(loops, loop);
	}
	return loops;
}
