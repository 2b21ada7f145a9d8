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

#include "executor/hg_join_state.h"

/* Add what a matcher did to a record: sums over all chunks of the node. */
static void
hg_join_add_report(HgJoinRecord *record, const HgMatcherReport *report)
{
	HgJobStats *sum = &record->report.job;
	HgJobStats before = *sum;
	double start_ms = record->report.start_ms;
	char fallback[sizeof(record->report.fallback)];

	strlcpy(fallback, record->report.fallback, sizeof(fallback));
	record->report = *report;
	if (report->fallback[0] == '\0')
		strlcpy(record->report.fallback, fallback, sizeof(fallback));
	record->report.start_ms += start_ms;
	sum->matches += before.matches;
	sum->comparisons += before.comparisons;
	sum->intersections += before.intersections;
	sum->peak_bytes = Max(sum->peak_bytes, before.peak_bytes);
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		sum->phase_ms[phase] += before.phase_ms[phase];
	record->executions++;
}

void
hg_join_current_record(HgJoinState *state, HgJoinRecord *record)
{
	*record = state->record;
	if (state->matcher != NULL)
	{
		HgMatcherReport report;

		hg_matcher_report(state->matcher, &report);
		hg_join_add_report(record, &report);
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		record->report.job.rows[side] = input->rows_read - input->null_keys;
		record->null_keys[side] = input->null_keys;
	}
	record->partitions = Max(record->partitions, 1);
	if (state->phase != HG_JOIN_DONE && !INSTR_TIME_IS_ZERO(state->started))
		record->total_ms += hg_join_elapsed_ms(state->started);
}

/* Done with the matcher: keep its figures, free what it holds. */
void
hg_join_retire_matcher(HgJoinState *state)
{
	if (state->matcher != NULL)
	{
		HgMatcherReport report;

		hg_matcher_report(state->matcher, &report);
		hg_join_add_report(&state->record, &report);
		state->matcher = NULL;
	}
	MemoryContextReset(state->matcher_context);
	state->match_count = state->match_next = 0;
	state->skip = false;
}

/* Read rows of a side until there are no more or limit bytes are held. */
static void
hg_join_fill(HgJoinState *state, HgSide side, uint64 limit)
{
	instr_time start;
	uint64 bytes;

	INSTR_TIME_SET_CURRENT(start);
	hg_input_fill(state->inputs[side], limit);
	state->record.scan_ms += hg_join_elapsed_ms(start);
	bytes = hg_input_bytes(state->inputs[HG_OUTER]) + hg_input_bytes(state->inputs[HG_INNER]);
	state->record.memory_bytes = Max(state->record.memory_bytes, bytes);
}

/*
 * Spill both sides, cut alike at a level, reading each from wherever it is read now.
 * The inner input holds its first rows in memory.
 */
static void
hg_join_partition(HgJoinState *state, int level)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];
	uint64 limit = get_hash_memory_limit() / 2;
	Plan *plan = inner->plan->plan;
	double expected = 2.0 * hg_input_bytes(inner);
	HgPartitions *partitions;
	int bits = 2;
	instr_time start;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	/* enough partitions that one fits; the plan's estimate may be low */
	if (level == 0)
		expected = Max(expected, plan->plan_rows *
									 hg_input_row_bytes(inner->encoder->width, plan->plan_width));
	while (bits < HG_SPILL_MAX_BITS && expected / (1 << bits) > limit / 2)
		bits++;

	partitions = palloc0(sizeof(HgPartitions));
	partitions->inner = hg_spill_create(inner->rows, level, bits);
	partitions->outer = hg_spill_create(outer->rows, level, bits);
	state->partitions = lcons(partitions, state->partitions);
	MemoryContextSwitchTo(old);

	INSTR_TIME_SET_CURRENT(start);
	hg_input_spill(inner, partitions->inner);
	hg_input_spill(outer, partitions->outer);
	state->record.scan_ms += hg_join_elapsed_ms(start);
	state->record.partitions += 1 << bits;
	state->record.spilled_bytes += partitions->inner->bytes + partitions->outer->bytes;
}

void
hg_join_drop_partitions(HgJoinState *state)
{
	HgPartitions *partitions = linitial(state->partitions);

	hg_spill_destroy(partitions->outer);
	hg_spill_destroy(partitions->inner);
	pfree(partitions);
	state->partitions = list_delete_first(state->partitions);
}

/* Read the inner child; returns the next phase. */
HgJoinPhase
hg_join_read_inner(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	uint64 limit = get_hash_memory_limit() / 2;

	if (!inner->at_end)
		hg_join_fill(state, HG_INNER, limit);
	if (!inner->at_end)
	{
		hg_join_partition(state, 0);
		return HG_JOIN_NEXT_PARTITION;
	}
	if (inner->words->rows == 0 && !state->keep_unmatched)
		return HG_JOIN_DONE;
	return HG_JOIN_READ_OUTER;
}

/* Take the next partition's inner rows; returns the next phase. */
HgJoinPhase
hg_join_next_partition(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];
	uint64 limit = get_hash_memory_limit() / 2;

	while (state->partitions != NIL)
	{
		HgPartitions *partitions = linitial(state->partitions);
		int partition = partitions->next++;
		int level = partitions->inner->level + 1;

		/* the one before is joined */
		if (partition > 0)
		{
			hg_spill_drop(partitions->outer, partition - 1);
			hg_spill_drop(partitions->inner, partition - 1);
		}
		if (partition == 1 << partitions->inner->bits)
		{
			hg_join_drop_partitions(state);
			continue;
		}
		if (partitions->outer->files[partition] == NULL ||
			(partitions->inner->files[partition] == NULL && !state->keep_unmatched))
			continue;
		hg_input_set_source(inner, partitions->inner, partition);
		hg_input_set_source(outer, partitions->outer, partition);
		hg_join_fill(state, HG_INNER, limit);
		if (inner->at_end)
			return HG_JOIN_READ_OUTER;
		if (level < HG_SPILL_LEVELS &&
			partitions->inner->rows[partition] < partitions->inner->total_rows)
		{
			hg_join_partition(state, level);
			hg_spill_drop(partitions->outer, partition);
			hg_spill_drop(partitions->inner, partition);
			continue;
		}
		/* cutting did not part these rows: they have one key, and go on as they are */
		hg_join_fill(state, HG_INNER, PG_UINT64_MAX);
		if (!inner->at_end)
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							errmsg("too many rows with the same join key"),
							errdetail("A HashGraph holds fewer than %u rows.", HG_MAX_ROWS),
							errhint("Set hashgraph.enabled to off for this query.")));
		return HG_JOIN_READ_OUTER;
	}
	return HG_JOIN_DONE;
}

/* The HashGraphs are built: start the stream of matches; returns the next phase. */
HgJoinPhase
hg_join_start_output(HgJoinState *state)
{
	Size bytes = state->inputs[HG_OUTER]->words->rows / 8 + 1;

	if (state->keep_unmatched)
	{
		if (bytes > state->matched_bytes)
		{
			if (state->matched != NULL)
				pfree(state->matched);
			state->matched = MemoryContextAllocHuge(state->context, bytes);
			state->matched_bytes = bytes;
		}
		memset(state->matched, 0, bytes);
	}
	if (!state->rows_wanted && !state->keep_unmatched)
	{
		state->count_left = hg_matcher_count(state->matcher);
		return HG_JOIN_COUNT;
	}
	return HG_JOIN_MATCH;
}

/* Read a chunk of the outer side and build the HashGraphs; returns the next phase. */
HgJoinPhase
hg_join_read_outer(HgJoinState *state)
{
	HgInput *inner = state->inputs[HG_INNER];
	HgInput *outer = state->inputs[HG_OUTER];
	HgMatcherSpec spec = {0};
	HgKeySet outer_set;
	HgKeySet inner_set;
	uint64 limit = get_hash_memory_limit();
	uint64 used = hg_input_bytes(inner);
	MemoryContext old;

	/* joined in one chunk: a rescan wants the input and the HashGraphs again */
	if (state->rewind && outer->at_end && state->chunks == 1 && state->partitions == NIL &&
		!state->outer_ready)
		return HG_JOIN_DONE;
	hg_join_retire_matcher(state);
	if (state->outer_ready)
		state->outer_ready = false;
	else
	{
		bool at_end = outer->at_end;

		hg_input_clear(outer);
		if (!at_end)
		{
			hg_join_fill(state, HG_OUTER, used < limit / 2 ? limit - used : limit / 2);
			state->chunks++;
		}
		if (hg_input_rows(outer) == 0)
			return state->partitions != NIL ? HG_JOIN_NEXT_PARTITION : HG_JOIN_DONE;
	}

	outer_set = hg_key_column_set(outer->words);
	inner_set = hg_key_column_set(inner->words);
	spec.key_width = inner->words->width;
	spec.mode = state->single_match && state->join_qual == NULL ? HG_MATCH_FIRST : HG_MATCH_ALL;
	spec.small = state->css.ss.ps.state->es_epq_active != NULL;
	old = MemoryContextSwitchTo(state->matcher_context);
	state->matcher = hg_matcher_create(&spec, &outer_set, &inner_set);
	MemoryContextSwitchTo(old);

	return hg_join_start_output(state);
}
