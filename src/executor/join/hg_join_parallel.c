/*-------------------------------------------------------------------------
 *
 * hg_join_parallel.c
 *	  Shared join: the processes below a Gather read and join both sides together.
 *
 *	(pages)		If a device may extract the rows from the tables' pages, the processes send the
 *				pages first (hg_join_pages.c), which takes three more barriers.  Then all is
 *				joined, or it is as if nothing had been read.
 *	counting	An adaptive join (hg_join_lookup.h) counts outer rows first: each process reads its
 *				part of them and adds their number to a shared counter.  If all have come to the
 *				end of the outer child and there are few rows, the processes look them up, each
 *				a few rows at a time, and the join is over.  Otherwise these rows stay, the inner
 *				side is hashed, and reading goes on.
 *	(barrier)
 *	reading		Each process reads its parts of both children into column stores of its own in
 *				the query's DSA (hg_column_store.h).  If all of them together exceed their
 *				work memory, the join goes to disk.  If a runtime filter may pay, the processes
 *				read one side first and make a filter of all its keys, which takes three more
 *				barriers.  A SINGLE-READER child belongs to one process; see below.
 *	(barrier)
 *	building	The engine bins the rows of each process, which takes two more barriers.
 *	matching	Each process takes bins, or parts of them, one by one and returns their matches.
 *				Bits in shared memory record which rows have found a match.  The last process
 *				to finish returns the rows without a match, alone.  Rows with a NULL key are
 *				returned by the process that read them.
 *
 * If memory does not suffice:
 *
 *	reading		Each process moves the rows that it has, and those that it still reads, to files.
 *	(barrier)	All processes know that there are files.
 *	(barrier)	All files are complete.
 *	matching	Processes take partitions one by one, and join each as if they were alone.
 *
 * WHY IT CANNOT DEADLOCK.  A process that waits at a barrier waits for the attached processes, and
 * all of them are on their way there.  A process attaches when its first row is requested, and
 * returns no row before the last barrier, so no reader of its rows can delay it.  A process that
 * comes late skips the barriers that are over; one that is stopped early detaches.
 *
 * SINGLE READER.  A child whose rows cannot be shared out, such as a function scan, would be read
 * as a whole by each process if each joined alone.  Here the first process that asks for it reads
 * it, into its own part of the shared columns or files; for all others it is at its end before its
 * first row.  All processes join the rows, as usual.  The reader reads that side before the other
 * one, which the others read meanwhile, and then helps with the rest.  Therefore there is no
 * runtime filter, unless the rows exceed work memory.
 *
 * A process that attaches in the barrier's first phase asks before it arrives, and there is always
 * such a process, the leader or a worker.  So the reader is among the attached processes, and all
 * rows are there when the reading phase is over.  A process that comes later, even in time to move
 * rows to files, asks too and finds that there is a reader.  The reader waits for no other
 * process, and the others wait for it where they would wait for each other.  If it fails, the
 * whole query fails; without an error it cannot leave before it arrives.  A further execution
 * starts without a reader, and with a child that is read again.
 *
 * A process detaches from the barrier when it has returned its matches, which shows which one is
 * the last.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_state.h"

static uint32 hg_join_wait_event;

/* Phases of counting, after those of pages; see above. */
#define HG_PARALLEL_COUNTING 0
#define HG_COUNTING_PHASES 1

/*
 * Phases after those.  Without a runtime filter only the first one exists.  After the last one all
 * processes build or spill; the engine's barriers follow.
 */
#define HG_PARALLEL_READING 0 /* the side whose keys make the filter; without one both sides */
#define HG_PARALLEL_CREATING 1
#define HG_PARALLEL_FILLING 2
#define HG_PARALLEL_READING_OTHER 3

/* Memory may grow by this much before a process reports it to the others. */
#define HG_SHARED_STEP ((uint64) 256 * 1024)

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* Returns true if memory is full, with bytes used by all processes, or row numbers run out. */
static bool
hg_join_shared_is_full(const HgJoinShared *shared, const HgInput *input, uint64 bytes)
{
	uint64 most = (HG_MAX_ROWS - hg_child_first_number(&input->child)) / 2;

	return bytes > shared->budget.limit || hg_column_store_end(input->held.rows) > most ||
		   hg_held_count(&input->held) > most;
}

/* Ends a single-reader side in this process, unless it is the first to ask for it. */
static void
hg_join_find_reader(HgJoinState *state)
{
	uint32 none = 0;

	if (state->read_once >= 0 &&
		!pg_atomic_compare_exchange_u32(&state->participants.shared->reader_found, &none, 1))
		state->inputs[state->read_once]->at_end = true;
}

/*
 * Reads HG_SHARED_STEP of a side, up to max_rows rows in memory.  Returns the bytes that all
 * processes use for both sides.
 */
static uint64
hg_join_read_step(HgInput *input, HgSharedBudget *budget, uint64 max_rows)
{
	uint64 before = input->held.budget.charged;

	input->held.budget.limit = before + HG_SHARED_STEP;
	hg_input_fill(input, max_rows);
	return hg_shared_budget_add(budget, input->held.budget.charged - before);
}

/* Reads a side to its end, or until the join goes to disk. */
static void
hg_join_read_shared(HgJoinState *state, HgSide side)
{
	HgJoinShared *shared = state->participants.shared;
	HgInput *input = state->inputs[side];

	hg_join_enter(&state->progress, side == HG_INNER ? HG_JOIN_READ_INNER : HG_JOIN_READ_OUTER);
	while (!input->at_end && pg_atomic_read_u32(&shared->spill_bits) == 0)
	{
		uint64 total = hg_join_read_step(state->inputs[side], &state->participants.shared->budget,
										 PG_UINT64_MAX);

		if (hg_join_shared_is_full(shared, input, total))
		{
			/* one process joins a partition, with its own work memory */
			uint32 none = 0;
			/* the plan's estimate is per process, unless one reads all */
			int processes = state->read_once == HG_INNER ? 1 : shared->nprocesses;
			double covered =
				shared->stays_covered ? (double) state->inputs[HG_INNER]->child.covered->rows : 0;
			double expected =
				hg_join_expected_bytes(state->inputs[HG_INNER], covered / processes) * processes;
			int bits = hg_join_partition_bits(&state->memory, Max(expected, 2.0 * total));

			pg_atomic_compare_exchange_u32(&shared->spill_bits, &none, bits);
		}
	}
}

/* ---------------------------------------------------------------------
 * In memory
 * ---------------------------------------------------------------------
 */

/* HgParticipantsSpec.numbers */
static const HgRowNumbers *
hg_join_row_numbers(void *arg, HgSide side)
{
	HgJoinState *state = arg;

	return hg_column_store_numbers(state->inputs[side]->held.rows);
}

/* Returns the number of bit positions of a side's rows in all processes (hg_covered.h). */
static uint64
hg_join_shared_ordinals(const HgInput *input)
{
	uint64 delta = hg_column_store_end(input->held.rows);

	return input->child.covered != NULL ? hg_covered_count_ordinals(input->child.covered, delta)
										: delta;
}

/* Builds with the others, and starts the stream of this process's matches. */
static HgJoinPhase
hg_join_parallel_build(HgJoinState *state, bool elected, uint32 arrived)
{
	HgJoinShared *shared = state->participants.shared;
	dsa_area *area = state->css.ss.ps.state->es_query_dsa;
	bool no_delta = pg_atomic_read_u64(&shared->device.rows[HG_OUTER]) == 0 ||
					pg_atomic_read_u64(&shared->device.rows[HG_INNER]) == 0;
	HgParticipantsSpec participants = {
		.state = &shared->participants,
		.barrier = &shared->barrier,
		.area = area,
		.arrived = arrived,
		/* bits show which rows have matches, but not which process found the first one */
		.whole_bins = state->rules.single_inner,
		.spread = hg_join_streams(&state->rules, state->matched),
		.next_part = &shared->next_part,
		.at_once = shared->at_once,
		.device = &shared->device,
		.numbers = hg_join_row_numbers,
		.arg = state,
		.processes = shared->nprocesses,
		.match_bytes = hg_shared_budget_room(&shared->budget),
	};
	HgMatcherSpec spec = {
		.pairs = state->css.ss.ps.plan->plan_rows * shared->nprocesses,
		.participants = &participants,
	};

	/* the engine's barriers ensure that the bits exist */
	participants.no_delta =
		no_delta && !state->matched[HG_OUTER].tracked && !state->matched[HG_INNER].tracked;
	/* the engine's barriers make the bits visible to the others */
	for (int side = HG_OUTER; side <= HG_INNER && elected; side++)
		if (state->matched[side].tracked)
			hg_shared_budget_add(
				&shared->budget,
				hg_shared_bits_create(&shared->matched[side], area,
									  hg_join_shared_ordinals(state->inputs[side])));
	hg_join_create_matcher(state, &spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		/* even if this process came too late to read */
		state->inputs[side]->at_end = true;
		hg_column_store_attach(state->inputs[side]->held.rows);
		if (state->matched[side].tracked)
			hg_row_bits_share(state->matched[side].bits, &shared->matched[side], area);
	}
	state->participants.joined = true;
	return hg_join_emit_joined(state);
}

/* ---------------------------------------------------------------------
 * On disk
 * ---------------------------------------------------------------------
 */

/* Moves this process's rows to files, if arrive is set, and prepares to join partitions. */
static HgJoinPhase
hg_join_parallel_spill(HgJoinState *state, bool arrive)
{
	HgJoinShared *shared = state->participants.shared;
	dsa_area *area = state->css.ss.ps.state->es_query_dsa;
	int bits = (int) pg_atomic_read_u32(&shared->spill_bits);
	HgSpill *spills[2];
	double start;
	MemoryContext old = MemoryContextSwitchTo(state->memory.context);

	hg_join_end_upload(&state->upload, state->inputs);
	if (!shared->stays_covered)
		hg_join_read_covered(state->inputs, state->participants.shared);
	else
		hg_join_covered_meet_partitions(&state->cover, state->matched);
	start = hg_clock_ms();
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgSpillParticipants participants = {&shared->spills[side], &shared->files,
											side == HG_OUTER ? "outer" : "inner",
											state->participants.process, shared->nprocesses};

		spills[side] =
			hg_spill_create(state->inputs[side]->held.rows, 0, bits, true, &state->memory.files);
		hg_spill_share(spills[side], &participants);
	}
	hg_join_spill_push(&state->spill, spills, &shared->next_partition);
	MemoryContextSwitchTo(old);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (arrive)
		{
			hg_join_enter(&state->progress,
						  side == HG_INNER ? HG_JOIN_READ_INNER : HG_JOIN_READ_OUTER);
			hg_input_spill(state->inputs[side], spills[side]);
			hg_spill_publish(spills[side]);
		}
		/* from now on this process works alone */
		hg_column_store_share(state->inputs[side]->held.rows, NULL, NULL);
	}
	state->progress.record.spilled_bytes += hg_join_spill_finish(&state->spill);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_child_set_filter(&state->inputs[side]->child, NULL);
	state->progress.record.scan_ms += hg_clock_ms() - start;
	state->progress.record.partitions += 1 << bits;
	if (arrive &&
		BarrierArriveAndWait(&shared->barrier, HG_WAIT_EVENT(hg_join_wait_event, "HashGraphSpill")))
	{
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			hg_shared_columns_release(&shared->columns[side], area);
		hg_shared_filter_release(&shared->filter, area);
	}
	hg_join_leave(&state->participants, true);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_spill_adopt(spills[side]);
	return HG_JOIN_NEXT_PARTITION;
}

/* ---------------------------------------------------------------------
 * The way through the barriers
 * ---------------------------------------------------------------------
 */

static bool
hg_join_arrive(HgJoinShared *shared)
{
	return BarrierArriveAndWait(&shared->barrier,
								HG_WAIT_EVENT(hg_join_wait_event, "HashGraphRead"));
}

/* Reads outer rows until there are no more, or too many to be looked up or to fit into memory. */
static void
hg_join_count_shared(HgJoinState *state)
{
	HgJoinShared *shared = state->participants.shared;
	HgInput *outer = state->inputs[HG_OUTER];
	uint64 most = state->lookup.most_rows;

	hg_join_enter(&state->progress, HG_JOIN_READ_OUTER);
	while (!outer->at_end && pg_atomic_read_u32(&shared->hashes) == 0)
	{
		uint64 before = hg_held_count(&outer->held);
		uint64 left = most + 1 - Min(pg_atomic_read_u64(&shared->counted), most);
		uint64 bytes =
			hg_join_read_step(state->inputs[HG_OUTER], &state->participants.shared->budget,
							  before + Min(left, HG_BATCH_ROWS));
		uint64 rows = hg_held_count(&outer->held) - before;

		if (pg_atomic_add_fetch_u64(&shared->counted, rows) > most ||
			hg_join_shared_is_full(shared, outer, bytes))
			pg_atomic_write_u32(&shared->hashes, 1);
	}
}

/*
 * Prepares to look outer rows up, when the others have come to the end of the outer child.  A
 * process that did not count with them usually finds no more rows.  If it does, it looks up these
 * alone, because the others have shared theirs already.
 */
static void
hg_join_begin_lookups(HgJoinState *state, bool counted)
{
	HgJoinShared *shared = state->participants.shared;
	HgInput *outer = state->inputs[HG_OUTER];

	if (!counted && !outer->at_end)
	{
		hg_column_store_share(outer->held.rows, NULL, NULL);
		outer->held.budget.limit = hg_join_limit(&state->memory) / 2;
		hg_input_fill(outer, PG_UINT64_MAX);
		if (hg_held_count(&outer->held) > 0)
			return;
		hg_column_store_share(outer->held.rows, &shared->columns[HG_OUTER],
							  state->css.ss.ps.state->es_query_dsa);
	}
	hg_column_store_attach(outer->held.rows);
	hg_join_lookup_share(&state->lookup, &shared->looked_up);
}

/*
 * Counts outer rows with the others.  Returns true if the processes look them up.  The decision,
 * made when all have arrived, holds for processes that come later.  first is the side to be read
 * first if rows are hashed.
 */
static bool
hg_join_parallel_count(HgJoinState *state, HgSide first, int *phase)
{
	HgJoinShared *shared = state->participants.shared;
	bool counts = *phase == HG_PARALLEL_COUNTING;
	bool elected = false;
	double start;

	if (state->lookup.loop == NULL)
		return false;
	*phase = Max(*phase - HG_COUNTING_PHASES, 0);
	start = hg_clock_ms();
	if (counts)
	{
		hg_join_count_shared(state);
		/* others may take long to read a row and to see that there are too many */
		if (pg_atomic_read_u32(&shared->hashes) != 0)
			hg_join_read_shared(state, first);
		elected = hg_join_arrive(shared);
	}
	hg_join_set_lookup(&state->lookup, &state->progress.record,
					   pg_atomic_read_u32(&shared->hashes) == 0, elected);
	if (state->lookup.chosen)
		hg_join_begin_lookups(state, counts);
	state->progress.record.scan_ms += hg_clock_ms() - start;
	return state->lookup.chosen;
}

/* Creates the filter that all processes fill, if it is not too large. */
static void
hg_join_create_filter(HgJoinShared *shared, dsa_area *area)
{
	uint64 bytes =
		hg_shared_filter_create(&shared->filter, area, shared->budget.limit / HG_FILTER_SHARE);

	hg_shared_budget_add(&shared->budget, bytes);
}

/*
 * Returns true if a filter is made, and sets *side to the side whose keys it has.  That side is
 * read before the other one, and all processes wait for a single reader, which pays only if the
 * rows would go to disk. The keys of covered rows are not known here.
 *
 * The answer is the same in all processes: it depends on the plan, and on the limit that the
 * leader had when it began, not on that of a worker (test/t/join_parallel.pl).
 */
static bool
hg_join_parallel_has_filter(const HgJoinState *state, HgSide *side)
{
	double limit = (double) state->participants.shared->budget.limit;
	double outer_rows = hg_join_planned_rows(state, HG_OUTER);
	double inner_rows = hg_join_planned_rows(state, HG_INNER);

	if (state->inputs[HG_INNER]->child.covered != NULL ||
		(state->read_once >= 0 && hg_join_planned_bytes(state) <= limit))
		return false;
	if (hg_join_filter_may_pay(state, HG_INNER, inner_rows, outer_rows))
	{
		*side = HG_INNER;
		return true;
	}
	if (state->inputs[HG_OUTER]->child.covered != NULL ||
		!hg_join_filter_may_pay(state, HG_OUTER, outer_rows, inner_rows))
		return false;
	*side = HG_OUTER;
	return true;
}

/* Reads a side, makes a filter of it with the others, and sets it for the other side. */
static void
hg_join_parallel_filter(HgJoinState *state, HgSide side, int phase)
{
	HgJoinShared *shared = state->participants.shared;
	HgInput *input = state->inputs[side];
	HgInput *other = state->inputs[hg_other_side(side)];
	dsa_area *area = state->css.ss.ps.state->es_query_dsa;
	uint32 width = input->held.words->width;
	HgFilter *filter = NULL;
	HgKeySet keys;
	MemoryContext old;

	if (phase == HG_PARALLEL_READING)
		hg_join_read_shared(state, side);
	old = MemoryContextSwitchTo(state->memory.context);
	keys = hg_key_column_set(input->held.words);
	switch (phase)
	{
		case HG_PARALLEL_READING:
			hg_shared_filter_measure(&shared->filter, &keys, width);
			if (hg_join_arrive(shared) && pg_atomic_read_u32(&shared->spill_bits) == 0)
				hg_join_create_filter(shared, area);
			pg_fallthrough;
		case HG_PARALLEL_CREATING:
			hg_join_arrive(shared);
			pg_fallthrough;
		case HG_PARALLEL_FILLING:
			filter = hg_shared_filter_open(&shared->filter, area, &keys, width);
			hg_join_arrive(shared);
			break;
		default:
			filter = hg_shared_filter_open(&shared->filter, area, &keys, width);
			break;
	}
	if (filter != NULL)
		hg_filter_charge(filter, &state->memory.files, shared->nprocesses);
	hg_child_set_filter(&other->child, filter);
	MemoryContextSwitchTo(old);
	/* no row would be returned: the other side need not be read */
	if (hg_join_is_empty_without(&state->rules, side) &&
		pg_atomic_read_u64(&shared->filter.rows) == 0 &&
		pg_atomic_read_u32(&shared->spill_bits) == 0)
		other->at_end = true;
}

/* Sends the rest of this process's keys to the device while others may still read. */
static void
hg_join_hand_over_keys(HgJoinState *state)
{
	const HgKeySet sides[2] = {
		[HG_OUTER] = hg_key_column_set(state->inputs[HG_OUTER]->held.words),
		[HG_INNER] = hg_key_column_set(state->inputs[HG_INNER]->held.words),
	};

	/* a process that came after the reading need not open its part of the job */
	if (sides[HG_OUTER].rows + sides[HG_INNER].rows == 0 ||
		pg_atomic_read_u32(&state->participants.shared->spill_bits) != 0)
		hg_join_end_upload(&state->upload, state->inputs);
	else
		hg_device_participants_finish_upload(&state->participants.shared->device, state->upload,
											 sides);
}

HgJoinPhase
hg_join_parallel_read(HgJoinState *state)
{
	HgJoinShared *shared = state->participants.shared;
	HgSide first = HG_INNER;
	bool filter = hg_join_parallel_has_filter(state, &first);
	int building = filter ? HG_PARALLEL_READING_OTHER + 1 : HG_PARALLEL_READING + 1;
	bool elected = false;
	uint64 rows;
	int phase;

	if (state->cover.too_late)
		return HG_JOIN_DONE;
	phase = BarrierAttach(&shared->barrier);
	state->participants.attached = true;
	if (hg_join_ask_pages_parallel(state, &phase, &rows))
	{
		hg_join_leave(&state->participants, true);
		return hg_join_emit_empty(&state->emission, &state->output, rows, HG_JOIN_DONE);
	}
	/* even after the reading phase: it may still be in time to move rows to files */
	hg_join_find_reader(state);
	hg_join_matched_begin(&state->matched[HG_OUTER], state->rules.preserved[HG_OUTER], false);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_column_store_share(state->inputs[side]->held.rows, &shared->columns[side],
							  state->css.ss.ps.state->es_query_dsa);
	if (hg_join_parallel_count(state, first, &phase))
	{
		hg_join_leave(&state->participants, true);
		return hg_join_emit_looked_up(state);
	}
	if (phase < building)
	{
		double start = hg_clock_ms();

		if (shared->device.upload_job != 0)
			hg_join_begin_upload(state, shared->nprocesses, shared->device.upload_job,
								 &shared->device.upload_columns);
		if (filter)
			hg_join_parallel_filter(state, first, phase);
		else
			hg_join_read_shared(state, state->read_once == HG_OUTER ? HG_OUTER : HG_INNER);
		/* a side that is at its end is not read again */
		hg_join_read_shared(state, HG_INNER);
		hg_join_read_shared(state, HG_OUTER);
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			pg_atomic_fetch_add_u64(&shared->device.rows[side],
									state->inputs[side]->held.words->rows);
		state->progress.record.scan_ms += hg_clock_ms() - start;
		hg_join_hand_over_keys(state);
		elected = hg_join_arrive(shared);
		phase = building;
	}
	if (pg_atomic_read_u32(&shared->spill_bits) != 0)
		return hg_join_parallel_spill(state, phase == building);
	if (hg_join_covered_repeats(state, pg_atomic_read_u64(&shared->device.rows[HG_INNER])))
		hg_join_matched_begin(&state->matched[HG_OUTER], state->rules.preserved[HG_OUTER], true);
	return hg_join_parallel_build(state, elected, phase - building);
}
