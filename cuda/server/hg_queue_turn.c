/*-------------------------------------------------------------------------
 *
 * hg_queue_turn.c
 *	  Admits jobs to the device in turn, and lets the others wait.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_internal.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* How often a waiting client that has sent another message is checked, in ms. */
#define LOOK_MS 10

/* Ends the wait of an entry in a list. */
static void
end_wait(HgQueueList *list, HgQueueEntry *entry, HgQueueState state)
{
	hg_queue_list_remove(list, entry);
	entry->state = state;
	hg_queue_entry_wake(entry);
}

void
hg_queue_turn_release(HgServerQueue *queue, HgQueueItem *gone)
{
	HgEngine *engine = queue->config->engine;

	if (gone == NULL)
		return;
	pthread_mutex_unlock(&queue->lock);
	for (HgQueueItem *item = gone; item != NULL; item = item->next)
		engine->store->release(engine, item->replica);
	pthread_mutex_lock(&queue->lock);
	while (gone != NULL)
	{
		HgQueueItem *next = gone->next;

		hg_queue_replica_count_out(&queue->memory.replica, gone);
		free(gone);
		gone = next;
	}
}

/* Takes what a job in no list needs, if it fits; returns its new state. */
static HgQueueState
admit(HgServerQueue *queue, HgQueueEntry *job)
{
	HgQueueMemory *memory = &queue->memory;

	if (!hg_queue_replica_has(&memory->replica, job))
		return HG_QUEUE_NO_REPLICA;
	/* other processes may have taken more of the device since it came */
	if (job->memory > hg_queue_memory_limit(memory, job))
		return HG_QUEUE_REFUSED;
	if (!hg_queue_memory_fits(memory, job) || !hg_queue_staging_take_lease(&queue->staging, job))
		return HG_QUEUE_WAITING;
	hg_queue_replica_pin(&memory->replica, job);
	memory->reserved += job->memory;
	job->used_ms = hg_queue_now_ms();
	return HG_QUEUE_GRANTED;
}

/* Returns true if a job does not fit, but would after the eviction of replicas. */
static bool
needs_items(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	return !hg_queue_memory_fits(memory, job) && hg_queue_memory_can_fit(memory, job);
}

/* Admits a waiting job at once, or refuses it. */
static void
admit_or_refuse(HgServerQueue *queue, HgQueueEntry *job)
{
	const HgQueueState state = admit(queue, job);

	end_wait(&queue->memory.waiting, job, state == HG_QUEUE_WAITING ? HG_QUEUE_REFUSED : state);
	if (state == HG_QUEUE_GRANTED)
		hg_queue_list_append(&queue->memory.open, job);
}

/* After a job of this group was admitted: its waiting jobs are admitted at once or refused. */
static void
admit_or_refuse_group(HgServerQueue *queue, uint64_t group)
{
	HgQueueEntry *next;

	for (HgQueueEntry *job = queue->memory.waiting.first; job != NULL; job = next)
	{
		next = job->next;
		if (job->group != group)
			continue;
		if (needs_items(&queue->memory, job))
		{
			/* its own thread evicts and releases replicas */
			job->hurried = true;
			hg_queue_entry_wake(job);
		}
		else
			admit_or_refuse(queue, job);
	}
}

/* Adds a job in no list, which was admitted, to the open ones. */
static void
add_open(HgServerQueue *queue, HgQueueEntry *job)
{
	hg_queue_list_append(&queue->memory.open, job);
	if (job->group != 0)
		admit_or_refuse_group(queue, job->group);
}

HgQueueState
hg_queue_turn_try(HgServerQueue *queue, HgQueueEntry *job)
{
	const HgQueueState state = admit(queue, job);

	if (state == HG_QUEUE_GRANTED)
		add_open(queue, job);
	return state;
}

/* Grants what is free to those that wait, in their order. */
static void
admit_waiting(HgServerQueue *queue)
{
	HgQueueEntry *job;

	while ((job = queue->participants.first) != NULL &&
		   hg_queue_staging_take_lease(&queue->staging, job))
	{
		end_wait(&queue->participants, job, HG_QUEUE_GRANTED);
		hg_queue_list_append(&queue->memory.open, job);
	}
	/* participants may still wait for staging */
	if (job != NULL)
		return;
	while ((job = queue->memory.waiting.first) != NULL)
	{
		const HgQueueState state = admit(queue, job);

		if (state == HG_QUEUE_WAITING)
			break;
		end_wait(&queue->memory.waiting, job, state);
		if (state == HG_QUEUE_GRANTED)
			add_open(queue, job);
	}
	hg_queue_idle_ask(&queue->memory);
}

void
hg_queue_turn_pass_on(HgServerQueue *queue)
{
	const HgQueueEntry *first;

	admit_waiting(queue);
	first = queue->memory.waiting.first;
	if (first != NULL && needs_items(&queue->memory, first))
		hg_queue_entry_wake(first);
}

bool
hg_queue_turn_make_room(HgServerQueue *queue, const HgQueueEntry *job)
{
	HgQueueItem *gone = hg_queue_memory_make_room(&queue->memory, job);

	hg_queue_turn_release(queue, gone);
	return gone != NULL;
}

void
hg_queue_turn_grant_rooms(HgServerQueue *queue)
{
	HgQueueEntry *request;

	while ((request = queue->requests.first) != NULL &&
		   hg_queue_staging_take_room(&queue->staging, request))
		end_wait(&queue->requests, request, HG_QUEUE_GRANTED);
}

/* Checks whether it is the turn of a waiting job that was woken, or has slept for long. */
static void
look_again(HgServerQueue *queue, HgQueueEntry *job)
{
	const HgQueueList *waiting = &queue->memory.waiting;

	if (job == waiting->first)
		admit_waiting(queue);
	if ((job == waiting->first || job->hurried) && job->state == HG_QUEUE_WAITING &&
		hg_queue_turn_make_room(queue, job) && job == waiting->first)
		admit_waiting(queue);
	if (job->hurried && job->state == HG_QUEUE_WAITING)
		admit_or_refuse(queue, job);
	/* the job that is first now may have slept meanwhile */
	if (job->state != HG_QUEUE_WAITING)
		hg_queue_turn_pass_on(queue);
}

/* Returns how long a wait may sleep, in ms; -1: until something happens. */
static int
longest_sleep(const HgServerQueue *queue, const HgQueueList *list, bool sees_socket)
{
	if (!sees_socket)
		return LOOK_MS;
	return list == &queue->memory.waiting ? HG_QUEUE_LOOK_IDLE_MS : -1;
}

HgQueueState
hg_queue_turn_wait(HgServerQueue *queue, HgQueueList *list, HgQueueEntry *entry,
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
		ends[0].revents = ends[1].revents = 0; /* poll may fail because of a signal */
		poll(ends, 2, longest_sleep(queue, list, ends[1].fd >= 0));
		gave_up = (ends[1].fd < 0 || ends[1].revents != 0) && waiter->gave_up(waiter->arg);
		/* a message that is no reason to give up stays in the socket, which stays readable */
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
		/* replicas can be evicted, or another waiting job of this connection was meant */
		if (ends[0].revents != 0 && read(waiter->wake, &count, sizeof(count)) < 0)
			abort();
		if (list == &queue->memory.waiting)
			look_again(queue, entry);
	}
	/* the eventfd is written before the state is visible: clear it */
	if (read(waiter->wake, &count, sizeof(count)) < 0)
		abort();
	return entry->state;
}
