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

#include "executor/hg_join_state.h"

/* A side's columns that go to the device. */
typedef struct HgReducedSide
{
	const HgInput *input;
	int columns[HG_MAX_COLUMNS]; /* of the input's store */
	bool *nulls;				 /* [HG_RUN_ROWS] of those that were read last */
} HgReducedSide;

struct HgJoinReduction
{
	const HgReducer *reducer;
	HgReduction wanted; /* the same, of the columns of the two sides */
	HgReducedSide sides[2];
};

/* HgColumnSet.read: of a column store. */
static uint64
hg_join_read_column(void *arg, uint32 column, uint64 row, uint64 rows, const void **values,
					const uint8 **nulls)
{
	const HgReducedSide *side = arg;
	bool any_null;
	int run = hg_column_store_run(side->input->rows, side->columns[column], row, rows, values,
								  side->nulls, &any_null);

	*nulls = any_null ? (const uint8 *) side->nulls : NULL;
	return (uint64) run;
}

/*
 * Have the column at a place in the scan slot sent, and enter it as what is asked for; false
 * where it can't be.
 */
static bool
hg_join_reduce_column(HgJoinReduction *reduction, int place, HgReduceColumn *wanted)
{
	for (int s = HG_OUTER; s <= HG_INNER; s++)
	{
		HgReducedSide *side = &reduction->sides[s];
		HgColumnSet *set = &reduction->wanted.columns[s];
		uint32 column = 0;
		int stored = 0;

		while (stored < side->input->ncolumns && side->input->to[stored] != place)
			stored++;
		if (stored == side->input->ncolumns)
			continue;
		while (column < set->ncolumns && side->columns[column] != stored)
			column++;
		if (column == HG_MAX_COLUMNS || !side->input->rows->columns[stored].attbyval)
			return false;
		if (column == set->ncolumns)
		{
			side->columns[column] = stored;
			set->widths[column] = (uint8) side->input->rows->columns[stored].attlen;
			set->ncolumns++;
		}
		wanted->side = (uint32) s;
		wanted->column = column;
		return true;
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
	reduction = MemoryContextAllocZero(state->context, sizeof(HgJoinReduction));
	reduction->reducer = reducer;
	reduction->wanted.spec = reducer->spec;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		reduction->sides[side].input = state->inputs[side];
		reduction->wanted.columns[side].read = hg_join_read_column;
		reduction->wanted.columns[side].arg = &reduction->sides[side];
	}
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
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		reduction->sides[side].nulls =
			MemoryContextAlloc(state->context, HG_RUN_ROWS * sizeof(bool));
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
