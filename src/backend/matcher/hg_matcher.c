/*-------------------------------------------------------------------------
 *
 * hg_matcher.c
 *	  Matches the keys of two sides on any available backend.
 *
 * A matcher gets its matches from a source (hg_match_source.h). Only hg_matcher_go_on() replaces a
 * source that has failed.
 *
 * MEMORY. A matcher lives in its own memory context, which also holds its sources and their CPU
 * jobs. A device job belongs to another process, which must be told to free it: the matcher's
 * cleanup does that (hg_cleanup.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "backend/hg_cleanup.h"
#include "backend/hg_elapsed.h"
#include "backend/matcher/hg_matcher.h"
#include "backend/matcher/hg_matcher_choose.h"

struct HgMatcher
{
	HgMatchTask task;
	HgMatchSource *source; /* NULL while there is none */
	uint64 returned;	   /* matches that were returned, counted or grouped */
	HgCleanup cleanup;
};

static void
hg_matcher_release(void *arg)
{
	HgMatcher *matcher = arg;

	if (matcher->source != NULL)
		matcher->source->ops->close(matcher->source);
}

/* Returns the current source; raises an error if the cleanup has closed it. */
static HgMatchSource *
hg_matcher_source(const HgMatcher *matcher)
{
	if (!matcher->cleanup.pending)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	return matcher->source;
}

/* Replaces the current source, which is destroyed. */
static void
hg_matcher_set_source(HgMatcher *matcher, HgMatchSource *source)
{
	HgMatchSource *before = matcher->source;

	matcher->source = source;
	if (before != NULL)
		hg_match_source_destroy(before);
}

/* Handles a failed call: replaces the source and builds the replacement, or throws. */
static void
hg_matcher_go_on(HgMatcher *matcher, HgStatus status, HgError *why)
{
	HgMatchTask *task = &matcher->task;

	while (status != HG_OK)
	{
		HgMatchSource *source = matcher->source;
		HgMatchSource *next = NULL;

		why->status = status;
		if (source->ops->replace != NULL)
			next = source->ops->replace(source, why);
		if (next == NULL)
			hg_host_throw(&task->host, why->status, why);
		hg_matcher_set_source(matcher, next);
		status = next->ops->open(next, why);
		if (status == HG_OK)
			status = next->ops->build(next, why);
	}
	hg_emitted_resume(&task->emitted);
}

/* Chooses a source and opens it. */
static HgStatus
hg_matcher_open(HgMatcher *matcher, HgError *error)
{
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
	hg_matcher_set_source(matcher, hg_matcher_choose(&matcher->task));
	matcher->task.report.start_ms += hg_elapsed_ms(start);
	return matcher->source->ops->open(matcher->source, error);
}

HgMatcher *
hg_matcher_create(const HgMatcherSpec *spec, const HgKeySet *outer, const HgKeySet *inner)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph matcher", ALLOCSET_SMALL_SIZES);
	HgMatcher *matcher = MemoryContextAllocZero(context, sizeof(HgMatcher));
	HgMatchTask *task = &matcher->task;
	HgStatus status;
	HgError error;

	task->context = context;
	hg_cleanup_register(&matcher->cleanup, context, hg_matcher_release, matcher);
	hg_host_init(&task->host, context);
	task->host.progress = spec->progress;
	task->spec = *spec;
	if (spec->participants != NULL)
	{
		/* the caller's spec does not live as long as the matcher */
		hg_participants_init(&task->participants, spec->participants, &task->host);
		task->spec.participants = &task->participants.spec;
	}
	task->sides[HG_OUTER] = *outer;
	task->sides[HG_INNER] = *inner;
	hg_emitted_init(&task->emitted, context, spec, task->sides);

	status = hg_matcher_open(matcher, &error);
	/*
	 * A process that has died since the last join, or whose device failed while that was closed,
	 * is only noticed now: try once more, with a new process.
	 */
	if (status == HG_CONNECTION_LOST || status == HG_DEVICE_FAILED)
	{
		hg_device_discard_lost(task->device_no);
		status = hg_matcher_open(matcher, &error);
	}
	if (status == HG_OK)
		status = matcher->source->ops->build(matcher->source, &error);
	if (status != HG_OK)
		hg_matcher_go_on(matcher, status, &error);
	return matcher;
}

bool
hg_matcher_next(HgMatcher *matcher, const uint32 **outer, const uint32 **inner, size_t *count)
{
	const HgMatches *matches;
	HgStatus status;
	HgError error;

	for (;;)
	{
		HgMatchSource *source = hg_matcher_source(matcher);

		status = source->ops->next(source, &matches, &error);
		if (status == HG_OK)
			break;
		hg_matcher_go_on(matcher, status, &error);
	}
	if (matches == NULL)
		return false;
	*outer = matches->outer;
	*inner = matches->inner;
	*count = matches->count;
	matcher->returned += matches->count;
	return true;
}

const HgMatchValues *
hg_matcher_values(const HgMatcher *matcher, HgSide side)
{
	const HgGather *gather = &matcher->source->gather;

	return gather->has_matched[side] ? &gather->matched[side] : NULL;
}

bool
hg_matcher_streams(const HgMatcher *matcher)
{
	HgMatchSource *source = hg_matcher_source(matcher);
	HgJobStats stats = {0};

	source->ops->report(source, &stats);
	return matcher->task.spec.streamed_rows > 0 && stats.vertices > 0;
}

void
hg_matcher_renew(HgMatcher *matcher, const void *keys, uint64 count)
{
	HgMatchSource *source = hg_matcher_source(matcher);
	HgError error;
	HgStatus status = source->ops->renew(source, keys, count, &error);

	/* the CPU's source has no replacement, so this throws */
	if (status != HG_OK)
		hg_matcher_go_on(matcher, status, &error);
}

void
hg_matcher_rewind(HgMatcher *matcher)
{
	HgMatchSource *source = hg_matcher_source(matcher);

	Assert(source->ops->rewind != NULL);
	hg_emitted_reset(&matcher->task.emitted);
	source->ops->rewind(source);
}

uint64
hg_matcher_count(HgMatcher *matcher)
{
	for (;;)
	{
		HgMatchSource *source = hg_matcher_source(matcher);
		uint64 matches;
		HgError error;
		HgStatus status = source->ops->count(source, &matches, &error);

		if (status == HG_OK)
		{
			matcher->returned += matcher->task.unreported ? 0 : matches;
			return matches;
		}
		hg_matcher_go_on(matcher, status, &error);
	}
}

/* Swaps the covered rows of the two sides. */
static void
hg_matcher_swap_covered(HgMatcherSpec *spec)
{
	const HgMatcherSpec before = *spec;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgSide other = hg_other_side((HgSide) side);

		spec->covered[side] = before.covered[other];
		spec->replica[side] = before.replica[other];
		spec->first_row[side] = before.first_row[other];
	}
}

uint64
hg_matcher_count_matched(HgMatcher *matcher, HgSide side, bool reported)
{
	HgMatchTask *task = &matcher->task;
	const HgMatchMode mode = task->spec.mode;
	uint64 matched;

	Assert(task->sides[HG_OUTER].rows == 0 && task->sides[HG_INNER].rows == 0);
	task->unreported = !reported;
	task->spec.mode = HG_MATCH_FIRST;
	if (side == HG_INNER)
		hg_matcher_swap_covered(&task->spec);
	matched = hg_matcher_count(matcher);
	if (side == HG_INNER)
		hg_matcher_swap_covered(&task->spec);
	task->spec.mode = mode;
	task->unreported = false;
	return matched;
}

bool
hg_matcher_reduce(HgMatcher *matcher, HgGroupSet *groups)
{
	HgMatchSource *source = hg_matcher_source(matcher);
	bool reduced;
	HgStatus status;
	HgError error;

	if (source->ops->reduce == NULL)
		return false;
	status = source->ops->reduce(source, groups, &reduced, &error);
	if (status == HG_OK)
	{
		matcher->returned += reduced ? groups->pairs : 0;
		return reduced;
	}
	hg_matcher_go_on(matcher, status, &error);
	return false;
}

bool
hg_matcher_describe(HgMatcher *matcher, HgSide side, HgGraphStats *stats)
{
	for (;;)
	{
		HgMatchSource *source = hg_matcher_source(matcher);
		HgStatus status;
		HgError error;

		if (source->ops->describe == NULL)
			return false;
		status = source->ops->describe(source, side, stats, &error);
		if (status == HG_OK || status == HG_INVALID)
			return status == HG_OK;
		hg_matcher_go_on(matcher, status, &error);
	}
}

bool
hg_matcher_measured(const HgMatcher *matcher, HgTableMeasure *measure, HgStatus *status,
					HgError *error)
{
	const HgMatchTask *task = &matcher->task;

	*measure = task->measure;
	*status = task->unmeasurable.status;
	*error = task->unmeasurable;
	return task->measured;
}

uint64
hg_matcher_matches(const HgMatcher *matcher)
{
	HgMatchSource *source = matcher->source;
	HgJobStats stats = {0};

	/* a device's matches are only known when it has answered */
	if (source == NULL || source->ops->on_device)
		return matcher->returned;
	source->ops->report(source, &stats);
	return stats.matches;
}

const char *
hg_matcher_backend(const HgMatcher *matcher)
{
	return matcher->source != NULL ? matcher->source->ops->backend : "";
}

HgDeviceSet
hg_matcher_missing_replicas(const HgMatcher *matcher, HgMissingReplicas *missing)
{
	*missing = matcher->task.missing;
	return matcher->task.missing_on;
}

uint64
hg_matcher_job_bytes(const HgMatcher *matcher)
{
	HgMatchSource *source = matcher->source;
	HgJobStats stats = {0};

	if (source->ops->on_device)
		return 0;
	source->ops->report(source, &stats);
	return stats.peak_bytes;
}

uint64
hg_matcher_fetched_bytes(const HgMatcher *matcher)
{
	return matcher->source->fetched_bytes;
}

void
hg_matcher_report(HgMatcher *matcher, HgMatcherReport *report)
{
	HgMatchSource *source = matcher->source;

	source->ops->report(source, &matcher->task.report.job);
	*report = matcher->task.report;
	strlcpy(report->backend, source->ops->backend, sizeof(report->backend));
}

void
hg_matcher_destroy(HgMatcher *matcher)
{
	/* its cleanup closes the job */
	MemoryContextDelete(matcher->task.context);
}
