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
	bool dense;			 /* inner keys are vertices: outer rows can be streamed past any number */
	bool answered;		 /* a row count, or groups that a device can make, suffice */
	int columns[2];		 /* by HgSide: columns that are needed of a joined row */
	double pairs;		 /* number of joined rows */
	double inner_room;	 /* inner delta rows that fit into work memory; with more it spills */
	bool spills_apart;	 /* if the join spills, only delta rows go to disk */
} HgCoverShape;

/*
 * Returns true if a join can put its delta rows on disk and leave covered rows as they are.
 * together: processes share both sides.
 */
extern bool hg_join_spills_apart(JoinType join_type, bool parallel_hash);

/*
 * Returns the number of processes that share the work of workers, counting the leader as core
 * does.
 */
extern double hg_join_processes(int workers);

/* Returns true if asking a device about the pairs of both sides' covered rows is faster. */
extern bool hg_cover_asks_device(const HgCoverShape *shape, const bool cover[2]);

/*
 * For a multi-way join of njoins joins, whose tables have edges in all: hg_cover_star_ns() returns
 * the nanoseconds that a device takes; hg_cover_asks_star() returns true if asking it is worth it
 * when the fact relation has fact_rows rows.
 */
extern double hg_cover_star_ns(int njoins, double edges);
extern bool hg_cover_asks_star(int njoins, double fact_rows, double edges);

/* Returns the nanoseconds that a join takes if the sides in cover[] are covered. */
extern double hg_join_cover_ns(const HgCoverShape *shape, const bool cover[2]);

/* Sets cover[] to the cheapest choice of sides.  If fixed[side] is set, cover[side] is given. */
extern void hg_join_cover_choose(const HgCoverShape *shape, const bool fixed[2], bool cover[2]);

#endif /* HG_JOIN_COVER_COST_H */
