/*-------------------------------------------------------------------------
 *
 * hg_input_cost.h
 *	  What reading an input of a join costs, or looking its rows up in an index.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_COST_H
#define HG_INPUT_COST_H

#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"

#include "engine/hg_cost_table.h"

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

/* Converts nanoseconds to costs, in proportion to core's cost of forming a row or of an operator.
 */
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

/* Returns how much of that cost the cost of a path contains. */
extern Cost hg_workers_priced(const Path *path);

/*
 * Returns how much less reading a path costs our node than the path's total cost, which assumes
 * that rows come one by one. Never more than that cost.
 */
extern Cost hg_path_saving(const Path *path);

/* Returns true if a sequential scan, or a scan below an Append, would read cached columns. */
extern bool hg_path_is_cached(const Path *path);

/*
 * Returns what reading such a path saves beyond hg_path_saving() if its columns are aggregated
 * directly, or with counted if its rows are only counted.
 */
extern Cost hg_columns_saving(const Path *path, bool counted);

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

/* hg_join_input.c: a relation as an input of joins */

typedef struct HgJoinInput
{
	HgInputCost whole;	 /* of the cheapest path that returns all rows */
	HgInputCost partial; /* of the cheapest partial path; path is NULL without one */
	int first;			 /* its first relation */
	Path *repeated;		 /* the cheapest path that each process may run for itself; or NULL */
	bool eligible;		 /* a join of ours can return its columns */
} HgJoinInput;

/* Returns a relation as an input, once its paths are complete; cached for the planner's run. */
extern const HgJoinInput *hg_join_input(PlannerInfo *root, RelOptInfo *rel);

/* hg_lookup_cost.c: what lookups in an index take */

/*
 * Returns what one of this many lookups by an inner path takes, in the units of core's scans.
 * Core's price of the lookup and of joining its rows is price; the outer path has the rows that are
 * looked up.  Returns price if the inner path is no lookup in an index.
 */
extern Cost hg_lookup_cost(PlannerInfo *root, const Path *outer, const Path *inner, Cost price,
						   double lookups);

/* What is known of a query's relations once they have their paths. */
typedef struct HgQueryTables
{
	const PlannerInfo *root;
	uint64 run;
	double pages;	  /* of its tables: each is counted once, however often it is named */
	bool has_lookups; /* rows of one of its relations can be looked up in an index */
} HgQueryTables;

/* The query that was asked about last. */
extern HgQueryTables hg_last_query_tables;

/* Looks at all relations of a query, for hg_query_tables(). */
extern void hg_query_tables_fill(const PlannerInfo *root, uint64 run);

/*
 * Returns what is known of a query's relations, in a run of the planner (hg_planner_run.h); the
 * next call may overwrite it.  It is asked for each pair of relations, and filled once for a query.
 */
static inline const HgQueryTables *
hg_query_tables(const PlannerInfo *root, uint64 run)
{
	if (run == 0 || hg_last_query_tables.root != root || hg_last_query_tables.run != run)
		hg_query_tables_fill(root, run);
	return &hg_last_query_tables;
}

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

#endif /* HG_INPUT_COST_H */
