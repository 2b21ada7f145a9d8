/*-------------------------------------------------------------------------
 *
 * hg_graph_cost.h
 *	  What a join costs whose sides' rows have resident HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_GRAPH_COST_H
#define HG_GRAPH_COST_H

#include "engine/hg_engine.h"
#include "planner/hg_join_plan.h"
#include "resident/hg_resident_graph_key.h"

/* The costs of a join of which some rows are taken from cached HashGraphs. */
typedef struct HgGraphCost
{
	Cost startup; /* to read the other rows; infinite where it costs less to read all rows ... */
	Cost run;	  /* ... and to join */
	Cost asked;	  /* the whole cost where a device answers with the number of pairs or with groups;
				   * negative where no device can */
} HgGraphCost;

/*
 * Computes the costs of a path, whose inputs and rows are filled in, if rows come from cached
 * HashGraphs (executor/join/hg_join_cover.h).  The join returns columns[] of each side, reading
 * each side as a whole costs input_costs[], and a process may hold inner_room inner rows in memory.
 * Returns false where no row would come from a cached HashGraph.
 */
extern bool hg_graph_cost(PlannerInfo *root, const HgJoinPath *path, const int columns[2],
						  const Cost input_costs[2], double inner_room, HgGraphCost *cost);

/* True if all clauses of a relation can be evaluated over columns, without values from plans. */
extern bool hg_graph_takes_quals(const RelOptInfo *rel);

/*
 * Returns what there is of the table on a side of a hash clause, which is a join's only one, in a
 * graph by what the clause compares; *rel becomes the table.  Its share is 0 where no graph may
 * cover rows.
 */
extern HgGraphExtent hg_graph_clause_extent(PlannerInfo *root, List *hash_clauses, HgSide side,
											RelOptInfo **rel);

/*
 * True if a device has replicas of all columns of these expressions beside those of the graphs of a
 * path's tables, as far as is known here.  Columns that it lacks are asked for, and come in the
 * background.
 */
extern bool hg_graph_ask_columns(PlannerInfo *root, const HgJoinPath *path, List *exprs);

/*
 * What it costs to have a device join the tables of so many joins at once, of so many edges, with
 * clauses of tables of so many rows of them.
 */
extern Cost hg_graph_star_cost(int njoins, double edges, double filtered);

#endif /* HG_GRAPH_COST_H */
