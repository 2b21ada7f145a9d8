/*-------------------------------------------------------------------------
 *
 * hg_join_chunk.c
 *	  The join node's way from its inputs to HashGraphs: chunks and partitions.
 *
 * hg_join.c tells the whole way.  The functions that a phase is named after do that
 * phase's work and return the phase that follows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "executor/join/hg_join_kept.h"
#include "executor/join/hg_join_matcher.h"
#include "executor/join/hg_join_size.h"
#include "executor/join/hg_join_state.h"

/* ---------------------------------------------------------------------
 * Memory
 * ---------------------------------------------------------------------
 */

/* Read rows of a side until there are no more, limit bytes or max_rows rows are held. */
static void
hg_join_fill(HgJoinState *state, HgSide side, uint64 limit, uint64 max_rows)
{
	HgInput *input = state->inputs[side];
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
	input->budget.limit = limit;
	hg_input_fill(input, max_rows);
	state->record.scan_ms += hg_join_elapsed_ms(start);
}

/*
 * Read a chunk of the inner side: it may take half of the limit.  What the outer side has
 * kept for its next rows must not be more than the other half then.
 */
static void
hg_join_fill_inner(HgJoinState *state)
{
	uint64 limit = hg_join_limit(state) / 2;

	if (!state->outer_ready && hg_input_reserved(state->inputs[HG_OUTER]) > limit)
		hg_input_release(state->inputs[HG_OUTER]);
	hg_join_fill(state, HG_INNER, limit, PG_UINT64_MAX);
}

/* ---------------------------------------------------------------------
 * Runtime filters
 * ---------------------------------------------------------------------
 */

/* The whole inner side is in memory, and the outer child is about to be read. */
static void
hg_join_set_filter(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgKeySet keys = hg_key_column_set(inner->words);
	HgFilter *filter = NULL;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	if (hg_join_filter_may_pay(state, (double) keys.rows))
		filter =
			hg_filter_create(&keys, inner->words->width, hg_join_limit(state) / HG_FILTER_SHARE);
	if (filter != NULL)
		hg_filter_charge(filter, &state->files, 1);
	hg_input_set_filter(state->inputs[HG_OUTER], filter);
	MemoryContextSwitchTo(old);
}

/* The inner side is about to go to disk: the filter that is to hold its keys, or NULL. */
static HgFilter *
hg_join_begin_filter(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	/* the plan's estimate is of all rows, and may be low */
	double expected = Max(inner->plan->plan->plan_rows, 2.0 * (double) inner->words->rows);
	HgKeySet held = hg_key_column_set(inner->words);
	HgFilter *filter = NULL;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	if (hg_join_filter_may_pay(state, expected))
		filter =
			hg_filter_begin(&held, inner->words->width, hg_join_limit(state) / HG_FILTER_SHARE);
	if (filter != NULL)
		hg_filter_charge(filter, &state->files, 1);
	MemoryContextSwitchTo(old);
	return filter;
}

/* ---------------------------------------------------------------------
 * Partitions
 * ---------------------------------------------------------------------
 */

/*
 * Spill both sides, cut alike at a level, reading each from wherever it is read now.
 * The inner input holds its first rows in memory.
 */
static void
hg_join_partition(HgJoinState *state, int level)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];
	/* the plan's estimate is of all rows, and may be low */
	double expected = level == 0 ? hg_join_expected_bytes(state) : 2.0 * inner->budget.charged;
	int bits = hg_join_partition_bits(state, expected);
	HgPartitions *partitions;
	HgFilter *filter = level == 0 ? hg_join_begin_filter(state) : NULL;
	instr_time start;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	hg_join_end_sending(state);
	partitions = palloc0(sizeof(HgPartitions));
	partitions->current = -1;
	partitions->inner = hg_spill_create(inner->rows, level, bits, &state->files);
	partitions->outer = hg_spill_create(outer->rows, level, bits, &state->files);
	state->partitions = lcons(partitions, state->partitions);
	MemoryContextSwitchTo(old);

	INSTR_TIME_SET_CURRENT(start);
	hg_input_set_collector(inner, filter);
	hg_input_spill(inner, partitions->inner);
	hg_input_set_collector(inner, NULL);
	hg_input_set_filter(outer, filter);
	hg_input_spill(outer, partitions->outer);
	hg_input_set_filter(outer, NULL);
	/* what a rescan kept of it is in the files now */
	state->outer_held = state->outer_ready = false;
	state->spilled = true;
	state->record.scan_ms += hg_join_elapsed_ms(start);
	state->record.partitions += 1 << bits;
	state->record.spilled_bytes += partitions->inner->bytes + partitions->outer->bytes;
}

/* Delete the innermost spill sets. */
static void
hg_join_drop_partitions(HgJoinState *state)
{
	HgPartitions *partitions = linitial(state->partitions);

	hg_spill_destroy(partitions->outer);
	hg_spill_destroy(partitions->inner);
	pfree(partitions);
	state->partitions = list_delete_first(state->partitions);
}

void
hg_join_drop_spilled(HgJoinState *state)
{
	hg_row_bits_forget(state->matched[HG_OUTER]);
	while (state->partitions != NIL)
		hg_join_drop_partitions(state);
}

/*
 * Does cutting a partition again help?  Not where its rows are most of what its set was
 * made of: they share a key, or nearly all of them do.
 */
static bool
hg_join_can_cut(const HgSpill *spill, int partition)
{
	return spill->level + 1 < HG_SPILL_LEVELS &&
		   spill->rows[partition] < spill->total_rows - spill->total_rows / 8;
}

/* ---------------------------------------------------------------------
 * The inner side
 * ---------------------------------------------------------------------
 */

/* A chunk of the inner side is in memory: where does that lead? */
static HgJoinPhase
hg_join_start_pass(HgJoinState *state)
{
	const HgInput *inner = state->inputs[HG_INNER];

	state->inner_chunks++;
	state->chunks = 0;
	if (state->track[HG_INNER])
		hg_row_bits_reset(state->matched[HG_INNER], inner->words->rows);
	/* no row of the outer side would be returned: it need not be read */
	if (inner->words->rows == 0 && !state->keep[HG_OUTER])
	{
		hg_join_end_sending(state);
		return HG_JOIN_END_OUTER;
	}
	return HG_JOIN_READ_OUTER;
}

/* Read the inner child; returns the next phase. */
HgJoinPhase
hg_join_read_inner(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgJobColumns columns;

	if (state->together && state->shared != NULL)
		return hg_join_read_together(state);
	if (!inner->at_end)
	{
		/* of rows that are kept a part may be joined, which is found when all are there */
		if (!state->outer_ready && !state->outer_whole && hg_join_may_send(state, 1, &columns))
			hg_join_begin_sending(state, 1, 0, &columns);
		hg_join_fill_inner(state);
	}
	if (!inner->at_end)
	{
		hg_join_partition(state, 0);
		return HG_JOIN_NEXT_PARTITION;
	}
	state->inner_chunks = 0;
	/* a rescan that keeps the inner side keeps the filter too */
	if (!state->outer_ready && !state->outer_whole && state->inputs[HG_OUTER]->filter == NULL)
		hg_join_set_filter(state);
	return hg_join_start_pass(state);
}

/* Take the next partition's inner rows; returns the next phase. */
HgJoinPhase
hg_join_next_partition(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];

	hg_row_bits_forget(state->matched[HG_OUTER]);
	while (state->partitions != NIL)
	{
		HgPartitions *partitions = linitial(state->partitions);
		int partition;

		/* the one before is joined */
		if (partitions->current >= 0)
		{
			hg_spill_drop(partitions->outer, partitions->current);
			hg_spill_drop(partitions->inner, partitions->current);
		}
		partition = partitions->current = partitions->next != NULL
											  ? (int) pg_atomic_fetch_add_u32(partitions->next, 1)
											  : partitions->current + 1;
		if (partition >= 1 << partitions->inner->bits)
		{
			hg_join_drop_partitions(state);
			continue;
		}
		if ((partitions->outer->rows[partition] == 0 && !state->keep[HG_INNER]) ||
			(partitions->inner->rows[partition] == 0 && !state->keep[HG_OUTER]))
			continue;
		hg_join_retire_matcher(state);
		hg_input_set_source(inner, partitions->inner, partition);
		hg_input_set_source(outer, partitions->outer, partition);
		hg_join_fill_inner(state);
		if (!inner->at_end && hg_join_can_cut(partitions->inner, partition))
		{
			hg_join_partition(state, partitions->inner->level + 1);
			hg_spill_drop(partitions->outer, partition);
			hg_spill_drop(partitions->inner, partition);
			continue;
		}
		state->inner_chunks = 0;
		return hg_join_start_pass(state);
	}
	return HG_JOIN_DONE;
}

/* The inner rows in memory are joined: take the next ones; returns the next phase. */
HgJoinPhase
hg_join_next_inner(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];

	if (inner->at_end)
		return state->partitions != NIL ? HG_JOIN_NEXT_PARTITION : HG_JOIN_DONE;

	/* the next chunk of a partition, which meets all of the outer rows again */
	hg_join_retire_matcher(state);
	hg_input_clear(inner);
	if (state->chunks > 0)
	{
		hg_input_set_source(outer, outer->source, outer->partition);
		hg_row_bits_next_reading(state->matched[HG_OUTER]);
	}
	hg_join_fill_inner(state);
	return hg_join_start_pass(state);
}

/* ---------------------------------------------------------------------
 * The outer side
 * ---------------------------------------------------------------------
 */

/*
 * Matches that the rows in memory are expected to have: the share of both sides that they are in
 * what the plan expects.  Where there are more rows than were expected, each is to have as many.
 */
static double
hg_join_expected_pairs(const HgJoinState *state)
{
	double pairs = state->css.ss.ps.plan->plan_rows;
	double more = 1;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];
		double share = (double) input->words->rows / Max(input->plan->plan->plan_rows, 1);

		pairs *= Min(share, 1);
		more = Max(more, share);
	}
	return pairs * more;
}

/*
 * Read the outer child, in whole if that fits into half of the limit, as rows that are kept have
 * to; else go on with a filter until so many bytes are held.
 */
static void
hg_join_fill_outer_whole(HgJoinState *state, uint64 limit)
{
	hg_join_fill(state, HG_OUTER, Min(limit, hg_join_limit(state) / 2), PG_UINT64_MAX);
	if (state->inputs[HG_OUTER]->at_end)
		return;
	state->outer_whole = false;
	state->outer_large = true;
	hg_join_set_filter(state);
	hg_join_fill(state, HG_OUTER, limit, PG_UINT64_MAX);
}

/*
 * Read the next chunk of the outer side, and the bits that it has from the chunks of the
 * inner side before; false when there are no more.
 */
static bool
hg_join_next_chunk(HgJoinState *state)
{
	HgInput *outer = state->inputs[HG_OUTER];
	HgRowBits *matched = state->matched[HG_OUTER];
	uint64 limit = hg_join_limit(state);
	uint64 used = state->inputs[HG_INNER]->budget.charged;

	state->outer_held = false;
	hg_input_clear(outer);
	if (hg_row_bits_saved(matched))
	{
		HgRowCounts counts;

		if (!hg_row_bits_restore(matched, &counts))
			return false;
		hg_join_fill(state, HG_OUTER, PG_UINT64_MAX, counts.rows + counts.null_rows);
		if (outer->words->rows != counts.rows || outer->null_rows->rows != counts.null_rows)
			elog(ERROR, "a partition of a join has changed between two readings");
	}
	else
	{
		/* later inner chunks may take all of their half: leave it to them from the start */
		if (!state->inputs[HG_INNER]->at_end || used > limit / 2)
			used = limit / 2;
		if (!outer->at_end && state->outer_whole && state->partitions == NIL)
			hg_join_fill_outer_whole(state, limit - used);
		else if (!outer->at_end)
			hg_join_fill(state, HG_OUTER, limit - used, PG_UINT64_MAX);
		if (hg_input_rows(outer) == 0)
			return false;
		if (state->track[HG_OUTER])
			hg_row_bits_reset(matched, outer->words->rows);
	}
	state->chunks++;
	state->outer_held = outer->at_end && state->chunks == 1 && state->partitions == NIL;
	return true;
}

/* Take a chunk of the outer side and build the HashGraphs; returns the next phase. */
HgJoinPhase
hg_join_read_outer(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];
	bool passes = !inner->at_end || state->inner_chunks > 1;
	HgMatcherSpec spec = {0};
	HgKeySet outer_set;
	HgKeySet inner_set;
	MemoryContext old;

	/* there is one chunk, which all have joined */
	if (hg_join_is_together(state))
		return HG_JOIN_END_OUTER;
	/* joined in one chunk: a rescan wants the input and the HashGraphs again */
	if (state->rewind && outer->at_end && state->chunks == 1 && state->partitions == NIL &&
		!state->outer_ready)
		return HG_JOIN_END_OUTER;
	state->track[HG_OUTER] = state->keep[HG_OUTER] || (state->single_match && passes);
	state->settled[HG_OUTER] = state->single_match && passes;
	hg_join_retire_matcher(state);
	if (state->outer_ready)
	{
		state->outer_ready = false;
		state->chunks = 1;
		if (state->track[HG_OUTER])
			hg_row_bits_reset(state->matched[HG_OUTER], outer->words->rows);
	}
	else if (!hg_join_next_chunk(state))
	{
		hg_join_end_sending(state);
		return HG_JOIN_END_OUTER;
	}
	if (!hg_join_select_kept(state))
		return hg_join_end_chunk(state);

	outer_set = hg_key_column_set(outer->words);
	inner_set = hg_key_column_set(inner->words);
	spec.key_width = inner->words->width;
	spec.mode = state->single_match && state->join_qual == NULL ? HG_MATCH_FIRST : HG_MATCH_ALL;
	spec.small = state->css.ss.ps.state->es_epq_active != NULL;
	spec.counted = !hg_join_streams(state);
	spec.pairs = hg_join_expected_pairs(state);
	spec.reduction = hg_join_current_reduction(state);
	spec.sender = state->sender;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.columns[side] = hg_join_gathered_columns(state, (HgSide) side);
	old = MemoryContextSwitchTo(state->matcher_context);
	state->matcher = hg_matcher_create(&spec, &outer_set, &inner_set);
	MemoryContextSwitchTo(old);
	hg_join_end_sending(state);

	return hg_join_start_output(state);
}

/* All matches of a chunk are out; returns the next phase. */
HgJoinPhase
hg_join_end_chunk(HgJoinState *state)
{
	const HgInput *outer = state->inputs[HG_OUTER];

	state->next_row = 0;
	state->next_range = 0;
	if (hg_join_is_together(state))
		hg_join_leave(state, true);
	/* its rows have met all of the inner side */
	if (state->inputs[HG_INNER]->at_end)
		return state->keep[HG_OUTER] ? HG_JOIN_UNMATCHED : HG_JOIN_READ_OUTER;
	if (state->track[HG_OUTER])
		hg_row_bits_save(state->matched[HG_OUTER],
						 (HgRowCounts){outer->words->rows, outer->null_rows->rows});
	return HG_JOIN_READ_OUTER;
}

/* The outer side has no more rows; returns the next phase. */
HgJoinPhase
hg_join_end_outer(HgJoinState *state)
{
	state->next_row = 0;
	state->next_range = 0;
	return state->keep[HG_INNER] ? HG_JOIN_INNER_UNMATCHED : HG_JOIN_NEXT_INNER;
}
