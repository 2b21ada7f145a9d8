/*-------------------------------------------------------------------------
 *
 * hg_lookup_cost.h
 *	  What plans take beyond their price where they look rows up in an index.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_COST_H
#define HG_LOOKUP_COST_H

#include "nodes/pathnodes.h"

/*
 * May a path that takes no parameters, and at least so much, be the best beside those of a relation,
 * which are in paths?
 */
extern bool hg_path_may_win(PlannerInfo *root, List *paths, int disabled_nodes, Cost least);

/*
 * The total cost that a path is to have beside these others of its relation: its own, or
 * less where those that seem cheaper are not.
 */
extern Cost hg_price_beside(PlannerInfo *root, List *paths, const Path *path);

#endif /* HG_LOOKUP_COST_H */
