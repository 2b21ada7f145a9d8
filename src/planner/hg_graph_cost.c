/*-------------------------------------------------------------------------
 *
 * hg_graph_cost.c
 *	  What a join costs whose sides' rows have resident HashGraphs.
 *
 * The node decides by estimates of time which sides are lent (executor/join/hg_join_lend_cost.h),
 * and so does the planner, with the same estimates and figures.  They are told in units of core's
 * scans, as all that a join of ours costs is (hg_join_cost.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "batch/hg_bound_params.h"
#include "batch/hg_key.h"
#include "batch/hg_scan_qual.h"
#include "executor/join/hg_join_lend.h"
#include "executor/join/hg_join_lend_cost.h"
#include "planner/hg_graph_cost.h"
#include "planner/hg_scan_share.h"

/* What core's scan of a cached table takes for a row, which cpu_tuple_cost is the price of. */
#define HG_SCAN_NS 28.0

/* A row is looked at by a filter over columns. */
#define HG_FILTER_NS 1.5

/* Are all clauses of a relation decided over columns, whatever plans compute? */
static bool
hg_graph_takes_quals(const RelOptInfo *rel)
{
	ListCell *lc;

	foreach (lc, rel->baserestrictinfo)
	{
		Node *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;

		if (!hg_column_qual_takes(clause) || hg_find_params(clause, PARAM_EXEC) != NULL)
			return false;
	}
	return true;
}

/*
 * The share of a path's table that may be lent for a key, and the rows of the graph; 0: none.  Of
 * processes that join together each path is a parallel scan.
 */
static double
hg_graph_share(PlannerInfo *root, const Path *path, bool together, const Expr *key, double *edges)
{
	const RelOptInfo *rel = path->parent;
	const Var *var;

	/* a projection that chooses columns costs nothing */
	if (IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp)
		path = ((const ProjectionPath *) path)->subpath;
	while (IsA(key, RelabelType))
		key = ((const RelabelType *) key)->arg;
	var = (const Var *) key;
	if (path->pathtype != T_SeqScan || path->param_info != NULL ||
		path->parallel_aware != together || !IsA(key, Var) || var->varno != (int) rel->relid ||
		var->varattno <= 0 || !hg_graph_takes_quals(rel))
		return 0;
	return hg_scan_graph_share(root, rel, var->varattno, edges);
}

bool
hg_graph_cost(PlannerInfo *root, const HgJoinPath *path, const int columns[2],
			  const Cost input_costs[2], bool inner_spills, HgGraphCost *cost)
{
	HgLendShape shape = {.inner_spills = inner_spills};
	const RestrictInfo *rinfo;
	const OpExpr *clause;
	const bool fixed[2] = {false, false};
	bool lend[2] = {false, false};
	double processes = path->together ? hg_join_processes(path->custom.path.parallel_workers) : 1;
	double ns;

	if (list_length(path->hash_clauses) != 1 ||
		(path->custom.path.parallel_workers > 0 && !path->together) || !hg_join_lend_enabled())
		return false;
	shape.pairs = path->custom.path.rows * processes;
	rinfo = linitial_node(RestrictInfo, path->hash_clauses);
	clause = (const OpExpr *) rinfo->clause;
	if (!hg_key_operator_compares_integers(clause->opno))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const Path *input = list_nth(path->custom.custom_paths, side);
		bool is_left = bms_is_subset(rinfo->left_relids, input->parent->relids);

		shape.rows[side] = input->rows * processes;
		shape.columns[side] = columns[side];
		shape.lent[side] =
			hg_graph_share(root, input, path->together, list_nth(clause->args, is_left ? 0 : 1),
						   &shape.edges[side]);
	}
	if (shape.lent[HG_OUTER] == 0 && shape.lent[HG_INNER] == 0)
		return false;
	(void) hg_join_lend_choose(&shape, fixed, lend);
	if (!lend[HG_OUTER] && !lend[HG_INNER])
		return false;
	ns = hg_join_lend_ns(&shape, lend) / processes;
	cost->startup = 0;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const Path *input = list_nth(path->custom.custom_paths, side);
		double share = lend[side] ? shape.lent[side] : 0;

		cost->startup += input_costs[side] * (1 - share);
		/* one process does that for all */
		if (input->parent->baserestrictinfo != NIL)
			ns += shape.edges[side] * share * HG_FILTER_NS;
	}
	cost->run = ns * cpu_tuple_cost / HG_SCAN_NS;
	return true;
}
