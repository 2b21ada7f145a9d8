/*-------------------------------------------------------------------------
 *
 * hg_queue_memory.h
 *	  The device memory that is reserved for jobs, and that waiting jobs need.
 *
 * Memory that a job was admitted with stays reserved until the job is closed, whether the job
 * holds it yet or not. Jobs that hold more than expected show in the total that the engine
 * reports. The budget can change: other processes take memory of the device.
 *
 * Replicas hold memory that no job reserves, and jobs have priority over replicas. If a job does
 * not fit because of unused replicas, the least recently used ones are evicted, as many as
 * necessary, and none if that would not be enough. Replicas that the job names are never evicted
 * for it. The memory of a job that makes a replica is reserved as for any other job. When the
 * replica is added, its bytes stop being the job's in the same step (hg_server_queue_add_replica),
 * so that nothing counts twice.
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
	HgQueueList waiting; /* jobs, in the order in which they came */
	HgQueueReplica replica;
} HgQueueMemory;

/* Returns true if two jobs are of one group or connection: neither waits for the other. */
extern bool hg_queue_memory_are_grouped(const HgQueueEntry *job, const HgQueueEntry *other);

/* Returns true if the job's group or connection has an open job. */
extern bool hg_queue_memory_group_is_open(const HgQueueMemory *memory, const HgQueueEntry *job);

/* Returns the device memory that a job could have now if no other job had any. */
extern uint64_t hg_queue_memory_limit(const HgQueueMemory *memory, const HgQueueEntry *job);

/*
 * Returns the memory that is neither reserved for jobs nor held by replicas; `idle` bytes of jobs
 * and replicas count as free.
 */
extern uint64_t hg_queue_memory_unreserved(const HgQueueMemory *memory, uint64_t idle);

/* Returns true if the device has the memory for the job. */
extern bool hg_queue_memory_fits(const HgQueueMemory *memory, const HgQueueEntry *job);

/* Returns true if the device has it after the eviction of replicas that no job uses. */
extern bool hg_queue_memory_can_fit(const HgQueueMemory *memory, const HgQueueEntry *job);

/*
 * Takes items out of the list that make room for the job; the caller releases them. NULL if none
 * are needed, or if all would not be enough.
 */
extern HgQueueItem *hg_queue_memory_make_room(HgQueueMemory *memory, const HgQueueEntry *job);

/* The same for `bytes` more of an open job. */
extern HgQueueItem *hg_queue_memory_make_more_room(HgQueueMemory *memory, const HgQueueEntry *job,
												   uint64_t bytes);

/* Returns the memory that all replicas may hold together. */
extern uint64_t hg_queue_memory_replica_limit(const HgQueueMemory *memory);

/*
 * Returns HG_OK if a replica of so many bytes would fit if there were no others but those of its
 * graph, else HG_DEVICE_OUT_OF_MEMORY.
 */
extern HgStatus hg_queue_memory_check_replica(const HgQueueMemory *memory,
											  const HgReplicaName *name, uint64_t bytes,
											  HgError *error);

/*
 * Makes room for a replica of so many bytes beside those in use or of the same graph, else
 * HG_DEVICE_OUT_OF_MEMORY. *gone is the list of evicted items, which the caller releases.
 */
extern HgStatus hg_queue_memory_make_replica_room(HgQueueMemory *memory, const HgReplicaName *name,
												  uint64_t bytes, HgQueueItem **gone,
												  HgError *error);

/*
 * Evicts idle jobs if other jobs wait for their memory.
 *
 * A client may keep a built job for as long as it likes without a request, for example for a
 * cursor. If the first job in the queue waits for memory that idle jobs have reserved, they are
 * evicted. A job is idle if nothing was done for it for config->evict_ms. The job that was idle
 * for longest goes first, and no more jobs go than necessary. A job belongs to its connection's
 * thread: the queue marks the job and wakes that thread, which evicts it unless a request has come
 * first. A waiting job looks for idle jobs when it joins the queue, and every
 * HG_QUEUE_LOOK_IDLE_MS; a job that leaves the queue looks on behalf of the next one.
 *
 * Some jobs are never evicted: shared jobs, whose participants may be idle because they wait for
 * each other; jobs whose group or connection has another job open, as their clients could not wait
 * for another turn; and jobs whose keys are still to come, because their clients are reading
 * tables. But a job that was opened ahead of another one at work (HgJobSpec) is idle together with
 * it: when its whole connection is.
 *
 * Replicas that no job uses are evicted before any job. Replicas that only idle jobs use count as
 * leaving with these jobs.
 */

/* How often a waiting job looks for idle jobs, in ms. */
#define HG_QUEUE_LOOK_IDLE_MS 500

/*
 * Marks idle jobs for eviction if the first job in the queue waits for their memory, and writes to
 * their connections' eventfds. It marks as many as are needed, or none if all are not enough.
 */
extern void hg_queue_idle_ask(HgQueueMemory *memory);

/* Returns true if an open job that was marked for eviction must still be evicted. */
extern bool hg_queue_idle_must_evict(const HgQueueMemory *memory, const HgQueueEntry *job);

#endif /* HG_QUEUE_MEMORY_H */
