/*-------------------------------------------------------------------------
 *
 * hg_join_cover_cost.h
 *	  Cost model of a join whose sides are read or covered by cached HashGraphs.
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
	double rows[2];		 /* by HgSide: rows of the side that pass its quals */
	double covered[2];	 /* by HgSide: share of the table's rows that can be covered, 0 to 1 */
	double pages[2];	 /* by HgSide: blocks whose visibility must be checked to cover it */
	double edges[2];	 /* by HgSide: rows of the table, which are edges of its graph */
	bool has_replica[2]; /* by HgSide: a device has a replica of the graph */
	bool decided[2];	 /* by HgSide: it is decided whether the side is covered */

	/*
	 * Inner keys are dense integers, which can be a HashGraph's vertices without being hashed.
	 * Outer rows can then be streamed past any number of inner rows in memory.
	 */
	bool dense;

	bool answered;	   /* the parent needs only a row count, or groups that a device can compute */
	int columns[2];	   /* by HgSide: columns that are needed of a joined row */
	double pairs;	   /* number of joined rows */
	double inner_room; /* inner delta rows that fit into work memory; with more it spills */
	bool spills_apart; /* if the join spills, only delta rows go to disk */
} HgCoverShape;

/*
 * Returns true if a join can put its delta rows on disk and leave covered rows as they are.
 * parallel_hash: the processes share both sides.
 */
extern bool hg_join_spills_apart(JoinType join_type, bool parallel_hash);

/*
 * Returns the number of processes among which the work is divided: the workers plus the leader's
 * share, as PostgreSQL estimates it.  At least 1.
 */
extern double hg_join_processes(int workers);

/*
 * Returns true if a device should join both sides' covered rows: it is estimated to be faster, or
 * hg_force is set.  Both sides must be covered and have replicas, and the device's answer must
 * suffice (answered); otherwise returns false.
 */
extern bool hg_cover_asks_device(const HgCoverShape *shape, const bool cover[2]);

/*
 * Returns the nanoseconds that a device takes for a multi-way join of njoins joins.  edges is the
 * number of rows of all its tables together.
 */
extern double hg_cover_star_ns(int njoins, double edges);

/*
 * Returns true if a device should do such a join, whose fact relation has fact_rows rows: it is
 * estimated to be faster, or hg_force is set.
 */
extern bool hg_cover_asks_star(int njoins, double fact_rows, double edges);

/* Returns the nanoseconds that a join takes if the sides in cover[] are covered. */
extern double hg_join_cover_ns(const HgCoverShape *shape, const bool cover[2]);

/* Sets cover[] to the cheapest choice.  For a decided side, cover[side] is an input and stays. */
extern void hg_join_cover_choose(const HgCoverShape *shape, bool cover[2]);

#endif /* HG_JOIN_COVER_COST_H */
