/*-------------------------------------------------------------------------
 *
 * hg_table_lists.c
 *	  Lists of a HashGraph in CSR form, built from a feed: Algorithm 1 of the HashGraph paper.
 *
 * O. Green, "HashGraph - Scalable Hash Tables Using a Sparse Graph Data Structure", ACM TOPC 2021:
 * building is sorting by hash. The feed is read twice: to count the rows of each vertex, whose
 * prefix sum gives the offsets, and to put each row into the next free slot of its list. So the
 * rows of a list keep the order of the feed. While a list is filled, offsets[v + 1] is its next
 * slot, as in ../cpu/hg_cpu_graph.c; hence the one entry more.
 *
 * Sets and maps keep each key once. In place, list after list, all but the first row of each key
 * are dropped, and the lists move up to close the gaps. If more than an eighth of the slots is
 * left over at the end, these are freed.
 *
 * Long lists, which duplicates or keys with equal hashes cause, are sorted by a merge sort, which
 * keeps the order of equal words. Then equal keys are neighbours, and no list makes building or
 * looking up quadratic.
 *
 * Memory: offsets and slots, and scratch for the longest list that is sorted, or the slots that
 * lists are copied to.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_lists.h"

#include "../engine/hg_shape.h"

/* Returns log2 of the vertices, for the expected rows if these are more. */
static uint32_t
vertices_log2(const HgTableSpec *spec, uint64_t rows)
{
	return hg_shape_vertices_log2(rows > spec->expected_rows ? rows : spec->expected_rows,
								  spec->load_factor);
}

/* Returns the slots of the lists of so many rows. */
static uint64_t
lists_slots(const HgTableSpec *spec, uint64_t rows, uint32_t empty)
{
	return rows + ((uint64_t) empty << vertices_log2(spec, rows));
}

uint64_t
hg_lists_bytes(const HgTableSpec *spec, uint64_t rows, uint32_t empty)
{
	return ((UINT64_C(1) << vertices_log2(spec, rows)) + 2) * sizeof(uint32_t) +
		   (lists_slots(spec, rows, empty) + 1) * hg_slot_bytes(spec);
}

uint64_t
hg_lists_build_bytes(const HgTableSpec *spec, uint64_t rows, uint32_t empty)
{
	return (lists_slots(spec, rows, empty) + 1) * hg_slot_bytes(spec);
}

/* Counts the rows of the feed, *count in all; the count of vertex v is in offsets[v + 2]. */
static HgStatus
lists_count(HgTable *table, HgTableFeed *feed, HgTableLists *lists, uint64_t *count, HgError *error)
{
	uint32_t width = table->spec.key_width;
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t found;
	HgStatus status;

	*count = 0;
	hg_feed_rewind(feed);
	while ((status = hg_feed_next(table, feed, words, rows, &found, error)) == HG_OK && found > 0)
	{
		for (uint32_t i = 0; i < found; i++)
			lists->offsets[2 + hg_vertex_of_hash(hg_table_hash(words[i], width), lists->log2)]++;
		*count += found;
	}
	return status;
}

/* Turns the counts into offsets, which lists_scatter advances, and finds the longest list. */
static HgStatus
lists_sum(HgTable *table, HgTableLists *lists, uint32_t empty, HgError *error)
{
	uint64_t vertices = hg_lists_vertices(lists);
	uint32_t *offsets = lists->offsets;
	uint32_t sum = 0;
	HgStatus status = HG_OK;

	for (uint64_t v = 0; v < vertices && status == HG_OK; v++)
	{
		uint32_t count = offsets[v + 2];

		if (count > lists->longest)
			lists->longest = count;
		sum += count + empty;
		offsets[v + 2] = sum;
		if (v % HG_TABLE_CHUNK_ITEMS == 0)
			status = hg_table_poll(table, error);
	}
	return status;
}

HG_TABLE_INLINE HgStatus
lists_scatter_width(HgTable *table, HgTableFeed *feed, HgTableLists *lists, uint32_t width,
					HgError *error)
{
	uint32_t *cursors = lists->offsets + 1;
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t found;
	HgStatus status;

	hg_feed_rewind(feed);
	while ((status = hg_feed_next(table, feed, words, rows, &found, error)) == HG_OK && found > 0)
		for (uint32_t i = 0; i < found; i++)
		{
			uint32_t v = hg_vertex_of_hash(hg_table_hash(words[i], width), lists->log2);

			hg_slot_set(&lists->slots, cursors[v]++, words[i], rows[i], width);
		}
	return status;
}

/* Puts the rows of the feed into their lists. */
static HgStatus
lists_scatter(HgTable *table, HgTableFeed *feed, HgTableLists *lists, HgError *error)
{
	return table->spec.key_width == 4 ? lists_scatter_width(table, feed, lists, 4, error)
									  : lists_scatter_width(table, feed, lists, 8, error);
}

HgStatus
hg_lists_sort(HgTable *table, HgTableSlots *slots, uint64_t from, uint64_t count,
			  HgTableSlots *scratch, HgError *error)
{
	uint32_t width = table->spec.key_width;

	for (uint64_t run = 1; run < count; run *= 2)
	{
		for (uint64_t start = 0; start < count; start += 2 * run)
		{
			uint64_t a = start;
			uint64_t a_end = a + run < count ? a + run : count;
			uint64_t b = a_end;
			uint64_t b_end = b + run < count ? b + run : count;

			for (uint64_t to = start; to < b_end; to++)
			{
				bool take_a = b == b_end || (a < a_end && hg_slot_word(slots, from + a, width) <=
															  hg_slot_word(slots, from + b, width));
				uint64_t taken = from + (take_a ? a++ : b++);

				HG_TRY(hg_table_work(table, 1, error));
				hg_slot_set(scratch, to, hg_slot_word(slots, taken, width),
							hg_slot_row(slots, taken, width), width);
			}
		}
		for (uint64_t i = 0; i < count; i++)
		{
			HG_TRY(hg_table_work(table, i % HG_TABLE_UNIT_ITEMS == 0, error));
			hg_slot_set(slots, from + i, hg_slot_word(scratch, i, width),
						hg_slot_row(scratch, i, width), width);
		}
	}
	return HG_OK;
}

/*
 * Moves the rows of a list to slot `to` on, without repeated keys; *kept is their number. Equal
 * words are neighbours if is_sorted.
 */
static HgStatus
list_unique(HgTable *table, const HgTableSlots *slots, uint64_t from, uint64_t count, uint64_t to,
			bool is_sorted, uint64_t *kept, HgError *error)
{
	uint32_t width = table->spec.key_width;
	uint64_t n = 0;

	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t word = hg_slot_word(slots, from + i, width);
		uint32_t row = hg_slot_row(slots, from + i, width);
		uint64_t first = is_sorted && n > 0 ? n - 1 : 0;

		HG_TRY(hg_table_work(table, 1, error));
		while (first < n && hg_slot_word(slots, to + first, width) != word)
			first++;
		if (first == n)
			hg_slot_set(slots, to + n++, word, row, width);
	}
	*kept = n;
	return HG_OK;
}

/* Sorts long lists, drops duplicates, closes the gaps, and marks empty slots. */
static HgStatus
lists_tidy(HgTable *table, HgTableLists *lists, uint32_t empty, bool sorted, HgError *error)
{
	bool unique = table->spec.content != HG_TABLE_MULTIMAP;
	uint32_t width = table->spec.key_width;
	uint64_t vertices = hg_lists_vertices(lists);
	uint32_t *offsets = lists->offsets;
	HgTableSlots scratch = {0};
	HgStatus status = HG_OK;
	uint64_t longest = lists->longest;
	uint64_t to = 0;
	uint32_t start = 0; /* of the list as it was placed, after the empty slots of earlier lists */

	if (!unique && empty == 0 && !(sorted && longest > HG_TABLE_SORTED_LIST))
		return HG_OK;
	if ((unique || sorted) && longest > HG_TABLE_SORTED_LIST)
		status = hg_slots_alloc(table, table->spec.layout, longest, &scratch, error);
	lists->longest = 0;
	for (uint64_t v = 0; v < vertices && status == HG_OK; v++)
	{
		/* offsets[v + 1] is the end of the list's placed rows */
		uint64_t count = offsets[v + 1] - start;
		bool sort = (unique || sorted) && count > HG_TABLE_SORTED_LIST;
		uint64_t kept = count;

		status = hg_table_work(table, 1, error);
		if (status == HG_OK && sort)
			status = hg_lists_sort(table, &lists->slots, start, count, &scratch, error);
		if (status == HG_OK && unique)
			status = list_unique(table, &lists->slots, start, count, to, sort, &kept, error);
		start = offsets[v + 1] + empty;
		offsets[v] = (uint32_t) to;
		lists->rows -= count - kept;
		lists->longest = kept > lists->longest ? kept : lists->longest;
		to += kept;
		for (uint32_t i = 0; i < empty; i++)
			hg_slot_mark(&lists->slots, to++, 0, width);
	}
	offsets[vertices] = (uint32_t) to;
	hg_slots_free(table, &scratch);
	return status;
}

/* Frees slots that duplicates have left over. */
static HgStatus
lists_trim(HgTable *table, HgTableLists *lists, HgError *error)
{
	uint32_t width = table->spec.key_width;
	uint64_t used = lists->offsets[hg_lists_vertices(lists)];
	HgTableSlots smaller;
	HgStatus status;

	if (lists->slots.count - used <= lists->slots.count / HG_TABLE_UNUSED_PART)
		return HG_OK;
	status = hg_slots_alloc(table, table->spec.layout, used, &smaller, error);
	for (uint64_t i = 0; i < used && status == HG_OK; i++)
	{
		hg_slot_set(&smaller, i, hg_slot_word(&lists->slots, i, width),
					hg_slot_row(&lists->slots, i, width), width);
		status = hg_table_work(table, i % HG_TABLE_UNIT_ITEMS == 0, error);
	}
	if (status != HG_OK)
	{
		hg_slots_free(table, &smaller);
		return status;
	}
	hg_slots_free(table, &lists->slots);
	lists->slots = smaller;
	return HG_OK;
}

HgStatus
hg_lists_check(const HgTableSpec *spec, uint64_t rows, uint32_t empty, HgError *error)
{
	if (lists_slots(spec, rows, empty) > UINT32_MAX)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many slots in a table");
	return HG_OK;
}

HgStatus
hg_lists_build(HgTable *table, HgTableFeed *feed, uint32_t empty, bool sorted, HgTableLists *lists,
			   HgError *error)
{
	uint64_t most = hg_feed_most(feed);
	HgStatus status;
	void *memory;

	memset(lists, 0, sizeof(*lists));
	HG_TRY(hg_lists_check(&table->spec, most, empty, error));
	lists->log2 = vertices_log2(&table->spec, most);
	lists->offsets_bytes = (hg_lists_vertices(lists) + 2) * sizeof(uint32_t);
	status = hg_table_alloc(table, lists->offsets_bytes, &memory, error);
	lists->offsets = memory;
	if (status == HG_OK)
		status = hg_table_fill(table, memory, 0, lists->offsets_bytes, error);
	if (status == HG_OK)
		status = lists_count(table, feed, lists, &lists->rows, error);
	if (status == HG_OK)
		status = lists_sum(table, lists, empty, error);
	if (status == HG_OK)
		status =
			hg_slots_alloc(table, table->spec.layout,
						   lists->rows + empty * hg_lists_vertices(lists), &lists->slots, error);
	if (status == HG_OK)
		status = lists_scatter(table, feed, lists, error);
	if (status == HG_OK)
		status = lists_tidy(table, lists, empty, sorted, error);
	if (status == HG_OK)
		status = lists_trim(table, lists, error);
	if (status != HG_OK)
		hg_lists_free(table, lists);
	return status;
}

void
hg_lists_free(HgTable *table, HgTableLists *lists)
{
	hg_table_free(table, lists->offsets, lists->offsets_bytes);
	hg_slots_free(table, &lists->slots);
	memset(lists, 0, sizeof(*lists));
}
