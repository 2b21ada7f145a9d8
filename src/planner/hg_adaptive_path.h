/*-------------------------------------------------------------------------
 *
 * hg_adaptive_path.h
 *	  Joins that count their outer rows before they choose between an index and hashing.
 *
 * A nested loop into an index takes a time that grows with the number of its outer rows, which is
 * often a wrong guess.  An adaptive path has that loop beside a join that hashes, and decides once
 * it has counted the rows (executor/join/hg_join_lookup.h).  It costs what the loop does where that
 * is expected, and takes its place: core would prefer the loop alone, as it does not count.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ADAPTIVE_PATH_H
#define HG_ADAPTIVE_PATH_H

#include "planner/hg_join_plan.h"

/*
 * A new path of the nested loop into an index that costs least: the one that is the cheapest path
 * of a join, or one of an outer path, which costs so much to read, that may cost less.  NULL: there
 * is none that may be adaptive, or it costs so little that counting would be a good part of it.
 */
extern NestPath *hg_adaptive_loop(PlannerInfo *root, RelOptInfo *joinrel, Path *outer,
								  Cost outer_cost, const RelOptInfo *innerrel, JoinType join_type,
								  JoinPathExtraData *extra);

/*
 * Have a path that hashes, of the loop's outer path, look rows up as the loop does where there are
 * few.  False, and nothing is changed, where it can't, or hashing costs less at once.
 */
extern bool hg_adaptive_path(PlannerInfo *root, HgJoinPath *path, NestPath *loop, Cost outer_cost);

/* Take a nested loop of two relations into an index out of the paths of their join, where it is the
 * cheapest: an adaptive path takes its place. */
extern void hg_adaptive_replace(RelOptInfo *joinrel, const Path *adaptive);

#endif /* HG_ADAPTIVE_PATH_H */
