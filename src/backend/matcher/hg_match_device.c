/*-------------------------------------------------------------------------
 *
 * hg_match_device.c
 *	  Matches from a job of this process's own on a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_match_cpu.h"
#include "backend/matcher/hg_match_device.h"
#include "backend/matcher/hg_patience.h"

HgStatus
hg_match_device_next(HgMatchSource *source, const HgMatches **matches, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgMatchTask *task = source->task;
	const HgMatches *all;
	HgStatus status;

	/* what is left of an outer row's is not noted: it is found again in the same way */
	if (hg_match_job_next_rest(job, matches))
		return HG_OK;
	status = hg_match_job_next_new(job, matches, error);
	all = *matches;
	if (status != HG_OK || all == NULL)
		return status;
	hg_patience_extend(&task->host, all->count);
	if (!hg_delivered_note(&task->delivered, all->outer, all->inner, all->count))
		return hg_device_distrust(task->place, error);
	return HG_OK;
}

void
hg_match_device_rewind(HgMatchSource *source)
{
	HgMatchDevice *device = (HgMatchDevice *) source;
	HgMatchTask *task = source->task;
	const double patience_ms = hg_patience_ms(task->sides, task->report.cpu_ms);

	hg_match_job_rewind(source);
	hg_host_set_patience(&task->host, device->alone ? hg_patience_alone_ms(task->place, patience_ms)
													: patience_ms);
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

	/* a job without columns may do with less */
	if (why->status == HG_DEVICE_OUT_OF_MEMORY &&
		(source->reduction != NULL || hg_gather_is_wanted(&source->gather)))
		return hg_match_device_create(task, device->job.engine, &none, device->alone);
	/* it had nothing to do: wait for another turn */
	if (why->status == HG_EVICTED && device->alone)
		return hg_match_device_create(task, device->job.engine, &none, true);

	if (why->status == HG_CONNECTION_LOST)
		hg_device_discard_lost(task->place);
	if (why->status == HG_CANCELLED && hg_host_lost_patience(&task->host))
		hg_device_complain(task->place, why);
	if (why->status == HG_CANCELLED)
		return NULL;
	if (device->alone)
	{
		hg_stats_count_error();
		return NULL;
	}
	/* whatever it says, the CPU may know better, but of what was asked for by the user */
	hg_device_log_fallback(why);
	strlcpy(task->report.fallback, why->message, sizeof(task->report.fallback));
	return hg_match_cpu_create(task);
}

static const HgMatchSourceOps hg_match_device_ops = {
	HG_MATCH_DEVICE_CALLS,
	.open = hg_match_job_open,
};

void *
hg_match_device_create_as(HgMatchTask *task, const HgMatchSourceOps *ops, HgEngine *engine,
						  const HgMatchColumns *columns, bool alone)
{
	HgMatchDevice *device = hg_match_source_create(task, ops, columns, sizeof(HgMatchDevice));

	device->job.engine = engine;
	device->alone = alone;
	return device;
}

HgMatchSource *
hg_match_device_create(HgMatchTask *task, HgEngine *engine, const HgMatchColumns *columns,
					   bool alone)
{
	return hg_match_device_create_as(task, &hg_match_device_ops, engine, columns, alone);
}
