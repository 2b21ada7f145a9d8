/*-------------------------------------------------------------------------
 *
 * hg_join_reduce.c
 *	  The join node's matches as groups: columns go to a device, and what it makes of them up.
 *
 * A node above that aggregates can take groups of rows as well as rows (HgReducer).  The join
 * lets a device make them of its matches where these are its rows as they are: exact keys, no
 * other quals, nothing remembered of who has matched, and columns of fixed width by value.
 * That is decided for each chunk of the outer side, before its keys are handed over; a chunk whose
 * matches are not reduced, for whatever reason, streams them, and both add up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_state.h"

struct HgJoinReduction
{
	const HgReducer *reducer;
	HgReduction wanted; /* the same, of the columns of the two sides */
	HgSentColumns sides[2];
};

/*
 * Have the column at a place in the scan slot sent, and enter it as what is asked for; false
 * where it can't be.
 */
static bool
hg_join_reduce_column(HgJoinReduction *reduction, int place, HgReduceColumn *wanted)
{
	for (int s = HG_OUTER; s <= HG_INNER; s++)
	{
		HgSentColumns *side = &reduction->sides[s];
		int stored = 0;

		while (stored < side->input->ncolumns && side->input->to[stored] != place)
			stored++;
		if (stored == side->input->ncolumns)
			continue;
		wanted->side = (uint32) s;
		return hg_join_send_column(side, &reduction->wanted.columns[s], stored, &wanted->column);
	}
	return false;
}

bool
hg_join_begin_reduction(HgJoinState *state, const HgReducer *reducer, const int *places)
{
	HgJoinReduction *reduction;
	HgReduceSpec *spec;
	bool possible = true;

	/* what becomes of an inner row, and of an outer one without a match, only pairs can tell */
	if ((state->join_type != JOIN_INNER && state->join_type != JOIN_SEMI) ||
		state->join_qual != NULL)
		return false;
	/* without any column there are only matches to be counted, which takes no groups */
	if (reducer->spec.nkeys + reducer->spec.nitems == 0)
		return false;
	reduction = MemoryContextAllocZero(state->context, sizeof(HgJoinReduction));
	reduction->reducer = reducer;
	reduction->wanted.spec = reducer->spec;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_join_begin_sent(state, (HgSide) side, &reduction->sides[side],
						   &reduction->wanted.columns[side]);
	spec = &reduction->wanted.spec;
	for (uint32 i = 0; i < spec->nkeys && possible; i++)
		possible = hg_join_reduce_column(reduction, places[spec->keys[i].column], &spec->keys[i]);
	for (uint32 i = 0; i < spec->nitems && possible; i++)
		possible = hg_join_reduce_column(reduction, places[spec->items[i].argument.column],
										 &spec->items[i].argument);
	if (!possible)
	{
		pfree(reduction);
		return false;
	}
	state->reduction = reduction;
	return true;
}

const HgReduction *
hg_join_planned_reduction(const HgJoinState *state)
{
	return state->reduction != NULL ? &state->reduction->wanted : NULL;
}

const HgReduction *
hg_join_current_reduction(HgJoinState *state)
{
	HgJoinReduction *reduction = state->reduction;

	if (reduction == NULL || state->track[HG_OUTER] || state->track[HG_INNER])
		return NULL;
	reduction->wanted.spec.max_groups = reduction->reducer->room(reduction->reducer->arg);
	return reduction->wanted.spec.max_groups > 0 ? &reduction->wanted : NULL;
}

bool
hg_join_reduce(HgJoinState *state)
{
	const HgJoinReduction *reduction = state->reduction;
	HgGroupSet groups;

	if (reduction == NULL || !hg_matcher_reduce(state->matcher, &groups))
		return false;
	state->reduced_rows += groups.pairs;
	reduction->reducer->take(reduction->reducer->arg, groups.words, groups.count);
	return true;
}
