/*-------------------------------------------------------------------------
 *
 * hg_queue_idle.h
 *	  Jobs that are evicted where others wait for their memory.
 *
 * A client may keep a built job for as long as it likes, and ask for nothing: a cursor.
 * Where the first in the queue waits for memory, and jobs that have been idle for
 * config->evict_ms reserve what it needs, they are evicted, those that have been idle longest
 * first, and no more of them than it takes.  A job belongs to its connection's thread: the queue
 * marks it and wakes that thread, which evicts it unless a request has come first.  Who waits
 * looks for idle jobs when he joins the queue, and every HG_QUEUE_LOOK_IDLE_MS; whoever leaves it
 * looks for the next.
 *
 * Never evicted are shared jobs, whose participants may be idle because they wait for each other,
 * jobs beside which their group or connection has another open, as their clients could not wait for
 * another turn, and jobs whose keys are still to come: their clients are reading tables.  But one
 * that was opened ahead of another that is at work (HgJobSpec) is idle with that: when its whole
 * connection is.
 *
 * Replicas that no job uses are evicted before any job is.  Replicas that only idle jobs use are
 * counted as leaving with those jobs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_IDLE_H
#define HG_QUEUE_IDLE_H

#include "hg_queue_memory.h"

/* How often who waits looks for idle jobs, in ms. */
#define HG_QUEUE_LOOK_IDLE_MS 500

/*
 * Have idle jobs evicted where the first in the queue waits for their memory: all that it takes,
 * or none where that is not enough.  Their connections' eventfds are written to.
 */
extern void hg_queue_idle_ask(HgQueueMemory *memory);

/* Is an open job, which has been asked for, still one that is to be evicted? */
extern bool hg_queue_idle_must_evict(const HgQueueMemory *memory, const HgQueueEntry *job);

#endif /* HG_QUEUE_IDLE_H */
