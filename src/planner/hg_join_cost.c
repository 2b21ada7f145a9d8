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
 * takes the place of.  It is less than what core asks for its hash join where few columns are
 * returned, and may be more where many are: core's own takes longer all the same, and is removed
 * (hg_core_path.h).  To ask less where core's takes longest would make plans cheaper that join more
 * rows, and let them win from nested loops.  A unit of these takes 3 to 22 us on TPC-H's tables:
 * what their lookups take is reckoned apart (hg_lookup_cost.h), and no path's cost depends on
 * another's.  In detail:
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
 *	start		3000; 9000 where processes share the join, for each of them; and what starting them
 *				costs (hg_input_cost.c)
 *	rows		(O + I) / 2
 *				store the row's key, bin it, build and match; T / 5 less for T outer rows that go
 *				through, from a join of ours into one that joins them as they come and returns as
 *				many
 *				O * 11/10 less where resident outer rows are streamed past dense inner keys and only
 *				counted: that takes 1.5 to 3 ns a row
 *	keys		(O + I) * c / 4 where they are exact; (O + I) * c where they are hashed
 *	columns		(O + I) * columns * 3/20 to keep them, R * columns * 3/20 to gather them again;
 *				nothing for outer ones of the T rows that go through: they stay where they are
 *	quals		as core charges them, for each match; hash clauses again where keys are
 *				hashed and rechecked
 *	result		R * cpu_tuple_cost * 6/10, where rows are formed: 15 to 20 ns
 *	disk		what is over work memory is written and read once, sequentially; but not where
 *				inner keys can be kept as bits (batch/hg_key_bits.h), as far as statistics tell
 *
 * and what inputs save is taken off them: hg_input_cost.c.
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
 * Making the node ready takes 15 us more than core's hash join, and 35 to 50 us in each process
 * of a parallel query; core's unit takes 4 us where there are few rows.  Joins of some hundred
 * rows are faster all the same, as core's takes 120 ns a row and ours 10 to 40 (us of processor
 * time of an execution, prepared, one process, int4 keys or 8 bytes of text):
 *
 *		rows of both sides	200		600		2,000	6,000
 *		core, count(*)		37		87		246		701
 *		ours				31		40		54		95
 *		core, rows			45		102		279		757
 *		ours				45		60		102		205
 *		core, text			43		100		274		766
 *		ours				42		63		108		242
 *
 * Rows that a resident HashGraph has are not read: hg_graph_cost.c.
 *
 * Where processes take a side together that only one of them can read, of the costs C and P of that
 * side and of the others' part of the other one, in each of d processes the sides cost
 *
 *	max(C, C / d + P)	the reader takes C at least, and what it does not do of the other side the
 *						others do meanwhile; each process for itself would take C + P
 *	outer rows * 4		... and so much for each outer row of a process, where that would join them
 *						as they come: collecting and binning them instead takes 20 to 40 ns a row
 *						(2 million rows with one partner each among 1,000 to 50,000), and memory:
 *						the rows are those to be feared (hg_input_cost.h)
 *	all rows * 40		... and for rows that go to disk because both sides are held, where one that
 *						holds the inner side alone takes the outer one a chunk at a time: at least
 *						200 ns a row
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

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_input.h"
#include "engine/cpu/hg_cpu.h"
#include "engine/hg_shape.h"
#include "executor/join/hg_join_cover_cost.h"
#include "hg_guc.h"
#include "planner/hg_graph_cost.h"
#include "planner/hg_join_cost.h"
#include "planner/hg_key_range.h"
#include "planner/hg_planner_run.h"
#include "planner/hg_scan_share.h"

/* Costs in units of cpu_operator_cost (see above): of a join, and of one that processes share; */
#define HG_START_COST 3000.0
#define HG_SHARED_START_COST 9000.0

/* of one row, beside those of hg_input_cost.h. */
#define HG_COUNTED_SAVED 1.1
#define HG_HASHED_KEY_COST 1.0
#define HG_COLUMN_COST 0.15
#define HG_COLLECTED_COST 4.0
#define HG_SPILLED_COST 40.0

/* What a forced join costs, the whole of it. */
#define HG_FORCED_COST 0.001

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

/*
 * What both sides cost until their rows can be joined, but for what keys and columns cost beyond
 * the least.  So many outer rows go through.
 */
static void
hg_sides_cost(const HgInputCost *const inputs[2], double through, Cost sides[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sides[side] = inputs[side]->cost + inputs[side]->path->rows *
											   (HG_ROW_COST + HG_EXACT_KEY_COST) *
											   cpu_operator_cost;
	sides[HG_OUTER] -= through * HG_THROUGH_SAVED * cpu_operator_cost;
}

/* What a join of so many workers costs before anything is read. */
static Cost
hg_start_cost(int workers)
{
	return (workers > 0 ? HG_SHARED_START_COST : HG_START_COST) * cpu_operator_cost;
}

/* Rows of an outer input that go through a join which streams them and returns so many. */
static double
hg_through_rows(const HgInputCost *outer, double rows)
{
	return outer->joined ? Min(outer->path->rows, rows) : 0;
}

/* Rows that a join returns to one process of so many workers', where the relation has so many. */
static double
hg_join_rows(int workers, double rows)
{
	return workers > 0 ? clamp_row_est(rows / hg_join_processes(workers)) : rows;
}

int
hg_join_read_once(const Path *outer, const Path *inner, bool together)
{
	if (!together || (outer->parallel_workers > 0 && inner->parallel_workers > 0))
		return -1;
	return outer->parallel_workers == 0 ? HG_OUTER : HG_INNER;
}

/*
 * What a side costs that one process reads for all: it takes that process so long, while the others
 * read the other side, and then all read what is left of that.
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
				  share->rows * HG_RESULT_COST * cpu_tuple_cost;
}

Cost
hg_join_least_saving(const RelOptInfo *joinrel, const HgJoinShare *share, const HgInputCost *outer,
					 const HgInputCost *inner, bool together)
{
	Cost sides[2] = {outer->least, inner->least};

	sides[HG_OUTER] -= hg_through_rows(outer, share->rows) * HG_THROUGH_SAVED * cpu_operator_cost;
	if (joinrel->reltarget->exprs == NIL && !outer->graph && hg_path_is_cached(outer->path))
		sides[HG_OUTER] -= outer->path->rows * HG_COUNTED_SAVED * cpu_operator_cost;
	hg_share_read_once(sides, hg_join_read_once(outer->path, inner->path, together),
					   share->workers);
	return outer->least -
		   hg_through_rows(outer, share->rows) * HG_THROUGH_SAVED * cpu_operator_cost +
		   inner->least - sides[HG_OUTER] - sides[HG_INNER];
}

/* What is known of devices: it is asked for once in a run of the planner. */
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
 * May the outer rows of a join be joined as they come, whatever the inner side is, by a process
 * that has read all of it?
 */
static bool
hg_join_may_be_streamed(const PlannerInfo *root, const HgJoinPath *path, uint32 key_width)
{
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);

	return (path->join_type == JOIN_INNER || path->join_type == JOIN_RIGHT ||
			path->join_type == JOIN_SEMI) &&
		   hg_matcher_may_stream(hg_known_device(root), key_width,
								 (uint64) Min(outer->rows, HG_MAX_ROWS),
								 (uint64) Min(inner->rows, HG_MAX_ROWS), path->custom.path.rows);
}

/* Are they, as far as is known before keys have been seen? */
static bool
hg_join_is_streamed(const PlannerInfo *root, const HgJoinPath *path, double inner_bytes,
					uint32 key_width)
{
	const Path *inner = lsecond(path->custom.custom_paths);

	return inner_bytes <= get_hash_memory_limit() / 2 &&
		   hg_cpu_graph_is_near(key_width, hg_load_factor, inner->rows) &&
		   hg_join_may_be_streamed(root, path, key_width);
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
		   hg_key_range(root, clause, !clause->outer_is_left, &range) &&
		   (!range.repeats || path->join_type == JOIN_SEMI || path->inner_unique) &&
		   2 * range.size / BITS_PER_BYTE <= get_hash_memory_limit() / 2.0 &&
		   hg_join_may_be_streamed(root, path, key_width);
}

/*
 * Are the inner keys so dense that each is its own vertex (engine/cpu/hg_cpu_direct.c), as far as
 * statistics tell?
 */
static bool
hg_join_keys_are_dense(PlannerInfo *root, const HgJoinPath *path, bool exact)
{
	const RestrictInfo *clause = linitial_node(RestrictInfo, path->hash_clauses);
	const Path *outer = linitial(path->custom.custom_paths);
	const Path *inner = lsecond(path->custom.custom_paths);
	const HgJobSpec spec = {.build = (HgBuildAlgorithm) hg_build,
							.probe = (HgProbeAlgorithm) hg_probe,
							.load_factor = hg_load_factor,
							.bins = (uint32) hg_bins,
							.direct = true};
	HgKeyRange range;

	return exact && list_length(path->hash_clauses) == 1 &&
		   hg_key_range(root, clause, !clause->outer_is_left, &range) &&
		   range.size <= (double) hg_shape_direct_vertices(&spec,
														   (uint64) Min(outer->rows, HG_MAX_ROWS),
														   (uint64) Min(inner->rows, HG_MAX_ROWS));
}

/* Are resident outer rows that are streamed past dense inner keys only counted? */
static bool
hg_join_counts_directly(PlannerInfo *root, const HgJoinPath *path, const int columns[2], bool exact)
{
	return columns[HG_OUTER] == 0 && columns[HG_INNER] == 0 &&
		   list_length(path->restrictlist) == 1 &&
		   hg_path_is_cached(linitial(path->custom.custom_paths)) &&
		   hg_join_keys_are_dense(root, path, exact);
}

/*
 * The part of the outer rows that is read before the first row is returned: a batch, or what work
 * memory holds beside the inner rows, which take so many bytes.
 */
static double
hg_join_first_part(const HgJoinPath *path, double inner_bytes, uint32 key_width, bool streamed)
{
	const Path *outer = linitial(path->custom.custom_paths);
	double limit;
	double outer_bytes;

	if (streamed)
		return Min(HG_BATCH_ROWS / Max(outer->rows, 1), 1);
	if (path->together)
		return 1;
	limit = get_hash_memory_limit();
	outer_bytes = outer->rows * (double) hg_input_row_bytes(key_width, outer->pathtarget->width);
	if (inner_bytes > limit / 2 || outer_bytes <= limit - inner_bytes)
		return 1;
	return (limit - inner_bytes) / outer_bytes;
}

/*
 * How many matches meet the quals: all; or about one of each outer row that has any, for semi and
 * anti joins and unique inner rows.  The mirror images of the former look at all matches and take
 * few of them, and so do joins with quals beside their hash clauses: *walked is their number, 0 for
 * the others, whose matches are paid as rows.  A process has so many outer rows.
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

/*
 * What going to disk costs a process that has so many rows of each side, once out and once back.
 * spilled: where it reads all of the inner side, it must.
 */
static Cost
hg_disk_cost(const HgJoinPath *path, const double rows[2], uint32 key_width, bool spilled)
{
	double bytes = 0;
	double pages = 0;
	Cost cost;

	if (path->read_once < 0 && !spilled)
		return 0;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const Path *input = list_nth(path->custom.custom_paths, side);
		int width = input->pathtarget->width;

		bytes += rows[side] * (double) hg_input_row_bytes(key_width, width);
		pages += rows[side] * (width + 16) / BLCKSZ;
	}
	cost = 2 * seq_page_cost * pages;
	if (path->read_once < 0)
		return cost;
	if (bytes <= get_hash_memory_limit())
		return 0;
	return spilled ? cost
				   : cost + (rows[HG_OUTER] + rows[HG_INNER]) * HG_SPILLED_COST * cpu_operator_cost;
}

/*
 * What it costs to ask a device for all that is wanted of a join of this type, where one question
 * costs so much; negative: it can't be asked.
 */
static Cost
hg_join_asked_cost(JoinType join_type, Cost question)
{
	switch (join_type)
	{
		case JOIN_LEFT:
		case JOIN_RIGHT:
			/* pairs, and rows of a side that have one */
			return 2 * question;
		case JOIN_FULL:
			return 3 * question;
		default:
			return question;
	}
}

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
	Cost keys = (nclauses * (exact ? HG_EXACT_KEY_COST : HG_HASHED_KEY_COST) - HG_EXACT_KEY_COST) *
				cpu_operator_cost;
	Cost sides[2];
	int workers = Max(outer->parallel_workers, inner->parallel_workers);
	double processes = path->together ? hg_join_processes(workers) : 1;
	double rows[2]; /* of each side, of one process */
	Cost reading[2] = {inputs[HG_OUTER]->cost, inputs[HG_INNER]->cost};
	double first;
	double matches;
	double walked;
	double memory;
	double row_bytes; /* of the inner side */
	bool alone = !path->together || path->read_once >= 0;
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
	 * force: cheaper than anything else can be, whatever it would really cost and whatever else
	 * is disabled; with a difference that makes tests which ask for nothing for a Gather get one.
	 * Forced joins of partitions are cheaper than one of the whole tables, which is still cheaper
	 * than those of others.
	 */
	if (hg_force)
	{
		out->startup_cost = 0;
		out->total_cost = out->parallel_workers > 0 ? 0 : HG_FORCED_COST;
		if (hg_partitions_compete(out->parent))
			out->total_cost +=
				(outer->total_cost + inner->total_cost) / 2 + out->rows * cpu_tuple_cost;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}

	hg_count_columns(out, (const Path *[]){outer, inner}, columns);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		/* matches of hashes are rechecked by the values of both sides */
		rechecked[side] = Max(columns[side], nclauses);
		rows[side] = inputs[side]->path->rows / (path->read_once == side ? processes : 1);
	}
	/* of a process that reads all of the inner side for itself, be it that this is compared with it
	 */
	row_bytes = hg_input_row_bytes(key_width, inner->pathtarget->width);
	memory = inner->rows * (path->read_once == HG_OUTER ? processes : 1) * row_bytes;
	bits =
		alone && columns[HG_INNER] == 0 && hg_join_keeps_bits(root, path, memory, exact, key_width);
	streamed = bits || (alone && hg_join_is_streamed(root, path, memory, key_width));
	spilled = memory > get_hash_memory_limit() / 2 && !bits;
	if (path->together)
	{
		collected = path->read_once == HG_INNER && streamed ? inputs[HG_OUTER]->feared_rows : 0;
		streamed = false;
	}
	through = streamed ? hg_through_rows(inputs[HG_OUTER], out->rows) : 0;
	hg_sides_cost(inputs, through, sides);
	if (streamed && hg_join_counts_directly(root, path, columns, exact))
		sides[HG_OUTER] -= outer->rows * HG_COUNTED_SAVED * cpu_operator_cost;
	sides[HG_OUTER] += outer->rows * keys + (outer->rows - through) * columns[HG_OUTER] *
												HG_COLUMN_COST * cpu_operator_cost;
	sides[HG_INNER] +=
		inner->rows * (keys + columns[HG_INNER] * HG_COLUMN_COST * cpu_operator_cost);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sides[side] +=
			key_exprs[side].startup + inputs[side]->path->rows * key_exprs[side].per_tuple;
	hg_share_read_once(sides, path->read_once, workers);
	sides[HG_OUTER] += collected * HG_COLLECTED_COST * cpu_operator_cost;
	memory = rows[HG_INNER] * row_bytes;
	first = hg_join_first_part(path, memory, key_width, streamed);
	run = (1 - first) * Max(sides[HG_OUTER] - outer->startup_cost, 0);
	startup = sides[HG_INNER] + sides[HG_OUTER] - run;
	startup += hg_disk_cost(path, rows, key_width, spilled);

	path->dense = (inputs[HG_OUTER]->graph || inputs[HG_INNER]->graph) && !path->together &&
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
			/* they are in that price */
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
	run += out->rows * HG_RESULT_COST * cpu_tuple_cost +
		   ((out->rows - through) * columns[HG_OUTER] + out->rows * columns[HG_INNER]) *
			   cpu_operator_cost * HG_COLUMN_COST;

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
