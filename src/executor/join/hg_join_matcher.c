/*-------------------------------------------------------------------------
 *
 * hg_join_matcher.c
 *	  The join node's matcher: what follows when it is made, its figures, its end.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "executor/join/hg_join_matcher.h"
#include "executor/join/hg_join_size.h"

HgJoinPhase
hg_join_start_output(HgJoinState *state)
{
	if (!hg_join_streams(state))
	{
		state->count_left = hg_matcher_count(state->matcher);
		return HG_JOIN_COUNT;
	}
	return state->reduction != NULL ? HG_JOIN_REDUCE : HG_JOIN_MATCH;
}

void
hg_join_current_record(HgJoinState *state, HgJoinRecord *record)
{
	*record = state->record;
	record->memory_bytes = state->budget.peak;
	if (state->matcher != NULL)
	{
		HgMatcherReport report;

		hg_matcher_report(state->matcher, &report);
		hg_stats_add_report(record, &report);
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		record->report.job.rows[side] = input->rows_read - input->null_keys;
		record->null_keys[side] = input->null_keys;
	}
	record->filtered_rows = state->inputs[HG_OUTER]->refused;
	record->partitions = Max(record->partitions, 1);
	if (state->phase != HG_JOIN_DONE && !INSTR_TIME_IS_ZERO(state->started))
		record->total_ms += hg_join_elapsed_ms(state->started);
	if (state->others.processes > 0)
		hg_stats_merge(record, &state->others);
}

void
hg_join_retire_matcher(HgJoinState *state)
{
	if (state->matcher != NULL)
	{
		HgMatcherReport report;

		hg_matcher_report(state->matcher, &report);
		hg_stats_add_report(&state->record, &report);
		state->matcher = NULL;
	}
	MemoryContextReset(state->matcher_context);
	hg_charge_set(&state->fetched, 0);
	state->match_count = state->match_next = 0;
	state->out->nrows = state->out_next = 0;
	state->skip = false;
}
