/*-------------------------------------------------------------------------
 *
 * hg_join_count.c
 *	  Counting the join node's rows, if only their number is needed; outer joins included.
 *
 * A join that returns rows without a match keeps a bit for each row of that side, so it must see
 * each match.  If only the number of rows is needed, it follows from the number of rows that have
 * a match.  That is a count like the number of all matches, which graphs, or a device with
 * replicas of them, can return.  All rows of both sides must be covered: with delta rows, the
 * parts of hg_match_resident.c would each count the matches of a row.
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

	return (rules->preserved[HG_OUTER] || rules->preserved[HG_INNER] || rules->single_inner) &&
		   !rules->rows_wanted && state->participants.shared == NULL;
}

bool
hg_join_counts_unmatched(const HgJoinState *state)
{
	/* a covered row without a covered match may have matched a row of a partition */
	if (!hg_join_may_count_unmatched(state) || state->reading.outer_chunks != 1 ||
		state->cover.with != HG_COVERED_WITH_ALL)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		if (input->child.covered == NULL || !input->at_end || hg_held_count(&input->held) > 0)
			return false;
	}
	return true;
}

/*
 * Returns the number of rows of a side that have a match.  The statistics get it as the number of
 * matches if nothing else is counted.
 */
static uint64
hg_join_count_matched(const HgJoinState *state, HgSide side)
{
	const HgJoinRules *rules = &state->rules;
	const bool counted =
		side == HG_INNER ? rules->single_inner : rules->single_match && !rules->single_inner;

	return hg_matcher_count_matched(state->matching.matcher, side,
									counted || !rules->return_matched);
}

uint64
hg_join_count(HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;
	HgMatcher *matcher = state->matching.matcher;
	const bool wanted[2] = {rules->return_matched && rules->single_match && !rules->single_inner,
							rules->return_matched && rules->single_inner};
	uint64 matched[2] = {0, 0};
	uint64 rows = 0;

	if (!state->reading.counts_unmatched)
		return hg_matcher_count(matcher);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (rules->preserved[side] || wanted[side])
			matched[side] = hg_join_count_matched(state, (HgSide) side);
		if (rules->preserved[side])
			rows += state->inputs[side]->child.covered->rows - matched[side];
		if (wanted[side])
			rows += matched[side];
	}
	if (rules->return_matched && !wanted[HG_OUTER] && !wanted[HG_INNER])
		rows += hg_matcher_count(matcher);
	return rows;
}
