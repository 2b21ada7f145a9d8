/*-------------------------------------------------------------------------
 *
 * hg_scan_path.h
 *	  Sequential scans that core would not take, to be read by the nodes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_PATH_H
#define HG_SCAN_PATH_H

#include "nodes/pathnodes.h"

/*
 * Core's own sequential scan of a relation by one process: the one among the relation's paths, or
 * below a projection there, or a new one where only its parallel scan is and the table is cached.
 * NULL where there is neither: the relation's rows may be others than those of the heap.
 */
extern Path *hg_scan_path_find(PlannerInfo *root, RelOptInfo *rel);

/* The cheapest unparameterized path of a relation to be an input of ours. */
extern Path *hg_cheapest_input(PlannerInfo *root, RelOptInfo *rel);

/* The cheapest partial one; NULL where it has none. */
extern Path *hg_cheapest_partial_input(const RelOptInfo *rel);

/* Hook into the planner's scans for good. */
extern void hg_scan_path_init(void);

/*
 * True if a query, or one that it is a part of, depends on values of an outer row: a correlated
 * subquery or a LATERAL one, which is run again for each row.  Valid while its paths are made.
 */
extern bool hg_query_is_rescanned(const PlannerInfo *root);

#endif /* HG_SCAN_PATH_H */
