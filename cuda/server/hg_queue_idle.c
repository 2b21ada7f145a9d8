/*-------------------------------------------------------------------------
 *
 * hg_queue_idle.c
 *	  Evicts idle jobs if other jobs wait for their memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_idle.h"

/*
 * A shard may be idle for so many times evict_ms: its client may be fetching what the other shards
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
		grouped += other != job && !other->ahead && hg_queue_memory_are_grouped(job, other);
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
	/* at least one, as memory may be held that nobody has reserved */
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
