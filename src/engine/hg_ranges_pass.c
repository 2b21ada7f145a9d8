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

HgStatus
hg_ranges_poll(HgRangesJob *job, HgError *error)
{
	if (job->host->cancelled(job->host->arg))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
}

HgStatus
hg_ranges_alloc(HgRangesJob *job, uint64_t count, uint64_t width, void **ptr, HgError *error)
{
	*ptr = count <= SIZE_MAX / width ? job->host->alloc(job->host->arg, (size_t) (count * width))
									 : NULL;
	return *ptr != NULL ? HG_OK : hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
}

void
hg_ranges_free(HgRangesJob *job, void *ptr, uint64_t count, uint64_t width)
{
	if (ptr != NULL)
		job->host->free(job->host->arg, ptr, (size_t) (count * width));
}

/* ------------------------------------------------------------------------
 * The job of the wrapped engine
 * ------------------------------------------------------------------------ */

HgStatus
hg_ranges_device_open(HgRangesJob *job, const HgJobSpec *spec, HgError *error)
{
	HgEngine *target = job->ranges->target(job->ranges->arg);

	if (target == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	job->calls = *target;
	return target->open(target, job->host, spec, &job->open, error);
}

void
hg_ranges_device_close(HgRangesJob *job, bool done)
{
	HgJobStats stats;

	if (job->open == NULL)
		return;
	memset(&stats, 0, sizeof(stats));
	job->calls.stats(job->open, &stats);
	job->sum.matches += stats.matches;
	job->sum.comparisons += stats.comparisons;
	job->sum.intersections += stats.intersections;
	if (stats.peak_bytes > job->sum.peak_bytes)
		job->sum.peak_bytes = stats.peak_bytes;
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
	job->calls.close(job->open);
	job->open = NULL;
}

/* Give the rows of a side's slice to the open job. */
static HgStatus
device_give(HgRangesJob *job, int which, HgError *error)
{
	const HgRangesSide *side = &job->sides[which];
	const HgRangesSlice *slice = &job->slice;
	uint64_t step;

	for (uint64_t at = slice->low[which]; at < slice->high[which]; at += step)
	{
		HgStatus status = hg_ranges_poll(job, error);

		if (status != HG_OK)
			return status;
		step = hg_ranges_smaller(slice->high[which] - at, HG_RANGES_GIVE_KEYS);
		hg_ranges_make_keys(job, side, at, step);
		status = job->calls.append(job->open, (HgSide) which, job->give, step, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* Open a job for the slice and build it.  Sides that are not wanted stay without rows. */
static HgStatus
device_build(HgRangesJob *job, HgError *error)
{
	HgJobSpec spec = job->spec;
	HgStatus status;

	for (int side = 0; side < 2; side++)
		spec.expected_rows[side] = job->slice.high[side] - job->slice.low[side];
	status = hg_ranges_device_open(job, &spec, error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = device_give(job, side, error);
	if (status == HG_OK)
		status = job->calls.build(job->open, error);
	job->delivered = false;
	return status;
}

HgStatus
hg_ranges_retry(HgRangesJob *job, HgStatus status, HgError *error)
{
	HgError trouble;
	bool parted = false;
	HgStatus parting;

	if (status != HG_DEVICE_OUT_OF_MEMORY)
		return status;
	hg_ranges_device_close(job, false);
	parting = hg_ranges_part_slice(job, &parted, &trouble);
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
	hg_ranges_device_close(job, false);
	job->wanted[HG_OUTER] = outer;
	job->wanted[HG_INNER] = inner;
	job->depth = 0;
	job->next_range = 0;
	job->slices = 0;
	job->pass[0] = job->pass[1] = 0;
	for (int side = 0; side < 2; side++)
		job->sides[side].left = 0;
}

HgStatus
hg_ranges_pass_build(HgRangesJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	while (job->open == NULL)
	{
		if (job->depth == 0)
			status = hg_ranges_load_next(job, error);
		if (status != HG_OK || job->depth == 0)
			return status;
		job->slice = job->stack[--job->depth];
		status = device_build(job, error);
		if (status != HG_OK)
			status = hg_ranges_retry(job, status, error);
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

		if (status != HG_OK || job->open == NULL)
			return status;
		status = job->calls.match(job->open, job->mode, error);
		if (status == HG_OK)
			return HG_OK;
		status = hg_ranges_retry(job, status, error);
		if (status != HG_OK)
			return status;
	}
}

HgStatus
hg_ranges_cut(HgRangesJob *job, HgError *error)
{
	HgStatus status;

	hg_ranges_device_close(job, false);
	job->cut = true;
	status = hg_ranges_alloc(job, HG_RANGES_GIVE_KEYS, job->spec.key_width, &job->give, error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = hg_ranges_count_side(job, &job->sides[side], error);
	return status;
}
