/*-------------------------------------------------------------------------
 *
 * hg_join_plan.h
 *	  What a path of the join node is, and the plan that it becomes.
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
	CustomPath custom; /* must be first; custom_paths are outer and inner, and the nested loop of an
						* adaptive path (hg_adaptive_path.h) */
	JoinType join_type;
	bool inner_unique;
	bool together; /* partial, and so are the inputs: all processes join both sides as one */
	int read_once; /* ... but this HgSide's, which one of them reads for all; or -1 */
	bool dense;	   /* the inner keys are so dense that they need not be hashed; known where a side
					* has a HashGraph */
	Cost asked;	   /* all of it where no more is wanted than a device can tell (hg_graph_cost.h);
					* negative: there is none */
	bool at_once;  /* ... who tells of all joins below with it, rows without a match included */
	double lookup_rows;	 /* up to so many outer rows the nested loop joins them; 0: there is none */
	bool lookup_at_once; /* it joins them as they are read: the first rows of the join matter */
	int lookup_matches;	 /* inner rows that the index is expected to find for each; 0: unknown */
	List *hash_clauses;	 /* RestrictInfos; outer_is_left is set */
	List *restrictlist;	 /* RestrictInfos of the whole join, hash clauses included */
} HgJoinPath;

/* True of a semi or anti join with the sides exchanged. */
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

/* What makes a path one of the join node; its PlanCustomPath turns it into a plan. */
extern const CustomPathMethods hg_join_path_methods;

/* The path of ours that a path is, or is a projection of; else NULL. */
static inline const HgJoinPath *
hg_path_join(const Path *path)
{
	if (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	if (!IsA(path, CustomPath) || ((const CustomPath *) path)->methods != &hg_join_path_methods)
		return NULL;
	return (const HgJoinPath *) path;
}

/* True if a join filters its rows after it has null-extended them. */
extern bool hg_join_path_filters(const HgJoinPath *path);

/* The target lists of plans, one after the other, as the custom_scan_tlist of a node above them. */
extern List *hg_plan_scan_tlist(List *custom_plans);

#endif /* HG_JOIN_PLAN_H */
