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

/* Do pairs, counted or in groups, tell all that is asked for, and is nothing kept for later? */
static bool
hg_join_is_for_pages(const HgJoinState *state)
{
	const HgJoinRules *rules = &state->rules;

	return (rules->join_type == JOIN_INNER || rules->join_type == JOIN_SEMI) &&
		   rules->join_qual == NULL && !rules->single_inner &&
		   (!rules->rows_wanted || state->reduction != NULL) && state->team.shared == NULL &&
		   !state->together && state->sender == NULL && !state->rewind &&
		   !state->reading.outer_ready && !state->kept.outer_whole && !hg_join_expects_lent(state);
}

/* The columns of a side that a reduction is made of, by their places in the side's batches. */
static int
hg_join_page_columns(const HgJoinState *state, const HgReduction *reduction, HgSide side,
					 int columns[HG_MAX_COLUMNS])
{
	if (reduction == NULL)
		return 0;
	for (uint32 i = 0; i < reduction->columns[side].ncolumns; i++)
		columns[i] = hg_join_reduction_place(state->reduction, side, i);
	return (int) reduction->columns[side].ncolumns;
}

/* Have both sides offer their pages. */
static bool
hg_join_offer_pages(HgJoinState *state, const HgReduction *reduction, HgPageOffer offers[2])
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		int columns[HG_MAX_COLUMNS];
		const int ncolumns = hg_join_page_columns(state, reduction, (HgSide) side, columns);

		if (!hg_input_offer_pages(state->inputs[side], ncolumns, columns, &offers[side]))
			return false;
	}
	return true;
}

/* Is it expected to be worth it to send them?  *cpu_ms: what the CPU would take for all of it. */
static bool
hg_join_pages_pay(const HgJoinState *state, const HgReduction *reduction,
				  const HgPageOffer offers[2], double *cpu_ms)
{
	const HgMatcherSpec spec = {
		.key_width = state->inputs[HG_INNER]->words->width,
		.counted = reduction == NULL,
		.pairs = reduction != NULL ? state->css.ss.ps.plan->plan_rows : 0,
		.reduction = reduction,
	};
	double saved_ms = 0;
	HgEngineCosts costs;
	const bool known = hg_device_costs(&costs);
	HgMatcherEstimate estimate;

	/* no process is started for pages that are there before it is */
	if (!known && hg_backend == HG_BACKEND_AUTO)
		return false;
	hg_matcher_estimate(known ? &costs : NULL, &spec, offers[HG_OUTER].expected,
						offers[HG_INNER].expected, &estimate);
	*cpu_ms = estimate.cpu_ms + hg_page_offer_reading_ms(&offers[HG_OUTER]) +
			  hg_page_offer_reading_ms(&offers[HG_INNER]);
	if (reduction != NULL && !estimate.reduced)
		return false;
	if (hg_force)
		return true;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const double less_ms = hg_page_offer_saved_ms(&offers[side]);

		if (less_ms <= 0)
			return false;
		saved_ms += less_ms;
	}
	return offers[HG_OUTER].rows + offers[HG_INNER].rows >= HG_PAGES_ROWS &&
		   (hg_backend == HG_BACKEND_CUDA || estimate.device_ms < estimate.cpu_ms + saved_ms);
}

/* Have a device answer; false where it does not. */
static bool
hg_join_send_pages(HgJoinState *state, HgPageOffer offers[2], HgPageJob *job, HgPageAnswer *answer)
{
	uint64 most_rows[2];
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
	for (int side = HG_INNER; side >= HG_OUTER; side--)
		if (!hg_page_offer_send(&offers[side], job, (HgSide) side))
			return false;
	state->progress.record.scan_ms += hg_elapsed_ms(start);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		most_rows[side] = offers[side].sent_rows;
	return hg_page_job_answer(job, most_rows, answer);
}

/* All are joined. */
static void
hg_join_take_pages(HgJoinState *state, HgPageOffer offers[2], const HgReduction *reduction,
				   HgPageAnswer *answer)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_input_end_pages(state->inputs[side], &offers[side], answer->rows[side],
						   answer->null_keys[side]);
		answer->report.sent_pages += offers[side].pages;
	}
	hg_stats_add_report(&state->progress.record, &answer->report);
	if (reduction != NULL)
		hg_join_hand_up(state->reduction, &reduction->spec,
						hg_join_reduction_codes(state->reduction), &answer->groups);
	else
		state->output.empty_left = answer->pairs;
}

/* None are: have both sides be where they were. */
static void
hg_join_forget_pages(HgJoinState *state, HgPageOffer offers[2], const HgPageJob *job)
{
	strlcpy(state->pages.failure, hg_page_job_failure(job), sizeof(state->pages.failure));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_page_offer_forget(&offers[side]);
		hg_input_restart(state->inputs[side]);
	}
}

/* Ask for the groups of a reduction; NULL: for the number of pairs. */
static bool
hg_join_join_pages(HgJoinState *state, const HgReduction *reduction)
{
	HgPageOffer offers[2];
	HgPageJobSpec spec = {.key_width = state->inputs[HG_INNER]->words->width,
						  .mode = state->rules.single_match ? HG_MATCH_FIRST : HG_MATCH_ALL,
						  .reduction = reduction,
						  .progress = &state->progress.shown};
	HgPageAnswer answer;
	HgPageJob *job;
	bool answered;

	if (!hg_join_offer_pages(state, reduction, offers) ||
		!hg_join_pages_pay(state, reduction, offers, &spec.cpu_ms))
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.pages[side] = offers[side].spec;
		spec.expected_rows[side] = offers[side].expected;
	}
	job = hg_page_job_create(&spec);
	if (job == NULL)
		return false;
	state->pages.sent = true;
	answered = hg_join_send_pages(state, offers, job, &answer);
	state->pages.sent = answered;
	if (answered)
		hg_join_take_pages(state, offers, reduction, &answer);
	else
		hg_join_forget_pages(state, offers, job);
	hg_page_job_destroy(job);
	return answered;
}

bool
hg_join_ask_pages(HgJoinState *state)
{
	const HgReduction *reduction = NULL;
	MemoryContext context;
	MemoryContext old;
	bool answered;

	state->pages.sent = false;
	if (!hg_send_pages || state->pages.declined || !hg_join_is_for_pages(state))
		return false;
	/* unless it turns out that they are */
	state->pages.declined = true;
	if (!hg_join_reads_at_once(state))
		return false;
	if (state->rules.rows_wanted &&
		(hg_join_planned_reduction(state->reduction) == NULL ||
		 (reduction = hg_join_wanted_reduction(state->reduction)) == NULL))
		return false;
	context = AllocSetContextCreate(state->memory.context, "HashGraph pages", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	answered = hg_join_join_pages(state, reduction);
	state->pages.declined = !answered;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return answered;
}
