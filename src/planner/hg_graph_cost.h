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

typedef struct HgGraphCost
{
	Cost startup; /* to read what is not lent */
	Cost run;	  /* and to join */
	Cost asked; /* all of it where a device is asked for no more than the number of pairs, or groups
				 * of them; negative: there is none that could be */
} HgGraphCost;

/*
 * What it costs to join the inputs of a path, whose rows are filled in, where some of their rows
 * are lent (executor/join/hg_join_lend.h), with columns[] of each side returned; input_costs[] is
 * what reading each of them costs.  A process may hold so many inner rows in memory.  False where
 * none would be lent.
 */
extern bool hg_graph_cost(PlannerInfo *root, const HgJoinPath *path, const int columns[2],
						  const Cost input_costs[2], double inner_room, HgGraphCost *cost);

/* Are all clauses of a relation decided over columns, whatever plans compute? */
extern bool hg_graph_takes_quals(const RelOptInfo *rel);

/*
 * What there is of the table on a side of a hash clause, which is a join's only one, in a graph by
 * what the clause compares; *rel becomes it.  Its share is 0 where no graph may be lent.
 */
extern HgGraphExtent hg_graph_clause_extent(PlannerInfo *root, List *hash_clauses, HgSide side,
											RelOptInfo **rel);

/*
 * True if a device keeps all columns of these expressions beside the graphs of a path's tables, as
 * far as is known here.  Columns that it lacks are asked for, and come in the background.
 */
extern bool hg_graph_ask_columns(PlannerInfo *root, const HgJoinPath *path, List *exprs);

/*
 * What it costs to have a device join the tables of so many joins at once, of so many edges, with
 * clauses of tables of so many rows of them.
 */
extern Cost hg_graph_star_cost(int njoins, double edges, double filtered);

#endif /* HG_GRAPH_COST_H */
