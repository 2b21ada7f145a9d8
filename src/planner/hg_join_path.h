/*-------------------------------------------------------------------------
 *
 * hg_join_path.h
 *	  Offer the join node for the joins that it can do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PATH_H
#define HG_JOIN_PATH_H

#include "nodes/pathnodes.h"

/*
 * The join of ours of the same inputs as a hash join of core's, or a projection of one, that
 * returns what its relation is to return; NULL where the path is none or the node can't take it.
 * Its price may be higher: it is for somebody who saves more above it.
 */
extern Path *hg_join_path_instead(PlannerInfo *root, const Path *path);

/*
 * Hook into the planner's joins until hg_join_path_release, in whatever session: for a query of the
 * extension's own.  Calls may nest; each is released once, on errors too.
 */
extern void hg_join_path_acquire(void);
extern void hg_join_path_release(void);

/*
 * The path that is an inner or left join of two paths which take no parameters, of a joined
 * relation that the planner has; NULL where the node can't take it.
 */
extern Path *hg_join_path_of(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Path *inner,
							 JoinType join_type, List *restrictlist, bool inner_unique);

#endif /* HG_JOIN_PATH_H */
