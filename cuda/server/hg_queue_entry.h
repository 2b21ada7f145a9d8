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
	HG_QUEUE_NOT_KEPT /* a graph that it names is not there */
} HgQueueState;

/* hg_queue_kept.h, and the engine's hg_kept.h */
struct HgQueueGraph;
struct HgKeptUse;

/* A job, or a request for room for results.  Zeroed by its owner, then the queue's alone. */
typedef struct HgQueueEntry
{
	struct HgQueueEntry *next; /* in one of the queue's lists */
	HgQueueState state;
	int wake; /* of its waiter */

	HgQueuePart part; /* once granted: the lease, or the room for results */
	uint64_t wanted;  /* bytes of staging; may get less */

	/* of a job */
	const void *connection;
	uint64_t group;
	uint64_t memory; /* bytes of device memory reserved for it */
	bool in_team;
	bool ahead;		  /* as its spec says, until it is built */
	bool busy;		  /* it is worked on */
	bool asked;		  /* to be evicted */
	bool hurried;	  /* it must not wait any longer than kept graphs take to make room for it */
	uint64_t used_ms; /* when it was admitted, or worked on last */

	/* by HgSide: NULL, or the graph that its spec names; and that, while it is open */
	const struct HgKeptUse *named[2];
	struct HgQueueGraph *graphs[2];
} HgQueueEntry;

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
