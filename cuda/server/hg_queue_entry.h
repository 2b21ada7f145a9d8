/*-------------------------------------------------------------------------
 *
 * hg_queue_entry.h
 *	  Who stands in the queue of a device process, and lists of them.
 *
 * hg_server_queue.h has what an entry goes through; one mutex there guards them all.
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

/* A part of staging; bytes 0 where there is none. */
typedef struct HgQueuePart
{
	struct HgQueuePart *next; /* the queue's: parts in the order of offsets */
	uint64_t offset;
	uint64_t bytes;
} HgQueuePart;

/* Where someone stands who wants something. */
typedef enum HgQueueState
{
	HG_QUEUE_OUTSIDE = 0,
	HG_QUEUE_WAITING,
	HG_QUEUE_GRANTED,
	HG_QUEUE_REFUSED,
	HG_QUEUE_NO_REPLICA /* a graph, or a column, that it names is not there */
} HgQueueState;

/* hg_queue_replica.h */
struct HgQueueItem;

/* A replica of a graph or a column that a job names. */
typedef struct HgQueueNamed
{
	const HgReplicaName *name;
	const void *shape;		  /* HgReplicaShape, or of a column HgReplicaColumnShape */
	HgReplica **to;			  /* set to the engine's, which stays while the job is open */
	struct HgQueueItem *item; /* and this is what holds it */
} HgQueueNamed;

/*
 * What a job can name: of each side a graph, its columns, two graphs for each lookup, and the
 * columns of filters.
 */
#define HG_QUEUE_NAMED (2 * (1 + HG_MAX_COLUMNS + 2 * HG_MAX_LOOKUPS + HG_MAX_FILTER_COLUMNS))

/* A job, or a request for room for results.  Zeroed by its owner, then the queue's alone. */
typedef struct HgQueueEntry
{
	struct HgQueueEntry *next; /* in one of the queue's lists */
	HgQueueState state;
	int wake; /* of its waiter */

	HgQueuePart part; /* once granted: the lease, or the room for results */
	uint64_t wanted;  /* bytes of staging; may get less ... */
	uint64_t least;	  /* ... but for these, if there are as many */

	/* of a job */
	const void *connection;
	uint64_t group;
	uint64_t memory; /* bytes of device memory reserved for it */
	bool is_shared;
	bool is_shard; /* of several that are one join */
	bool ahead;	   /* as its spec says, until it is built */
	bool busy;	   /* it is worked on */
	bool asked;	   /* to be evicted */
	bool hurried; /* it must not wait any longer than evicting replicas takes to make room for it */
	uint64_t used_ms; /* when it was admitted, or worked on last */

	HgQueueNamed named[HG_QUEUE_NAMED]; /* [nnamed] by its owner, before it enters the queue */
	uint32_t nnamed;
	HgMissingReplicas missing; /* those of them that were not there when the queue looked last */
} HgQueueEntry;

/* A job that has not entered the queue names something, which stays in place until it leaves. */
static inline void
hg_queue_entry_name(HgQueueEntry *job, const HgReplicaName *name, const void *shape, HgReplica **to)
{
	job->named[job->nnamed++] = (HgQueueNamed){.name = name, .shape = shape, .to = to};
}

/* Wake the thread that waits with an entry, or serves its connection. */
static inline void
hg_queue_entry_wake(const HgQueueEntry *entry)
{
	const uint64_t one = 1;

	/* it can't fail: the counter is far from full */
	if (write(entry->wake, &one, sizeof(one)) < 0)
		abort();
}

/* Entries in the order in which they came. */
typedef struct HgQueueList
{
	HgQueueEntry *first;
	uint32_t length;
} HgQueueList;

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

/* Take out an entry, which must be there. */
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
