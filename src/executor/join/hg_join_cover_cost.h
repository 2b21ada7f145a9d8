/*-------------------------------------------------------------------------
 *
 * hg_join_cover_cost.h
 *	  The cost of a join whose sides are read, or covered by resident HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COVER_COST_H
#define HG_JOIN_COVER_COST_H

#include "postgres.h"

#include "nodes/nodes.h"

#include "engine/hg_engine.h"

/* What is expected of a join. */
typedef struct HgCoverShape
{
	double rows[2];		 /* by HgSide: that the side has, behind its quals */
	double covered[2];	 /* by HgSide: the share of the side's table that may be covered; 0: none */
	double pages[2];	 /* by HgSide: blocks whose visibility has to be checked for that */
	double edges[2];	 /* by HgSide: the rows of that table */
	bool has_replica[2]; /* by HgSide: true if a device keeps its graph */
	bool dense;			 /* inner keys are their own vertices: outer rows are streamed past any
						  * number of them */
	bool answered;	/* nothing is asked for but the number of joined rows, or groups that a device
					 * can make of them */
	int columns[2]; /* ... and the columns that are needed of a joined row */
	double pairs;	/* joined rows */
	double inner_room; /* inner delta rows that fit into work memory; with more the join spills */
	bool spills_apart; /* when it spills, delta rows go to disk alone, and covered ones don't */
} HgCoverShape;

/* True if delta rows of a join may go to disk alone, beside covered ones. */
extern bool hg_join_spills_apart(JoinType join_type, bool together);

/* Of how many processes' work one does a part that has so many workers planned, or none (0). */
extern double hg_join_processes(int workers);

/*
 * True if a device is asked about the pairs of both sides' covered rows.  It is asked where that
 * is faster.
 */
extern bool hg_cover_asks_device(const HgCoverShape *shape, const bool cover[2]);

/*
 * What it takes a device to join the tables of so many joins at once, which have so many edges all
 * together, in nanoseconds; and is it asked, where the largest of the tables has so many rows?
 */
extern double hg_cover_star_ns(int njoins, double edges);
extern bool hg_cover_asks_star(int njoins, double facts, double edges);

/* Returns the nanoseconds of a join with these sides covered, as far as they may be. */
extern double hg_join_cover_ns(const HgCoverShape *shape, const bool cover[2]);

/* Chooses which sides to cover.  Where a side is fixed, cover[] has it already. */
extern void hg_join_cover_choose(const HgCoverShape *shape, const bool fixed[2], bool cover[2]);

#endif /* HG_JOIN_COVER_COST_H */
