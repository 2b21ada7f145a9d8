/*-------------------------------------------------------------------------
 *
 * hg_scan_path.h
 *	  Sequential scans that core would not choose, as inputs of our nodes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_PATH_H
#define HG_SCAN_PATH_H

#include "nodes/pathnodes.h"

/*
 * Returns core's own sequential scan of a relation by one process: one among its paths or below a
 * projection there, or a new one if core's parallel scan is there. Returns NULL otherwise, because
 * the relation's rows may not be those of its heap.
 */
extern Path *hg_scan_path_find(PlannerInfo *root, RelOptInfo *rel);

/* Returns the relation's cheapest unparameterized path as an input of ours. */
extern Path *hg_cheapest_input(PlannerInfo *root, RelOptInfo *rel);

/* Returns the cheapest partial path as an input of ours; NULL without one. */
extern Path *hg_cheapest_partial_input(const RelOptInfo *rel);

/* Hooks into the planner's scans for good. */
extern void hg_scan_path_init(void);

/*
 * Returns true if a query, or one that contains it, depends on values of an outer row: a
 * correlated or LATERAL subquery, which runs again for each row. Valid while its paths are made.
 */
extern bool hg_query_is_rescanned(const PlannerInfo *root);

#endif /* HG_SCAN_PATH_H */
