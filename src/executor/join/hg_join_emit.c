/*-------------------------------------------------------------------------
 *
 * hg_join_emit.c
 *	  The rows that the join node returns, batch by batch.
 *
 * hg_join.c returns rows of one kind after the other (HgRowKind).
 *
 * COUNTING.  A join that returns rows without a match keeps a bit for each row of that side, so it
 * must see each match.  If only the number of rows is needed, it follows from the number of rows
 * that have a match.  That is a count like the number of all matches, which graphs, or a device
 * with replicas of them, can return.  All rows of both sides must be covered: with delta rows, the
 * parts of hg_match_resident.c would each count the matches of a row.
 *
 * STREAMING.  If the inner HashGraph stays in a near cache, or dense inner keys are the vertices of
 * a table (engine/cpu/hg_cpu_direct.c), outer rows need not be collected.  Each batch of the child
 * is looked up when it comes, and its columns are handed up without having been stored.  Several
 * such joins form a pipeline, through which a batch goes while it is in the nearest cache.  The
 * outer side takes no memory, however large it is.
 *
 * Streaming needs a complete inner side, and outer rows that are not needed again: neither because
 * they have no match, nor by another execution.
 *
 * BITS.  If only the existence of inner rows matters, and they are more than work memory holds,
 * their keys can be kept as bits if they are close together.  Then neither side takes memory per
 * row, and nothing goes to disk.  This is tried when memory is full, with the keys read so far.
 * If it does not work out, the rows go to disk as they would have otherwise.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "executor/join/hg_join_replica.h"
#include "executor/join/hg_join_state.h"

/* ---------------------------------------------------------------------
 * Matches
 * ---------------------------------------------------------------------
 */

/* The matches that a batch is made of. */
typedef struct HgMatchRows
{
	const uint32 *outer; /* [count] */
	const uint32 *inner; /* [count] */
	int count;
	size_t first;		 /* match i is number first + which[i] of the chunk */
	const uint16 *which; /* [count] or NULL: match i is number first + i */

	/* storage of outer, inner and which after matches were left out */
	uint32 selected_outer[HG_BATCH_ROWS];
	uint32 selected_inner[HG_BATCH_ROWS];
	uint16 selected_which[HG_BATCH_ROWS];
} HgMatchRows;

/* Gets the next matches, of a stream if there is one; returns false if there are no more. */
static bool
hg_join_take_matches(HgJoinState *state, const HgInputStream *stream, HgMatchRows *matches)
{
	HgJoinEmission *emission = &state->emission;
	bool more;

	CHECK_FOR_INTERRUPTS();
	if (emission->next == emission->count)
	{
		emission->next = 0;
		more = hg_matcher_next(state->matching.matcher, &emission->outer, &emission->inner,
							   &emission->count);
		hg_join_charge_job(&state->matching);
		/* the progress of a stream is reported with its outer rows */
		if (stream == NULL)
			hg_progress_step(&state->progress.shown, more ? (int) emission->count : 0);
		if (!more)
		{
			emission->count = 0;
			return false;
		}
	}
	matches->count = (int) Min(emission->count - emission->next, HG_BATCH_ROWS);
	matches->outer = emission->outer + emission->next;
	matches->inner = emission->inner + emission->next;
	matches->first = emission->next;
	matches->which = NULL;
	emission->next += matches->count;
	return true;
}

/* Returns true if neither row of a match has as many matches as it may have. */
static inline bool
hg_join_match_counts(const HgJoinState *state, uint32 outer_row, uint32 inner_row)
{
	return !hg_join_row_is_finished(state, outer_row) &&
		   !(state->matched[HG_INNER].once && hg_join_is_matched(state, HG_INNER, inner_row));
}

/* Records that a row has found a match; false: it may have only one, from another process. */
static inline bool
hg_join_note_row(HgJoinState *state, HgSide side, uint32 row)
{
	const HgJoinMatched *matched = &state->matched[side];

	return !matched->tracked ||
		   hg_row_bits_set(matched->bits, hg_child_ordinal(&state->inputs[side]->child, row)) ||
		   !matched->once;
}

/* Records a match for both rows.  Returns false if it does not count after all. */
static inline bool
hg_join_note_match(HgJoinState *state, uint32 outer_row, uint32 inner_row)
{
	/* rows of at most one side are limited to one match: that side decides, so it comes first */
	HgSide first = state->matched[HG_INNER].once ? HG_INNER : HG_OUTER;

	if (!hg_join_note_row(state, first, first == HG_OUTER ? outer_row : inner_row))
		return false;
	(void) hg_join_note_row(state, first == HG_OUTER ? HG_INNER : HG_OUTER,
							first == HG_OUTER ? inner_row : outer_row);
	if (state->rules.single_match)
	{
		state->emission.skip_rest = true;
		state->emission.skip_outer = outer_row;
	}
	return true;
}

/* Gathers the columns of both rows of each match into the output's batch. */
static void
hg_join_gather(HgJoinState *state, HgInputStream *stream, const HgMatchRows *matches)
{
	HgBatch *batch = state->output.batch;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgInput *input = state->inputs[side];

		if (side == HG_OUTER && stream != NULL)
			hg_input_stream_get(stream, matches->outer, matches->count,
								state->rules.join_qual == NULL);
		else if (!hg_join_take_gathered(state->gather, state->matching.matcher, (HgSide) side,
										matches->first, matches->which, matches->count, batch))
			hg_input_get(input, side == HG_OUTER ? matches->outer : matches->inner, matches->count,
						 batch);
	}
	batch->nrows = matches->count;
}

/* Leaves out matches that do not count because of others; if note is set, records the rest. */
static void
hg_join_filter_counted(HgJoinState *state, HgMatchRows *matches, bool note)
{
	int nselected = 0;

	for (int i = 0; i < matches->count; i++)
	{
		uint32 outer_row = matches->outer[i];
		uint32 inner_row = matches->inner[i];

		if (!hg_join_match_counts(state, outer_row, inner_row) ||
			(note && !hg_join_note_match(state, outer_row, inner_row)))
			continue;
		matches->selected_outer[nselected] = outer_row;
		matches->selected_which[nselected] = (uint16) i;
		matches->selected_inner[nselected++] = inner_row;
	}
	matches->outer = matches->selected_outer;
	matches->inner = matches->selected_inner;
	matches->which = matches->selected_which;
	matches->count = nselected;
}

/* Reduces the output's batch to the rows which[count], in ascending order. */
static void
hg_join_select_rows(HgJoinOutput *output, const uint16 *which, int count)
{
	HgBatch *batch = output->batch;

	for (int i = 0; i < output->ncolumns && count < batch->nrows; i++)
	{
		Datum *values = batch->values[output->columns[i]];
		bool *nulls = batch->nulls[output->columns[i]];

		for (int k = 0; k < count; k++)
			values[k] = values[which[k]];
		if (batch->has_nulls[output->columns[i]])
			for (int k = 0; k < count; k++)
				nulls[k] = nulls[which[k]];
	}
	batch->nrows = count;
}

/* Returns true if join_qual is true for a row of the output's batch. */
static bool
hg_join_check_qual(HgJoinState *state, int row)
{
	ScanState *ss = &state->css.ss;
	ExprContext *econtext = ss->ps.ps_ExprContext;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = hg_join_load_row(&state->output, ss->ss_ScanTupleSlot, row);
	if (ExecQual(state->rules.join_qual, econtext))
		return true;
	InstrCountFiltered2(ss, 1);
	return false;
}

/* Leaves out gathered matches that join_qual rejects, or that do not count. */
static void
hg_join_filter_qual(HgJoinState *state, const HgMatchRows *matches)
{
	const HgJoinRecheck *recheck = state->rules.same_bytes;
	bool same[HG_BATCH_ROWS];
	uint16 which[HG_BATCH_ROWS];
	int nselected = 0;

	if (recheck != NULL)
		hg_join_recheck_rows(recheck, state->output.batch, same);
	for (int i = 0; i < matches->count; i++)
	{
		if (!hg_join_match_counts(state, matches->outer[i], matches->inner[i]) ||
			!((recheck != NULL && same[i]) || hg_join_check_qual(state, i)) ||
			!hg_join_note_match(state, matches->outer[i], matches->inner[i]))
			continue;
		which[nselected++] = i;
	}
	hg_join_select_rows(&state->output, which, nselected);
}

/* Returns true if all matches are of one outer row that may have no more. */
static inline bool
hg_join_rows_are_finished(const HgJoinState *state, const HgMatchRows *matches)
{
	return matches->outer[0] == matches->outer[matches->count - 1] &&
		   hg_join_row_is_finished(state, matches->outer[0]);
}

/*
 * Fills the output's batch with the next matches, and records which rows have found one.  The outer
 * rows are those of a stream, or in the outer input if stream is NULL.
 */
static bool
hg_join_fill_matches(HgJoinState *state, HgInputStream *stream)
{
	const HgJoinRules *rules = &state->rules;
	/* without a qual, the engine returns at most the single match of an outer row that counts */
	bool filter = rules->join_qual == NULL &&
				  (state->matched[HG_OUTER].tracked || state->matched[HG_INNER].tracked);
	/* an inner row that has its match may have many more, which only this leaves out */
	bool filter_early = rules->join_qual != NULL && state->matched[HG_INNER].once;
	HgMatchRows matches;

	while (hg_join_take_matches(state, stream, &matches))
	{
		/* an engine may return them */
		if (rules->join_qual != NULL && hg_join_rows_are_finished(state, &matches))
			continue;
		if (filter || filter_early)
			hg_join_filter_counted(state, &matches, filter);
		if (matches.count == 0)
			continue;
		if (rules->join_qual != NULL || rules->return_matched)
			hg_join_gather(state, stream, &matches);
		if (rules->join_qual != NULL)
			hg_join_filter_qual(state, &matches);
		if (rules->return_matched && state->output.batch->nrows > 0)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------
 * Rows without a match
 * ---------------------------------------------------------------------
 */

/* Sets the other side's columns to NULL in all rows of the output's batch. */
static void
hg_join_extend(HgJoinState *state)
{
	const HgInput *other = state->inputs[hg_other_side(state->emission.side)];
	HgBatch *out = state->output.batch;

	for (int c = 0; c < other->held.ncolumns; c++)
	{
		out->has_nulls[other->held.to[c]] = true;
		memset(out->nulls[other->held.to[c]], true, out->nrows * sizeof(bool));
	}
}

/*
 * Fills the output's batch with the next rows of a column store.  Skips rows whose bit, at
 * first_ordinal + row, is set in without (NULL: none).
 */
static bool
hg_join_fill_stored(HgJoinState *state, const HgColumnStore *rows, const HgRowBits *without,
					uint64 first_ordinal)
{
	HgJoinEmission *emission = &state->emission;
	HgBatch *out = state->output.batch;
	uint32 numbers[HG_BATCH_ROWS];
	HgRowRange whole;
	const HgRowRange *ranges;
	int nranges = hg_column_store_ranges(rows, &whole, &ranges);

	out->nrows = 0;
	while (emission->next_range < nranges && out->nrows < HG_BATCH_ROWS)
	{
		const HgRowRange *range = &ranges[emission->next_range];
		uint64 row;

		if (emission->next_row == range->rows)
		{
			emission->next_range++;
			emission->next_row = 0;
			continue;
		}
		if (emission->next_row % HG_BATCH_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		row = range->first + emission->next_row++;
		if (without == NULL || !hg_row_bits_test(without, first_ordinal + row))
			numbers[out->nrows++] = (uint32) row;
	}
	if (out->nrows == 0)
	{
		emission->next_range = 0;
		return false;
	}
	hg_column_store_get(rows, numbers, out->nrows, out, state->inputs[emission->side]->held.to);
	hg_join_extend(state);
	return true;
}

/* Fills the output's batch with the next covered rows without a match. */
static bool
hg_join_fill_covered(HgJoinState *state)
{
	HgJoinEmission *emission = &state->emission;
	const HgInput *input = state->inputs[emission->side];
	HgBatch *out = state->output.batch;
	uint32 numbers[HG_BATCH_ROWS];
	uint32 rows[HG_BATCH_ROWS];
	int n;

	out->nrows = 0;
	while ((n = hg_covered_next(input->child.covered, &emission->next_covered, rows,
								HG_BATCH_ROWS - out->nrows)) > 0)
		for (int i = 0; i < n; i++)
			if (!hg_row_bits_test(state->matched[emission->side].bits,
								  hg_covered_ordinal(input->child.covered, rows[i])))
				numbers[out->nrows++] = rows[i];
	if (out->nrows == 0)
		return false;
	hg_covered_get(input->child.covered, numbers, out->nrows, out, input->child.cover.to);
	hg_join_extend(state);
	return true;
}

/* HgRowKind.next */
static bool
hg_join_fill_unmatched(HgJoinState *state)
{
	HgJoinEmission *emission = &state->emission;
	const HgInput *input = state->inputs[emission->side];

	if (emission->part == HG_UNMATCHED_COVERED)
	{
		if (hg_join_ends_covered(state, emission->side) && hg_join_fill_covered(state))
			return true;
		emission->part = HG_UNMATCHED_ROWS;
	}
	if (emission->part == HG_UNMATCHED_ROWS)
	{
		const uint64 first =
			input->child.covered != NULL ? hg_covered_count_ordinals(input->child.covered, 0) : 0;

		if (hg_join_fill_stored(state, input->held.rows, state->matched[emission->side].bits,
								first))
			return true;
		emission->part = HG_UNMATCHED_NULL_KEYS;
	}
	return hg_join_fill_stored(state, input->held.null_rows, NULL, 0);
}

static const HgRowKind hg_rows_unmatched[2] = {
	[HG_OUTER] = {{"outer rows without a match"}, hg_join_fill_unmatched},
	[HG_INNER] = {{"inner rows without a match"}, hg_join_fill_unmatched},
};

HgJoinPhase
hg_join_emit_unmatched(HgJoinState *state, HgSide side, HgJoinPhase then)
{
	HgJoinEmission *emission = &state->emission;
	/* rows with a key are known when all processes have finished */
	const bool known = !state->participants.joined || state->participants.ends_join;

	if (!state->rules.preserved[side] || !state->matched[side].tracked)
		return then;
	emission->side = side;
	emission->part = known ? HG_UNMATCHED_COVERED : HG_UNMATCHED_NULL_KEYS;
	emission->next_row = 0;
	emission->next_range = 0;
	emission->next_covered = 0;
	return hg_join_emit(emission, &hg_rows_unmatched[side], then);
}

/* ---------------------------------------------------------------------
 * Counting
 * ---------------------------------------------------------------------
 */

bool
hg_join_counts_unmatched(const HgJoinState *state)
{
	/* a covered row without a covered match may have matched a row of a partition */
	if (!hg_join_may_count_unmatched(state) || state->reading.outer_chunks != 1 ||
		state->cover.with != HG_COVERED_WITH_ALL)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		if (input->child.covered == NULL || !input->at_end || hg_held_count(&input->held) > 0)
			return false;
	}
	return true;
}

/*
 * Returns the number of rows of a side that have a match.  The statistics get it as the number of
 * matches if nothing else is counted.
 */
static uint64
hg_join_count_matched(HgMatcher *matcher, const HgJoinRules *rules, HgSide side)
{
	const bool counted =
		side == HG_INNER ? rules->single_inner : rules->single_match && !rules->single_inner;

	return hg_matcher_count_matched(matcher, side, counted || !rules->return_matched);
}

/* Returns the number of rows that the join returns for the rows in memory. */
static uint64
hg_join_count(HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;
	HgMatcher *matcher = state->matching.matcher;
	const bool wanted[2] = {rules->return_matched && rules->single_match && !rules->single_inner,
							rules->return_matched && rules->single_inner};
	uint64 matched[2] = {0, 0};
	uint64 rows = 0;

	if (!hg_join_counts_unmatched(state))
		return hg_matcher_count(matcher);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (rules->preserved[side] || wanted[side])
			matched[side] =
				hg_join_count_matched(state->matching.matcher, &state->rules, (HgSide) side);
		if (rules->preserved[side])
			rows += state->inputs[side]->child.covered->rows - matched[side];
		if (wanted[side])
			rows += matched[side];
	}
	if (rules->return_matched && !wanted[HG_OUTER] && !wanted[HG_INNER])
		rows += hg_matcher_count(matcher);
	return rows;
}

/* HgRowKind.next */
static bool
hg_join_fill_empty(HgJoinState *state)
{
	HgJoinOutput *output = &state->output;

	output->batch->nrows = (int) Min(output->empty_left, HG_BATCH_ROWS);
	output->empty_left -= output->batch->nrows;
	return output->batch->nrows > 0;
}

HgJoinPhase
hg_join_emit_empty(HgJoinEmission *emission, HgJoinOutput *output, uint64 rows, HgJoinPhase then)
{
	static const HgRowKind hg_rows_empty = {{"match"}, hg_join_fill_empty};

	output->empty_left = rows;
	return hg_join_emit(emission, &hg_rows_empty, then);
}

/* ---------------------------------------------------------------------
 * What the matcher finds
 * ---------------------------------------------------------------------
 */

/* HgRowKind.next */
static bool
hg_join_fill_matched(HgJoinState *state)
{
	return hg_join_fill_matches(state, NULL);
}

static const HgRowKind hg_rows_matched = {{"match"}, hg_join_fill_matched};

/* HgRowKind.next: hands up groups, and returns the matches that are not in them. */
static bool
hg_join_fill_reduced(HgJoinState *state)
{
	const bool all = hg_join_reduce(state->reduction, state->matching.matcher);

	hg_join_report_missing(state);
	if (all)
		return false;
	state->emission.kind = &hg_rows_matched;
	return hg_join_fill_matched(state);
}

static const HgRowKind hg_rows_reduced = {{"match"}, hg_join_fill_reduced};

HgJoinPhase
hg_join_emit_joined(HgJoinState *state)
{
	if (hg_join_streams(&state->rules, state->matched))
		return hg_join_emit(&state->emission,
							hg_join_reduces_matches(state->reduction) ? &hg_rows_reduced
																	  : &hg_rows_matched,
							HG_JOIN_END_CHUNK);
	/* shown while the engine counts */
	hg_join_enter(&state->progress,
				  hg_join_emit_empty(&state->emission, &state->output, 0, HG_JOIN_END_CHUNK));
	state->output.empty_left = hg_join_count(state);
	hg_join_report_missing(state);
	hg_join_charge_job(&state->matching);
	return HG_JOIN_RETURN;
}

/* ---------------------------------------------------------------------
 * Streaming
 * ---------------------------------------------------------------------
 */

/* Returns the number of outer rows expected in this process. */
static uint64
hg_join_expected_outer(const HgInput *outer)
{
	double rows = outer->child.plan->plan->plan_rows;

	return (uint64) Max(Min(rows, (double) HG_MAX_ROWS), 1);
}

/*
 * Returns true if outer rows can be streamed past this number of inner rows.  files: otherwise both
 * sides go to temporary files.
 */
static bool
hg_join_outer_may_stream(const HgJoinState *state, uint64 inner_rows, bool files)
{
	HgKnownDevice device;

	if (!hg_join_could_stream(state))
		return false;
	hg_matcher_ask_device(&device);
	return hg_matcher_may_stream(&device, state->inputs[HG_INNER]->held.words->width,
								 hg_join_expected_outer(state->inputs[HG_OUTER]), inner_rows,
								 state->css.ss.ps.plan->plan_rows, hg_join_is_parallel(state),
								 files);
}

bool
hg_join_may_take_bits(const HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];

	return !state->reading.outer_ready && inner->partition.spill == NULL &&
		   inner->child.keys.encoder->exact && !state->rules.preserved[HG_INNER] &&
		   hg_join_is_unread(&state->rules, state->inputs[HG_INNER], &state->matched[HG_INNER]) &&
		   hg_join_outer_may_stream(
			   state, (uint64) Min(inner->child.plan->plan->plan_rows, HG_MAX_ROWS), true);
}

void
hg_join_take_bits(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	double start = hg_clock_ms();

	if (hg_held_begin_bits(&inner->held, state->rules.single_match,
						   hg_join_limit(&state->memory) / 2))
		(void) hg_input_fill_bits(inner);
	state->progress.record.scan_ms += hg_clock_ms() - start;
}

bool
hg_join_expects_stream(const HgJoinState *state)
{
	/* counting needs no columns, and the engine can count from either side */
	return !state->streaming.declined && !state->inputs[HG_OUTER]->at_end &&
		   hg_join_streams(&state->rules, state->matched) &&
		   hg_join_outer_may_stream(state, state->inputs[HG_INNER]->held.words->rows, false);
}

bool
hg_join_may_stream(const HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];

	if (inner->held.bits != NULL)
		return !state->inputs[HG_OUTER]->at_end;
	return state->reading.inner_chunks == 1 && inner->at_end && hg_join_expects_stream(state);
}

bool
hg_join_begin_stream(HgJoinState *state)
{
	HgJoinStreaming *streaming = &state->streaming;
	HgInput *outer = state->inputs[HG_OUTER];
	HgMatcherSpec spec = {.pairs = state->css.ss.ps.plan->plan_rows,
						  .streamed_rows = hg_join_expected_outer(state->inputs[HG_OUTER])};

	if (state->inputs[HG_INNER]->held.bits != NULL)
		spec.inner_bits = &state->inputs[HG_INNER]->held.bits->map;

	if (streaming->stream == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(state->memory.context);

		streaming->stream = hg_input_stream_create(outer, state->output.batch);
		MemoryContextSwitchTo(old);
	}
	hg_held_clear(&outer->held);
	hg_join_create_matcher(state, &spec);
	if (!hg_matcher_streams(state->matching.matcher))
	{
		hg_join_discard_matcher(&state->matching);
		streaming->declined = true;
		return false;
	}
	streaming->active = true;
	state->reading.outer_chunks = 1;
	state->reading.outer_held = false;
	return true;
}

void
hg_join_end_stream(HgJoinStreaming *streaming)
{
	if (!streaming->active)
		return;
	hg_input_stream_end(streaming->stream);
	streaming->active = false;
}

/* Reads the next outer rows and looks them up; returns false if there are no more. */
static bool
hg_join_renew_stream(HgJoinState *state)
{
	HgInputStream *stream = state->streaming.stream;
	double start = hg_clock_ms();
	bool more;

	more = hg_input_stream_next(stream);
	state->progress.record.scan_ms += hg_clock_ms() - start;
	if (!more)
		return false;
	hg_matcher_renew(state->matching.matcher, stream->keys, (uint64) stream->nrows);
	hg_join_emission_reset(&state->emission);
	return true;
}

/* HgRowKind.next */
static bool
hg_join_fill_streamed(HgJoinState *state)
{
	HgInputStream *stream = state->streaming.stream;

	/* at first there are no rows, and no matches of them */
	do
	{
		if (stream->nrows > 0 && hg_join_fill_matches(state, stream))
			return true;
	} while (hg_join_renew_stream(state));
	hg_join_end_stream(&state->streaming);
	return false;
}

HgJoinPhase
hg_join_emit_streamed(HgJoinState *state)
{
	static const HgRowKind hg_rows_streamed = {{"scan outer and match"}, hg_join_fill_streamed};
	const HgJoinPhase phase = hg_join_emit(&state->emission, &hg_rows_streamed, HG_JOIN_READ_OUTER);
	uint64 count = 0;

	if (hg_join_streams(&state->rules, state->matched))
		return phase;
	hg_join_enter(&state->progress, phase);
	while (hg_join_renew_stream(state))
		count += hg_matcher_count(state->matching.matcher);
	hg_join_end_stream(&state->streaming);
	return hg_join_emit_empty(&state->emission, &state->output, count, HG_JOIN_END_CHUNK);
}

void
hg_join_end_matches(HgJoinState *state)
{
	hg_join_retire_matcher(&state->matching, &state->progress.record);
	hg_join_emission_reset(&state->emission);
	hg_join_output_clear(&state->output);
}
