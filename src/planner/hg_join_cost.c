/*-------------------------------------------------------------------------
 *
 * hg_join_cost.c
 *	  What the join node costs.
 *
 * In the planner's units, for O outer and I inner rows, c hash clauses and R result
 * rows, over the total costs of both inputs:
 *
 *	keys		(O + I) * c * cpu_operator_cost
 *				encode each key; hashed keys count twice, for their hash function
 *	graphs		(O + I) * cpu_operator_cost
 *				store the row, bin it, build and intersect
 *	columns		(O + I) * columns * cpu_operator_cost / 4
 *				copy the needed columns; R * columns * cpu_operator_cost / 4 to gather
 *				them again
 *	quals		as core charges them, for each match; hash clauses again where keys are
 *				hashed and rechecked
 *	rows		R * cpu_tuple_cost
 *	disk		what is over work memory is written and read once, sequentially
 *
 * Nothing is returned before both inputs have been read (the outer one a chunk at a
 * time), so that all but quals and rows belongs to the startup cost.  Core charges
 * its hash join cpu_tuple_cost + cpu_operator_cost for each inner row and
 * cpu_operator_cost for each outer one, which is more where the inner side is large
 * and less where it is small; its merge join on sorted inputs is cheaper than both.
 *
 * AGAINST PARALLEL HASH JOINS.  Core prices hash joins as if their tables lay in cache.
 * For large inputs they do not, and every build and probe waits for memory, which
 * this node does not: its own work takes a fraction of the time.  Between serial joins
 * that does not matter, since this node is the cheaper one anyway.  But a parallel
 * hash join has its price divided by its processes, which no serial plan can match
 * that pays for the same scans.  Where core offers one, both are therefore compared by
 * the time they take: with s and S the cost of the parallel and of our own inputs, w
 * what the parallel join costs over its inputs, d the number of its processes, u how
 * much slower its own work is than priced, and f how many of its processes do the own
 * work of this node in the same time,
 *
 *	core	s + w * u
 *	node	S + w * u * d / f
 *
 * and if the second is less, the node asks for that much less than the parallel join.
 * Costly scans, which gain from more processes, tip the scale to core.  EXPLAIN may
 * then show a join that costs less than its inputs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/float.h"

#include "batch/hg_input.h"
#include "hg_guc.h"
#include "planner/hg_planner.h"

/* Cost of copying one column of one row, in units of cpu_operator_cost. */
#define HG_COLUMN_COST 0.25

/*
 * The constants of that comparison, for sides of at least HG_UNCACHED_ROWS rows.  Measured
 * with 10M x 10M int4 keys: 7.7 s of work priced as 0.65 s by the price of the scans, and
 * done in 0.5 s by this node for count(*), in 2.4 s with two columns gathered.  Hashed keys gain
 * less, as their functions take most of the time on both.
 */
#define HG_UNCACHED_ROWS 500000
#define HG_CORE_UNDERPRICED 8.0
#define HG_SPEED_EXACT 4.0
#define HG_SPEED_HASHED 2.0

/* What a forced join costs, the whole of it. */
#define HG_FORCED_COST 0.001

/* By how much core divides the cost of a partial path: its processes. */
static double
hg_parallel_divisor(const Path *path)
{
	double divisor = path->parallel_workers;

	if (parallel_leader_participation)
		divisor += Max(0.0, 1.0 - 0.3 * divisor);
	return Max(divisor, 1.0);
}

/* The most to ask for a join, given core's parallel hash joins of the same relations. */
static Cost
hg_parallel_limit(const RelOptInfo *joinrel, const Path *outer, const Path *inner, bool exact)
{
	Cost limit = get_float8_infinity();
	ListCell *lc;

	if (outer->rows < HG_UNCACHED_ROWS || inner->rows < HG_UNCACHED_ROWS)
		return limit;
	foreach (lc, joinrel->partial_pathlist)
	{
		const Path *path = lfirst(lc);
		const JoinPath *join = lfirst(lc);
		Cost inputs;
		Cost work;
		double core_time;
		double node_time;

		if (!IsA(path, HashPath))
			continue;
		inputs = join->outerjoinpath->total_cost + join->innerjoinpath->total_cost;
		work = Max(path->total_cost - inputs, 0) * HG_CORE_UNDERPRICED;
		core_time = inputs + work;
		node_time = outer->total_cost + inner->total_cost +
					work * hg_parallel_divisor(path) / (exact ? HG_SPEED_EXACT : HG_SPEED_HASHED);
		if (node_time < core_time)
			limit = Min(limit, path->total_cost * node_time / core_time);
	}
	return limit;
}

/*
 * How many columns of each side somebody above the join needs.  A PlaceHolderVar counts
 * for the side that computes it; one that the join itself computes counts for none.
 */
static void
hg_count_columns(const Path *out, const Path *inputs[2], int columns[2])
{
	ListCell *lc;

	columns[HG_OUTER] = columns[HG_INNER] = 0;
	foreach (lc, out->pathtarget->exprs)
	{
		Node *expr = lfirst(lc);

		if (IsA(expr, Var))
			columns[bms_is_member(((Var *) expr)->varno, inputs[HG_OUTER]->parent->relids)
						? HG_OUTER
						: HG_INNER]++;
		else if (list_member(inputs[HG_OUTER]->pathtarget->exprs, expr))
			columns[HG_OUTER]++;
		else if (list_member(inputs[HG_INNER]->pathtarget->exprs, expr))
			columns[HG_INNER]++;
	}
}

Cost
hg_join_base_cost(const Path *outer, const Path *inner)
{
	return outer->total_cost + inner->total_cost +
		   (outer->rows + inner->rows) * 2 * cpu_operator_cost;
}

Cost
hg_join_least_cost(const RelOptInfo *joinrel, const Path *outer, const Path *inner)
{
	if (hg_force)
		return 0;
	return Min(hg_join_base_cost(outer, inner) + joinrel->rows * cpu_tuple_cost,
			   hg_parallel_limit(joinrel, outer, inner, true));
}

/*
 * How many matches meet the quals: all; or the first of each outer row, for semi and anti
 * joins and unique inner rows.  The mirror images of the former look at all matches and take
 * few of them: *walked is their number, 0 for the others, whose matches are paid as rows.
 */
static double
hg_join_matches(PlannerInfo *root, const HgJoinPath *path, double *walked)
{
	const Path *out = &path->custom.path;
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);
	double matches = Max(out->rows, 1.0);

	*walked = 0;
	if (path->join_type == JOIN_SEMI || path->join_type == JOIN_ANTI || path->inner_unique)
		return Min(Max(outer->rows, 1.0), Max(matches, outer->rows * 0.5));
	if (hg_join_type_is_mirrored(path->join_type))
	{
		SpecialJoinInfo as_inner = {
			.type = T_SpecialJoinInfo,
			.min_lefthand = outer->parent->relids,
			.min_righthand = inner->parent->relids,
			.syn_lefthand = outer->parent->relids,
			.syn_righthand = inner->parent->relids,
			.jointype = JOIN_INNER,
		};

		*walked = outer->rows * inner->rows *
				  clauselist_selectivity(root, path->hash_clauses, 0, JOIN_INNER, &as_inner);
		return Max(*walked, 1.0);
	}
	return matches;
}

void
hg_join_cost(PlannerInfo *root, HgJoinPath *path, bool exact, uint32 key_width)
{
	Path *out = &path->custom.path;
	Path *outer = linitial(path->custom.custom_paths);
	Path *inner = lsecond(path->custom.custom_paths);
	int nclauses = list_length(path->hash_clauses);
	double input_rows = outer->rows + inner->rows;
	double matches;
	double walked;
	double memory;
	Cost limit;
	int columns[2];
	QualCost quals;
	Cost startup;
	Cost run = 0;

	out->rows = out->param_info != NULL ? out->param_info->ppi_rows : out->parent->rows;
	if (out->parallel_workers > 0)
		out->rows = clamp_row_est(out->rows / hg_parallel_divisor(out));
	hg_path_set_disabled_nodes(out, hg_path_disabled_nodes(outer) + hg_path_disabled_nodes(inner));

	/*
	 * force: cheaper than anything else can be, whatever it would really cost; with a
	 * difference that makes tests which ask for nothing for a Gather get one
	 */
	if (hg_force)
	{
		out->startup_cost = 0;
		out->total_cost = out->parallel_workers > 0 ? 0 : HG_FORCED_COST;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}

	hg_count_columns(out, (const Path *[]){outer, inner}, columns);
	startup = hg_join_base_cost(outer, inner);
	startup += input_rows * (nclauses * (exact ? 1 : 2) - 1) * cpu_operator_cost;
	startup += (outer->rows * columns[HG_OUTER] + inner->rows * columns[HG_INNER]) *
			   cpu_operator_cost * HG_COLUMN_COST;

	/* rows that must go to disk, once out and once back */
	memory = inner->rows * (double) hg_input_row_bytes(key_width, inner->pathtarget->width);
	if (memory > get_hash_memory_limit() / 2)
	{
		double pages = (outer->rows * outer->pathtarget->width +
						inner->rows * inner->pathtarget->width + input_rows * 16) /
					   BLCKSZ;

		startup += 2 * seq_page_cost * pages;
	}

	matches = hg_join_matches(root, path, &walked);
	run += walked * cpu_operator_cost;
	if (!exact || list_length(path->restrictlist) > nclauses)
	{
		cost_qual_eval(&quals, path->restrictlist, root);
		startup += quals.startup;
		run += matches * quals.per_tuple;
	}
	run += out->rows * (cpu_tuple_cost + (columns[HG_OUTER] + columns[HG_INNER]) *
											 cpu_operator_cost * HG_COLUMN_COST);

	startup += out->pathtarget->cost.startup;
	run += out->pathtarget->cost.per_tuple * out->rows;
	limit = out->parallel_workers > 0 ? get_float8_infinity()
									  : hg_parallel_limit(out->parent, outer, inner, exact);
	if (startup + run > limit)
	{
		startup *= limit / (startup + run);
		run = limit - startup;
	}
	out->startup_cost = startup;
	out->total_cost = startup + run;
}
