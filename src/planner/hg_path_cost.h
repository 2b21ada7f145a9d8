/*-------------------------------------------------------------------------
 *
 * hg_path_cost.h
 *	  What our paths cost: inputs, lookups in an index, joins, and cached columns and HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PATH_COST_H
#define HG_PATH_COST_H

#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"

#include "engine/hg_cost_table.h"
#include "engine/hg_engine.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_join_plan.h"
#include "resident/hg_resident_graph_key.h"

/* hg_input_cost.c: what reading an input costs */

typedef struct HgKeyRange
{
	double size;  /* integers from the least to the greatest */
	bool repeats; /* some come more than once */
	bool unique;  /* none of those that ANALYZE has seen comes twice */
	bool nulls;	  /* ANALYZE has seen NULLs */
} HgKeyRange;

/*
 * Estimates the range of a clause's left or right operand. Returns false if it is no column of
 * integers or has no statistics.
 */
extern bool hg_key_range(PlannerInfo *root, const RestrictInfo *clause, bool left,
						 HgKeyRange *range);

/* The total cost of a forced join or aggregate. */
#define HG_FORCED_TOTAL 0.001

/* Converts nanoseconds to costs, by core's cost of forming a row or of an operator. */
static inline Cost
hg_tuple_cost(double ns)
{
	return ns / HG_TUPLE_NS * cpu_tuple_cost;
}

static inline Cost
hg_operator_cost(double ns)
{
	return ns / HG_OPERATOR_NS * cpu_operator_cost;
}

/* Returns the number of processes by which core divides the rows or cost of a partial path. */
extern double hg_parallel_divisor(const Path *path);

/*
 * Returns the cost of starting a partial path's workers beyond parallel_setup_cost, which core
 * adds at the Gather. Each partial path of ours contains it once: priced is the part that its
 * inputs contain already (hg_workers_priced()). It is 0 for a path of a partition, because an
 * Append would add it up.
 */
extern Cost hg_workers_cost(const RelOptInfo *rel, int workers, Cost priced);

/*
 * Returns the cost of starting workers that a partial path contains because a join of ours returns
 * the rows that it joins, groups or sorts. Returns 0 for any other path, and if that join is one of
 * partitions.
 */
extern Cost hg_workers_priced(const Path *path);

/*
 * Returns how much less reading a path costs our node than the path's total cost, which assumes
 * that rows come one by one. Never more than that cost.
 */
extern Cost hg_path_saving(const Path *path);

/*
 * Returns true if a sequential scan, or a scan below an Append, would return cached columns as they
 * are.
 */
extern bool hg_path_is_cached(const Path *path);

/*
 * Returns true if a path is a sequential scan that would read cached columns, or has such scans
 * below Appends and subquery scans. They may also compute expressions.
 */
extern bool hg_path_reads_cache(const Path *path);

/*
 * Returns what is saved beyond hg_path_saving() if the cached columns of a path are aggregated
 * directly; 0 for a path that reads none. If counted, rows are only counted, which saves more if
 * the table has no WHERE. The result may exceed the path's cost.
 */
extern Cost hg_columns_saving(const Path *path, bool counted);

/*
 * Returns the least that a sequential scan of a table costs one of our nodes, however it reads
 * rows: that of pages that are not cached.
 */
extern Cost hg_least_scan_cost(const Path *scan);

/*
 * Returns hg_path_saving() of a path that our join reads, plus what prefetching its pages saves.
 */
extern Cost hg_scan_gain(const Path *scan);

/* The cost of an input for a join of ours, whatever it is joined with. */
typedef struct HgInputCost
{
	Path *path;
	Cost cost;	  /* to read it */
	Cost workers; /* the part for starting workers: hg_workers_priced() */
	Cost least;	  /* lower bound to read and to join it */
	bool graph;	  /* a HashGraph may cover its relation, which need not be read then */
	bool joined;  /* it is a join of ours, whose rows may go through the next one */
	/*
	 * Geometric mean of the expected rows and those of the largest table among them. Estimates of
	 * what filters and joins leave may be far too low; the rows of a whole table are known.
	 */
	double feared_rows;
} HgInputCost;

/* Fills in the cost of an input. */
extern void hg_input_cost(const PlannerInfo *root, Path *path, HgInputCost *input);

/* hg_lookup_cost.c: what lookups in an index take */

/*
 * Returns the path that looks an outer row up first: the outermost path below the nested loops of
 * an inner path, or the inner path itself if it is no nested loop. The result need not be a lookup
 * in an index.
 */
extern const Path *hg_first_lookup(const Path *inner);

/*
 * Returns what one of this many lookups by an inner path takes, in the units of core's scans.
 * Core's price of the lookup and of joining its rows is price; the outer path has the rows that are
 * looked up.  Returns price if the inner path, or its first one, is no lookup in an index.
 */
extern Cost hg_lookup_cost(PlannerInfo *root, const Path *outer, const Path *inner, Cost price,
						   double lookups);

/*
 * Returns true if, by ANALYZE's correlation for the operator less, a table's rows lie nearly in the
 * order of one of its columns, or against it. Returns false without statistics.
 */
extern bool hg_column_is_in_order(PlannerInfo *root, const Var *column, Oid less);

/* What is known of a query's relations once they have their paths. */
typedef struct HgQueryTables
{
	const PlannerInfo *root;
	uint64 run;
	double pages;	  /* of its tables: each is counted once, however often it is named */
	bool has_lookups; /* rows of one of its relations can be looked up in an index */
} HgQueryTables;

/*
 * Returns what is known of a query's relations, in a run of the planner (hg_planner_run.h); the
 * next call may overwrite it.  Calls for the same query and run repeat no work.
 */
extern const HgQueryTables *hg_query_tables(const PlannerInfo *root, uint64 run);

/* Returns the least that a lookup in an index takes, in the units of core's scans. */
extern Cost hg_lookup_least_cost(void);

/*
 * Returns true if core has priced an inner path as a single lookup, which pays for all of its
 * pages.  hg_lookup_cost() is not above such a price.
 */
extern bool hg_lookup_price_is_most(const PlannerInfo *root, const Path *inner);

/* Returns what one of this many lookups of a nested loop takes, and joining its rows. */
extern Cost hg_loop_lookup_cost(PlannerInfo *root, const NestPath *loop, double lookups);

/* Returns what all lookups of a nested loop take, for the outer rows that core expects. */
extern Cost hg_loop_lookups_cost(PlannerInfo *root, const NestPath *loop);

/* hg_join_cost.c: what a join costs */

/* Returns the side that is not partial, if processes join both sides together; else -1. */
extern int hg_join_read_once(const Path *outer, const Path *inner, bool parallel_hash);

/* What all joins of a relation by the same number of workers have in common. */
typedef struct HgJoinShare
{
	int workers;
	double rows; /* that each process returns */
	Cost cost;	 /* lower bound of the cost beside both sides */
} HgJoinShare;

/* Fills in *share for the relation's expected rows. */
extern void hg_join_share(const RelOptInfo *joinrel, int workers, HgJoinShare *share);

/*
 * Returns how much too high a lower bound of the cost of a join of two unparameterized paths is, if
 * the bound leaves out that rows are only counted or that one process reads a side.  With
 * parallel_hash, processes join both sides together, and not each for itself.
 */
extern Cost hg_join_least_saving(const RelOptInfo *joinrel, const HgJoinShare *share,
								 const HgInputCost *outer, const HgInputCost *inner,
								 bool parallel_hash);

/*
 * Fills in rows and costs of a path with these inputs and keys whose other fields are set. A path
 * with parallel_workers is partial.
 */
extern void hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
						 const JoinPathExtraData *extra, const HgJoinKeys *keys);

/* hg_graph_cost.c: what a join costs that takes rows from cached HashGraphs */

/* The costs of a join that takes some rows from cached HashGraphs. */
typedef struct HgGraphCost
{
	Cost startup; /* to read the other rows; infinite if reading all rows costs less */
	Cost run;	  /* to join */
	Cost asked;	  /* total cost if a device answers with the number of pairs or with groups;
				   * negative if none can */
} HgGraphCost;

/*
 * Computes the costs of a path whose inputs and rows are filled in, if rows come from cached
 * HashGraphs (executor/join/hg_join_cover.h). The join returns columns[] of each side. Reading all
 * of each side costs input_costs[]. A process may store inner_room inner rows in memory. Returns
 * false if no row would come from a cached HashGraph.
 */
extern bool hg_graph_cost(PlannerInfo *root, const HgJoinPath *path, const int columns[2],
						  const Cost input_costs[2], double inner_room, HgGraphCost *cost);

/* Returns true if all clauses of a relation can be evaluated over columns. */
extern bool hg_graph_takes_quals(const RelOptInfo *rel);

/*
 * For a join with one hash clause: returns how much of the table on a side is covered by a cached
 * graph whose key is that side's operand. *rel becomes the table. The share in the result is 0 if
 * no graph can cover rows.
 */
extern HgGraphExtent hg_graph_clause_extent(PlannerInfo *root, List *hash_clauses, HgSide side,
											RelOptInfo **rel);

/*
 * Returns true if, as far as this process knows, a device has replicas of all columns of exprs
 * beside the graphs of a path's tables. Requests missing columns, which are loaded in the
 * background.
 */
extern bool hg_graph_ask_columns(PlannerInfo *root, const HgJoinPath *path, List *exprs);

/*
 * Returns the cost of a device joining the tables of njoins joins at once. Their graphs have edges
 * rows; filtered of them belong to tables with clauses.
 */
extern Cost hg_graph_star_cost(int njoins, double edges, double filtered);

/* hg_scan_share.c: how much of a relation is cached */

/*
 * Asks the directory about a base relation, and remembers the answer as long as rel exists, unless
 * its share is 0.
 */
extern void hg_scan_share_note(const RelOptInfo *rel, Oid relation);

/* Returns the share of blocks, from 0 to 1, that our sequential scan reads from cached columns. */
extern double hg_scan_share(const RelOptInfo *rel);

/*
 * Returns true if hg_scan_share() of a base relation is not 0, and its table had a cached HashGraph
 * when that was noted.  So it is false if the scan needs a column that is not cached.
 */
extern bool hg_scan_has_graph(const RelOptInfo *rel);

/*
 * Returns the current extent of a table's graph by a key, with the columns in any order. asked has
 * the column numbers and parts of the key.
 */
extern HgGraphExtent hg_scan_graph_extent(PlannerInfo *root, const RelOptInfo *rel,
										  const HgGraphKey *asked);

/*
 * Returns true if, as far as is known, a device has a replica of a column beside the graph's.
 * Requests the column (hg_resident_graph_ask_column).
 */
extern bool hg_scan_ask_column(PlannerInfo *root, const RelOptInfo *rel, const HgGraphKey *asked,
							   AttrNumber number);

/* Returns how much less a row of a base relation costs for its clauses. */
typedef Cost (*HgQualPrice)(const RelOptInfo *rel);

/* Returns price() of a base relation, called once; 0 if it has no clauses. */
extern Cost hg_scan_price_qual(const RelOptInfo *rel, HgQualPrice price);

#endif /* HG_PATH_COST_H */
