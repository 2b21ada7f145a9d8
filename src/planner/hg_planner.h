/*-------------------------------------------------------------------------
 *
 * hg_planner.h
 *	  Is a join eligible, what does it cost, and what plan does it become.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLANNER_H
#define HG_PLANNER_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* A path of the join node. */
typedef struct HgJoinPath
{
	CustomPath custom; /* must be first; custom_paths are outer and inner */
	JoinType join_type;
	bool inner_unique;
	bool together;		/* partial, and so are both inputs: all processes join both sides as one */
	Cost hidden;		/* what it takes beyond its price, but for what its inputs do */
	List *hash_clauses; /* RestrictInfos; outer_is_left is set */
	List *restrictlist; /* RestrictInfos of the whole join, hash clauses included */
} HgJoinPath;

/* A path of the aggregate node. */
typedef struct HgAggregatePath
{
	CustomPath custom;	/* must be first; custom_paths is the input */
	bool grouped;		/* there is a GROUP BY */
	List *group_clause; /* SortGroupClauses, over the input's target */
	List *aggrefs;
	List *having;
} HgAggregatePath;

/* Is it a semi or anti join with the sides exchanged? */
static inline bool
hg_join_type_is_mirrored(JoinType join_type)
{
#if HG_HAVE_RIGHT_ANTI
	if (join_type == JOIN_RIGHT_ANTI)
		return true;
#endif
#if HG_HAVE_RIGHT_SEMI
	if (join_type == JOIN_RIGHT_SEMI)
		return true;
#endif
	return false;
}

/*
 * Of the files of this room each stands on those that come before it here.
 *
 * hg_join_plan.c
 */

/* What makes a path one of the join node; its PlanCustomPath turns it into a plan. */
extern const CustomPathMethods hg_join_path_methods;

/* The path of ours that a path is, or is a projection of; else NULL. */
extern const HgJoinPath *hg_path_join(const Path *path);

/* Does a join filter its rows after it has null-extended them? */
extern bool hg_join_path_filters(const HgJoinPath *path);

/* hg_join_cost.c */

/* By how much core divides the rows of a path that is partial, or what it costs: its processes. */
extern double hg_parallel_divisor(const Path *path);

/*
 * What reading a path costs a node of ours less than it costs core: its total cost holds for rows
 * that come one by one.
 */
extern Cost hg_path_saving(const Path *path);

/*
 * What a sequential scan costs less at most where a join of ours reads it: what it saves, and what
 * its pages do where they are asked for ahead and the join returns many rows.
 */
extern Cost hg_scan_gain(const Path *scan);

/* A lower bound of the total cost of a join of two paths that are not parameterized. */
extern Cost hg_join_least_cost(const RelOptInfo *joinrel, const Path *outer, const Path *inner);

/*
 * Fill in rows and costs of a path whose other fields are set; exact tells whether the
 * keys need no recheck, key_width is in bytes.  A path with parallel_workers is partial.
 */
extern void hg_join_cost(PlannerInfo *root, HgJoinPath *path, const JoinPathExtraData *extra,
						 bool exact, uint32 key_width);

/* hg_scan_path.c */

/*
 * Core's own sequential scan of a relation, where it is among the relation's paths, or below a
 * projection there; else NULL: its rows may be others than those of the heap.
 */
extern Path *hg_scan_path_find(const RelOptInfo *rel);

/* The cheapest unparameterized path of a relation to be an input of ours. */
extern Path *hg_cheapest_input(const RelOptInfo *rel);

/* The cheapest partial one; NULL where it has none. */
extern Path *hg_cheapest_partial_input(const RelOptInfo *rel);

extern void hg_scan_path_init(void);

/* hg_join_path.c */

/*
 * The join of ours of the same inputs as a hash join of core's, or a projection of one, that
 * returns what its relation is to return; NULL where the path is none or the node can't take it.
 * Its price may be higher: it is for somebody who saves more above it.
 */
extern Path *hg_join_path_instead(PlannerInfo *root, const Path *path);

/*
 * Hook into the planner's joins until hg_planner_release, in whatever session: for a query of the
 * extension's own.  Calls may nest; each is released once, on errors too.
 */
extern void hg_planner_acquire(void);
extern void hg_planner_release(void);

/* hg_aggregate_plan.c */

/* Turn a path of the aggregate node into a plan: the PlanCustomPath method. */
extern Plan *hg_aggregate_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
							   List *tlist, List *clauses, List *custom_plans);

/* hg_aggregate_path.c */

extern void hg_aggregate_path_init(void);

/* hg_planner.c */

/* Hook into the planner for good: for a session that preloads the library. */
extern void hg_planner_init(void);

#endif /* HG_PLANNER_H */
