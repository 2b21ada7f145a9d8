/*-------------------------------------------------------------------------
 *
 * hg_scan_share.h
 *	  The share of a table's blocks that a scan would read from cached columns, and what its
 *	  clauses save.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_SHARE_H
#define HG_SCAN_SHARE_H

#include "nodes/pathnodes.h"

#include "resident/hg_resident_graph_key.h"

/* Ask the directory about a base relation, and remember it as long as that is there. */
extern void hg_scan_share_note(const RelOptInfo *rel, Oid relation);

/* From 0 to 1, of a sequential scan by a node of ours; 0 where nothing was noted. */
extern double hg_scan_share(const RelOptInfo *rel);

/* Has a base relation a resident HashGraph? */
extern bool hg_scan_has_graph(const RelOptInfo *rel);

/*
 * What of it a graph of a key has as things stand, whatever order that has the columns in.  The
 * numbers of the columns and the parts of the key are told.
 */
extern HgGraphExtent hg_scan_graph_extent(PlannerInfo *root, const RelOptInfo *rel,
										  const HgGraphKey *asked);

/*
 * True if a device has a replica of a column beside that of the graph, as far as is known; the
 * column is asked for (hg_resident_graph_ask_column).
 */
extern bool hg_scan_ask_column(PlannerInfo *root, const RelOptInfo *rel, const HgGraphKey *asked,
							   AttrNumber number);

/* What a row of a base relation costs less for its clauses, not negative. */
typedef Cost (*HgQualPrice)(const RelOptInfo *rel);

/* The price of a base relation's clauses, of which it has some, asked for once; else 0. */
extern Cost hg_scan_price_qual(const RelOptInfo *rel, HgQualPrice price);

#endif /* HG_SCAN_SHARE_H */
