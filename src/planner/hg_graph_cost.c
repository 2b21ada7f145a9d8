/*-------------------------------------------------------------------------
 *
 * hg_graph_cost.c
 *	  The cost of a join whose rows come from cached HashGraphs.
 *
 * The node chooses the sides to cover by estimates of time (executor/join/hg_join_cover.h).
 * The planner uses the same estimates, converted to units of core's scans like all costs of our
 * joins (hg_join_cost.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/float.h"

#include "batch/hg_bound_params.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_key.h"
#include "batch/hg_scan_qual.h"
#include "executor/join/hg_join_cover.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_path_cost.h"

bool
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
 * Returns true if rows of a path's table may be covered, if it has a graph. If processes join
 * together, the path must be a parallel scan.
 */
static bool
hg_graph_takes_path(const Path *path, bool parallel_hash)
{
	/* a projection that only chooses columns costs nothing */
	if (IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp)
		path = ((const ProjectionPath *) path)->subpath;
	return path->pathtype == T_SeqScan && path->param_info == NULL &&
		   path->parallel_aware == parallel_hash && hg_scan_has_graph(path->parent) &&
		   hg_graph_takes_quals(path->parent);
}

/* Fills in a key's columns from those that the clauses compare; false if one is no column. */
static bool
hg_graph_columns(const RelOptInfo *rel, List *hash_clauses, HgGraphKey *key)
{
	ListCell *lc;

	key->ncolumns = 0;
	foreach (lc, hash_clauses)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		const OpExpr *clause = (const OpExpr *) rinfo->clause;
		bool is_left = bms_is_member((int) rel->relid, rinfo->left_relids);
		const Expr *arg = list_nth(clause->args, is_left ? 0 : 1);
		const Var *var;

		while (IsA(arg, RelabelType))
			arg = ((const RelabelType *) arg)->arg;
		var = (const Var *) arg;
		if (!IsA(arg, Var) || var->varno != (int) rel->relid || var->varattno <= 0)
			return false;
		key->columns[key->ncolumns++].number = var->varattno;
	}
	return true;
}

/*
 * Fills in, for each side, the share of the table that a graph may cover (0: none) and its rows.
 */
static void
hg_graph_shares(PlannerInfo *root, const HgJoinPath *path, HgCoverShape *shape)
{
	int nclauses = list_length(path->hash_clauses);
	HgKeyClause clauses[HG_GRAPH_COLUMNS];
	HgKeyEncoder *encoder = NULL;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const Path *input = list_nth(path->custom.custom_paths, side);
		HgGraphKey key = {0};

		if (!hg_graph_takes_path(input, path->parallel_hash) ||
			!hg_graph_columns(input->parent, path->hash_clauses, &key))
			continue;
		if (encoder == NULL)
		{
			hg_hash_clause_operators(path->hash_clauses, clauses);
			encoder = hg_key_encoder_create(nclauses, clauses);
		}
		if (hg_graph_parts(encoder, (HgSide) side, key.parts))
		{
			const HgGraphExtent extent = hg_scan_graph_extent(root, input->parent, &key);

			shape->covered[side] = extent.share + extent.older;
			shape->pages[side] = extent.changed;
			shape->edges[side] = extent.rows;
			shape->has_replica[side] = extent.has_replica;
		}
	}
	if (encoder != NULL)
		pfree(encoder);
}

/*
 * Finds the table on a side of a join by these clauses, and the key of a graph by what they
 * compare. Returns false if there can be none. integers: only accept integer keys.
 */
static bool
hg_graph_side_key(PlannerInfo *root, List *hash_clauses, HgSide side, bool integers,
				  RelOptInfo **rel, HgGraphKey *key)
{
	const RestrictInfo *rinfo = linitial_node(RestrictInfo, hash_clauses);
	const bool left = rinfo->outer_is_left == (side == HG_OUTER);
	/* only tables, without the outer joins that may have made them NULL */
	const Relids relids =
		bms_intersect(left ? rinfo->left_relids : rinfo->right_relids, root->all_baserels);
	HgKeyClause clauses[HG_GRAPH_COLUMNS];
	HgKeyEncoder *encoder;
	bool found;

	*key = (HgGraphKey){0};
	if (bms_membership(relids) != BMS_SINGLETON || list_length(hash_clauses) > HG_GRAPH_COLUMNS)
		return false;
	*rel = find_base_rel(root, bms_singleton_member(relids));
	if (!hg_graph_columns(*rel, hash_clauses, key))
		return false;
	hg_hash_clause_operators(hash_clauses, clauses);
	encoder = hg_key_encoder_create(list_length(hash_clauses), clauses);
	found = (!integers || hg_key_is_integer(encoder, side)) &&
			hg_graph_parts(encoder, side, key->parts);
	pfree(encoder);
	return found;
}

HgGraphExtent
hg_graph_clause_extent(PlannerInfo *root, List *hash_clauses, HgSide side, RelOptInfo **rel)
{
	HgGraphKey key;

	if (!hg_graph_side_key(root, hash_clauses, side, true, rel, &key))
		return (HgGraphExtent){0};
	return hg_scan_graph_extent(root, *rel, &key);
}

/*
 * Finds the graph of a table that a path, or the lowest join below it, uses. Returns false if the
 * table is not among theirs.
 */
static bool
hg_graph_of_table(PlannerInfo *root, const HgJoinPath *path, int relid, RelOptInfo **rel,
				  HgGraphKey *key)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgJoinPath *below = hg_path_join(list_nth(path->custom.custom_paths, side));

		if (below != NULL && hg_graph_of_table(root, below, relid, rel, key))
			return true;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (hg_graph_side_key(root, path->hash_clauses, (HgSide) side, false, rel, key) &&
			(int) (*rel)->relid == relid)
			return true;
	return false;
}

bool
hg_graph_ask_columns(PlannerInfo *root, const HgJoinPath *path, List *exprs)
{
	List *vars = pull_var_clause((Node *) exprs, PVC_RECURSE_PLACEHOLDERS);
	bool has_replica = true;
	ListCell *lc;

	/* requests all missing columns at once */
	foreach (lc, vars)
	{
		const Var *var = lfirst_node(Var, lc);
		RelOptInfo *rel;
		HgGraphKey key;

		has_replica &= var->varattno > 0 && hg_graph_of_table(root, path, var->varno, &rel, &key) &&
					   hg_scan_ask_column(root, rel, &key, var->varattno);
	}
	list_free(vars);
	return has_replica;
}

Cost
hg_graph_star_cost(int njoins, double edges, double filtered)
{
	return hg_tuple_cost(hg_cover_star_ns(njoins, edges) + filtered * HG_COLUMN_QUAL_NS);
}

/* Computes the cost with these sides covered, divided among the processes. */
static void
hg_graph_price(const HgJoinPath *path, const HgCoverShape *shape, const bool cover[2],
			   double processes, const Cost input_costs[2], HgGraphCost *cost)
{
	double ns = hg_join_cover_ns(shape, cover) / processes;

	cost->startup = 0;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const Path *input = list_nth(path->custom.custom_paths, side);
		double share = cover[side] ? shape->covered[side] : 0;

		cost->startup += input_costs[side] * (1 - share);
		/* one process filters for all */
		if (input->parent->baserestrictinfo != NIL)
			ns += shape->edges[side] * share * HG_COLUMN_QUAL_NS;
	}
	cost->run = hg_tuple_cost(ns);
}

/* Computes the costs of a join whose sides may have graphs. */
static bool
hg_graph_cost_of_sides(PlannerInfo *root, const HgJoinPath *path, const int columns[2],
					   const Cost input_costs[2], double inner_room, HgGraphCost *cost)
{
	HgCoverShape shape = {.dense = path->dense,
						  .spills_apart =
							  hg_join_spills_apart(path->join_type, path->parallel_hash),
						  .answered = columns[HG_OUTER] == 0 && columns[HG_INNER] == 0};
	bool cover[2] = {false, false};
	bool covered;
	double processes =
		path->parallel_hash ? hg_join_processes(path->custom.path.parallel_workers) : 1;

	hg_graph_shares(root, path, &shape);
	if (shape.covered[HG_OUTER] == 0 && shape.covered[HG_INNER] == 0)
		return false;
	shape.inner_room = inner_room * processes;
	shape.pairs = path->custom.path.rows * processes;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		shape.rows[side] = ((const Path *) list_nth(path->custom.custom_paths, side))->rows *
						   (path->read_once == side ? 1 : processes);
		shape.columns[side] = columns[side];
		/* the leader checks changed pages for all processes */
		shape.pages[side] *= processes;
	}
	hg_join_cover_choose(&shape, cover);
	covered = cover[HG_OUTER] || cover[HG_INNER];
	if (covered)
		hg_graph_price(path, &shape, cover, processes, input_costs, cost);
	else
		cost->startup = cost->run = get_float8_infinity();

	/* If a device is asked, covering may pay even if columns would need rows to be read. */
	cost->asked = -1;
	shape.answered = true;
	hg_join_cover_choose(&shape, cover);
	if (hg_cover_asks_device(&shape, cover))
	{
		HgGraphCost asked;

		/* one process asks for all */
		hg_graph_price(path, &shape, cover, 1, input_costs, &asked);
		cost->asked = asked.startup + asked.run;
	}
	return covered || cost->asked >= 0;
}

bool
hg_graph_cost(PlannerInfo *root, const HgJoinPath *path, const int columns[2],
			  const Cost input_costs[2], double inner_room, HgGraphCost *cost)
{
	if (list_length(path->hash_clauses) > HG_GRAPH_COLUMNS ||
		(path->custom.path.parallel_workers > 0 && !path->parallel_hash) ||
		!hg_join_cover_enabled())
		return false;
	return hg_graph_cost_of_sides(root, path, columns, input_costs, inner_room, cost);
}
