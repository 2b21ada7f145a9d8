/*-------------------------------------------------------------------------
 *
 * hg_star_path.h
 *	  Offers multi-way joins that a device does at once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_STAR_PATH_H
#define HG_STAR_PATH_H

#include "nodes/pathnodes.h"

#include "planner/hg_join_plan.h"

/*
 * Returns a path that joins all tables of a relation, one after the other, if a device has graph
 * replicas of them and can be asked about all at once (executor/join/hg_join_star_graphs.h). That
 * is for plans that only need the number of rows or groups of them, at the price HgJoinPath.asked.
 * Returns NULL if there is none.
 */
extern Path *hg_star_path(PlannerInfo *root, RelOptInfo *rel);

/*
 * Returns true if a device can be asked about one join as a star of two tables, so that results
 * may use columns of both (executor/join/hg_join_star_graphs.h). The join must be by one integer,
 * whose values seem to be unique in the smaller table.
 */
extern bool hg_star_is_one_join(PlannerInfo *root, const HgJoinPath *path);

#endif /* HG_STAR_PATH_H */
