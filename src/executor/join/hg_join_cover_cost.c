/*-------------------------------------------------------------------------
 *
 * hg_join_cover_cost.c
 *	  Cost model of a join whose sides are read or covered by cached HashGraphs.
 *
 * A side that is read costs its rows, and joining them costs them again: in bins, or as a stream
 * past a table of few inner rows.  Two graphs cost their edges, however few of them pass the
 * quals.  A few rows that meet a large graph cost a lookup each, as in an index.  So a graph pays
 * if most of its rows are joined with another graph's, or if the other side has few rows.  If most
 * covered rows are returned with columns, the columns are gathered from all over memory, and the
 * graph is slower.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/optimizer.h"

#include "engine/hg_cost_table.h"
#include "executor/join/hg_join_cover.h"
#include "hg_guc.h"

/*
 * Rows of a key up to which two lists are compared in registers (engine/cpu/hg_cpu_flat_join.c).
 * Each further pair costs HG_FOUND_EDGE_NS.
 */
#define HG_COVER_LIST_ROWS 8.0

/*
 * Up to this number of inner rows, outer rows are streamed past them.  Dense inner keys
 * (engine/cpu/hg_cpu_direct.c) can be any number that work memory holds.
 */
#define HG_COVER_STREAM_ROWS 131072.0

/* Returns the cost of joining two graphs, or rows of which a graph is made, by their edges. */
static double
hg_cover_meet_ns(double outer, double inner, double pairs)
{
	double few = Min(outer, inner);
	double beyond = Max(pairs - few * HG_COVER_LIST_ROWS, 0);

	return Min((outer + inner) * HG_EDGE_NS + beyond * HG_FOUND_EDGE_NS,
			   few * HG_LOOKUP_NS + pairs * HG_FOUND_EDGE_NS);
}

/* Returns the cost of outer delta rows that meet a graph. */
static double
hg_cover_look_up_ns(double delta, double covered, double pairs, bool spills)
{
	if (spills)
		return delta * HG_APART_ROW_NS;
	return Min(delta * HG_LOOKUP_NS + pairs * HG_FOUND_EDGE_NS,
			   delta * HG_ADDED_EDGE_NS + hg_cover_meet_ns(delta, covered, pairs));
}

bool
hg_join_spills_apart(JoinType join_type, bool parallel_hash)
{
	/* no process alone would know which covered rows have found a match */
	return !parallel_hash || join_type == JOIN_INNER;
}

double
hg_join_processes(int workers)
{
	double processes = workers;

	/* as core assumes, the leader also reads what workers return */
	if (parallel_leader_participation)
		processes += Max(0.0, 1.0 - 0.3 * workers);
	return Max(processes, 1.0);
}

bool
hg_cover_asks_device(const HgCoverShape *shape, const bool cover[2])
{
	const double edges = shape->edges[HG_OUTER] + shape->edges[HG_INNER];

	if (!shape->answered)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!cover[side] || !shape->has_replica[side])
			return false;
	return hg_force ||
		   HG_QUESTION_NS + edges * HG_QUESTION_EDGE_NS <
			   hg_cover_meet_ns(shape->edges[HG_OUTER], shape->edges[HG_INNER], shape->pairs);
}

double
hg_cover_star_ns(int njoins, double edges)
{
	return HG_QUESTION_NS + edges * HG_QUESTION_EDGE_NS * njoins;
}

bool
hg_cover_asks_star(int njoins, double fact_rows, double edges)
{
	return hg_force || hg_cover_star_ns(njoins, edges) < fact_rows * HG_STREAM_ROW_NS * njoins;
}

double
hg_join_cover_ns(const HgCoverShape *shape, const bool cover[2])
{
	double delta[2];   /* rows that are read */
	double covered[2]; /* edges of the graph */
	double share[2];   /* share of the side's rows that are covered */
	bool spills;	   /* delta rows go to disk */
	const bool asked = hg_cover_asks_device(shape, cover);
	bool streams;
	double gather[2]; /* per column of a joined row */
	double ns = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		share[side] = cover[side] ? shape->covered[side] : 0;
		delta[side] = shape->rows[side] * (1 - share[side]);
		covered[side] = shape->edges[side] * share[side];
		if (cover[side])
			ns += shape->edges[side] * HG_VISITED_EDGE_NS + shape->pages[side] * HG_CHANGED_PAGE_NS;
	}
	spills = delta[HG_INNER] > shape->inner_room;
	for (int side = HG_OUTER; side <= HG_INNER && spills; side++)
		/* outer rows stay covered only if inner rows do, or those fit */
		if (!shape->spills_apart || covered[HG_INNER] == 0)
		{
			delta[side] = shape->rows[side];
			covered[side] = 0;
			share[side] = 0;
		}
	streams = covered[HG_OUTER] == 0 && covered[HG_INNER] == 0 &&
			  (delta[HG_INNER] <= HG_COVER_STREAM_ROWS || (shape->dense && !spills));
	ns += delta[HG_INNER] * HG_HOLD_ROW_NS;
	ns += delta[HG_OUTER] * (streams ? HG_STREAM_ROW_NS : HG_HOLD_ROW_NS);
	gather[HG_OUTER] = streams ? HG_ORDERED_VALUE_NS : HG_FAR_VALUE_NS;
	gather[HG_INNER] =
		streams && delta[HG_INNER] > HG_COVER_STREAM_ROWS ? HG_REMOTE_VALUE_NS : HG_FAR_VALUE_NS;
	for (int side = HG_OUTER; side <= HG_INNER && !asked; side++)
		ns += shape->pairs * shape->columns[side] * gather[side];

	/* the four parts of hg_match_resident.c */
	if (delta[HG_OUTER] > 0 && delta[HG_INNER] > 0 && !streams)
		ns += (delta[HG_OUTER] + delta[HG_INNER]) * HG_JOIN_ROW_NS;
	if (spills)
		ns += (delta[HG_OUTER] + delta[HG_INNER]) * HG_SPILL_ROW_NS;
	if (asked)
		ns += HG_QUESTION_NS + (covered[HG_OUTER] + covered[HG_INNER]) * HG_QUESTION_EDGE_NS;
	else if (covered[HG_OUTER] > 0 && covered[HG_INNER] > 0)
		ns += hg_cover_meet_ns(covered[HG_OUTER], covered[HG_INNER],
							   shape->pairs * share[HG_OUTER] * share[HG_INNER]);
	if (covered[HG_OUTER] > 0)
		ns += spills ? delta[HG_INNER] * HG_APART_ROW_NS
					 : delta[HG_INNER] * HG_ADDED_EDGE_NS +
						   hg_cover_meet_ns(covered[HG_OUTER], delta[HG_INNER],
											shape->pairs * share[HG_OUTER] * (1 - share[HG_INNER]));
	if (covered[HG_INNER] > 0)
		ns += hg_cover_look_up_ns(delta[HG_OUTER], covered[HG_INNER],
								  shape->pairs * (1 - share[HG_OUTER]) * share[HG_INNER], spills);
	return ns;
}

void
hg_join_cover_choose(const HgCoverShape *shape, bool cover[2])
{
	const bool *const decided = shape->decided;
	const bool none[2] = {decided[HG_OUTER] && cover[HG_OUTER],
						  decided[HG_INNER] && cover[HG_INNER]};
	double least = hg_join_cover_ns(shape, none);
	bool best[2] = {none[HG_OUTER], none[HG_INNER]};

	for (int way = 1; way < 4; way++)
	{
		bool tried[2];
		double ns;
		bool possible = true;

		for (int side = HG_OUTER; side <= HG_INNER; side++)
		{
			tried[side] = decided[side] ? cover[side] : (way >> side & 1) != 0;
			possible &= !tried[side] || shape->covered[side] > 0;
		}
		ns = hg_join_cover_ns(shape, tried);
		if (!possible || ns >= least)
			continue;
		least = ns;
		memcpy(best, tried, sizeof(best));
	}
	memcpy(cover, best, sizeof(best));
}
