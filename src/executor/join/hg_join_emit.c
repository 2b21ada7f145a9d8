/*-------------------------------------------------------------------------
 *
 * hg_join_emit.c
 *	  The join node's way from matches, and from rows without a match, to batches of joined rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

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

/* Gets the next matches from the matcher; returns false if there are no more. */
static bool
hg_join_take_matches(HgJoinState *state, HgMatchRows *matches)
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
		if (!state->streaming.active)
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
hg_join_gather(HgJoinState *state, const HgMatchRows *matches)
{
	HgBatch *batch = state->output.batch;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgInput *input = state->inputs[side];

		if (side == HG_OUTER && state->streaming.active)
			hg_input_stream_get(state->streaming.stream, matches->outer, matches->count,
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

bool
hg_join_fill_matches(HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;
	/* without a qual, the engine returns at most the single match of an outer row that counts */
	bool filter = rules->join_qual == NULL &&
				  (state->matched[HG_OUTER].tracked || state->matched[HG_INNER].tracked);
	/* an inner row that has its match may have many more, which only this leaves out */
	bool filter_early = rules->join_qual != NULL && state->matched[HG_INNER].once;
	HgMatchRows matches;

	while (hg_join_take_matches(state, &matches))
	{
		/* an engine may return them */
		if (rules->join_qual != NULL && hg_join_rows_are_finished(state, &matches))
			continue;
		if (filter || filter_early)
			hg_join_filter_counted(state, &matches, filter);
		if (matches.count == 0)
			continue;
		if (rules->join_qual != NULL || rules->return_matched)
			hg_join_gather(state, &matches);
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

/* Sets the columns of an input to NULL in all rows of a batch. */
static void
hg_join_extend(const HgInput *input, HgBatch *out)
{
	for (int c = 0; c < input->held.ncolumns; c++)
	{
		out->has_nulls[input->held.to[c]] = true;
		memset(out->nulls[input->held.to[c]], true, out->nrows * sizeof(bool));
	}
}

/*
 * Fills a batch with the next rows of an input's store, null-extended by the other input's
 * columns.  Skips rows whose bit, at first_ordinal + row, is set in without (NULL: none).
 */
static bool
hg_join_fill_extended(HgJoinEmission *emission, const HgInput *input, const HgInput *other,
					  const HgColumnStore *rows, const HgRowBits *without, uint64 first_ordinal,
					  HgBatch *out)
{
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
	hg_column_store_get(rows, numbers, out->nrows, out, input->held.to);
	hg_join_extend(other, out);
	return true;
}

/* As hg_join_fill_extended(), for the covered rows of an input. */
static bool
hg_join_fill_covered(HgJoinEmission *emission, const HgInput *input, const HgInput *other,
					 const HgRowBits *without, HgBatch *out)
{
	uint32 numbers[HG_BATCH_ROWS];
	uint32 rows[HG_BATCH_ROWS];
	int n;

	out->nrows = 0;
	while ((n = hg_covered_next(input->child.covered, &emission->next_covered, rows,
								HG_BATCH_ROWS - out->nrows)) > 0)
		for (int i = 0; i < n; i++)
			if (!hg_row_bits_test(without, hg_covered_ordinal(input->child.covered, rows[i])))
				numbers[out->nrows++] = rows[i];
	if (out->nrows == 0)
		return false;
	hg_covered_get(input->child.covered, numbers, out->nrows, out, input->child.cover.to);
	hg_join_extend(other, out);
	return true;
}

bool
hg_join_fill_unmatched(HgJoinState *state, HgSide side)
{
	const HgInput *input = state->inputs[side];

	/* they are known when all processes have finished */
	if (state->participants.joined && !state->participants.ends_join)
		return false;
	if (hg_join_ends_covered(state, side) &&
		hg_join_fill_covered(&state->emission, input, state->inputs[hg_other_side(side)],
							 state->matched[side].bits, state->output.batch))
		return true;
	return hg_join_fill_extended(
		&state->emission, input, state->inputs[hg_other_side(side)], input->held.rows,
		state->matched[side].bits,
		input->child.covered != NULL ? hg_covered_count_ordinals(input->child.covered, 0) : 0,
		state->output.batch);
}

bool
hg_join_fill_null_keys(HgJoinState *state, HgSide side)
{
	const HgInput *input = state->inputs[side];

	return hg_join_fill_extended(&state->emission, input, state->inputs[hg_other_side(side)],
								 input->held.null_rows, NULL, 0, state->output.batch);
}
