/*-------------------------------------------------------------------------
 *
 * hg_subplan_path.h
 *	  Correlated subqueries: results that are kept, and scans whose rows are looked up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SUBPLAN_PATH_H
#define HG_SUBPLAN_PATH_H

#include "nodes/pathnodes.h"

/* Returns true if a parameter has the value of an expression of a query around this one. */
extern bool hg_param_is_outer(const PlannerInfo *root, int param);

/* Returns true if a relation is a table whose rows a snapshot decides: no sequence or catalog. */
extern bool hg_rte_is_table(const RangeTblEntry *rte);

/*
 * Returns true if a query or an expression may have another result when it is evaluated again in a
 * statement, or has a side effect.  Stable functions count: a setting that they read may change.
 */
extern bool hg_node_varies(Node *node);

/* Installs a create_upper_paths_hook, which keeps such results where that pays. */
extern void hg_subplan_path_init(void);

/*
 * hg_scan_lookup_path.c: scans in correlated subqueries whose rows are looked up by the values
 * of the outer row
 */

/* Hooks into the planner for good, above the hook that adds sequential scans. */
extern void hg_scan_lookup_path_init(void);

#endif /* HG_SUBPLAN_PATH_H */
