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
 * Replicas of graphs and columns hold memory that no job reserves, and jobs come before replicas:
 * where one does not fit because of items that nobody uses, these go, those first that were used
 * least lately, as many as it takes, and none where that would not be enough.  Never for a job that
 * names them.  A job that makes one has its memory reserved as any other; when it becomes a
 * replica, that stops being the job's in the same step (hg_server_queue_add_replica), so that
 * nothing is counted twice.
 *
 * The caller holds the queue's lock.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_MEMORY_H
#define HG_QUEUE_MEMORY_H

#include "hg_queue_replica.h"
#include "hg_server.h"

typedef struct HgQueueMemory
{
	const HgServerConfig *config;
	uint64_t reserved;
	HgQueueList open;	 /* jobs, in no order */
	HgQueueList waiting; /* jobs */
	HgQueueReplica replica;
} HgQueueMemory;

/* Are two jobs of one group, or of one connection?  Then neither waits while the other is open. */
extern bool hg_queue_memory_are_grouped(const HgQueueEntry *job, const HgQueueEntry *other);

/* Has the job's group, or its connection, a job open? */
extern bool hg_queue_memory_group_is_open(const HgQueueMemory *memory, const HgQueueEntry *job);

/* What of the device memory a job may have, as things stand, where no other one has any. */
extern uint64_t hg_queue_memory_limit(const HgQueueMemory *memory, const HgQueueEntry *job);

/*
 * The memory which no job has been admitted for and no replica holds, except for jobs and replicas
 * that have idle bytes together.
 */
extern uint64_t hg_queue_memory_unreserved(const HgQueueMemory *memory, uint64_t idle);

/* Has the device memory for the job? */
extern bool hg_queue_memory_fits(const HgQueueMemory *memory, const HgQueueEntry *job);

/* The same, where replicas that no job uses make room. */
extern bool hg_queue_memory_can_fit(const HgQueueMemory *memory, const HgQueueEntry *job);

/*
 * Take out the items that make room for the job; or for bytes more of it, an open one.  NULL where
 * it needs none, or where they would not be enough.
 */
extern HgQueueItem *hg_queue_memory_make_room(HgQueueMemory *memory, const HgQueueEntry *job);
extern HgQueueItem *hg_queue_memory_make_more_room(HgQueueMemory *memory, const HgQueueEntry *job,
												   uint64_t bytes);

/* The memory that all replicas may hold together. */
extern uint64_t hg_queue_memory_replica_limit(const HgQueueMemory *memory);

/*
 * True if a replica of so many bytes may have this name, if there are no others but those of its
 * graph.  Else HG_DEVICE_OUT_OF_MEMORY.
 */
extern HgStatus hg_queue_memory_check_replica(const HgQueueMemory *memory,
											  const HgReplicaName *name, uint64_t bytes,
											  HgError *error);

/*
 * May it, under this name, beside those that are in use or of the same graph?  Then *gone are
 * others that go for it.
 */
extern HgStatus hg_queue_memory_make_replica_room(HgQueueMemory *memory, const HgReplicaName *name,
												  uint64_t bytes, HgQueueItem **gone,
												  HgError *error);

#endif /* HG_QUEUE_MEMORY_H */
