/*-------------------------------------------------------------------------
 *
 * hg_queue_memory.c
 *	  The device memory that is reserved for jobs, and that those who wait need.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_memory.h"

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

uint64_t
hg_queue_memory_budget(const HgQueueMemory *memory)
{
	HgMemoryUse use;

	memory->config->memory_use(memory->config->arg, &use);
	return use.budget;
}

uint64_t
hg_queue_memory_unreserved(const HgQueueMemory *memory, uint64_t idle)
{
	const uint64_t budget = hg_queue_memory_budget(memory);
	const uint64_t reserved = memory->reserved - idle;

	return budget > reserved ? budget - reserved : 0;
}

bool
hg_queue_memory_fits(const HgQueueMemory *memory, const HgQueueEntry *job)
{
	HgMemoryUse use;

	if (job->memory > hg_queue_memory_unreserved(memory, 0))
		return false;
	if (memory->open.length == 0)
		return true;
	memory->config->memory_use(memory->config->arg, &use);
	return use.held < use.budget && job->memory <= use.budget - use.held;
}
