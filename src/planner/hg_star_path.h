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

/*
 * The path of a relation that joins all of its tables, one after the other, of which a device keeps
 * HashGraphs, and could be asked about all at once where no more is wanted than the number of rows
 * or groups of them (executor/join/hg_join_star.h): HgJoinPath.asked is the price of that.  NULL:
 * there is none.
 */
extern Path *hg_star_path(PlannerInfo *root, RelOptInfo *rel);

#endif /* HG_STAR_PATH_H */
