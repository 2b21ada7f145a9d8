/*-------------------------------------------------------------------------
 *
 * hg_server_queue.h
 *	  The queue of a device process: admission of jobs, and parts of staging.
 *
 * All connections of a device process share one queue. It reserves device memory, divides staging,
 * and lets connections wait for either. It also keeps the numbers that the process reports about
 * itself. hg_wire.h has the rules.
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

/* How a connection waits, for one thing at a time. */
typedef struct HgQueueWaiter
{
	/* eventfd, written when the wait is over, and as hg_server_queue_must_evict says */
	int wake;
	int socket; /* readable if the client may have given up */

	/* Returns true if the client has given up. Called after socket has become readable. */
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
	HG_QUEUE_EVICTED /* the eviction has been counted */
} HgQueueOutcome;

/* Creates the queue; NULL when out of memory. config must outlive it. */
extern HgServerQueue *hg_server_queue_create(const HgServerConfig *config);

/* Frees the queue and releases the replicas. No thread may be waiting, and no job open. */
extern void hg_server_queue_destroy(HgServerQueue *queue);

/*
 * Admits a job of a connection, and waits for its turn if it may wait. On HG_OK the entry has its
 * memory reserved, a lease of staging, and the replicas that it names (hg_queue_entry_name), until
 * hg_server_queue_leave. HG_DEVICE_OUT_OF_MEMORY if it would have to wait and may not, or has
 * waited in vain; HG_NO_REPLICA if a named replica is missing; HG_CANCELLED if the client gave up.
 */
extern HgStatus hg_server_queue_enter(HgServerQueue *queue, HgQueueEntry *job,
									  const HgJobSpec *spec, const void *connection,
									  const HgQueueWaiter *waiter, HgError *error);

/*
 * Gives a further participant of an admitted shared job a lease, and waits for staging: HG_OK, or
 * HG_CANCELLED if the client gave up. It has no memory of its own. hg_server_queue_leave ends it.
 */
extern HgStatus hg_server_queue_join(HgServerQueue *queue, HgQueueEntry *participant,
									 const HgJobSpec *spec, const void *connection,
									 const HgQueueWaiter *waiter, HgError *error);

/* Reserves bytes more for an admitted job, or HG_DEVICE_OUT_OF_MEMORY if others have them. */
extern HgStatus hg_server_queue_grow(HgServerQueue *queue, HgQueueEntry *job, uint64_t bytes,
									 HgError *error);

/* Notes the start of work on an admitted job, which is then not idle. */
extern void hg_server_queue_begin_work(HgServerQueue *queue, HgQueueEntry *job);

/* Notes the end of work on an admitted job. */
extern void hg_server_queue_end_work(HgServerQueue *queue, HgQueueEntry *job);

/*
 * Returns true if the job must be evicted. The queue writes to the eventfd of a job's connection
 * if it may have to be. The connection then asks when it has no request to serve: a request that
 * came meanwhile has made the job busy.
 */
extern bool hg_server_queue_must_evict(HgServerQueue *queue, HgQueueEntry *job);

/*
 * Notes that a job that is not closed was evicted, and holds no device memory any more. A lease
 * stays its client's until hg_server_queue_leave.
 */
extern void hg_server_queue_evict(HgServerQueue *queue, HgQueueEntry *job);

/* Ends the job's lease, if it has one: it needs no more keys. */
extern void hg_server_queue_end_lease(HgServerQueue *queue, HgQueueEntry *job);

/* Ends a job that is closed, perhaps after an eviction, and holds no device memory any more. */
extern void hg_server_queue_leave(HgServerQueue *queue, HgQueueEntry *job, HgQueueOutcome outcome);

/*
 * Adds the replica that an admitted job has made, as its spec says; its bytes are not the job's
 * any more. Other replicas are evicted if necessary. If there is one of its name already, the new
 * one is released. HG_DEVICE_OUT_OF_MEMORY if it is larger than what jobs leave of the memory for
 * replicas, or HG_OUT_OF_MEMORY: then it is still the caller's.
 */
extern HgStatus hg_server_queue_add_replica(HgServerQueue *queue, HgQueueEntry *job,
											const HgJobSpec *spec, HgReplica *made, uint64_t bytes,
											HgError *error);

/* Drops the replica of that name, if there is one. */
extern void hg_server_queue_drop(HgServerQueue *queue, const HgReplicaName *name);

/*
 * Takes room for results in staging, at most wanted bytes, perhaps fewer, and waits for it.
 * HG_CANCELLED if the client gave up.
 */
extern HgStatus hg_server_queue_take_room(HgServerQueue *queue, HgQueueEntry *room, uint64_t wanted,
										  const HgQueueWaiter *waiter, HgError *error);

/* Gives the room back, if there is any. */
extern void hg_server_queue_release_room(HgServerQueue *queue, HgQueueEntry *room);

/* Adds change to the number of connections. */
extern void hg_server_queue_count_connections(HgServerQueue *queue, int change);

/* Returns the milliseconds without a job, waiting or not closed; -1 while there is one. */
extern int64_t hg_server_queue_idle_ms(HgServerQueue *queue);

/* Stores the numbers that the process reports about itself. */
extern void hg_server_queue_status(HgServerQueue *queue, HgDeviceStatus *status);

#endif /* HG_SERVER_QUEUE_H */
