/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_join.c
 *	  Joins of flat HashGraphs, and lookups in one.
 *
 * There are three ways to join two graphs, each of which visits an outer row once:
 *
 *	intersect	Algorithm 3: a vertex of the graph with fewer vertices faces a run of vertices of
 *				the other graph: a CELL. The outer rows of a cell are compared with its inner rows,
 *				which are neighbours.
 *	look up		if the outer graph has far fewer vertices: its rows, or keys without a graph, are
 *				hashed, and compared with the list of their vertex.
 *	search		if the outer graph has far more rows: the inner keys are looked up in it, each
 *				once, so that each outer row that is found gets all of its partners.
 *
 * The work is divided at the outer graph's bins, or at the inner graph's if it is searched for
 * fewer of them. Cells with few inner rows are compared as they are (hg_cpu_flat_compare.c). Outer
 * rows of other cells become PROBES, and so do rows that are looked up or found; each probe is
 * compared with one list. A long list is sorted, and searched.
 *
 * Kernels need room for all that they may find at once. If the caller's arrays have less, pairs go
 * to a staging area in the join, and are copied from there.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../hg_finished.h"
#include "hg_cpu_flat_stream.h"

/* An outer graph with at least SEARCH_RATIO times the inner rows is searched. */
#define SEARCH_RATIO 80

/* Most inner vertices of a cell, as log2; with more, outer rows are looked up. */
#define MAX_INNER_LOG2 2

static HgStatus
open_join(const HgHost *host, HgFlatJoin **join, HgError *error)
{
	void *memory;

	*join = NULL;
	HG_TRY(hg_host_memory_alloc(host, sizeof(HgFlatJoin), &memory, error));
	*join = memory;
	memset(*join, 0, sizeof(**join));
	(*join)->host = host;
	return HG_OK;
}

/* Sets a side of the join. */
static void
set_side(HgFlatJoin *join, HgSide which, const HgFlatSide *side)
{
	join->sides[which] = *side;
	hg_cpu_flat_filter_init(&join->filters[which], side->mask);
}

/* Allocates the remembered lists, if the inner side has a mask. */
static HgStatus
open_lists(HgFlatJoin *join, HgError *error)
{
	const size_t bytes = HG_CPU_FLAT_LISTS * sizeof(HgCpuFlatList);
	void *memory;

	if (join->filters[HG_INNER].mask == NULL)
		return HG_OK;
	HG_TRY(hg_host_memory_alloc(join->host, bytes, &memory, error));
	join->lists = memory;
	memset(join->lists, 0, bytes);
	return HG_OK;
}

/* Chooses how two graphs are joined. */
static HgCpuFlatPlan
choose_plan(const HgFlatGraph *outer, const HgFlatGraph *inner)
{
	uint32_t outer_log2 = hg_cpu_flat_log2(&outer->shape);
	uint32_t inner_log2 = hg_cpu_flat_log2(&inner->shape);
	uint32_t bins_log2 = outer->shape.bins_log2;
	HgCpuFlatPlan plan = {.parts_log2 = bins_log2, .table = HG_INNER};

	if (outer->rows / SEARCH_RATIO > inner->rows)
	{
		plan.way = HG_CPU_FLAT_SEARCH;
		plan.table = HG_OUTER;
		if (inner->shape.bins_log2 < bins_log2)
			plan.parts_log2 = inner->shape.bins_log2;
	}
	else if (outer_log2 < inner_log2)
	{
		uint32_t more_log2 = inner_log2 - outer_log2;

		plan.way = more_log2 <= MAX_INNER_LOG2 && more_log2 <= inner->shape.vertices_log2
					   ? HG_CPU_FLAT_INTERSECT
					   : HG_CPU_FLAT_LOOK_UP;
		plan.part_cells = UINT64_C(1) << outer->shape.vertices_log2;
		plan.vertices_log2[HG_INNER] = more_log2;
	}
	else
	{
		plan.way = HG_CPU_FLAT_INTERSECT;
		if (inner_log2 >= bins_log2)
		{
			plan.part_cells = UINT64_C(1) << (inner_log2 - bins_log2);
			plan.vertices_log2[HG_OUTER] = outer_log2 - inner_log2;
		}
		else
		{
			plan.part_cells = 1;
			plan.cell_parts_log2 = bins_log2 - inner_log2;
			plan.vertices_log2[HG_OUTER] = outer->shape.vertices_log2;
		}
	}
	return plan;
}

HgStatus
hg_flat_join_open(const HgHost *host, const HgFlatSide *outer, const HgFlatSide *inner,
				  const HgFlatWork *work, HgFlatJoin **join, HgError *error)
{
	HgStatus status;

	*join = NULL;
	HG_TRY(hg_cpu_flat_check(&outer->graph->shape, error));
	HG_TRY(hg_cpu_flat_check(&inner->graph->shape, error));
	HG_TRY(open_join(host, join, error));
	set_side(*join, HG_OUTER, outer);
	set_side(*join, HG_INNER, inner);
	if (work != NULL)
		(*join)->work = *work;
	(*join)->plan = choose_plan((*join)->sides[HG_OUTER].graph, (*join)->sides[HG_INNER].graph);
	status = open_lists(*join, error);
	if (status != HG_OK)
	{
		hg_flat_close(*join);
		*join = NULL;
	}
	return status;
}

HgStatus
hg_flat_lookup_open(const HgHost *host, const HgFlatRows *rows, uint32_t key_width, HgSide keys_of,
					const HgFlatSide *graph, HgFlatJoin **join, HgError *error)
{
	HgFlatShape shape = hg_flat_shape(key_width, rows->count);
	HgStatus status = HG_OK;

	*join = NULL;
	HG_TRY(hg_cpu_flat_check(&graph->graph->shape, error));
	HG_TRY(hg_cpu_flat_check(&shape, error));
	HG_TRY(open_join(host, join, error));

	if (keys_of == HG_OUTER)
	{
		set_side(*join, HG_INNER, graph);
		(*join)->plan = (HgCpuFlatPlan){.way = HG_CPU_FLAT_LOOK_UP, .table = HG_INNER};
		(*join)->rows = *rows;
		(*join)->rows_width = key_width;
		status = open_lists(*join, error);
	}
	else
		status = hg_flat_make(host, &shape, rows, 1, &(*join)->made, error);
	if (status != HG_OK)
	{
		hg_flat_close(*join);
		*join = NULL;
	}
	if (status != HG_OK || keys_of == HG_OUTER)
		return status;
	set_side(*join, HG_OUTER, graph);
	set_side(*join, HG_INNER, &(HgFlatSide){.graph = (*join)->made});
	(*join)->plan = choose_plan((*join)->sides[HG_OUTER].graph, (*join)->sides[HG_INNER].graph);
	return HG_OK;
}

void
hg_flat_rewind(HgFlatJoin *join)
{
	memset(&join->cursor, 0, sizeof(join->cursor));
}

void
hg_flat_close(HgFlatJoin *join)
{
	if (join == NULL)
		return;
	hg_flat_destroy(join->host, join->made);
	if (join->lists != NULL)
		hg_host_memory_free(join->host, join->lists, HG_CPU_FLAT_LISTS * sizeof(HgCpuFlatList));
	hg_host_memory_free(join->host, join, sizeof(*join));
}

/* Returns the remembered list at a key's hash, maybe another key's; NULL without a mask. */
static HgCpuFlatList *
list_of(const HgFlatJoin *join, const HgCpuFlatProbe *probe)
{
	return join->lists != NULL ? &join->lists[hg_cpu_flat_hash(probe->key) % HG_CPU_FLAT_LISTS]
							   : NULL;
}

/* Starts a probe whose list is long: narrows it to the edges of its key. */
static void
begin_long(HgFlatJoin *join, HgCpuFlatProbe *probe, HgCpuFlatList *list)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	uint32_t width = join->sides[HG_INNER].graph->shape.key_width;

	cursor->begun = true;
	cursor->written = 0;
	cursor->listed = 0;
	if (list != NULL && list->known && list->key == probe->key)
	{
		probe->at = list->at;
		probe->end = list->end;
		return;
	}
	probe->at = hg_cpu_flat_find_key(probe->keys, width, probe->at, probe->end, probe->key, false);
	probe->end = hg_cpu_flat_find_key(probe->keys, width, probe->at, probe->end, probe->key, true);
	if (list != NULL)
		*list =
			(HgCpuFlatList){.key = probe->key, .known = true, .at = probe->at, .end = probe->end};
}

/* Returns true if a probe's next row is one of its remembered list. */
static inline bool
is_listed(const HgCpuFlatCursor *cursor, const HgCpuFlatList *list)
{
	return list != NULL && cursor->listed < list->count;
}

/* Finds the next row of a long list that counts, and remembers it; *row is NULL at the end. */
static HgStatus
find_long(HgFlatJoin *join, HgCpuFlatProbe *probe, HgCpuFlatList *list, const uint32_t **row,
		  HgError *error)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	HgStatus status = HG_OK;

	*row = NULL;
	while (status == HG_OK && *row == NULL && !is_listed(cursor, list) && probe->at < probe->end)
	{
		const uint32_t *next = &probe->numbers[probe->at];
		bool counts = hg_cpu_flat_counts(join->filters[HG_INNER].mask, *next);

		if (list != NULL && list->count < HG_CPU_FLAT_LISTED)
		{
			if (counts)
				list->rows[list->count++] = *next;
			list->at = ++probe->at;
		}
		else if (counts)
			*row = next;
		else
			probe->at++;
		status = hg_cpu_flat_work_done(join, 1, error);
	}
	if (is_listed(cursor, list))
		*row = &list->rows[cursor->listed];
	return status;
}

/*
 * Writes, or counts, the pairs of the next probe, whose list is long. If there is no room, or the
 * caller must check a part of the pairs, it stays the next probe.
 */
static HgStatus
compare_long(HgFlatJoin *join, HgMatchMode mode, HgCpuFlatPairs *pairs, HgError *error)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	HgCpuFlatProbe *probe = &hg_cpu_flat_group(join)->probes[cursor->done];
	HgCpuFlatList *list = list_of(join, probe);
	const uint32_t *row;
	size_t stop = pairs->room;
	bool done = false;

	if (!cursor->begun)
		begin_long(join, probe, list);
	if (pairs->outer != NULL && pairs->wanted->is_finished != NULL)
	{
		size_t part = hg_matches_part_size(cursor->written);

		done = hg_matches_row_is_finished(pairs->wanted, probe->row);
		stop = pairs->room - pairs->count > part ? pairs->count + part : pairs->room;
	}
	if (list == NULL && pairs->outer == NULL && probe->at < probe->end)
	{
		pairs->counted += mode == HG_MATCH_FIRST ? 1 : probe->end - probe->at;
		done = true;
	}
	while (!done)
	{
		HG_TRY(find_long(join, probe, list, &row, error));
		if (row == NULL)
			break;
		if (pairs->outer != NULL)
		{
			if (pairs->count == stop)
				return HG_OK;
			cursor->written++;
			pairs->outer[pairs->count] = probe->row;
			if (pairs->inner != NULL)
				pairs->inner[pairs->count] = *row;
			pairs->count++;
		}
		pairs->counted++;
		if (is_listed(cursor, list))
			cursor->listed++;
		else
			probe->at++;
		done = mode == HG_MATCH_FIRST;
	}
	cursor->begun = false;
	cursor->done++;
	return HG_OK;
}

/*
 * Advances the stream by one step: a group of probes, or cells of a stretch. *end is NO_ROOM if
 * nothing can be done with the room, PART if the caller must check a part of a row's pairs, DONE
 * at the end of the stream, else POLL.
 */
static HgStatus
step(HgFlatJoin *join, HgMatchMode mode, HgCpuFlatPairs *pairs, HgCpuFlatEnd *end, HgError *error)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	HgStatus status = HG_OK;

	*end = HG_CPU_FLAT_POLL;
	if (cursor->done < hg_cpu_flat_group(join)->count)
	{
		if (!cursor->begun)
			*end = hg_cpu_flat_compare(join, mode, pairs);
		if (cursor->begun || *end == HG_CPU_FLAT_LONG_LIST)
		{
			status = compare_long(join, mode, pairs, error);
			if (cursor->begun)
				*end = pairs->count < pairs->room ? HG_CPU_FLAT_PART : HG_CPU_FLAT_NO_ROOM;
			else
				*end = HG_CPU_FLAT_POLL;
		}
		else if (*end == HG_CPU_FLAT_DONE)
			*end = HG_CPU_FLAT_POLL;
		return status;
	}
	if (join->plan.way == HG_CPU_FLAT_INTERSECT && cursor->keys.left == 0 &&
		cursor->stretch.cell < cursor->stretch.cells)
	{
		*end = hg_cpu_flat_intersect(join, mode, pairs);
		if (*end == HG_CPU_FLAT_LONG_LIST)
			hg_cpu_flat_probe_cell(join);
		if (*end != HG_CPU_FLAT_NO_ROOM)
		{
			*end = HG_CPU_FLAT_POLL;
			status = hg_host_check_cancel(join->host, error);
		}
		return status;
	}
	status =
		hg_cpu_flat_find(join, pairs->inner != NULL || join->filters[HG_INNER].mask != NULL, error);
	if (!cursor->in_part && hg_cpu_flat_group(join)->count == 0)
		*end = HG_CPU_FLAT_DONE;
	return status;
}

/* Copies staged pairs, as far as there is room. */
static void
take_staged(HgFlatJoin *join, HgMatches *matches)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	size_t room = matches->capacity - matches->count;
	uint32_t count = cursor->staged - cursor->taken;

	count = count < room ? count : (uint32_t) room;
	memcpy(matches->outer + matches->count, join->staging[HG_OUTER] + cursor->taken,
		   count * sizeof(uint32_t));
	if (matches->inner != NULL)
		memcpy(matches->inner + matches->count, join->staging[HG_INNER] + cursor->taken,
			   count * sizeof(uint32_t));
	cursor->taken += count;
	matches->count += count;
}

HgStatus
hg_flat_next(HgFlatJoin *join, HgMatchMode mode, HgMatches *matches, HgError *error)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	HgCpuFlatEnd end = HG_CPU_FLAT_POLL;
	HgStatus status = HG_OK;

	matches->count = 0;
	take_staged(join, matches);
	while (status == HG_OK && end != HG_CPU_FLAT_DONE && end != HG_CPU_FLAT_PART &&
		   matches->count < matches->capacity)
	{
		HgCpuFlatPairs pairs = {.outer = matches->outer,
								.inner = matches->inner,
								.count = matches->count,
								.room = matches->capacity,
								.wanted = matches};

		status = step(join, mode, &pairs, &end, error);
		matches->count = pairs.count;
		if (status != HG_OK || end != HG_CPU_FLAT_NO_ROOM || pairs.count == pairs.room)
			continue;

		/* one step with room for one comparison; it may be many comparisons that find little */
		pairs = (HgCpuFlatPairs){.outer = join->staging[HG_OUTER],
								 .inner = matches->inner != NULL ? join->staging[HG_INNER] : NULL,
								 .room = HG_CPU_FLAT_BLOCK_PAIRS,
								 .wanted = matches};
		status = step(join, mode, &pairs, &end, error);
		cursor->staged = (uint32_t) pairs.count;
		cursor->taken = 0;
		take_staged(join, matches);
	}
	if (status != HG_OK)
		matches->count = 0;
	return status;
}

HgStatus
hg_flat_join_count(HgFlatJoin *join, HgMatchMode mode, uint64_t *pairs, HgError *error)
{
	HgCpuFlatPairs counted = {0};
	HgCpuFlatEnd end = HG_CPU_FLAT_POLL;
	HgStatus status = HG_OK;

	hg_flat_rewind(join);
	while (status == HG_OK && end != HG_CPU_FLAT_DONE)
		status = step(join, mode, &counted, &end, error);
	hg_flat_rewind(join);
	*pairs = counted.counted;
	return status;
}
