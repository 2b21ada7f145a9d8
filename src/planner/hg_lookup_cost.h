/*-------------------------------------------------------------------------
 *
 * hg_lookup_cost.h
 *	  What lookups in an index take.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_COST_H
#define HG_LOOKUP_COST_H

#include "nodes/pathnodes.h"

/*
 * Returns what one of this many lookups by an inner path takes, in the units of core's scans.
 * Core's price of the lookup and of joining its rows is price; the outer path has the rows that are
 * looked up.  Returns price if the inner path is no lookup in an index.
 */
extern Cost hg_lookup_cost(PlannerInfo *root, const Path *outer, const Path *inner, Cost price,
						   double lookups);

/* Returns the least that a lookup in an index takes, in the units of core's scans. */
extern Cost hg_lookup_least_cost(void);

/*
 * Returns true if core has priced an inner path as a single lookup, which pays for all of its
 * pages.  hg_lookup_cost() is not above such a price.
 */
extern bool hg_lookup_price_is_most(const PlannerInfo *root, const Path *inner);

/* Returns what one of this many lookups of a nested loop takes, and joining its rows. */
extern Cost hg_loop_lookup_cost(PlannerInfo *root, const NestPath *loop, double lookups);

/* Returns what all lookups of a nested loop take, for the outer rows that core expects. */
extern Cost hg_loop_lookups_cost(PlannerInfo *root, const NestPath *loop);

#endif /* HG_LOOKUP_COST_H */
