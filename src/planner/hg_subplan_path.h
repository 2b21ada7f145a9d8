/*-------------------------------------------------------------------------
 *
 * hg_subplan_path.h
 *	  Results of correlated subqueries that are kept by the values of their parameters.
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

#endif /* HG_SUBPLAN_PATH_H */
