/*-------------------------------------------------------------------------
 *
 * hg_server_queue.c
 *	  The queue of a device process: admission of jobs, and parts of staging.
 *
 * There are three queues: of jobs, of participants of admitted jobs, and of requests for room. A
 * thread that gives something back grants it to the first in the queue, then to the second, until
 * one does not fit: there is no overtaking. Jobs of a group that has a job open are the exception,
 * because they must not wait: they take what is free, and are refused if that is not enough. This
 * also happens to jobs in the middle of the queue when the first job of their group is admitted.
 *
 * Participants need only staging, and come before jobs, because jobs may be waiting for the memory
 * of the participants' own job. A participant with a lease gives it back without waiting for
 * anything here, so that all participants are served.
 *
 * One mutex guards everything. A waiting thread sleeps in poll(), on its socket and on an eventfd,
 * to which the thread that ends the wait writes.
 *
 * Below it are hg_queue_internal.h (parts of staging), hg_queue_internal.h (replicas),
 * hg_queue_internal.h (memory), hg_queue_internal.h (evictions of idle jobs), and
 * hg_queue_internal.h (admission and waits).  The budget is measured for each new job, and from
 * time to time for the first one in the queue.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_server_queue.h"

#include "hg_queue_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns true if there is a job; an evicted one counts until its client has closed it. */
static bool
has_jobs(const HgServerQueue *queue)
{
	return queue->memory.open.length > 0 || queue->memory.waiting.length > 0 || queue->evicted > 0;
}

/* Notes the start of a time without jobs, if there are none. */
static void
note_idle(HgServerQueue *queue)
{
	if (!has_jobs(queue))
		queue->idle_since_ms = hg_queue_now_ms();
}

HgServerQueue *
hg_server_queue_create(const HgServerConfig *config)
{
	HgServerQueue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	if (pthread_mutex_init(&queue->lock, NULL) != 0)
	{
		free(queue);
		return NULL;
	}
	queue->config = queue->memory.config = config;
	hg_queue_staging_init(&queue->staging, config->staging_bytes);
	queue->started_ms = queue->idle_since_ms = hg_queue_now_ms();
	return queue;
}

void
hg_server_queue_destroy(HgServerQueue *queue)
{
	HgQueueItem *item;

	pthread_mutex_lock(&queue->lock);
	while ((item = hg_queue_replica_evict(&queue->memory.replica, NULL, NULL)) != NULL)
		hg_queue_turn_release(queue, item);
	pthread_mutex_unlock(&queue->lock);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

/* Returns the answer to a job that does not fit and may not wait, or that can never fit. */
static HgStatus
refuse(const HgQueueEntry *job, uint64_t limit, HgError *error)
{
	char detail[120];

	if (job->memory <= limit)
		return hg_error_set(
			error, HG_DEVICE_OUT_OF_MEMORY,
			"Another join of the same query is on the device, so that it can't wait.",
			"the device has no room for another join");
	snprintf(detail, sizeof(detail), "It needs %llu bytes at least, and may have %llu.",
			 (unsigned long long) job->memory, (unsigned long long) limit);
	return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
						"the join is too large for the device memory that it may have");
}

/* Returns the answer to a job that names a missing replica. */
static HgStatus
replica_missing(HgError *error)
{
	return hg_error_set(error, HG_NO_REPLICA, NULL,
						"the device does not have the HashGraph, or a column of it, any more");
}

/* Returns the device memory that a job could have if it had all for itself. */
static uint64_t
limit_of(const HgServerQueue *queue, const HgQueueEntry *job, const HgJobSpec *spec)
{
	const uint64_t budget = hg_queue_memory_limit(&queue->memory, job);

	return spec->memory_limit > 0 && spec->memory_limit < budget ? spec->memory_limit : budget;
}

/* Returns true if a job may be admitted before all waiting jobs. */
static bool
goes_first(const HgServerQueue *queue, const HgQueueEntry *job)
{
	return queue->memory.waiting.length == 0 ||
		   (hg_queue_memory_group_is_open(&queue->memory, job) && !job->ahead);
}

/* Admits a new job if it need not wait; returns as hg_queue_turn_try. */
static HgQueueState
admit_newcomer(HgServerQueue *queue, HgQueueEntry *job)
{
	HgQueueState state;

	if (!hg_queue_replica_has(&queue->memory.replica, job))
		return HG_QUEUE_NO_REPLICA;
	if (!goes_first(queue, job))
		return HG_QUEUE_WAITING;
	state = hg_queue_turn_try(queue, job);
	if (state == HG_QUEUE_WAITING && hg_queue_turn_make_room(queue, job) && goes_first(queue, job))
		state = hg_queue_turn_try(queue, job);
	return state;
}

/* Checks that a job of this size is possible. */
static HgStatus
check_size(const HgServerQueue *queue, const HgQueueEntry *job, const HgJobSpec *spec,
		   HgError *error)
{
	const uint64_t limit = limit_of(queue, job, spec);

	if (job->memory > limit)
		return refuse(job, limit, error);
	if (!hg_replica_is_made(spec))
		return HG_OK;
	return hg_queue_memory_check_replica(&queue->memory, hg_replica_made_name(spec),
										 hg_replica_least_bytes(spec), error);
}

/* Returns the answer to a job that waits no more. */
static HgStatus
answer_to(const HgServerQueue *queue, const HgQueueEntry *job, const HgJobSpec *spec,
		  HgError *error)
{
	switch (job->state)
	{
		case HG_QUEUE_GRANTED:
			return HG_OK;
		case HG_QUEUE_OUTSIDE:
			return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
		case HG_QUEUE_NO_REPLICA:
			return replica_missing(error);
		case HG_QUEUE_WAITING:
		case HG_QUEUE_REFUSED:
			break;
	}
	return refuse(job, limit_of(queue, job, spec), error);
}

HgStatus
hg_server_queue_enter(HgServerQueue *queue, HgQueueEntry *job, const HgJobSpec *spec,
					  const void *connection, const HgQueueWaiter *waiter, HgError *error)
{
	HgStatus status;

	job->wake = waiter->wake;
	job->connection = connection;
	job->group = spec->group;
	job->is_shared = spec->participants_id != 0;
	job->is_shard = spec->product.kind == HG_PRODUCT_SHARD;
	job->ahead = spec->ahead != 0;
	job->wanted = hg_queue_staging_lease_bytes(&queue->staging, spec);
	job->least = hg_queue_staging_least_lease_bytes(&queue->staging, spec);
	job->memory = queue->config->job_bytes(queue->config->arg, spec);
	queue->config->measure(queue->config->arg);

	pthread_mutex_lock(&queue->lock);
	status = check_size(queue, job, spec, error);
	if (status != HG_OK)
	{
		pthread_mutex_unlock(&queue->lock);
		return status;
	}
	job->state = admit_newcomer(queue, job);
	if (job->state == HG_QUEUE_WAITING && hg_queue_memory_group_is_open(&queue->memory, job))
		job->state = HG_QUEUE_REFUSED;
	else if (job->state == HG_QUEUE_WAITING)
		hg_queue_turn_wait(queue, &queue->memory.waiting, job, waiter);
	if (job->state == HG_QUEUE_OUTSIDE)
	{
		queue->counted.jobs_cancelled++;
		/* the next in the queue may have waited only for this one */
		hg_queue_turn_pass_on(queue);
		note_idle(queue);
	}
	status = answer_to(queue, job, spec, error);
	pthread_mutex_unlock(&queue->lock);
	return status;
}

HgStatus
hg_server_queue_join(HgServerQueue *queue, HgQueueEntry *participant, const HgJobSpec *spec,
					 const void *connection, const HgQueueWaiter *waiter, HgError *error)
{
	participant->connection = connection;
	participant->group = spec->group;
	participant->is_shared = true;
	participant->wanted = hg_queue_staging_lease_bytes(&queue->staging, spec);
	participant->least = hg_queue_staging_least_lease_bytes(&queue->staging, spec);

	pthread_mutex_lock(&queue->lock);
	participant->state = HG_QUEUE_GRANTED;
	if (queue->participants.length == 0 &&
		hg_queue_staging_take_lease(&queue->staging, participant))
		hg_queue_list_append(&queue->memory.open, participant);
	else if (hg_queue_turn_wait(queue, &queue->participants, participant, waiter) ==
			 HG_QUEUE_OUTSIDE)
	{
		queue->counted.jobs_cancelled++;
		hg_queue_turn_pass_on(queue);
	}
	pthread_mutex_unlock(&queue->lock);

	if (participant->state == HG_QUEUE_OUTSIDE)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

HgStatus
hg_server_queue_grow(HgServerQueue *queue, HgQueueEntry *job, uint64_t bytes, HgError *error)
{
	bool fits;

	pthread_mutex_lock(&queue->lock);
	hg_queue_turn_release(queue, hg_queue_memory_make_more_room(&queue->memory, job, bytes));
	fits = bytes <= hg_queue_memory_unreserved(&queue->memory, 0);
	if (fits)
	{
		job->memory += bytes;
		queue->memory.reserved += bytes;
	}
	pthread_mutex_unlock(&queue->lock);

	if (!fits)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, NULL,
							"the join has more rows than expected, and the device has no room");
	return HG_OK;
}

void
hg_server_queue_begin_work(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	job->busy = true;
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_end_work(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	job->busy = false;
	job->used_ms = hg_queue_now_ms();
	pthread_mutex_unlock(&queue->lock);
}

bool
hg_server_queue_must_evict(HgServerQueue *queue, HgQueueEntry *job)
{
	bool must;

	pthread_mutex_lock(&queue->lock);
	must = hg_queue_idle_must_evict(&queue->memory, job);
	job->asked = false;
	pthread_mutex_unlock(&queue->lock);
	return must;
}

/* Takes an open job out of the queue. */
static void
take_out(HgServerQueue *queue, HgQueueEntry *job)
{
	hg_queue_list_remove(&queue->memory.open, job);
	job->state = HG_QUEUE_OUTSIDE;
}

void
hg_server_queue_evict(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	queue->counted.jobs_evicted++;
	queue->memory.reserved -= job->memory;
	job->memory = 0;
	if (job->part.bytes == 0)
	{
		take_out(queue, job);
		queue->evicted++;
	}
	hg_queue_turn_release(queue, hg_queue_replica_unpin(&queue->memory.replica, job));
	hg_queue_turn_pass_on(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_end_lease(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	hg_queue_staging_release_lease(&queue->staging, job);
	/* a built job takes the place of the one that was at work */
	job->ahead = false;
	hg_queue_turn_pass_on(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_leave(HgServerQueue *queue, HgQueueEntry *job, HgQueueOutcome outcome)
{
	pthread_mutex_lock(&queue->lock);
	/* while the job is still open, so that the process is not idle */
	hg_queue_turn_release(queue, hg_queue_replica_unpin(&queue->memory.replica, job));
	hg_queue_staging_release_lease(&queue->staging, job);
	queue->memory.reserved -= job->memory;
	if (job->state == HG_QUEUE_GRANTED)
		take_out(queue, job);
	else if (outcome == HG_QUEUE_EVICTED)
		queue->evicted--;
	switch (outcome)
	{
		case HG_QUEUE_UNOPENED:
		case HG_QUEUE_EVICTED:
			break;
		case HG_QUEUE_DONE:
			queue->counted.jobs_done++;
			break;
		case HG_QUEUE_FAILED:
			queue->counted.jobs_failed++;
			break;
		case HG_QUEUE_CANCELLED:
			queue->counted.jobs_cancelled++;
			break;
	}
	hg_queue_turn_pass_on(queue);
	note_idle(queue);
	pthread_mutex_unlock(&queue->lock);
}

HgStatus
hg_server_queue_add_replica(HgServerQueue *queue, HgQueueEntry *job, const HgJobSpec *spec,
							HgReplica *made, uint64_t bytes, HgError *error)
{
	const HgReplicaName *name = hg_replica_made_name(spec);
	HgQueueItem *replica = calloc(1, sizeof(*replica));
	HgQueueItem *gone = NULL;
	HgStatus status = HG_OK;
	bool known;

	if (replica == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "the device process is out of memory");
	*replica = (HgQueueItem){.name = *name, .replica = made, .bytes = bytes};
	if (spec->product.kind == HG_PRODUCT_COLUMN)
		replica->shape.column = spec->product.column->shape;
	else
		replica->shape.graph = spec->product.graph->shape;
	pthread_mutex_lock(&queue->lock);
	known = hg_queue_replica_knows(&queue->memory.replica, name);
	if (!known)
		status = hg_queue_memory_make_replica_room(&queue->memory, name, bytes, &gone, error);
	if (!known && status == HG_OK)
	{
		const uint64_t moved = bytes < job->memory ? bytes : job->memory;

		hg_queue_replica_add(&queue->memory.replica, replica);
		queue->memory.reserved -= moved;
		job->memory -= moved;
		replica = NULL;
	}
	hg_queue_turn_release(queue, gone);
	hg_queue_turn_pass_on(queue);
	pthread_mutex_unlock(&queue->lock);
	if (known)
		queue->config->engine->store->release(queue->config->engine, made);
	free(replica);
	return status;
}

void
hg_server_queue_drop(HgServerQueue *queue, const HgReplicaName *name)
{
	pthread_mutex_lock(&queue->lock);
	hg_queue_turn_release(queue, hg_queue_replica_drop(&queue->memory.replica, name));
	hg_queue_turn_pass_on(queue);
	pthread_mutex_unlock(&queue->lock);
}

HgStatus
hg_server_queue_take_room(HgServerQueue *queue, HgQueueEntry *room, uint64_t wanted,
						  const HgQueueWaiter *waiter, HgError *error)
{
	HgQueueState state = HG_QUEUE_GRANTED;

	room->wanted = hg_queue_staging_room_bytes(wanted);
	pthread_mutex_lock(&queue->lock);
	if (queue->requests.length > 0 || !hg_queue_staging_take_room(&queue->staging, room))
		state = hg_queue_turn_wait(queue, &queue->requests, room, waiter);
	if (state == HG_QUEUE_OUTSIDE)
		hg_queue_turn_grant_rooms(queue);
	pthread_mutex_unlock(&queue->lock);

	if (state == HG_QUEUE_OUTSIDE)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

void
hg_server_queue_release_room(HgServerQueue *queue, HgQueueEntry *room)
{
	if (room->part.bytes == 0)
		return;
	pthread_mutex_lock(&queue->lock);
	hg_queue_staging_release_room(&queue->staging, room);
	hg_queue_turn_grant_rooms(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_count_connections(HgServerQueue *queue, int change)
{
	pthread_mutex_lock(&queue->lock);
	queue->counted.connections += (uint32_t) change;
	pthread_mutex_unlock(&queue->lock);
}

int64_t
hg_server_queue_idle_ms(HgServerQueue *queue)
{
	int64_t idle = -1;

	pthread_mutex_lock(&queue->lock);
	if (!has_jobs(queue))
		idle = (int64_t) (hg_queue_now_ms() - queue->idle_since_ms);
	pthread_mutex_unlock(&queue->lock);
	return idle;
}

void
hg_server_queue_status(HgServerQueue *queue, HgDeviceStatus *status)
{
	HgMemoryUse use;

	queue->config->memory_use(queue->config->arg, &use);
	pthread_mutex_lock(&queue->lock);
	*status = queue->counted;
	status->uptime_ms = hg_queue_now_ms() - queue->started_ms;
	status->jobs_open = queue->memory.open.length;
	status->jobs_queued = queue->memory.waiting.length + queue->participants.length;
	status->staging_bytes = queue->config->staging_bytes;
	status->staging_leased = hg_queue_staging_taken(&queue->staging);
	status->memory_budget = use.budget;
	status->memory_reserved = queue->memory.reserved;
	status->memory_held = use.held;
	status->memory_peak = use.peak;
	status->replica_graphs = queue->memory.replica.count;
	status->replica_bytes = queue->memory.replica.bytes;
	status->replica_limit = hg_queue_memory_replica_limit(&queue->memory);
	status->replicas_evicted = queue->memory.replica.evicted;
	pthread_mutex_unlock(&queue->lock);
}
