/*-------------------------------------------------------------------------
 *
 * hg_join_rows.c
 *	  The join node's way from matches to rows.
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
 * Rows by batches
 * ---------------------------------------------------------------------
 */

void
hg_join_begin_rows(HgJoinState *state, const Bitmapset *columns)
{
	ScanState *ss = &state->css.ss;
	int natts = ss->ss_ScanTupleSlot->tts_tupleDescriptor->natts;
	int column = -1;

	state->nout = 0;
	state->out_columns = palloc(Max(natts, 1) * sizeof(int));
	while ((column = bms_next_member(columns, column)) >= 0)
		state->out_columns[state->nout++] = column;
	state->out = hg_batch_create_partial(natts, state->nout, state->out_columns);

	state->out_slot = ss->ss_ScanTupleSlot;
	if (ss->ps.ps_ProjInfo != NULL && ss->ps.qual == NULL)
	{
		TupleTableSlot *slot = ss->ps.ps_ResultTupleSlot;
		int *places = palloc(Max(slot->tts_tupleDescriptor->natts, 1) * sizeof(int));
		ListCell *lc;

		foreach (lc, ss->ps.plan->targetlist)
		{
			const TargetEntry *tle = lfirst_node(TargetEntry, lc);

			if (!IsA(tle->expr, Var))
				break;
			places[foreach_current_index(lc)] = ((const Var *) tle->expr)->varattno - 1;
		}
		if (lc == NULL)
		{
			state->out_slot = slot;
			state->out_slot_columns = places;
		}
	}
}

/* Put a row of the batch into the scan slot. */
static inline TupleTableSlot *
hg_join_load_row(HgJoinState *state, int row)
{
	const HgBatch *out = state->out;
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	/* what is asked of a row may take any time */
	CHECK_FOR_INTERRUPTS();
	ExecClearTuple(slot);
	for (int i = 0; i < state->nout; i++)
	{
		int column = state->out_columns[i];

		slot->tts_isnull[column] = hg_batch_is_null(out, column, row);
		slot->tts_values[column] = slot->tts_isnull[column] ? (Datum) 0 : out->values[column][row];
	}
	return ExecStoreVirtualTuple(slot);
}

/* Put a row of the batch into the result slot, which has nothing but columns of it. */
static inline TupleTableSlot *
hg_join_project_row(HgJoinState *state, int row)
{
	const HgBatch *out = state->out;
	TupleTableSlot *slot = state->out_slot;
	int natts = slot->tts_tupleDescriptor->natts;

	/* a row of no columns is the same row every time */
	if (natts == 0 && !TTS_EMPTY(slot))
		return slot;
	ExecClearTuple(slot);
	for (int i = 0; i < natts; i++)
	{
		int column = state->out_slot_columns[i];

		slot->tts_isnull[i] = hg_batch_is_null(out, column, row);
		slot->tts_values[i] = slot->tts_isnull[i] ? (Datum) 0 : out->values[column][row];
	}
	return ExecStoreVirtualTuple(slot);
}

TupleTableSlot *
hg_join_next_row(HgJoinState *state)
{
	ScanState *ss = &state->css.ss;
	ExprContext *econtext = ss->ps.ps_ExprContext;

	while (state->out_next < state->out->nrows)
	{
		int row = state->out_next++;

		if (state->out_slot_columns != NULL)
		{
			state->record.rows_out++;
			return hg_join_project_row(state, row);
		}
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = hg_join_load_row(state, row);
		if (ss->ps.qual != NULL && !ExecQual(ss->ps.qual, econtext))
		{
			InstrCountFiltered1(ss, 1);
			continue;
		}
		state->record.rows_out++;
		return ss->ps.ps_ProjInfo != NULL ? ExecProject(ss->ps.ps_ProjInfo)
										  : econtext->ecxt_scantuple;
	}
	return NULL;
}

bool
hg_join_fill_empty(HgJoinState *state)
{
	state->out->nrows = (int) Min(state->count_left, HG_BATCH_ROWS);
	state->count_left -= state->out->nrows;
	return state->out->nrows > 0;
}

/* ---------------------------------------------------------------------
 * Matches
 * ---------------------------------------------------------------------
 */

/* The matches that a batch is made of. */
typedef struct HgMatchRows
{
	uint32 outer[HG_BATCH_ROWS];
	uint32 inner[HG_BATCH_ROWS];
	int count;
	size_t first;				 /* their places in the current chunk of matches ... */
	uint16 which[HG_BATCH_ROWS]; /* ... are first + which[count] */
} HgMatchRows;

/* Take the next matches from the matcher; false when there are no more. */
static bool
hg_join_take_matches(HgJoinState *state, HgMatchRows *matches)
{
	CHECK_FOR_INTERRUPTS();
	if (state->match_next == state->match_count)
	{
		state->match_next = 0;
		if (!hg_matcher_next(state->matcher, &state->match_outer, &state->match_inner,
							 &state->match_count))
		{
			state->match_count = 0;
			return false;
		}
	}
	matches->count = (int) Min(state->match_count - state->match_next, HG_BATCH_ROWS);
	memcpy(matches->outer, state->match_outer + state->match_next, matches->count * sizeof(uint32));
	memcpy(matches->inner, state->match_inner + state->match_next, matches->count * sizeof(uint32));
	matches->first = state->match_next;
	for (int i = 0; i < matches->count; i++)
		matches->which[i] = (uint16) i;
	state->match_next += matches->count;
	return true;
}

/* Has one of the rows of a match taken as many matches as it may? */
static inline bool
hg_join_is_settled(const HgJoinState *state, uint32 outer_row, uint32 inner_row)
{
	return (state->skip && outer_row == state->skip_outer) ||
		   (state->settled[HG_OUTER] && hg_row_bits_test(state->matched[HG_OUTER], outer_row)) ||
		   (state->settled[HG_INNER] && hg_row_bits_test(state->matched[HG_INNER], inner_row));
}

/* Remember that the rows of a match have found each other. */
static inline void
hg_join_settle(HgJoinState *state, uint32 outer_row, uint32 inner_row)
{
	if (state->track[HG_OUTER])
		hg_row_bits_set(state->matched[HG_OUTER], outer_row);
	if (state->track[HG_INNER])
		hg_row_bits_set(state->matched[HG_INNER], inner_row);
	if (state->single_match)
	{
		state->skip = true;
		state->skip_outer = outer_row;
	}
}

/* Fetch the columns of both rows of each match. */
static void
hg_join_gather(HgJoinState *state, const HgMatchRows *matches)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		if (!hg_join_take_gathered(state, (HgSide) side, matches->first, matches->which,
								   matches->count))
			hg_column_store_get(input->rows, side == HG_OUTER ? matches->outer : matches->inner,
								matches->count, state->out, input->to);
	}
	state->out->nrows = matches->count;
}

/* Leave out the matches that do not count because of others. */
static void
hg_join_filter_settled(HgJoinState *state, HgMatchRows *matches)
{
	int kept = 0;

	for (int i = 0; i < matches->count; i++)
	{
		uint32 outer_row = matches->outer[i];
		uint32 inner_row = matches->inner[i];

		if (hg_join_is_settled(state, outer_row, inner_row))
			continue;
		hg_join_settle(state, outer_row, inner_row);
		matches->outer[kept] = outer_row;
		matches->which[kept] = matches->which[i];
		matches->inner[kept++] = inner_row;
	}
	matches->count = kept;
}

/* Keep the rows which[count] of the batch, which ascend. */
static void
hg_join_keep_rows(HgJoinState *state, const uint16 *which, int count)
{
	HgBatch *out = state->out;

	for (int i = 0; i < state->nout && count < out->nrows; i++)
	{
		Datum *values = out->values[state->out_columns[i]];
		bool *nulls = out->nulls[state->out_columns[i]];

		for (int k = 0; k < count; k++)
			values[k] = values[which[k]];
		if (out->has_nulls[state->out_columns[i]])
			for (int k = 0; k < count; k++)
				nulls[k] = nulls[which[k]];
	}
	out->nrows = count;
}

/* Leave out the gathered matches that join_qual refuses, and those that do not count. */
static void
hg_join_filter_qual(HgJoinState *state, const HgMatchRows *matches)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	uint16 which[HG_BATCH_ROWS];
	int kept = 0;

	for (int i = 0; i < matches->count; i++)
	{
		if (hg_join_is_settled(state, matches->outer[i], matches->inner[i]))
			continue;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = hg_join_load_row(state, i);
		if (!ExecQual(state->join_qual, econtext))
		{
			InstrCountFiltered2(&state->css.ss, 1);
			continue;
		}
		hg_join_settle(state, matches->outer[i], matches->inner[i]);
		which[kept++] = i;
	}
	hg_join_keep_rows(state, which, kept);
}

bool
hg_join_fill_matches(HgJoinState *state)
{
	bool filter = state->single_match || state->track[HG_OUTER] || state->track[HG_INNER];
	HgMatchRows matches;

	while (hg_join_take_matches(state, &matches))
	{
		if (state->join_qual == NULL && filter)
			hg_join_filter_settled(state, &matches);
		if (state->join_qual != NULL || state->return_matched)
			hg_join_gather(state, &matches);
		if (state->join_qual != NULL)
			hg_join_filter_qual(state, &matches);
		if (state->return_matched && state->out->nrows > 0)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------
 * Rows without a match
 * ---------------------------------------------------------------------
 */

/* The next rows of a store of a side, null-extended, but for the rows with a bit. */
static bool
hg_join_fill_extended(HgJoinState *state, HgSide side, const HgColumnStore *rows,
					  const HgRowBits *without)
{
	const HgInput *input = state->inputs[side];
	const HgInput *other = state->inputs[side == HG_OUTER ? HG_INNER : HG_OUTER];
	HgBatch *out = state->out;
	uint32 numbers[HG_BATCH_ROWS];
	HgRowRange whole;
	const HgRowRange *ranges;
	int nranges = hg_column_store_ranges(rows, &whole, &ranges);

	out->nrows = 0;
	while (state->next_range < nranges && out->nrows < HG_BATCH_ROWS)
	{
		const HgRowRange *range = &ranges[state->next_range];
		uint64 row;

		if (state->next_row == range->rows)
		{
			state->next_range++;
			state->next_row = 0;
			continue;
		}
		if (state->next_row % HG_BATCH_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		row = range->first + state->next_row++;
		if (without == NULL || !hg_row_bits_test(without, row))
			numbers[out->nrows++] = (uint32) row;
	}
	if (out->nrows == 0)
	{
		state->next_range = 0;
		return false;
	}
	hg_column_store_get(rows, numbers, out->nrows, out, input->to);
	for (int c = 0; c < other->ncolumns; c++)
	{
		out->has_nulls[other->to[c]] = true;
		memset(out->nulls[other->to[c]], true, out->nrows * sizeof(bool));
	}
	return true;
}

bool
hg_join_fill_unmatched(HgJoinState *state, HgSide side)
{
	/* they are known when all processes are done */
	if (hg_join_is_together(state) && !state->ends_join)
		return false;
	return hg_join_fill_extended(state, side, state->inputs[side]->rows, state->matched[side]);
}

bool
hg_join_fill_null_keys(HgJoinState *state, HgSide side)
{
	return hg_join_fill_extended(state, side, state->inputs[side]->null_rows, NULL);
}
