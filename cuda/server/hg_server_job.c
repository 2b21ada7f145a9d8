/*-------------------------------------------------------------------------
 *
 * hg_server_job.c
 *	  The jobs of a connection of the device process.
 *
 * While an engine works on a request, it polls cancelled(), which looks for the end of the
 * connection, and for a note about the current job. A note may stand behind requests that were
 * sent ahead: these are received, and wait for their turn in the session. The same check ends a
 * wait in the queue.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/hg_shape.h"
#include "hg_device_process.h"
#include "hg_server_internal.h"

#include <stdlib.h>
#include <string.h>

static bool
host_cancelled(void *arg)
{
	HgServerJob *job = arg;

	return job->session->stops(job->session, job->id);
}

HgServerJob *
hg_server_job_find(HgServerSession *session, uint32_t id)
{
	HgServerJob *job = session->jobs;

	while (job != NULL && job->id != id)
		job = job->next;
	return job;
}

void
hg_server_job_drop_export(HgServerJob *job)
{
	for (int part = 0; part < 3; part++)
	{
		free(job->exported[part]);
		job->exported[part] = NULL;
	}
}

/* Returns how the job that is being closed ended. */
static HgQueueOutcome
outcome_of(const HgServerJob *job)
{
	const HgServerSession *session = job->session;

	if (job->job == NULL)
		return HG_QUEUE_EVICTED;
	if (job->failure.status == HG_CANCELLED ||
		(job->failure.status == HG_OK && session->state != HG_SESSION_OPEN))
		return HG_QUEUE_CANCELLED;
	return job->failure.status == HG_OK ? HG_QUEUE_DONE : HG_QUEUE_FAILED;
}

void
hg_server_job_close(HgServerJob *job)
{
	HgServerSession *session = job->session;
	HgServerJob **link = &session->jobs;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;

	if (job->job != NULL)
		job->engine->join->close(job->job);
	hg_server_queue_leave(session->queue, &job->entry, outcome_of(job));
	hg_server_job_drop_export(job);
	free(job);
}

void
hg_server_job_stats(const HgServerJob *job, HgJobStats *stats)
{
	if (job->job != NULL)
		job->engine->join->stats(job->job, stats);
	else
		*stats = job->last_stats;
}

void
hg_server_job_yield(HgServerJob *job)
{
	HgServerQueue *queue = job->session->queue;

	if (job->job == NULL || !hg_server_queue_must_evict(queue, &job->entry))
		return;
	job->engine->join->stats(job->job, &job->last_stats);
	job->engine->join->close(job->job);
	job->job = NULL;
	hg_server_job_drop_export(job);
	hg_error_set(&job->failure, HG_EVICTED, "It was idle while others waited for the memory.",
				 "the device gave the join's memory to another join");
	hg_server_queue_evict(queue, &job->entry);
}

HgQueueWaiter
hg_server_job_waiter(HgServerJob *job)
{
	HgQueueWaiter waiter = {.wake = job->session->wake,
							.socket = job->session->socket,
							.gave_up = host_cancelled,
							.arg = job};

	return waiter;
}

/* Waits for the job's admission to the device, and opens it with the engine. */
static HgStatus
open_alone(HgServerJob *job, const HgJobSpec *spec, HgError *error)
{
	HgServerSession *session = job->session;
	const HgQueueWaiter waiter = hg_server_job_waiter(job);
	HgStatus status =
		hg_server_queue_enter(session->queue, &job->entry, spec, session, &waiter, error);

	job->engine = session->config->engine;
	if (status != HG_OK)
		return status;
	status = job->engine->open(job->engine, &job->host, spec, &job->job, error);
	if (status != HG_OK)
		hg_server_queue_leave(session->queue, &job->entry, HG_QUEUE_UNOPENED);
	return status;
}

/*
 * The same for a participant of a shared job: the first is admitted with the rows of all, and the
 * others need only staging.
 */
static HgStatus
open_shared(HgServerJob *job, const HgJobSpec *spec, HgError *error)
{
	HgServerSession *session = job->session;
	const HgQueueWaiter waiter = hg_server_job_waiter(job);
	bool first;
	HgStatus status = hg_server_participants_join(session->config->engine, &job->host, spec,
												  &job->job, &first, error);

	job->engine = hg_server_participants_engine();
	if (status != HG_OK)
		return status;
	if (first)
		status = hg_server_queue_enter(session->queue, &job->entry, spec, session, &waiter, error);
	else
		status = hg_server_queue_join(session->queue, &job->entry, spec, session, &waiter, error);
	if (status == HG_OK && first)
	{
		status = hg_server_participants_open(job->job, spec, error);
		if (status != HG_OK)
			hg_server_queue_leave(session->queue, &job->entry, HG_QUEUE_UNOPENED);
	}
	if (status != HG_OK)
	{
		hg_server_participants_give_up(job->job, status, error);
		job->engine->join->close(job->job);
	}
	return status;
}

/* Checks that a job may have this spec. */
static HgStatus
check_spec(const HgJobSpec *spec, HgError *error)
{
	HG_TRY(hg_spec_check(spec, error));
	if (spec->sides[HG_OUTER].expected_rows > HG_MAX_ROWS ||
		spec->sides[HG_INNER].expected_rows > HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	return HG_OK;
}

/* Copies a side that is a graph replica. Pointers of the client's are replaced. */
static void
take_replica(HgServerJob *job, const HgWireOpening *opening, HgSide side)
{
	HgReplicaSource *replica = &job->spec.sides[side].replica;
	HgRowFilters *filters = &job->filters[side];

	job->replica[side] = opening->request.replica[side];
	job->replica[side].graph = NULL;
	memcpy(job->replica_columns[side], opening->request.replica_columns[side],
		   sizeof(job->replica_columns[side]));
	for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
		job->replica_columns[side][column].column = NULL;
	memcpy(job->lookups[side], opening->lookups[side], sizeof(job->lookups[side]));
	for (uint32_t i = 0; i < HG_MAX_LOOKUPS; i++)
		job->lookups[side][i].own.graph = job->lookups[side][i].found.graph = NULL;
	memcpy(job->programs[side], opening->programs[side], sizeof(job->programs[side]));
	*filters = opening->filters[side];
	for (uint32_t column = 0; column < HG_MAX_FILTER_COLUMNS; column++)
		filters->columns[column].column = NULL;
	*replica = (HgReplicaSource){.use = &job->replica[side],
								 .columns = job->replica_columns[side],
								 .nlookups = replica->nlookups,
								 .lookups = job->lookups[side],
								 .nprograms = replica->nprograms,
								 .programs = job->programs[side],
								 .filters = filters->nfilters > 0 ? filters : NULL};
}

/* Copies a job's spec out of a request. What its kinds do not need is not read. */
static void
take_spec(HgServerJob *job, const HgWireOpening *opening)
{
	const HgWireRequest *request = &opening->request;
	HgJobProduct *product = &job->spec.product;

	job->spec = request->spec;
	job->trial = request->trial;
	job->new_replica = request->new_replica;
	job->new_column = request->new_column;
	if (product->kind == HG_PRODUCT_TABLE)
		product->trial = &job->trial;
	else if (product->kind == HG_PRODUCT_GRAPH)
		product->graph = &job->new_replica;
	else if (product->kind == HG_PRODUCT_COLUMN)
		product->column = &job->new_column;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (job->spec.sides[side].kind == HG_SOURCE_REPLICA)
			take_replica(job, opening, (HgSide) side);
		else
		{
			job->pages[side] = opening->pages[side];
			job->spec.sides[side].pages = &job->pages[side];
		}
}

/* Names the replicas of a valid spec for the queue. */
static void
name_replicas(HgServerJob *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgReplicaSource *replica = hg_side_replica(&job->spec, (HgSide) side);
		HgReplicaUse *use = &job->replica[side];

		if (job->spec.sides[side].kind != HG_SOURCE_REPLICA)
			continue;
		hg_queue_entry_name(&job->entry, &use->name, &use->shape, &use->graph);
		for (uint32_t i = 0; i < job->spec.sides[side].ncolumns; i++)
		{
			HgReplicaColumnUse *column = &job->replica_columns[side][i];

			if (column->program == 0)
				hg_queue_entry_name(&job->entry, &column->name, &column->shape, &column->column);
		}
		for (uint32_t i = 0; i < replica->nlookups; i++)
		{
			HgReplicaUse *own = &job->lookups[side][i].own;
			HgReplicaUse *found = &job->lookups[side][i].found;

			hg_queue_entry_name(&job->entry, &own->name, &own->shape, &own->graph);
			hg_queue_entry_name(&job->entry, &found->name, &found->shape, &found->graph);
		}
		for (uint32_t i = 0; replica->filters != NULL && i < job->filters[side].ncolumns; i++)
		{
			HgReplicaColumnUse *column = &job->filters[side].columns[i];

			hg_queue_entry_name(&job->entry, &column->name, &column->shape, &column->column);
		}
	}
}

HgStatus
hg_server_job_open(HgServerSession *session, const HgWireOpening *opening, HgWireReply *reply)
{
	HgError *error = &reply->error;
	HgServerJob *job;
	HgStatus status;

	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
	job->session = session;
	job->id = opening->request.header.job;
	take_spec(job, opening);
	job->host.alloc = hg_process_alloc;
	job->host.free = hg_process_free;
	job->host.cancelled = host_cancelled;
	job->host.arg = job;

	/* before the queue uses it */
	status = check_spec(&job->spec, error);
	if (status == HG_OK && job->spec.product.kind == HG_PRODUCT_SHARD &&
		session->config->engine->exchange == NULL)
		status = hg_error_set(error, HG_INVALID, NULL, "this engine exchanges no rows");
	if (status == HG_OK && (session->config->engine->can & HG_CAN_FILTER) == 0 &&
		(hg_side_replica(&job->spec, HG_OUTER)->filters != NULL ||
		 hg_side_replica(&job->spec, HG_INNER)->filters != NULL))
		status = hg_error_set(error, HG_INVALID, NULL, "this engine has no filters");
	if (status == HG_OK)
		name_replicas(job);
	if (status == HG_OK)
		status = job->spec.participants_id == 0 ? open_alone(job, &job->spec, error)
												: open_shared(job, &job->spec, error);
	if (status == HG_NO_REPLICA)
		reply->missing = job->entry.missing;
	if (status != HG_OK)
	{
		free(job);
		return status;
	}
	reply->lease_offset = job->entry.part.offset;
	reply->lease_bytes = job->entry.part.bytes;
	job->next = session->jobs;
	session->jobs = job;
	return HG_OK;
}

void
hg_server_job_cancel(HgServerJob *job)
{
	if (job->failure.status == HG_OK)
		hg_error_set(&job->failure, HG_CANCELLED, NULL, "the join was cancelled");
}
