/*-------------------------------------------------------------------------
 *
 * hg_scan_lookup_path.h
 *	  Scans in correlated subqueries whose rows are looked up by the values of the outer row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_LOOKUP_PATH_H
#define HG_SCAN_LOOKUP_PATH_H

/* Hooks into the planner for good, above the hook that adds sequential scans. */
extern void hg_scan_lookup_path_init(void);

#endif /* HG_SCAN_LOOKUP_PATH_H */
