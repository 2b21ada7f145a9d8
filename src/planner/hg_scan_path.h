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

/*
 * Returns the path by which one of our nodes reads a relation at the least cost: its
 * cheapest_total_path, or a sequential scan if our faster reading (hg_input_cost.h) makes up for
 * the scan's higher cost.
 */
extern Path *hg_cheapest_input(PlannerInfo *root, RelOptInfo *rel);

/* Does the same with the relation's partial paths.  Returns NULL if it has none. */
extern Path *hg_cheapest_partial_input(const RelOptInfo *rel);

/*
 * Installs a set_rel_pathlist_hook.  For tables that are joined or aggregated it puts sequential
 * scans that core has dropped back among the paths, if our nodes may want them as inputs.
 */
extern void hg_scan_path_init(void);

/*
 * Returns true if a query, or one that contains it, depends on values of an outer row: a
 * correlated or LATERAL subquery, which runs again for each row. Call it while the query's paths
 * are made.
 */
extern bool hg_query_is_rescanned(const PlannerInfo *root);

#endif /* HG_SCAN_PATH_H */
