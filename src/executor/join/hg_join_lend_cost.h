/*-------------------------------------------------------------------------
 *
 * hg_join_lend_cost.h
 *	  What a join costs whose sides are read, or lent as resident HashGraphs have them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_LEND_COST_H
#define HG_JOIN_LEND_COST_H

#include "postgres.h"

#include "nodes/nodes.h"

#include "engine/hg_engine.h"

/* What is expected of a join. */
typedef struct HgLendShape
{
	double rows[2];	 /* by HgSide: that the side has, behind its quals */
	double lent[2];	 /* ... the share of the side's table that may be lent; 0: none */
	double looks[2]; /* ... and blocks that have to be looked at for it */
	double edges[2]; /* ... and the rows of that table */
	bool kept[2];	 /* ... and a device keeps its graph */
	bool dense;		 /* inner keys are their own vertices: outer rows are streamed past any
					  * number of them */
	bool answered;	 /* nothing is asked for but the number of joined rows, or groups that a device
					  * can make of them */
	int columns[2];	 /* ... and the columns that are needed of a joined row */
	double pairs;	 /* joined rows */
	double inner_room; /* inner rows that may be held in work memory; where more are ... */
	bool spills_apart; /* ... held rows go to disk alone, and lent ones don't */
} HgLendShape;

/* May held rows of a join go to disk alone, beside lent ones? */
extern bool hg_join_spills_apart(JoinType join_type, bool together);

/* Of how many processes' work one does a part that has so many workers planned, or none (0). */
extern double hg_join_processes(int workers);

/* Is a device asked about the pairs of both sides' lent rows?  It is where that is faster. */
extern bool hg_lend_asks_device(const HgLendShape *shape, const bool lend[2]);

/*
 * What it takes a device to join the tables of so many joins at once, which have so many edges all
 * together, in nanoseconds; and is it asked, where the largest of the tables has so many rows?
 */
extern double hg_lend_star_ns(int njoins, double edges);
extern bool hg_lend_asks_star(int njoins, double facts, double edges);

/* Nanoseconds, with the rows of these sides lent, as far as they may be. */
extern double hg_join_lend_ns(const HgLendShape *shape, const bool lend[2]);

/* Which sides to lend.  Where a side is fixed, lend[] tells of it already. */
extern void hg_join_lend_choose(const HgLendShape *shape, const bool fixed[2], bool lend[2]);

#endif /* HG_JOIN_LEND_COST_H */
