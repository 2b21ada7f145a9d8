/*-------------------------------------------------------------------------
 *
 * hg_join_cost.c
 *	  What the join node costs.
 *
 * A path's cost only orders it among the other paths of the same relation.  Those are core's, and
 * core's units are not time: what its executor does in a unit takes 1.6 to 2.6 us where it scans a
 * cached table, and up to 26 us where a hash table is larger than the caches and each row waits for
 * memory, which the price of a hash join does not know.  Measured with test/bench/costs: count(*)
 * of a join of 2 million rows with one partner each, int4 keys, one core, tables cached, with
 * their scans; ns are those of a row of both tables:
 *
 *		inner rows			100		10,000	100,000	1,000,000	2,000,000
 *		core, ns			91		110		288		761			807
 *		core, us a unit		2.9		3.4		8.9		24			26
 *		ours, ns			23		25		51		54			29
 *		ours, us a unit		2.1		2.1		4.3		4.7			2.5
 *		share of the time	0.25	0.22	0.18	0.07		0.04
 *		share of the cost	0.34	0.36	0.36	0.37		0.37
 *
 * (With two columns that are summed the shares are 0.3 to 0.07 and 0.4; with rows for a plan above
 * 0.5 to 0.09 and 0.7; with keys of 5 to 11 bytes of text 0.8 to 0.3 and 0.5.)
 *
 * So a join of ours is priced as its time in the units of core's scans, which is what most of it
 * takes the place of.  It is less than what core asks for its hash join of any size; to ask less
 * still where core's own takes longest would make plans cheaper that join more rows, and
 * let them win from nested loops, of which a unit takes 3 to 22 us on TPC-H's tables: these are
 * looked at one by one (hg_lookup_cost.h).  In detail:
 *
 *	- where the node does what core does, it is charged what core charges: hash functions, quals,
 *	  what children cost;
 *	- what it reads a child faster than core does is taken off the child's cost;
 *	- what it does in another way, 14 to 20 ns a row, is charged a little less than the least
 *	  that core charges for a row of either side of a hash join.
 *
 * In units of cpu_operator_cost, for O outer and I inner rows, c hash clauses and R result rows,
 * over the total costs of both inputs:
 *
 *	rows		(O + I) / 2
 *				store the row's key, bin it, build and match; T / 5 less for T outer rows that go
 *				through, from a join of ours into one that joins them as they come and returns as
 *				many
 *	keys		(O + I) * c / 4 where they are exact; (O + I) * c where they are hashed
 *	columns		(O + I) * columns * 3/20 to keep them, R * columns * 3/20 to gather them again;
 *				nothing for outer ones of the T rows that go through: they stay where they are
 *	quals		as core charges them, for each match; hash clauses again where keys are
 *				hashed and rechecked
 *	result		R * cpu_tuple_cost * 6/10, where rows are formed: 15 to 20 ns
 *	disk		what is over work memory is written and read once, sequentially; but not where
 *				inner keys can be kept as bits (batch/hg_key_bits.h), as far as statistics tell
 *
 * and taken off, for a table of N rows, or a join of ours that returns N:
 *
 *	table		N * cpu_tuple_cost * 7/10, and 8/10 of what quals cost that are decided over
 *				columns: over resident ones whatever they are made of (an IN of five takes less than
 *				a third of what it takes row by row), over those of pages one comparison of values
 *				by value.  A row takes 9 ns, and core's own scan 26 to 30 (a table of another access
 *				method than heap is priced as if it were one)
 *	pages		seq_page_cost * 15/100 of a table that shared buffers can hold: core waits
 *				3 to 4 us for the memory of a page, and where the next one is asked for ahead
 *				it is 2 us less.  No more than cpu_tuple_cost * 12 for each result row, as far
 *				as a nested loop takes longer to find it: an index finds few rows sooner
 *	resident	all that pages cost, and another 1/10 of N * cpu_tuple_cost, of the share of the
 *				blocks that are served from resident columns: what is left of the price is that of
 *				binning, building and matching
 *				Where a clause is not decided over columns, 4/10 of N * cpu_tuple_cost of that
 *				share are not taken off: rows are formed of columns for it
 *	join		what forming its rows costs, where columns are handed over
 *	columns		another 16/100 of N * cpu_tuple_cost, of the share that is served, where rows are
 *				aggregated that are not joined: 1 ns a row is left of the price; nothing is where
 *				they are only counted
 *
 * but no more than an input costs: hints that want a path taken let it cost nothing, as those of
 * pg_hint_plan do for parallel scans, and less than nothing would be less with each rescan.
 *
 * Where outer rows go through, one more join in a star of 10 million rows takes 4 ns a row,
 * whether they are of pages or resident and whether all have a partner or each second one; an
 * outer column takes 0.1 to 0.3 ns, and an inner one 1 to 2 ns with its sum (int4 keys, tables of
 * 1,000 to 100,000 rows).  Core's hash join takes 50 to 100 ns for such a row, and asks no more
 * than a unit of cpu_operator_cost where inner rows are unique, as those of a primary key are: it
 * takes the selectivity of the join, one by the number of inner rows, for the share of outer rows
 * that have a partner, so that result rows cost next to nothing.  Joins that read a table, or
 * drop rows, are not priced lower for joining them as they come: they would win from nested loops
 * that find few of these.
 *
 * Rows that a resident HashGraph has are not read: hg_graph_cost.c.
 *
 * Where hash joins are disabled the node is, just as core's own hash join.
 *
 * The first row is returned when the inner input has been read and as much of the outer one as
 * work memory holds, or a batch of it where the HashGraph of the inner one is small and outer rows
 * are joined as they come: that belongs to the startup cost, and all else to what rows cost as they
 * are asked for.  Where the inner input goes to disk, all of the outer one goes there before; and
 * processes that join both sides together hold all of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"
#include "utils/spccache.h"

#include "backend/matcher/hg_matcher.h"
#include "batch/hg_input.h"
#include "batch/hg_scan_qual.h"
#include "engine/cpu/hg_cpu.h"
#include "executor/join/hg_join_lend_cost.h"
#include "hg_guc.h"
#include "planner/hg_graph_cost.h"
#include "planner/hg_join_cost.h"
#include "planner/hg_key_range.h"
#include "planner/hg_scan_share.h"

/* Costs of one row, in units of cpu_operator_cost (see above). */
#define HG_ROW_COST 0.5
#define HG_THROUGH_SAVED 0.2
#define HG_EXACT_KEY_COST 0.25
#define HG_HASHED_KEY_COST 1.0
#define HG_COLUMN_COST 0.15

/* Costs of one row, in units of cpu_tuple_cost. */
#define HG_RESULT_COST 0.6
#define HG_SCAN_SAVED 0.7
#define HG_RESIDENT_SAVED 0.1
#define HG_COLUMNS_SAVED 0.16
#define HG_COUNT_SAVED 0.2
#define HG_FORMED_COST 0.4

/* Of what a qual costs that is decided over columns. */
#define HG_QUAL_SAVED 0.8

/* Of what a page costs, and at most for a result row, in units of cpu_tuple_cost. */
#define HG_PAGE_SAVED 0.15
#define HG_PAGES_RESULT 12.0

/* What a forced join costs, the whole of it. */
#define HG_FORCED_COST 0.001

double
hg_parallel_divisor(const Path *path)
{
	return hg_join_processes(path->parallel_workers);
}

/* Are all columns of a path's rows there without being computed? */
static bool
hg_target_is_plain(const PathTarget *target)
{
	ListCell *lc;

	foreach (lc, target->exprs)
		if (!IsA(lfirst(lc), Var))
			return false;
	return true;
}

/* Rows of a sequential scan's table, of each process that shares it. */
static double
hg_scan_rows(const Path *path)
{
	return path->parent->tuples / (path->parallel_workers > 0 ? hg_parallel_divisor(path) : 1);
}

/* What a sequential scan costs less where it is served from resident columns. */
static Cost
hg_resident_saving(const Path *path)
{
	const RelOptInfo *rel = path->parent;
	double share = hg_scan_share(rel);
	double page_cost;

	if (share == 0)
		return 0;
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	return share *
		   (page_cost * rel->pages + HG_RESIDENT_SAVED * cpu_tuple_cost * hg_scan_rows(path));
}

/*
 * The share of a table's rows for which a clause that is decided over columns saves what the prices
 * say: of pages that is known of one comparison of values by value alone.
 */
static double
hg_qual_share(const RelOptInfo *rel, const Expr *clause)
{
	ListCell *lc;

	if (!IsA(clause, OpExpr))
		return hg_scan_share(rel);
	foreach (lc, ((const OpExpr *) clause)->args)
		if (!get_typbyval(exprType(lfirst(lc))))
			return hg_scan_share(rel);
	return 1;
}

/*
 * What a row of a table costs less for its clauses that are decided over columns, and more for
 * others, if it is served.
 */
static Cost
hg_qual_saving(const RelOptInfo *rel)
{
	Cost row = 0;
	bool formed = false;
	ListCell *lc;

	foreach (lc, rel->baserestrictinfo)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (hg_column_qual_takes((Node *) rinfo->clause))
		{
			QualCost cost;

			cost_qual_eval_node(&cost, (Node *) rinfo, NULL);
			row += HG_QUAL_SAVED * cost.per_tuple * hg_qual_share(rel, rinfo->clause);
		}
		else
			formed = true;
	}
	return formed ? row - HG_FORMED_COST * cpu_tuple_cost * hg_scan_share(rel) : row;
}

/* What a sequential scan costs less where it is read by pages, or served. */
static Cost
hg_scan_saving(const Path *path)
{
	Cost row = HG_SCAN_SAVED * cpu_tuple_cost;

	if (!hg_target_is_plain(path->pathtarget))
		return 0;
	row += hg_scan_price_qual(path->parent, hg_qual_saving);
	return row * hg_scan_rows(path) + hg_resident_saving(path);
}

/* The path below a projection that only chooses columns, which costs nothing; or the path. */
static const Path *
hg_unprojected_path(const Path *path)
{
	if (IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp &&
		hg_target_is_plain(path->pathtarget))
		return ((const ProjectionPath *) path)->subpath;
	return path;
}

/* What an Append costs less where scans of it are served. */
static Cost
hg_append_resident_saving(const AppendPath *append)
{
	Cost saving = 0;
	ListCell *lc;

	foreach (lc, append->subpaths)
	{
		const Path *path = hg_unprojected_path(lfirst(lc));

		if (path->pathtype == T_SeqScan && hg_target_is_plain(path->pathtarget))
			saving += hg_resident_saving(path);
	}
	return saving;
}

/* What reading a path costs less where it has the price that rows make. */
static Cost
hg_rows_saving(const Path *path)
{
	const HgJoinPath *join;
	ListCell *lc;

	path = hg_unprojected_path(path);
	switch (path->pathtype)
	{
		case T_SeqScan:
			return hg_scan_saving(path);
		case T_Append:
			/* partitions are alike, but for what is resident of them */
			foreach (lc, ((const AppendPath *) path)->subpaths)
				return hg_rows_saving(lfirst(lc)) > 0
						   ? HG_SCAN_SAVED * cpu_tuple_cost * path->rows +
								 hg_append_resident_saving((const AppendPath *) path)
						   : 0;
			return 0;
		default:
			break;
	}
	join = hg_path_join(path);
	/* what a WHERE above an outer join asks is asked of rows */
	if (join == NULL || hg_join_path_filters(join))
		return 0;
	foreach (lc, path->pathtarget->exprs)
		if (!IsA(lfirst(lc), Var) && !IsA(lfirst(lc), PlaceHolderVar))
			return 0;
	return HG_RESULT_COST * cpu_tuple_cost * join->custom.path.rows;
}

Cost
hg_path_saving(const Path *path)
{
	return Min(hg_rows_saving(path), path->total_cost);
}

bool
hg_path_is_served(const Path *path)
{
	ListCell *lc;

	path = hg_unprojected_path(path);
	if (path->pathtype == T_SeqScan)
		return path->param_info == NULL && hg_target_is_plain(path->pathtarget) &&
			   hg_scan_share(path->parent) > 0;
	if (IsA(path, AppendPath))
		foreach (lc, ((const AppendPath *) path)->subpaths)
			if (hg_path_is_served(lfirst(lc)))
				return true;
	return false;
}

Cost
hg_columns_saving(const Path *path, bool counted)
{
	Cost saving = 0;
	ListCell *lc;

	path = hg_unprojected_path(path);
	if (IsA(path, AppendPath))
		foreach (lc, ((const AppendPath *) path)->subpaths)
			saving += hg_columns_saving(lfirst(lc), counted);
	else if (hg_path_is_served(path))
		saving =
			hg_scan_share(path->parent) * cpu_tuple_cost * hg_scan_rows(path) *
			(counted && path->parent->baserestrictinfo == NIL ? HG_COUNT_SAVED : HG_COLUMNS_SAVED);
	return saving;
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

/* What reading a table's pages costs less where they are asked for ahead. */
static Cost
hg_pages_saving(const Path *path)
{
	const RelOptInfo *rel = path->parent;
	double page_cost;

	if (path->pathtype != T_SeqScan || rel->pages > (BlockNumber) NBuffers)
		return 0;
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	return (1 - hg_scan_share(rel)) * HG_PAGE_SAVED * page_cost * rel->pages;
}

Cost
hg_scan_gain(const Path *scan)
{
	return Min(hg_path_saving(scan) + hg_pages_saving(scan), scan->total_cost);
}

void
hg_input_cost(const Path *path, HgInputCost *input)
{
	input->path = path;
	input->cost = path->total_cost - hg_path_saving(path);
	input->pages = Min(hg_pages_saving(path), input->cost);
}

/*
 * What both sides cost until their rows can be joined, where the result has so many; but for what
 * keys and columns cost beyond the least.  So many outer rows go through.
 */
static void
hg_sides_cost(const HgInputCost *const inputs[2], double rows, double through, Cost sides[2])
{
	Cost pages = inputs[HG_OUTER]->pages + inputs[HG_INNER]->pages;
	Cost most = rows * HG_PAGES_RESULT * cpu_tuple_cost;
	double share = pages > most ? most / pages : 1;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sides[side] =
			inputs[side]->cost +
			(inputs[side]->path->rows * (HG_ROW_COST + HG_EXACT_KEY_COST) * cpu_operator_cost -
			 inputs[side]->pages * share);
	sides[HG_OUTER] -= through * HG_THROUGH_SAVED * cpu_operator_cost;
}

/* Rows of an outer path that go through a join which streams them and returns so many. */
static double
hg_through_rows(const Path *outer, double rows)
{
	return hg_path_join(outer) != NULL ? Min(outer->rows, rows) : 0;
}

/* Rows that a join returns to one process, where the relation has so many. */
static double
hg_join_rows(const Path *outer, double rows)
{
	return outer->parallel_workers > 0 ? clamp_row_est(rows / hg_parallel_divisor(outer)) : rows;
}

Cost
hg_join_least_cost(const RelOptInfo *joinrel, const HgInputCost *const inputs[2])
{
	double rows = hg_join_rows(inputs[HG_OUTER]->path, joinrel->rows);
	Cost sides[2];

	if (hg_force)
		return 0;
	hg_sides_cost(inputs, rows, hg_through_rows(inputs[HG_OUTER]->path, rows), sides);
	/* a side that is lent is not read */
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (hg_scan_has_graph(inputs[side]->path->parent))
			sides[side] = 0;
	return sides[HG_OUTER] + sides[HG_INNER] + rows * HG_RESULT_COST * cpu_tuple_cost;
}

/* May the outer rows of a join be joined as they come, whatever the inner side is? */
static bool
hg_join_may_be_streamed(const HgJoinPath *path, uint32 key_width)
{
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);

	return !path->together &&
		   (path->join_type == JOIN_INNER || path->join_type == JOIN_RIGHT ||
			path->join_type == JOIN_SEMI) &&
		   hg_matcher_may_stream(key_width, (uint64) Min(outer->rows, HG_MAX_ROWS),
								 (uint64) Min(inner->rows, HG_MAX_ROWS), path->custom.path.rows);
}

/* Are they, as far as is known before keys have been seen? */
static bool
hg_join_is_streamed(const HgJoinPath *path, double inner_bytes, uint32 key_width)
{
	const Path *inner = lsecond(path->custom.custom_paths);

	return inner_bytes <= get_hash_memory_limit() / 2 &&
		   hg_cpu_graph_is_near(key_width, hg_load_factor, inner->rows) &&
		   hg_join_may_be_streamed(path, key_width);
}

/*
 * Are the inner keys of a join that nobody wants inner columns of kept as bits, because rows would
 * not fit, as far as statistics tell?  While there come to be more of them they take twice as much.
 */
static bool
hg_join_keeps_bits(PlannerInfo *root, const HgJoinPath *path, double inner_bytes, bool exact,
				   uint32 key_width)
{
	const RestrictInfo *clause = linitial_node(RestrictInfo, path->hash_clauses);
	HgKeyRange range;

	return inner_bytes > get_hash_memory_limit() / 2 && exact &&
		   list_length(path->hash_clauses) == 1 && list_length(path->restrictlist) == 1 &&
		   (path->join_type == JOIN_INNER || path->join_type == JOIN_SEMI) &&
		   hg_key_range(root,
						clause->outer_is_left ? get_rightop(clause->clause)
											  : get_leftop(clause->clause),
						&range) &&
		   (!range.repeats || path->join_type == JOIN_SEMI || path->inner_unique) &&
		   2 * range.size / BITS_PER_BYTE <= get_hash_memory_limit() / 2.0 &&
		   hg_join_may_be_streamed(path, key_width);
}

/*
 * The part of the outer rows that is read before the first row is returned: a batch, or what work
 * memory holds beside the inner rows, which take so many bytes.
 */
static double
hg_join_first_part(const HgJoinPath *path, double inner_bytes, uint32 key_width, bool streamed)
{
	const Path *outer = linitial(path->custom.custom_paths);
	double limit = get_hash_memory_limit();
	double outer_bytes =
		outer->rows * (double) hg_input_row_bytes(key_width, outer->pathtarget->width);

	if (streamed)
		return Min(HG_BATCH_ROWS / Max(outer->rows, 1), 1);
	if (path->together || inner_bytes > limit / 2 || outer_bytes <= limit - inner_bytes)
		return 1;
	return (limit - inner_bytes) / outer_bytes;
}

/*
 * How many matches meet the quals: all; or about one of each outer row that has any, for semi and
 * anti joins and unique inner rows.  The mirror images of the former look at all matches and take
 * few of them: *walked is their number, 0 for the others, whose matches are paid as rows.
 */
static double
hg_join_matches(PlannerInfo *root, const HgJoinPath *path, const JoinPathExtraData *extra,
				double *walked)
{
	const Path *out = &path->custom.path;
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);

	*walked = 0;
	if (path->join_type == JOIN_SEMI || path->join_type == JOIN_ANTI || path->inner_unique)
		return Max(rint(outer->rows * extra->semifactors.outer_match_frac), 1.0);
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
	return Max(out->rows, 1.0);
}

void
hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
			 const JoinPathExtraData *extra, bool exact, uint32 key_width)
{
	Path *out = &path->custom.path;
	Path *outer = linitial(path->custom.custom_paths);
	Path *inner = lsecond(path->custom.custom_paths);
	int nclauses = list_length(path->hash_clauses);
	Cost keys = (nclauses * (exact ? HG_EXACT_KEY_COST : HG_HASHED_KEY_COST) - HG_EXACT_KEY_COST) *
				cpu_operator_cost;
	Cost sides[2];
	double first;
	double matches;
	double walked;
	double memory;
	bool bits;
	bool streamed;
	double through;
	int columns[2];
	int rechecked[2];
	HgGraphCost graph;
	QualCost quals;
	Cost startup;
	Cost run;

	out->rows = hg_join_rows(outer, out->param_info != NULL ? out->param_info->ppi_rows
															: out->parent->rows);
	hg_path_set_disabled_nodes(out, hg_path_disabled_nodes(outer) + hg_path_disabled_nodes(inner));

	/*
	 * force: cheaper than anything else can be, whatever it would really cost and whatever else
	 * is disabled; with a difference that makes tests which ask for nothing for a Gather get one
	 */
	if (hg_force)
	{
		out->startup_cost = 0;
		out->total_cost = out->parallel_workers > 0 ? 0 : HG_FORCED_COST;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}

	hg_count_columns(out, (const Path *[]){outer, inner}, columns);
	/* matches of hashes are rechecked by the values of both sides */
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		rechecked[side] = Max(columns[side], nclauses);
	memory = inner->rows * (double) hg_input_row_bytes(key_width, inner->pathtarget->width);
	bits = columns[HG_INNER] == 0 && hg_join_keeps_bits(root, path, memory, exact, key_width);
	streamed = bits || hg_join_is_streamed(path, memory, key_width);
	through = streamed ? hg_through_rows(outer, out->rows) : 0;
	hg_sides_cost(inputs, out->rows, through, sides);
	sides[HG_OUTER] += outer->rows * keys + (outer->rows - through) * columns[HG_OUTER] *
												HG_COLUMN_COST * cpu_operator_cost;
	sides[HG_INNER] +=
		inner->rows * (keys + columns[HG_INNER] * HG_COLUMN_COST * cpu_operator_cost);
	first = hg_join_first_part(path, memory, key_width, streamed);
	run = (1 - first) * Max(sides[HG_OUTER] - outer->startup_cost, 0);
	startup = sides[HG_INNER] + sides[HG_OUTER] - run;

	/* rows that must go to disk, once out and once back */
	if (memory > get_hash_memory_limit() / 2 && !bits)
	{
		double pages = (outer->rows * outer->pathtarget->width +
						inner->rows * inner->pathtarget->width + (outer->rows + inner->rows) * 16) /
					   BLCKSZ;

		startup += 2 * seq_page_cost * pages;
	}

	if (hg_graph_cost(root, path, exact ? columns : rechecked,
					  (const Cost[2]){inputs[HG_OUTER]->cost, inputs[HG_INNER]->cost},
					  memory > get_hash_memory_limit() / 2, &graph) &&
		graph.startup + graph.run < startup + run)
	{
		startup = graph.startup;
		run = graph.run;
		/* they are in that price */
		columns[HG_OUTER] = columns[HG_INNER] = 0;
	}
	matches = hg_join_matches(root, path, extra, &walked);
	run += walked * cpu_operator_cost;
	if (!exact || list_length(path->restrictlist) > nclauses)
	{
		cost_qual_eval(&quals, path->restrictlist, root);
		startup += quals.startup;
		run += matches * quals.per_tuple;
	}
	run += out->rows * HG_RESULT_COST * cpu_tuple_cost +
		   ((out->rows - through) * columns[HG_OUTER] + out->rows * columns[HG_INNER]) *
			   cpu_operator_cost * HG_COLUMN_COST;

	startup += out->pathtarget->cost.startup;
	run += out->pathtarget->cost.per_tuple * out->rows;
	out->startup_cost = startup;
	out->total_cost = startup + run;
	if (!hg_hashjoin_path_enabled(extra, outer))
		hg_path_disable(out);
}
