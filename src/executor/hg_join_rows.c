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

#include "executor/hg_join_state.h"

/* How many matches ahead the columns of a match are asked for. */
#define HG_PREFETCH_DISTANCE 16

/* Return the scan slot's row, projected; NULL where plan.qual refuses it. */
static inline TupleTableSlot *
hg_join_emit(HgJoinState *state)
{
	ScanState *ss = &state->css.ss;

	if (ss->ps.qual != NULL && !ExecQual(ss->ps.qual, ss->ps.ps_ExprContext))
	{
		InstrCountFiltered1(ss, 1);
		return NULL;
	}
	state->record.rows_out++;
	if (ss->ps.ps_ProjInfo != NULL)
		return ExecProject(ss->ps.ps_ProjInfo);
	return ss->ss_ScanTupleSlot;
}

/* Start a row in the scan slot. */
static inline TupleTableSlot *
hg_join_start_row(HgJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	return ExecClearTuple(slot);
}

/* The next row that a match gives, or NULL when there are no more matches. */
TupleTableSlot *
hg_join_next_match(HgJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	const HgInput *outer = state->inputs[HG_OUTER];
	const HgInput *inner = state->inputs[HG_INNER];

	for (;;)
	{
		TupleTableSlot *slot;
		uint32 outer_row;
		uint32 inner_row;

		CHECK_FOR_INTERRUPTS();
		if (state->match_next == state->match_count)
		{
			state->match_next = 0;
			if (!hg_matcher_next(state->matcher, &state->match_outer, &state->match_inner,
								 &state->match_count))
			{
				state->match_count = 0;
				return NULL;
			}
		}
		if (state->match_next + HG_PREFETCH_DISTANCE < state->match_count)
		{
			size_t ahead = state->match_next + HG_PREFETCH_DISTANCE;

			hg_column_store_prefetch(outer->rows, state->match_outer[ahead]);
			hg_column_store_prefetch(inner->rows, state->match_inner[ahead]);
		}
		outer_row = state->match_outer[state->match_next];
		inner_row = state->match_inner[state->match_next++];
		if ((state->skip && outer_row == state->skip_outer) ||
			(state->settled[HG_OUTER] && hg_row_bits_test(state->matched[HG_OUTER], outer_row)) ||
			(state->settled[HG_INNER] && hg_row_bits_test(state->matched[HG_INNER], inner_row)))
			continue;

		slot = hg_join_start_row(state);
		hg_column_store_get(outer->rows, outer_row, slot->tts_values, slot->tts_isnull, outer->to);
		hg_column_store_get(inner->rows, inner_row, slot->tts_values, slot->tts_isnull, inner->to);
		ExecStoreVirtualTuple(slot);
		if (state->join_qual != NULL && !ExecQual(state->join_qual, econtext))
		{
			InstrCountFiltered2(&state->css.ss, 1);
			continue;
		}
		if (state->track[HG_OUTER])
			hg_row_bits_set(state->matched[HG_OUTER], outer_row);
		if (state->track[HG_INNER])
			hg_row_bits_set(state->matched[HG_INNER], inner_row);
		if (state->single_match)
		{
			state->skip = true;
			state->skip_outer = outer_row;
		}
		if (!state->return_matched)
			continue;
		slot = hg_join_emit(state);
		if (slot != NULL)
			return slot;
	}
}

/* The next row of a store of a side, null-extended, but for the rows with a bit. */
static TupleTableSlot *
hg_join_next_extended(HgJoinState *state, HgSide side, const HgColumnStore *rows,
					  const HgRowBits *without)
{
	const HgInput *input = state->inputs[side];
	const HgInput *other = state->inputs[side == HG_OUTER ? HG_INNER : HG_OUTER];

	while (state->next_row < rows->rows)
	{
		uint64 row = state->next_row++;
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		if (without != NULL && hg_row_bits_test(without, row))
			continue;
		slot = hg_join_start_row(state);
		hg_column_store_get(rows, row, slot->tts_values, slot->tts_isnull, input->to);
		for (int c = 0; c < other->ncolumns; c++)
		{
			slot->tts_values[other->to[c]] = (Datum) 0;
			slot->tts_isnull[other->to[c]] = true;
		}
		ExecStoreVirtualTuple(slot);
		slot = hg_join_emit(state);
		if (slot != NULL)
			return slot;
	}
	state->next_row = 0;
	return NULL;
}

TupleTableSlot *
hg_join_next_unmatched(HgJoinState *state, HgSide side)
{
	return hg_join_next_extended(state, side, state->inputs[side]->rows, state->matched[side]);
}

TupleTableSlot *
hg_join_next_null_key(HgJoinState *state, HgSide side)
{
	return hg_join_next_extended(state, side, state->inputs[side]->null_rows, NULL);
}

/* An empty row. */
TupleTableSlot *
hg_join_empty_row(HgJoinState *state)
{
	const ScanState *ss = &state->css.ss;

	/* a row of no columns is the same row every time */
	if (ss->ps.plan->targetlist == NIL && ss->ps.ps_ProjInfo != NULL)
	{
		TupleTableSlot *slot = ss->ps.ps_ResultTupleSlot;

		state->record.rows_out++;
		return TTS_EMPTY(slot) ? ExecStoreVirtualTuple(slot) : slot;
	}
	ExecStoreVirtualTuple(hg_join_start_row(state));
	return hg_join_emit(state);
}
