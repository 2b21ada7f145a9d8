/*-------------------------------------------------------------------------
 *
 * hg_server_queue.c
 *	  Who may open a job, and who has which part of staging.
 *
 * There are three queues, of jobs, of members of jobs that have been admitted, and of requests for
 * room, and whoever gives something back hands it to the first in the queue, then to the
 * second, until one does not fit: nobody overtakes.  Those of a group that has a job open are the
 * exception, for they must not wait: they take what is free, and are refused if it is not enough.
 * That befalls jobs in the middle of the queue too, when the first of their group is admitted.
 *
 * Members want staging alone, and come before jobs: what these wait for may be the memory
 * of the members' own job.  Whoever has a lease gives it back without waiting for anybody here, so
 * that they are served.
 *
 * One mutex guards all of it.  Whoever waits sleeps in poll(), on his socket and on
 * an eventfd which the thread that has ended his wait writes to.
 *
 * Beside it are hg_queue_staging.h, the parts of staging, hg_queue_memory.h, the memory of the
 * device, and hg_queue_idle.h, jobs that are evicted where others wait.  How much memory there is
 * to be reserved is measured for who comes, and from time to time for who is the first in the
 * queue.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_server_queue.h"

#include "hg_queue_idle.h"
#include "hg_queue_memory.h"
#include "hg_queue_staging.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a client that has sent something else is looked at while it waits, in ms. */
#define LOOK_MS 10

struct HgServerQueue
{
	const HgServerConfig *config;
	pthread_mutex_t lock; /* guards all that follows */

	HgQueueMemory memory; /* and the jobs that are open, or wait for it */
	uint32_t evicted;	  /* jobs that are neither open any more nor closed */
	HgQueueList members;  /* of teams, waiting for a lease */

	HgQueueStaging staging;
	HgQueueList requests; /* waiting for room */

	uint64_t started_ms;
	uint64_t idle_since_ms; /* while there is no job */
	HgDeviceStatus counted; /* connections and the numbers of jobs that have ended */
};

static uint64_t
now_ms(void)
{
	return (uint64_t) hg_clock_ms();
}

/* Take someone out of a list, whose wait is over. */
static void
end_wait(HgQueueList *list, HgQueueEntry *entry, HgQueueState state)
{
	hg_queue_list_remove(list, entry);
	entry->state = state;
	hg_queue_entry_wake(entry);
}

/* Admit a job, which is in no list, if it fits now. */
static bool
admit(HgServerQueue *queue, HgQueueEntry *job)
{
	if (!hg_queue_memory_fits(&queue->memory, job) ||
		!hg_queue_staging_take_lease(&queue->staging, job))
		return false;
	queue->memory.reserved += job->memory;
	job->used_ms = now_ms();
	return true;
}

/* A job of this group is open: those that wait must not wait any longer. */
static void
admit_or_refuse_group(HgServerQueue *queue, uint64_t group)
{
	HgQueueEntry *next;

	for (HgQueueEntry *job = queue->memory.waiting.first; job != NULL; job = next)
	{
		next = job->next;
		if (job->group != group)
			continue;
		if (admit(queue, job))
		{
			end_wait(&queue->memory.waiting, job, HG_QUEUE_GRANTED);
			hg_queue_list_append(&queue->memory.open, job);
		}
		else
			end_wait(&queue->memory.waiting, job, HG_QUEUE_REFUSED);
	}
}

/* Something is free again: whose turn is it? */
static void
admit_waiting(HgServerQueue *queue)
{
	HgQueueEntry *job;

	while ((job = queue->members.first) != NULL &&
		   hg_queue_staging_take_lease(&queue->staging, job))
	{
		end_wait(&queue->members, job, HG_QUEUE_GRANTED);
		hg_queue_list_append(&queue->memory.open, job);
	}
	/* they have staging at least */
	if (job != NULL)
		return;
	while ((job = queue->memory.waiting.first) != NULL)
	{
		if (!admit(queue, job))
		{
			/* other processes may have more of the device than when it came */
			if (job->memory <= hg_queue_memory_budget(&queue->memory))
				break;
			end_wait(&queue->memory.waiting, job, HG_QUEUE_REFUSED);
			continue;
		}
		end_wait(&queue->memory.waiting, job, HG_QUEUE_GRANTED);
		hg_queue_list_append(&queue->memory.open, job);
		if (job->group != 0)
			admit_or_refuse_group(queue, job->group);
	}
	hg_queue_idle_ask(&queue->memory);
}

static void
grant_rooms(HgServerQueue *queue)
{
	HgQueueEntry *request;

	while ((request = queue->requests.first) != NULL &&
		   hg_queue_staging_take_room(&queue->staging, request))
		end_wait(&queue->requests, request, HG_QUEUE_GRANTED);
}

/* Is there a job?  The client of one that was evicted is still to be told. */
static bool
has_jobs(const HgServerQueue *queue)
{
	return queue->memory.open.length > 0 || queue->memory.waiting.length > 0 || queue->evicted > 0;
}

/* Note since when there has been nothing to do, if there is nothing. */
static void
note_idle(HgServerQueue *queue)
{
	if (!has_jobs(queue))
		queue->idle_since_ms = now_ms();
}

/* How long a wait for something sleeps at most, in ms; -1 for as long as nothing happens. */
static int
longest_sleep(const HgServerQueue *queue, const HgQueueList *list, bool sees_socket)
{
	if (!sees_socket)
		return LOOK_MS;
	return list == &queue->memory.waiting ? HG_QUEUE_LOOK_IDLE_MS : -1;
}

/*
 * Wait in a list until someone ends the entry's wait, or the client gives up; with the lock
 * held, which is let go meanwhile.  Returns the state; HG_QUEUE_OUTSIDE where the client
 * gave up.
 */
static HgQueueState
wait_in_list(HgServerQueue *queue, HgQueueList *list, HgQueueEntry *entry,
			 const HgQueueWaiter *waiter)
{
	struct pollfd ends[2] = {{.fd = waiter->wake, .events = POLLIN},
							 {.fd = waiter->socket, .events = POLLIN}};
	uint64_t count;

	entry->wake = waiter->wake;
	entry->state = HG_QUEUE_WAITING;
	hg_queue_list_append(list, entry);
	if (entry == queue->memory.waiting.first)
		hg_queue_idle_ask(&queue->memory);
	while (entry->state == HG_QUEUE_WAITING)
	{
		const bool is_first = entry == queue->memory.waiting.first;
		bool gave_up;

		pthread_mutex_unlock(&queue->lock);
		ends[0].revents = ends[1].revents = 0; /* poll may fail, for a signal */
		poll(ends, 2, longest_sleep(queue, list, ends[1].fd >= 0));
		gave_up = (ends[1].fd < 0 || ends[1].revents != 0) && waiter->gave_up(waiter->arg);
		/* a message that is no reason to give up stays where it is, readable */
		if (ends[1].revents != 0)
			ends[1].fd = -1;
		if (is_first)
			queue->config->measure(queue->config->arg);
		pthread_mutex_lock(&queue->lock);

		if (gave_up && entry->state == HG_QUEUE_WAITING)
		{
			hg_queue_list_remove(list, entry);
			entry->state = HG_QUEUE_OUTSIDE;
			return HG_QUEUE_OUTSIDE;
		}
		if (entry->state != HG_QUEUE_WAITING)
			break;
		/* another of this connection's jobs is to be evicted, which has to wait, too */
		if (ends[0].revents != 0 && read(waiter->wake, &count, sizeof(count)) < 0)
			abort();
		if (entry == queue->memory.waiting.first)
			admit_waiting(queue);
	}
	/* it has been written to, before the state was seen */
	if (read(waiter->wake, &count, sizeof(count)) < 0)
		abort();
	return entry->state;
}

/* ------------------------------------------------------------------------
 * The queue
 * ------------------------------------------------------------------------ */

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
	queue->started_ms = queue->idle_since_ms = now_ms();
	return queue;
}

void
hg_server_queue_destroy(HgServerQueue *queue)
{
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

/* The answer to a job that does not fit and may not wait, or that can never fit. */
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

/* The device memory that a job may have, if it has all of it to itself. */
static uint64_t
limit_of(const HgServerQueue *queue, const HgJobSpec *spec)
{
	const uint64_t budget = hg_queue_memory_budget(&queue->memory);

	return spec->memory_limit > 0 && spec->memory_limit < budget ? spec->memory_limit : budget;
}

HgStatus
hg_server_queue_enter(HgServerQueue *queue, HgQueueEntry *job, const HgJobSpec *spec,
					  const void *connection, const HgQueueWaiter *waiter, HgError *error)
{
	uint64_t limit;

	job->wake = waiter->wake;
	job->connection = connection;
	job->group = spec->group;
	job->in_team = spec->team != 0;
	job->ahead = spec->ahead != 0;
	job->wanted = hg_queue_staging_lease_bytes(spec);
	job->memory = queue->config->job_bytes(queue->config->arg, spec);
	queue->config->measure(queue->config->arg);
	limit = limit_of(queue, spec);
	if (job->memory > limit)
		return refuse(job, limit, error);

	pthread_mutex_lock(&queue->lock);
	job->state = HG_QUEUE_REFUSED;
	if ((queue->memory.waiting.length == 0 ||
		 (hg_queue_memory_group_is_open(&queue->memory, job) && spec->ahead == 0)) &&
		admit(queue, job))
	{
		job->state = HG_QUEUE_GRANTED;
		hg_queue_list_append(&queue->memory.open, job);
		if (job->group != 0)
			admit_or_refuse_group(queue, job->group);
	}
	else if (!hg_queue_memory_group_is_open(&queue->memory, job))
		wait_in_list(queue, &queue->memory.waiting, job, waiter);
	if (job->state == HG_QUEUE_OUTSIDE)
	{
		queue->counted.jobs_cancelled++;
		/* the next in the queue may be one that this one kept waiting */
		admit_waiting(queue);
		note_idle(queue);
	}
	pthread_mutex_unlock(&queue->lock);

	switch (job->state)
	{
		case HG_QUEUE_GRANTED:
			return HG_OK;
		case HG_QUEUE_OUTSIDE:
			return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
		case HG_QUEUE_WAITING:
		case HG_QUEUE_REFUSED:
			break;
	}
	return refuse(job, limit_of(queue, spec), error);
}

HgStatus
hg_server_queue_join(HgServerQueue *queue, HgQueueEntry *member, const HgJobSpec *spec,
					 const void *connection, const HgQueueWaiter *waiter, HgError *error)
{
	member->connection = connection;
	member->group = spec->group;
	member->in_team = true;
	member->wanted = hg_queue_staging_lease_bytes(spec);

	pthread_mutex_lock(&queue->lock);
	member->state = HG_QUEUE_GRANTED;
	if (queue->members.length == 0 && hg_queue_staging_take_lease(&queue->staging, member))
		hg_queue_list_append(&queue->memory.open, member);
	else if (wait_in_list(queue, &queue->members, member, waiter) == HG_QUEUE_OUTSIDE)
	{
		queue->counted.jobs_cancelled++;
		admit_waiting(queue);
	}
	pthread_mutex_unlock(&queue->lock);

	if (member->state == HG_QUEUE_OUTSIDE)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

HgStatus
hg_server_queue_grow(HgServerQueue *queue, HgQueueEntry *job, uint64_t bytes, HgError *error)
{
	bool fits;

	pthread_mutex_lock(&queue->lock);
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
	job->used_ms = now_ms();
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

/* An open job is to leave the queue. */
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
	admit_waiting(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_end_lease(HgServerQueue *queue, HgQueueEntry *job)
{
	pthread_mutex_lock(&queue->lock);
	hg_queue_staging_give_lease(&queue->staging, job);
	/* what is built has taken the place of the one that was at work */
	job->ahead = false;
	admit_waiting(queue);
	pthread_mutex_unlock(&queue->lock);
}

void
hg_server_queue_leave(HgServerQueue *queue, HgQueueEntry *job, HgQueueOutcome outcome)
{
	pthread_mutex_lock(&queue->lock);
	hg_queue_staging_give_lease(&queue->staging, job);
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
	admit_waiting(queue);
	note_idle(queue);
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
		state = wait_in_list(queue, &queue->requests, room, waiter);
	if (state == HG_QUEUE_OUTSIDE)
		grant_rooms(queue);
	pthread_mutex_unlock(&queue->lock);

	if (state == HG_QUEUE_OUTSIDE)
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	return HG_OK;
}

void
hg_server_queue_give_room(HgServerQueue *queue, HgQueueEntry *room)
{
	if (room->part.bytes == 0)
		return;
	pthread_mutex_lock(&queue->lock);
	hg_queue_staging_give_room(&queue->staging, room);
	grant_rooms(queue);
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
		idle = (int64_t) (now_ms() - queue->idle_since_ms);
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
	status->uptime_ms = now_ms() - queue->started_ms;
	status->jobs_open = queue->memory.open.length;
	status->jobs_queued = queue->memory.waiting.length + queue->members.length;
	status->staging_bytes = queue->config->staging_bytes;
	status->staging_leased = hg_queue_staging_taken(&queue->staging);
	status->memory_budget = use.budget;
	status->memory_reserved = queue->memory.reserved;
	status->memory_held = use.held;
	status->memory_peak = use.peak;
	pthread_mutex_unlock(&queue->lock);
}
