/*-------------------------------------------------------------------------
 *
 * hg_star_path.h
 *	  Offer joins of several tables that a device joins at once.
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
 * The path of a relation that joins all of its tables, one after the other, of which a device has
 * graph replicas, and could be asked about all at once where no more is wanted than the number of
 * rows or groups of them (executor/join/hg_join_star.h): HgJoinPath.asked is the price of that.
 * NULL: there is none.
 */
extern Path *hg_star_path(PlannerInfo *root, RelOptInfo *rel);

/*
 * Is one join asked about as a star of two tables, where what is wanted takes columns of both of
 * its tables (executor/join/hg_join_star_graphs.h)?  Only where it is by one integer, of which the
 * smaller table seems to have each value once.
 */
extern bool hg_star_is_one_join(PlannerInfo *root, const HgJoinPath *path);

#endif /* HG_STAR_PATH_H */
