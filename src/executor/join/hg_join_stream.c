/*-------------------------------------------------------------------------
 *
 * hg_join_stream.c
 *	  Streaming: outer rows are joined batch by batch as they come.
 *
 * If the inner HashGraph stays in a near cache, or dense inner keys are the vertices of a table
 * (engine/cpu/hg_cpu_direct.c), outer rows need not be collected.  Each batch of the child is
 * looked up when it comes, and its columns are handed up without having been stored.  Several such
 * joins form a pipeline, through which a batch goes while it is in the nearest cache.  The outer
 * side takes no memory, however large it is.
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

#include "executor/join/hg_join_state.h"

/* Returns the number of outer rows expected in this process. */
static uint64
hg_join_expected_outer(const HgJoinState *state)
{
	double rows = state->inputs[HG_OUTER]->child.plan->plan->plan_rows;

	return (uint64) Max(Min(rows, (double) HG_MAX_ROWS), 1);
}

/* Returns true if outer rows can be streamed past this number of inner rows. */
static bool
hg_join_outer_may_stream(const HgJoinState *state, uint64 inner_rows)
{
	HgKnownDevice device;

	if (!hg_join_could_stream(state))
		return false;
	hg_matcher_ask_device(&device);
	return hg_matcher_may_stream(&device, state->inputs[HG_INNER]->held.words->width,
								 hg_join_expected_outer(state), inner_rows,
								 state->css.ss.ps.plan->plan_rows);
}

bool
hg_join_may_take_bits(const HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];

	return !state->reading.outer_ready && inner->partition.spill == NULL &&
		   inner->child.keys.encoder->exact && !state->rules.preserved[HG_INNER] &&
		   hg_join_is_unread(state, HG_INNER) &&
		   hg_join_outer_may_stream(state,
									(uint64) Min(inner->child.plan->plan->plan_rows, HG_MAX_ROWS));
}

void
hg_join_take_bits(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
	if (hg_held_begin_bits(&inner->held, state->rules.single_match,
						   hg_join_limit(&state->memory) / 2))
		(void) hg_input_fill_bits(inner);
	state->progress.record.scan_ms += hg_elapsed_ms(start);
}

bool
hg_join_may_stream(const HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];

	if (inner->held.bits != NULL)
		return !state->inputs[HG_OUTER]->at_end;
	if (state->streaming.declined || state->inputs[HG_OUTER]->at_end ||
		state->reading.inner_chunks != 1 || !inner->at_end)
		return false;
	/* counting needs no columns, and the engine can count from either side */
	return hg_join_streams(&state->rules, state->matched) &&
		   hg_join_outer_may_stream(state, inner->held.words->rows);
}

bool
hg_join_begin_stream(HgJoinState *state)
{
	HgJoinStreaming *streaming = &state->streaming;
	HgInput *outer = state->inputs[HG_OUTER];
	HgMatcherSpec spec = {.pairs = state->css.ss.ps.plan->plan_rows,
						  .streamed_rows = hg_join_expected_outer(state)};

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
hg_join_end_stream(HgJoinState *state)
{
	if (!state->streaming.active)
		return;
	hg_input_stream_end(state->streaming.stream);
	state->streaming.active = false;
}

/* Reads the next outer rows and looks them up; returns false if there are no more. */
static bool
hg_join_renew_stream(HgJoinState *state)
{
	HgInputStream *stream = state->streaming.stream;
	instr_time start;
	bool more;

	INSTR_TIME_SET_CURRENT(start);
	more = hg_input_stream_next(stream);
	state->progress.record.scan_ms += hg_elapsed_ms(start);
	if (!more)
		return false;
	hg_matcher_renew(state->matching.matcher, stream->keys, (uint64) stream->nrows);
	hg_join_emission_reset(&state->emission);
	return true;
}

HgJoinPhase
hg_join_count_stream(HgJoinState *state)
{
	uint64 count = 0;

	hg_join_enter(&state->progress, HG_JOIN_STREAM);
	while (hg_join_renew_stream(state))
		count += hg_matcher_count(state->matching.matcher);
	hg_join_end_stream(state);
	state->output.empty_left = count;
	return HG_JOIN_COUNT;
}

bool
hg_join_fill_streamed(HgJoinState *state)
{
	/* at first there are no rows, and no matches of them */
	do
	{
		if (state->streaming.stream->nrows > 0 && hg_join_fill_matches(state))
			return true;
	} while (hg_join_renew_stream(state));
	hg_join_end_stream(state);
	return false;
}
