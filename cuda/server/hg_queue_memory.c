/*-------------------------------------------------------------------------
 *
 * hg_queue_memory.c
 *	  The device memory that is reserved for jobs, and that waiting jobs need.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_memory.h"

#include <stdio.h>

bool
hg_queue_memory_are_grouped(const HgQueueEntry *job, const HgQueueEntry *other)
{
	return other->connection == job->connection || (job->group != 0 && other->group == job->group);
}

bool
hg_queue_memory_group_is_open(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	for (const HgQueueEntry *other = memory->open.first; other != NULL; other = other->next)
		if (hg_queue_memory_are_grouped(job, other))
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
