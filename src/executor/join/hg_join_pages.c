/*-------------------------------------------------------------------------
 *
 * hg_join_pages.c
 *	  A join of two tables whose pages are sent to a device, which extracts the rows.
 *
 * Most of such a join's time goes into extracting rows from pages.  If only the number of joined
 * rows, or groups of them, are needed, a device does that (engine/hg_pages.h), and this process
 * only copies pages to it.  From a page with rows that are not visible to all, rows that the
 * scan's snapshot does not see are removed.
 *
 * Until the answer no row is returned.  So after a failure both tables are read again from their
 * start, with the same snapshot and parameters, as if there were no device.
 *
 * BELOW A GATHER the processes that read both sides together (hg_join_parallel.c) first send the
 * pages together, each those that the parallel scans hand out to it:
 *
 *	sending		Each process opens the same job, and sends pages until there are no more.  If it
 *				cannot open the job, it requests no page, and the others get them.
 *	(barrier)
 *	asking		All pages are sent.  One of the processes that have sent some asks for the answer.
 *				The others check that the device process that has their pages still exists: a
 *				new one would have only the pages of others, and not know that some are missing.
 *	(barrier)
 *	known		If one process has failed, all have: each records its failure before it arrives,
 *				and checks after all have.  Otherwise the process that asked has the rows of
 *				all, and the others have none.
 *	(barrier)	Only after a failure: the scans hand out all of their pages once more.
 *
 * No process returns a row before that.  A process that comes late takes part in the remaining
 * phases.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "executor/join/hg_join_pages.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"

/* For fewer rows, sending pages does not pay. */
#define HG_PAGES_ROWS 50000

/* Phases of the barrier; see above. */
#define HG_PAGES_SENDING 0
#define HG_PAGES_ASKING 1
#define HG_PAGES_KNOWN 2
#define HG_PAGES_PHASES 3

/* One process's part of the attempt. */
typedef struct HgPagesTry
{
	const HgReduction *reduction; /* groups to make; NULL: pairs are counted */
	HgPageSource sources[2];
	HgPageJob *job; /* NULL: this process takes no part */
	HgPageAnswer answer;
} HgPagesTry;

static uint32 hg_join_pages_wait_event;

/*
 * Returns true if only counted pairs or groups are needed, no rows are kept for later, and none
 * were looked up.
 */
static bool
hg_join_is_for_pages(const HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;

	return hg_send_pages && !state->pages.declined &&
		   (rules->join_type == JOIN_INNER || rules->join_type == JOIN_SEMI) &&
		   rules->join_qual == NULL && !rules->single_inner &&
		   (!rules->rows_wanted || state->reduction != NULL) && state->upload == NULL &&
		   !state->rewind && !state->reading.outer_ready && !state->rescan.outer_whole &&
		   state->lookup.earlier_rows == 0;
}

/* Sets *reduction to the groups to make, NULL for a count; false: they cannot be made. */
static bool
hg_join_find_groups(HgJoinState *state, const HgReduction **reduction)
{
	*reduction = NULL;
	if (!state->rules.rows_wanted)
		return true;
	if (hg_join_planned_reduction(state->reduction) != NULL)
		*reduction = hg_join_requested_reduction(state->reduction);
	return *reduction != NULL;
}

/*
 * Sets columns[] to a reduction's columns, as indexes in the side's batches; returns their number.
 */
static int
hg_join_page_columns(const HgJoinReduction *groups, const HgReduction *reduction, HgSide side,
					 int columns[HG_MAX_COLUMNS])
{
	if (reduction == NULL)
		return 0;
	for (uint32 i = 0; i < reduction->columns[side].ncolumns; i++)
		columns[i] = hg_join_reduction_column(groups, side, i);
	return (int) reduction->columns[side].ncolumns;
}

/* Prepares the page sources of both sides; returns false if a side cannot send pages. */
static bool
hg_join_init_page_sources(HgJoinState *state, bool parallel_hash, HgPagesTry *try)
{
	if (!hg_join_find_groups(state, &try->reduction))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		int columns[HG_MAX_COLUMNS];
		const int ncolumns =
			hg_join_page_columns(state->reduction, try->reduction, (HgSide) side, columns);

		if (!hg_input_is_unread(state->inputs[side]) ||
			!hg_child_init_page_source(&state->inputs[side]->child, parallel_hash, ncolumns,
									   columns, &try->sources[side]))
			return false;
	}
	return true;
}

/*
 * Returns true if sending pages is expected to pay for this number of processes.  Sets *cpu_ms to
 * the whole time on the CPU.
 */
static bool
hg_join_pages_pay(const HgJoinState *state, const HgPagesTry *try, int processes,
				  const uint64 expected_rows[2], double *cpu_ms)
{
	const HgPageSource *sources = try->sources;
	const HgReduction *reduction = try->reduction;
	const HgParticipantsSpec participants = {.processes = processes};
	const HgMatcherSpec spec = {
		.key_width = state->inputs[HG_INNER]->held.words->width,
		.counted = reduction == NULL,
		.pairs = reduction != NULL ? state->css.ss.ps.plan->plan_rows * processes : 0,
		.reduction = reduction,
		.participants = &participants,
		.parallel = hg_join_is_parallel(state),
	};
	double saved_ms = 0;
	HgEngineCosts costs;
	const bool known = hg_device_costs(&costs);
	HgMatcherEstimate estimate;

	/* a device process is not started for this: the pages would be read before it is ready */
	if (!known && hg_backend == HG_BACKEND_AUTO)
		return false;
	hg_matcher_estimate(known ? &costs : NULL, &spec, expected_rows[HG_OUTER],
						expected_rows[HG_INNER], &estimate);
	*cpu_ms = estimate.cpu_ms + (hg_page_source_reading_ms(&sources[HG_OUTER]) +
								 hg_page_source_reading_ms(&sources[HG_INNER])) /
									processes;
	if (reduction != NULL && !estimate.reduced)
		return false;
	if (hg_force)
		return true;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const double less_ms = hg_page_source_saved_ms(&sources[side]) / processes;

		if (less_ms <= 0)
			return false;
		saved_ms += less_ms;
	}
	return sources[HG_OUTER].rows + sources[HG_INNER].rows >= HG_PAGES_ROWS &&
		   (hg_backend == HG_BACKEND_CUDA || estimate.device_ms < estimate.cpu_ms + saved_ms);
}

/* Opens the job.  The caller has set the spec's owner and expectations. */
static bool
hg_join_open_pages(HgJoinState *state, HgPagesTry *try, HgPageJobSpec *spec)
{
	spec->key_width = state->inputs[HG_INNER]->held.words->width;
	spec->mode = state->rules.single_match ? HG_MATCH_FIRST : HG_MATCH_ALL;
	spec->reduction = try->reduction;
	spec->progress = &state->progress.shown;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec->pages[side] = try->sources[side].spec;
		if (!hg_page_source_begin(&try->sources[side]))
			return false;
	}
	try->job = hg_page_job_create(spec);
	return try->job != NULL;
}

/* Sends this process's pages; returns false if the job has failed. */
static bool
hg_join_send_pages(HgJoinRecord *record, HgPagesTry *try)
{
	double start = hg_clock_ms();

	for (int side = HG_INNER; side >= HG_OUTER; side--)
		if (!hg_page_source_send(&try->sources[side], try->job, (HgSide) side))
			return false;
	record->scan_ms += hg_clock_ms() - start;
	return true;
}

/* Adds this process's part of a finished job to the statistics. */
static void
hg_join_end_pages(HgInput *const inputs[2], HgJoinRecord *record, HgPagesTry *try)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_child_end_pages(&inputs[side]->child, &try->sources[side]);
		try->answer.report.uploaded_pages += try->sources[side].pages;
	}
	hg_stats_add_report(record, &try->answer.report);
}

/*
 * Takes the answer in the process that asked.  uploaded_rows: rows sent by all.  Returns the number
 * of rows; 0 if groups are handed up.
 */
static uint64
hg_join_take_pages(HgInput *const inputs[2], HgJoinReduction *groups, HgPagesTry *try,
				   const uint64 uploaded_rows[2])
{
	HgPageAnswer *answer = &try->answer;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_child_report_pages(&inputs[side]->child, &try->sources[side], uploaded_rows[side],
							  answer->rows[side], answer->null_keys[side]);
	if (try->reduction == NULL)
		return answer->pairs;
	hg_join_hand_up(groups, &try->reduction->spec, hg_join_reduction_codes(groups),
					&answer->groups);
	return 0;
}

/* Starts both sides again after a failure. */
static void
hg_join_forget_pages(HgInput *const inputs[2], HgPagesTry *try)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_page_source_rescan(&try->sources[side]);
		hg_input_restart(inputs[side]);
	}
}

/* Lets a device join the pages of this process alone. */
static bool
hg_join_ask_alone(HgJoinState *state, uint64 *rows)
{
	HgPagesTry try = {0};
	HgPageJobSpec spec = {0};
	uint64 uploaded_rows[2];

	if (!hg_join_init_page_sources(state, false, &try))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.expected_rows[side] = try.sources[side].expected;
	if (!hg_join_pages_pay(state, &try, 1, spec.expected_rows, &spec.cpu_ms) ||
		!hg_join_open_pages(state, &try, &spec))
		return false;
	state->pages.uploaded = hg_join_send_pages(&state->progress.record, &try);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		uploaded_rows[side] = try.sources[side].uploaded_rows;
	state->pages.uploaded =
		state->pages.uploaded && hg_page_job_answer(try.job, uploaded_rows, &try.answer);
	if (state->pages.uploaded)
	{
		hg_join_end_pages(state->inputs, &state->progress.record, &try);
		*rows = hg_join_take_pages(state->inputs, state->reduction, &try, uploaded_rows);
	}
	else
	{
		strlcpy(state->pages.failure, hg_page_job_failure(try.job), sizeof(state->pages.failure));
		hg_join_forget_pages(state->inputs, &try);
	}
	hg_page_job_destroy(try.job);
	return state->pages.uploaded;
}

/* ---------------------------------------------------------------------
 * Together
 * ---------------------------------------------------------------------
 */

void
hg_join_pages_expect(HgJoinState *state, HgJoinPagesShared *shared, int processes)
{
	HgPagesTry try = {0};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		shared->expected_rows[side] = hg_join_expected_rows(state->inputs[side], processes);
	shared->planned =
		state->parallel_hash && hg_join_is_for_pages(state) &&
		!hg_join_has_covered(state->inputs) && hg_join_reads_at_once(state) &&
		hg_join_init_page_sources(state, true, &try) &&
		hg_join_pages_pay(state, &try, processes, shared->expected_rows, &shared->cpu_ms);
}

bool
hg_join_pages_reset(const HgJoinPages *pages, HgJoinPagesShared *shared)
{
	pg_atomic_init_u64(&shared->epoch, 0);
	pg_atomic_init_u32(&shared->failed, 0);
	pg_atomic_init_u32(&shared->asked, 0);
	pg_atomic_init_u32(&shared->dealt, 0);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		pg_atomic_init_u64(&shared->uploaded_rows[side], 0);
	shared->answered = false;
	shared->failure[0] = '\0';
	return shared->planned && !pages->declined;
}

/* Records that this process has failed, before it arrives. */
static void
hg_join_pages_fail(HgJoinPagesShared *shared, const HgPageJob *job)
{
	uint32 none = 0;

	if (pg_atomic_compare_exchange_u32(&shared->failed, &none, 1))
		strlcpy(shared->failure, hg_page_job_failure(job), sizeof(shared->failure));
}

/* Waits for the others. */
static void
hg_join_pages_arrive(HgJoinShared *shared)
{
	BarrierArriveAndWait(&shared->barrier,
						 HG_WAIT_EVENT(hg_join_pages_wait_event, "HashGraphPages"));
}

/* Opens the job and sends this process's pages, if it can. */
static void
hg_join_send_pages_parallel(HgJoinState *state, HgPagesTry *try)
{
	HgJoinShared *shared = state->participants.shared;
	HgPageJobSpec spec = {.participants_id = shared->device.pages_job,
						  .device_no = shared->device.device_no,
						  .failed = &shared->pages.failed,
						  .epoch = &shared->pages.epoch,
						  .cpu_ms = shared->pages.cpu_ms};

	memcpy(spec.expected_rows, shared->pages.expected_rows, sizeof(spec.expected_rows));
	if (!hg_join_init_page_sources(state, true, try) || !hg_join_open_pages(state, try, &spec))
		return;
	state->pages.uploaded = true;
	if (!hg_join_send_pages(&state->progress.record, try) || !hg_page_job_end_sending(try->job))
		hg_join_pages_fail(&shared->pages, try->job);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		pg_atomic_fetch_add_u64(&shared->pages.uploaded_rows[side],
								try->sources[side].uploaded_rows);
}

/*
 * Asks for the answer after all pages were sent, unless another process does.  Returns true if
 * this process has asked.
 */
static bool
hg_join_answer_pages_parallel(HgJoinPagesShared *shared, HgPagesTry *try, uint64 uploaded_rows[2])
{
	uint32 none = 0;
	bool asks;

	if (try->job == NULL || pg_atomic_read_u32(&shared->failed) != 0)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		uploaded_rows[side] = pg_atomic_read_u64(&shared->uploaded_rows[side]);
	asks = pg_atomic_compare_exchange_u32(&shared->asked, &none, 1);
	if (!hg_page_job_is_there(try->job) ||
		(asks && !hg_page_job_answer(try->job, uploaded_rows, &try->answer)))
		hg_join_pages_fail(shared, try->job);
	else if (asks)
	{
		shared->answered = true;
		shared->build = try->answer.report.job.build;
		shared->probe = try->answer.report.job.probe;
	}
	return asks;
}

/* Takes the outcome, which all processes know now.  Returns true if all rows are joined. */
static bool
hg_join_conclude_pages_parallel(HgJoinState *state, HgPagesTry *try, bool asked,
								const uint64 uploaded_rows[2], uint64 *rows)
{
	HgJoinPagesShared *shared = &state->participants.shared->pages;
	const bool answered = shared->answered && pg_atomic_read_u32(&shared->failed) == 0;
	uint32 none = 0;

	state->pages.uploaded = answered && try->job != NULL;
	if (answered)
	{
		if (state->pages.uploaded && !asked)
		{
			hg_page_job_report(try->job, &try->answer.report);
			try->answer.report.job.build = shared->build;
			try->answer.report.job.probe = shared->probe;
		}
		if (state->pages.uploaded)
			hg_join_end_pages(state->inputs, &state->progress.record, try);
		*rows = asked ? hg_join_take_pages(state->inputs, state->reduction, try, uploaded_rows) : 0;
		return true;
	}
	strlcpy(state->pages.failure, shared->failure, sizeof(state->pages.failure));
	if (try->job != NULL)
	{
		hg_join_forget_pages(state->inputs, try);
		if (pg_atomic_compare_exchange_u32(&shared->dealt, &none, 1))
			for (int side = HG_OUTER; side <= HG_INNER; side++)
				hg_page_source_reinitialize(&try->sources[side]);
	}
	return false;
}

/* Goes through the remaining phases. */
static bool
hg_join_ask_participants(HgJoinState *state, uint64 *rows)
{
	HgPagesTry try = {0};
	uint64 uploaded_rows[2] = {0, 0};
	bool asked = false;
	bool answered;

	if (state->pages.phase == HG_PAGES_SENDING)
	{
		hg_join_send_pages_parallel(state, &try);
		hg_join_pages_arrive(state->participants.shared);
	}
	if (state->pages.phase <= HG_PAGES_ASKING)
	{
		asked =
			hg_join_answer_pages_parallel(&state->participants.shared->pages, &try, uploaded_rows);
		hg_join_pages_arrive(state->participants.shared);
	}
	answered = hg_join_conclude_pages_parallel(state, &try, asked, uploaded_rows, rows);
	if (try.job != NULL)
		hg_page_job_destroy(try.job);
	if (!answered)
		hg_join_pages_arrive(state->participants.shared);
	return answered;
}

/* ---------------------------------------------------------------------
 * Asking
 * ---------------------------------------------------------------------
 */

/* Asks a device, alone or together with the other participants, in a temporary memory context. */
static bool
hg_join_ask(HgJoinState *state, uint64 *rows)
{
	MemoryContext context =
		AllocSetContextCreate(state->memory.context, "HashGraph pages", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const bool answered = state->participants.shared != NULL ? hg_join_ask_participants(state, rows)
															 : hg_join_ask_alone(state, rows);

	state->pages.declined = !answered;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return answered;
}

bool
hg_join_ask_pages(HgJoinState *state, uint64 *rows)
{
	state->pages.uploaded = false;
	if (state->participants.shared != NULL || state->parallel_hash ||
		!hg_join_is_for_pages(state) || hg_join_expects_covered(state))
		return false;
	/* unless hg_join_ask() succeeds */
	state->pages.declined = true;
	return hg_join_reads_at_once(state) && hg_join_ask(state, rows);
}

bool
hg_join_ask_pages_parallel(HgJoinState *state, int *phase, uint64 *rows)
{
	state->pages.uploaded = false;
	if (state->participants.shared->device.pages_job == 0)
		return false;
	state->pages.phase = *phase;
	*phase = Max(*phase - HG_PAGES_PHASES, 0);
	return state->pages.phase <= HG_PAGES_KNOWN && hg_join_ask(state, rows);
}
