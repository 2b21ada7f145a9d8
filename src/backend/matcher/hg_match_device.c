/*-------------------------------------------------------------------------
 *
 * hg_match_device.c
 *	  Match source: a job of this process on a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/pg_bitutils.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shards.h"
#include "backend/device/hg_device_shared.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_device_participants.h"
#include "backend/matcher/hg_device_timeout.h"
#include "backend/matcher/hg_match_source.h"
#include "backend/matcher/hg_upload.h"
#include "engine/hg_passes.h"
#include "hg_guc.h"

/* The source of a job on a device. */
typedef struct HgMatchDevice
{
	HgMatchJob job;			/* first */
	HgEngine *engine;		/* of the task's device; a sharded job has another one */
	HgDeviceSet device_set; /* where the job is */
	bool alone;				/* no fallback: the CPU must not take over (backend cuda) */
} HgMatchDevice;

/* Sets the timeout for the rest of the job on its devices. */
static void
hg_match_device_set_timeout(HgMatchDevice *device)
{
	HgMatchTask *task = device->job.source.task;
	double timeout_ms = hg_device_timeout_ms(device->device_set, task->sides, task->report.cpu_ms);

	/* a sharded job that is open holds all its devices and waits for none */
	if (device->alone)
		timeout_ms = device->device_set == HG_DEVICE_BIT(task->device_no)
						 ? hg_device_timeout_alone_ms(task->device_no, timeout_ms)
						 : -1;
	hg_host_set_timeout(&task->host, timeout_ms);
	if (device->job.job != NULL)
		hg_device_timeout_begin_work(&task->host);
}

static void
hg_match_device_rewind(HgMatchSource *source)
{
	hg_match_job_rewind(source);
	hg_match_device_set_timeout((HgMatchDevice *) source);
}

/* Records why a job that needs partition passes was not sharded over other devices. */
static void
hg_match_device_report_unsharded(HgMatchTask *task, const char *why)
{
	snprintf(task->report.left, sizeof(task->report.left), "the join was left to one device: %s",
			 why);
}

/*
 * Opens the job over several devices. A failure restores the state for one device, except after a
 * cancel: then device_set keeps the devices that were waited for.
 */
static HgStatus
hg_match_device_sharded(HgMatchDevice *device, HgDeviceSet device_set, HgError *error)
{
	HgMatchTask *task = device->job.source.task;
	HgEngine *engine = hg_device_shards_engine(device_set);
	HgStatus status;

	if (engine == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	if (device->alone)
		hg_host_set_timeout(&task->host, hg_device_timeout_apart_ms(hg_device_timeout_ms(
											 device_set, task->sides, task->report.cpu_ms)));
	device->job.engine = engine;
	device->device_set = device_set;
	status = hg_match_job_open(&device->job.source, error);
	if (status == HG_OK)
	{
		hg_device_shards_name(device_set, task->report.device, sizeof(task->report.device));
		if (device->alone)
			hg_match_device_set_timeout(device);
	}
	else if (status != HG_CANCELLED)
	{
		device->job.engine = device->engine;
		device->device_set = HG_DEVICE_BIT(task->device_no);
		hg_match_device_rewind(&device->job.source);
	}
	return status;
}

/* Opens the job on its device if it fits there as a whole. */
static HgStatus
hg_match_device_open_whole(HgMatchDevice *device, HgError *error)
{
	HgMatchSource *source = &device->job.source;
	HgEngine *remote = hg_device_engine(source->task->device_no, true);
	const HgHost *host = &source->task->host.host;
	HgJobSpec spec;
	HgJob *open;
	HgStatus status;

	if (remote == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	hg_match_source_fill_spec(source, &spec);
	HG_TRY(remote->open(remote, host, &spec, &open, error));
	/* it can still get partition passes if it becomes larger than expected */
	status = hg_passes_adopt(device->engine, host, &spec, open, &device->job.job, error);
	if (status != HG_OK)
		remote->join->close(open);
	return status;
}

/* Opens the job on its device; if it does not fit, over several; else in partition passes. */
static HgStatus
hg_match_device_open_somewhere(HgMatchSource *source, HgError *error)
{
	HgMatchDevice *device = (HgMatchDevice *) source;
	HgMatchTask *task = source->task;
	HgDeviceSet device_set = 0;
	HgError why;
	HgStatus status;

	if (task->spec.trial != NULL || !hg_device_shards_is_possible())
		return hg_match_job_open(source, error);
	/* an earlier source may have had several devices and set their timeout */
	if (device->alone)
		hg_match_device_set_timeout(device);
	strlcpy(task->report.device, hg_device_name(task->device_no), sizeof(task->report.device));
	task->report.left[0] = '\0';
	status = hg_match_device_open_whole(device, error);
	if (status != HG_DEVICE_OUT_OF_MEMORY)
		return status;
	/* hashgraph.gpu_memory_limit applies to the whole job */
	if (hg_gpu_memory_limit > 0)
		hg_error_set(&why, HG_UNAVAILABLE, NULL, "hashgraph.gpu_memory_limit is set");
	else
		device_set = hg_device_shards_devices(&why);
	if (device_set != 0 && device_set != HG_DEVICE_BIT(task->device_no))
	{
		status = hg_match_device_sharded(device, device_set, error);
		/* the set has one other device, which has more memory */
		if (status == HG_OK && pg_popcount32(device_set) == 1)
			hg_match_device_report_unsharded(task, why.message);
		if (status == HG_OK || status == HG_CANCELLED)
			return status;
		why = *error;
	}
	hg_match_device_report_unsharded(task, why.message);
	return hg_match_job_open(source, error);
}

static HgStatus
hg_match_device_open(HgMatchSource *source, HgError *error)
{
	HG_TRY(hg_match_device_open_somewhere(source, error));
	hg_device_timeout_begin_work(&source->task->host);
	return HG_OK;
}

/*
 * Fills *stats from the job, and leaves it unchanged without a job. It also sets or clears the
 * task's report.left, the reason why a join in passes was not sharded.
 */
static void
hg_match_device_report(HgMatchSource *source, HgJobStats *stats)
{
	HgMatchDevice *device = (HgMatchDevice *) source;
	HgMatchTask *task = source->task;

	hg_match_job_report(source, stats);
	if (stats->passes <= 1)
		task->report.left[0] = '\0';
	else if (device->device_set == HG_DEVICE_BIT(task->device_no) && task->report.left[0] == '\0' &&
			 hg_device_shards_is_possible())
		hg_match_device_report_unsharded(task, "it has become larger than was expected");
}

static HgStatus
hg_match_device_next(HgMatchSource *source, const HgMatches **matches, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgMatchTask *task = source->task;
	const HgMatches *all;
	HgStatus status;

	/* remaining matches are not noted: another source finds them again in the same way */
	if (hg_match_job_next_rest(job, matches))
		return HG_OK;
	status = hg_match_job_next_new(job, matches, error);
	all = *matches;
	if (status != HG_OK || all == NULL)
		return status;
	hg_device_timeout_extend(&task->host, all->count);
	if (!hg_emitted_record(&task->emitted, all->outer, all->inner, all->count))
		return hg_device_shards_distrust(((HgMatchDevice *) source)->device_set, error);
	return HG_OK;
}

static HgStatus
hg_match_device_reduce(HgMatchSource *source, HgGroupSet *groups, bool *reduced, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgMatchTask *task = source->task;
	HgStatus status;

	*reduced = false;
	if (source->reduction == NULL)
		return HG_OK;
	status = hg_reduction_fetch(source->reduction, job->engine, job->job, task->spec.mode,
								task->context, groups, error);
	*reduced = status == HG_OK && !groups->too_many;
	return status;
}

static HgMatchSource *
hg_match_device_replace(HgMatchSource *source, HgError *why)
{
	const HgMatchDevice *device = (HgMatchDevice *) source;
	const HgMatchColumns none = {0};
	HgMatchTask *task = source->task;

	/* a job without columns may need less memory */
	if (why->status == HG_DEVICE_OUT_OF_MEMORY &&
		(source->reduction != NULL || hg_gather_has_columns(&source->gather)))
		return hg_match_device_create(task, device->engine, &none, device->alone);
	/* it was idle when evicted: wait for another turn */
	if (why->status == HG_EVICTED && device->alone)
		return hg_match_device_create(task, device->engine, &none, true);

	if (why->status == HG_CONNECTION_LOST)
		hg_device_shards_discard_lost(device->device_set);
	if (why->status == HG_CANCELLED && hg_host_timed_out(&task->host))
		hg_device_shards_complain(device->device_set, why);
	if (why->status == HG_CANCELLED)
		return NULL;
	if (device->alone)
	{
		hg_stats_count_error();
		return NULL;
	}
	/* the CPU takes over whatever the reason, except for a cancel */
	hg_device_log_fallback(why);
	strlcpy(task->report.fallback, why->message, sizeof(task->report.fallback));
	return hg_match_cpu_create(task);
}

/* The calls that sources on a device share. */
#define HG_MATCH_DEVICE_CALLS                                                                      \
	.backend = "cuda", .on_device = true, .build = hg_match_job_build,                             \
	.next = hg_match_device_next, .rewind = hg_match_device_rewind, .count = hg_match_job_count,   \
	.reduce = hg_match_device_reduce, .describe = hg_match_job_describe,                           \
	.report = hg_match_device_report, .replace = hg_match_device_replace,                          \
	.close = hg_match_job_close

static const HgMatchSourceOps hg_match_device_ops = {
	HG_MATCH_DEVICE_CALLS,
	.open = hg_match_device_open,
};

/* Creates a source on a device with ops of its own, which opens its job in another way. */
static void *
hg_match_device_create_as(HgMatchTask *task, const HgMatchSourceOps *ops, HgEngine *engine,
						  const HgMatchColumns *columns, bool alone)
{
	HgMatchDevice *device = hg_match_source_create(task, ops, columns, sizeof(HgMatchDevice));

	device->job.engine = device->engine = engine;
	device->device_set = HG_DEVICE_BIT(task->device_no);
	device->alone = alone;
	return device;
}

HgMatchSource *
hg_match_device_create(HgMatchTask *task, HgEngine *engine, const HgMatchColumns *columns,
					   bool alone)
{
	return hg_match_device_create_as(task, &hg_match_device_ops, engine, columns, alone);
}

/* ---------------------------------------------------------------------
 * Match source: a device job whose keys were uploaded while they were read
 * ---------------------------------------------------------------------
 */

/* Takes the upload's job over, with all keys and columns, and allows partition passes. */
static HgStatus
hg_match_uploaded_take_over(HgMatchJob *job, HgError *error)
{
	const HgMatchSource *source = &job->source;
	HgMatchTask *task = source->task;
	HgUpload *upload = task->spec.upload;
	HgJobSpec spec;
	HgStatus status;

	if (hg_upload_reduces(upload) != (source->reduction != NULL) ||
		hg_upload_columns(upload, HG_OUTER) != source->gather.columns[HG_OUTER] ||
		hg_upload_columns(upload, HG_INNER) != source->gather.columns[HG_INNER])
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "other columns were expected");
	hg_match_source_fill_spec(source, &spec);
	status = hg_upload_finish(upload, &task->host, task->sides, error);
	if (status == HG_OK)
		status =
			hg_upload_hand_over(upload, job->engine, &task->host.host, &spec, &job->job, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &task->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status = hg_passes_note(job->job, (HgSide) side, set->pieces[i].keys,
									set->pieces[i].count, error);
	}
	if (status == HG_OK)
		task->report.uploaded_rows = hg_upload_rows(upload);
	return status;
}

static HgStatus
hg_match_uploaded_open(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgStatus status = hg_match_uploaded_take_over(job, error);

	job->filled = status == HG_OK;
	if (job->filled)
		hg_device_timeout_begin_work(&source->task->host);
	else
		hg_match_job_close(source);
	hg_match_task_end_upload(source->task);
	/* open a new job, unless the user has cancelled */
	if (!job->filled && status != HG_CANCELLED)
		status = hg_match_device_open(source, error);
	return status;
}

static const HgMatchSourceOps hg_match_uploaded_ops = {
	HG_MATCH_DEVICE_CALLS,
	.open = hg_match_uploaded_open,
};

HgMatchSource *
hg_match_uploaded_create(HgMatchTask *task, HgEngine *engine, const HgMatchColumns *columns,
						 bool alone)
{
	return hg_match_device_create_as(task, &hg_match_uploaded_ops, engine, columns, alone);
}

/* ---------------------------------------------------------------------
 * Match source: this process's part of a job that the participants share on the CPU
 * ---------------------------------------------------------------------
 */

static HgStatus
hg_match_participants_open(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgStatus status = hg_match_job_open(source, error);

	if (status == HG_OK)
		status =
			job->engine->local->share(job->job, &source->task->participants.participants, error);
	return status;
}

static HgStatus
hg_match_participants_build(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgStatus status = HG_OK;
	HgStatus built;
	HgError ignored;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgKeySet *set = &source->task->sides[side];

		for (int i = 0; i < set->npieces && status == HG_OK; i++)
			status = job->engine->join->append_rows(job->job, (HgSide) side, set->pieces[i].keys,
													set->pieces[i].count, set->pieces[i].first_row,
													error);
	}
	/* builds even after a failure, because the others wait for it */
	built = job->engine->join->build(job->job, status == HG_OK ? error : &ignored);
	return status == HG_OK ? built : status;
}

static const HgMatchSourceOps hg_match_participants_ops = {
	.backend = "cpu",
	.open = hg_match_participants_open,
	.build = hg_match_participants_build,
	.next = hg_match_job_next,
	.count = hg_match_job_count,
	.report = hg_match_job_report,
	.close = hg_match_job_close,
};

HgMatchSource *
hg_match_participants_create(HgMatchTask *task)
{
	return hg_match_job_create_on_cpu(task, &hg_match_participants_ops);
}

/* ---------------------------------------------------------------------
 * Match source: what this process has fetched of a job that the participants had on a device
 * ---------------------------------------------------------------------
 */

typedef struct HgMatchFetched
{
	HgMatchSource source; /* first */
	HgDeviceParticipants device;
	bool alone;		 /* backend cuda: the CPU must not take over */
	uint64 returned; /* matches that this process has returned */
} HgMatchFetched;

static HgStatus
hg_match_fetched_build(HgMatchSource *source, HgError *error)
{
	HgMatchFetched *fetched = (HgMatchFetched *) source;
	HgMatchTask *task = source->task;
	HgDeviceParticipants *device = &fetched->device;
	HgDeviceParticipantsShared *shared = task->spec.participants->device;
	const double timeout_ms =
		hg_device_timeout_ms(HG_DEVICE_BIT(shared->device_no), task->sides, task->report.cpu_ms);
	double start;
	HgJobSpec spec;

	hg_match_source_fill_spec(source, &spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.sides[side].expected_rows = pg_atomic_read_u64(&shared->rows[side]);
	hg_host_set_timeout(&task->host, fetched->alone
										 ? hg_device_timeout_alone_ms(shared->device_no, timeout_ms)
										 : timeout_ms);
	start = hg_clock_ms();
	if (hg_device_participants_join(device, task, source->reduction, &source->gather, &spec, error))
	{
		strlcpy(task->report.device, hg_device_name(shared->device_no),
				sizeof(task->report.device));
		task->report.uploaded_rows = device->uploaded_rows;
		source->fetched_bytes = hg_match_list_bytes(&device->fetched);
		return HG_OK;
	}
	task->report.start_ms += hg_clock_ms() - start;
	hg_match_task_end_upload(task);
	return error->status;
}

static HgStatus
hg_match_fetched_next(HgMatchSource *source, const HgMatches **matches, HgError *error)
{
	HgMatchFetched *fetched = (HgMatchFetched *) source;
	const HgMatchBlock *block;
	HgStatus status = hg_device_participants_next(&fetched->device, &block, error);

	*matches = NULL;
	if (status != HG_OK || block == NULL)
		return status;
	*matches = hg_match_source_show(source, block);
	fetched->returned += block->all.count;
	return HG_OK;
}

static HgStatus
hg_match_fetched_count(HgMatchSource *source, uint64 *matches, HgError *error pg_attribute_unused())
{
	HgMatchFetched *fetched = (HgMatchFetched *) source;

	*matches = fetched->returned = hg_device_participants_take_count(&fetched->device);
	return HG_OK;
}

static HgStatus
hg_match_fetched_reduce(HgMatchSource *source, HgGroupSet *groups, bool *reduced,
						HgError *error pg_attribute_unused())
{
	HgMatchFetched *fetched = (HgMatchFetched *) source;

	*reduced = fetched->device.attempt->reduced;
	if (*reduced)
	{
		*groups = fetched->device.groups;
		fetched->returned = groups->pairs;
	}
	return HG_OK;
}

static void
hg_match_fetched_report(HgMatchSource *source, HgJobStats *stats)
{
	HgMatchFetched *fetched = (HgMatchFetched *) source;

	/* the statistics are those of the shared job */
	hg_device_participants_stats(&fetched->device, stats);
	stats->matches = fetched->returned;
}

static HgMatchSource *
hg_match_fetched_replace(HgMatchSource *source, HgError *why)
{
	const HgMatchFetched *fetched = (HgMatchFetched *) source;
	HgMatchTask *task = source->task;

	if (fetched->alone)
	{
		if (why->status != HG_CANCELLED)
			hg_stats_count_error();
		return NULL;
	}
	hg_device_log_fallback(why);
	strlcpy(task->report.fallback, why->message, sizeof(task->report.fallback));
	return hg_match_participants_create(task);
}

static void
hg_match_fetched_close(HgMatchSource *source)
{
	HgMatchFetched *fetched = (HgMatchFetched *) source;

	hg_device_participants_close(&fetched->device);
	hg_match_list_clear(&fetched->device.fetched);
}

static const HgMatchSourceOps hg_match_fetched_ops = {
	.backend = "cuda",
	.on_device = true,
	/* the processes open their job together, in build */
	.open = hg_match_source_pass,
	.build = hg_match_fetched_build,
	.next = hg_match_fetched_next,
	.count = hg_match_fetched_count,
	.reduce = hg_match_fetched_reduce,
	.report = hg_match_fetched_report,
	.replace = hg_match_fetched_replace,
	.close = hg_match_fetched_close,
};

HgMatchSource *
hg_match_fetched_create(HgMatchTask *task, const HgMatchColumns *columns, bool alone)
{
	HgMatchFetched *fetched =
		hg_match_source_create(task, &hg_match_fetched_ops, columns, sizeof(HgMatchFetched));

	fetched->alone = alone;
	return &fetched->source;
}
