/*-------------------------------------------------------------------------
 *
 * hg_join_chunk.c
 *	  The join node's phases that read its inputs and build HashGraphs: chunks and partitions.
 *
 * See hg_join.c for the phases.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_state.h"

/* If processes share outer rows: the least size of a chunk, and its part of earlier rows. */
#define HG_SHARED_CHUNK_ROWS 256
#define HG_SHARED_CHUNK_PART 8

/* ---------------------------------------------------------------------
 * Memory
 * ---------------------------------------------------------------------
 */

/* Reads rows of a side until there are no more, limit bytes or max_rows rows are in memory. */
static void
hg_join_fill(HgInput *input, HgJoinRecord *record, uint64 limit, uint64 max_rows)
{
	double start = hg_clock_ms();

	input->held.budget.limit = limit;
	hg_input_fill(input, max_rows);
	record->scan_ms += hg_clock_ms() - start;
}

/*
 * Reads inner rows up to a part of the limit.  Memory that the outer side has reserved for its next
 * rows must not exceed the rest.
 */
static void
hg_join_fill_inner_part(HgJoinState *state, double part, uint64 max_rows)
{
	uint64 limit = hg_join_limit(&state->memory);
	uint64 inner = (uint64) (part * (double) limit);

	if (!state->reading.outer_ready &&
		hg_held_reserved(&state->inputs[HG_OUTER]->held) > limit - inner)
		hg_held_release(&state->inputs[HG_OUTER]->held);
	hg_join_fill(state->inputs[HG_INNER], &state->progress.record, inner, max_rows);
}

/* Reads a chunk of the inner side: up to half of the limit, or more if outer rows are streamed. */
static void
hg_join_fill_inner(HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];
	uint64 rows = (uint64) hg_matcher_stream_rows(inner->held.words->width);

	hg_join_fill_inner_part(state, 0.5, PG_UINT64_MAX);
	if (!inner->at_end && !state->reading.outer_ready && hg_held_count(&inner->held) < rows &&
		hg_join_expects_stream(state))
		hg_join_fill_inner_part(state, HG_STREAM_SHARE, rows);
}

/* ---------------------------------------------------------------------
 * Runtime filters
 * ---------------------------------------------------------------------
 */

/* hg_filter_create() or hg_filter_begin(). */
typedef HgFilter *(*HgFilterMaker)(const HgKeySet *keys, uint32 key_width, uint64 bytes);

/* Returns a filter of the keys of a side in memory.  Returns NULL if memory is short. */
static HgFilter *
hg_join_make_filter(HgJoinState *state, HgSide side, HgFilterMaker make)
{
	const HgKeyColumn *words = state->inputs[side]->held.words;
	HgKeySet held = hg_key_column_set(words);
	HgFilter *filter;
	MemoryContext old;

	old = MemoryContextSwitchTo(state->memory.context);
	filter = make(&held, words->width, hg_join_limit(&state->memory) / HG_FILTER_SHARE);
	if (filter != NULL)
		hg_filter_charge(filter, &state->memory.files, 1);
	MemoryContextSwitchTo(old);
	return filter;
}

/* Makes the runtime filter, before the outer child is read, if all inner rows are in memory. */
static void
hg_join_set_filter(HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];
	HgFilter *filter = NULL;

	/* the keys of covered rows are not known here */
	if (inner->child.covered == NULL &&
		hg_join_filter_may_pay(state, HG_INNER, (double) inner->held.words->rows,
							   hg_join_planned_rows(state, HG_OUTER)))
		filter = hg_join_make_filter(state, HG_INNER, hg_filter_create);
	hg_child_set_filter(&state->inputs[HG_OUTER]->child, filter);
}

/* Returns the expected number of a side's rows with a key, which are not all in memory. */
static double
hg_join_rows_to_disk(const HgJoinState *state, HgSide side)
{
	/* the plan's estimate is of all rows, and may be low */
	return Max(state->inputs[side]->child.plan->plan->plan_rows,
			   2.0 * (double) hg_held_keys(&state->inputs[side]->held));
}

/*
 * Returns the side that goes to disk first.  *filter collects its keys, which reject rows of the
 * other side; or it is NULL.
 */
static HgSide
hg_join_first_to_disk(HgJoinState *state, HgFilter **filter)
{
	*filter = NULL;
	if (state->inputs[HG_INNER]->child.covered != NULL)
		return HG_INNER;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		double rows = hg_join_rows_to_disk(state, (HgSide) side);
		double other_rows = hg_join_rows_to_disk(state, hg_other_side((HgSide) side));

		if (!hg_join_filter_may_pay(state, (HgSide) side, rows, other_rows))
			continue;
		*filter = hg_join_make_filter(state, (HgSide) side, hg_filter_begin);
		return (HgSide) side;
	}
	return HG_INNER;
}

/* ---------------------------------------------------------------------
 * Partitions
 * ---------------------------------------------------------------------
 */

/* Returns the number of chunks of the current partition's inner rows, by the first one. */
static double
hg_join_inner_chunks(const HgInput *inner)
{
	return (double) inner->partition.spill->rows[inner->partition.number] /
		   Max(hg_held_count(&inner->held), 1);
}

/* Moves a side to disk, from where it is read now. */
static void
hg_join_spill_side(HgJoinState *state, HgSide side, HgSpill *spill)
{
	hg_join_enter(&state->progress, side == HG_INNER ? HG_JOIN_READ_INNER : HG_JOIN_READ_OUTER);
	hg_input_spill(state->inputs[side], spill);
}

/*
 * Spills both sides with the same partitioning at a level, each from where it is read now.  The
 * inner input holds its first rows in memory.
 */
static void
hg_join_partition(HgJoinState *state, int level)
{
	const HgInput *inner = state->inputs[HG_INNER];
	/* the plan's estimate is of all rows, and may be low */
	double covered = inner->child.covered != NULL ? (double) inner->child.covered->rows : 0;
	double expected = level == 0 ? hg_join_expected_bytes(inner, covered)
								 : inner->held.budget.charged * hg_join_inner_chunks(inner);
	int bits = hg_join_partition_bits(&state->memory, expected);
	HgFilter *filter = NULL;
	HgSide first = level == 0 ? hg_join_first_to_disk(state, &filter) : HG_INNER;
	HgSide second = hg_other_side(first);
	HgSpill *sides[2];
	double start;
	MemoryContext old;

	old = MemoryContextSwitchTo(state->memory.context);
	hg_join_end_upload(&state->upload, state->inputs);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sides[side] = hg_spill_create(state->inputs[side]->held.rows, level, bits, true,
									  &state->memory.files);
	hg_join_spill_push(&state->spill, sides, NULL);
	MemoryContextSwitchTo(old);

	start = hg_clock_ms();
	hg_child_set_collector(&state->inputs[first]->child, filter);
	hg_join_spill_side(state, first, sides[first]);
	hg_child_set_collector(&state->inputs[first]->child, NULL);
	hg_child_set_filter(&state->inputs[second]->child, filter);
	hg_join_spill_side(state, second, sides[second]);
	hg_child_set_filter(&state->inputs[second]->child, NULL);
	/* the cached rows are in the files now */
	state->reading.outer_held = state->reading.outer_ready = false;
	state->reading.spilled = true;
	state->progress.record.scan_ms += hg_clock_ms() - start;
	state->progress.record.partitions += 1 << bits;
	state->progress.record.spilled_bytes += hg_join_spill_finish(&state->spill);
}

/* ---------------------------------------------------------------------
 * The inner side
 * ---------------------------------------------------------------------
 */

/* Goes to disk with all rows of both sides, or with delta rows if inner rows stay covered. */
static void
hg_join_go_to_disk(HgJoinState *state)
{
	if (state->inputs[HG_INNER]->child.covered == NULL)
		hg_join_uncover(state->inputs[HG_OUTER]);
	else
	{
		if (!state->inputs[HG_OUTER]->at_end)
			hg_join_cover(state, HG_OUTER);
		hg_join_covered_meet_partitions(&state->cover, state->matched);
	}
	hg_join_partition(state, 0);
}

/* Ends a pass, which has met all outer rows.  Returns the next phase. */
static HgJoinPhase
hg_join_end_pass(HgJoinState *state)
{
	return hg_join_emit_unmatched(state, HG_INNER, HG_JOIN_NEXT_INNER);
}

/* Starts a pass with the chunk of the inner side in memory.  Returns the next phase. */
static HgJoinPhase
hg_join_start_pass(HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];

	state->reading.inner_chunks++;
	state->reading.outer_chunks = 0;
	hg_join_matched_begin(&state->matched[HG_INNER], state->rules.preserved[HG_INNER],
						  state->rules.single_inner);
	hg_join_matched_reset(&state->matched[HG_INNER],
						  hg_join_lasting_ordinals(&state->cover, state->inputs[HG_INNER]),
						  hg_input_count_ordinals(inner));
	/* no outer row would be returned: the outer side need not be read */
	if (hg_join_is_empty_without(&state->rules, HG_INNER) && hg_held_keys(&inner->held) == 0 &&
		(inner->child.covered == NULL || inner->child.covered->rows == 0))
	{
		hg_join_end_upload(&state->upload, state->inputs);
		return hg_join_end_pass(state);
	}
	return HG_JOIN_READ_OUTER;
}

/*
 * Returns true if the first outer row is fetched before the inner child is read.  It is if an
 * empty inner side would not save reading the outer one.  Otherwise it is if looking in vain is
 * expected to cost less there: a side that is expected to have n rows is taken to be empty with
 * probability 1/n, which saves reading the other side if it was checked first.  An execution that
 * found outer rows makes the next one expect them.
 */
static bool
hg_join_looks_at_outer(const HgJoinState *state)
{
	const Plan *outer = state->inputs[HG_OUTER]->child.plan->plan;
	const Plan *inner = state->inputs[HG_INNER]->child.plan->plan;
	const double outer_rows = Max(outer->plan_rows, 1);
	const double inner_rows = Max(inner->plan_rows, 1);
	const Cost first_row =
		outer->startup_cost + (outer->total_cost - outer->startup_cost) / outer_rows;

	/* cached inner rows cost nothing */
	if (state->inputs[HG_INNER]->at_end || hg_join_may_yet_cover(state, HG_OUTER))
		return false;
	return !hg_join_is_empty_without(&state->rules, HG_INNER) ||
		   (!state->reading.outer_found && first_row / inner_rows < inner->total_cost / outer_rows);
}

/* Returns true if the outer side is known to be empty and so nothing is returned. */
static bool
hg_join_outer_is_empty(HgJoinState *state)
{
	HgJoinReading *reading = &state->reading;
	HgInput *outer = state->inputs[HG_OUTER];
	double start;
	bool empty;

	if (!hg_join_is_empty_without(&state->rules, HG_OUTER) ||
		(!reading->outer_ready && !hg_join_looks_at_outer(state)))
		return false;
	/* after the first row was fetched, no rows can be covered */
	hg_join_cover(state, HG_OUTER);
	start = hg_clock_ms();
	empty = hg_input_is_empty(outer);
	state->progress.record.scan_ms += hg_clock_ms() - start;
	reading->outer_found = !empty;
	if (empty)
	{
		/* an outer side that stays the same is not read again */
		reading->outer_held = true;
		reading->outer_ready = false;
	}
	return empty;
}

/*
 * Reads outer rows until it is known whether a nested loop joins them; returns true if it does.
 * Otherwise they are the first rows to be hashed.
 */
static bool
hg_join_counts_few(HgJoinState *state)
{
	if (state->lookup.loop == NULL)
		return false;
	if (!state->reading.outer_ready)
	{
		/* covered rows could not be passed to the nested loop */
		state->inputs[HG_OUTER]->child.cover.decided = true;
		hg_join_fill(state->inputs[HG_OUTER], &state->progress.record,
					 hg_join_limit(&state->memory) / 2, hg_join_lookup_rows(&state->lookup));
		state->reading.outer_ready = hg_held_count(&state->inputs[HG_OUTER]->held) > 0;
	}
	return hg_join_choose_lookup(state);
}

HgJoinPhase
hg_join_read_inner(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgJobColumns columns;
	uint64 rows;

	if (state->parallel_hash && state->participants.shared != NULL)
		return hg_join_parallel_read(state);
	if (hg_join_ask_star(state, &rows))
		return hg_join_emit_empty(&state->emission, &state->output, rows, HG_JOIN_READ_INNER);
	if (hg_join_ask_pages(state, &rows))
		return hg_join_emit_empty(&state->emission, &state->output, rows, HG_JOIN_DONE);
	if (hg_join_counts_few(state))
		return hg_join_emit_looked_up(state);
	if (hg_join_outer_is_empty(state))
		return HG_JOIN_DONE;
	if (!inner->at_end)
	{
		/* there may be fewer rows than in the last execution */
		state->streaming.declined = false;
		hg_join_cover(state, HG_INNER);

		/*
		 * A filter may select among cached rows when all are there, and upload needs both sides.
		 */
		if (!state->reading.outer_ready && !state->rescan.outer_whole &&
			!hg_join_expects_covered(state) && hg_join_may_upload(state, 1, &columns))
			hg_join_begin_upload(state, 1, 0, &columns);
		hg_join_fill_inner(state);
		/* delta rows beside covered rows must all be in memory, or go to disk */
		if (!inner->at_end && inner->child.covered != NULL && !hg_join_stays_covered(state))
		{
			hg_join_uncover(state->inputs[HG_INNER]);
			hg_join_fill_inner(state);
		}
		/* rows that do not fit go to files, or their keys become bits, and a device gets neither */
		if (!inner->at_end)
			hg_join_end_upload(&state->upload, state->inputs);
		if (!inner->at_end && hg_join_may_take_bits(state))
			hg_join_take_bits(state);
	}
	if (!inner->at_end)
	{
		hg_join_go_to_disk(state);
		return HG_JOIN_NEXT_PARTITION;
	}
	state->reading.inner_chunks = 0;
	/* a rescan that caches the inner side caches its filter too */
	if ((!state->reading.outer_ready || !state->inputs[HG_OUTER]->at_end) &&
		!state->rescan.outer_whole && inner->held.bits == NULL &&
		state->inputs[HG_OUTER]->child.filtering.filter == NULL)
		hg_join_set_filter(state);
	return hg_join_start_pass(state);
}

/* Joins the covered rows of both sides, if any, after all partitions.  Returns the next phase. */
static HgJoinPhase
hg_join_end_partitions(HgJoinState *state)
{
	if (!hg_join_covered_meet_covered(&state->cover))
		return HG_JOIN_DONE;
	hg_join_end_matches(state);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_input_end_partitions(state->inputs[side]);
	state->reading.inner_chunks = 0;
	return hg_join_start_pass(state);
}

HgJoinPhase
hg_join_next_partition(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];
	const bool covered[2] = {outer->child.covered != NULL, inner->child.covered != NULL};
	HgPartitions *partitions;

	hg_row_bits_forget(state->matched[HG_OUTER].bits);
	while ((partitions = hg_join_spill_next(&state->spill, &state->rules, covered)) != NULL)
	{
		hg_join_enter(&state->progress, HG_JOIN_NEXT_PARTITION);
		hg_join_end_matches(state);
		hg_progress_report(&state->progress.shown);
		hg_input_set_partition(inner, partitions->sides[HG_INNER], partitions->current);
		hg_input_set_partition(outer, partitions->sides[HG_OUTER], partitions->current);
		hg_join_fill_inner(state);
		if (inner->at_end ||
			!hg_join_spill_pays(partitions, hg_join_inner_chunks(inner), covered[HG_OUTER]))
		{
			state->reading.inner_chunks = 0;
			return hg_join_start_pass(state);
		}
		hg_join_partition(state, partitions->sides[HG_INNER]->level + 1);
		hg_join_spill_drop_current(partitions);
	}
	return hg_join_end_partitions(state);
}

HgJoinPhase
hg_join_next_inner(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];

	if (inner->at_end)
		return hg_join_is_spilled(&state->spill) ? HG_JOIN_NEXT_PARTITION : HG_JOIN_DONE;

	/* the next chunk of a partition meets all of its outer rows again */
	hg_join_end_matches(state);
	hg_held_clear(&inner->held);
	if (state->reading.outer_chunks > 0)
	{
		hg_input_set_partition(outer, outer->partition.spill, outer->partition.number);
		hg_row_bits_next_reading(state->matched[HG_OUTER].bits);
	}
	hg_join_fill_inner(state);
	return hg_join_start_pass(state);
}

/* ---------------------------------------------------------------------
 * The outer side
 * ---------------------------------------------------------------------
 */

/*
 * Returns the expected number of matches of the rows in memory: the plan's number, times their
 * share of both sides.  If there are more rows than planned, each has as many matches as planned.
 */
static double
hg_join_expected_pairs(const HgJoinState *state)
{
	double pairs = state->css.ss.ps.plan->plan_rows;
	double more = 1;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];
		uint64 rows = input->held.words->rows;
		double share;

		if (hg_join_joins_covered(state, (HgSide) side))
			rows += input->child.covered->rows;
		share = (double) rows / Max(input->child.plan->plan->plan_rows, 1);

		pairs *= Min(share, 1);
		more = Max(more, share);
	}
	return pairs * more;
}

/*
 * Returns the number of rows of the next outer chunk.  If processes share the outer child's rows
 * out and each returns its own, none may read far ahead: the nodes above may take a hundred times
 * as long per row, and all would wait for the process that read most.  So a chunk is a part of the
 * rows before.
 */
static uint64
hg_join_chunk_rows(const HgJoinState *state)
{
	const HgInput *outer = state->inputs[HG_OUTER];
	uint64 rows = HG_SHARED_CHUNK_ROWS;

	if (state->parallel_hash || !state->css.ss.ps.plan->parallel_aware || state->rewind ||
		state->upload != NULL || !hg_join_streams(&state->rules, state->matched))
		return PG_UINT64_MAX;
	rows = Max(rows, (outer->child.rows_read - outer->child.null_keys) / HG_SHARED_CHUNK_PART);
	/* each chunk builds the inner side's graph again */
	return Max(rows, state->inputs[HG_INNER]->held.words->rows);
}

/*
 * Reads the whole outer child if it fits into half of the limit, which cached rows must do.
 * Otherwise goes on with a filter, up to limit bytes.
 */
static void
hg_join_fill_outer_whole(HgJoinState *state, uint64 limit)
{
	hg_join_fill(state->inputs[HG_OUTER], &state->progress.record,
				 Min(limit, hg_join_limit(&state->memory) / 2), PG_UINT64_MAX);
	if (state->inputs[HG_OUTER]->at_end)
		return;
	state->rescan.outer_whole = false;
	state->rescan.outer_large = true;
	hg_join_set_filter(state);
	hg_join_fill(state->inputs[HG_OUTER], &state->progress.record, limit, PG_UINT64_MAX);
}

/*
 * Reads the next outer chunk, with its match bits from earlier inner chunks; false: none is left.
 */
static bool
hg_join_next_chunk(HgJoinState *state)
{
	HgInput *outer = state->inputs[HG_OUTER];
	HgJoinMatched *matched = &state->matched[HG_OUTER];
	uint64 limit = hg_join_limit(&state->memory);
	uint64 used = state->inputs[HG_INNER]->held.budget.charged;
	uint64 lasting = hg_join_lasting_ordinals(&state->cover, state->inputs[HG_OUTER]);

	state->reading.outer_held = false;
	hg_held_clear(&outer->held);
	if (hg_row_bits_has_previous(matched->bits))
	{
		HgRowCounts counts;

		if (!hg_row_bits_restore(matched->bits, lasting, &counts))
			return false;
		hg_join_fill(state->inputs[HG_OUTER], &state->progress.record, PG_UINT64_MAX,
					 counts.rows + counts.null_rows);
		if (outer->held.words->rows != counts.rows ||
			outer->held.null_rows->rows != counts.null_rows)
			elog(ERROR, "a partition of a join has changed between two readings");
	}
	else
	{
		/* leave later inner chunks all of their half from the start */
		if (!state->inputs[HG_INNER]->at_end || used > limit / 2)
			used = limit / 2;
		if (!outer->at_end && state->rescan.outer_whole && !hg_join_is_spilled(&state->spill))
			hg_join_fill_outer_whole(state, limit - used);
		else if (!outer->at_end)
			hg_join_fill(state->inputs[HG_OUTER], &state->progress.record, limit - used,
						 hg_join_chunk_rows(state));
		if (hg_held_count(&outer->held) == 0 &&
			(outer->child.covered == NULL || state->reading.outer_chunks > 0))
			return false;
		hg_join_matched_reset(matched, lasting, hg_input_count_ordinals(outer));
	}
	state->reading.outer_chunks++;
	state->reading.outer_held =
		outer->at_end && state->reading.outer_chunks == 1 && !hg_join_is_spilled(&state->spill);
	return true;
}

HgJoinPhase
hg_join_read_outer(HgJoinState *state)
{
	HgJoinReading *reading = &state->reading;
	HgJoinMatched *matched = &state->matched[HG_OUTER];
	const HgInput *inner = state->inputs[HG_INNER];
	const HgInput *outer = state->inputs[HG_OUTER];
	bool passes = !inner->at_end || reading->inner_chunks > 1;
	HgMatcherSpec spec = {0};

	/* all processes have joined the only chunk */
	if (state->participants.joined)
		return hg_join_end_pass(state);
	/* joined in one chunk: a rescan can use the input and the HashGraphs again */
	if (state->rewind && outer->at_end && reading->outer_chunks == 1 &&
		!hg_join_is_spilled(&state->spill) && !reading->outer_ready)
		return hg_join_end_pass(state);
	hg_join_end_matches(state);
	/* keys that are bits are joined with rows that are read */
	if (!reading->outer_ready && inner->held.bits == NULL)
		hg_join_cover(state, HG_OUTER);
	hg_join_matched_begin(matched, state->rules.preserved[HG_OUTER],
						  (state->rules.single_match && passes) ||
							  hg_join_covered_repeats(state, inner->held.words->rows));
	if (reading->outer_ready)
	{
		reading->outer_ready = false;
		reading->outer_chunks = 1;
		hg_join_matched_reset(matched, 0, hg_input_count_ordinals(outer));
	}
	else if (hg_join_may_stream(state) && hg_join_begin_stream(state))
		return hg_join_emit_streamed(state);
	else if (!hg_join_next_chunk(state))
	{
		hg_join_end_upload(&state->upload, state->inputs);
		return hg_join_end_pass(state);
	}
	if (!hg_join_select_cached(state))
		return hg_join_end_chunk(state);
	if (hg_join_counts_unmatched(state))
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			hg_join_matched_begin(&state->matched[side], false, false);
	spec.pairs = hg_join_expected_pairs(state);
	hg_join_create_matcher(state, &spec);
	return hg_join_emit_joined(state);
}

HgJoinPhase
hg_join_end_chunk(HgJoinState *state)
{
	const HgInput *outer = state->inputs[HG_OUTER];

	if (state->participants.joined)
		hg_join_leave(&state->participants, true);
	/* its rows have met the whole inner side */
	if (state->inputs[HG_INNER]->at_end)
		return hg_join_emit_unmatched(state, HG_OUTER, HG_JOIN_READ_OUTER);
	if (state->matched[HG_OUTER].tracked)
		hg_row_bits_save(state->matched[HG_OUTER].bits,
						 hg_join_lasting_ordinals(&state->cover, state->inputs[HG_OUTER]),
						 (HgRowCounts){outer->held.words->rows, outer->held.null_rows->rows});
	return HG_JOIN_READ_OUTER;
}
