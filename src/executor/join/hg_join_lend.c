/*-------------------------------------------------------------------------
 *
 * hg_join_lend.c
 *	  The join node's rows that are not read: resident HashGraphs have their keys.
 *
 * A side's table may lend the rows that a resident HashGraph has (batch/hg_lent.h).  They take no
 * memory, and are joined as they are (backend/matcher/hg_match_resident.c); the side's other rows
 * are read and held as ever.  Held inner rows must be there as a whole, held outer ones may come in
 * chunks, of which the first is joined with the lent ones.
 *
 * PARTITIONS.  Where held inner rows don't fit into memory, those of both sides go to disk, cut
 * into partitions, and lent rows stay what they are.  With L lent and P[i] the rows of a partition,
 *
 *		join = sum over i of (Pa[i] x Lb + La x Pb[i] + Pa[i] x Pb[i]) + La x Lb
 *
 * because rows of different partitions have different keys.  So each partition meets the other
 * side's lent rows, whole, and when the last one is joined lent rows meet each other, once.  A row
 * of a partition has found all of its matches when that is joined; a lent row has when all is done,
 * and its bit stays until then.  Of a partition that comes in several chunks, as all have one key,
 * each of a side's rows meets the other's lent ones once: those of inner chunks with the first
 * outer chunk, those of outer chunks with the first inner one.  Where so many rows are held that it
 * is cheaper, all are read instead, and go to disk.
 *
 * What is lent once is lent to all executions of the node: the snapshot is the same, and a qual
 * with parameters does not let a table lend.
 *
 * BELOW A GATHER the leader decides about both sides when it sets up the shared memory, as workers
 * can't tell what the transaction has made, and all must have the same rows lent
 * (batch/hg_shared_lent.h).  What is not lent is read by all together, as ever; where that does not
 * fit into memory it goes to disk alone, if no bits are wanted, which processes would have to
 * share: a partition is one process's, and lent rows meet each other in parts that each takes in
 * turn.  Else the lent rows are read too, by segments, and go to disk with the others.  A side that
 * one of them reads for all is read as a whole.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"

#include "batch/hg_graph_key.h"
#include "batch/hg_input_graph.h"
#include "batch/hg_input_lent.h"
#include "executor/join/hg_join_filters.h"
#include "executor/join/hg_join_lend_kept.h"
#include "executor/join/hg_join_lend_cost.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"
#include "resident/hg_resident_memory.h"

bool
hg_join_lend_enabled(void)
{
	return hg_resident && hg_build == HG_BUILD_AUTO && hg_probe == HG_PROBE_AUTO && hg_bins == 0;
}

/*
 * May this join have lent rows at all?  What processes share is lent before they begin: finding it
 * takes too long where it may turn out that there are few outer rows.
 */
static bool
hg_join_may_lend(const HgJoinState *state)
{
	return state->team.shared == NULL && !IsParallelWorker() && state->sender == NULL &&
		   (!state->together || state->lookup.loop == NULL) && !hg_join_is_spilled(&state->spill) &&
		   hg_join_lend_enabled();
}

bool
hg_join_may_yet_lend(const HgJoinState *state, HgSide side)
{
	HgGraphExtent extent;

	if (state->lending.decided[side] || !hg_join_may_lend(state))
		return false;
	extent = hg_input_may_lend(state->inputs[side]);
	return extent.share + extent.older > 0;
}

/* Has an input a graph with the parts of its key in this order? */
static bool
hg_join_has_order(const HgInput *input, const int *order, int nparts)
{
	int other[HG_GRAPH_COLUMNS];

	for (int n = 0; hg_input_graph_order(input, n, other); n++)
		if (memcmp(other, order, nparts * sizeof(int)) == 0)
			return true;
	return false;
}

void
hg_join_order_keys(HgJoinState *state, HgKeyEncoder *encoder)
{
	int order[HG_GRAPH_COLUMNS];
	bool found = false;

	/* the processes of a parallel join might choose different ones */
	if (encoder->nparts == 1 || state->css.ss.ps.plan->parallel_aware || !hg_join_may_lend(state))
		return;
	/* one that graphs of both sides have, or else one of either */
	for (int n = 0; !found && hg_input_graph_order(state->inputs[HG_INNER], n, order); n++)
		found = hg_join_has_order(state->inputs[HG_OUTER], order, encoder->nparts);
	for (int side = HG_INNER; side >= HG_OUTER && !found; side--)
		found = hg_input_graph_order(state->inputs[side], 0, order);
	if (!found)
		return;
	hg_graph_order_encoder(encoder, order);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_input_order_keys(state->inputs[side], order);
}

/* What is expected of the join, with what is known of rows that are lent or held already. */
static void
hg_join_lend_shape(const HgJoinState *state, HgLendShape *shape)
{
	/* the plan's estimates are one's */
	double processes = hg_join_processes(state->together);

	*shape = (HgLendShape){.dense = state->dense,
						   .pairs = state->css.ss.ps.plan->plan_rows * processes,
						   .answered = !hg_join_streams(&state->rules, state->matched) ||
									   hg_join_may_count_unmatched(state)};
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgInput *input = state->inputs[side];

		shape->rows[side] = hg_join_planned_rows(state, (HgSide) side) * processes;
		shape->columns[side] = state->rules.rows_wanted ? input->ncolumns : 0;
		if (input->lent != NULL)
		{
			shape->edges[side] = (double) input->lent->graph->flat.rows;
			shape->kept[side] = hg_resident_graph_is_kept(input->lent->graph);
			shape->rows[side] = (double) (input->words->rows + input->lent->rows);
			/* there may be as many as the plan says, and are more than there were so far */
			if (!input->at_end)
				shape->rows[side] = Max(shape->rows[side] + (double) input->words->rows,
										hg_join_planned_rows(state, (HgSide) side) * processes);
			shape->lent[side] = (double) input->lent->rows / Max(shape->rows[side], 1);
		}
		else if (input->at_end)
			shape->rows[side] = (double) input->words->rows;
		else if (state->read_once != side)
		{
			const HgGraphExtent extent = hg_input_may_lend(input);

			shape->lent[side] = extent.share + extent.older;
			/* the leader looks for all processes */
			shape->looks[side] = extent.changed * processes;
			shape->edges[side] = extent.rows;
			shape->kept[side] = extent.kept;
		}
	}
	/* a device that lacks a column would leave the matches to this process, row by row */
	if (hg_join_reduces_matches(state->reduction) && shape->kept[HG_OUTER] && shape->kept[HG_INNER])
		shape->answered = hg_join_has_kept_columns(state);
	shape->inner_room = hg_join_inner_room(state) * processes;
	shape->spills_apart = hg_join_spills_apart(state->rules.join_type, state->together > 0);
}

/* Is a device to be asked about the pairs of both sides' lent rows? */
static bool
hg_join_asks_device(const HgJoinState *state)
{
	const bool lent[2] = {state->inputs[HG_OUTER]->lent != NULL,
						  state->inputs[HG_INNER]->lent != NULL};
	HgLendShape shape;

	if (!lent[HG_OUTER] || !lent[HG_INNER])
		return false;
	hg_join_lend_shape(state, &shape);
	return hg_lend_asks_device(&shape, lent);
}

void
hg_join_expect_lent(const HgJoinState *state, bool lend[2])
{
	HgLendShape shape;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		lend[side] = state->inputs[side]->lent != NULL;
	if (!hg_join_may_lend(state))
		return;
	hg_join_lend_shape(state, &shape);
	if (!hg_force)
		hg_join_lend_choose(&shape, state->lending.decided, lend);
	else
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			lend[side] |= !state->lending.decided[side] && shape.lent[side] > 0;
}

/*
 * Is a device expected to be asked about the rows of both sides, so that quals need not be decided
 * here?  Where rows without a match are returned, or counted, it must be known which there are.
 */
static bool
hg_join_defers(const HgJoinState *state, const bool lend[2])
{
	HgLendShape shape;

	if (state->rules.join_type != JOIN_INNER)
		return false;
	hg_join_lend_shape(state, &shape);
	return hg_lend_asks_device(&shape, lend);
}

void
hg_join_lend(HgJoinState *state, HgSide side)
{
	HgInput *input = state->inputs[side];
	instr_time start;
	bool lend[2];

	if (state->lending.decided[side])
		return;
	hg_join_expect_lent(state, lend);
	state->lending.decided[side] = true;
	/* one that is asked for, and not there, learns that it was missed */
	if (!hg_join_may_lend(state) || (!lend[side] && hg_input_may_lend(input).share > 0))
		return;
	INSTR_TIME_SET_CURRENT(start);
	(void) hg_input_lend(input, hg_join_defers(state, lend), NULL, NULL);
	state->progress.record.scan_ms += hg_elapsed_ms(start);
}

/* ---------------------------------------------------------------------
 * Partitions
 * ---------------------------------------------------------------------
 */

/*
 * Where held rows don't fit into memory: is it faster to have them alone go to disk, than all rows?
 */
static bool
hg_join_partitions_pay(const HgJoinState *state, const bool fixed[2], bool lend[2])
{
	const bool none[2] = {false, false};
	HgLendShape shape;

	if (hg_force)
		return true;
	hg_join_lend_shape(state, &shape);
	shape.inner_room = 0;
	hg_join_lend_choose(&shape, fixed, lend);
	return hg_join_lend_ns(&shape, lend) < hg_join_lend_ns(&shape, none);
}

bool
hg_join_stays_lent(const HgJoinState *state)
{
	const bool fixed[2] = {state->lending.decided[HG_OUTER], true};
	bool lend[2] = {state->inputs[HG_OUTER]->lent != NULL, state->inputs[HG_INNER]->lent != NULL};

	return lend[HG_INNER] && hg_join_partitions_pay(state, fixed, lend);
}

void
hg_join_lend_to_partitions(HgJoinState *state)
{
	state->lending.with = HG_LENT_WITH_PARTITIONS;
	/* no lent row has found a match: see hg_join_lasting_places() */
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_row_bits_clear(state->matched[side].bits);
}

bool
hg_join_lend_to_lent(HgJoinState *state)
{
	if (state->lending.with != HG_LENT_WITH_PARTITIONS)
		return false;
	state->lending.with = HG_LENT_WITH_LENT;
	return true;
}

void
hg_join_lend_to_all(HgJoinState *state)
{
	state->lending.with = HG_LENT_WITH_ALL;
}

uint64
hg_join_lasting_places(const HgJoinState *state, HgSide side)
{
	const HgLent *lent = state->inputs[side]->lent;

	return state->lending.with != HG_LENT_WITH_ALL && lent != NULL ? hg_lent_places(lent, 0) : 0;
}

/* ---------------------------------------------------------------------
 * Below a Gather
 * ---------------------------------------------------------------------
 */

/* Are held rows of all processes to go to disk alone, where they don't fit? */
static bool
hg_join_stays_lent_together(const HgJoinState *state)
{
	const bool fixed[2] = {true, true};
	bool lend[2] = {state->inputs[HG_OUTER]->lent != NULL, state->inputs[HG_INNER]->lent != NULL};

	return lend[HG_INNER] && hg_join_spills_apart(state->rules.join_type, true) &&
		   hg_join_partitions_pay(state, fixed, lend);
}

void
hg_join_lend_together(HgJoinState *state, HgJoinShared *shared)
{
	bool lend[2];

	shared->at_once = false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_shared_lent_init(&shared->lent[side]);
		/* by an execution without workers, whose rows are forgotten */
		if (state->inputs[side]->lent != NULL)
			hg_input_return_lent(state->inputs[side]);
	}
	if (!state->together)
		return;
	hg_join_expect_lent(state, lend);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (lend[side] && !state->lending.decided[side])
			(void) hg_input_lend(state->inputs[side], false, &shared->lent[side],
								 state->css.ss.ps.state->es_query_dsa);
		state->lending.decided[side] = true;
	}
	shared->lends = hg_join_has_lent(state);
	shared->at_once = hg_join_asks_device(state);
	shared->stays_lent = hg_join_stays_lent_together(state);
	/* what it guards lies in the memory of residents */
	if (shared->lends)
		LWLockInitialize(&shared->lending, hg_resident_tranche());
}

void
hg_join_lend_again(HgJoinState *state)
{
	HgJoinShared *shared = state->team.shared;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgSharedLent *lent = &shared->lent[side];

		/* the last execution has read all rows, and so does the next one */
		if (lent->lent && !shared->stays_lent && pg_atomic_read_u32(&shared->spill_bits) != 0)
		{
			hg_input_return_lent(state->inputs[side]);
			lent->lent = false;
		}
		pg_atomic_write_u32(&lent->next_part, 0);
	}
}

void
hg_join_borrow(HgJoinState *state)
{
	HgJoinShared *shared = state->team.shared;
	dsa_area *area = state->css.ss.ps.state->es_query_dsa;
	HgSharedPins pins[2];

	if (!shared->lent[HG_OUTER].lent && !shared->lent[HG_INNER].lent)
		return;
	/*
	 * What the leader has lent of both sides is pinned as one: it holds either all of it, or
	 * nothing any more.  Finding the lent rows of large tables takes long, and comes after the
	 * lock.
	 */
	LWLockAcquire(&shared->lending, LW_SHARED);
	state->lending.too_late = !shared->lends;
	for (int side = HG_OUTER; side <= HG_INNER && shared->lends; side++)
		if (shared->lent[side].lent)
			hg_input_pin_lent(state->inputs[side], &shared->lent[side], area, &pins[side]);
	LWLockRelease(&shared->lending);
	for (int side = HG_OUTER; side <= HG_INNER && !state->lending.too_late; side++)
		if (shared->lent[side].lent)
			hg_input_borrow(state->inputs[side], &shared->lent[side], area, &pins[side]);
}

void
hg_join_end_lending(HgJoinShared *shared)
{
	if (!shared->lends)
		return;
	LWLockAcquire(&shared->lending, LW_EXCLUSIVE);
	shared->lends = false;
	LWLockRelease(&shared->lending);
}

void
hg_join_read_lent_back(HgJoinState *state)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (state->inputs[side]->lent != NULL)
			hg_input_begin_back(state->inputs[side], &state->team.shared->lent[side].next_part);
}

bool
hg_join_has_lent(const HgJoinState *state)
{
	return state->inputs[HG_OUTER]->lent != NULL || state->inputs[HG_INNER]->lent != NULL;
}

bool
hg_join_expects_lent(const HgJoinState *state)
{
	bool lent[2];

	hg_join_expect_lent(state, lent);
	return lent[HG_OUTER] || lent[HG_INNER];
}

void
hg_join_return_lent(HgJoinState *state, HgSide side)
{
	HgInput *input = state->inputs[side];

	if (input->lent == NULL)
		return;
	hg_input_release(input);
	hg_input_return_lent(input);
	hg_input_rescan(input);
}

bool
hg_join_joins_lent(const HgJoinState *state, HgSide side)
{
	const uint64 chunks =
		side == HG_OUTER ? state->reading.outer_chunks : state->reading.inner_chunks;

	return state->inputs[side]->lent != NULL && chunks <= 1;
}

bool
hg_join_ends_lent(const HgJoinState *state, HgSide side)
{
	return state->lending.with != HG_LENT_WITH_PARTITIONS && hg_join_joins_lent(state, side);
}

bool
hg_join_lent_repeats(const HgJoinState *state, uint64 inner_held)
{
	/* beside lent ones, or in several processes, each of which joins its own with lent rows */
	bool apart = state->inputs[HG_INNER]->lent != NULL ||
				 (state->team.shared != NULL && state->inputs[HG_OUTER]->lent != NULL);

	/* an inner side that is unique has no other match; partitions have rows, as a whole */
	return (state->rules.join_type == JOIN_SEMI || state->rules.join_type == JOIN_ANTI) && apart &&
		   (inner_held > 0 || state->lending.with != HG_LENT_WITH_ALL);
}

void
hg_join_lend_to_matcher(HgJoinState *state, HgMatcherSpec *spec)
{
	HgJoinShared *shared = state->team.shared;
	bool on_device = shared != NULL ? shared->at_once : hg_join_asks_device(state);

	if (state->lending.with != HG_LENT_WITH_ALL)
	{
		spec->lent_apart = state->lending.with == HG_LENT_WITH_PARTITIONS;
		spec->lent_part = shared != NULL ? &shared->next_part : NULL;
		/* who asks a device is agreed on by those that build together */
		on_device &= !spec->lent_apart && shared == NULL;
	}

	/* see hg_join_defers(); it may be one of a star that a device has joined but for some facts */
	if (state->rules.join_type != JOIN_INNER)
		hg_join_decide_lent(state);
	else
		hg_join_tell_undecided(state, spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		spec->lent[side] = hg_join_joins_lent(state, (HgSide) side) ? &input->lent->side : NULL;
		spec->first_row[side] = hg_input_first_number(input);
	}
	if (spec->lent[HG_OUTER] == NULL || spec->lent[HG_INNER] == NULL)
		return;
	if (on_device)
		hg_join_tell_kept(state, spec);
	else
		hg_join_wake_slices(state);
}
