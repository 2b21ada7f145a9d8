/*-------------------------------------------------------------------------
 *
 * hg_join_pages.c
 *	  A join of two tables that a device takes the rows out of the pages of.
 *
 * Most of what such a join takes is to take the tables' pages apart.  Where nobody asks for more
 * than the number of joined rows, or for groups of them, a device does that (engine/hg_pages.h):
 * what is done here is to copy pages to where it finds them.  Pages of which not all rows are to be
 * seen by all are copied without those that the scan's snapshot does not see.
 *
 * Whatever comes between, nobody has been given a row: both tables are read again, from their
 * start, under the same snapshot and with the same parameters, as if there had been no device.
 *
 * BELOW A GATHER the processes that read both sides together (hg_join_together.c) send them
 * together, each the pages that the parallel scans hand out to it, before all that they do else:
 *
 *	sending		Each opens the same job, and sends pages until there are no more.  One that can't
 *				open it has asked for no page: the others get them.
 *	(barrier)
 *	asking		All pages are there.  One of those that have sent some asks for the answer.  The
 *				others look whether the device process that has got theirs is still there: it may
 *				have been replaced by one that has nothing but pages of others, of which nobody
 *				could tell that they are not all.
 *	(barrier)
 *	known		Where one has failed all have: each says so before it arrives, and looks after all
 *				have.  Else whoever has asked has the rows of all, and the others have none.
 *	(barrier)	Where it is to be read again, the scans hand out all of their pages once more.
 *
 * Nobody returns a row before that.  Who comes late takes part in what is left.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "batch/hg_input_pages.h"
#include "executor/join/hg_join_pages.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"

/* Joins of fewer rows are on the device in no time, once they are read. */
#define HG_PAGES_ROWS 50000

/* Phases of the barrier of processes that send pages together; see above. */
#define HG_PAGES_SENDING 0
#define HG_PAGES_ASKING 1
#define HG_PAGES_KNOWN 2
#define HG_PAGES_PHASES 3

/* What one process has of it, while it is tried. */
typedef struct HgPagesTry
{
	const HgReduction *reduction; /* whose groups are asked for; NULL: the number of pairs */
	HgPageOffer offers[2];
	HgPageJob *job; /* NULL: this process has no part in it */
	HgPageAnswer answer;
} HgPagesTry;

static uint32 hg_join_pages_wait_event;

/* Do pairs, counted or in groups, tell all that is asked for, and is nothing kept for later? */
static bool
hg_join_is_for_pages(const HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;

	return hg_send_pages && !state->pages.declined &&
		   (rules->join_type == JOIN_INNER || rules->join_type == JOIN_SEMI) &&
		   rules->join_qual == NULL && !rules->single_inner &&
		   (!rules->rows_wanted || state->reduction != NULL) && state->sender == NULL &&
		   !state->rewind && !state->reading.outer_ready && !state->rescan.outer_whole;
}

/* Find out which groups are to be asked for, if it is groups; false where they can't be. */
static bool
hg_join_find_groups(HgJoinState *state, const HgReduction **reduction)
{
	*reduction = NULL;
	if (!state->rules.rows_wanted)
		return true;
	if (hg_join_planned_reduction(state->reduction) != NULL)
		*reduction = hg_join_wanted_reduction(state->reduction);
	return *reduction != NULL;
}

/* The columns of a side that a reduction is made of, by their indexes in the side's batches. */
static int
hg_join_page_columns(const HgJoinState *state, const HgReduction *reduction, HgSide side,
					 int columns[HG_MAX_COLUMNS])
{
	if (reduction == NULL)
		return 0;
	for (uint32 i = 0; i < reduction->columns[side].ncolumns; i++)
		columns[i] = hg_join_reduction_column(state->reduction, side, i);
	return (int) reduction->columns[side].ncolumns;
}

/* Have both sides offer their pages. */
static bool
hg_join_offer_pages(HgJoinState *state, bool together, HgPagesTry *try)
{
	if (!hg_join_find_groups(state, &try->reduction))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		int columns[HG_MAX_COLUMNS];
		const int ncolumns = hg_join_page_columns(state, try->reduction, (HgSide) side, columns);

		if (!hg_input_offer_pages(state->inputs[side], together, ncolumns, columns,
								  &try->offers[side]))
			return false;
	}
	return true;
}

/*
 * Is it expected to be worth it to send them, for so many processes?  *cpu_ms: what the CPU would
 * take for all of it.
 */
static bool
hg_join_pages_pay(const HgJoinState *state, const HgPagesTry *try, int processes,
				  const uint64 expected_rows[2], double *cpu_ms)
{
	const HgPageOffer *offers = try->offers;
	const HgReduction *reduction = try->reduction;
	const HgParticipantsSpec participants = {.processes = processes};
	const HgMatcherSpec spec = {
		.key_width = state->inputs[HG_INNER]->words->width,
		.counted = reduction == NULL,
		.pairs = reduction != NULL ? state->css.ss.ps.plan->plan_rows * processes : 0,
		.reduction = reduction,
		.participants = &participants,
	};
	double saved_ms = 0;
	HgEngineCosts costs;
	const bool known = hg_device_costs(&costs);
	HgMatcherEstimate estimate;

	/* no process is started for pages that are there before it is */
	if (!known && hg_backend == HG_BACKEND_AUTO)
		return false;
	hg_matcher_estimate(known ? &costs : NULL, &spec, expected_rows[HG_OUTER],
						expected_rows[HG_INNER], &estimate);
	*cpu_ms = estimate.cpu_ms + (hg_page_offer_reading_ms(&offers[HG_OUTER]) +
								 hg_page_offer_reading_ms(&offers[HG_INNER])) /
									processes;
	if (reduction != NULL && !estimate.reduced)
		return false;
	if (hg_force)
		return true;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const double less_ms = hg_page_offer_saved_ms(&offers[side]) / processes;

		if (less_ms <= 0)
			return false;
		saved_ms += less_ms;
	}
	return offers[HG_OUTER].rows + offers[HG_INNER].rows >= HG_PAGES_ROWS &&
		   (hg_backend == HG_BACKEND_CUDA || estimate.device_ms < estimate.cpu_ms + saved_ms);
}

/* Open the job that the offers are for, of which spec tells whose it is and what is expected. */
static bool
hg_join_open_pages(HgJoinState *state, HgPagesTry *try, HgPageJobSpec *spec)
{
	spec->key_width = state->inputs[HG_INNER]->words->width;
	spec->mode = state->rules.single_match ? HG_MATCH_FIRST : HG_MATCH_ALL;
	spec->reduction = try->reduction;
	spec->progress = &state->progress.shown;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec->pages[side] = try->offers[side].spec;
		if (!hg_page_offer_begin(&try->offers[side]))
			return false;
	}
	try->job = hg_page_job_create(spec);
	return try->job != NULL;
}

/* Send this process's pages; false where the job has failed. */
static bool
hg_join_send_pages(HgJoinState *state, HgPagesTry *try)
{
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
	for (int side = HG_INNER; side >= HG_OUTER; side--)
		if (!hg_page_offer_send(&try->offers[side], try->job, (HgSide) side))
			return false;
	state->progress.record.scan_ms += hg_elapsed_ms(start);
	return true;
}

/* All are joined, and this process's pages were among them. */
static void
hg_join_end_pages(HgJoinState *state, HgPagesTry *try)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_input_end_pages(state->inputs[side], &try->offers[side]);
		try->answer.report.sent_pages += try->offers[side].pages;
	}
	hg_stats_add_report(&state->progress.record, &try->answer.report);
}

/* This process has the rows, of as many as were sent in all. */
static void
hg_join_take_pages(HgJoinState *state, HgPagesTry *try, const uint64 sent_rows[2])
{
	HgPageAnswer *answer = &try->answer;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_input_tell_pages(state->inputs[side], &try->offers[side], sent_rows[side],
							answer->rows[side], answer->null_keys[side]);
	if (try->reduction != NULL)
		hg_join_hand_up(state->reduction, &try->reduction->spec,
						hg_join_reduction_codes(state->reduction), &answer->groups);
	else
		state->output.empty_left = answer->pairs;
}

/* None are: have both sides be where they were. */
static void
hg_join_forget_pages(HgJoinState *state, HgPagesTry *try)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_page_offer_forget(&try->offers[side]);
		hg_input_restart(state->inputs[side]);
	}
}

/* Have a device join what this process alone sends. */
static bool
hg_join_ask_alone(HgJoinState *state)
{
	HgPagesTry try = {0};
	HgPageJobSpec spec = {0};
	uint64 sent_rows[2];

	if (!hg_join_offer_pages(state, false, &try))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.expected_rows[side] = try.offers[side].expected;
	if (!hg_join_pages_pay(state, &try, 1, spec.expected_rows, &spec.cpu_ms) ||
		!hg_join_open_pages(state, &try, &spec))
		return false;
	state->pages.sent = hg_join_send_pages(state, &try);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sent_rows[side] = try.offers[side].sent_rows;
	state->pages.sent = state->pages.sent && hg_page_job_answer(try.job, sent_rows, &try.answer);
	if (state->pages.sent)
	{
		hg_join_end_pages(state, &try);
		hg_join_take_pages(state, &try, sent_rows);
	}
	else
	{
		strlcpy(state->pages.failure, hg_page_job_failure(try.job), sizeof(state->pages.failure));
		hg_join_forget_pages(state, &try);
	}
	hg_page_job_destroy(try.job);
	return state->pages.sent;
}

/* Call ask with memory that goes when it is done. */
static bool
hg_join_ask(HgJoinState *state, bool (*ask)(HgJoinState *state))
{
	MemoryContext context =
		AllocSetContextCreate(state->memory.context, "HashGraph pages", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const bool answered = ask(state);

	state->pages.declined = !answered;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return answered;
}

bool
hg_join_ask_pages(HgJoinState *state)
{
	state->pages.sent = false;
	if (state->participants.shared != NULL || state->together || !hg_join_is_for_pages(state) ||
		hg_join_expects_covered(state))
		return false;
	/* unless it turns out that they are */
	state->pages.declined = true;
	return hg_join_reads_at_once(state) && hg_join_ask(state, hg_join_ask_alone);
}

/* ---------------------------------------------------------------------
 * Together
 * ---------------------------------------------------------------------
 */

void
hg_join_pages_expect(HgJoinState *state, HgJoinPagesShared *shared, int processes)
{
	HgPagesTry try = {0};

	pg_atomic_init_u64(&shared->epoch, 0);
	pg_atomic_init_u32(&shared->failed, 0);
	pg_atomic_init_u32(&shared->asked, 0);
	pg_atomic_init_u32(&shared->dealt, 0);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		pg_atomic_init_u64(&shared->sent_rows[side], 0);
		shared->expected_rows[side] = hg_join_expected_rows(state, (HgSide) side, processes);
	}
	shared->wanted =
		state->together && hg_join_is_for_pages(state) && !hg_join_has_covered(state) &&
		hg_join_reads_at_once(state) && hg_join_offer_pages(state, true, &try) &&
		hg_join_pages_pay(state, &try, processes, shared->expected_rows, &shared->cpu_ms);
}

bool
hg_join_pages_reset(const HgJoinState *state, HgJoinPagesShared *shared)
{
	pg_atomic_write_u64(&shared->epoch, 0);
	pg_atomic_write_u32(&shared->failed, 0);
	pg_atomic_write_u32(&shared->asked, 0);
	pg_atomic_write_u32(&shared->dealt, 0);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		pg_atomic_write_u64(&shared->sent_rows[side], 0);
	shared->answered = false;
	shared->failure[0] = '\0';
	return shared->wanted && !state->pages.declined;
}

/* Say that this process has failed, before it arrives. */
static void
hg_join_pages_fail(HgJoinPagesShared *shared, const HgPageJob *job)
{
	uint32 none = 0;

	if (pg_atomic_compare_exchange_u32(&shared->failed, &none, 1))
		strlcpy(shared->failure, hg_page_job_failure(job), sizeof(shared->failure));
}

/* Wait for the others. */
static void
hg_join_pages_arrive(HgJoinState *state)
{
	BarrierArriveAndWait(&state->participants.shared->barrier,
						 HG_WAIT_EVENT(hg_join_pages_wait_event, "HashGraphPages"));
}

/* Open the job and send this process's pages, if it can. */
static void
hg_join_send_together(HgJoinState *state, HgPagesTry *try)
{
	HgJoinShared *shared = state->participants.shared;
	HgPageJobSpec spec = {.participants_id = shared->device.pages_job,
						  .device_no = shared->device.device_no,
						  .failed = &shared->pages.failed,
						  .epoch = &shared->pages.epoch,
						  .cpu_ms = shared->pages.cpu_ms};

	memcpy(spec.expected_rows, shared->pages.expected_rows, sizeof(spec.expected_rows));
	if (!hg_join_offer_pages(state, true, try) || !hg_join_open_pages(state, try, &spec))
		return;
	state->pages.sent = true;
	if (!hg_join_send_pages(state, try) || !hg_page_job_end_sending(try->job))
		hg_join_pages_fail(&shared->pages, try->job);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		pg_atomic_fetch_add_u64(&shared->pages.sent_rows[side], try->offers[side].sent_rows);
}

/* All pages were sent by somebody: ask what they make, or leave it to another.  Does this one? */
static bool
hg_join_answer_together(HgJoinState *state, HgPagesTry *try, uint64 sent_rows[2])
{
	HgJoinPagesShared *shared = &state->participants.shared->pages;
	uint32 none = 0;
	bool asks;

	if (try->job == NULL || pg_atomic_read_u32(&shared->failed) != 0)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sent_rows[side] = pg_atomic_read_u64(&shared->sent_rows[side]);
	asks = pg_atomic_compare_exchange_u32(&shared->asked, &none, 1);
	if (!hg_page_job_is_there(try->job) ||
		(asks && !hg_page_job_answer(try->job, sent_rows, &try->answer)))
		hg_join_pages_fail(shared, try->job);
	else if (asks)
	{
		shared->answered = true;
		shared->build = try->answer.report.job.build;
		shared->probe = try->answer.report.job.probe;
	}
	return asks;
}

/* It is known what came of it; true: all are joined. */
static bool
hg_join_know_together(HgJoinState *state, HgPagesTry *try, bool asked, const uint64 sent_rows[2])
{
	HgJoinPagesShared *shared = &state->participants.shared->pages;
	const bool answered = shared->answered && pg_atomic_read_u32(&shared->failed) == 0;
	uint32 none = 0;

	state->pages.sent = answered && try->job != NULL;
	if (answered)
	{
		state->output.empty_left = 0;
		if (state->pages.sent && !asked)
		{
			hg_page_job_report(try->job, &try->answer.report);
			try->answer.report.job.build = shared->build;
			try->answer.report.job.probe = shared->probe;
		}
		if (state->pages.sent)
			hg_join_end_pages(state, try);
		if (asked)
			hg_join_take_pages(state, try, sent_rows);
		return true;
	}
	strlcpy(state->pages.failure, shared->failure, sizeof(state->pages.failure));
	if (try->job != NULL)
	{
		hg_join_forget_pages(state, try);
		if (pg_atomic_compare_exchange_u32(&shared->dealt, &none, 1))
			for (int side = HG_OUTER; side <= HG_INNER; side++)
				hg_page_offer_deal_again(&try->offers[side]);
	}
	return false;
}

/* All phases that are left. */
static bool
hg_join_ask_participants(HgJoinState *state)
{
	HgPagesTry try = {0};
	uint64 sent_rows[2] = {0, 0};
	bool asked = false;
	bool answered;

	if (state->pages.phase == HG_PAGES_SENDING)
	{
		hg_join_send_together(state, &try);
		hg_join_pages_arrive(state);
	}
	if (state->pages.phase <= HG_PAGES_ASKING)
	{
		asked = hg_join_answer_together(state, &try, sent_rows);
		hg_join_pages_arrive(state);
	}
	answered = hg_join_know_together(state, &try, asked, sent_rows);
	if (try.job != NULL)
		hg_page_job_destroy(try.job);
	if (!answered)
		hg_join_pages_arrive(state);
	return answered;
}

bool
hg_join_ask_pages_together(HgJoinState *state, int *phase)
{
	state->pages.sent = false;
	if (state->participants.shared->device.pages_job == 0)
		return false;
	state->pages.phase = *phase;
	*phase = Max(*phase - HG_PAGES_PHASES, 0);
	return state->pages.phase <= HG_PAGES_KNOWN && hg_join_ask(state, hg_join_ask_participants);
}
