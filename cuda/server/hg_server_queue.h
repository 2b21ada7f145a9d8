/*-------------------------------------------------------------------------
 *
 * hg_server_queue.h
 *	  Who may open a job, and who has which part of staging.
 *
 * All connections of a device process share one queue: device memory is reserved and
 * staging is parcelled out here, and whoever has to wait for either waits here.  It also
 * keeps the numbers that the process tells of itself.  hg_wire.h has the rules.
 *
 * Any thread may call any function.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_QUEUE_H
#define HG_SERVER_QUEUE_H

#include "hg_queue_entry.h"
#include "hg_server.h"

typedef struct HgServerQueue HgServerQueue;

/* How a connection waits: at most one thing at a time. */
typedef struct HgQueueWaiter
{
	int wake;	/* an eventfd, written to when the wait is over, and as
				 * hg_server_queue_must_evict says */
	int socket; /* readable when the client may have given up */

	/* Has the client given up?  Called after socket has become readable. */
	bool (*gave_up)(void *arg);
	void *arg;
} HgQueueWaiter;

/* How a job ended. */
typedef enum HgQueueOutcome
{
	HG_QUEUE_UNOPENED, /* the engine refused it */
	HG_QUEUE_DONE,
	HG_QUEUE_FAILED,
	HG_QUEUE_CANCELLED,
	HG_QUEUE_EVICTED /* which has been counted */
} HgQueueOutcome;

/* NULL when out of memory.  config must outlive it. */
extern HgServerQueue *hg_server_queue_create(const HgServerConfig *config);

/* Nobody may be waiting, and no job open.  Replicas are released. */
extern void hg_server_queue_destroy(HgServerQueue *queue);

/*
 * Admit a job of a connection, waiting for its turn where it may wait.  On HG_OK the entry has its
 * memory reserved, a lease of staging, and what it names (hg_queue_entry_name), until
 * hg_server_queue_leave.  HG_DEVICE_OUT_OF_MEMORY where it would have to wait and may not, or
 * waited in vain; HG_NO_REPLICA where a graph or a column is not there, or not any more;
 * HG_CANCELLED where the client gave up.
 */
extern HgStatus hg_server_queue_enter(HgServerQueue *queue, HgQueueEntry *job,
									  const HgJobSpec *spec, const void *connection,
									  const HgQueueWaiter *waiter, HgError *error);

/*
 * Give a further participant of a shared job, which has been admitted, a lease of its own, waiting
 * for staging where none is free: HG_OK, or HG_CANCELLED where the client gave up.  It has no
 * memory of its own; hg_server_queue_leave takes it out again.
 */
extern HgStatus hg_server_queue_join(HgServerQueue *queue, HgQueueEntry *participant,
									 const HgJobSpec *spec, const void *connection,
									 const HgQueueWaiter *waiter, HgError *error);

/*
 * An admitted job is about to need bytes more of device memory than it was admitted for.
 * HG_DEVICE_OUT_OF_MEMORY where others have it.
 */
extern HgStatus hg_server_queue_grow(HgServerQueue *queue, HgQueueEntry *job, uint64_t bytes,
									 HgError *error);

/* Work on an admitted job begins, or has ended: so the queue knows which jobs are idle. */
extern void hg_server_queue_begin_work(HgServerQueue *queue, HgQueueEntry *job);
extern void hg_server_queue_end_work(HgServerQueue *queue, HgQueueEntry *job);

/*
 * Is the job to be evicted?  The queue writes to the eventfd of a job's connection where it may
 * be, and the connection asks when it has nothing else to do: what has been asked for meanwhile
 * has made the job busy.
 */
extern bool hg_server_queue_must_evict(HgServerQueue *queue, HgQueueEntry *job);

/*
 * The job, which is not closed, has been evicted: it holds no device memory any more.  A lease that
 * it has is its client's until hg_server_queue_leave.
 */
extern void hg_server_queue_evict(HgServerQueue *queue, HgQueueEntry *job);

/* The job needs no keys any more: its lease ends, and may have ended before. */
extern void hg_server_queue_end_lease(HgServerQueue *queue, HgQueueEntry *job);

/* The job is closed, and holds no device memory any more; it may have been evicted before. */
extern void hg_server_queue_leave(HgServerQueue *queue, HgQueueEntry *job, HgQueueOutcome outcome);

/*
 * Add a replica of a graph or a column that an admitted job has made, as its spec says: from now on
 * its bytes are not the job's any more.  Others go where it takes that; and where there is one of
 * its name, the new one is released.  HG_DEVICE_OUT_OF_MEMORY where it is larger than jobs leave of
 * the memory for replicas, or HG_OUT_OF_MEMORY, and it still is the caller's.
 */
extern HgStatus hg_server_queue_add_replica(HgServerQueue *queue, HgQueueEntry *job,
											const HgJobSpec *spec, HgReplica *made, uint64_t bytes,
											HgError *error);

/* Drop the replica of that name, if there is one. */
extern void hg_server_queue_drop(HgServerQueue *queue, const HgReplicaName *name);

/*
 * Get room for results in staging, at most wanted bytes, perhaps fewer, waiting where there is
 * none.  HG_CANCELLED where the client gave up.
 */
extern HgStatus hg_server_queue_take_room(HgServerQueue *queue, HgQueueEntry *room, uint64_t wanted,
										  const HgQueueWaiter *waiter, HgError *error);

/* Give it back; there may be none. */
extern void hg_server_queue_give_room(HgServerQueue *queue, HgQueueEntry *room);

/* A session came, or went. */
extern void hg_server_queue_count_connections(HgServerQueue *queue, int change);

/* Milliseconds that there has been no job, waiting or not closed; -1 while there is one. */
extern int64_t hg_server_queue_idle_ms(HgServerQueue *queue);

extern void hg_server_queue_status(HgServerQueue *queue, HgDeviceStatus *status);

#endif /* HG_SERVER_QUEUE_H */
