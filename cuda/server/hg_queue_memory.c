/*-------------------------------------------------------------------------
 *
 * hg_queue_memory.c
 *	  The device memory that is reserved for jobs, and that waiting jobs need.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "hg_queue_internal.h"

/*
 * Returns true if two jobs are of one connection, or of one group other than 0 (HgJobSpec.group):
 * neither waits for the other.
 */
static bool
are_grouped(const HgQueueEntry *job, const HgQueueEntry *other)
{
	return other->connection == job->connection || (job->group != 0 && other->group == job->group);
}

bool
hg_queue_memory_group_is_open(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	for (const HgQueueEntry *other = memory->open.first; other != NULL; other = other->next)
		if (are_grouped(job, other))
			return true;
	return false;
}

/* Returns budget - taken, or 0. */
static uint64_t
rest_of(uint64_t budget, uint64_t taken)
{
	return budget > taken ? budget - taken : 0;
}

static uint64_t
budget_of(const HgQueueMemory *memory)
{
	HgMemoryUse use;

	memory->config->memory_use(memory->config->arg, &use);
	return use.budget;
}

uint64_t
hg_queue_memory_limit(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	return rest_of(budget_of(memory), hg_queue_replica_named_bytes(&memory->replica, job));
}

uint64_t
hg_queue_memory_unreserved(const HgQueueMemory *memory, uint64_t idle)
{
	return rest_of(budget_of(memory), memory->reserved + memory->replica.bytes - idle);
}

/* Returns true if the device has the memory for the job after `gone` bytes were freed. */
static bool
fits_without(const HgQueueMemory *memory, const HgQueueEntry *job, uint64_t gone)
{
	HgMemoryUse use;

	if (job->memory > hg_queue_memory_unreserved(memory, gone))
		return false;
	if (memory->open.length == 0)
		return true;
	memory->config->memory_use(memory->config->arg, &use);
	return job->memory <= rest_of(use.budget, rest_of(use.held, gone));
}

bool
hg_queue_memory_fits(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	return fits_without(memory, job, 0);
}

/* Returns the bytes of items that no job uses, and of those that are leaving. */
static uint64_t
spare_for(const HgQueueMemory *memory, const HgQueueEntry *job, const HgReplicaName *of)
{
	return memory->replica.leaving + hg_queue_replica_spare(&memory->replica, job, of);
}

bool
hg_queue_memory_can_fit(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	return fits_without(memory, job, spare_for(memory, job, NULL));
}

/*
 * Evicts the next item, and puts it in front of *gone. Returns false if there is none, because the
 * device's memory has changed a moment ago.
 */
static bool
evict_one(HgQueueMemory *memory, const HgQueueEntry *job, const HgReplicaName *of,
		  HgQueueItem **gone)
{
	HgQueueItem *item = hg_queue_replica_evict(&memory->replica, job, of);

	if (item == NULL)
		return false;
	item->next = *gone;
	*gone = item;
	return true;
}

HgQueueItem *
hg_queue_memory_make_room(HgQueueMemory *memory, const HgQueueEntry *job)
{
	HgQueueItem *gone = NULL;

	if (!hg_queue_memory_can_fit(memory, job))
		return NULL;
	while (!fits_without(memory, job, memory->replica.leaving))
		if (!evict_one(memory, job, NULL, &gone))
			break;
	return gone;
}

HgQueueItem *
hg_queue_memory_make_more_room(HgQueueMemory *memory, const HgQueueEntry *job, uint64_t bytes)
{
	HgQueueItem *gone = NULL;

	if (bytes > hg_queue_memory_unreserved(memory, spare_for(memory, job, NULL)))
		return NULL;
	while (bytes > hg_queue_memory_unreserved(memory, memory->replica.leaving))
		if (!evict_one(memory, job, NULL, &gone))
			break;
	return gone;
}

uint64_t
hg_queue_memory_replica_limit(const HgQueueMemory *memory)
{
	const uint64_t budget = budget_of(memory);
	const int64_t limit = memory->config->replica_limit;

	if (limit < 0)
		return 0;
	if (limit == 0)
		return budget / 2;
	return (uint64_t) limit < budget ? (uint64_t) limit : budget;
}

static HgStatus
refuse_item(uint64_t bytes, uint64_t limit, HgError *error)
{
	char detail[120];

	snprintf(detail, sizeof(detail), "It needs %llu bytes at least, and may have %llu.",
			 (unsigned long long) bytes, (unsigned long long) limit);
	return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
						"what is to be kept is too large for the device memory that is for that");
}

HgStatus
hg_queue_memory_check_replica(const HgQueueMemory *memory, const HgReplicaName *name,
							  uint64_t bytes, HgError *error)
{
	const uint64_t left = rest_of(hg_queue_memory_replica_limit(memory),
								  hg_queue_replica_bytes_beside(&memory->replica, name));

	return bytes <= left ? HG_OK : refuse_item(bytes, left, error);
}

HgStatus
hg_queue_memory_make_replica_room(HgQueueMemory *memory, const HgReplicaName *name, uint64_t bytes,
								  HgQueueItem **gone, HgError *error)
{
	const HgQueueReplica *replica = &memory->replica;
	const uint64_t limit = hg_queue_memory_replica_limit(memory);
	const uint64_t left = rest_of(limit, replica->bytes - spare_for(memory, NULL, name));

	*gone = NULL;
	if (bytes > left)
		return refuse_item(bytes, left, error);
	while (bytes > rest_of(limit, replica->bytes - replica->leaving))
		if (!evict_one(memory, NULL, name, gone))
			break;
	return HG_OK;
}

/* ---------------------------------------------------------------------
 * Evicts idle jobs if other jobs wait for their memory
 * ---------------------------------------------------------------------
 */

/*
 * A shard may be idle for SHARD_TIMES * evict_ms: its client may be fetching what the other shards
 * have, and would have to start again with all of them.
 */
#define SHARD_TIMES 10

/* Returns true if nothing was done for a job for so long that it may be evicted. */
static bool
is_unused(const HgQueueMemory *memory, const HgQueueEntry *job, uint64_t now)
{
	const uint64_t times = job->is_shard ? SHARD_TIMES : 1;

	return !job->busy && now - job->used_ms >= times * (uint64_t) memory->config->evict_ms;
}

/* Returns true if that holds for all jobs of a connection. */
static bool
connection_is_idle(const HgQueueMemory *memory, const void *connection, uint64_t now)
{
	for (const HgQueueEntry *job = memory->open.first; job != NULL; job = job->next)
		if (job->connection == connection && !is_unused(memory, job, now))
			return false;
	return true;
}

/*
 * Returns true if the client of an open job could not wait for another turn after an eviction. A
 * client closes a job that was opened ahead together with the one at work, so these two do not
 * protect each other.
 */
static bool
is_bound(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	uint32_t grouped = 0; /* other jobs of the group that are at work */

	for (const HgQueueEntry *other = memory->open.first; other != NULL; other = other->next)
		grouped += other != job && !other->ahead && are_grouped(job, other);
	return grouped > (job->ahead ? 1 : 0);
}

/* Returns true if a job has pinned replicas; it pins all that it names, or none. */
static bool
has_items(const HgQueueEntry *job)
{
	return job->nnamed > 0 && job->named[0].item != NULL;
}

/* Returns true if an open job may be evicted. */
static bool
is_idle(const HgQueueMemory *memory, const HgQueueEntry *job, uint64_t now)
{
	if (job->is_shared || (job->memory == 0 && !has_items(job)) || !is_unused(memory, job, now) ||
		is_bound(memory, job))
		return false;
	/* a job without a lease has all of its keys */
	return job->part.bytes == 0 || (job->ahead && connection_is_idle(memory, job->connection, now));
}

/* Marks an open job for eviction; the thread may have missed an earlier mark. */
static void
ask_job(HgQueueEntry *job)
{
	job->asked = true;
	hg_queue_entry_wake(job);
}

/*
 * Returns true if the first job in the queue would fit after the eviction of all idle jobs (of
 * marked ones only, if asked_alone) and then of the replicas that no job uses.
 */
static bool
would_be_enough(HgQueueMemory *memory, bool asked_alone, uint64_t now)
{
	const HgQueueEntry *first = memory->waiting.first;
	uint64_t freed = memory->replica.leaving;

	for (const HgQueueEntry *job = memory->open.first; job != NULL; job = job->next)
		if (asked_alone ? job->asked : is_idle(memory, job, now))
		{
			freed += job->memory;
			hg_queue_replica_reckon_end(job);
		}
	freed += hg_queue_replica_spare(&memory->replica, first, NULL);
	hg_queue_replica_reckon_none(&memory->replica);
	return first->memory <= hg_queue_memory_unreserved(memory, freed);
}

void
hg_queue_idle_ask(HgQueueMemory *memory)
{
	const HgQueueEntry *first = memory->waiting.first;
	const uint64_t now = (uint64_t) hg_clock_ms();
	uint32_t asked = 0;
	HgQueueEntry *longest;

	if (first == NULL || hg_queue_memory_can_fit(memory, first))
		return;
	for (HgQueueEntry *job = memory->open.first; job != NULL; job = job->next)
	{
		job->asked = job->asked && is_idle(memory, job, now);
		if (job->asked)
			ask_job(job);
		asked += job->asked;
	}
	if (!would_be_enough(memory, false, now))
		return;
	/* at least one, because memory may be held without a reservation */
	while (asked == 0 || !would_be_enough(memory, true, now))
	{
		longest = NULL;
		for (HgQueueEntry *job = memory->open.first; job != NULL; job = job->next)
			if (!job->asked && is_idle(memory, job, now) &&
				(longest == NULL || job->used_ms < longest->used_ms))
				longest = job;
		if (longest == NULL)
			break;
		ask_job(longest);
		asked++;
	}
}

bool
hg_queue_idle_must_evict(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	const HgQueueEntry *first = memory->waiting.first;

	return job->asked && is_idle(memory, job, (uint64_t) hg_clock_ms()) && first != NULL &&
		   !hg_queue_memory_can_fit(memory, first);
}
