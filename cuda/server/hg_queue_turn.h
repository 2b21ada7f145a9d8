/*-------------------------------------------------------------------------
 *
 * hg_queue_turn.h
 *	  Admits jobs to the device in turn, and lets the others wait.
 *
 * Only hg_server_queue.c calls these functions; it describes the order.
 *
 * The caller holds the queue's lock, which is given up during calls of the engine. A job's own
 * connection thread releases the replicas that make room for it; then it checks again whether it is
 * the job's turn. Threads that free something wake it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_TURN_H
#define HG_QUEUE_TURN_H

#include "hg_queue_memory.h"
#include "hg_queue_staging.h"
#include "hg_server_queue.h"

#include <pthread.h>

struct HgServerQueue
{
	const HgServerConfig *config;
	pthread_mutex_t lock; /* guards all fields below */

	HgQueueMemory memory;	  /* and the jobs that are open, or wait for memory */
	uint32_t evicted;		  /* jobs that are not open any more, but not closed */
	HgQueueList participants; /* participants of shared jobs that wait for a lease */

	HgQueueStaging staging;
	HgQueueList requests; /* requests that wait for room */

	uint64_t started_ms;
	uint64_t idle_since_ms; /* start of the time without a job */
	HgDeviceStatus counted; /* the number of connections, and of jobs that have ended */
};

/* Returns the time in ms, of the clock of the entries. */
static inline uint64_t
hg_queue_now_ms(void)
{
	return (uint64_t) hg_clock_ms();
}

/*
 * Admits a job, which is in no list, if it fits now: HG_QUEUE_GRANTED, and it is open.
 * HG_QUEUE_WAITING if it may fit later; HG_QUEUE_REFUSED or HG_QUEUE_NO_REPLICA if it never will.
 */
extern HgQueueState hg_queue_turn_try(HgServerQueue *queue, HgQueueEntry *job);

/* Admits waiting jobs after a release, and wakes the first one if it can evict replicas. */
extern void hg_queue_turn_pass_on(HgServerQueue *queue);

/* Grants room for results to waiting requests. */
extern void hg_queue_turn_grant_rooms(HgServerQueue *queue);

/*
 * Releases the replicas of a list of items, without the lock, and frees the items. gone may be
 * NULL.
 */
extern void hg_queue_turn_release(HgServerQueue *queue, HgQueueItem *gone);

/*
 * Evicts replicas to make room for a job that does not fit, and releases them without the lock.
 * Does nothing and keeps the lock if no eviction could make the job fit. Returns true if any
 * replica was evicted.
 */
extern bool hg_queue_turn_make_room(HgServerQueue *queue, const HgQueueEntry *job);

/*
 * Appends the entry to the list and sleeps without the lock until another thread ends the entry's
 * wait, or the client gives up. Returns the new state; HG_QUEUE_OUTSIDE if the client gave up.
 */
extern HgQueueState hg_queue_turn_wait(HgServerQueue *queue, HgQueueList *list, HgQueueEntry *entry,
									   const HgQueueWaiter *waiter);

#endif /* HG_QUEUE_TURN_H */
