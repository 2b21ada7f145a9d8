/*-------------------------------------------------------------------------
 *
 * hg_join_cover.c
 *	  The join node's covered rows, whose keys come from cached HashGraphs.
 *
 * A join can cover the rows of a side's table that a cached HashGraph has (batch/hg_covered.h).
 * They take no memory, and are joined as they are (backend/matcher/hg_match_resident.c).  The
 * side's delta rows are read into memory as usual.  Inner delta rows must all be in memory.  Outer
 * delta rows may come in chunks, of which the first is joined with the covered rows.
 *
 * PARTITIONS.  If inner delta rows do not fit into memory, the delta rows of both sides go to disk
 * in partitions, and covered rows stay covered.  With L the covered rows and P[i] the rows of a
 * partition of sides a and b,
 *
 *		join = sum over i of (Pa[i] x Lb + La x Pb[i] + Pa[i] x Pb[i]) + La x Lb
 *
 * because rows of different partitions have different keys.  So each partition meets all covered
 * rows of the other side, and after the last one covered rows meet each other, once.  A row of a
 * partition has found all of its matches when the partition is joined; a covered row when all is
 * done, and its bit stays until then.  If all rows of a partition have one key, it comes in
 * several chunks.  Inner chunks meet the covered rows with the first outer chunk, and outer chunks
 * with the first inner one, so each row meets them once.  If delta rows are so many that it is
 * cheaper, all rows are read and go to disk.
 *
 * Rows that are covered once are covered in all executions of the node: the snapshot is the same,
 * and a table whose qual has parameters is not covered.
 *
 * BELOW A GATHER the leader chooses for both sides when it sets up the shared memory.  Workers
 * cannot see what the transaction has changed, and all processes must have the same covered rows
 * (batch/hg_shared_covered.h).  All processes read the delta rows together.  Delta rows that do
 * not fit go to disk alone if no bits are needed, which processes would have to share: each
 * partition belongs to one process, and processes take parts of the pairs of covered rows in turn.
 * Otherwise the covered rows are read too, by segments, and go to disk with the delta rows.  A
 * single-reader side is read as a whole.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"

#include "batch/hg_graph_key.h"
#include "executor/join/hg_join_cover.h"
#include "executor/join/hg_join_replica.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"
#include "resident/hg_resident_memory.h"

bool
hg_join_may_count_unmatched(const HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;

	return (rules->preserved[HG_OUTER] || rules->preserved[HG_INNER] || rules->single_inner) &&
		   !rules->rows_wanted && state->participants.shared == NULL;
}

bool
hg_join_cover_enabled(void)
{
	return hg_resident && hg_build == HG_BUILD_AUTO && hg_probe == HG_PROBE_AUTO && hg_bins == 0;
}

/*
 * Returns true if this join may cover rows at all.  Processes that share a join cover rows before
 * they begin, which takes too long if there may be few outer rows.
 */
static bool
hg_join_may_cover(const HgJoinState *state)
{
	return state->participants.shared == NULL && state->upload == NULL &&
		   (!state->parallel_hash || state->lookup.loop == NULL) &&
		   !hg_join_is_spilled(&state->spill) && hg_join_cover_enabled();
}

bool
hg_join_may_yet_cover(const HgJoinState *state, HgSide side)
{
	HgGraphExtent extent;

	if (state->inputs[side]->child.cover.decided || !hg_join_may_cover(state))
		return false;
	extent = hg_child_may_cover(&state->inputs[side]->child);
	return extent.share + extent.older > 0;
}

/* Returns true if an input has a graph with its key parts in this order. */
static bool
hg_join_has_order(const HgInput *input, const int *order, int nparts)
{
	int other[HG_GRAPH_COLUMNS];

	for (int n = 0; hg_child_graph_order(&input->child, n, other); n++)
		if (memcmp(other, order, nparts * sizeof(int)) == 0)
			return true;
	return false;
}

void
hg_join_order_keys(HgJoinState *state, HgKeyEncoder *encoder)
{
	int order[HG_GRAPH_COLUMNS];
	bool found = false;

	/* the processes of a parallel join might choose different orders */
	if (encoder->nparts == 1 || state->css.ss.ps.plan->parallel_aware || !hg_join_may_cover(state))
		return;
	/* an order that graphs of both sides have, or else of either */
	for (int n = 0; !found && hg_child_graph_order(&state->inputs[HG_INNER]->child, n, order); n++)
		found = hg_join_has_order(state->inputs[HG_OUTER], order, encoder->nparts);
	for (int side = HG_INNER; side >= HG_OUTER && !found; side--)
		found = hg_child_graph_order(&state->inputs[side]->child, 0, order);
	if (!found)
		return;
	hg_graph_order_encoder(encoder, order);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_child_order_keys(&state->inputs[side]->child, order);
}

/* Sets *shape from the plan, the covered rows and the rows in memory. */
static void
hg_join_cover_shape(const HgJoinState *state, HgCoverShape *shape)
{
	/* the plan's estimates are per process */
	double processes = hg_join_processes(state->parallel_hash);

	*shape = (HgCoverShape){.dense = state->dense,
							.pairs = state->css.ss.ps.plan->plan_rows * processes,
							.answered = !hg_join_streams(&state->rules, state->matched) ||
										hg_join_may_count_unmatched(state)};
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgInput *input = state->inputs[side];

		shape->decided[side] = input->child.cover.decided;
		shape->rows[side] = hg_join_planned_rows(state, (HgSide) side) * processes;
		shape->columns[side] = state->rules.rows_wanted ? input->held.ncolumns : 0;
		if (input->child.covered != NULL)
		{
			shape->edges[side] = (double) input->child.covered->graph->flat.rows;
			shape->has_replica[side] = hg_resident_graph_is_replicated(input->child.covered->graph);
			shape->rows[side] = (double) (input->held.words->rows + input->child.covered->rows);
			/* there are at least twice the rows so far, or as many as planned */
			if (!input->at_end)
				shape->rows[side] = Max(shape->rows[side] + (double) input->held.words->rows,
										hg_join_planned_rows(state, (HgSide) side) * processes);
			shape->covered[side] = (double) input->child.covered->rows / Max(shape->rows[side], 1);
		}
		else if (input->at_end)
			shape->rows[side] = (double) input->held.words->rows;
		else if (state->read_once != side)
		{
			const HgGraphExtent extent = hg_child_may_cover(&input->child);

			shape->covered[side] = extent.share + extent.older;
			/* the leader checks visibility for all processes */
			shape->pages[side] = extent.changed * processes;
			shape->edges[side] = extent.rows;
			shape->has_replica[side] = extent.has_replica;
		}
	}
	/* a device that lacks a column would leave the matches to this process, row by row */
	if (hg_join_reduces_matches(state->reduction) && shape->has_replica[HG_OUTER] &&
		shape->has_replica[HG_INNER])
		shape->answered = hg_join_has_replica_columns(state->reduction, state->inputs);
	shape->inner_room = hg_join_inner_room(&state->memory, state->inputs[HG_INNER]) * processes;
	shape->spills_apart = hg_join_spills_apart(state->rules.join_type, state->parallel_hash > 0);
}

/* Returns true if a device is asked about the pairs of both sides' covered rows. */
static bool
hg_join_asks_device(const HgJoinState *state)
{
	const bool covered[2] = {state->inputs[HG_OUTER]->child.covered != NULL,
							 state->inputs[HG_INNER]->child.covered != NULL};
	HgCoverShape shape;

	if (!covered[HG_OUTER] || !covered[HG_INNER])
		return false;
	hg_join_cover_shape(state, &shape);
	return hg_cover_asks_device(&shape, covered);
}

void
hg_join_expect_covered(const HgJoinState *state, bool cover[2])
{
	HgCoverShape shape;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		cover[side] = state->inputs[side]->child.covered != NULL;
	if (!hg_join_may_cover(state))
		return;
	hg_join_cover_shape(state, &shape);
	if (!hg_force)
		hg_join_cover_choose(&shape, cover);
	else
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			cover[side] |= !shape.decided[side] && shape.covered[side] > 0;
}

/*
 * Returns true if a device is expected to be asked about both sides' rows, so that predicates can
 * stay pending.  If rows without a match are returned or counted, the rows must be known.
 */
static bool
hg_join_keeps_pending(const HgJoinState *state, const bool cover[2])
{
	HgCoverShape shape;

	if (state->rules.join_type != JOIN_INNER)
		return false;
	hg_join_cover_shape(state, &shape);
	return hg_cover_asks_device(&shape, cover);
}

void
hg_join_cover(HgJoinState *state, HgSide side)
{
	HgInput *input = state->inputs[side];
	double start;
	bool cover[2];

	if (input->child.cover.decided)
		return;
	hg_join_expect_covered(state, cover);
	input->child.cover.decided = true;
	/* a version that is requested and not there is recorded as missing */
	if (!hg_join_may_cover(state) || (!cover[side] && hg_child_may_cover(&input->child).share > 0))
		return;
	start = hg_clock_ms();
	(void) hg_child_cover(&input->child, hg_join_keeps_pending(state, cover), NULL);
	state->progress.record.scan_ms += hg_clock_ms() - start;
}

/* ---------------------------------------------------------------------
 * Partitions
 * ---------------------------------------------------------------------
 */

/* Returns true if putting only delta rows on disk is faster than reading all rows. */
static bool
hg_join_partitions_pay(const HgJoinState *state, bool cover[2])
{
	const bool none[2] = {false, false};
	HgCoverShape shape;

	if (hg_force)
		return true;
	hg_join_cover_shape(state, &shape);
	shape.inner_room = 0;
	shape.decided[HG_INNER] = true;
	hg_join_cover_choose(&shape, cover);
	return hg_join_cover_ns(&shape, cover) < hg_join_cover_ns(&shape, none);
}

bool
hg_join_stays_covered(const HgJoinState *state)
{
	bool cover[2] = {state->inputs[HG_OUTER]->child.covered != NULL,
					 state->inputs[HG_INNER]->child.covered != NULL};

	return cover[HG_INNER] && hg_join_partitions_pay(state, cover);
}

void
hg_join_covered_meet_partitions(HgJoinCover *cover, const HgJoinMatched matched[2])
{
	cover->with = HG_COVERED_WITH_PARTITIONS;
	/* no covered row has found a match: see hg_join_lasting_ordinals() */
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_row_bits_clear(matched[side].bits);
}

bool
hg_join_covered_meet_covered(HgJoinCover *cover)
{
	if (cover->with != HG_COVERED_WITH_PARTITIONS)
		return false;
	cover->with = HG_COVERED_WITH_COVERED;
	return true;
}

void
hg_join_covered_meet_all(HgJoinCover *cover)
{
	cover->with = HG_COVERED_WITH_ALL;
}

uint64
hg_join_lasting_ordinals(const HgJoinCover *cover, const HgInput *input)
{
	const HgCovered *covered = input->child.covered;

	return cover->with != HG_COVERED_WITH_ALL && covered != NULL
			   ? hg_covered_count_ordinals(covered, 0)
			   : 0;
}

/* ---------------------------------------------------------------------
 * Below a Gather
 * ---------------------------------------------------------------------
 */

void
hg_join_cover_parallel(HgJoinState *state, HgJoinShared *shared)
{
	bool cover[2];

	shared->at_once = false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_shared_covered_init(&shared->covered[side]);
		/* an execution without workers has covered them; its rows are discarded */
		if (state->inputs[side]->child.covered != NULL)
			hg_child_uncover(&state->inputs[side]->child);
	}
	if (!state->parallel_hash)
		return;
	hg_join_expect_covered(state, cover);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgChildRows *child = &state->inputs[side]->child;

		if (cover[side] && !child->cover.decided)
			(void) hg_child_cover(child, false, &shared->covered[side]);
		child->cover.decided = true;
	}
	shared->covers = hg_join_has_covered(state->inputs);
	shared->at_once = hg_join_asks_device(state);
	shared->stays_covered =
		hg_join_spills_apart(state->rules.join_type, true) && hg_join_stays_covered(state);
	/* what it guards lies in the cache's shared memory */
	if (shared->covers)
		LWLockInitialize(&shared->cover_lock, hg_resident_tranche());
}

void
hg_join_cover_again(HgInput *const inputs[2], HgJoinShared *shared)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgSharedCovered *covered = &shared->covered[side];

		/* the last execution has read all rows, and so does the next one */
		if (covered->covered && !shared->stays_covered &&
			pg_atomic_read_u32(&shared->spill_bits) != 0)
		{
			hg_child_uncover(&inputs[side]->child);
			covered->covered = false;
		}
		pg_atomic_write_u32(&covered->next_part, 0);
	}
}

void
hg_join_attach_covered(HgJoinState *state)
{
	HgJoinShared *shared = state->participants.shared;

	if (!shared->covered[HG_OUTER].covered && !shared->covered[HG_INNER].covered)
		return;
	/*
	 * Pins both sides' covered rows as one: the leader holds all of them or none.  Finding the
	 * covered rows of large tables takes long, and comes after the lock.
	 */
	LWLockAcquire(&shared->cover_lock, LW_SHARED);
	state->cover.too_late = !shared->covers;
	for (int side = HG_OUTER; side <= HG_INNER && shared->covers; side++)
		if (shared->covered[side].covered)
			hg_child_pin_covered(&state->inputs[side]->child, &shared->covered[side]);
	LWLockRelease(&shared->cover_lock);
	for (int side = HG_OUTER; side <= HG_INNER && !state->cover.too_late; side++)
		if (shared->covered[side].covered)
			hg_child_attach_covered(&state->inputs[side]->child, &shared->covered[side]);
}

void
hg_join_end_cover(HgJoinShared *shared)
{
	if (!shared->covers)
		return;
	LWLockAcquire(&shared->cover_lock, LW_EXCLUSIVE);
	shared->covers = false;
	LWLockRelease(&shared->cover_lock);
}

void
hg_join_read_covered(HgInput *const inputs[2], HgJoinShared *shared)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (inputs[side]->child.covered != NULL)
			hg_input_begin_uncover(inputs[side], &shared->covered[side].next_part);
}

bool
hg_join_has_covered(HgInput *const inputs[2])
{
	return inputs[HG_OUTER]->child.covered != NULL || inputs[HG_INNER]->child.covered != NULL;
}

bool
hg_join_expects_covered(const HgJoinState *state)
{
	bool covered[2];

	hg_join_expect_covered(state, covered);
	return covered[HG_OUTER] || covered[HG_INNER];
}

void
hg_join_uncover(HgInput *input)
{
	if (input->child.covered == NULL)
		return;
	hg_held_release(&input->held);
	hg_child_uncover(&input->child);
	hg_input_rescan(input);
}

bool
hg_join_joins_covered(const HgJoinState *state, HgSide side)
{
	const uint64 chunks =
		side == HG_OUTER ? state->reading.outer_chunks : state->reading.inner_chunks;

	return state->inputs[side]->child.covered != NULL && chunks <= 1;
}

bool
hg_join_ends_covered(const HgJoinState *state, HgSide side)
{
	return state->cover.with != HG_COVERED_WITH_PARTITIONS && hg_join_joins_covered(state, side);
}

bool
hg_join_covered_repeats(const HgJoinState *state, uint64 inner_delta)
{
	/* delta rows beside covered rows, or in several processes that each join their own */
	bool apart =
		state->inputs[HG_INNER]->child.covered != NULL ||
		(state->participants.shared != NULL && state->inputs[HG_OUTER]->child.covered != NULL);

	/* a unique inner side has no other match; partitions always have rows */
	return (state->rules.join_type == JOIN_SEMI || state->rules.join_type == JOIN_ANTI) && apart &&
		   (inner_delta > 0 || state->cover.with != HG_COVERED_WITH_ALL);
}

void
hg_join_cover_matcher(HgJoinState *state, HgMatcherSpec *spec)
{
	HgJoinShared *shared = state->participants.shared;
	bool on_device = shared != NULL ? shared->at_once : hg_join_asks_device(state);

	if (state->cover.with != HG_COVERED_WITH_ALL)
	{
		spec->covered_apart = state->cover.with == HG_COVERED_WITH_PARTITIONS;
		spec->covered_part = shared != NULL ? &shared->next_part : NULL;
		/* the processes that build together agree on the one that asks a device */
		on_device &= !spec->covered_apart && shared == NULL;
	}

	/* see hg_join_keeps_pending(); the join may be part of a multi-way join */
	if (state->rules.join_type != JOIN_INNER)
		hg_join_apply_pending(state->inputs);
	else
		hg_join_set_pending(state, spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgInput *input = state->inputs[side];

		spec->covered[side] =
			hg_join_joins_covered(state, (HgSide) side) ? &input->child.covered->side : NULL;
		spec->first_row[side] = hg_child_first_number(&input->child);
	}
	if (spec->covered[HG_OUTER] == NULL || spec->covered[HG_INNER] == NULL)
		return;
	if (on_device)
		hg_join_add_replicas(state, spec);
	else
		hg_join_wake_partitions(state->inputs);
}
