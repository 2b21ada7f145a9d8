/*-------------------------------------------------------------------------
 *
 * hg_matcher.c
 *	  Match the keys of two sides on whichever backend there is.
 *
 * WHO FREES WHAT
 *
 * A matcher lives in a memory context of its own, from which a CPU job has its
 * memory too.  A job on the device is one of another process, which has to be told
 * when it is no longer needed: the matcher's cleanup does that (hg_cleanup.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "portability/instr_time.h"
#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/matcher/hg_matcher_internal.h"
#include "backend/hg_stats.h"
#include "engine/cpu/hg_cpu.h"

/* Matches taken from the engine at a time. */
#define HG_LEAST_CHUNK 1024
#define HG_LARGEST_CHUNK 65536

/* Memory that a chunk of matches may take with values. */
#define HG_CHUNK_BYTES (4 * 1024 * 1024)

static void
hg_matcher_release(void *arg)
{
	HgMatcher *matcher = arg;

	if (matcher->job != NULL)
		matcher->engine->close(matcher->job);
	matcher->job = NULL;
	hg_device_team_close(&matcher->device);
}

/* Does a failure of the device with this status leave the CPU a chance? */
static bool
hg_matcher_may_fall_back(const HgMatcher *matcher, HgStatus status)
{
	/* whatever it says, the CPU may know better, but of what was asked for by the user */
	return hg_matcher_has_way_back(matcher) && status != HG_CANCELLED;
}

/* Throw the error of a job, and count it where that was on a device. */
pg_noreturn static void
hg_matcher_fail(HgMatcher *matcher, HgStatus status, const HgError *why)
{
	if (!matcher->on_cpu && status != HG_CANCELLED)
		hg_stats_count_error();
	hg_host_throw(&matcher->host, status, why);
}

/*
 * The job was evicted, for want of anything to do, and the join is for a device alone: wait for
 * another turn there.
 */
static void
hg_matcher_run_again(HgMatcher *matcher)
{
	HgError error;
	HgStatus status;

	matcher->streaming = false;
	/* it may be evicted again before all of it is built, while this process is held up */
	do
		status = hg_matcher_build_keys_alone(matcher, &error);
	while (status == HG_EVICTED);
	if (status != HG_OK)
		hg_matcher_fail(matcher, status, &error);
	hg_delivered_resume(&matcher->delivered);
}

/*
 * Fail, or have the HashGraphs built once more, on the CPU or a device, as status and
 * hashgraph.backend want it.
 */
static void
hg_matcher_fail_or_go_on(HgMatcher *matcher, HgStatus status, const HgError *why)
{
	HgError error;

	if (status == HG_EVICTED && !matcher->may_fall_back)
	{
		hg_matcher_run_again(matcher);
		return;
	}
	if (status == HG_CONNECTION_LOST)
		hg_device_discard_lost();
	if (status == HG_CANCELLED && hg_host_lost_patience(&matcher->host))
	{
		status = hg_device_complain(&error);
		why = &error;
	}
	if (!hg_matcher_may_fall_back(matcher, status))
		hg_matcher_fail(matcher, status, why);
	hg_device_log_fallback(why);
	if (matcher->job != NULL)
		matcher->engine->close(matcher->job);
	matcher->job = NULL;
	hg_matcher_set_engine(matcher, hg_cpu_engine());
	hg_host_set_patience(&matcher->host, -1);
	strlcpy(matcher->report.fallback, why->message, sizeof(matcher->report.fallback));
	matcher->streaming = false;
	status = hg_matcher_build(matcher, &error);
	if (status != HG_OK)
		hg_host_throw(&matcher->host, status, &error);
	hg_delivered_resume(&matcher->delivered);
}

HgMatcher *
hg_matcher_create(const HgMatcherSpec *spec, const HgKeySet *outer, const HgKeySet *inner)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph matcher", ALLOCSET_SMALL_SIZES);
	HgMatcher *matcher = MemoryContextAllocZero(context, sizeof(HgMatcher));
	instr_time start;
	instr_time elapsed;
	HgStatus status;
	HgError error;

	matcher->context = context;
	hg_cleanup_register(&matcher->cleanup, context, hg_matcher_release, matcher);
	hg_host_init(&matcher->host, context);
	matcher->spec = *spec;
	if (spec->team != NULL)
		hg_team_init(&matcher->team, spec->team, &matcher->host);
	matcher->sides[HG_OUTER] = *outer;
	matcher->sides[HG_INNER] = *inner;
	hg_delivered_init(&matcher->delivered, context, spec, matcher->sides);

	INSTR_TIME_SET_CURRENT(start);
	if (spec->team != NULL)
	{
		if (hg_matcher_join_on_device(matcher))
			return matcher;
		if (spec->sender != NULL)
			hg_sender_give_up(spec->sender);
		matcher->spec.sender = NULL;
	}
	hg_matcher_choose(matcher);
	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	matcher->report.start_ms = INSTR_TIME_GET_MILLISEC(elapsed);

	status = hg_matcher_build(matcher, &error);
	/*
	 * A process that has died since the last join, or whose device has failed when that was
	 * closed, shows it now: begin once more, with a new one.
	 */
	if ((status == HG_CONNECTION_LOST || status == HG_DEVICE_FAILED) && matcher->job == NULL)
	{
		hg_device_discard_lost();
		hg_matcher_choose(matcher);
		status = hg_matcher_build(matcher, &error);
	}
	if (status != HG_OK)
		hg_matcher_fail_or_go_on(matcher, status, &error);
	return matcher;
}

/* Have room for a chunk of matches, with the values that come with them. */
static void
hg_matcher_reserve(HgMatcher *matcher)
{
	const uint64 rows = Max(matcher->sides[HG_OUTER].rows, matcher->sides[HG_INNER].rows);
	const uint64 most =
		Min(HG_LARGEST_CHUNK, HG_CHUNK_BYTES / hg_gather_match_bytes(&matcher->gather));

	matcher->block = hg_match_block_create(
		&matcher->gather, Max(HG_LEAST_CHUNK, Min(rows / 4, most)), matcher->context);
	matcher->outer = matcher->block->all.outer;
	matcher->inner = matcher->block->all.inner;
}

/* One chunk from the engine; a failure is returned. */
static HgStatus
hg_matcher_fetch(HgMatcher *matcher, size_t *count, HgError *error)
{
	HgMatches matches;
	HgStatus status = HG_OK;

	matcher->block->all.count = 0;
	hg_match_block_rest(matcher->block, &matcher->gather, &matches);
	if (!matcher->streaming)
		status = matcher->engine->match(matcher->job, matcher->spec.mode, error);
	if (status == HG_OK)
	{
		matcher->streaming = true;
		status = matcher->engine->next(matcher->job, &matches, error);
		hg_matcher_extend_patience(matcher, matches.count);
	}
	*count = matches.count;
	if (status == HG_OK && matches.count > 0)
	{
		hg_match_block_add(matcher->block, &matcher->gather, &matches);
		matcher->report.gathered = hg_gather_show(&matcher->gather, matcher->block);
	}
	return status;
}

/* The next of the matches that this process has fetched, or fetches now, from the team's device. */
static bool
hg_matcher_next_fetched(HgMatcher *matcher, const uint32 **outer, const uint32 **inner,
						size_t *count)
{
	const HgMatchBlock *block;
	HgError error;
	HgStatus status = hg_device_team_next(&matcher->device, &block, &error);

	if (status != HG_OK)
		hg_matcher_fail(matcher, status, &error);
	if (block == NULL)
		return false;
	*outer = block->all.outer;
	*inner = block->all.inner;
	*count = block->all.count;
	matcher->report.gathered = hg_gather_show(&matcher->gather, block);
	matcher->fetched += *count;
	return true;
}

bool
hg_matcher_next(HgMatcher *matcher, const uint32 **outer, const uint32 **inner, size_t *count)
{
	if (matcher->device.joined)
		return hg_matcher_next_fetched(matcher, outer, inner, count);
	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	if (matcher->block == NULL)
		hg_matcher_reserve(matcher);
	for (;;)
	{
		HgError error;
		HgStatus status;

		*count = hg_delivered_next_rest(&matcher->delivered, matcher->outer, matcher->inner,
										matcher->block->all.capacity);
		if (*count > 0)
			break;
		status = hg_matcher_fetch(matcher, count, &error);
		/* a job without columns may do with less, and nothing has been delivered */
		if (status == HG_DEVICE_OUT_OF_MEMORY && hg_gather_is_wanted(&matcher->gather) &&
			matcher->report.gathered == 0)
		{
			matcher->streaming = false;
			status = hg_matcher_build_keys_alone(matcher, &error);
			if (status == HG_OK)
				continue;
		}
		if (status != HG_OK)
		{
			hg_matcher_fail_or_go_on(matcher, status, &error);
			continue;
		}
		if (*count == 0)
			return false;
		*count = hg_delivered_filter(&matcher->delivered, matcher->outer, matcher->inner, *count);
		if (*count == 0)
			continue;
		if (!matcher->on_cpu &&
			!hg_delivered_note(&matcher->delivered, matcher->outer, matcher->inner, *count))
		{
			status = hg_device_distrust(&error);
			hg_matcher_fail_or_go_on(matcher, status, &error);
			continue;
		}
		break;
	}
	*outer = matcher->outer;
	*inner = matcher->inner;
	return true;
}

const HgMatchValues *
hg_matcher_values(const HgMatcher *matcher, HgSide side)
{
	return matcher->gather.has_matched[side] ? &matcher->gather.matched[side] : NULL;
}

void
hg_matcher_rewind(HgMatcher *matcher)
{
	matcher->streaming = false;
	matcher->fetched = 0;
	hg_delivered_forget(&matcher->delivered);
	if (hg_matcher_has_way_back(matcher))
		hg_host_set_patience(&matcher->host, hg_matcher_patience(matcher));
}

uint64
hg_matcher_count(HgMatcher *matcher)
{
	uint64 matches = 0;
	HgStatus status;
	HgError error;

	if (matcher->device.joined)
	{
		matcher->fetched = hg_device_team_take_count(&matcher->device);
		return matcher->fetched;
	}
	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	while ((status = matcher->engine->count(matcher->job, matcher->spec.mode, &matches, &error)) !=
		   HG_OK)
		hg_matcher_fail_or_go_on(matcher, status, &error);
	return matches;
}

bool
hg_matcher_reduce(HgMatcher *matcher, HgGroupSet *groups)
{
	HgStatus status;
	HgError error;

	if (!matcher->reducing)
		return false;
	if (matcher->device.joined)
	{
		if (!matcher->device.reduced)
			return false;
		*groups = matcher->device.groups;
		matcher->fetched = groups->pairs;
		return true;
	}
	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	status = hg_reduction_fetch(matcher->spec.reduction, matcher->engine, matcher->job,
								matcher->spec.mode, matcher->context, groups, &error);
	if (status == HG_OK)
		return !groups->too_many;
	hg_matcher_fail_or_go_on(matcher, status, &error);
	return false;
}

bool
hg_matcher_describe(HgMatcher *matcher, HgSide side, HgGraphStats *stats)
{
	HgStatus status;
	HgError error;

	if (matcher->job == NULL)
		elog(ERROR, "the job of a HashGraph join was closed under it");
	while ((status = matcher->engine->describe(matcher->job, side, stats, &error)) != HG_OK)
	{
		if (status == HG_INVALID)
			return false;
		hg_matcher_fail_or_go_on(matcher, status, &error);
	}
	return true;
}

uint64
hg_matcher_fetched_bytes(const HgMatcher *matcher)
{
	return hg_device_team_bytes(&matcher->device);
}

void
hg_matcher_report(HgMatcher *matcher, HgMatcherReport *report)
{
	if (matcher->job != NULL)
		matcher->engine->stats(matcher->job, &matcher->report.job);
	if (matcher->device.job != NULL)
		matcher->device.calls.stats(matcher->device.job, &matcher->device.stats);
	if (matcher->device.joined)
	{
		/* the job was that of all */
		matcher->report.job = matcher->device.stats;
		matcher->report.job.matches = matcher->fetched;
	}
	*report = matcher->report;
	strlcpy(report->backend, matcher->on_cpu ? "cpu" : "cuda", sizeof(report->backend));
	if (matcher->on_cpu)
		report->device[0] = '\0';
}

void
hg_matcher_destroy(HgMatcher *matcher)
{
	/* its cleanup closes the job */
	MemoryContextDelete(matcher->context);
}
