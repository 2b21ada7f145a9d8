/*-------------------------------------------------------------------------
 *
 * hg_queue_turn.h
 *	  Whose turn it is in the queue of a device process, and how others wait for theirs.
 *
 * hg_server_queue.c, whose calls these are made by, tells who comes before whom.
 *
 * The caller holds the queue's lock.  No engine is called with it: items that make room for a
 * job are released by the thread of its own connection, which lets the lock go meanwhile, and
 * then looks whether the job still is the one whose turn it is.  Whoever gives something back
 * wakes it for that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_TURN_H
#define HG_QUEUE_TURN_H

#include "hg_queue_idle.h"
#include "hg_queue_memory.h"
#include "hg_queue_staging.h"
#include "hg_server_queue.h"

#include <pthread.h>

struct HgServerQueue
{
	const HgServerConfig *config;
	pthread_mutex_t lock; /* guards all that follows */

	HgQueueMemory memory;	  /* and the jobs that are open, or wait for it */
	uint32_t evicted;		  /* jobs that are neither open any more nor closed */
	HgQueueList participants; /* participants of shared jobs, waiting for a lease */

	HgQueueStaging staging;
	HgQueueList requests; /* waiting for room */

	uint64_t started_ms;
	uint64_t idle_since_ms; /* while there is no job */
	HgDeviceStatus counted; /* connections and the numbers of jobs that have ended */
};

static inline uint64_t
hg_queue_now_ms(void)
{
	return (uint64_t) hg_clock_ms();
}

/*
 * Admit a job, which is in no list, if it fits now: HG_QUEUE_GRANTED, and it is open.
 * HG_QUEUE_WAITING where it may do so later; HG_QUEUE_REFUSED and HG_QUEUE_NO_REPLICA where it
 * never will.
 */
extern HgQueueState hg_queue_turn_try(HgServerQueue *queue, HgQueueEntry *job);

/* Something has been given back: whose turn is it? */
extern void hg_queue_turn_pass_on(HgServerQueue *queue);

/* The same of room for results. */
extern void hg_queue_turn_grant_rooms(HgServerQueue *queue);

/* Release items that were taken out, if there are any; the lock is let go meanwhile. */
extern void hg_queue_turn_release(HgServerQueue *queue, HgQueueItem *gone);

/*
 * Evict replicas to make room for a job that does not fit; the lock is let go meanwhile.  Returns
 * whether there were any.
 */
extern bool hg_queue_turn_make_room(HgServerQueue *queue, const HgQueueEntry *job);

/*
 * Wait in a list until someone ends the entry's wait, or the client gives up; the lock is let go
 * meanwhile.  Returns the state; HG_QUEUE_OUTSIDE where the client gave up.
 */
extern HgQueueState hg_queue_turn_wait(HgServerQueue *queue, HgQueueList *list, HgQueueEntry *entry,
									   const HgQueueWaiter *waiter);

#endif /* HG_QUEUE_TURN_H */
