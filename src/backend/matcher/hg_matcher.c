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

#include "access/parallel.h"
#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/hg_cleanup.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_device_participants.h"
#include "backend/matcher/hg_device_timeout.h"
#include "backend/matcher/hg_match_replica.h"
#include "backend/matcher/hg_match_source.h"
#include "backend/matcher/hg_matcher.h"
#include "backend/matcher/hg_upload.h"
#include "hg_guc.h"

/*
 * Chooses by hashgraph.backend and records the reasons in the task's report. Ends the task's
 * upload if the source does not use it. Raises an error under backend cuda if there is no device.
 */
extern HgMatchSource *hg_matcher_choose(HgMatchTask *task);

/* ---------------------------------------------------------------------
 * Chooses the first match source of a join
 *
 * A source that fails names its own replacement (hg_match_source.h).
 * ---------------------------------------------------------------------
 */

/*
 * Returns true if a device is required, or is estimated to finish before the CPU. Sets
 * columns->reduction if the device should reduce the matches.
 */
static bool
hg_matcher_device_pays(HgMatchTask *task, bool wanted, HgMatchColumns *columns)
{
	const uint64 rows[2] = {task->sides[HG_OUTER].rows, task->sides[HG_INNER].rows};
	HgEngineCosts costs;
	HgMatcherEstimate estimate;
	bool known = hg_matcher_estimate(hg_device_costs(&costs) ? &costs : NULL, &task->spec,
									 rows[HG_OUTER], rows[HG_INNER], &estimate);

	columns->reduction = estimate.reduced ? task->spec.reduction : NULL;
	if (wanted)
		return true;
	task->report.device_ms = estimate.device_ms;
	task->report.cpu_ms = estimate.cpu_ms;
	return known ? estimate.device_ms < estimate.cpu_ms
				 : rows[HG_OUTER] + rows[HG_INNER] >= HG_DEVICE_ROWS;
}

/* Returns the source of a streamed join, which always runs on the CPU. */
static HgMatchSource *
hg_matcher_choose_streamed(HgMatchTask *task)
{
	HgError error;

	if (hg_backend == HG_BACKEND_AUTO &&
		task->spec.streamed_rows + task->sides[HG_INNER].rows >= HG_DEVICE_ROWS &&
		hg_device_glance(hg_device_number(HG_ALL_DEVICES), &error) == HG_DEVICE_ABSENT)
		strlcpy(task->report.fallback, error.message, sizeof(task->report.fallback));
	return hg_match_cpu_create(task);
}

/* Chooses the columns whose values come with the matches of a job that does not reduce them. */
static void
hg_matcher_choose_gather(const HgMatchTask *task, const HgEngine *engine, HgMatchColumns *columns)
{
	const HgUpload *upload = task->spec.upload;
	const uint64 rows[2] = {task->sides[HG_OUTER].rows, task->sides[HG_INNER].rows};
	HgEngineCosts costs;

	/* a job that has been given keys has its columns already */
	if (upload != NULL && hg_upload_is_admitted(upload) && !hg_upload_reduces(upload))
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			columns->gathered[side] = hg_upload_columns(upload, (HgSide) side);
	else if (engine->columns != NULL)
		hg_matcher_choose_columns(hg_device_costs(&costs) ? &costs : NULL, &task->spec, rows,
								  columns->gathered);
}

/* hg_matcher_choose_gather for a shared job, where all participants choose the same. */
static void
hg_matcher_choose_gather_shared(const HgMatchTask *task, const uint64 rows[2],
								HgMatchColumns *columns)
{
	const HgDeviceParticipantsShared *shared = task->spec.participants->device;

	/* a job that gets keys early has its columns already */
	if (shared->upload_job != 0 && !shared->upload_columns.reduces)
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			columns->gathered[side] =
				shared->upload_columns.gathers[side] ? task->spec.columns[side] : NULL;
	else
		hg_matcher_choose_columns(shared->costs_known ? &shared->costs : NULL, &task->spec, rows,
								  columns->gathered);
}

/* Returns the devices that may have the job: only the upload's, if its job exists. */
static HgDeviceSet
hg_matcher_devices(const HgMatchTask *task)
{
	const int device_no = task->spec.upload != NULL ? hg_upload_device_no(task->spec.upload) : -1;

	return device_no >= 0 ? HG_DEVICE_BIT(device_no) : HG_ALL_DEVICES;
}

/* Returns the source of a job on a device; NULL if the CPU is to do it. */
static HgMatchSource *
hg_matcher_choose_device(HgMatchTask *task)
{
	const bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgMatchColumns columns = {0};
	HgEngine *engine = NULL;
	HgDeviceState state;
	double timeout_ms;
	HgError error;

	if (hg_backend == HG_BACKEND_CPU || task->spec.small ||
		!hg_matcher_device_pays(task, wanted, &columns))
		return NULL;
	/* a parallel worker ends before a device process of its own could start */
	if (!wanted && IsParallelWorker() && !hg_device_is_shared())
		return NULL;
	state = hg_device_choose(hg_matcher_devices(task), wanted, &task->device_no, &error);
	if (state == HG_DEVICE_READY)
	{
		strlcpy(task->report.device, hg_device_name(task->device_no), sizeof(task->report.device));
		/* a table cannot be split into partition passes */
		engine = hg_device_engine(task->device_no, task->spec.trial != NULL);
		if (engine == NULL)
			hg_error_set(&error, HG_CONNECTION_LOST, NULL,
						 "the device process ended before the join began");
	}
	if (engine != NULL)
	{
		if (engine->columns == NULL)
			columns.reduction = NULL;
		if (columns.reduction == NULL)
			hg_matcher_choose_gather(task, engine, &columns);
		timeout_ms =
			hg_device_timeout_ms(HG_DEVICE_BIT(task->device_no), task->sides, task->report.cpu_ms);
		hg_host_set_timeout(&task->host,
							wanted ? hg_device_timeout_alone_ms(task->device_no, timeout_ms)
								   : timeout_ms);
		if (task->spec.upload != NULL)
			return hg_match_uploaded_create(task, engine, &columns, wanted);
		return hg_match_device_create(task, engine, &columns, wanted);
	}
	if (wanted)
	{
		hg_stats_count_error();
		hg_host_throw(&task->host, error.status, &error);
	}
	/* a server without the program was set up that way: not worth a log message */
	if (state != HG_DEVICE_ABSENT)
		hg_device_log_fallback(&error);
	strlcpy(task->report.fallback, error.message, sizeof(task->report.fallback));
	return NULL;
}

/* Returns the source of a device job that the participants share. NULL in all of them: the CPU. */
static HgMatchSource *
hg_matcher_choose_fetched(HgMatchTask *task)
{
	const HgMatcherSpec *spec = &task->spec;
	const bool wanted = hg_backend == HG_BACKEND_CUDA;
	HgDeviceParticipantsShared *shared = spec->participants->device;
	HgMatchColumns columns = {0};
	HgMatcherEstimate estimate;
	uint64 rows[2];

	if (shared->job == 0)
	{
		if (wanted)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("parallel workers can not share this HashGraph join on a device"),
					 errhint("Set hashgraph.backend to auto or cpu, or have the query planned "
							 "again with backend cuda.")));
		return NULL;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		rows[side] = pg_atomic_read_u64(&shared->rows[side]);
	hg_matcher_estimate(shared->costs_known ? &shared->costs : NULL, spec, rows[HG_OUTER],
						rows[HG_INNER], &estimate);
	task->report.device_ms = estimate.device_ms;
	task->report.cpu_ms = estimate.cpu_ms;
	if (!wanted && (estimate.device_ms >= estimate.cpu_ms ||
					(!estimate.reduced && !spec->counted &&
					 spec->pairs * 2 * sizeof(uint32) > (double) spec->participants->match_bytes)))
		return NULL;
	if (estimate.reduced)
		columns.reduction = spec->reduction;
	else
		hg_matcher_choose_gather_shared(task, rows, &columns);
	return hg_match_fetched_create(task, &columns, wanted);
}

/*
 * Returns the source of a join with covered rows. It uses the cached indexes, on a device if that
 * has replicas and else here. Backend cuda requires a device all the same.
 */
static HgMatchSource *
hg_matcher_choose_resident(HgMatchTask *task)
{
	HgError error;

	/* the leader checks that for its parallel workers */
	if (hg_backend == HG_BACKEND_CUDA && !task->spec.small && !IsParallelWorker() &&
		hg_device_choose(HG_ALL_DEVICES, true, &task->device_no, &error) != HG_DEVICE_READY)
	{
		hg_stats_count_error();
		hg_host_throw(&task->host, error.status, &error);
	}
	return hg_match_resident_create(task);
}

HgMatchSource *
hg_matcher_choose(HgMatchTask *task)
{
	const bool is_shared = task->spec.participants != NULL;
	HgMatchSource *source;

	/* a side whose covered rows were joined elsewhere has delta rows numbered from first_row on */
	if (task->spec.first_row[HG_OUTER] > 0 || task->spec.first_row[HG_INNER] > 0)
		return hg_matcher_choose_resident(task);
	if (task->spec.streamed_rows > 0)
		return hg_matcher_choose_streamed(task);
	source = is_shared ? hg_matcher_choose_fetched(task) : hg_matcher_choose_device(task);
	if (source != NULL)
		return source;
	hg_match_task_end_upload(task);
	return is_shared ? hg_match_participants_create(task) : hg_match_cpu_create(task);
}

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
	double start = hg_clock_ms();

	hg_matcher_set_source(matcher, hg_matcher_choose(&matcher->task));
	matcher->task.report.start_ms += hg_clock_ms() - start;
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
