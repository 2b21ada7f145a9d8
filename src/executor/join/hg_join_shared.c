/*-------------------------------------------------------------------------
 *
 * hg_join_shared.c
 *	  The join node below a Gather: what its processes share.
 *
 * A partial path of the node comes in two kinds.  Where the inner side is small, each process
 * reads all of it, and joins it with the part of the outer rows that the outer child gives
 * that process: nothing is shared but figures for EXPLAIN and the statistics.
 *
 * Else both sides are read by all processes together:
 *
 *	reading		Each process reads its parts of both children into column stores of its own in
 *				the query's DSA (hg_shared_columns.h).  What all of them hold is counted, and
 *				when it passes their work memory together, the join goes to disk.  Where a
 *				runtime filter may pay, they make one of all inner keys in between, which takes
 *				three more barriers.
 *	(barrier)
 *	building	The engine bins the rows of each process, which takes two more barriers.
 *	matching	Bins are taken one by one, and whoever takes a bin returns its matches.
 *				Whose rows have found a match are bits in shared memory.  The last process
 *				to be done with its matches returns the rows without one, alone.  Rows with a
 *				NULL key are returned by the process that read them.
 *
 * Or, when memory does not suffice:
 *
 *	reading		Each process moves what it holds to files, and what it still reads.
 *	(barrier)	All know that there are files.
 *	(barrier)	All files are complete.
 *	matching	Partitions are taken one by one, and joined as if there were no other process.
 *
 * WHY IT CANNOT DEADLOCK.  A process that waits at a barrier waits for those attached to it, and
 * these are all on their way there: a process attaches when it is asked for its first row,
 * returns none before the last barrier, and so cannot be held up by a reader of its rows.
 * One that comes later than others skips the barriers that are over; one that is
 * stopped early detaches.
 *
 * The barrier is detached from when a process has returned its matches, to find out which one
 * is the last.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/matcher/hg_device_team.h"
#include "executor/join/hg_join_matcher.h"
#include "executor/join/hg_join_size.h"
#include "executor/join/hg_join_state.h"

static uint32 hg_join_wait_event;

/*
 * Phases of the barrier; see above.  Without a runtime filter there is only the first of them.
 * Behind the last one all build, or spill; the engine's arrives follow.
 */
#define HG_TOGETHER_READING 0 /* the inner side, and without a filter the outer one too */
#define HG_TOGETHER_CREATING 1
#define HG_TOGETHER_FILLING 2
#define HG_TOGETHER_READING_OUTER 3

/* Rows are read until so much more is held, before it is told to the others. */
#define HG_SHARED_STEP ((uint64) 256 * 1024)

/* In the query's DSM: no pointers. */
struct HgJoinShared
{
	int nprocesses;		/* the most that there can be, the leader included */
	dsm_handle segment; /* that this lies in */
	Barrier barrier;
	HgTeamState team;
	HgDeviceTeamShared device;
	HgSharedBudget budget;			 /* of the inputs of all, and of the filter */
	pg_atomic_uint32 spill_bits;	 /* 0, or the join has gone to 2^this partitions */
	pg_atomic_uint32 next_partition; /* not yet taken */
	pg_atomic_uint32 ended;			 /* some process has been the last */
	HgSharedColumns columns[2];		 /* by HgSide, as everything below */
	HgSharedBits matched[2];
	HgSharedSpill spills[2];
	HgSharedFilter filter;
	SharedFileSet files;
	HgJoinRecord
		records[FLEXIBLE_ARRAY_MEMBER]; /* by process; processes is 0 where it did nothing */
};

/* ---------------------------------------------------------------------
 * Leaving
 * ---------------------------------------------------------------------
 */

bool
hg_join_is_together(const HgJoinState *state)
{
	return state->in_team;
}

void
hg_join_leave(HgJoinState *state, bool finished)
{
	HgJoinShared *shared = state->shared;
	uint32 none = 0;
	bool last;

	if (!state->attached)
		return;
	state->attached = false;
	/* where matches are left out, nobody can tell which rows have none */
	if (!finished)
		pg_atomic_write_u32(&shared->ended, 1);
	last = BarrierDetach(&shared->barrier);
	state->ends_join = finished && last && pg_atomic_compare_exchange_u32(&shared->ended, &none, 1);
}

/* Return no more rows, and let go of everything that lies in shared memory. */
static void
hg_join_forget_shared(HgJoinState *state)
{
	if (state->phase != HG_JOIN_DONE && !INSTR_TIME_IS_ZERO(state->started))
		state->record.total_ms += hg_join_elapsed_ms(state->started);
	state->phase = HG_JOIN_DONE;
	if (!state->together)
		return;
	hg_join_leave(state, false);
	hg_join_end_sending(state);
	hg_join_retire_matcher(state);
	hg_input_set_filter(state->inputs[HG_OUTER], NULL);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_key_column_clear(state->inputs[side]->words);
		hg_column_store_share(state->inputs[side]->rows, NULL, NULL);
		hg_row_bits_share(state->matched[side], NULL, NULL);
	}
	state->in_team = state->ends_join = false;
}

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

static Size
hg_join_shared_size(int nprocesses)
{
	return add_size(offsetof(HgJoinShared, records), mul_size(nprocesses, sizeof(HgJoinRecord)));
}

Size
hg_join_estimate_dsm(CustomScanState *node pg_attribute_unused(), ParallelContext *pcxt)
{
	return hg_join_shared_size(pcxt->nworkers + 1);
}

/*
 * Do the matches that a device gives to the processes in any order do?  One outer row's may go to
 * several of them there.
 */
static bool
hg_join_device_may_share(const HgJoinState *state)
{
	return !state->settled[HG_INNER] && !(state->single_match && state->join_qual != NULL);
}

/* Make everything ready for a first or a further execution. */
static void
hg_join_shared_reset(HgJoinState *state, HgJoinShared *shared)
{
	HgJobColumns columns;

	hg_device_team_init(&shared->device, hg_join_device_may_share(state));
	if (state->together && hg_join_may_send(state, shared->nprocesses, &columns))
		hg_device_team_init_early(&shared->device, &columns);
	BarrierInit(&shared->barrier, 0);
	hg_shared_budget_init(&shared->budget, state->budget.limit * shared->nprocesses);
	pg_atomic_write_u32(&shared->spill_bits, 0);
	pg_atomic_write_u32(&shared->next_partition, 0);
	pg_atomic_write_u32(&shared->ended, 0);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (int partition = 0; partition < 1 << HG_SPILL_MAX_BITS; partition++)
			pg_atomic_write_u64(&shared->spills[side].rows[partition], 0);
}

/* Add what the workers, which have ended, have told of themselves to what is known of them. */
static void
hg_join_collect_records(HgJoinState *state)
{
	HgJoinShared *shared = state->shared;
	HgJoinRecord workers = {0};

	for (int process = 1; process < shared->nprocesses; process++)
	{
		HgJoinRecord *record = &shared->records[process];

		if (record->processes > 0)
			hg_stats_merge(&workers, record);
		record->processes = 0;
	}
	hg_stats_append(&state->others, &workers);
}

/*
 * The leader's shared memory goes.  Nothing but this comes between the end of the workers of a
 * query that needs no more rows, and the end of their memory.
 */
static void
hg_join_segment_detached(dsm_segment *segment pg_attribute_unused(), Datum arg)
{
	HgJoinState *state = (HgJoinState *) DatumGetPointer(arg);

	hg_join_collect_records(state);
	state->shared = NULL;
	state->segment = NULL;
}

void
hg_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgJoinState *state = (HgJoinState *) node;
	HgJoinShared *shared = coordinate;

	/* without dynamic shared memory the leader is alone, and there is no DSA either */
	if (pcxt->seg == NULL)
		return;
	memset(shared, 0, hg_join_shared_size(pcxt->nworkers + 1));
	shared->nprocesses = pcxt->nworkers + 1;
	pg_atomic_init_u32(&shared->spill_bits, 0);
	pg_atomic_init_u32(&shared->next_partition, 0);
	pg_atomic_init_u32(&shared->ended, 0);
	hg_shared_filter_init(&shared->filter);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_shared_columns_init(&shared->columns[side]);
		for (int partition = 0; partition < 1 << HG_SPILL_MAX_BITS; partition++)
			pg_atomic_init_u64(&shared->spills[side].rows[partition], 0);
	}
	hg_join_shared_reset(state, shared);
	shared->segment = dsm_segment_handle(pcxt->seg);
	SharedFileSetInit(&shared->files, pcxt->seg);
	state->shared = shared;
	state->process = 0;
	state->segment = pcxt->seg;
	on_dsm_detach(pcxt->seg, hg_join_segment_detached, PointerGetDatum(state));
}

void
hg_join_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HgJoinState *state = (HgJoinState *) node;
	HgJoinShared *shared = coordinate;
	dsa_area *area = node->ss.ps.state->es_query_dsa;

	if (pcxt->seg == NULL)
		return;
	/* the child may be rescanned later only, and all that lies there is about to go */
	hg_join_forget_shared(state);
	hg_join_collect_records(state);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_shared_columns_release(&shared->columns[side], area);
		hg_shared_bits_release(&shared->matched[side], area);
	}
	hg_shared_filter_release(&shared->filter, area);
	hg_team_reset(&shared->team, area);
	SharedFileSetDeleteAll(&shared->files);
	hg_join_shared_reset(state, shared);
}

void
hg_join_initialize_worker(CustomScanState *node, shm_toc *toc pg_attribute_unused(),
						  void *coordinate)
{
	HgJoinState *state = (HgJoinState *) node;
	HgJoinShared *shared = coordinate;

	state->shared = shared;
	state->process = ParallelWorkerNumber + 1;
	/* the files stay as long as this process can have some, whatever becomes of the leader */
	SharedFileSetAttach(&shared->files, dsm_find_mapping(shared->segment));
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* Is there no more room in memory, where all hold so many bytes, or for the numbers of rows? */
static bool
hg_join_shared_is_full(const HgJoinState *state, const HgInput *input, uint64 bytes)
{
	return bytes > state->shared->budget.limit ||
		   hg_column_store_end(input->rows) > HG_MAX_ROWS / 2 ||
		   hg_input_rows(input) > HG_MAX_ROWS / 2;
}

/* Read a side to its end, or until the join goes to disk. */
static void
hg_join_read_shared(HgJoinState *state, HgSide side)
{
	HgJoinShared *shared = state->shared;
	HgInput *input = state->inputs[side];

	while (!input->at_end && pg_atomic_read_u32(&shared->spill_bits) == 0)
	{
		uint64 before = input->budget.charged;
		uint64 total;

		input->budget.limit = before + HG_SHARED_STEP;
		hg_input_fill(input, PG_UINT64_MAX);
		total = hg_shared_budget_add(&shared->budget, input->budget.charged - before);
		if (hg_join_shared_is_full(state, input, total))
		{
			/* a partition is joined by one process, with its own work memory */
			uint32 none = 0;
			/* ... and the plan estimates one process's rows */
			double expected = hg_join_expected_bytes(state) * shared->nprocesses;
			int bits = hg_join_partition_bits(state, Max(expected, 2.0 * total));

			pg_atomic_compare_exchange_u32(&shared->spill_bits, &none, bits);
		}
	}
}

/* ---------------------------------------------------------------------
 * In memory
 * ---------------------------------------------------------------------
 */

/* HgTeamSpec.numbers */
static const HgRowNumbers *
hg_join_row_numbers(void *arg, HgSide side)
{
	HgJoinState *state = arg;

	return hg_column_store_numbers(state->inputs[side]->rows);
}

/* Build with the others, and start the stream of this process's matches. */
static HgJoinPhase
hg_join_build_together(HgJoinState *state, bool elected, uint32 arrived)
{
	HgJoinShared *shared = state->shared;
	dsa_area *area = state->css.ss.ps.state->es_query_dsa;
	HgTeamSpec team = {
		.state = &shared->team,
		.barrier = &shared->barrier,
		.area = area,
		.arrived = arrived,
		/* which rows have matches is told by bits, but who is first by one process alone */
		.whole_bins = state->settled[HG_INNER],
		.device = &shared->device,
		.numbers = hg_join_row_numbers,
		.arg = state,
		.processes = shared->nprocesses,
		.match_bytes = hg_shared_budget_room(&shared->budget),
	};
	HgMatcherSpec spec = {
		.key_width = state->inputs[HG_INNER]->words->width,
		.mode = state->single_match && state->join_qual == NULL ? HG_MATCH_FIRST : HG_MATCH_ALL,
		.counted = !hg_join_streams(state),
		.pairs = state->css.ss.ps.plan->plan_rows * shared->nprocesses,
		.reduction = hg_join_current_reduction(state),
		.team = &team,
		.sender = state->sender,
	};
	HgKeySet outer_set = hg_key_column_set(state->inputs[HG_OUTER]->words);
	HgKeySet inner_set = hg_key_column_set(state->inputs[HG_INNER]->words);
	MemoryContext old;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.columns[side] = hg_join_gathered_columns(state, (HgSide) side);
	/* the engine's barriers let the others see them */
	for (int side = HG_OUTER; side <= HG_INNER && elected; side++)
		if (state->track[side])
			hg_shared_bits_create(&shared->matched[side], area,
								  hg_column_store_end(state->inputs[side]->rows));

	old = MemoryContextSwitchTo(state->matcher_context);
	state->matcher = hg_matcher_create(&spec, &outer_set, &inner_set);
	MemoryContextSwitchTo(old);
	hg_join_end_sending(state);
	hg_charge_set(&state->fetched, hg_matcher_fetched_bytes(state->matcher));

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		/* also where this process came too late to read */
		state->inputs[side]->at_end = true;
		hg_column_store_attach(state->inputs[side]->rows);
		if (state->track[side])
			hg_row_bits_share(state->matched[side], &shared->matched[side], area);
	}
	state->in_team = true;
	return hg_join_start_output(state);
}

/* ---------------------------------------------------------------------
 * On disk
 * ---------------------------------------------------------------------
 */

/* Move this process's rows to files, if they are not there yet, and join partitions. */
static HgJoinPhase
hg_join_spill_together(HgJoinState *state, bool arrive)
{
	HgJoinShared *shared = state->shared;
	dsa_area *area = state->css.ss.ps.state->es_query_dsa;
	int bits = (int) pg_atomic_read_u32(&shared->spill_bits);
	HgPartitions *partitions;
	HgSpill *spills[2];
	instr_time start;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	hg_join_end_sending(state);
	INSTR_TIME_SET_CURRENT(start);
	partitions = palloc0(sizeof(HgPartitions));
	partitions->current = -1;
	partitions->next = &shared->next_partition;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgSpillTeam team = {&shared->spills[side], &shared->files, (HgSide) side, state->process,
							shared->nprocesses};

		spills[side] = hg_spill_create(state->inputs[side]->rows, 0, bits, &state->files);
		hg_spill_share(spills[side], &team);
	}
	partitions->outer = spills[HG_OUTER];
	partitions->inner = spills[HG_INNER];
	state->partitions = lcons(partitions, state->partitions);
	MemoryContextSwitchTo(old);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (arrive)
		{
			hg_input_spill(state->inputs[side], spills[side]);
			hg_spill_publish(spills[side]);
		}
		state->record.spilled_bytes += spills[side]->bytes;
		/* from now on this process is on its own */
		hg_column_store_share(state->inputs[side]->rows, NULL, NULL);
	}
	hg_input_set_filter(state->inputs[HG_OUTER], NULL);
	state->record.scan_ms += hg_join_elapsed_ms(start);
	state->record.partitions += 1 << bits;
	if (arrive &&
		BarrierArriveAndWait(&shared->barrier, HG_WAIT_EVENT(hg_join_wait_event, "HashGraphSpill")))
	{
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			hg_shared_columns_release(&shared->columns[side], area);
		hg_shared_filter_release(&shared->filter, area);
	}
	hg_join_leave(state, true);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_spill_adopt(spills[side]);
	return HG_JOIN_NEXT_PARTITION;
}

/* ---------------------------------------------------------------------
 * The way through the barriers
 * ---------------------------------------------------------------------
 */

static bool
hg_join_arrive(HgJoinState *state)
{
	return BarrierArriveAndWait(&state->shared->barrier,
								HG_WAIT_EVENT(hg_join_wait_event, "HashGraphRead"));
}

/* Make the filter that all processes are to fill, if it is not too large. */
static void
hg_join_create_filter(HgJoinState *state)
{
	HgJoinShared *shared = state->shared;
	uint64 bytes = hg_shared_filter_create(&shared->filter, state->css.ss.ps.state->es_query_dsa,
										   shared->budget.limit / HG_FILTER_SHARE);

	hg_shared_budget_add(&shared->budget, bytes);
}

/* Read the inner side, make a filter of it with the others, and set it for the outer side. */
static void
hg_join_filter_together(HgJoinState *state, int phase)
{
	HgJoinShared *shared = state->shared;
	HgInput *inner = state->inputs[HG_INNER];
	dsa_area *area = state->css.ss.ps.state->es_query_dsa;
	uint32 width = inner->words->width;
	HgFilter *filter = NULL;
	HgKeySet keys;
	MemoryContext old;

	if (phase == HG_TOGETHER_READING)
		hg_join_read_shared(state, HG_INNER);
	old = MemoryContextSwitchTo(state->context);
	keys = hg_key_column_set(inner->words);
	switch (phase)
	{
		case HG_TOGETHER_READING:
			hg_shared_filter_measure(&shared->filter, &keys, width);
			if (hg_join_arrive(state) && pg_atomic_read_u32(&shared->spill_bits) == 0)
				hg_join_create_filter(state);
			/* FALLTHROUGH */
		case HG_TOGETHER_CREATING:
			hg_join_arrive(state);
			/* FALLTHROUGH */
		case HG_TOGETHER_FILLING:
			filter = hg_shared_filter_open(&shared->filter, area, &keys, width);
			hg_join_arrive(state);
			break;
		default:
			filter = hg_shared_filter_open(&shared->filter, area, &keys, width);
			break;
	}
	if (filter != NULL)
		hg_filter_charge(filter, &state->files, shared->nprocesses);
	hg_input_set_filter(state->inputs[HG_OUTER], filter);
	MemoryContextSwitchTo(old);
	/* no row of the outer side would be returned: it need not be read */
	if (pg_atomic_read_u64(&shared->filter.rows) == 0 &&
		pg_atomic_read_u32(&shared->spill_bits) == 0)
		state->inputs[HG_OUTER]->at_end = true;
}

/* The device gets the rest of this process's keys while others may still read. */
static void
hg_join_settle(HgJoinState *state)
{
	const HgKeySet sides[2] = {
		[HG_OUTER] = hg_key_column_set(state->inputs[HG_OUTER]->words),
		[HG_INNER] = hg_key_column_set(state->inputs[HG_INNER]->words),
	};

	/* one that came when all was read need not have its part of the job */
	if (sides[HG_OUTER].rows + sides[HG_INNER].rows == 0 ||
		pg_atomic_read_u32(&state->shared->spill_bits) != 0)
		hg_join_end_sending(state);
	else
		hg_device_team_finish_sending(&state->shared->device, state->sender, sides);
}

HgJoinPhase
hg_join_read_together(HgJoinState *state)
{
	HgJoinShared *shared = state->shared;
	/* the same in all processes, whose plan is the same */
	bool filter = hg_join_filter_may_pay(state, state->inputs[HG_INNER]->plan->plan->plan_rows);
	int building = filter ? HG_TOGETHER_READING_OUTER + 1 : HG_TOGETHER_READING + 1;
	int phase = BarrierAttach(&shared->barrier);
	bool elected = false;

	state->attached = true;
	state->track[HG_OUTER] = state->keep[HG_OUTER];
	state->settled[HG_OUTER] = false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_column_store_share(state->inputs[side]->rows, &shared->columns[side],
							  state->css.ss.ps.state->es_query_dsa);
	if (phase < building)
	{
		instr_time start;

		INSTR_TIME_SET_CURRENT(start);
		if (shared->device.early_job != 0)
			hg_join_begin_sending(state, shared->nprocesses, shared->device.early_job,
								  &shared->device.early_columns);
		if (filter)
			hg_join_filter_together(state, phase);
		else
			hg_join_read_shared(state, HG_INNER);
		hg_join_read_shared(state, HG_OUTER);
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			pg_atomic_fetch_add_u64(&shared->device.rows[side], state->inputs[side]->words->rows);
		state->record.scan_ms += hg_join_elapsed_ms(start);
		hg_join_settle(state);
		elected = hg_join_arrive(state);
		phase = building;
	}
	if (pg_atomic_read_u32(&shared->spill_bits) != 0)
		return hg_join_spill_together(state, phase == building);
	return hg_join_build_together(state, elected, phase - building);
}

void
hg_join_shutdown(CustomScanState *node)
{
	HgJoinState *state = (HgJoinState *) node;

	if (state->shared == NULL)
		return;
	hg_join_forget_shared(state);
	if (state->process > 0)
		hg_join_current_record(state, &state->shared->records[state->process]);
}

void
hg_join_end_shared(HgJoinState *state)
{
	if (state->segment == NULL)
		return;
	hg_join_forget_shared(state);
	cancel_on_dsm_detach(state->segment, hg_join_segment_detached, PointerGetDatum(state));
}
