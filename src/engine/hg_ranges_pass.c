/*-------------------------------------------------------------------------
 *
 * hg_ranges_pass.c
 *	  Passes over the slices of a job that was cut into ranges.
 *
 * hg_ranges.c tells the whole way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_ranges_internal.h"

#include <string.h>

/* ------------------------------------------------------------------------
 * Jobs of the wrapped engine
 * ------------------------------------------------------------------------ */

HgStatus
hg_ranges_run_open(HgRangesJob *job, HgRangesRun *run, const HgJobSpec *spec, HgError *error)
{
	HgEngine *target = job->ranges->target(job->ranges->arg);

	if (target == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	run->calls = *target;
	run->filled = run->built = false;
	return target->open(target, job->host, spec, &run->job, error);
}

static void
run_stats(const HgRangesRun *run, HgJobStats *stats)
{
	memset(stats, 0, sizeof(*stats));
	if (run->job != NULL)
		run->calls.stats(run->job, stats);
}

uint64_t
hg_ranges_peak_bytes(const HgRangesJob *job)
{
	HgJobStats now;
	HgJobStats next;

	run_stats(&job->now, &now);
	run_stats(&job->next, &next);
	now.peak_bytes += next.peak_bytes;
	return now.peak_bytes > job->sum.peak_bytes ? now.peak_bytes : job->sum.peak_bytes;
}

void
hg_ranges_run_close(HgRangesJob *job, HgRangesRun *run, bool done)
{
	HgJobStats stats;

	if (run->job == NULL)
		return;
	job->sum.peak_bytes = hg_ranges_peak_bytes(job);
	run_stats(run, &stats);
	job->sum.matches += stats.matches;
	job->sum.comparisons += stats.comparisons;
	job->sum.intersections += stats.intersections;
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		job->sum.phase_ms[phase] += stats.phase_ms[phase];
	if (done)
	{
		job->sum.build = stats.build;
		job->sum.probe = stats.probe;
		job->pass[0] += stats.vertices;
		job->pass[1] += stats.bins;
		job->slices++;
	}
	run->calls.close(run->job);
	run->job = NULL;
}

/* Open a job for the run's slice. */
static HgStatus
run_begin(HgRangesJob *job, HgRangesRun *run, bool ahead, HgError *error)
{
	HgJobSpec spec = job->spec;

	for (int side = 0; side < 2; side++)
		spec.expected_rows[side] = run->slice.high[side] - run->slice.low[side];
	if (job->in_pairs && !run->slice.alone)
		spec.memory_limit = (spec.memory_limit + 1) / 2;
	spec.ahead = ahead;
	return hg_ranges_run_open(job, run, &spec, error);
}

/* Give the rows of a run's slice to its job.  Sides that are not wanted stay without rows. */
static HgStatus
run_fill(HgRangesJob *job, HgRangesRun *run, HgError *error)
{
	const HgRangesSlice *slice = &run->slice;

	for (int which = 0; which < 2; which++)
	{
		const HgRangesSide *side = &job->sides[which];
		uint64_t step;

		for (uint64_t at = slice->low[which]; at < slice->high[which]; at += step)
		{
			HgStatus status = hg_ranges_poll(job, error);

			if (status != HG_OK)
				return status;
			step = hg_ranges_smaller(slice->high[which] - at, HG_RANGES_GIVE_KEYS);
			hg_ranges_make_keys(job, slice, side, at, step);
			status = run->calls.append(run->job, (HgSide) which, job->give, step, error);
			if (status != HG_OK)
				return status;
		}
	}
	run->filled = true;
	return HG_OK;
}

/* Have the device begin with what the pass wants of the slice, if it can do so by itself. */
static HgStatus
run_start(const HgRangesJob *job, const HgRangesRun *run, HgError *error)
{
	HgAhead ahead = HG_AHEAD_BUILD;

	if (!job->in_pairs)
		return HG_OK;
	if (job->purpose == HG_RANGES_FOR_MATCH)
		ahead = HG_AHEAD_MATCH;
	else if (job->purpose == HG_RANGES_FOR_COUNT)
		ahead = HG_AHEAD_COUNT;
	return run->calls.start(run->job, ahead, job->mode, error);
}

HgStatus
hg_ranges_retry(HgRangesJob *job, HgRangesRun *run, HgStatus status, HgError *error)
{
	HgError trouble;
	bool parted = false;
	HgStatus parting;

	if (status != HG_DEVICE_OUT_OF_MEMORY)
		return status;
	hg_ranges_run_close(job, run, false);
	/* the rows of one range say nothing about others: a key may have most of them */
	if (run->slice.end_range - run->slice.first_range > 1)
		job->most_rows =
			hg_ranges_smaller(job->most_rows, hg_ranges_slice_rows(&run->slice) / 2 + 1);
	parting = hg_ranges_part_slice(job, &run->slice, &parted, &trouble);
	if (parting == HG_OK)
		return parted ? HG_OK : status;
	if (error != NULL)
		*error = trouble;
	return parting;
}

/* ------------------------------------------------------------------------
 * Passes
 * ------------------------------------------------------------------------ */

void
hg_ranges_pass_begin(HgRangesJob *job, HgRangesPurpose purpose, bool outer, bool inner)
{
	bool goes_on = job->purpose == HG_RANGES_FOR_BUILD && outer && inner;

	job->purpose = purpose;
	job->streaming = false;
	if (goes_on)
		return;
	hg_ranges_run_close(job, &job->now, false);
	hg_ranges_run_close(job, &job->next, false);
	job->wanted[HG_OUTER] = outer;
	job->wanted[HG_INNER] = inner;
	job->depth = 0;
	job->next_range = 0;
	job->slices = 0;
	job->pass[0] = job->pass[1] = 0;
	for (int side = 0; side < 2; side++)
		job->sides[side].left = 0;
}

/* The next slice becomes the one that is worked on, its rows given to the device. */
static HgStatus
turn_to_next(HgRangesJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	job->delivered = false;
	if (job->next.job != NULL)
	{
		job->now = job->next;
		job->next.job = NULL;
		return HG_OK;
	}
	if (job->depth == 0)
		status = hg_ranges_load_next(job, error);
	if (status != HG_OK || !hg_ranges_take_slice(job, &job->now.slice))
		return status;
	status = run_begin(job, &job->now, false, error);
	if (status == HG_OK)
		status = run_fill(job, &job->now, error);
	return status != HG_OK ? hg_ranges_retry(job, &job->now, status, error) : HG_OK;
}

/*
 * Open a job for the slice after the one that is worked on, where that is loaded and the device
 * has room for both; where it has not, the slice is halved, unless it is much smaller already.
 */
static HgStatus
open_next(HgRangesJob *job, HgError *error)
{
	HgRangesRun *next = &job->next;
	HgStatus status;

	if (!job->in_pairs || job->now.slice.alone)
		return HG_OK;
	while (next->job == NULL && hg_ranges_take_slice(job, &next->slice))
	{
		const uint64_t rows = hg_ranges_slice_rows(&next->slice);

		status = next->slice.alone ? HG_DEVICE_OUT_OF_MEMORY : run_begin(job, next, true, error);
		if (status == HG_OK || status != HG_DEVICE_OUT_OF_MEMORY)
			return status;
		if (next->slice.alone || next->slice.end_range - next->slice.first_range == 1 ||
			rows < HG_RANGES_SMALL_SLICE || rows <= hg_ranges_slice_rows(&job->now.slice) / 2)
		{
			hg_ranges_give_back(job, &next->slice);
			return HG_OK;
		}
		status = hg_ranges_retry(job, next, status, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* Fill the slice after the one that is worked on, if there is a job for it. */
static HgStatus
fill_next(HgRangesJob *job, HgError *error)
{
	HgStatus status;

	if (job->next.job == NULL || job->next.filled)
		return HG_OK;
	status = run_fill(job, &job->next, error);
	return status != HG_OK ? hg_ranges_retry(job, &job->next, status, error) : HG_OK;
}

HgStatus
hg_ranges_pass_build(HgRangesJob *job, HgError *error)
{
	HgRangesRun *now = &job->now;

	while (now->job == NULL || !now->built)
	{
		HgStatus status = HG_OK;

		if (now->job == NULL)
		{
			status = turn_to_next(job, error);
			if (status != HG_OK)
				return status;
			if (now->job == NULL)
			{
				if (job->depth == 0 && job->next_range == HG_RANGES)
					return HG_OK;
				continue;
			}
		}

		/* what is asked of the device waits behind what it has begun: open first */
		status = open_next(job, error);
		if (status == HG_OK)
			status = run_start(job, now, error);
		if (status == HG_OK)
			status = fill_next(job, error);
		if (status != HG_OK)
			return status;

		status = now->calls.build(now->job, error);
		now->built = status == HG_OK;
		if (status != HG_OK)
			status = hg_ranges_retry(job, now, status, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

HgStatus
hg_ranges_pass_match(HgRangesJob *job, HgError *error)
{
	for (;;)
	{
		HgStatus status = hg_ranges_pass_build(job, error);

		if (status != HG_OK || job->now.job == NULL)
			return status;
		status = job->now.calls.match(job->now.job, job->mode, error);
		if (status == HG_OK)
			return HG_OK;
		status = hg_ranges_retry(job, &job->now, status, error);
		if (status != HG_OK)
			return status;
	}
}

HgStatus
hg_ranges_cut(HgRangesJob *job, HgError *error)
{
	HgStatus status;

	hg_ranges_run_close(job, &job->now, false);
	job->cut = true;
	job->in_pairs =
		job->now.calls.start != NULL &&
		(job->spec.memory_limit == 0 || job->spec.memory_limit >= HG_RANGES_SHARED_LIMIT);
	job->most_rows = UINT64_MAX;
	status = hg_ranges_alloc(job, HG_RANGES_GIVE_KEYS, job->spec.key_width, &job->give, error);
	for (int which = 0; which < 2 && status == HG_OK; which++)
	{
		HgRangesSide *side = &job->sides[which];
		void *numbers;

		/* both in one array */
		status = hg_ranges_alloc(job, 2 * HG_RANGES, sizeof(uint64_t), &numbers, error);
		if (status != HG_OK)
			break;
		memset(numbers, 0, 2 * HG_RANGES * sizeof(uint64_t));
		side->range_rows = numbers;
		side->range_end = side->range_rows + HG_RANGES;
		status = hg_ranges_count_side(job, side, error);
	}
	return status;
}
