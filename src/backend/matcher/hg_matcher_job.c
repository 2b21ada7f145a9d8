/*-------------------------------------------------------------------------
 *
 * hg_matcher_job.c
 *	  The job of a matcher: keys and columns go in, and it is built.
 *
 * A job is this process's own, or its part of one that a team shares on the CPU (what a team does
 * on a device is in hg_device_team.c).  One of its own may have been given keys while these were
 * read (hg_sender.h); where that has come to nothing they are all given now.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/matcher/hg_matcher_internal.h"
#include "engine/hg_ranges.h"

/* Give a job its keys as a part of a shared one, and build it. */
static HgStatus
hg_matcher_build_shared(HgMatcher *matcher, HgStatus status, HgError *error)
{
	HgStatus built;
	HgError ignored;

	if (status == HG_OK)
		status = matcher->engine->share(matcher->job, &matcher->team.team, error);
	if (status != HG_OK)
		return status;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &matcher->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status =
				matcher->engine->append_rows(matcher->job, (HgSide) side, set->pieces[i].keys,
											 set->pieces[i].count, set->pieces[i].first_row, error);
	}
	/* the others wait for it, whatever has happened */
	built = matcher->engine->build(matcher->job, status == HG_OK ? error : &ignored);
	return status == HG_OK ? built : status;
}

void
hg_matcher_fill_spec(const HgMatcher *matcher, HgJobSpec *spec)
{
	hg_matcher_init_spec(spec, matcher->spec.key_width,
						 matcher->reducing ? matcher->spec.reduction : NULL, !matcher->on_cpu);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (matcher->gather.columns[side] != NULL)
			hg_column_set_fill_spec(matcher->gather.columns[side], (HgSide) side, spec);
}

/*
 * Go on with the job that has been given keys while they were read; what goes wrong before the
 * matcher has it has done no harm.
 */
static HgStatus
hg_matcher_take_over(HgMatcher *matcher, const HgJobSpec *spec, HgError *error)
{
	HgSender *sender = matcher->spec.sender;
	HgStatus status;

	if (hg_sender_reduces(sender) != matcher->reducing ||
		hg_sender_columns(sender, HG_OUTER) != matcher->gather.columns[HG_OUTER] ||
		hg_sender_columns(sender, HG_INNER) != matcher->gather.columns[HG_INNER])
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "other columns were expected");
	status = hg_sender_finish(sender, &matcher->host, matcher->sides, error);
	if (status == HG_OK)
		status = hg_sender_hand_over(sender, matcher->engine, &matcher->host.host, spec,
									 &matcher->job, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &matcher->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status = hg_ranges_note(matcher->job, (HgSide) side, set->pieces[i].keys,
									set->pieces[i].count, error);
	}
	if (status == HG_OK)
		matcher->report.sent_rows = hg_sender_sent_rows(sender);
	else if (matcher->job != NULL)
	{
		matcher->engine->close(matcher->job);
		matcher->job = NULL;
	}
	return status;
}

/* Have a job on the matcher's engine, with the keys and columns in it. */
static HgStatus
hg_matcher_fill(HgMatcher *matcher, const HgJobSpec *spec, HgError *error)
{
	HgStatus status = HG_UNAVAILABLE;

	if (matcher->spec.sender != NULL && !matcher->on_cpu)
		status = hg_matcher_take_over(matcher, spec, error);
	if (matcher->spec.sender != NULL)
		hg_sender_give_up(matcher->spec.sender);
	matcher->spec.sender = NULL;
	if (status == HG_OK || status == HG_CANCELLED)
		return status;

	status =
		matcher->engine->open(matcher->engine, &matcher->host.host, spec, &matcher->job, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &matcher->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status = matcher->engine->append(matcher->job, (HgSide) side, set->pieces[i].keys,
											 set->pieces[i].count, error);
		if (status == HG_OK)
			status = hg_column_set_append(
				matcher->reducing ? &matcher->spec.reduction->columns[side]
								  : matcher->gather.columns[side],
				matcher->engine, matcher->job, (HgSide) side, 0, set->rows, error);
	}
	return status;
}

/* The same, and built. */
static HgStatus
hg_matcher_build_job(HgMatcher *matcher, HgError *error)
{
	HgJobSpec spec;
	HgStatus status;

	hg_matcher_fill_spec(matcher, &spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.expected_rows[side] = matcher->sides[side].rows;
	if (matcher->spec.team != NULL)
	{
		status = matcher->engine->open(matcher->engine, &matcher->host.host, &spec, &matcher->job,
									   error);
		return hg_matcher_build_shared(matcher, status, error);
	}
	status = hg_matcher_fill(matcher, &spec, error);
	if (status == HG_OK)
		status = matcher->engine->build(matcher->job, error);
	return status;
}

HgStatus
hg_matcher_build_keys_alone(HgMatcher *matcher, HgError *error)
{
	if (matcher->job != NULL)
		matcher->engine->close(matcher->job);
	matcher->job = NULL;
	matcher->reducing = false;
	hg_gather_forget(&matcher->gather);
	return hg_matcher_build_job(matcher, error);
}

HgStatus
hg_matcher_build(HgMatcher *matcher, HgError *error)
{
	HgStatus status = hg_matcher_build_job(matcher, error);

	if (status == HG_DEVICE_OUT_OF_MEMORY &&
		(matcher->reducing || hg_gather_is_wanted(&matcher->gather)))
		status = hg_matcher_build_keys_alone(matcher, error);
	return status;
}
