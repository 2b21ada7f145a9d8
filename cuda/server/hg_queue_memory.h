/*-------------------------------------------------------------------------
 *
 * hg_queue_memory.h
 *	  The device memory that is reserved for jobs, and that those who wait need.
 *
 * Memory that a job was admitted for is reserved until it is closed, whether it holds it yet
 * or not; jobs that hold more than they were expected to are known by what the engine says
 * that all of them hold together.  So is what there is to be reserved: other processes take
 * memory of the device.
 *
 * The caller holds the queue's lock.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_MEMORY_H
#define HG_QUEUE_MEMORY_H

#include "hg_queue_entry.h"
#include "hg_server.h"

typedef struct HgQueueMemory
{
	const HgServerConfig *config;
	uint64_t reserved;
	HgQueueList open;	 /* jobs, in no order */
	HgQueueList waiting; /* jobs */
} HgQueueMemory;

/* Are two jobs of one group, or of one connection?  Then neither waits while the other is open. */
extern bool hg_queue_memory_are_grouped(const HgQueueEntry *job, const HgQueueEntry *other);

/* Has the job's group, or its connection, a job open? */
extern bool hg_queue_memory_group_is_open(const HgQueueMemory *memory, const HgQueueEntry *job);

/* The device memory that jobs may hold together, as things stand. */
extern uint64_t hg_queue_memory_budget(const HgQueueMemory *memory);

/* That of it which no job has been admitted for, but for jobs that reserve idle bytes together. */
extern uint64_t hg_queue_memory_unreserved(const HgQueueMemory *memory, uint64_t idle);

/* Has the device memory for the job? */
extern bool hg_queue_memory_fits(const HgQueueMemory *memory, const HgQueueEntry *job);

#endif /* HG_QUEUE_MEMORY_H */
