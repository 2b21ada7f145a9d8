/*-------------------------------------------------------------------------
 *
 * hg_input_cost.h
 *	  What the inputs of our nodes cost them less than they cost core.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_COST_H
#define HG_INPUT_COST_H

#include "nodes/pathnodes.h"

/* What forming a row of a join's result costs, in units of cpu_tuple_cost. */
#define HG_RESULT_COST 0.6

/*
 * What a row of either side of a join and its key cost, and what an outer one that goes through
 * costs less, in units of cpu_operator_cost.
 */
#define HG_ROW_COST 0.5
#define HG_EXACT_KEY_COST 0.25
#define HG_THROUGH_SAVED 0.2

/* By how much core divides the rows of a path that is partial, or what it costs: its processes. */
extern double hg_parallel_divisor(const Path *path);

/*
 * What starting the workers of a partial path of ours costs beyond parallel_setup_cost, which core
 * adds at the Gather.  The price is in each partial path of ours once: inputs that are such paths
 * have so much of it already (hg_workers_priced()), by which the result is less.  A path of a
 * partition, which an Append would add up, has none of it.
 */
extern Cost hg_workers_cost(const RelOptInfo *rel, int workers, Cost priced);

/* What the price of a path has of that. */
extern Cost hg_workers_priced(const Path *path);

/*
 * What reading a path costs a node of ours less than it costs core: its total cost holds for rows
 * that come one by one.  It is never more than that cost.
 */
extern Cost hg_path_saving(const Path *path);

/*
 * Returns true if a path that is a sequential scan, or an Append of some, would be read from
 * cached columns, as a whole or in part.
 */
extern bool hg_path_is_cached(const Path *path);

/*
 * What reading such a path costs less beyond hg_path_saving() where its columns are aggregated as
 * they are; or where its rows are only counted.
 */
extern Cost hg_columns_saving(const Path *path, bool counted);

/*
 * What a path costs less where a join of ours reads it: what hg_path_saving() says, and what its
 * pages do where they are asked for ahead.
 */
extern Cost hg_scan_gain(const Path *scan);

/* What an input costs a join of ours, whatever it is joined with. */
typedef struct HgInputCost
{
	Path *path;
	Cost cost;	  /* to read it */
	Cost workers; /* what it has of the cost of starting workers: hg_workers_priced() */
	Cost least;	  /* to read and to join it, at least */
	bool graph;	  /* its relation has a HashGraph that may cover it: it need not be read then */
	bool joined;  /* it is a join of ours, whose rows may go through the next one */
	/*
	 * The mean, by factors, of the rows that are expected and of those of the largest table among
	 * them.  What filters and joins leave is a guess, which may be too low by far; the rows of a
	 * whole table are known.
	 */
	double feared_rows;
} HgInputCost;

extern void hg_input_cost(const PlannerInfo *root, Path *path, HgInputCost *input);

#endif /* HG_INPUT_COST_H */
