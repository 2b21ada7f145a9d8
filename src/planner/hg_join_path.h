/*-------------------------------------------------------------------------
 *
 * hg_join_path.h
 *	  Offers the join node for the joins that it can do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PATH_H
#define HG_JOIN_PATH_H

#include "nodes/pathnodes.h"

/*
 * Returns our join of the same inputs as a hash join of core's or a projection of one, with the
 * target of its relation. Returns NULL if the path is no such join, the node cannot do it, or the
 * inputs are small. Our join may cost more; it is for a caller that saves more above it.
 */
extern Path *hg_join_path_instead(PlannerInfo *root, const Path *path);

/*
 * Installs the hook that offers the join node, in any session, until hg_join_path_release is
 * called: for queries of the extension itself. Calls may nest.
 */
extern void hg_join_path_acquire(void);
/* Ends one hg_join_path_acquire. Its caller must call this once, on errors too. */
extern void hg_join_path_release(void);

/*
 * Returns our inner or left join of two unparameterized paths, for a joined relation that the
 * planner has. Returns NULL if the node cannot do it.
 */
extern Path *hg_join_path_of(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Path *inner,
							 JoinType join_type, List *restrictlist, bool inner_unique);

#endif /* HG_JOIN_PATH_H */
