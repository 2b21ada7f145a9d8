/*-------------------------------------------------------------------------
 *
 * hg_join_count.c
 *	  The join node's rows where nothing but their number is asked for, those of outer joins too.
 *
 * A join that returns outer rows without a match has a bit for each that finds one, and so has to
 * be told each match.  Where nobody asks which rows those are, how many they are follows from how
 * many have a match, which is a count like that of all matches, and so is asked of whoever counts
 * these: graphs as they are, or a device that keeps them.  That takes all rows of both sides to be
 * lent, and none held: matches of an outer row would be counted apart else (hg_match_resident.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_count.h"
#include "executor/join/hg_join_state.h"

bool
hg_join_may_count_unmatched(const HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;

	return rules->keep[HG_OUTER] && !rules->rows_wanted && !state->matched[HG_INNER].tracked &&
		   state->team.shared == NULL;
}

bool
hg_join_counts_unmatched(const HgJoinState *state)
{
	if (!hg_join_may_count_unmatched(state) || state->reading.outer_chunks != 1)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		if (input->lent == NULL || !input->at_end || hg_input_rows(input) > 0)
			return false;
	}
	return true;
}

uint64
hg_join_count(HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;
	HgMatcher *matcher = state->matching.matcher;
	uint64 matched;
	uint64 rows;

	if (!state->reading.counts_unmatched)
		return hg_matcher_count(matcher);
	matched = hg_matcher_count_matched(matcher);
	rows = state->inputs[HG_OUTER]->lent->rows - matched;
	if (rules->return_matched)
		rows += rules->single_match ? matched : hg_matcher_count(matcher);
	return rows;
}
