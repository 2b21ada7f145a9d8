/*-------------------------------------------------------------------------
 *
 * hg_page_job.c
 *	  A device job that gets both sides of a join as pages, and returns the number of pairs or
 *	  groups of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "backend/hg_cleanup.h"
#include "backend/matcher/hg_page_job.h"
#include "backend/matcher/hg_device_timeout.h"
#include "engine/wire/hg_wire_client.h"
#include "hg_guc.h"

/* How long a device may take to admit the job, in ms. */
#define HG_PAGE_JOB_TURN_MS 20.0

struct HgPageJob
{
	MemoryContext context;
	HgCleanup cleanup;
	HgPgHost host;
	HgPageJobSpec spec;
	HgJob *job;		/* NULL: it has failed or has answered */
	HgEngine calls; /* copy of the job's engine, which may go with its connection */
	int device_no;
	bool admitted; /* the device has opened the job */
	HgError error; /* why it has failed */
};

static void
hg_page_job_close(HgPageJob *job)
{
	HgJob *open = job->job;

	job->job = NULL;
	if (open != NULL)
		job->calls.join->close(open);
}

static void
hg_page_job_release(void *arg)
{
	hg_page_job_close(arg);
}

/* Returns true if status is HG_OK. Otherwise closes the job, and throws if it was cancelled. */
static bool
hg_page_job_check(HgPageJob *job, HgStatus status)
{
	if (status == HG_OK)
		return true;
	hg_page_job_close(job);
	if (status == HG_CANCELLED)
	{
		if (!hg_host_timed_out(&job->host))
			hg_host_throw(&job->host, status, &job->error);
		/* waiting for a turn is no reason to complain */
		if (job->admitted)
			(void) hg_device_complain(job->device_no, &job->error);
	}
	if (status == HG_CONNECTION_LOST)
		hg_device_discard_lost(job->device_no);
	return false;
}

/* Returns the timeout of the join, in ms. */
static double
hg_page_job_timeout_ms(const HgPageJob *job)
{
	const HgPageJobSpec *spec = &job->spec;
	const HgKeySet sides[2] = {{.rows = spec->expected_rows[HG_OUTER]},
							   {.rows = spec->expected_rows[HG_INNER]}};
	const double timeout_ms =
		hg_device_timeout_ms(HG_DEVICE_BIT(job->device_no), sides, spec->cpu_ms);

	return hg_backend == HG_BACKEND_CUDA ? hg_device_timeout_alone_ms(job->device_no, timeout_ms)
										 : timeout_ms;
}

/* Finds the device; false if none is ready. */
static bool
hg_page_job_find_device(HgPageJob *job)
{
	const HgPageJobSpec *spec = &job->spec;

	if (spec->participants_id == 0)
		return hg_device_choose(HG_ALL_DEVICES, false, &job->device_no, &job->error) ==
			   HG_DEVICE_READY;
	job->device_no = spec->device_no;
	return hg_device_state(job->device_no, hg_device_greeting_ms(), &job->error) == HG_DEVICE_READY;
}

/* Returns true if this process has the same device process as the other participants. */
static bool
hg_page_job_has_participants(const HgPageJob *job)
{
	const uint64 epoch = hg_device_epoch(job->device_no);
	uint64 first = 0;

	return epoch != 0 &&
		   (pg_atomic_compare_exchange_u64(job->spec.epoch, &first, epoch) || first == epoch);
}

/* Opens the job without waiting long for other jobs; false on failure. */
static bool
hg_page_job_open(HgPageJob *job)
{
	const HgPageJobSpec *spec = &job->spec;
	HgWireClient *client = NULL;
	HgJobSpec asked;
	void *room;
	uint64 count;

	if (hg_page_job_find_device(job))
		client = hg_device_client(job->device_no);
	if (client == NULL || (spec->participants_id != 0 && !hg_page_job_has_participants(job)))
		return false;
	hg_matcher_init_spec(&asked, spec->key_width, spec->reduction, true);
	asked.participants_id = spec->participants_id;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		asked.sides[side].kind = HG_SOURCE_PAGES;
		asked.sides[side].pages = &spec->pages[side];
		asked.sides[side].expected_rows = spec->expected_rows[side];
	}
	job->calls = *hg_wire_client_engine(client);
	hg_host_set_timeout(&job->host, HG_PAGE_JOB_TURN_MS);
	if (!hg_page_job_check(
			job, hg_wire_client_begin(client, &job->host.host, &asked, &job->job, &job->error)) ||
		!hg_page_job_check(
			job, hg_wire_client_page_room(job->job, HG_OUTER, &room, &count, &job->error)))
		return false;
	job->admitted = true;
	hg_host_set_timeout(&job->host, hg_page_job_timeout_ms(job));
	hg_device_timeout_begin_work(&job->host);
	return true;
}

HgPageJob *
hg_page_job_create(const HgPageJobSpec *spec)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph page job", ALLOCSET_SMALL_SIZES);
	HgPageJob *job = MemoryContextAllocZero(context, sizeof(HgPageJob));

	job->context = context;
	hg_cleanup_register(&job->cleanup, context, hg_page_job_release, job);
	hg_host_init(&job->host, context);
	job->host.progress = spec->progress;
	job->spec = *spec;
	if (hg_page_job_open(job))
		return job;
	hg_page_job_destroy(job);
	return NULL;
}

char *
hg_page_job_room(HgPageJob *job, HgSide side, uint64 *count)
{
	void *room;

	if (job->spec.failed != NULL && pg_atomic_read_u32(job->spec.failed) != 0)
	{
		hg_error_set(&job->error, HG_UNAVAILABLE, NULL, "another process has failed");
		hg_page_job_close(job);
		return NULL;
	}
	return hg_page_job_check(job,
							 hg_wire_client_page_room(job->job, side, &room, count, &job->error))
			   ? room
			   : NULL;
}

bool
hg_page_job_send(HgPageJob *job, HgSide side, uint64 count, uint64 first_page)
{
	return hg_page_job_check(
		job, hg_wire_client_send_pages(job->job, side, count, first_page, &job->error));
}

bool
hg_page_job_end_sending(HgPageJob *job)
{
	return hg_page_job_check(job, hg_wire_client_end_append(job->job, &job->error));
}

bool
hg_page_job_is_there(HgPageJob *job)
{
	if (hg_wire_client_is_admitted(job->job))
		return true;
	hg_error_set(&job->error, HG_CONNECTION_LOST, NULL,
				 "the device process was lost after pages were sent to it");
	return hg_page_job_check(job, HG_CONNECTION_LOST);
}

/* Builds the job and gets its answer. */
static HgStatus
hg_page_job_ask(HgPageJob *job, HgPageAnswer *answer)
{
	const HgReduction *reduction = job->spec.reduction;
	const HgEngine *calls = &job->calls;
	const HgMatchMode mode = job->spec.mode;
	HgStatus status;

	/* both requests are sent before the first is answered, except in a shared job */
	status =
		job->spec.participants_id != 0
			? HG_OK
			: calls->ahead->start(job->job, reduction != NULL ? HG_AHEAD_BUILD : HG_AHEAD_COUNT,
								  mode, NULL, &job->error);
	if (status == HG_OK)
		status = calls->join->build(job->job, &job->error);
	if (status != HG_OK)
		return status;
	if (reduction == NULL)
		return calls->join->count(job->job, mode, &answer->pairs, &job->error);
	status = hg_reduction_fetch(reduction, &job->calls, job->job, mode, CurrentMemoryContext,
								&answer->groups, &job->error);
	answer->pairs = answer->groups.pairs;
	if (status == HG_OK && answer->groups.too_many)
		status = hg_error_set(&job->error, HG_UNAVAILABLE, NULL, "there are too many groups");
	return status;
}

void
hg_page_job_report(const HgPageJob *job, HgMatcherReport *report)
{
	strlcpy(report->backend, "cuda", sizeof(report->backend));
	strlcpy(report->device, hg_device_name(job->device_no), sizeof(report->device));
}

bool
hg_page_job_answer(HgPageJob *job, const uint64 most_rows[2], HgPageAnswer *answer)
{
	HgJobStats *stats = &answer->report.job;

	memset(answer, 0, sizeof(*answer));
	if (!hg_page_job_check(job, hg_page_job_ask(job, answer)))
		return false;
	job->calls.join->stats(job->job, stats);
	if (answer->pairs >
		stats->rows[HG_OUTER] * (job->spec.mode == HG_MATCH_FIRST ? 1 : stats->rows[HG_INNER]))
		return hg_page_job_check(job, hg_device_distrust(job->device_no, &job->error));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		answer->rows[side] = stats->rows[side];
		answer->null_keys[side] = stats->null_keys[side];
		/* this process knows the pages, too */
		if (stats->rows[side] > most_rows[side] ||
			stats->null_keys[side] > most_rows[side] - stats->rows[side])
			return hg_page_job_check(job, hg_device_distrust(job->device_no, &job->error));
	}
	hg_page_job_close(job);
	stats->passes = 1;
	stats->matches = answer->pairs;
	hg_page_job_report(job, &answer->report);
	return true;
}

const char *
hg_page_job_failure(const HgPageJob *job)
{
	return job->error.message;
}

void
hg_page_job_destroy(HgPageJob *job)
{
	/* its cleanup closes the job */
	MemoryContextDelete(job->context);
}
