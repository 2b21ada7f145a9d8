/*-------------------------------------------------------------------------
 *
 * hg_queue_idle.h
 *	  Evicts idle jobs if other jobs wait for their memory.
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
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_IDLE_H
#define HG_QUEUE_IDLE_H

#include "hg_queue_memory.h"

/* How often a waiting job looks for idle jobs, in ms. */
#define HG_QUEUE_LOOK_IDLE_MS 500

/*
 * Marks idle jobs for eviction if the first job in the queue waits for their memory, and writes to
 * their connections' eventfds. It marks as many as are needed, or none if all are not enough.
 */
extern void hg_queue_idle_ask(HgQueueMemory *memory);

/* Returns true if an open job that was marked for eviction must still be evicted. */
extern bool hg_queue_idle_must_evict(const HgQueueMemory *memory, const HgQueueEntry *job);

#endif /* HG_QUEUE_IDLE_H */
