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
		if (state->skip && outer_row == state->skip_outer)
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
		if (state->keep_unmatched)
			state->matched[outer_row / 8] |= 1 << (outer_row % 8);
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

/*
 * The next outer row of a store, null-extended; NULL when there are no more.  With
 * skip_matched, rows whose bit is set are left out.
 */
TupleTableSlot *
hg_join_next_unmatched(HgJoinState *state, const HgColumnStore *rows, bool skip_matched)
{
	const HgInput *outer = state->inputs[HG_OUTER];
	const HgInput *inner = state->inputs[HG_INNER];

	while (state->next_row < rows->rows)
	{
		uint64 row = state->next_row++;
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		if (skip_matched && (state->matched[row / 8] & (1 << (row % 8))) != 0)
			continue;
		slot = hg_join_start_row(state);
		hg_column_store_get(rows, row, slot->tts_values, slot->tts_isnull, outer->to);
		for (int c = 0; c < inner->ncolumns; c++)
		{
			slot->tts_values[inner->to[c]] = (Datum) 0;
			slot->tts_isnull[inner->to[c]] = true;
		}
		ExecStoreVirtualTuple(slot);
		slot = hg_join_emit(state);
		if (slot != NULL)
			return slot;
	}
	return NULL;
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
