/*-------------------------------------------------------------------------
 *
 * hg_scan_share.h
 *	  The share of a table that a scan would read from cached columns, and what its clauses save.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_SHARE_H
#define HG_SCAN_SHARE_H

#include "nodes/pathnodes.h"

#include "resident/hg_resident_graph_key.h"

/* Asks the directory about a base relation, and remembers the answer as long as rel exists. */
extern void hg_scan_share_note(const RelOptInfo *rel, Oid relation);

/* Returns the share of blocks, from 0 to 1, that our sequential scan reads from cached columns. */
extern double hg_scan_share(const RelOptInfo *rel);

/* Returns true if a base relation has a cached HashGraph. */
extern bool hg_scan_has_graph(const RelOptInfo *rel);

/*
 * Returns the current extent of a table's graph by a key, with the columns in any order. asked has
 * the column numbers and parts of the key.
 */
extern HgGraphExtent hg_scan_graph_extent(PlannerInfo *root, const RelOptInfo *rel,
										  const HgGraphKey *asked);

/*
 * Returns true if, as far as is known, a device has a replica of a column beside the graph's.
 * Requests the column (hg_resident_graph_ask_column).
 */
extern bool hg_scan_ask_column(PlannerInfo *root, const RelOptInfo *rel, const HgGraphKey *asked,
							   AttrNumber number);

/* Returns how much less a row of a base relation costs for its clauses. */
typedef Cost (*HgQualPrice)(const RelOptInfo *rel);

/* Returns price() of a base relation, called once; 0 if it has no clauses. */
extern Cost hg_scan_price_qual(const RelOptInfo *rel, HgQualPrice price);

#endif /* HG_SCAN_SHARE_H */
