/*-------------------------------------------------------------------------
 *
 * hg_join_cost.c
 *	  The cost of the join node.
 *
 * A path's cost only ranks it among the other paths of the same relation. Those are core's, and
 * core's units are not time: a unit takes 1.6 to 2.6 us if core scans a cached table, and up to 26
 * us if a hash table exceeds the caches and each row waits for memory, which the cost of a hash
 * join ignores. Measured with test/bench/costs: count(*) of a join of 2 million rows with one
 * partner each, int4 keys, one core, tables cached, scans included; ns for a row of both tables:
 *
 *		inner rows			100		10,000	100,000	1,000,000	2,000,000
 *		core, ns			91		110		288		761			807
 *		core, us a unit		2.9		3.4		8.9		24			26
 *		ours, ns			23		25		51		54			29
 *		ours, us a unit		2.1		2.1		4.3		4.7			2.5
 *		share of the time	0.25	0.22	0.18	0.07		0.04
 *		share of the cost	0.34	0.36	0.36	0.37		0.37
 *
 * With two summed columns the shares are 0.3 to 0.07 and 0.4; with rows for a plan above 0.5 to
 * 0.09 and 0.7; with text keys of 5 to 11 bytes 0.8 to 0.3 and 0.5.
 *
 * A join of ours is therefore priced by its time in units of core's scans, most of which it
 * replaces. That is less than core's hash join if few columns are returned. It may be more if many
 * are; core's join still takes longer then, and is removed (hg_core_path.h). Charging less where
 * core is slowest would make plans with more rows cheaper, and let them win from nested loops. A
 * unit of nested loops takes 3 to 22 us on TPC-H's tables; hg_path_cost.h estimates their
 * lookups, and no path's cost depends on another's. In detail:
 *
 *	- What the node does like core costs the same: hash functions, quals, children.
 *	- What it saves when reading a child is subtracted from the child's cost.
 *	- What it does differently, 14 to 20 ns a row, costs a little less than the least that core
 *	  charges for a row of either side of a hash join.
 *
 * The cost is the sum of the following, over the total costs of both inputs (minus what they save,
 * see hg_input_cost.c). engine/hg_cost_table.h has the constants.
 *
 *	start		HG_START_NS, or HG_SHARED_START_NS for each process of a shared join; and the cost
 *				of starting workers (hg_input_cost.c)
 *	rows		HG_PRICED_ROW_NS to store the row's key, bin it, build and match;
 *				HG_THROUGH_SAVED_NS less for outer rows that go through: from a join of ours into
 *				one that streams them and returns as many; HG_STREAM_SAVED_NS less for cached
 *				outer rows that are streamed past dense inner keys and only counted
 *	keys		HG_PRICED_KEY_NS for each hash clause of a row, or HG_PRICED_HASH_NS if keys are
 *				hashed
 *	columns		HG_PRICED_COLUMN_NS for each column of a row to store it, and of a result row to
 *				gather it; nothing for outer columns of rows that go through, which stay in place
 *	quals		as core charges them, for each match; hash clauses too if keys are hashed and
 *				rechecked
 *	result		HG_FORM_ROW_NS, if rows are formed
 *	disk		what exceeds work memory is written and read once, sequentially; but not if inner
 *				keys can be stored as bits (batch/hg_key_column.h), by statistics
 *
 * If outer rows go through, one more join in a star of 10 million rows takes 4 ns a row, from
 * pages or cached columns, whether all rows or every second one have a partner. An outer column
 * takes 0.1 to 0.3 ns, and an inner one 1 to 2 ns with its sum (int4 keys, tables of 1,000 to
 * 100,000 rows). Core's hash join takes 50 to 100 ns for such a row, and charges no more than one
 * cpu_operator_cost if inner rows are unique: it uses the join's selectivity, one by the number of
 * inner rows, as the share of outer rows with a partner, so that result rows cost almost nothing.
 * Joins that read a table, or drop rows, are not priced lower for streaming: they would win from
 * nested loops that find few of these rows.
 *
 * Starting the node takes 15 us more than core's hash join, and 35 to 50 us in each process of a
 * parallel query; core's unit takes 4 us for few rows. Joins of some hundred rows are still
 * faster, as core takes 120 ns a row and ours 10 to 40 (us of CPU time of an execution, prepared,
 * one process, int4 keys or 8 bytes of text):
 *
 *		rows of both sides	200		600		2,000	6,000
 *		core, count(*)		37		87		246		701
 *		ours				31		40		54		95
 *		core, rows			45		102		279		757
 *		ours				45		60		102		205
 *		core, text			43		100		274		766
 *		ours				42		63		108		242
 *
 * Rows from a cached HashGraph are not read: hg_graph_cost.c.
 *
 * If processes join together and only one of them can read a side, let C be the cost of that side
 * and P that of a process's part of the other side. In each of d processes the sides cost
 *
 *	max(C, C / d + P)	the reader takes at least C, and meanwhile the others do its part of the
 *						other side; if each read it for itself, they would cost C + P
 *	HG_SHARED_ROW_NS	for each outer row of a process that could otherwise stream it, and memory:
 *						these are feared rows (hg_path_cost.h)
 *	HG_CHUNKED_ROW_NS	for all rows that go to disk because both sides are stored; a process with
 *						only the inner side takes the outer one in chunks
 *
 * If hash joins are disabled, so is the node. The startup cost covers reading the inner input, and
 * as much of the outer one as work memory can store, or one batch of it if it is streamed past a
 * small HashGraph. If the inner input goes to disk, so does all of the outer one before the first
 * row. Processes that join both sides together store all of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_input.h"
#include "engine/cpu/hg_cpu.h"
#include "engine/hg_shape.h"
#include "executor/join/hg_join_cover.h"
#include "executor/join/hg_join_memory.h"
#include "hg_guc.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_planner_run.h"

/* Bytes of a row on disk beside its columns. */
#define HG_SPILLED_ROW_BYTES 16

/*
 * Counts the columns of each side that the plan above the join needs. A PlaceHolderVar counts for
 * the side that computes it; one that the join itself computes counts for none.
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

/*
 * Fills in the cost of both sides until their rows can be joined, with the least cost of keys and
 * without columns. through is the number of outer rows that go through.
 */
static void
hg_sides_cost(const HgInputCost *const inputs[2], double through, Cost sides[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sides[side] =
			inputs[side]->cost +
			inputs[side]->path->rows * hg_operator_cost(HG_PRICED_ROW_NS + HG_PRICED_KEY_NS);
	sides[HG_OUTER] -= through * hg_operator_cost(HG_THROUGH_SAVED_NS);
}

/* Returns the cost of starting a join. */
static Cost
hg_start_cost(int workers)
{
	return hg_operator_cost(workers > 0 ? HG_SHARED_START_NS : HG_START_NS);
}

/* Returns how many rows of an outer input go through a join that streams them and returns rows. */
static double
hg_through_rows(const HgInputCost *outer, double rows)
{
	return outer->joined ? Min(outer->path->rows, rows) : 0;
}

/* Returns the rows that a join returns to each of its processes, of all rows of the relation. */
static double
hg_join_rows(int workers, double rows)
{
	return workers > 0 ? clamp_row_est(rows / hg_join_processes(workers)) : rows;
}

int
hg_join_read_once(const Path *outer, const Path *inner, bool parallel_hash)
{
	if (!parallel_hash || (outer->parallel_workers > 0 && inner->parallel_workers > 0))
		return -1;
	return outer->parallel_workers == 0 ? HG_OUTER : HG_INNER;
}

/*
 * Adjusts the cost of a side that one process reads for all: meanwhile the others read the other
 * side, and then all read what is left of that.
 */
static void
hg_share_read_once(Cost sides[2], int read_once, int workers)
{
	if (read_once >= 0)
		sides[read_once] = Max(sides[read_once] / hg_join_processes(workers),
							   sides[read_once] - sides[1 - read_once]);
}

void
hg_join_share(const RelOptInfo *joinrel, int workers, HgJoinShare *share)
{
	share->workers = workers;
	share->rows = hg_join_rows(workers, joinrel->rows);
	share->cost = hg_start_cost(workers) + hg_workers_cost(joinrel, workers, 0) +
				  share->rows * hg_tuple_cost(HG_FORM_ROW_NS);
}

Cost
hg_join_least_saving(const RelOptInfo *joinrel, const HgJoinShare *share, const HgInputCost *outer,
					 const HgInputCost *inner, bool parallel_hash)
{
	Cost sides[2] = {outer->least, inner->least};

	sides[HG_OUTER] -= hg_through_rows(outer, share->rows) * hg_operator_cost(HG_THROUGH_SAVED_NS);
	if (joinrel->reltarget->exprs == NIL && !outer->graph && hg_path_is_cached(outer->path))
		sides[HG_OUTER] -= outer->path->rows * hg_operator_cost(HG_STREAM_SAVED_NS);
	hg_share_read_once(sides, hg_join_read_once(outer->path, inner->path, parallel_hash),
					   share->workers);
	return outer->least -
		   hg_through_rows(outer, share->rows) * hg_operator_cost(HG_THROUGH_SAVED_NS) +
		   inner->least - sides[HG_OUTER] - sides[HG_INNER];
}

/* Returns what is known of devices; asks once in a run of the planner. */
static HgKnownDevice *
hg_known_device(const PlannerInfo *root)
{
	static HgKnownDevice device;
	static uint64 device_run;
	uint64 run = hg_planner_run_find(root, root->simple_rel_array);

	if (run == 0 || run != device_run)
		hg_matcher_ask_device(&device);
	device_run = run;
	return &device;
}

/*
 * Returns true if outer rows may be streamed past any inner side that a process has read.  files: a
 * device would get the rows from temporary files.
 */
static bool
hg_join_may_be_streamed(const PlannerInfo *root, const HgJoinPath *path, uint32 key_width,
						bool files)
{
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);

	return (path->join_type == JOIN_INNER || path->join_type == JOIN_RIGHT ||
			path->join_type == JOIN_SEMI) &&
		   hg_matcher_may_stream(hg_known_device(root), key_width,
								 (uint64) Min(outer->rows, HG_MAX_ROWS),
								 (uint64) Min(inner->rows, HG_MAX_ROWS), path->custom.path.rows,
								 path->custom.path.parallel_workers > 0, files);
}

/* Returns true if they are joined as they come, as far as is known before keys have been read. */
static bool
hg_join_is_streamed(const PlannerInfo *root, const HgJoinPath *path, double inner_bytes,
					uint32 key_width)
{
	const Path *inner = lsecond(path->custom.custom_paths);

	return inner_bytes <= HG_STREAM_SHARE * (double) get_hash_memory_limit() &&
		   inner->rows <= hg_matcher_stream_rows(key_width) &&
		   hg_join_may_be_streamed(root, path, key_width, false);
}

/*
 * Returns true if the inner keys are stored as bits because rows would not fit, by statistics. No
 * inner column may be needed. While the bitmap grows it takes twice its size. Pages of tables that
 * are not cached go to a device as they are, without files.
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
		   hg_key_range(root, clause, !clause->outer_is_left, &range) &&
		   (!range.repeats || path->join_type == JOIN_SEMI || path->inner_unique) &&
		   2 * range.size / BITS_PER_BYTE <= get_hash_memory_limit() / 2.0 &&
		   hg_join_may_be_streamed(root, path, key_width,
								   hg_path_is_cached(linitial(path->custom.custom_paths)) &&
									   hg_path_is_cached(lsecond(path->custom.custom_paths)));
}

/* Returns true if, by statistics, each inner key is its own vertex (hg_cpu_direct.c). */
static bool
hg_join_keys_are_dense(PlannerInfo *root, const HgJoinPath *path, bool exact)
{
	const RestrictInfo *clause = linitial_node(RestrictInfo, path->hash_clauses);
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);
	const HgJobSpec spec = {.shape.build = (HgBuildAlgorithm) hg_build,
							.shape.probe = (HgProbeAlgorithm) hg_probe,
							.shape.load_factor = hg_load_factor,
							.shape.bins = (uint32) hg_bins,
							.shape.direct = true};
	HgKeyRange range;

	return exact && list_length(path->hash_clauses) == 1 &&
		   hg_key_range(root, clause, !clause->outer_is_left, &range) &&
		   range.size <= (double) hg_shape_direct_vertices(&spec,
														   (uint64) Min(outer->rows, HG_MAX_ROWS),
														   (uint64) Min(inner->rows, HG_MAX_ROWS));
}

/* Returns true if cached outer rows are streamed past dense inner keys and only counted. */
static bool
hg_join_counts_directly(PlannerInfo *root, const HgJoinPath *path, const int columns[2], bool exact)
{
	return columns[HG_OUTER] == 0 && columns[HG_INNER] == 0 &&
		   list_length(path->restrictlist) == 1 &&
		   hg_path_is_cached(linitial(path->custom.custom_paths)) &&
		   hg_join_keys_are_dense(root, path, exact);
}

/*
 * Returns the part of the outer rows that is read before the first row is returned: a batch, or
 * what work memory can store beside inner_bytes of inner rows.
 */
static double
hg_join_first_part(const HgJoinPath *path, double inner_bytes, uint32 key_width, bool streamed)
{
	const Path *outer = linitial(path->custom.custom_paths);
	double limit;
	double outer_bytes;

	if (streamed)
		return Min(HG_BATCH_ROWS / Max(outer->rows, 1), 1);
	if (path->parallel_hash)
		return 1;
	limit = get_hash_memory_limit();
	outer_bytes = outer->rows * (double) hg_held_row_bytes(key_width, outer->pathtarget->width);
	if (inner_bytes > limit / 2 || outer_bytes <= limit - inner_bytes)
		return 1;
	return (limit - inner_bytes) / outer_bytes;
}

/*
 * Returns how many matches the quals are evaluated for, given a process's outer rows. For semi and
 * anti joins and unique inner rows it is about one for each outer row that has any, else all.
 * *walked is the number of matches that cost time without becoming rows: those of mirrored semi
 * and anti joins, and of joins with other quals than hash clauses. It is 0 for other joins, whose
 * matches are paid as rows.
 */
static double
hg_join_matches(PlannerInfo *root, const HgJoinPath *path, const JoinPathExtraData *extra,
				double outer_rows, double *walked)
{
	const Path *out = &path->custom.path;
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);

	*walked = 0;
	if (path->join_type == JOIN_SEMI || path->join_type == JOIN_ANTI || path->inner_unique)
		return Max(rint(outer_rows * extra->semifactors.outer_match_frac), 1.0);
	if (hg_join_type_is_mirrored(path->join_type) ||
		list_length(path->restrictlist) > list_length(path->hash_clauses))
	{
		SpecialJoinInfo as_inner = {
			.type = T_SpecialJoinInfo,
			.min_lefthand = outer->parent->relids,
			.min_righthand = inner->parent->relids,
			.syn_lefthand = outer->parent->relids,
			.syn_righthand = inner->parent->relids,
			.jointype = JOIN_INNER,
		};

		*walked = outer_rows * inner->rows *
				  clauselist_selectivity(root, path->hash_clauses, 0, JOIN_INNER, &as_inner);
		return Max(*walked, 1.0);
	}
	return Max(out->rows, 1.0);
}

/* The keys of the inner side are expected to leave at least this share of the outer rows. */
#define HG_LEAST_PASSED 0.1

/*
 * Returns the share of a process's outer rows that is stored. In shared joins the keys of the inner
 * side reject those that have no match; how many these are is not known if there are other clauses.
 */
static double
hg_stored_share(const HgJoinPath *path, double outer_rows)
{
	if (!path->parallel_hash || list_length(path->restrictlist) > list_length(path->hash_clauses))
		return 1;
	if (path->join_type != JOIN_INNER && path->join_type != JOIN_SEMI &&
		path->join_type != JOIN_RIGHT)
		return 1;
	return Max(Min(path->custom.path.rows / Max(outer_rows, 1), 1), HG_LEAST_PASSED);
}

/*
 * Returns the cost of writing a process's rows of each side to disk and reading them back.
 * spilled: a process that reads all of the inner side must spill.
 */
static Cost
hg_disk_cost(const HgJoinPath *path, const double rows[2], uint32 key_width, bool spilled)
{
	double bytes = 0;
	double pages = 0;
	Cost cost;

	if (!path->parallel_hash && !spilled)
		return 0;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const Path *input = list_nth(path->custom.custom_paths, side);
		int width = input->pathtarget->width;
		double stored = rows[side] * (side == HG_OUTER ? hg_stored_share(path, rows[HG_OUTER]) : 1);

		bytes += stored * (double) hg_held_row_bytes(key_width, width);
		pages += stored * (width + HG_SPILLED_ROW_BYTES) / BLCKSZ;
	}
	cost = 2 * seq_page_cost * pages;
	if (!path->parallel_hash)
		return cost;
	if (bytes <= get_hash_memory_limit())
		return 0;
	return spilled || path->read_once < 0
			   ? cost
			   : cost + (rows[HG_OUTER] + rows[HG_INNER]) * hg_operator_cost(HG_CHUNKED_ROW_NS);
}

/*
 * Returns the cost of asking a device for everything needed of a join of this type, given the cost
 * of one question; negative if it cannot be asked.
 */
static Cost
hg_join_asked_cost(JoinType join_type, Cost question)
{
	switch (join_type)
	{
		case JOIN_LEFT:
		case JOIN_RIGHT:
			/* pairs, and the rows of a side that have one */
			return 2 * question;
		case JOIN_FULL:
			return 3 * question;
		default:
			return question;
	}
}

/* In one piece: one sum, whose parts stand in the order in which the join runs. */
void
hg_join_cost(PlannerInfo *root, HgJoinPath *path, const HgInputCost *const inputs[2],
			 const JoinPathExtraData *extra, const HgJoinKeys *join_keys)
{
	Path *out = &path->custom.path;
	Path *outer = linitial(path->custom.custom_paths);
	Path *inner = lsecond(path->custom.custom_paths);
	int nclauses = list_length(path->hash_clauses);
	bool exact = join_keys->exact;
	uint32 key_width = join_keys->width;
	const QualCost *key_exprs = join_keys->cost;
	Cost keys = hg_operator_cost(nclauses * (exact ? HG_PRICED_KEY_NS : HG_PRICED_HASH_NS) -
								 HG_PRICED_KEY_NS);
	Cost sides[2];
	int workers = Max(outer->parallel_workers, inner->parallel_workers);
	double processes = path->parallel_hash ? hg_join_processes(workers) : 1;
	double rows[2]; /* of each side, of one process */
	Cost reading[2] = {inputs[HG_OUTER]->cost, inputs[HG_INNER]->cost};
	double first;
	double matches;
	double walked;
	double memory;
	double row_bytes; /* of the inner side */
	bool alone = !path->parallel_hash || path->read_once >= 0;
	bool bits;
	bool spilled;
	bool streamed;
	double through;
	double collected = 0;
	int columns[2];
	int rechecked[2];
	HgGraphCost graph;
	QualCost quals;
	Cost startup;
	Cost run;

	out->rows = hg_join_rows(workers, out->param_info != NULL ? out->param_info->ppi_rows
															  : out->parent->rows);
	hg_path_set_disabled_nodes(out, hg_path_disabled_nodes(outer) + hg_path_disabled_nodes(inner));
	path->asked = -1;

	/*
	 * Forced: cheaper than any other path, whatever is disabled; the difference between partial
	 * and other paths lets tests that make a Gather free get one. Forced joins of partitions are
	 * cheaper than a forced join of whole tables, which is still cheaper than any other join.
	 */
	if (hg_force)
	{
		out->startup_cost = 0;
		out->total_cost = out->parallel_workers > 0 ? 0 : HG_FORCED_TOTAL;
		if (hg_partitions_compete(out->parent))
			out->total_cost +=
				(outer->total_cost + inner->total_cost) / 2 + out->rows * cpu_tuple_cost;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}

	hg_count_columns(out, (const Path *[]){outer, inner}, columns);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		/* matches of hashes are rechecked with the values of both sides */
		rechecked[side] = Max(columns[side], nclauses);
		rows[side] = inputs[side]->path->rows / (path->read_once == side ? processes : 1);
	}
	/*
	 * of a process that reads all of the inner side for itself, to which this path may be compared
	 */
	row_bytes = hg_held_row_bytes(key_width, inner->pathtarget->width);
	memory = inner->rows * (path->read_once == HG_OUTER ? processes : 1) * row_bytes;
	bits =
		alone && columns[HG_INNER] == 0 && hg_join_keeps_bits(root, path, memory, exact, key_width);
	streamed = bits || (alone && hg_join_is_streamed(root, path, memory, key_width));
	spilled = memory > get_hash_memory_limit() / 2 && !streamed;
	if (path->parallel_hash)
	{
		collected = path->read_once == HG_INNER && streamed ? inputs[HG_OUTER]->feared_rows : 0;
		streamed = false;
	}
	through = streamed ? hg_through_rows(inputs[HG_OUTER], out->rows) : 0;
	hg_sides_cost(inputs, through, sides);
	if (streamed && hg_join_counts_directly(root, path, columns, exact))
		sides[HG_OUTER] -= outer->rows * hg_operator_cost(HG_STREAM_SAVED_NS);
	sides[HG_OUTER] += outer->rows * keys + (outer->rows - through) * columns[HG_OUTER] *
												hg_operator_cost(HG_PRICED_COLUMN_NS);
	sides[HG_INNER] +=
		inner->rows * (keys + columns[HG_INNER] * hg_operator_cost(HG_PRICED_COLUMN_NS));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sides[side] +=
			key_exprs[side].startup + inputs[side]->path->rows * key_exprs[side].per_tuple;
	hg_share_read_once(sides, path->read_once, workers);
	sides[HG_OUTER] += collected * hg_operator_cost(HG_SHARED_ROW_NS);
	memory = rows[HG_INNER] * row_bytes;
	first = hg_join_first_part(path, memory, key_width, streamed);
	run = (1 - first) * Max(sides[HG_OUTER] - outer->startup_cost, 0);
	startup = sides[HG_INNER] + sides[HG_OUTER] - run;
	startup += hg_disk_cost(path, rows, key_width, spilled);

	path->dense = (inputs[HG_OUTER]->graph || inputs[HG_INNER]->graph) && !path->parallel_hash &&
				  hg_join_keys_are_dense(root, path, exact);
	hg_share_read_once(reading, path->read_once, workers);
	if ((inputs[HG_OUTER]->graph || inputs[HG_INNER]->graph) &&
		hg_graph_cost(root, path, exact ? columns : rechecked, reading,
					  (double) (get_hash_memory_limit() / 2) / row_bytes, &graph))
	{
		if (graph.startup + graph.run < startup + run)
		{
			startup = graph.startup;
			run = graph.run;
			/* they are in graph.run */
			columns[HG_OUTER] = columns[HG_INNER] = 0;
		}
		if (exact && list_length(path->restrictlist) == nclauses)
			path->asked = hg_join_asked_cost(path->join_type, graph.asked);
	}
	matches = hg_join_matches(root, path, extra, rows[HG_OUTER], &walked);
	run += walked * cpu_operator_cost;
	if (!exact || list_length(path->restrictlist) > nclauses)
	{
		cost_qual_eval(&quals, path->restrictlist, root);
		startup += quals.startup;
		/* the values of keys are stored */
		run +=
			matches *
			Max(quals.per_tuple - key_exprs[HG_OUTER].per_tuple - key_exprs[HG_INNER].per_tuple, 0);
	}
	run += out->rows * hg_tuple_cost(HG_FORM_ROW_NS) +
		   ((out->rows - through) * columns[HG_OUTER] + out->rows * columns[HG_INNER]) *
			   hg_operator_cost(HG_PRICED_COLUMN_NS);

	startup += hg_start_cost(workers) +
			   hg_workers_cost(out->parent, workers,
							   inputs[HG_OUTER]->workers + inputs[HG_INNER]->workers) +
			   out->pathtarget->cost.startup;
	run += out->pathtarget->cost.per_tuple * out->rows;
	out->startup_cost = startup;
	out->total_cost = startup + run;
	if (!hg_hashjoin_path_enabled(extra, path->read_once == HG_OUTER ? inner : outer))
		hg_path_disable(out);
}
