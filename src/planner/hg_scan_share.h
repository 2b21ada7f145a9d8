/*-------------------------------------------------------------------------
 *
 * hg_scan_share.h
 *	  What share of a table's blocks a scan would be served from resident columns, and how many of
 *	  its clauses would be decided over columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_SHARE_H
#define HG_SCAN_SHARE_H

#include "nodes/pathnodes.h"

/* Ask the directory about a base relation, and remember it as long as that is there. */
extern void hg_scan_share_note(const RelOptInfo *rel, Oid relation);

/* From 0 to 1, of a sequential scan by a node of ours; 0 where nothing was noted. */
extern double hg_scan_share(const RelOptInfo *rel);

/* The clauses of a base relation's qual that a node of ours decides over columns. */
extern int hg_scan_column_clauses(const RelOptInfo *rel);

#endif /* HG_SCAN_SHARE_H */
