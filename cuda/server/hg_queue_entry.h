/*-------------------------------------------------------------------------
 *
 * hg_queue_entry.h
 *	  Entries of a device process's queue, and lists of them.
 *
 * hg_server_queue.h describes the life of an entry; one mutex there guards all entries.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_ENTRY_H
#define HG_QUEUE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/engine/hg_replica.h"

/* A part of staging; bytes is 0 if there is none. */
typedef struct HgQueuePart
{
	struct HgQueuePart *next; /* the queue's list, in the order of offsets */
	uint64_t offset;
	uint64_t bytes;
} HgQueuePart;

/* The state of an entry. */
typedef enum HgQueueState
{
	HG_QUEUE_OUTSIDE = 0,
	HG_QUEUE_WAITING,
	HG_QUEUE_GRANTED,
	HG_QUEUE_REFUSED,
	HG_QUEUE_NO_REPLICA /* a graph or a column that the job names is missing */
} HgQueueState;

/* hg_queue_internal.h */
struct HgQueueItem;

/* A replica of a graph or a column that a job names. */
typedef struct HgQueueNamed
{
	const HgReplicaName *name;
	const void *shape;		  /* HgReplicaShape, or HgReplicaColumnShape for a column */
	HgReplica **to;			  /* set to the engine's replica, which stays while the job is open */
	struct HgQueueItem *item; /* the pinned item of the replica; NULL: not pinned */
} HgQueueNamed;

/*
 * Most replicas that a job can name: of each side a graph, its columns, two graphs for each
 * lookup, and the columns of filters.
 */
#define HG_QUEUE_NAMED (2 * (1 + HG_MAX_COLUMNS + 2 * HG_MAX_LOOKUPS + HG_MAX_FILTER_COLUMNS))

/* A job, or a request for room for results. Its owner zeroes it; then it is the queue's. */
typedef struct HgQueueEntry
{
	struct HgQueueEntry *next; /* in one of the queue's lists */
	HgQueueState state;
	int wake; /* eventfd of the thread that waits with the entry */

	HgQueuePart part; /* once granted: the lease, or the room for results */
	uint64_t wanted;  /* bytes of staging; the grant may be smaller */
	uint64_t least;	  /* smallest grant, in bytes, if staging has as many */

	/* jobs only */
	const void *connection;
	uint64_t group;
	uint64_t memory; /* bytes of device memory reserved for the job */
	bool is_shared;
	bool is_shard; /* a shard of a join */
	bool ahead;	   /* as in its spec, until it is built */
	bool busy;	   /* a request of the job is being served */
	bool asked;	   /* the queue has asked for its eviction */
	/* it must not wait longer than the eviction of replicas takes that make room for it */
	bool hurried;
	uint64_t used_ms; /* time at which it was admitted or last served */

	HgQueueNamed named[HG_QUEUE_NAMED]; /* [nnamed] set by its owner before it enters the queue */
	uint32_t nnamed;
	/* the named replicas that were missing when the queue last looked for them */
	HgMissingReplicas missing;
} HgQueueEntry;

/* Names a replica for a job outside the queue. The pointers must stay valid until it leaves. */
static inline void
hg_queue_entry_name(HgQueueEntry *job, const HgReplicaName *name, const void *shape, HgReplica **to)
{
	job->named[job->nnamed++] = (HgQueueNamed){.name = name, .shape = shape, .to = to};
}

/* Wakes the thread that waits with an entry or serves its connection. */
static inline void
hg_queue_entry_wake(const HgQueueEntry *entry)
{
	const uint64_t one = 1;

	/* can't fail: the counter is far from full */
	if (write(entry->wake, &one, sizeof(one)) < 0)
		abort();
}

/* Entries in the order in which they came. */
typedef struct HgQueueList
{
	HgQueueEntry *first;
	uint32_t length;
} HgQueueList;

/* Adds an entry at the end. */
static inline void
hg_queue_list_append(HgQueueList *list, HgQueueEntry *entry)
{
	HgQueueEntry **link = &list->first;

	while (*link != NULL)
		link = &(*link)->next;
	entry->next = NULL;
	*link = entry;
	list->length++;
}

/* Removes an entry, which must be in the list. */
static inline void
hg_queue_list_remove(HgQueueList *list, HgQueueEntry *entry)
{
	HgQueueEntry **link = &list->first;

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	list->length--;
}

#endif /* HG_QUEUE_ENTRY_H */
