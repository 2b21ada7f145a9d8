/*-------------------------------------------------------------------------
 *
 * hg_join_cost.h
 *	  What the join node costs, and what its inputs cost it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COST_H
#define HG_JOIN_COST_H

#include "nodes/pathnodes.h"

#include "planner/hg_join_plan.h"

/* By how much core divides the rows of a path that is partial, or what it costs: its processes. */
extern double hg_parallel_divisor(const Path *path);

/*
 * What reading a path costs a node of ours less than it costs core: its total cost holds for rows
 * that come one by one.  It is never more than that cost.
 */
extern Cost hg_path_saving(const Path *path);

/*
 * Would a path that is a sequential scan, or an Append of some, be served from resident columns,
 * as a whole or in part?
 */
extern bool hg_path_is_served(const Path *path);

/*
 * What reading such a path costs less beyond hg_path_saving() where its columns are aggregated as
 * they are; or where its rows are only counted.
 */
extern Cost hg_columns_saving(const Path *path, bool counted);

/*
 * What a sequential scan costs less at most where a join of ours reads it: what it saves, and what
 * its pages do where they are asked for ahead and the join returns many rows.
 */
extern Cost hg_scan_gain(const Path *scan);

/* What an input costs a join of ours, whatever it is joined with. */
typedef struct HgInputCost
{
	const Path *path;
	Cost cost;	/* to read it */
	Cost pages; /* of that, what its pages cost less where the join returns many rows */
} HgInputCost;

extern void hg_input_cost(const Path *path, HgInputCost *input);

/* A lower bound of the total cost of a join of two paths that are not parameterized. */
extern Cost hg_join_least_cost(const RelOptInfo *joinrel, const HgInputCost *const inputs[2]);

/*
 * Fill in rows and costs of a path of these inputs whose other fields are set; exact tells whether
 * the keys need no recheck, key_width is in bytes.  A path with parallel_workers is partial.
 */
extern void hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
						 const JoinPathExtraData *extra, bool exact, uint32 key_width);

#endif /* HG_JOIN_COST_H */
