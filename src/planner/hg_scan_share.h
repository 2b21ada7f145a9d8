/*-------------------------------------------------------------------------
 *
 * hg_scan_share.h
 *	  What share of a table's blocks a scan would be served from resident columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_SHARE_H
#define HG_SCAN_SHARE_H

#include "nodes/pathnodes.h"

/* Ask the directory about a base relation, and remember it as long as CurrentMemoryContext. */
extern void hg_scan_share_note(const RelOptInfo *rel, Oid relation);

/* From 0 to 1, of a sequential scan by a node of ours; 0 where nothing was noted. */
extern double hg_scan_share(const RelOptInfo *rel);

#endif /* HG_SCAN_SHARE_H */
