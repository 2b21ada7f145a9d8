/*-------------------------------------------------------------------------
 *
 * hg_queue_kept.c
 *	  The kept graphs of a device process, by name.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_kept.h"

uint64_t
hg_queue_kept_least_bytes(const HgKeptShape *shape)
{
	return shape->rows * (shape->key_width + sizeof(uint32_t));
}

/* The graph of a name; there are few, and they are looked for once a job. */
static HgQueueGraph *
find(const HgQueueKept *kept, const HgKeptName *name)
{
	for (HgQueueGraph *graph = kept->first; graph != NULL; graph = graph->next)
		if (!graph->dropped && hg_kept_name_equal(&graph->name, name))
			return graph;
	return NULL;
}

static HgQueueGraph *
find_named(const HgQueueKept *kept, const HgQueueEntry *job, HgSide side)
{
	const HgKeptUse *use = job->named[side];
	HgQueueGraph *graph = use != NULL ? find(kept, &use->name) : NULL;

	return graph != NULL && hg_kept_shape_equal(&graph->shape, &use->shape) ? graph : NULL;
}

static bool
is_named(const HgQueueGraph *graph, const HgQueueEntry *job)
{
	for (int side = HG_OUTER; job != NULL && side <= HG_INNER; side++)
		if (job->named[side] != NULL && hg_kept_name_equal(&job->named[side]->name, &graph->name))
			return true;
	return false;
}

bool
hg_queue_kept_has(const HgQueueKept *kept, const HgQueueEntry *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (job->named[side] != NULL && find_named(kept, job, (HgSide) side) == NULL)
			return false;
	return true;
}

uint64_t
hg_queue_kept_named_bytes(const HgQueueKept *kept, const HgQueueEntry *job)
{
	uint64_t bytes = 0;

	/* one that is both sides is there once */
	for (const HgQueueGraph *graph = kept->first; graph != NULL; graph = graph->next)
		if (!graph->dropped && is_named(graph, job))
			bytes += graph->bytes;
	return bytes;
}

static void
take_out(HgQueueKept *kept, HgQueueGraph *graph)
{
	HgQueueGraph **link = &kept->first;

	while (*link != graph)
		link = &(*link)->next;
	*link = graph->next;
	graph->next = NULL;
}

static void
put_last(HgQueueKept *kept, HgQueueGraph *graph)
{
	HgQueueGraph **link = &kept->first;

	while (*link != NULL)
		link = &(*link)->next;
	graph->next = NULL;
	*link = graph;
}

/* Take out a graph that is to be released. */
static HgQueueGraph *
see_off(HgQueueKept *kept, HgQueueGraph *graph)
{
	take_out(kept, graph);
	kept->leaving += graph->bytes;
	return graph;
}

void
hg_queue_kept_pin(HgQueueKept *kept, HgQueueEntry *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgQueueGraph *graph = find_named(kept, job, (HgSide) side);

		if (graph == NULL)
			continue;
		graph->users++;
		take_out(kept, graph);
		put_last(kept, graph);
		job->graphs[side] = graph;
	}
}

HgQueueGraph *
hg_queue_kept_unpin(HgQueueKept *kept, HgQueueEntry *job, HgQueueGraph *gone)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgQueueGraph *graph = job->graphs[side];

		job->graphs[side] = NULL;
		if (graph == NULL || --graph->users > 0 || !graph->dropped)
			continue;
		see_off(kept, graph)->next = gone;
		gone = graph;
	}
	return gone;
}

bool
hg_queue_kept_knows(const HgQueueKept *kept, const HgKeptName *name)
{
	return find(kept, name) != NULL;
}

void
hg_queue_kept_add(HgQueueKept *kept, HgQueueGraph *graph)
{
	put_last(kept, graph);
	kept->graphs++;
	kept->bytes += graph->bytes;
}

HgQueueGraph *
hg_queue_kept_drop(HgQueueKept *kept, const HgKeptName *name)
{
	HgQueueGraph *graph = find(kept, name);

	if (graph == NULL)
		return NULL;
	graph->dropped = true;
	return graph->users == 0 ? see_off(kept, graph) : NULL;
}

uint64_t
hg_queue_kept_spare(const HgQueueKept *kept, const HgQueueEntry *job)
{
	uint64_t bytes = 0;

	for (const HgQueueGraph *graph = kept->first; graph != NULL; graph = graph->next)
		if (graph->users == graph->ending && (graph->dropped || !is_named(graph, job)))
			bytes += graph->bytes;
	return bytes;
}

void
hg_queue_kept_reckon_none(HgQueueKept *kept)
{
	for (HgQueueGraph *graph = kept->first; graph != NULL; graph = graph->next)
		graph->ending = 0;
}

void
hg_queue_kept_reckon_end(const HgQueueEntry *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (job->graphs[side] != NULL)
			job->graphs[side]->ending++;
}

HgQueueGraph *
hg_queue_kept_evict(HgQueueKept *kept, const HgQueueEntry *job)
{
	for (HgQueueGraph *graph = kept->first; graph != NULL; graph = graph->next)
		if (graph->users == 0 && !is_named(graph, job))
		{
			kept->evicted++;
			return see_off(kept, graph);
		}
	return NULL;
}

void
hg_queue_kept_count_out(HgQueueKept *kept, HgQueueGraph *graph)
{
	kept->graphs--;
	kept->bytes -= graph->bytes;
	kept->leaving -= graph->bytes;
}
