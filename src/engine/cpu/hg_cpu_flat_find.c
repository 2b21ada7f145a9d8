/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_find.c
 *	  Finds the probes of a join of flat HashGraphs: outer rows, and lists of possible partners.
 *
 * A lookup goes from the array of bins to a bin's head and the offsets of a vertex, and from there
 * to its keys; each step may miss the cache. So keys are looked up ahead of time, a group at once.
 * When a group is compared, the lists of the next group are found and prefetched, and the keys of
 * the group after that are hashed, and their offsets prefetched.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_flat_stream.h"

#include "hg_cpu_job.h"

/* Starts to look up keys number at .. end - 1 of an array; none may be left from before. */
static void
begin_keys(HgCpuFlatKeys *ahead, uint64_t at, uint64_t end)
{
	ahead->at = at;
	ahead->end = end;
	ahead->hashed = 0;
	ahead->left = end - at;
	ahead->begun = false;
}

/* Sets the array of keys to those of a bin. If numbers is NULL, rows are numbered like edges. */
static void
set_keys(HgFlatJoin *join, HgSide side, const HgCpuFlatBin *bin, const uint32_t *numbers)
{
	HgCpuFlatKeys *ahead = &join->cursor.keys;

	ahead->keys = bin->keys;
	ahead->width = join->sides[side].graph->shape.key_width;
	ahead->numbers = numbers;
	ahead->first_row = 0;
	ahead->mask = numbers != NULL ? join->filters[side].mask : NULL;
}

/* Starts the next part that has rows; in_part is false at the end. */
static HgStatus
next_part(HgFlatJoin *join, HgError *error)
{
	HgCpuFlatCursor *cursor = &join->cursor;

	cursor->in_part = false;
	while (!cursor->in_part)
	{
		uint64_t part;

		HG_TRY(hg_cpu_flat_work_done(join, 1, error));
		part = join->work.take != NULL ? join->work.take(join->work.arg) : cursor->next_part;
		if (part >= UINT64_C(1) << join->plan.parts_log2)
			break;
		cursor->next_part = part + 1;
		cursor->part = (uint32_t) part;
		cursor->part_cell = 0;
		cursor->in_part = true;
		memset(&cursor->stretch, 0, sizeof(cursor->stretch));
		if (join->sides[HG_OUTER].graph == NULL)
		{
			cursor->keys.keys = join->rows.keys;
			cursor->keys.width = join->rows_width;
			cursor->keys.numbers = join->rows.rows;
			cursor->keys.first_row = join->rows.first_row;
			begin_keys(&cursor->keys, 0, join->rows.count);
		}
		else if (join->plan.way == HG_CPU_FLAT_SEARCH)
			cursor->inner_number =
				part << (join->sides[HG_INNER].graph->shape.bins_log2 - join->plan.parts_log2);
		else
		{
			cursor->outer = hg_cpu_flat_bin(join->sides[HG_OUTER].graph, part);
			cursor->in_part = cursor->outer.rows > 0;
			set_keys(join, HG_OUTER, &cursor->outer, cursor->outer.numbers);
			if (join->plan.way == HG_CPU_FLAT_LOOK_UP)
				begin_keys(&cursor->keys, 0, cursor->outer.rows);
		}
	}
	return HG_OK;
}

/* Goes to the next stretch of the part, which may be empty; returns false if there is none. */
static bool
next_stretch(HgFlatJoin *join)
{
	const HgFlatShape *inner = &join->sides[HG_INNER].graph->shape;
	HgCpuFlatCursor *cursor = &join->cursor;
	HgCpuFlatStretch *stretch = &cursor->stretch;
	uint32_t mask = (UINT32_C(1) << inner->vertices_log2) - 1;
	uint64_t cells = join->plan.part_cells - cursor->part_cell;
	uint64_t vertex;
	uint64_t cells_in_bin;

	if (cells == 0)
		return false;
	vertex = ((uint64_t) cursor->part >> join->plan.cell_parts_log2) * join->plan.part_cells +
			 cursor->part_cell;
	vertex <<= join->plan.vertices_log2[HG_INNER];
	cells_in_bin = ((uint64_t) mask + 1 - (vertex & mask)) >> join->plan.vertices_log2[HG_INNER];

	stretch->bins[HG_OUTER] = cursor->outer;
	stretch->bins[HG_INNER] =
		hg_cpu_flat_bin(join->sides[HG_INNER].graph, vertex >> inner->vertices_log2);
	stretch->first[HG_OUTER] = (uint32_t) (cursor->part_cell << join->plan.vertices_log2[HG_OUTER]);
	stretch->first[HG_INNER] = (uint32_t) vertex & mask;
	stretch->number[HG_OUTER] =
		((uint64_t) cursor->part << join->sides[HG_OUTER].graph->shape.vertices_log2) +
		stretch->first[HG_OUTER];
	stretch->number[HG_INNER] = vertex;
	stretch->vertices_log2[HG_OUTER] = join->plan.vertices_log2[HG_OUTER];
	stretch->vertices_log2[HG_INNER] = join->plan.vertices_log2[HG_INNER];
	stretch->cells = (uint32_t) (cells < cells_in_bin ? cells : cells_in_bin);
	stretch->cell = 0;
	stretch->outer_at = 0;
	cursor->part_cell += stretch->cells;
	if (stretch->bins[HG_INNER].rows == 0)
		stretch->cells = 0;
	return true;
}

/* Returns the end of the edges of a side's next cell; *low is their start. */
static uint32_t
cell_edges(const HgCpuFlatStretch *stretch, HgSide side, uint32_t *low)
{
	uint64_t log2 = stretch->vertices_log2[side];
	uint64_t vertex = stretch->first[side] + ((uint64_t) stretch->cell << log2);

	*low = hg_cpu_flat_offset(&stretch->bins[side], vertex);
	return hg_cpu_flat_offset(&stretch->bins[side], vertex + (UINT64_C(1) << log2));
}

void
hg_cpu_flat_probe_cell(HgFlatJoin *join)
{
	HgCpuFlatStretch *stretch = &join->cursor.stretch;
	uint32_t low;
	uint32_t high = cell_edges(stretch, HG_OUTER, &low);

	begin_keys(&join->cursor.keys, low < stretch->outer_at ? stretch->outer_at : low, high);
	stretch->cell++;
}

/* Hashes the next keys, and prefetches their offsets. */
static inline void
hash_ahead(HgFlatJoin *join)
{
	const HgFlatGraph *graph = join->sides[join->plan.table].graph;
	HgCpuFlatKeys *ahead = &join->cursor.keys;
	uint32_t width = ahead->width;
	uint32_t vertices_log2 = graph->shape.vertices_log2;
	uint32_t log2 = hg_cpu_flat_log2(&graph->shape);
	uint32_t mask = (UINT32_C(1) << vertices_log2) - 1;
	uint64_t left = ahead->end - ahead->at;
	uint32_t count = left < HG_CPU_FLAT_GROUP ? (uint32_t) left : HG_CPU_FLAT_GROUP;

	for (uint32_t i = 0; i < count; i++)
	{
		int64_t key = hg_cpu_flat_key(ahead->keys, width, ahead->at + i);
		uint32_t vertex = hg_vertex_of_hash(hg_cpu_flat_hash(key), log2);
		const HgFlatBin *bin = graph->bins[vertex >> vertices_log2];

		ahead->vertices[i] = vertex & mask;
		ahead->bins[i] = bin;

		/* offsets are most likely narrow; prefetching from a NULL bin does no harm */
		HG_CPU_PREFETCH(bin);
		HG_CPU_PREFETCH((const char *) (bin + 1) + (vertex & mask) * sizeof(uint16_t));
	}
	ahead->hashed = count;
	ahead->at += count;
}

/* Finds and prefetches the hashed keys' lists. Skips rows that do not count, and empty lists. */
static inline void
find_lists(HgFlatJoin *join, HgCpuFlatGroup *group, bool numbered)
{
	const HgFlatShape *shape = &join->sides[join->plan.table].graph->shape;
	HgCpuFlatKeys *ahead = &join->cursor.keys;
	uint64_t from = ahead->at - ahead->hashed;
	uint32_t width = ahead->width;
	uint32_t n = 0;

	for (uint32_t i = 0; i < ahead->hashed; i++)
	{
		const HgFlatBin *head = ahead->bins[i];
		HgCpuFlatProbe *probe = &group->probes[n];
		HgCpuFlatLayout layout;
		HgCpuFlatBin bin;

		if (head == NULL || head->rows == 0)
			continue;
		layout = hg_cpu_flat_layout(shape, head->rows);
		bin.offset_width = head->offset_width;
		bin.offsets = (const char *) head + layout.offsets;
		probe->key = hg_cpu_flat_key(ahead->keys, width, from + i);
		probe->row = ahead->numbers != NULL ? ahead->numbers[from + i]
											: ahead->first_row + (uint32_t) (from + i);
		probe->at = hg_cpu_flat_offset(&bin, ahead->vertices[i]);
		probe->end = hg_cpu_flat_offset(&bin, (uint64_t) ahead->vertices[i] + 1);
		probe->keys = (const char *) head + layout.keys;
		probe->numbers = (const uint32_t *) ((const char *) head + layout.numbers);
		if (ahead->mask != NULL && !hg_cpu_flat_counts(ahead->mask, probe->row))
			continue;
		HG_CPU_PREFETCH((const char *) probe->keys + (size_t) probe->at * shape->key_width);
		HG_CPU_PREFETCH((const char *) probe->keys + (size_t) probe->end * shape->key_width - 1);
		if (numbered)
		{
			HG_CPU_PREFETCH(&probe->numbers[probe->at]);
			HG_CPU_PREFETCH(&probe->numbers[probe->end - 1]);
		}
		n += probe->at < probe->end;
	}
	group->count = n;
	group->keys = ahead->hashed;
}

/* Looks up the next group of keys; returns false if no keys are left. */
static bool
look_up(HgFlatJoin *join, bool numbered)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	HgCpuFlatKeys *ahead = &cursor->keys;

	if (ahead->left == 0)
		return false;
	if (!ahead->begun)
	{
		hash_ahead(join);
		find_lists(join, &cursor->groups[1 - cursor->current], numbered);
		hash_ahead(join);
		ahead->begun = true;
	}
	cursor->current = 1 - cursor->current;
	cursor->done = 0;
	ahead->left -= cursor->groups[cursor->current].keys;
	find_lists(join, &cursor->groups[1 - cursor->current], numbered);
	hash_ahead(join);
	return true;
}

/* Search: goes to the keys of the part's next inner bin; returns false if there is none. */
static bool
next_inner_bin(HgFlatJoin *join)
{
	const HgFlatGraph *inner = join->sides[HG_INNER].graph;
	HgCpuFlatCursor *cursor = &join->cursor;

	if (cursor->inner_number >> (inner->shape.bins_log2 - join->plan.parts_log2) != cursor->part)
		return false;
	cursor->inner = hg_cpu_flat_bin(inner, cursor->inner_number++);
	set_keys(join, HG_INNER, &cursor->inner, NULL);
	begin_keys(&cursor->keys, 0, cursor->inner.rows);
	return true;
}

/* Search: goes to a key; if it is not the first of its list with its value, it gets no edges. */
static void
next_key(HgFlatJoin *join, const HgCpuFlatProbe *key)
{
	const HgFlatShape *shape = &join->sides[HG_INNER].graph->shape;
	HgCpuFlatCursor *cursor = &join->cursor;
	uint64_t vertex = hg_vertex_of_hash(hg_cpu_flat_hash(key->key), hg_cpu_flat_log2(shape)) &
					  ((UINT32_C(1) << shape->vertices_log2) - 1);
	uint32_t before;

	cursor->list.at = hg_cpu_flat_offset(&cursor->inner, vertex);
	cursor->list.end = hg_cpu_flat_offset(&cursor->inner, vertex + 1);
	cursor->list.keys = cursor->inner.keys;
	cursor->list.numbers = cursor->inner.numbers;
	cursor->list.key = key->key;
	cursor->edges = *key;

	/* equal keys are neighbours in a long list */
	before = cursor->list.at;
	if (cursor->list.end - before > HG_CPU_FLAT_SORTED && key->row > before)
		before = key->row - 1;
	for (; before < key->row; before++)
		if (hg_cpu_flat_key(cursor->inner.keys, shape->key_width, before) == key->key)
			cursor->edges.end = cursor->edges.at;
	if (cursor->edges.end - cursor->edges.at > HG_CPU_FLAT_SORTED)
		cursor->edges.at =
			hg_cpu_flat_find_key(key->keys, join->sides[HG_OUTER].graph->shape.key_width,
								 cursor->edges.at, cursor->edges.end, key->key, false);
}

/* Search: makes probes of the outer edges with the key; returns false if the group is full. */
static bool
find_edges(HgFlatJoin *join)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	const HgFlatMask *mask = join->filters[HG_OUTER].mask;
	uint32_t width = join->sides[HG_OUTER].graph->shape.key_width;
	bool sorted = cursor->edges.end - cursor->edges.at > HG_CPU_FLAT_SORTED;
	HgCpuFlatGroup *found = &cursor->found;

	for (; cursor->edges.at < cursor->edges.end; cursor->edges.at++)
	{
		uint32_t row;

		if (hg_cpu_flat_key(cursor->edges.keys, width, cursor->edges.at) != cursor->list.key)
		{
			/* none after it has the key */
			if (sorted)
				cursor->edges.end = cursor->edges.at;
			if (sorted)
				break;
			continue;
		}
		row = cursor->edges.numbers[cursor->edges.at];
		if (mask != NULL && !hg_cpu_flat_counts(mask, row))
			continue;
		if (found->count == HG_CPU_FLAT_GROUP)
			return false;
		found->probes[found->count] = cursor->list;
		found->probes[found->count++].row = row;
	}
	return true;
}

/* Search: finds a group of probes; it is empty at the end. */
static HgStatus
search(HgFlatJoin *join, HgError *error)
{
	HgCpuFlatCursor *cursor = &join->cursor;
	HgStatus status = HG_OK;

	cursor->found.count = 0;
	while (status == HG_OK && find_edges(join) && cursor->found.count < HG_CPU_FLAT_GROUP)
	{
		const HgCpuFlatGroup *group = &cursor->groups[cursor->current];

		status = hg_cpu_flat_work_done(join, 1, error);
		if (status != HG_OK)
			break;
		if (cursor->searched < group->count)
			next_key(join, &group->probes[cursor->searched++]);
		else if (look_up(join, true))
			cursor->searched = 0;
		else if (!cursor->in_part || !next_inner_bin(join))
		{
			status = next_part(join, error);
			if (!cursor->in_part)
				break;
		}
	}
	return status;
}

HgStatus
hg_cpu_flat_find(HgFlatJoin *join, bool numbered, HgError *error)
{
	HgCpuFlatCursor *cursor = &join->cursor;

	cursor->done = 0;
	cursor->begun = false;
	if (join->plan.way == HG_CPU_FLAT_SEARCH)
		return search(join, error);
	cursor->groups[cursor->current].count = 0;
	for (;;)
	{
		HgStatus status = hg_cpu_flat_work_done(join, 1, error);

		if (status != HG_OK)
			return status;
		if (cursor->in_part && look_up(join, numbered))
		{
			const HgCpuFlatGroup *group = &cursor->groups[cursor->current];

			status = hg_cpu_flat_work_done(join, group->keys, error);
			if (status != HG_OK || group->count > 0)
				return status;
			continue;
		}
		/* no row of a probed cell may count, but cells of its stretch may be left */
		if (cursor->in_part && cursor->stretch.cell < cursor->stretch.cells)
			return HG_OK;
		if (cursor->in_part && join->plan.way == HG_CPU_FLAT_INTERSECT && next_stretch(join))
		{
			if (cursor->stretch.cells > 0)
				return HG_OK;
			continue;
		}
		status = next_part(join, error);
		if (status != HG_OK || !cursor->in_part)
			return status;
	}
}
