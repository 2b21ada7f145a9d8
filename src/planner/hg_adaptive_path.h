/*-------------------------------------------------------------------------
 *
 * hg_adaptive_path.h
 *	  Joins that count their outer rows before they choose between an index and hashing.
 *
 * The time of a nested loop into an index grows with the number of its outer rows, which is often a
 * wrong guess.  An adaptive path has that loop beside a join that hashes, and decides when it has
 * counted the rows (executor/join/hg_join_lookup.h).  It costs what the loop takes
 * (hg_input_cost.h), and counting.  It replaces the loop, which core would prefer, as the loop
 * alone does not count.
 *
 * If the first rows of the join matter, it looks rows up as they are read, until there have been
 * too many.
 *
 * In a partial path the processes count together, and decide as one, if they would hash the inner
 * side together.  If the first rows matter, each decides for itself, and waits for no other.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ADAPTIVE_PATH_H
#define HG_ADAPTIVE_PATH_H

#include "planner/hg_join_plan.h"

/*
 * Returns a new path of the cheapest nested loop into an index.  It is a copy of the join's
 * cheapest path, if that is such a loop, or else a loop over outer, whose rows cost outer_cost to
 * read.  Returns NULL if no loop can be part of an adaptive path, or another path is cheaper.
 */
extern NestPath *hg_adaptive_loop(PlannerInfo *root, RelOptInfo *joinrel, Path *outer,
								  Cost outer_cost, const RelOptInfo *innerrel, JoinType join_type,
								  JoinPathExtraData *extra);

/*
 * Returns true if a loop and its outer rows take so little that counting them would be a good part
 * of it.  Returns false for a loop above a join of ours, unless the query is rescanned.
 */
extern bool hg_adaptive_loop_is_cheap(PlannerInfo *root, const NestPath *loop, Cost outer_cost);

/*
 * Makes a path that hashes adaptive: it looks rows up by the loop if there are few.  Both have the
 * same outer path.  Returns false and changes nothing if the path can't be adaptive, or if hashing
 * is cheaper for the rows that core expects.
 */
extern bool hg_adaptive_path(PlannerInfo *root, HgJoinPath *path, NestPath *loop, Cost outer_cost);

/*
 * Removes the nested loops that an adaptive path replaces from the paths of its join.  If the first
 * rows of the query matter, it removes only the cheapest path, and only if that is such a loop:
 * other loops may return a row sooner.
 */
extern void hg_adaptive_replace(PlannerInfo *root, RelOptInfo *joinrel, const Path *adaptive);

#endif /* HG_ADAPTIVE_PATH_H */
