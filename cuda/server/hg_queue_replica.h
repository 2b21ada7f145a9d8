/*-------------------------------------------------------------------------
 *
 * hg_queue_replica.h
 *	  The replicas of graphs and columns in a device process, by name.
 *
 * Each replica is an item. A job that makes a replica gives it to the process, which keeps it
 * until it is dropped, or until other replicas or jobs need its memory (src/engine/hg_replica.h,
 * and hg_wire.h). Items hold device memory that no job has reserved; hg_queue_memory.h accounts
 * for both.
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
#ifndef HG_QUEUE_REPLICA_H
#define HG_QUEUE_REPLICA_H

#include "../../src/engine/hg_replica.h"
#include "hg_queue_entry.h"

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

/* Returns true if all that a job names is there, in the given shapes; else notes job->missing. */
extern bool hg_queue_replica_has(const HgQueueReplica *replica, HgQueueEntry *job);

/* Returns the bytes of the named items that are there. */
extern uint64_t hg_queue_replica_named_bytes(const HgQueueReplica *replica,
											 const HgQueueEntry *job);

/* Returns the bytes of the graph and columns that a name belongs to, except the named item. */
extern uint64_t hg_queue_replica_bytes_beside(const HgQueueReplica *replica,
											  const HgReplicaName *name);

/* Pins the named items, all of which must be there. */
extern void hg_queue_replica_pin(HgQueueReplica *replica, HgQueueEntry *job);

/*
 * Unpins a job's items, if they are pinned. Dropped items whose last user it was are put in front
 * of the list gone, which is returned; the caller releases them.
 */
extern HgQueueItem *hg_queue_replica_unpin(HgQueueReplica *replica, HgQueueEntry *job,
										   HgQueueItem *gone);

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

/* Subtracts an item that the engine has released. */
extern void hg_queue_replica_count_out(HgQueueReplica *replica, HgQueueItem *item);

#endif /* HG_QUEUE_REPLICA_H */
