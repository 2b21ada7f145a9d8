/*-------------------------------------------------------------------------
 *
 * hg_ranges_pass.c
 *	  Passes over the slices of a partitioned job.
 *
 * hg_ranges.c describes the algorithm.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_ranges_pass.h"

#include "hg_host_memory.h"

#include <string.h>

/* A smaller memory limit is not shared by two jobs, as their fixed needs take much of it. */
#define HG_RANGES_SHARED_LIMIT (UINT64_C(1) << 20)

/* ------------------------------------------------------------------------
 * Jobs of the wrapped engine
 * ------------------------------------------------------------------------ */

HgStatus
hg_ranges_run_open(HgRangesPass *pass, HgRangesRun *run, const HgJobSpec *spec, HgError *error)
{
	HgEngine *target = pass->ranges->target(pass->ranges->arg);

	if (target == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	run->calls = *target;
	run->filled = run->built = false;
	return target->open(target, pass->host, spec, &run->job, error);
}

static void
run_stats(const HgRangesRun *run, HgJobStats *stats)
{
	memset(stats, 0, sizeof(*stats));
	if (run->job != NULL)
		run->calls.stats(run->job, stats);
}

uint64_t
hg_ranges_peak_bytes(const HgRangesPass *pass)
{
	HgJobStats now;
	HgJobStats next;

	run_stats(&pass->now, &now);
	run_stats(&pass->next, &next);
	now.peak_bytes += next.peak_bytes;
	return now.peak_bytes > pass->sum.peak_bytes ? now.peak_bytes : pass->sum.peak_bytes;
}

void
hg_ranges_run_close(HgRangesPass *pass, HgRangesRun *run, bool done)
{
	HgJobStats stats;

	if (run->job == NULL)
		return;
	pass->sum.peak_bytes = hg_ranges_peak_bytes(pass);
	run_stats(run, &stats);
	pass->sum.matches += stats.matches;
	pass->sum.comparisons += stats.comparisons;
	pass->sum.intersections += stats.intersections;
	pass->sum.exchanged += stats.exchanged;
	pass->sum.sent += stats.sent;
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		pass->sum.phase_ms[phase] += stats.phase_ms[phase];
	if (done)
	{
		pass->sum.build = stats.build;
		pass->sum.probe = stats.probe;
		pass->vertices += stats.vertices;
		pass->bins += stats.bins;
		pass->pieces += stats.ranges;
		pass->done++;
	}
	run->calls.close(run->job);
	run->job = NULL;
}

/* Opens a job for the run's slice. */
static HgStatus
run_begin(HgRangesPass *pass, HgRangesRun *run, bool ahead, HgError *error)
{
	HgJobSpec spec = pass->spec;

	for (int side = 0; side < 2; side++)
		spec.expected_rows[side] = run->slice.high[side] - run->slice.low[side];
	if (pass->slices.in_pairs && !run->slice.alone)
		spec.memory_limit = (spec.memory_limit + 1) / 2;
	spec.ahead = ahead;
	return hg_ranges_run_open(pass, run, &spec, error);
}

/* Appends the rows of a run's slice to its job; a side that is not needed has none. */
static HgStatus
run_fill(HgRangesPass *pass, HgRangesRun *run, HgError *error)
{
	const HgRangesSlice *slice = &run->slice;

	for (int which = 0; which < 2; which++)
	{
		const HgRangesSide *side = &pass->slices.sides[which];
		uint64_t step;

		for (uint64_t at = slice->low[which]; at < slice->high[which]; at += step)
		{
			HgStatus status = hg_host_check_cancel(pass->host, error);

			if (status != HG_OK)
				return status;
			step = hg_ranges_smaller(slice->high[which] - at, HG_RANGES_GIVE_KEYS);
			hg_ranges_make_keys(&pass->slices, slice, side, at, step);
			status = run->calls.append(run->job, (HgSide) which, pass->slices.give, step, error);
			if (status != HG_OK)
				return status;
		}
	}
	run->filled = true;
	return HG_OK;
}

/* Starts the device's work on the slice for this pass, if the engine is asynchronous. */
static HgStatus
run_start(const HgRangesPass *pass, const HgRangesRun *run, HgError *error)
{
	HgAhead ahead = HG_AHEAD_BUILD;

	if (!pass->slices.in_pairs)
		return HG_OK;
	if (pass->purpose == HG_RANGES_FOR_MATCH)
		ahead = HG_AHEAD_MATCH;
	else if (pass->purpose == HG_RANGES_FOR_COUNT)
		ahead = HG_AHEAD_COUNT;
	return run->calls.start(run->job, ahead, pass->mode, NULL, error);
}

HgStatus
hg_ranges_retry(HgRangesPass *pass, HgRangesRun *run, HgStatus status, HgError *error)
{
	HgError trouble;
	bool parted = false;
	HgStatus parting;

	if (status != HG_DEVICE_OUT_OF_MEMORY)
		return status;
	hg_ranges_run_close(pass, run, false);
	/* the rows of one range say nothing about others: one key may have most of them */
	if (run->slice.end_range - run->slice.first_range > 1)
		pass->slices.most_rows =
			hg_ranges_smaller(pass->slices.most_rows, hg_ranges_slice_rows(&run->slice) / 2 + 1);
	parting = hg_ranges_part_slice(&pass->slices, &run->slice, &parted, &trouble);
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
hg_ranges_pass_begin(HgRangesPass *pass, HgRangesPurpose purpose, bool outer, bool inner)
{
	bool goes_on = pass->purpose == HG_RANGES_FOR_BUILD && outer && inner;

	pass->purpose = purpose;
	pass->slices.whole = purpose == HG_RANGES_FOR_DESCRIBE;
	pass->streaming = false;
	if (goes_on)
		return;
	hg_ranges_run_close(pass, &pass->now, false);
	hg_ranges_run_close(pass, &pass->next, false);
	pass->slices.wanted[HG_OUTER] = outer;
	pass->slices.wanted[HG_INNER] = inner;
	pass->slices.depth = 0;
	pass->slices.next_range = 0;
	pass->done = 0;
	pass->vertices = pass->bins = pass->pieces = 0;
	for (int side = 0; side < 2; side++)
		pass->slices.sides[side].left = 0;
}

/* Makes the next slice the current one, and appends its rows to the device's job. */
static HgStatus
turn_to_next(HgRangesPass *pass, HgError *error)
{
	HgStatus status = HG_OK;

	pass->delivered = false;
	if (pass->next.job != NULL)
	{
		pass->now = pass->next;
		pass->next.job = NULL;
		return HG_OK;
	}
	if (pass->slices.depth == 0)
		status = hg_ranges_load_next(&pass->slices, error);
	if (status != HG_OK || !hg_ranges_take_slice(&pass->slices, &pass->now.slice))
		return status;
	status = run_begin(pass, &pass->now, false, error);
	if (status == HG_OK)
		status = run_fill(pass, &pass->now, error);
	return status != HG_OK ? hg_ranges_retry(pass, &pass->now, status, error) : HG_OK;
}

/*
 * Opens a job for the slice after the current one, if that is loaded and the device has room for
 * both.  If the device refuses, the slice is halved, unless it is much smaller already.
 */
static HgStatus
open_next(HgRangesPass *pass, HgError *error)
{
	HgRangesRun *next = &pass->next;
	HgStatus status;

	if (!pass->slices.in_pairs || pass->now.slice.alone)
		return HG_OK;
	while (next->job == NULL && hg_ranges_take_slice(&pass->slices, &next->slice))
	{
		const uint64_t rows = hg_ranges_slice_rows(&next->slice);

		status = next->slice.alone ? HG_DEVICE_OUT_OF_MEMORY : run_begin(pass, next, true, error);
		if (status == HG_OK || status != HG_DEVICE_OUT_OF_MEMORY)
			return status;
		if (next->slice.alone || next->slice.end_range - next->slice.first_range == 1 ||
			rows < HG_RANGES_SMALL_SLICE || rows <= hg_ranges_slice_rows(&pass->now.slice) / 2)
		{
			hg_ranges_give_back(&pass->slices, &next->slice);
			return HG_OK;
		}
		status = hg_ranges_retry(pass, next, status, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* Fills the slice after the current one, if it has a job. */
static HgStatus
fill_next(HgRangesPass *pass, HgError *error)
{
	HgStatus status;

	if (pass->next.job == NULL || pass->next.filled)
		return HG_OK;
	status = run_fill(pass, &pass->next, error);
	return status != HG_OK ? hg_ranges_retry(pass, &pass->next, status, error) : HG_OK;
}

HgStatus
hg_ranges_pass_build(HgRangesPass *pass, HgError *error)
{
	HgRangesRun *now = &pass->now;

	while (now->job == NULL || !now->built)
	{
		HgStatus status = HG_OK;

		if (now->job == NULL)
		{
			status = turn_to_next(pass, error);
			if (status != HG_OK)
				return status;
			if (now->job == NULL)
			{
				if (pass->slices.depth == 0 && pass->slices.next_range == HG_RANGES)
					return HG_OK;
				continue;
			}
		}

		/* requests queue behind work that the device has begun: open first */
		status = open_next(pass, error);
		if (status == HG_OK)
			status = run_start(pass, now, error);
		if (status == HG_OK)
			status = fill_next(pass, error);
		if (status != HG_OK)
			return status;

		status = now->calls.build(now->job, error);
		now->built = status == HG_OK;
		if (status != HG_OK)
			status = hg_ranges_retry(pass, now, status, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

HgStatus
hg_ranges_pass_match(HgRangesPass *pass, HgError *error)
{
	for (;;)
	{
		HgStatus status = hg_ranges_pass_build(pass, error);

		if (status != HG_OK || pass->now.job == NULL)
			return status;
		status = pass->now.calls.match(pass->now.job, pass->mode, error);
		if (status == HG_OK)
			return HG_OK;
		status = hg_ranges_retry(pass, &pass->now, status, error);
		if (status != HG_OK)
			return status;
	}
}

HgStatus
hg_ranges_pass_prepare(HgRangesPass *pass, HgError *error)
{
	HgStatus status;

	hg_ranges_run_close(pass, &pass->now, false);
	pass->slices.in_pairs =
		pass->now.calls.start != NULL &&
		(pass->spec.memory_limit == 0 || pass->spec.memory_limit >= HG_RANGES_SHARED_LIMIT);
	pass->slices.most_rows = UINT64_MAX;
	status = hg_host_memory_alloc(pass->host, (uint64_t) HG_RANGES_GIVE_KEYS * pass->spec.key_width,
								  &pass->slices.give, error);
	for (int which = 0; which < 2 && status == HG_OK; which++)
	{
		HgRangesSide *side = &pass->slices.sides[which];
		void *numbers;

		/* both arrays in one block */
		status =
			hg_host_memory_alloc(pass->host, 2 * HG_RANGES * sizeof(uint64_t), &numbers, error);
		if (status != HG_OK)
			break;
		memset(numbers, 0, 2 * HG_RANGES * sizeof(uint64_t));
		side->range_rows = numbers;
		side->range_end = side->range_rows + HG_RANGES;
		status = hg_ranges_count_side(&pass->slices, side, error);
	}
	return status;
}
