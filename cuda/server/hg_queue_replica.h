/*-------------------------------------------------------------------------
 *
 * hg_queue_replica.h
 *	  The replicas of graphs and columns in a device process, by name.
 *
 * Either is an item.  A job that makes a replica gives it to the process, which holds it until it
 * is dropped, or until other replicas or jobs need its memory (src/engine/hg_replica.h, and
 * hg_wire.h).  What they hold is device memory that no job has reserved: hg_queue_memory.h reckons
 * with both.
 *
 * A graph that is dropped has its columns dropped with it: the process that gives names knows what
 * it has freed, but not always which replicas of it there were.  One that is evicted leaves them,
 * and they are there when it is made again.  Neither makes room for the other, as they are of use
 * together alone.
 *
 * PINS.  A job finds all items that it names and pins them in the step that admits it, or none, and
 * lets go of them when the engine has closed it: nobody has any while he waits in the queue, so
 * that no two jobs can wait for each other's.  A pinned item stays; one that is dropped meanwhile
 * is not found any more, and goes with its last user.
 *
 * LOCKS.  All of it is under the queue's lock, so that an item can't go between the look for it and
 * the job's admission.  But no engine is called with that: what is to go is taken out under the
 * lock, the lock is let go, the engine releases the items, and then they are counted out.  Until
 * then their memory is nobody's: they are leaving.
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
		HgReplicaColumnShape column; /* where the name is a column's */
	} shape;
	HgReplica *replica; /* the engine's */
	uint64_t bytes;
	uint32_t users;	 /* how often open jobs name it */
	uint32_t ending; /* of them, those of jobs that are reckoned to end: hg_queue_replica_spare */
	bool dropped;	 /* goes with its last user, and is not found any more */
} HgQueueItem;

typedef struct HgQueueReplica
{
	HgQueueItem *first; /* the one that was used least lately */
	uint32_t count;		/* of those that have memory: in the list, or leaving */
	uint64_t bytes;		/* which is so much ... */
	uint64_t leaving;	/* ... and of it what is leaving */
	uint64_t evicted;	/* those that others, or jobs, wanted the memory of, so far */
} HgQueueReplica;

/* Is all there that a job names, in the shapes that it says? */
extern bool hg_queue_replica_has(const HgQueueReplica *replica, HgQueueEntry *job);

/* Bytes of those that are. */
extern uint64_t hg_queue_replica_named_bytes(const HgQueueReplica *replica,
											 const HgQueueEntry *job);

/* Bytes of a graph and its columns, one of which has this name, but for that one. */
extern uint64_t hg_queue_replica_bytes_beside(const HgQueueReplica *replica,
											  const HgReplicaName *name);

/* Pin them; all must be there. */
extern void hg_queue_replica_pin(HgQueueReplica *replica, HgQueueEntry *job);

/*
 * Let go of what a job has pinned, if it has.  Items that go with it are put in front of the list
 * gone, which is returned.
 */
extern HgQueueItem *hg_queue_replica_unpin(HgQueueReplica *replica, HgQueueEntry *job,
										   HgQueueItem *gone);

/*
 * Is there one of that name?  It is the one that was used last then: whoever gives it once more has
 * been told that a job misses something, and the job can't use it before all of that is there.
 */
extern bool hg_queue_replica_knows(HgQueueReplica *replica, const HgReplicaName *name);

/* Take over an item, which no job has, as the one that was used last. */
extern void hg_queue_replica_add(HgQueueReplica *replica, HgQueueItem *item);

/* Drop the one of that name, and a graph's columns: returns a list of those that go at once. */
extern HgQueueItem *hg_queue_replica_drop(HgQueueReplica *replica, const HgReplicaName *name);

/*
 * Bytes of items that could go: that have no users, but for those that are reckoned to end, and
 * that job, which may be NULL, does not name; nor are they of, which may be NULL: the graph that
 * has this name or a column of it.
 */
extern uint64_t hg_queue_replica_spare(const HgQueueReplica *replica, const HgQueueEntry *job,
									   const HgReplicaName *of);

/*
 * Reckon that a job ends, for what is asked next; and, before the lock is let go, that none does.
 */
extern void hg_queue_replica_reckon_end(const HgQueueEntry *job);
extern void hg_queue_replica_reckon_none(HgQueueReplica *replica);

/*
 * Evict the item that was used least lately of those that have no users and that job, which may be
 * NULL, does not name, nor of, as above; NULL where there is none.
 */
extern HgQueueItem *hg_queue_replica_evict(HgQueueReplica *replica, const HgQueueEntry *job,
										   const HgReplicaName *of);

/* An item that was leaving has been released: its memory is there again. */
extern void hg_queue_replica_count_out(HgQueueReplica *replica, HgQueueItem *item);

#endif /* HG_QUEUE_REPLICA_H */
