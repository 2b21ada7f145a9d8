/*-------------------------------------------------------------------------
 *
 * hg_match_fetched.c
 *	  Match source: what this process has fetched of a job that the participants had on a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/hg_elapsed.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_device_participants.h"
#include "backend/matcher/hg_match_fetched.h"
#include "backend/matcher/hg_match_participants.h"
#include "backend/matcher/hg_device_timeout.h"

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
	const int device_no = task->spec.participants->device->device_no;
	const double timeout_ms =
		hg_device_timeout_ms(HG_DEVICE_BIT(device_no), task->sides, task->report.cpu_ms);
	instr_time start;
	HgJobSpec spec;

	hg_device_participants_begin(device, &task->participants, task->spec.upload, source->reduction,
								 &source->gather, task->context);
	hg_match_source_fill_spec(source, &spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.expected_rows[side] = pg_atomic_read_u64(&device->shared->rows[side]);
	hg_host_set_timeout(&task->host, fetched->alone
										 ? hg_device_timeout_alone_ms(device_no, timeout_ms)
										 : timeout_ms);
	INSTR_TIME_SET_CURRENT(start);
	if (hg_device_participants_join(device, &task->spec, &spec, task->sides, error))
	{
		strlcpy(task->report.device, hg_device_name(device->shared->device_no),
				sizeof(task->report.device));
		task->report.uploaded_rows = device->uploaded_rows;
		source->fetched_bytes = hg_match_list_bytes(&device->fetched);
		return HG_OK;
	}
	task->report.start_ms += hg_elapsed_ms(start);
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

	*reduced = fetched->device.reduced;
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
