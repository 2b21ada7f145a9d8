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
 * Kept items, graphs and columns, hold memory that no job reserves, and that jobs come before:
 * where one does not fit because of items that nobody uses, these go, those first that were used
 * least lately, as many as it takes, and none where that would not be enough.  Never for a job that
 * names them.  A job that makes one has its memory reserved as any other; when it is kept, that
 * stops being the job's in the same step (hg_server_queue_keep), so that nothing is counted twice.
 *
 * The caller holds the queue's lock.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_MEMORY_H
#define HG_QUEUE_MEMORY_H

#include "hg_queue_kept.h"
#include "hg_server.h"

typedef struct HgQueueMemory
{
	const HgServerConfig *config;
	uint64_t reserved;
	HgQueueList open;	 /* jobs, in no order */
	HgQueueList waiting; /* jobs */
	HgQueueKept kept;
} HgQueueMemory;

/* Are two jobs of one group, or of one connection?  Then neither waits while the other is open. */
extern bool hg_queue_memory_are_grouped(const HgQueueEntry *job, const HgQueueEntry *other);

/* Has the job's group, or its connection, a job open? */
extern bool hg_queue_memory_group_is_open(const HgQueueMemory *memory, const HgQueueEntry *job);

/* What of the device memory a job may have, as things stand, where no other one has any. */
extern uint64_t hg_queue_memory_limit(const HgQueueMemory *memory, const HgQueueEntry *job);

/*
 * The memory which no job has been admitted for, and no kept item holds, but for jobs and items
 * that have idle bytes together.
 */
extern uint64_t hg_queue_memory_unreserved(const HgQueueMemory *memory, uint64_t idle);

/* Has the device memory for the job? */
extern bool hg_queue_memory_fits(const HgQueueMemory *memory, const HgQueueEntry *job);

/* The same, where kept items that nobody uses make room. */
extern bool hg_queue_memory_can_fit(const HgQueueMemory *memory, const HgQueueEntry *job);

/*
 * Take out the items that make room for the job; or for bytes more of it, an open one.  NULL where
 * it needs none, or where they would not be enough.
 */
extern HgQueueItem *hg_queue_memory_make_room(HgQueueMemory *memory, const HgQueueEntry *job);
extern HgQueueItem *hg_queue_memory_make_more_room(HgQueueMemory *memory, const HgQueueEntry *job,
												   uint64_t bytes);

/* What kept items may hold together. */
extern uint64_t hg_queue_memory_kept_limit(const HgQueueMemory *memory);

/*
 * May an item of so many bytes be kept under this name, if there are no others but of its graph?
 * Else HG_DEVICE_OUT_OF_MEMORY.
 */
extern HgStatus hg_queue_memory_check_keep(const HgQueueMemory *memory, const HgKeptName *name,
										   uint64_t bytes, HgError *error);

/*
 * May it, under this name, beside those that are in use or of the same graph?  Then *gone are
 * others that go for it.
 */
extern HgStatus hg_queue_memory_make_room_to_keep(HgQueueMemory *memory, const HgKeptName *name,
												  uint64_t bytes, HgQueueItem **gone,
												  HgError *error);

#endif /* HG_QUEUE_MEMORY_H */
