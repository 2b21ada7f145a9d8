/*-------------------------------------------------------------------------
 *
 * hg_lookup_cost.c
 *	  What lookups in an index take.
 *
 * Core's price of a lookup in the inner loop of a nested loop differs from what it takes, for two
 * reasons.
 *
 * NUMBER OF LOOKUPS.  Core makes the path of an index before it knows which joins will use it.  It
 * assumes as many lookups as there are rows in the table whose columns are looked up
 * (get_loop_count()), and divides the pages among them.  If joins leave few of these rows, each
 * lookup pays for too few pages.  TPC-H's question 9 looks up 319,000 orders, and pays for each as
 * if it were one of 6 million: 0.03 units beside the 0.43 for the way down the index.  It takes
 * 7 us, which are 3.5 units at the 2 us that a unit of core's scans takes.  So core is asked again
 * here, for the number of lookups that there will be.
 *
 * PRICE OF A PAGE.  Core charges random_page_cost for a page, as if it came from a disk, and once
 * for each page, as if it stayed in memory from then on.  There are three cases:
 *
 * 1. Shared buffers hold all tables of the query.  A page takes HG_BUFFERED_PAGE of its price, as
 *	  it may be in no cache of the CPU, and each lookup goes to all of its pages.  Where 1,200 rows
 *	  of 400,000 were looked up, the loop took 2.5 ms at a price of 13,000, and a join of ours at a
 *	  price of 9,600 took 23 ms.  5,000 lookups that found 41 rows each, in a table of 16,000 pages,
 *	  took 530 ms, where core charged each page once.
 * 2. The kernel's cache holds the table (effective_cache_size).  A page that shared buffers do not
 *	  hold any more is copied from there again, for HG_CACHED_PAGE of its price: 2 us, where
 *	  random_page_cost stands for 8.  With half of the price lookups were replaced by joins that
 *	  took longer (test/bench/regret).  So core is asked for its price with as large a cache as
 *	  shared buffers.  In TPC-H's question 5 30,000 lookups find 15 orders each, in 26,000 pages
 *	  that core charges once.  With them the query took 1.25 s, and 0.5 s with a join that hashes.
 * 3. Neither holds the table: core's price is right, for the number of lookups.
 *
 * Core's own paths keep their prices.  What a loop really takes is the price of an adaptive join
 * (hg_paths.h), and decides whether a loop is left beside a join that hashes
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

#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_planner_run.h"

/* A lookup takes less than core's price for this many pages at most. */
#define HG_CHEAPER_PAGES 10

/* A number of lookups that leaves each with no part of a page, if the cache holds the pages. */
#define HG_MANY 1e9

/* A query that names more tables is not searched for tables that it names twice. */
#define HG_FEW_TABLES 64

/* Least correlation of a column in whose order the rows of its table lie. */
#define HG_IN_ORDER 0.9

/* Returns an upper bound of the number of lookups by which core has priced an inner path. */
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

/* Returns the table whose rows a path returns in their order, joined or not; 0: none. */
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

bool
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

/* Looks at all relations of a query. */
static HgQueryTables
hg_find_query_tables(const PlannerInfo *root, uint64 run)
{
	const bool few = root->simple_rel_array_size <= HG_FEW_TABLES;
	HgQueryTables found = {root, run, .pages = few ? 0 : root->total_table_pages};
	List *tables = NIL;

	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const RelOptInfo *rel = root->simple_rel_array[i];

		if (rel == NULL)
			continue;
		found.has_lookups |= list_length(rel->cheapest_parameterized_paths) > 1;
		if (!few || !IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION ||
			list_member_oid(tables, root->simple_rte_array[i]->relid))
			continue;
		tables = lappend_oid(tables, root->simple_rte_array[i]->relid);
		found.pages += rel->pages;
	}
	list_free(tables);
	return found;
}

const HgQueryTables *
hg_query_tables(const PlannerInfo *root, uint64 run)
{
	static HgQueryTables last; /* of the query that was asked about last */

	if (run == 0 || last.root != root || last.run != run)
		last = hg_find_query_tables(root, run);
	return &last;
}

/* Returns the pages of a query's tables. */
static double
hg_query_pages(const PlannerInfo *root)
{
	return hg_query_tables(root, hg_planner_run_find(root, root))->pages;
}

/*
 * Returns true if a lookup finds its rows beside the outer row that it is made for: in the same
 * table, whose rows lie in the order of the column that is looked up.
 */
static bool
hg_lookup_finds_near(PlannerInfo *root, const Path *outer, const Path *path)
{
	const IndexPath *inner = (const IndexPath *) path;
	const IndexClause *clause = IsA(path, IndexPath) && inner->indexclauses != NIL
									? linitial_node(IndexClause, inner->indexclauses)
									: NULL;
	Index first;
	List *columns;
	ListCell *lc;
	bool near = false;

	/* most queries name each table once */
	if (clause == NULL || clause->indexcol != 0 || root->total_table_pages == hg_query_pages(root))
		return false;
	first = hg_scanned_first(outer);
	if (first == 0 || planner_rt_fetch(first, root)->relid !=
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
 * Returns core's price of a lookup if there are this many, by the settings of now: they may have
 * changed since the path was made, as hints change them for the paths of one relation.  table_pages
 * are the pages of all tables, among which core divides effective_cache_size.
 */
static Cost
hg_ask_price(PlannerInfo *root, const Path *inner, double lookups, double table_pages)
{
	double saved = root->total_table_pages;
	union
	{
		IndexPath index;
		BitmapHeapPath bitmap;
	} again;

	/* an error ends the run of the planner, and root with it */
	root->total_table_pages = table_pages;
	if (IsA(inner, IndexPath))
	{
		again.index = *(const IndexPath *) inner;
		cost_index(&again.index, root, lookups, false);
	}
	else
	{
		again.bitmap = *(const BitmapHeapPath *) inner;
		cost_bitmap_heap_scan(&again.bitmap.path, root, inner->parent, inner->param_info,
							  again.bitmap.bitmapqual, lookups);
	}
	root->total_table_pages = saved;
	return hg_cost_unmarked(((const Path *) &again)->total_cost);
}

/*
 * Returns the pages of all tables that leave a table the share of effective_cache_size that it has
 * of shared buffers.
 */
static double
hg_pages_beside_buffers(const PlannerInfo *root)
{
	return root->total_table_pages * Max((double) effective_cache_size / NBuffers, 1);
}

/* Returns true if core can be asked for the price of a lookup again. */
static bool
hg_lookup_has_price(const Path *inner)
{
	return inner->param_info != NULL && (IsA(inner, IndexPath) || IsA(inner, BitmapHeapPath));
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

/*
 * Returns what each of this many lookups takes beyond core's price; negative if it takes less. near
 * says that it finds its rows beside the outer row.
 */
static Cost
hg_ask_hidden(PlannerInfo *root, const Path *inner, double lookups, bool buffered, bool near)
{
	Cost price = hg_cost_unmarked(inner->total_cost);
	Cost unpaged = hg_ask_price(root, inner, HG_MANY, root->total_table_pages);
	double table_pages = root->total_table_pages;
	double factor = 1;
	Cost paged;

	/* each lookup goes to all its pages, however many others have been there */
	if (buffered)
		factor = HG_BUFFERED_PAGE;
	/* each page that shared buffers do not hold any more comes from the kernel again */
	else if (inner->parent->pages <= effective_cache_size)
	{
		factor = HG_CACHED_PAGE;
		table_pages = hg_pages_beside_buffers(root);
	}
	paged = near ? price : hg_ask_price(root, inner, lookups, table_pages);
	/* what reads a good part of its table is priced as a scan is, whose pages are not cheaper */
	return Max(unpaged + Max(paged - unpaged, 0) * factor - price,
			   -HG_CHEAPER_PAGES * random_page_cost);
}

/*
 * Answers of hg_ask_hidden() in a run of the planner, which compares the same paths again and
 * again.  A path of lookups lives as long as the run.
 */
typedef struct HgHidden
{
	HgRunKey key; /* the path, the number of lookups, and near as the lowest bit of that */
	Cost cost;
} HgHidden;

#define HG_HIDDEN_BITS 9

static HgHidden hg_hidden[1 << HG_HIDDEN_BITS];

/* Bits of a double that numbers of lookups which differ by less than 1/16 have in common. */
#define HG_ROUNDED_LOOKUPS (~((UINT64CONST(1) << 48) - 1))

/* Returns what each of this many lookups for rows of an outer path takes beyond core's price. */
static Cost
hg_lookup_hidden(PlannerInfo *root, const Path *outer, const Path *inner, double lookups)
{
	bool buffered = hg_lookup_is_buffered(root, inner);
	bool near = hg_lookup_finds_near(root, outer, inner);
	HgRunKey key = {.run = hg_planner_run_find(root, inner), .made = inner};
	HgHidden *found;
	bool known;
	Cost cost;

	lookups = buffered ? 1 : Max(lookups, 1);
	memcpy(&key.word, &lookups, sizeof(key.word));
	key.word &= HG_ROUNDED_LOOKUPS;
	memcpy(&lookups, &key.word, sizeof(key.word));
	if (key.run == 0)
		return hg_ask_hidden(root, inner, lookups, buffered, near);
	key.word |= near;
	found = hg_planner_run_entry(hg_hidden, sizeof(HgHidden), HG_HIDDEN_BITS, key, &known);
	if (known)
		return found->cost;
	cost = hg_ask_hidden(root, inner, lookups, buffered, near);
	/* where an access method's estimate has had a query planned meanwhile, nobody asks for it */
	*found = (HgHidden){key, cost};
	return cost;
}

Cost
hg_lookup_least_cost(void)
{
	return hg_tuple_cost(HG_INDEX_LOOKUP_NS);
}

bool
hg_lookup_price_is_most(const PlannerInfo *root, const Path *inner)
{
	return hg_lookup_has_price(inner) && hg_expected_lookups(root, inner) <= 1;
}

const Path *
hg_first_lookup(const Path *inner)
{
	while (IsA(inner, NestPath))
		inner = ((const JoinPath *) inner)->outerjoinpath;
	return inner;
}

Cost
hg_lookup_cost(PlannerInfo *root, const Path *outer, const Path *inner, Cost price, double lookups)
{
	inner = hg_first_lookup(inner);
	if (!hg_lookup_has_price(inner))
		return price;
	return Max(price + hg_lookup_hidden(root, outer, inner, lookups), hg_lookup_least_cost());
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
