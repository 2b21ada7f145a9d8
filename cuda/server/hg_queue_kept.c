/*-------------------------------------------------------------------------
 *
 * hg_queue_kept.c
 *	  The kept graphs of a device process, and columns of theirs, by name.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_kept.h"

#include <string.h>

/* What goes by a name; there are few, and they are looked for once a job. */
static HgQueueItem *
find(const HgQueueKept *kept, const HgKeptName *name)
{
	for (HgQueueItem *item = kept->first; item != NULL; item = item->next)
		if (!item->dropped && hg_kept_name_equal(&item->name, name))
			return item;
	return NULL;
}

/* The same, if it has the shape that a job says. */
static HgQueueItem *
find_named(const HgQueueKept *kept, const HgQueueNamed *named)
{
	HgQueueItem *item = find(kept, named->name);
	bool equal;

	if (item == NULL)
		return NULL;
	equal = named->name->column == 0
				? hg_kept_shape_equal(&item->shape.graph, named->shape)
				: hg_kept_column_shape_equal(&item->shape.column, named->shape);
	return equal ? item : NULL;
}

static bool
is_named(const HgQueueItem *item, const HgQueueEntry *job)
{
	for (uint32_t i = 0; job != NULL && i < job->nnamed; i++)
		if (hg_kept_name_equal(job->named[i].name, &item->name))
			return true;
	return false;
}

/*
 * Is it a graph of this name, which may be NULL, or of that graph's rows?  Where the name is not a
 * slice's, slices are the graph's, too.
 */
static bool
is_of(const HgQueueItem *item, const HgKeptName *graph)
{
	return graph != NULL && item->name.epoch == graph->epoch &&
		   item->name.serial == graph->serial &&
		   (graph->slice == 0 || item->name.slice == graph->slice);
}

bool
hg_queue_kept_has(const HgQueueKept *kept, HgQueueEntry *job)
{
	int missing = 0;

	memset(&job->missing, 0, sizeof(job->missing));
	for (uint32_t i = 0; i < job->nnamed && missing < HG_KEPT_MISSING; i++)
		if (find_named(kept, &job->named[i]) == NULL)
			job->missing.names[missing++] = *job->named[i].name;
	return missing == 0;
}

uint64_t
hg_queue_kept_named_bytes(const HgQueueKept *kept, const HgQueueEntry *job)
{
	uint64_t bytes = 0;

	/* one that is named twice, for both sides, is there once */
	for (const HgQueueItem *item = kept->first; item != NULL; item = item->next)
		if (!item->dropped && is_named(item, job))
			bytes += item->bytes;
	return bytes;
}

uint64_t
hg_queue_kept_bytes_beside(const HgQueueKept *kept, const HgKeptName *name)
{
	uint64_t bytes = 0;

	for (const HgQueueItem *item = kept->first; item != NULL; item = item->next)
		if (is_of(item, name) && !hg_kept_name_equal(&item->name, name))
			bytes += item->bytes;
	return bytes;
}

static void
take_out(HgQueueKept *kept, HgQueueItem *item)
{
	HgQueueItem **link = &kept->first;

	while (*link != item)
		link = &(*link)->next;
	*link = item->next;
	item->next = NULL;
}

static void
put_last(HgQueueKept *kept, HgQueueItem *item)
{
	HgQueueItem **link = &kept->first;

	while (*link != NULL)
		link = &(*link)->next;
	item->next = NULL;
	*link = item;
}

/* Take out an item that is to be released. */
static HgQueueItem *
see_off(HgQueueKept *kept, HgQueueItem *item)
{
	take_out(kept, item);
	kept->leaving += item->bytes;
	return item;
}

void
hg_queue_kept_pin(HgQueueKept *kept, HgQueueEntry *job)
{
	for (uint32_t i = 0; i < job->nnamed; i++)
	{
		HgQueueNamed *named = &job->named[i];

		named->item = find_named(kept, named);
		named->item->users++;
		take_out(kept, named->item);
		put_last(kept, named->item);
		*named->to = named->item->kept;
	}
}

HgQueueItem *
hg_queue_kept_unpin(HgQueueKept *kept, HgQueueEntry *job, HgQueueItem *gone)
{
	for (uint32_t i = 0; i < job->nnamed; i++)
	{
		HgQueueItem *item = job->named[i].item;

		job->named[i].item = NULL;
		if (item == NULL || --item->users > 0 || !item->dropped)
			continue;
		see_off(kept, item)->next = gone;
		gone = item;
	}
	return gone;
}

bool
hg_queue_kept_knows(HgQueueKept *kept, const HgKeptName *name)
{
	HgQueueItem *item = find(kept, name);

	if (item == NULL)
		return false;
	take_out(kept, item);
	put_last(kept, item);
	return true;
}

void
hg_queue_kept_add(HgQueueKept *kept, HgQueueItem *item)
{
	put_last(kept, item);
	kept->count++;
	kept->bytes += item->bytes;
}

HgQueueItem *
hg_queue_kept_drop(HgQueueKept *kept, const HgKeptName *name)
{
	HgQueueItem *gone = NULL;
	HgQueueItem *next;

	for (HgQueueItem *item = kept->first; item != NULL; item = next)
	{
		next = item->next;
		if (name->column == 0 ? !is_of(item, name) : !hg_kept_name_equal(&item->name, name))
			continue;
		item->dropped = true;
		if (item->users > 0)
			continue;
		see_off(kept, item)->next = gone;
		gone = item;
	}
	return gone;
}

uint64_t
hg_queue_kept_spare(const HgQueueKept *kept, const HgQueueEntry *job, const HgKeptName *of)
{
	uint64_t bytes = 0;

	for (const HgQueueItem *item = kept->first; item != NULL; item = item->next)
		if (item->users == item->ending &&
			(item->dropped || (!is_named(item, job) && !is_of(item, of))))
			bytes += item->bytes;
	return bytes;
}

void
hg_queue_kept_reckon_none(HgQueueKept *kept)
{
	for (HgQueueItem *item = kept->first; item != NULL; item = item->next)
		item->ending = 0;
}

void
hg_queue_kept_reckon_end(const HgQueueEntry *job)
{
	for (uint32_t i = 0; i < job->nnamed; i++)
		if (job->named[i].item != NULL)
			job->named[i].item->ending++;
}

HgQueueItem *
hg_queue_kept_evict(HgQueueKept *kept, const HgQueueEntry *job, const HgKeptName *of)
{
	for (HgQueueItem *item = kept->first; item != NULL; item = item->next)
		if (item->users == 0 && !is_named(item, job) && !is_of(item, of))
		{
			kept->evicted++;
			return see_off(kept, item);
		}
	return NULL;
}

void
hg_queue_kept_count_out(HgQueueKept *kept, HgQueueItem *item)
{
	kept->count--;
	kept->bytes -= item->bytes;
	kept->leaving -= item->bytes;
}
