/*-------------------------------------------------------------------------
 *
 * hg_graph_cost.h
 *	  The cost of a join whose rows come from cached HashGraphs.
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

/* The costs of a join that takes some rows from cached HashGraphs. */
typedef struct HgGraphCost
{
	Cost startup; /* to read the other rows; infinite if reading all rows costs less */
	Cost run;	  /* to join */
	Cost asked;	  /* total cost if a device answers with the number of pairs or with groups;
				   * negative if none can */
} HgGraphCost;

/*
 * Computes the costs of a path whose inputs and rows are filled in, if rows come from cached
 * HashGraphs (executor/join/hg_join_cover.h). The join returns columns[] of each side. Reading all
 * of each side costs input_costs[]. A process may store inner_room inner rows in memory. Returns
 * false if no row would come from a cached HashGraph.
 */
extern bool hg_graph_cost(PlannerInfo *root, const HgJoinPath *path, const int columns[2],
						  const Cost input_costs[2], double inner_room, HgGraphCost *cost);

/* Returns true if all clauses of a relation can be evaluated over columns. */
extern bool hg_graph_takes_quals(const RelOptInfo *rel);

/*
 * For a join with one hash clause: returns how much of the table on a side is covered by a cached
 * graph whose key is that side's operand. *rel becomes the table. The share in the result is 0 if
 * no graph can cover rows.
 */
extern HgGraphExtent hg_graph_clause_extent(PlannerInfo *root, List *hash_clauses, HgSide side,
											RelOptInfo **rel);

/*
 * Returns true if, as far as this process knows, a device has replicas of all columns of exprs
 * beside the graphs of a path's tables. Requests missing columns, which are loaded in the
 * background.
 */
extern bool hg_graph_ask_columns(PlannerInfo *root, const HgJoinPath *path, List *exprs);

/*
 * Returns the cost of a device joining the tables of njoins joins at once. Their graphs have edges
 * rows; filtered of them belong to tables with clauses.
 */
extern Cost hg_graph_star_cost(int njoins, double edges, double filtered);

#endif /* HG_GRAPH_COST_H */
