/*-------------------------------------------------------------------------
 *
 * hg_passes_run.c
 *	  Passes over the parts of a partitioned job.
 *
 * hg_passes.c describes the algorithm.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "hg_passes_run.h"

/* A smaller memory limit is not shared by two jobs, as their fixed needs take much of it. */
#define HG_PASSES_SHARED_LIMIT (UINT64_C(1) << 20)

/* ------------------------------------------------------------------------
 * Jobs of the wrapped engine
 * ------------------------------------------------------------------------ */

HgStatus
hg_passes_run_open(HgPassState *pass, HgPassRun *run, const HgJobSpec *spec, HgError *error)
{
	HgEngine *target = pass->passes->target(pass->passes->arg);

	if (target == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	run->calls = *target;
	run->filled = run->built = false;
	return target->open(target, pass->host, spec, &run->job, error);
}

static void
run_stats(const HgPassRun *run, HgJobStats *stats)
{
	memset(stats, 0, sizeof(*stats));
	if (run->job != NULL)
		run->calls.join->stats(run->job, stats);
}

/* Returns an upper bound of the memory that the open jobs have held together. */
static uint64_t
passes_peak_bytes(const HgPassState *pass)
{
	HgJobStats now;
	HgJobStats next;

	run_stats(&pass->now, &now);
	run_stats(&pass->next, &next);
	now.peak_bytes += next.peak_bytes;
	return now.peak_bytes > pass->sum.peak_bytes ? now.peak_bytes : pass->sum.peak_bytes;
}

void
hg_passes_run_close(HgPassState *pass, HgPassRun *run, bool done)
{
	HgJobStats stats;

	if (run->job == NULL)
		return;
	pass->sum.peak_bytes = passes_peak_bytes(pass);
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
		pass->pieces += stats.passes;
		pass->done++;
	}
	run->calls.join->close(run->job);
	run->job = NULL;
}

/* Opens a job for the run's part. */
static HgStatus
run_begin(HgPassState *pass, HgPassRun *run, bool ahead, HgError *error)
{
	HgJobSpec spec = pass->spec;

	for (int side = 0; side < 2; side++)
		spec.sides[side].expected_rows = run->part.high[side] - run->part.low[side];
	if (pass->parts.in_pairs && !run->part.alone)
		spec.memory_limit = (spec.memory_limit + 1) / 2;
	spec.ahead = ahead;
	return hg_passes_run_open(pass, run, &spec, error);
}

/* Appends the rows of a run's part to its job; a side that is not needed has none. */
static HgStatus
run_fill(HgPassState *pass, HgPassRun *run, HgError *error)
{
	const HgPassPart *part = &run->part;

	for (int which = 0; which < 2; which++)
	{
		const HgPassSide *side = &pass->parts.sides[which];
		uint64_t step;

		for (uint64_t at = part->low[which]; at < part->high[which]; at += step)
		{
			HG_TRY(hg_host_check_cancel(pass->host, error));
			step = hg_passes_min(part->high[which] - at, HG_PASSES_APPEND_KEYS);
			hg_passes_make_keys(&pass->parts, part, side, at, step);
			HG_TRY(
				run->calls.join->append(run->job, (HgSide) which, pass->parts.buffer, step, error));
		}
	}
	run->filled = true;
	return HG_OK;
}

/* Starts the device's work on the part for this pass, if the engine is asynchronous. */
static HgStatus
run_start(const HgPassState *pass, const HgPassRun *run, HgError *error)
{
	HgAhead ahead = HG_AHEAD_BUILD;

	if (!pass->parts.in_pairs)
		return HG_OK;
	if (pass->purpose == HG_PASSES_FOR_MATCH)
		ahead = HG_AHEAD_MATCH;
	else if (pass->purpose == HG_PASSES_FOR_COUNT)
		ahead = HG_AHEAD_COUNT;
	return run->calls.ahead->start(run->job, ahead, pass->mode, NULL, error);
}

/*
 * Handles a failed call on a run's job, with its status.  After HG_DEVICE_OUT_OF_MEMORY it closes
 * the job, splits the part and returns HG_OK.  Returns the status if it is another one, or the part
 * can not be split.
 */
static HgStatus
passes_retry(HgPassState *pass, HgPassRun *run, HgStatus status, HgError *error)
{
	HgError trouble;
	bool split = false;
	HgStatus split_status;

	if (status != HG_DEVICE_OUT_OF_MEMORY)
		return status;
	hg_passes_run_close(pass, run, false);
	/* the rows of one range say nothing about others: one key may have most of them */
	if (run->part.end_range - run->part.first_range > 1)
		pass->parts.most_rows =
			hg_passes_min(pass->parts.most_rows, hg_passes_part_rows(&run->part) / 2 + 1);
	split_status = hg_passes_split_part(&pass->parts, &run->part, &split, &trouble);
	if (split_status == HG_OK)
		return split ? HG_OK : status;
	if (error != NULL)
		*error = trouble;
	return split_status;
}

/* ------------------------------------------------------------------------
 * Passes
 * ------------------------------------------------------------------------ */

void
hg_passes_begin(HgPassState *pass, HgPassPurpose purpose, bool outer, bool inner)
{
	bool goes_on = pass->purpose == HG_PASSES_FOR_BUILD && outer && inner;

	pass->purpose = purpose;
	pass->parts.whole = purpose == HG_PASSES_FOR_DESCRIBE;
	pass->streaming = false;
	if (goes_on)
		return;
	hg_passes_run_close(pass, &pass->now, false);
	hg_passes_run_close(pass, &pass->next, false);
	pass->parts.required[HG_OUTER] = outer;
	pass->parts.required[HG_INNER] = inner;
	pass->parts.depth = 0;
	pass->parts.next_range = 0;
	pass->done = 0;
	pass->vertices = pass->bins = pass->pieces = 0;
	for (int side = 0; side < 2; side++)
		pass->parts.sides[side].left = 0;
}

/* Makes the next part the current one, and appends its rows to the device's job. */
static HgStatus
turn_to_next(HgPassState *pass, HgError *error)
{
	HgStatus status = HG_OK;

	pass->emitted = false;
	if (pass->next.job != NULL)
	{
		pass->now = pass->next;
		pass->next.job = NULL;
		return HG_OK;
	}
	if (pass->parts.depth == 0)
		status = hg_passes_load_next(&pass->parts, error);
	if (status != HG_OK || !hg_passes_pop_part(&pass->parts, &pass->now.part))
		return status;
	status = run_begin(pass, &pass->now, false, error);
	if (status == HG_OK)
		status = run_fill(pass, &pass->now, error);
	return status != HG_OK ? passes_retry(pass, &pass->now, status, error) : HG_OK;
}

/*
 * Opens a job for the part after the current one, if that is loaded and the device has room for
 * both.  If the device refuses, the part is halved, unless it is much smaller already.
 */
static HgStatus
open_next(HgPassState *pass, HgError *error)
{
	HgPassRun *next = &pass->next;
	HgStatus status;

	if (!pass->parts.in_pairs || pass->now.part.alone)
		return HG_OK;
	while (next->job == NULL && hg_passes_pop_part(&pass->parts, &next->part))
	{
		const uint64_t rows = hg_passes_part_rows(&next->part);

		status = next->part.alone ? HG_DEVICE_OUT_OF_MEMORY : run_begin(pass, next, true, error);
		if (status == HG_OK || status != HG_DEVICE_OUT_OF_MEMORY)
			return status;
		if (next->part.alone || next->part.end_range - next->part.first_range == 1 ||
			rows < HG_PASSES_SMALL_PART || rows <= hg_passes_part_rows(&pass->now.part) / 2)
		{
			hg_passes_push_part(&pass->parts, &next->part);
			return HG_OK;
		}
		status = passes_retry(pass, next, status, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

/* Fills the part after the current one, if it has a job. */
static HgStatus
fill_next(HgPassState *pass, HgError *error)
{
	HgStatus status;

	if (pass->next.job == NULL || pass->next.filled)
		return HG_OK;
	status = run_fill(pass, &pass->next, error);
	return status != HG_OK ? passes_retry(pass, &pass->next, status, error) : HG_OK;
}

HgStatus
hg_passes_build(HgPassState *pass, HgError *error)
{
	HgPassRun *now = &pass->now;

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
				if (pass->parts.depth == 0 && pass->parts.next_range == HG_PASSES_RANGES)
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

		status = now->calls.join->build(now->job, error);
		now->built = status == HG_OK;
		if (status != HG_OK)
			status = passes_retry(pass, now, status, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}

HgStatus
hg_passes_match(HgPassState *pass, HgError *error)
{
	for (;;)
	{
		HgStatus status = hg_passes_build(pass, error);

		if (status != HG_OK || pass->now.job == NULL)
			return status;
		status = pass->now.calls.join->match(pass->now.job, pass->mode, error);
		if (status == HG_OK)
			return HG_OK;
		status = passes_retry(pass, &pass->now, status, error);
		if (status != HG_OK)
			return status;
	}
}

HgStatus
hg_passes_prepare(HgPassState *pass, HgError *error)
{
	HgStatus status;

	hg_passes_run_close(pass, &pass->now, false);
	pass->parts.in_pairs =
		pass->now.calls.ahead != NULL &&
		(pass->spec.memory_limit == 0 || pass->spec.memory_limit >= HG_PASSES_SHARED_LIMIT);
	pass->parts.most_rows = UINT64_MAX;
	status =
		hg_host_memory_alloc(pass->host, (uint64_t) HG_PASSES_APPEND_KEYS * pass->spec.key_width,
							 &pass->parts.buffer, error);
	for (int which = 0; which < 2 && status == HG_OK; which++)
	{
		HgPassSide *side = &pass->parts.sides[which];
		void *numbers;

		/* both arrays in one block */
		status = hg_host_memory_alloc(pass->host, 2 * HG_PASSES_RANGES * sizeof(uint64_t), &numbers,
									  error);
		if (status != HG_OK)
			break;
		memset(numbers, 0, 2 * HG_PASSES_RANGES * sizeof(uint64_t));
		side->range_rows = numbers;
		side->range_end = side->range_rows + HG_PASSES_RANGES;
		status = hg_passes_count_side(&pass->parts, side, error);
	}
	return status;
}

/* ---------------------------------------------------------------------
 * Calls on a partitioned job: each runs a pass over its parts
 *
 * hg_passes.c describes the algorithm.
 * ---------------------------------------------------------------------
 */

/* Replaces the row numbers of a part's matches by those of the job. */
static void
map_rows(const HgPassState *pass, HgMatches *matches)
{
	const uint32_t *outer = pass->parts.sides[HG_OUTER].numbers + pass->now.part.low[HG_OUTER];
	const uint32_t *inner = pass->parts.sides[HG_INNER].numbers + pass->now.part.low[HG_INNER];

	for (size_t i = 0; i < matches->count; i++)
	{
		matches->outer[i] = outer[matches->outer[i]];
		matches->inner[i] = inner[matches->inner[i]];
	}
}

HgStatus
hg_passes_partitioned_next(HgPassState *pass, HgMatches *matches, HgError *error)
{
	while (pass->now.job != NULL)
	{
		HgStatus status = pass->now.calls.join->next(pass->now.job, matches, error);

		if (status == HG_OK && matches->count > 0)
		{
			pass->emitted = true;
			map_rows(pass, matches);
			return HG_OK;
		}

		/* matches that were returned can not be taken back: it is too late to split the part */
		if (status == HG_OK)
			hg_passes_run_close(pass, &pass->now, true);
		else if (!pass->emitted)
			status = passes_retry(pass, &pass->now, status, error);
		if (status == HG_OK)
			status = hg_passes_match(pass, error);
		if (status != HG_OK)
			return status;
	}
	matches->count = 0;
	return HG_OK;
}

HgStatus
hg_passes_partitioned_count(HgPassState *pass, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgStatus status;

	*matches = 0;
	/* the device begins to count this mode ahead of the call */
	pass->mode = mode;
	hg_passes_begin(pass, HG_PASSES_FOR_COUNT, true, true);
	while ((status = hg_passes_build(pass, error)) == HG_OK && pass->now.job != NULL)
	{
		uint64_t counted = 0;

		status = pass->now.calls.join->count(pass->now.job, mode, &counted, error);
		*matches += counted;
		if (status == HG_OK)
			hg_passes_run_close(pass, &pass->now, true);
		else
			status = passes_retry(pass, &pass->now, status, error);
		if (status != HG_OK)
			break;
	}
	return status;
}

HgStatus
hg_passes_partitioned_describe(HgPassState *pass, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgStatus status;

	memset(stats, 0, sizeof(*stats));
	hg_passes_begin(pass, HG_PASSES_FOR_DESCRIBE, side == HG_OUTER, side == HG_INNER);
	while ((status = hg_passes_build(pass, error)) == HG_OK && pass->now.job != NULL)
	{
		HgGraphStats one;

		status = pass->now.calls.join->describe(pass->now.job, side, &one, error);
		if (status == HG_OK)
		{
			stats->vertices += one.vertices;
			stats->edges += one.edges;
			stats->empty_vertices += one.empty_vertices;
			if (one.longest_list > stats->longest_list)
				stats->longest_list = one.longest_list;
			stats->distinct_keys += one.distinct_keys;
			stats->bytes += one.bytes;
			hg_passes_run_close(pass, &pass->now, true);
		}
		else
			status = passes_retry(pass, &pass->now, status, error);
		if (status != HG_OK)
			break;
	}
	return status;
}

/*
 * Returns the number of ranges of the pass: those of finished parts, and an estimate for parts
 * in work or still to come.  The estimate takes as many for each as the current part has, or the
 * average of the finished ones.  A partitioned job has at least two parts; one of them may have
 * nothing to match.
 */
static uint64_t
count_pieces(const HgPassState *pass, const HgJobStats *built)
{
	uint64_t left =
		(pass->now.job != NULL) + (pass->next.job != NULL) + hg_passes_parts_left(&pass->parts);
	uint64_t each = built->passes;

	if (each == 0)
		each = pass->done > 0 ? pass->pieces / pass->done : 1;
	if (pass->done + left < 2)
		left = 2 - pass->done;
	return pass->pieces + left * each;
}

void
hg_passes_partitioned_stats(const HgPassState *pass, bool built, HgJobStats *stats)
{
	HgJobStats open;

	memset(&open, 0, sizeof(open));
	if (pass->now.job != NULL)
		pass->now.calls.join->stats(pass->now.job, &open);
	*stats = pass->sum;
	for (int side = 0; side < 2; side++)
		stats->rows[side] = pass->parts.sides[side].rows;
	stats->phase_ms[HG_PHASE_TRANSFER] += pass->parts.load_ms;
	stats->matches += open.matches;
	stats->comparisons += open.comparisons;
	stats->intersections += open.intersections;
	stats->exchanged += open.exchanged;
	stats->sent += open.sent;
	stats->peak_bytes = passes_peak_bytes(pass);
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		stats->phase_ms[phase] += open.phase_ms[phase];
	if (pass->now.job != NULL)
	{
		stats->build = open.build;
		stats->probe = open.probe;
	}
	stats->vertices = pass->vertices + open.vertices;
	stats->bins = pass->bins + open.bins;
	stats->passes = built ? count_pieces(pass, &open) : 0;
}
