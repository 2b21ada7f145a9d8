/*-------------------------------------------------------------------------
 *
 * hg_passes_partitioned.c
 *	  Calls on a partitioned job: each runs a pass over its parts.
 *
 * hg_passes.c describes the algorithm.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_passes_partitioned.h"

#include <string.h>

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
		HgStatus status = pass->now.calls.next(pass->now.job, matches, error);

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
			status = hg_passes_retry(pass, &pass->now, status, error);
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

		status = pass->now.calls.count(pass->now.job, mode, &counted, error);
		*matches += counted;
		if (status == HG_OK)
			hg_passes_run_close(pass, &pass->now, true);
		else
			status = hg_passes_retry(pass, &pass->now, status, error);
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

		status = pass->now.calls.describe(pass->now.job, side, &one, error);
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
			status = hg_passes_retry(pass, &pass->now, status, error);
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
		pass->now.calls.stats(pass->now.job, &open);
	*stats = pass->sum;
	for (int side = 0; side < 2; side++)
		stats->rows[side] = pass->parts.sides[side].rows;
	stats->phase_ms[HG_PHASE_TRANSFER] += pass->parts.load_ms;
	stats->matches += open.matches;
	stats->comparisons += open.comparisons;
	stats->intersections += open.intersections;
	stats->exchanged += open.exchanged;
	stats->sent += open.sent;
	stats->peak_bytes = hg_passes_peak_bytes(pass);
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
