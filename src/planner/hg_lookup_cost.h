/*-------------------------------------------------------------------------
 *
 * hg_lookup_cost.h
 *	  What lookups in an index take, which is more or less than their price.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_COST_H
#define HG_LOOKUP_COST_H

#include "nodes/pathnodes.h"

/*
 * Returns what one of so many lookups takes, by an inner path for the rows of an outer one, which
 * core prices at price: in the units of core's scans, with the pages that the price hides, or
 * without those that shared buffers hold.  A path that is no lookup in an index keeps its price.
 */
extern Cost hg_lookup_cost(PlannerInfo *root, const Path *outer, const Path *inner, Cost price,
						   double lookups);

/* Returns what a lookup in an index takes at least. */
extern Cost hg_lookup_least_cost(void);

/*
 * Returns true if core has priced an inner path as one lookup, which pays for all of its pages: it
 * takes no more than that.
 */
extern bool hg_lookup_price_is_most(const PlannerInfo *root, const Path *inner);

/* Returns what one of so many lookups of a nested loop takes, and what is done with its rows. */
extern Cost hg_loop_lookup_cost(PlannerInfo *root, const NestPath *loop, double lookups);

/* Returns what all lookups of a nested loop take, for as many outer rows as are expected. */
extern Cost hg_loop_lookups_cost(PlannerInfo *root, const NestPath *loop);

#endif /* HG_LOOKUP_COST_H */
