/*-------------------------------------------------------------------------
 *
 * hg_queue_replica.c
 *	  The replicas of graphs and columns in a device process, by name.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_internal.h"

#include <string.h>

/* Finds an item by name; a linear search, as there are few, and each job searches once. */
static HgQueueItem *
find(const HgQueueReplica *replica, const HgReplicaName *name)
{
	for (HgQueueItem *item = replica->first; item != NULL; item = item->next)
		if (!item->dropped && hg_replica_name_equal(&item->name, name))
			return item;
	return NULL;
}

/* The same, if it has the shape that a job gives. */
static HgQueueItem *
find_named(const HgQueueReplica *replica, const HgQueueNamed *named)
{
	HgQueueItem *item = find(replica, named->name);
	bool equal;

	if (item == NULL)
		return NULL;
	equal = named->name->column == 0
				? hg_replica_shape_equal(&item->shape.graph, named->shape)
				: hg_replica_column_shape_equal(&item->shape.column, named->shape);
	return equal ? item : NULL;
}

static bool
is_named(const HgQueueItem *item, const HgQueueEntry *job)
{
	for (uint32_t i = 0; job != NULL && i < job->nnamed; i++)
		if (hg_replica_name_equal(job->named[i].name, &item->name))
			return true;
	return false;
}

/*
 * Returns true if an item is the graph of this name, which may be NULL, or one of its columns. If
 * the name is not a partition's, this includes all partitions.
 */
static bool
is_of(const HgQueueItem *item, const HgReplicaName *graph)
{
	return graph != NULL && item->name.epoch == graph->epoch &&
		   item->name.serial == graph->serial &&
		   (graph->partition == 0 || item->name.partition == graph->partition);
}

bool
hg_queue_replica_has(const HgQueueReplica *replica, HgQueueEntry *job)
{
	int missing = 0;

	memset(&job->missing, 0, sizeof(job->missing));
	for (uint32_t i = 0; i < job->nnamed && missing < HG_MAX_MISSING_REPLICAS; i++)
		if (find_named(replica, &job->named[i]) == NULL)
			job->missing.names[missing++] = *job->named[i].name;
	return missing == 0;
}

uint64_t
hg_queue_replica_named_bytes(const HgQueueReplica *replica, const HgQueueEntry *job)
{
	uint64_t bytes = 0;

	/* a replica that both sides name counts once */
	for (const HgQueueItem *item = replica->first; item != NULL; item = item->next)
		if (!item->dropped && is_named(item, job))
			bytes += item->bytes;
	return bytes;
}

uint64_t
hg_queue_replica_bytes_beside(const HgQueueReplica *replica, const HgReplicaName *name)
{
	uint64_t bytes = 0;

	for (const HgQueueItem *item = replica->first; item != NULL; item = item->next)
		if (is_of(item, name) && !hg_replica_name_equal(&item->name, name))
			bytes += item->bytes;
	return bytes;
}

static void
take_out(HgQueueReplica *replica, HgQueueItem *item)
{
	HgQueueItem **link = &replica->first;

	while (*link != item)
		link = &(*link)->next;
	*link = item->next;
	item->next = NULL;
}

static void
put_last(HgQueueReplica *replica, HgQueueItem *item)
{
	HgQueueItem **link = &replica->first;

	while (*link != NULL)
		link = &(*link)->next;
	item->next = NULL;
	*link = item;
}

/* Takes out an item that will be released. */
static HgQueueItem *
see_off(HgQueueReplica *replica, HgQueueItem *item)
{
	take_out(replica, item);
	replica->leaving += item->bytes;
	return item;
}

void
hg_queue_replica_pin(HgQueueReplica *replica, HgQueueEntry *job)
{
	for (uint32_t i = 0; i < job->nnamed; i++)
	{
		HgQueueNamed *named = &job->named[i];

		named->item = find_named(replica, named);
		named->item->users++;
		take_out(replica, named->item);
		put_last(replica, named->item);
		*named->to = named->item->replica;
	}
}

HgQueueItem *
hg_queue_replica_unpin(HgQueueReplica *replica, HgQueueEntry *job)
{
	HgQueueItem *gone = NULL;

	for (uint32_t i = 0; i < job->nnamed; i++)
	{
		HgQueueItem *item = job->named[i].item;

		job->named[i].item = NULL;
		if (item == NULL || --item->users > 0 || !item->dropped)
			continue;
		see_off(replica, item)->next = gone;
		gone = item;
	}
	return gone;
}

bool
hg_queue_replica_knows(HgQueueReplica *replica, const HgReplicaName *name)
{
	HgQueueItem *item = find(replica, name);

	if (item == NULL)
		return false;
	take_out(replica, item);
	put_last(replica, item);
	return true;
}

void
hg_queue_replica_add(HgQueueReplica *replica, HgQueueItem *item)
{
	put_last(replica, item);
	replica->count++;
	replica->bytes += item->bytes;
}

HgQueueItem *
hg_queue_replica_drop(HgQueueReplica *replica, const HgReplicaName *name)
{
	HgQueueItem *gone = NULL;
	HgQueueItem *next;

	for (HgQueueItem *item = replica->first; item != NULL; item = next)
	{
		next = item->next;
		if (name->column == 0 ? !is_of(item, name) : !hg_replica_name_equal(&item->name, name))
			continue;
		item->dropped = true;
		if (item->users > 0)
			continue;
		see_off(replica, item)->next = gone;
		gone = item;
	}
	return gone;
}

uint64_t
hg_queue_replica_spare(const HgQueueReplica *replica, const HgQueueEntry *job,
					   const HgReplicaName *of)
{
	uint64_t bytes = 0;

	for (const HgQueueItem *item = replica->first; item != NULL; item = item->next)
		if (item->users == item->ending &&
			(item->dropped || (!is_named(item, job) && !is_of(item, of))))
			bytes += item->bytes;
	return bytes;
}

void
hg_queue_replica_reckon_none(HgQueueReplica *replica)
{
	for (HgQueueItem *item = replica->first; item != NULL; item = item->next)
		item->ending = 0;
}

void
hg_queue_replica_reckon_end(const HgQueueEntry *job)
{
	for (uint32_t i = 0; i < job->nnamed; i++)
		if (job->named[i].item != NULL)
			job->named[i].item->ending++;
}

HgQueueItem *
hg_queue_replica_evict(HgQueueReplica *replica, const HgQueueEntry *job, const HgReplicaName *of)
{
	for (HgQueueItem *item = replica->first; item != NULL; item = item->next)
		if (item->users == 0 && !is_named(item, job) && !is_of(item, of))
		{
			replica->evicted++;
			return see_off(replica, item);
		}
	return NULL;
}

void
hg_queue_replica_count_out(HgQueueReplica *replica, HgQueueItem *item)
{
	replica->count--;
	replica->bytes -= item->bytes;
	replica->leaving -= item->bytes;
}
