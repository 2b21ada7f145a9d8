/*-------------------------------------------------------------------------
 *
 * hg_lookup_cost.h
 *	  What plans take that look rows up in an index, where that is more or less than their price.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_COST_H
#define HG_LOOKUP_COST_H

#include "nodes/pathnodes.h"

/*
 * Returns true if a path that takes no parameters and costs at least so much may be the best beside
 * those of a relation, which are in paths.
 */
extern bool hg_path_may_win(PlannerInfo *root, List *paths, int disabled_nodes, Cost least);

/*
 * The nested loops of an inner join that look rows of a relation up for those of an outer path
 * (NULL: none), priced nearly as core will, for where it has yet to make them: those that may take
 * much less than a path of such a cost.
 */
extern List *hg_loops_ahead(RelOptInfo *joinrel, const Path *outer, const RelOptInfo *innerrel,
							Cost cost);

/*
 * What a lookup of a nested loop takes where there are so many, in the units of core's scans: its
 * price, with what that hides, and without what it charges for pages that shared buffers hold.
 */
extern Cost hg_loop_lookup_cost(PlannerInfo *root, const NestPath *loop, double lookups);

/* True if shared buffers can hold the tables of a query, so that lookups find their pages there. */
extern bool hg_tables_are_buffered(const PlannerInfo *root);

/*
 * Returns true if other paths of its relation decide the total cost of a path.  *price is less than
 * its own where those that seem cheaper are not, and its own where one of them is.
 */
extern bool hg_price_below(PlannerInfo *root, const List *paths, const Path *path, Cost *price);

/*
 * The total cost that a path, partial or not, is to have where they don't and tables are buffered,
 * beside all others of the relation and the partial ones: its own; more where the one that core
 * would choose is a nested loop that takes much less than it costs.
 */
extern Cost hg_price_above(PlannerInfo *root, List *const paths[2], const Path *path, bool partial);

#endif /* HG_LOOKUP_COST_H */
