/*-------------------------------------------------------------------------
 *
 * hg_join_plan.h
 *	  The path of the join node, and the plan that it becomes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PLAN_H
#define HG_JOIN_PLAN_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* A path of the join node. */
typedef struct HgJoinPath
{
	CustomPath custom; /* must be first; custom_paths: outer, inner, and the nested loop of an
						* adaptive path (hg_paths.h) */
	JoinType join_type;
	bool inner_unique;

	/* Partial path with partial inputs: all processes join both sides in shared memory. */
	bool parallel_hash;
	int read_once; /* the HgSide that one process reads for all, with parallel_hash; or -1 */
	bool dense;	   /* the inner keys need not be hashed; only known if a side has a HashGraph */
	/* Total cost if a device answers everything needed (hg_path_cost.h); negative: none can. */
	Cost asked;

	/* asked is the cost of all joins below at once; the answer includes unmatched rows. */
	bool multiway;
	double lookup_rows; /* the nested loop joins up to this many outer rows; 0: no nested loop */

	/* Outer rows are joined as they are read, not counted first: the first rows matter. */
	bool lookup_at_once;
	int lookup_matches; /* expected inner rows per index lookup; 0: unknown */
	List *hash_clauses; /* RestrictInfos; outer_is_left is set */
	List *restrictlist; /* RestrictInfos of the whole join, hash clauses included */
} HgJoinPath;

/* Returns true for a semi or anti join with exchanged sides. */
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

/* The methods of the join node's paths; PlanCustomPath turns a path into a plan. */
extern const CustomPathMethods hg_join_path_methods;

/* Returns our join that a path is, or is a projection of; else NULL. */
static inline const HgJoinPath *
hg_path_join(const Path *path)
{
	if (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	if (!IsA(path, CustomPath) || ((const CustomPath *) path)->methods != &hg_join_path_methods)
		return NULL;
	return (const HgJoinPath *) path;
}

/*
 * Returns true for an outer join with a clause that applies after null extension (a pushed-down
 * clause).
 */
extern bool hg_join_path_filters(const HgJoinPath *path);

/*
 * Returns RestrictInfos in the order of evaluation: by security level, so that no leaky function
 * sees a row that a security barrier hides, then by cost. A cheap leakproof clause may go before
 * all levels.
 */
extern List *hg_order_clauses(PlannerInfo *root, List *rinfos);

/* Concatenates the target lists of plans, as the custom_scan_tlist of a node above them. */
extern List *hg_plan_scan_tlist(List *custom_plans);

#endif /* HG_JOIN_PLAN_H */
