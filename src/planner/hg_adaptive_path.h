/*-------------------------------------------------------------------------
 *
 * hg_adaptive_path.h
 *	  Joins that count their outer rows before they choose between an index and hashing.
 *
 * A nested loop into an index takes a time that grows with the number of its outer rows, which is
 * often a wrong guess.  An adaptive path has that loop beside a join that hashes, and decides once
 * it has counted the rows (executor/join/hg_join_lookup.h).  It costs what the loop takes
 * (hg_lookup_cost.h) and what counting does, and takes the loop's place: core would prefer the loop
 * alone, as it does not count.
 * Where the first rows of the join matter, rows are looked up as they are read, until there have
 * been too many.
 *
 * Of a partial path the processes count together, and decide as one, if they would hash the inner
 * side together.  Where the first rows matter each decides for itself: nothing is waited for.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ADAPTIVE_PATH_H
#define HG_ADAPTIVE_PATH_H

#include "planner/hg_join_plan.h"

/*
 * Returns a new path of the nested loop into an index that costs least: a copy of the one that is
 * the cheapest path of a join; or a loop over an outer path, whose rows cost outer_cost to read, if
 * it may cost less.  Returns NULL if there is none that may be adaptive.
 */
extern NestPath *hg_adaptive_loop(PlannerInfo *root, RelOptInfo *joinrel, Path *outer,
								  Cost outer_cost, const RelOptInfo *innerrel, JoinType join_type,
								  JoinPathExtraData *extra);

/*
 * Returns true if such a loop takes so little, with its outer rows, that counting them would be a
 * good part of it.  A loop above a join of ours never does, unless the query is rescanned.
 */
extern bool hg_adaptive_loop_is_cheap(PlannerInfo *root, const NestPath *loop, Cost outer_cost);

/*
 * Have a path that hashes, of the loop's outer path, look rows up as the loop does where there are
 * few.  False, and nothing is changed, where it can't, or hashing costs less at once.
 */
extern bool hg_adaptive_path(PlannerInfo *root, HgJoinPath *path, NestPath *loop, Cost outer_cost);

/*
 * Removes the nested loops of two relations into an index from the paths of their join, whose
 * place an adaptive path takes. If the first rows of the query matter, the cheapest path alone is
 * removed, and only if it is such a loop: others may return a row sooner.
 */
extern void hg_adaptive_replace(PlannerInfo *root, RelOptInfo *joinrel, const Path *adaptive);

#endif /* HG_ADAPTIVE_PATH_H */
