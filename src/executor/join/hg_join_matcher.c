/*-------------------------------------------------------------------------
 *
 * hg_join_matcher.c
 *	  The join node's matcher: creation, statistics and end.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "executor/join/hg_join_state.h"

void
hg_join_matching_init(HgJoinMatching *matching, HgJoinMemory *memory)
{
	matching->matcher = NULL;
	matching->context =
		AllocSetContextCreate(memory->context, "HashGraphJoin chunk", ALLOCSET_SMALL_SIZES);
	matching->fetched = (HgCharge){.budget = &memory->budget};
	matching->reckoned = 0;
	matching->job = (HgCharge){.budget = &memory->budget};
}

void
hg_join_charge_job(HgJoinMatching *matching)
{
	uint64 bytes = hg_matcher_job_bytes(matching->matcher);

	hg_charge_set(&matching->job, bytes > matching->reckoned ? bytes - matching->reckoned : 0);
}

/* Returns the bytes that this process may still use: its part if it shares the join. */
static uint64
hg_join_room(const HgJoinMemory *memory, const HgParticipantsSpec *participants)
{
	if (participants != NULL)
		return participants->match_bytes / participants->processes;
	return hg_budget_room(&memory->budget);
}

/* HgMatcherSpec.is_finished */
static bool
hg_join_outer_is_finished(void *arg, uint32 outer_row)
{
	return hg_join_row_is_finished(arg, outer_row);
}

bool
hg_join_is_unread(const HgJoinRules *rules, const HgInput *input, const HgJoinMatched *matched)
{
	return input->held.ncolumns == 0 && !matched->tracked && rules->join_qual == NULL;
}

/* Memory accesses that reading the columns of a side's row takes (a cost term). */
static int
hg_join_accesses(const HgInput *input)
{
	int accesses = 0;

	/* a by-reference value lies elsewhere than its pointer */
	for (int c = 0; c < input->held.ncolumns; c++)
		accesses += input->held.rows->columns[c].attbyval ? 1 : 2;
	return accesses;
}

void
hg_join_create_matcher(HgJoinState *state, HgMatcherSpec *spec)
{
	HgJoinMatching *matching = &state->matching;
	const HgKeyColumn *words[2] = {
		[HG_OUTER] = state->inputs[HG_OUTER]->held.words,
		[HG_INNER] = state->inputs[HG_INNER]->held.words,
	};
	HgKeySet outer_set = hg_key_column_set(words[HG_OUTER]);
	HgKeySet inner_set = hg_key_column_set(words[HG_INNER]);
	MemoryContext old;

	spec->key_width = words[HG_INNER]->width;
	spec->mode =
		state->rules.single_match && state->rules.join_qual == NULL ? HG_MATCH_FIRST : HG_MATCH_ALL;
	/* without a qual HG_MATCH_FIRST suffices */
	if (state->rules.single_match && state->rules.join_qual != NULL)
	{
		spec->is_finished = hg_join_outer_is_finished;
		spec->finished_arg = state;
	}
	spec->small = state->css.ss.ps.state->es_epq_active != NULL;
	spec->parallel = hg_join_is_parallel(state);
	spec->counted = !hg_join_streams(&state->rules, state->matched);
	matching->reckoned =
		hg_key_column_job_bytes(words[HG_OUTER]) + hg_key_column_job_bytes(words[HG_INNER]);
	spec->direct = true;
	spec->direct_limit =
		Max(matching->reckoned + hg_join_room(&state->memory, spec->participants), 1);
	/* rechecks of single matches need the matches of a row to be adjacent */
	spec->any_order = state->output.any_order && state->rules.join_qual == NULL;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec->unread[side] =
			hg_join_is_unread(&state->rules, state->inputs[side], &state->matched[side]);
		spec->any_order &= !state->matched[side].tracked;
		spec->accesses[side] = spec->counted ? 0 : hg_join_accesses(state->inputs[side]);
	}
	spec->reduction = hg_join_current_reduction(state->reduction, state->matched);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec->columns[side] = hg_join_gathered_columns(state->gather, (HgSide) side);
	spec->upload = state->upload;
	spec->budget = &state->memory.budget;
	spec->progress = &state->progress.shown;
	hg_join_cover_matcher(state, spec);

	hg_join_enter(&state->progress, HG_JOIN_BUILD);
	old = MemoryContextSwitchTo(matching->context);
	matching->matcher = hg_matcher_create(spec, &outer_set, &inner_set);
	MemoryContextSwitchTo(old);
	hg_join_end_upload(&state->upload, state->inputs);
	hg_charge_set(&matching->fetched, hg_matcher_fetched_bytes(matching->matcher));
	hg_join_charge_job(matching);
}

void
hg_join_discard_matcher(HgJoinMatching *matching)
{
	/* the context's cleanup closes the job */
	matching->matcher = NULL;
	MemoryContextReset(matching->context);
	hg_charge_set(&matching->fetched, 0);
	hg_charge_set(&matching->job, 0);
}

void
hg_join_retire_matcher(HgJoinMatching *matching, HgJoinRecord *record)
{
	if (matching->matcher != NULL)
	{
		HgMatcherReport report;

		hg_matcher_report(matching->matcher, &report);
		hg_stats_add_report(record, &report);
	}
	hg_join_discard_matcher(matching);
}
