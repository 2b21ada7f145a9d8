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
#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_shards.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_match_cpu.h"
#include "backend/matcher/hg_match_device.h"
#include "backend/matcher/hg_device_timeout.h"
#include "engine/hg_passes.h"
#include "hg_guc.h"

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

void
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
	status = remote->open(remote, host, &spec, &open, error);
	if (status != HG_OK)
		return status;
	/* it can still get partition passes if it becomes larger than expected */
	status = hg_passes_adopt(device->engine, host, &spec, open, &device->job.job, error);
	if (status != HG_OK)
		remote->close(open);
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

HgStatus
hg_match_device_open(HgMatchSource *source, HgError *error)
{
	const HgStatus status = hg_match_device_open_somewhere(source, error);

	if (status == HG_OK)
		hg_device_timeout_begin_work(&source->task->host);
	return status;
}

void
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

HgStatus
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

HgStatus
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

HgMatchSource *
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

static const HgMatchSourceOps hg_match_device_ops = {
	HG_MATCH_DEVICE_CALLS,
	.open = hg_match_device_open,
};

void *
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
