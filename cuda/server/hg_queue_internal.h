/*-------------------------------------------------------------------------
 *
 * hg_queue_internal.h
 *	  The parts of a device process's queue: replicas, device memory, staging, and the
 *	  turns of jobs.
 *
 * Each replica is an item. A job that makes a replica gives it to the process, which keeps it
 * until it is dropped, or until other replicas or jobs need its memory (src/engine/hg_replica.h,
 * and hg_wire.h). Items hold device memory that no job has reserved; hg_queue_memory.c accounts for
 * both.
 *
 * Dropping a graph drops its columns: the process that gives names knows what it has freed, but
 * not always which replicas exist. Evicting a graph leaves its columns, which are used again when
 * the graph is made again. A graph and its columns are not evicted for each other, because they
 * are useful only together.
 *
 * PINS. A job finds and pins all items that it names in the step that admits it, or none, and
 * unpins them when the engine has closed it. A waiting job has no pins, so that no two jobs can
 * wait for each other's. A pinned item stays; one that is dropped meanwhile is not found any more,
 * and goes with its last user.
 *
 * LOCKS. Everything is guarded by the queue's lock, so that an item can't go between the search
 * for it and the job's admission. But no engine is called with the lock held: items that go are
 * taken out under the lock, the lock is released, the engine releases the items, and then they are
 * counted out. Until then they are "leaving".
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_INTERNAL_H
#define HG_QUEUE_INTERNAL_H

#include <pthread.h>

#include "../../src/engine/hg_engine.h"
#include "../../src/engine/hg_replica.h"
#include "hg_queue_entry.h"
#include "hg_server.h"
#include "hg_server_queue.h"

/* hg_queue_replica.c: the replicas of graphs and columns in a device process, by name */

typedef struct HgQueueItem
{
	struct HgQueueItem *next;
	HgReplicaName name;
	union
	{
		HgReplicaShape graph;
		HgReplicaColumnShape column; /* if the name is a column's */
	} shape;
	HgReplica *replica; /* the engine's */
	uint64_t bytes;
	uint32_t users;	 /* how many names of open jobs refer to it */
	uint32_t ending; /* users among them that hg_queue_replica_reckon_end has counted */
	bool dropped;	 /* goes with its last user, and is not found any more */
} HgQueueItem;

typedef struct HgQueueReplica
{
	HgQueueItem *first; /* least recently used first */
	uint32_t count;		/* items that hold memory: in the list, or leaving */
	uint64_t bytes;		/* bytes of these items */
	uint64_t leaving;	/* bytes of the leaving ones among them */
	uint64_t evicted;	/* items evicted so far for other replicas or jobs */
} HgQueueReplica;

/*
 * Returns true if the device has all replicas that a job names, in the shapes that it expects.
 * Otherwise returns false and sets job->missing to those that it has not.
 */
extern bool hg_queue_replica_has(const HgQueueReplica *replica, HgQueueEntry *job);

/*
 * Returns the bytes of the replicas that a job names and the device has, whatever their shape. A
 * replica that both sides name counts once.
 */
extern uint64_t hg_queue_replica_named_bytes(const HgQueueReplica *replica,
											 const HgQueueEntry *job);

/* Returns the bytes of the graph and columns that a name belongs to, except the named item. */
extern uint64_t hg_queue_replica_bytes_beside(const HgQueueReplica *replica,
											  const HgReplicaName *name);

/* Pins all replicas that a job names, which the device must have. */
extern void hg_queue_replica_pin(HgQueueReplica *replica, HgQueueEntry *job);

/*
 * Unpins a job's items, if they are pinned. Returns a list of the dropped items whose last user it
 * was; the caller releases them.
 */
extern HgQueueItem *hg_queue_replica_unpin(HgQueueReplica *replica, HgQueueEntry *job);

/*
 * Returns true if there is an item of that name, and makes it the most recently used. A client
 * makes it again only for a job that can't run before all of its replicas are there.
 */
extern bool hg_queue_replica_knows(HgQueueReplica *replica, const HgReplicaName *name);

/* Adds an item, which no job uses, as the most recently used. */
extern void hg_queue_replica_add(HgQueueReplica *replica, HgQueueItem *item);

/* Drops the item of that name, and a graph's columns. The caller releases the returned items. */
extern HgQueueItem *hg_queue_replica_drop(HgQueueReplica *replica, const HgReplicaName *name);

/*
 * Returns the bytes of items that could go: without users (except those that reckon_end counted),
 * not named by job, and not of the graph that `of` names. Both may be NULL.
 */
extern uint64_t hg_queue_replica_spare(const HgQueueReplica *replica, const HgQueueEntry *job,
									   const HgReplicaName *of);

/* Assumes that a job ends, for the next calls of hg_queue_replica_spare. */
extern void hg_queue_replica_reckon_end(const HgQueueEntry *job);

/* Withdraws all assumptions; must be called before the lock is released. */
extern void hg_queue_replica_reckon_none(HgQueueReplica *replica);

/*
 * Evicts the least recently used item without users that job does not name and that is not of the
 * graph that `of` names; both may be NULL. The caller releases it. Returns NULL if there is none.
 */
extern HgQueueItem *hg_queue_replica_evict(HgQueueReplica *replica, const HgQueueEntry *job,
										   const HgReplicaName *of);

/* Subtracts an item that the engine has released from the number and the bytes of replicas. */
extern void hg_queue_replica_count_out(HgQueueReplica *replica, HgQueueItem *item);

/*
 * The device memory that is reserved for jobs, and that waiting jobs need.
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
 */

typedef struct HgQueueMemory
{
	const HgServerConfig *config;
	uint64_t reserved;
	HgQueueList open;	 /* jobs, in no order */
	HgQueueList waiting; /* jobs, in the order in which they came */
	HgQueueReplica replica;
} HgQueueMemory;

/*
 * Returns true if any job of the same connection, or of the same group other than 0, is open.  The
 * job itself counts, too.
 */
extern bool hg_queue_memory_group_is_open(const HgQueueMemory *memory, const HgQueueEntry *job);

/*
 * Returns the device memory that a job could have now if no other job had any, and only the
 * replicas that it names were left: the budget less their bytes.
 */
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

/*
 * Takes items out of the list that make room for `bytes` more of an open job; the caller releases
 * them. NULL if none are needed, or if all would not be enough.
 */
extern HgQueueItem *hg_queue_memory_make_more_room(HgQueueMemory *memory, const HgQueueEntry *job,
												   uint64_t bytes);

/* Returns the memory that all replicas may hold together. */
extern uint64_t hg_queue_memory_replica_limit(const HgQueueMemory *memory);

/*
 * Returns HG_OK if `bytes` bytes and the other items of the graph that name belongs to are together
 * within hg_queue_memory_replica_limit(), else HG_DEVICE_OUT_OF_MEMORY. The memory of jobs and of
 * other graphs does not count. Evicts nothing.
 */
extern HgStatus hg_queue_memory_check_replica(const HgQueueMemory *memory,
											  const HgReplicaName *name, uint64_t bytes,
											  HgError *error);

/*
 * Makes room for a replica of `bytes` bytes beside those in use or of the same graph, else
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

/*
 * Divides staging into leases and room for results.
 *
 * Staging has two areas: leases for the keys of jobs that are not built yet, and room for results.
 * A job may keep its lease for as long as its client takes to read its tables, while results go as
 * soon as they are copied. If both shared one area, leases could fill it. Then a job whose results
 * such a client must read first would wait for staging, and the client for the job.
 *
 * The caller holds the queue's lock.
 */

/* A contiguous piece of staging, and its taken parts, in the order of offsets. */
typedef struct HgQueueArea
{
	uint64_t offset;
	uint64_t bytes;
	uint64_t taken;
	HgQueuePart *parts;
} HgQueueArea;

typedef struct HgQueueStaging
{
	HgQueueArea leases;
	HgQueueArea rooms;
} HgQueueStaging;

/*
 * Divides a staging area of `bytes` bytes, of which nothing is taken: the first three quarters are
 * for leases. Both parts are whole pages (HG_WIRE_PAGE); what is left over is not used.
 */
extern void hg_queue_staging_init(HgQueueStaging *staging, uint64_t bytes);

/*
 * Returns the bytes of staging that a job can use. A job that makes a replica, for which no query
 * waits, leaves most of staging to others.
 */
extern uint64_t hg_queue_staging_lease_bytes(const HgQueueStaging *staging, const HgJobSpec *spec);

/*
 * Returns the bytes of the smallest lease that a job can be given: a page (HG_WIRE_PAGE), or two
 * pages of a table if a side has pages, but no more than the area for leases. Needs no lock.
 */
extern uint64_t hg_queue_staging_least_lease_bytes(const HgQueueStaging *staging,
												   const HgJobSpec *spec);

/*
 * Returns the bytes of room to ask for, for results of `wanted` bytes: whole pages, at most
 * HG_WIRE_SLOT_MAX, so it may be less than wanted. Needs no lock.
 */
extern uint64_t hg_queue_staging_room_bytes(uint64_t wanted);

/* Takes a lease for a job; returns false if there is none. */
extern bool hg_queue_staging_take_lease(HgQueueStaging *staging, HgQueueEntry *job);

/* Takes room for a request; returns false if there is none. */
extern bool hg_queue_staging_take_room(HgQueueStaging *staging, HgQueueEntry *request);

/* Gives a lease back, if there is any. */
extern void hg_queue_staging_release_lease(HgQueueStaging *staging, HgQueueEntry *job);

/* Gives room back, if there is any. */
extern void hg_queue_staging_release_room(HgQueueStaging *staging, HgQueueEntry *request);

/* Returns the taken bytes of both areas. */
static inline uint64_t
hg_queue_staging_taken(const HgQueueStaging *staging)
{
	return staging->leases.taken + staging->rooms.taken;
}

/*
 * Admits jobs to the device in turn, and lets the others wait.
 *
 * Only hg_server_queue.c calls these functions; it describes the order.
 *
 * The caller holds the queue's lock, which is given up during calls of the engine. A job's own
 * connection thread releases the replicas that make room for it; then it checks again whether it is
 * the job's turn. Threads that free something wake it.
 */

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

/*
 * After a release, admits waiting participants, and then waiting jobs in their order until one must
 * wait on. A job that can never run stops waiting too. If no participant waits any more, asks idle
 * jobs to go (hg_queue_idle_ask). Wakes the first job that still waits if evicting replicas would
 * make room for it.
 */
extern void hg_queue_turn_pass_on(HgServerQueue *queue);

/* Grants room for results to waiting requests. */
extern void hg_queue_turn_grant_rooms(HgServerQueue *queue);

/*
 * Gives up the lock while the engine releases the replicas of a list of items, takes it again, and
 * frees the items. Wakes nobody. Does nothing if gone is NULL.
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

#endif /* HG_QUEUE_INTERNAL_H */
