/*-------------------------------------------------------------------------
 *
 * hg_lookup_cost.c
 *	  What lookups in an index take, which is more or less than their price.
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
 * difference is what the loop's price hides.
 *
 * It is the other way about where shared buffers hold all pages and few rows are looked up: each
 * page is charged random_page_cost then, and a lookup 6 to 8 units, but it takes 1 to 2 us, about
 * the 0.5 units that core charges for its way down the index and its row.  Where 1,200 rows of
 * 400,000 were looked up in that same table, the loop took 2.5 ms at a price of 13,000, and a join
 * of ours, at 9,600, took 23 ms.  A lookup that goes to many pages takes as long for each of them:
 * 5,000 lookups that found 41 rows each, in a table of 16,000 pages, took 530 ms, where core
 * charged each page once.  Where shared buffers can't hold all tables of the query, they push each
 * other's pages out, and core's price is right.
 *
 * Core's own paths keep their prices.  What a loop really takes is the price of an adaptive join
 * (hg_adaptive_path.h), and decides whether a loop is left beside a join that hashes
 * (hg_core_path.h).
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

/*
 * Factor on core's price of random pages that the kernel caches: they take 2 us, not the 8 us that
 * random_page_cost stands for at 2 us a unit.  Queries over films (test/bench/regret) took 0.64 of
 * PostgreSQL's time with this factor, and 0.71 with 0.5, which stands for pages that take 4 us.
 */
#define HG_CACHED 0.25

/* The same factor where shared buffers hold the pages: they take 0.1 to 0.8 us. */
#define HG_BUFFERED 0.1

/* A lookup takes HG_BUFFERED of its price for so many pages at most. */
#define HG_BUFFERED_PAGES 10

/* So many lookups that a page is charged to none of them, if the cache can hold it. */
#define HG_MANY 1e9

/* What a lookup takes at least, in units of cpu_tuple_cost: half of its way down an index. */
#define HG_LEAST_LOOKUP 25

/* Where a query names more tables, they are not looked through for those that it names twice. */
#define HG_FEW_TABLES 64

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
hg_lookup_finds_near(PlannerInfo *root, const Path *outer, const Path *path)
{
	const IndexPath *inner = (const IndexPath *) path;
	Index first = hg_scanned_first(outer);
	const IndexClause *clause = IsA(path, IndexPath) && inner->indexclauses != NIL
									? linitial_node(IndexClause, inner->indexclauses)
									: NULL;
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
	HgRunKey key; /* the path and the number of lookups */
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
	HgRunKey key = {.run = hg_planner_run_find(root, inner), .made = inner};
	HgPrice *found;
	bool known;
	Cost price;

	if (key.run == 0)
		return hg_ask_price(root, inner, lookups);
	memcpy(&key.word, &lookups, sizeof(key.word));
	found = hg_planner_run_entry(hg_prices, sizeof(HgPrice), HG_PRICES_BITS, key, &known);
	if (known)
		return found->price;
	price = hg_ask_price(root, inner, lookups);
	/* where an access method's estimate has had a query planned meanwhile, nobody asks for it */
	*found = (HgPrice){key, price};
	return price;
}

/* Can core be asked for the price of a lookup again? */
static bool
hg_lookup_has_price(const Path *inner)
{
	return inner->param_info != NULL && (IsA(inner, IndexPath) || IsA(inner, BitmapHeapPath));
}

/* Returns the number of pages of a query's tables: each is counted once, however often it is named.
 */
static double
hg_count_query_pages(const PlannerInfo *root)
{
	double pages = 0;
	List *tables = NIL;

	if (root->simple_rel_array_size > HG_FEW_TABLES)
		return root->total_table_pages;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const RelOptInfo *rel = root->simple_rel_array[i];

		if (rel == NULL || !IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION ||
			list_member_oid(tables, root->simple_rte_array[i]->relid))
			continue;
		tables = lappend_oid(tables, root->simple_rte_array[i]->relid);
		pages += rel->pages;
	}
	list_free(tables);
	return pages;
}

/* The same, counted once for a query. */
static double
hg_query_pages(const PlannerInfo *root)
{
	static const PlannerInfo *counted;
	static uint64 run;
	static double pages;
	uint64 now = hg_planner_run_find(root, root);

	if (now == 0 || counted != root || run != now)
	{
		pages = hg_count_query_pages(root);
		counted = root;
		run = now;
	}
	return pages;
}

/* Returns true if shared buffers can hold the tables of the query and the index of a lookup. */
static bool
hg_lookup_is_buffered(const PlannerInfo *root, const Path *inner)
{
	double most = NBuffers;

	if (IsA(inner, IndexPath))
		most -= ((const IndexPath *) inner)->indexinfo->pages;
	return root->total_table_pages <= most || hg_query_pages(root) <= most;
}

/* Returns what each of so many lookups takes beyond its price, for rows of an outer path. */
static Cost
hg_lookup_hidden(PlannerInfo *root, const Path *outer, const Path *inner, double lookups)
{
	Cost hidden;

	if (lookups >= hg_expected_lookups(root, inner) || hg_lookup_finds_near(root, outer, inner))
		return 0;
	hidden = hg_lookup_price(root, inner, Max(lookups, 1)) - hg_cost_unmarked(inner->total_cost);
	return Max(hidden, 0) * HG_CACHED;
}

/*
 * Returns what a lookup for rows of an outer path takes beyond its price, or less, where shared
 * buffers hold its pages.
 */
static Cost
hg_lookup_buffered(PlannerInfo *root, const Path *outer, const Path *inner)
{
	Cost price = hg_cost_unmarked(inner->total_cost);
	Cost unpaged = hg_lookup_price(root, inner, HG_MANY);
	/* it goes to all its pages, however many others have been there, unless that was just before */
	Cost paged = hg_lookup_finds_near(root, outer, inner) ? price : hg_lookup_price(root, inner, 1);
	Cost hidden = unpaged + Max(paged - unpaged, 0) * HG_BUFFERED - price;

	/* what reads a good part of its table is priced as a scan is, whose pages are not cheaper */
	return Max(hidden, -HG_BUFFERED_PAGES * random_page_cost);
}

Cost
hg_lookup_least_cost(void)
{
	return HG_LEAST_LOOKUP * cpu_tuple_cost;
}

bool
hg_lookup_price_is_most(const PlannerInfo *root, const Path *inner)
{
	return hg_lookup_has_price(inner) && hg_expected_lookups(root, inner) <= 1;
}

Cost
hg_lookup_cost(PlannerInfo *root, const Path *outer, const Path *inner, Cost price, double lookups)
{
	if (!hg_lookup_has_price(inner))
		return price;
	if (hg_lookup_is_buffered(root, inner))
		price += hg_lookup_buffered(root, outer, inner);
	else
		price += hg_lookup_hidden(root, outer, inner, lookups);
	return Max(price, hg_lookup_least_cost());
}

Cost
hg_loop_lookup_cost(PlannerInfo *root, const NestPath *loop, double lookups)
{
	const Path *outer = loop->jpath.outerjoinpath;
	Cost price = (loop->jpath.path.total_cost - outer->total_cost) / Max(outer->rows, 1);

	return hg_lookup_cost(root, outer, loop->jpath.innerjoinpath, price, lookups);
}

Cost
hg_loop_lookups_cost(PlannerInfo *root, const NestPath *loop)
{
	const Path *outer = loop->jpath.outerjoinpath;

	/* pages that one process has read the others find */
	return outer->rows * hg_loop_lookup_cost(root, loop, outer->rows * hg_parallel_divisor(outer));
}
