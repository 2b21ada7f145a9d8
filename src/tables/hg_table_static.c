/*-------------------------------------------------------------------------
 *
 * hg_table_static.c
 *	  HashGraphs that each change rebuilds: CSR, Ellpack and Sliced Ellpack.
 *
 * The lists of a HashGraph are the rows of a sparse matrix, and can be stored like it (a thesis on
 * the Template Numerical Library compares these formats for hash tables):
 *
 *	csr				offsets[V + 1]; list v is slots offsets[v] .. offsets[v + 1] - 1. No slot is
 *					wasted; a lookup reads an offset, and then the list.
 *	ellpack			each list has as many slots as the longest, L: list v begins at v * L. A
 *					lookup reads only the list. With a good hash and unique keys L is about 10 at
 *					a load factor of 1; with duplicates it is the rows of the most frequent key.
 *	sliced ellpack	the same for slices of 32 neighbours: list v begins at
 *					starts[v / 32] + (v % 32) * L, L the longest of its slice. starts are a
 *					32nd of CSR's offsets.
 *
 * Unused slots are marked empty and are the last of a list. If there are too many (max_padding),
 * the build is refused: then CSR is the better format.
 *
 * All are built as CSR lists (hg_table_lists.c), from which the Ellpacks are copied. A change
 * builds a new table from the old one's rows that are not erased, and the batch's, and replaces
 * the old one: "concatenate and build again", which pays if a batch is about as large as the
 * table. The old table stays intact until then, so that a change that fails has no effect.
 *
 * Lists longer than HG_TABLE_SORTED_LIST slots are sorted by word, and searched by bisection.
 *
 * Memory: the table, and during a change the new one, with scratch (hg_table_lists.c), and a table
 * of what is erased (hg_table_base.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_base.h"
#include "hg_table_lists.h"

#include <inttypes.h>
#include <stdio.h>

/* log2 of the lists that share a length. */
#define SLICE_LOG2 5

/* An Ellpack may always have so many slots. */
#define SLOTS_ALLOWED 1024

typedef struct StaticTable
{
	HgTable table;
	HgTableLists lists; /* an Ellpack's has no offsets, and its slots are padded */
	uint64_t length;	/* ellpack: slots of a list */
	uint32_t *starts;	/* sliced: [slices + 1] where the lists of a slice begin */
	uint64_t starts_bytes;
} StaticTable;

/* Returns log2 of the lists in a slice. */
static inline uint32_t
slice_log2(const HgTableLists *lists)
{
	return lists->log2 < SLICE_LOG2 ? lists->log2 : SLICE_LOG2;
}

/* Stores where a list begins, and returns how many slots it has. */
static inline uint64_t
list_slots(const StaticTable *graph, uint64_t v, uint64_t *from)
{
	uint64_t length = graph->length;

	if (graph->table.spec.kind == HG_TABLE_CSR)
	{
		*from = graph->lists.offsets[v];
		return graph->lists.offsets[v + 1] - *from;
	}
	if (graph->table.spec.kind == HG_TABLE_SLICED_ELLPACK)
	{
		uint32_t log2 = slice_log2(&graph->lists);
		const uint32_t *start = &graph->starts[v >> log2];

		length = (start[1] - start[0]) >> log2;
		*from = start[0] + (v & ((UINT64_C(1) << log2) - 1)) * length;
		return length;
	}
	*from = v * length;
	return length;
}

static void
static_free(HgTable *table, StaticTable *graph)
{
	hg_lists_free(table, &graph->lists);
	hg_table_free(table, graph->starts, graph->starts_bytes);
	graph->starts = NULL;
}

static void
static_close(HgTable *table)
{
	static_free(table, (StaticTable *) table);
}

static HgStatus
static_open(HgTable *table, HgError *error)
{
	/* no memory before the first row */
	(void) table;
	(void) error;
	return HG_OK;
}

/* Returns the most slots of padded lists of so many rows, or of the expected ones if more. */
static uint64_t
padded_most(const HgTableSpec *spec, uint64_t rows)
{
	double most =
		spec->max_padding * (double) (rows > spec->expected_rows ? rows : spec->expected_rows);

	return most > (double) UINT32_MAX ? UINT32_MAX
		   : most > SLOTS_ALLOWED	  ? (uint64_t) most
									  : SLOTS_ALLOWED;
}

static void
static_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	uint64_t lists = hg_lists_bytes(spec, rows, 0);
	uint64_t build = lists + hg_lists_build_bytes(spec, rows, 0);
	uint64_t held = lists;

	if (spec->kind != HG_TABLE_CSR)
	{
		uint64_t slots = padded_most(spec, rows);

		/* starts are smaller than offsets, and scratch for sorting than the padded slots */
		held = slots * hg_slot_bytes(spec) + lists;
		build += held + slots * hg_slot_bytes(spec);
	}
	memory->held += held;
	memory->build += build;
	memory->change += held + build + hg_erased_bytes(rows);
}

/* Returns the error of too much padding. */
static HgStatus
refuse_padding(const HgTable *table, uint64_t slots, uint64_t rows, uint64_t longest,
			   HgError *error)
{
	char detail[160];

	snprintf(detail, sizeof(detail),
			 "%" PRIu64 " slots for %" PRIu64 " rows; the longest list has %" PRIu64 " rows.",
			 slots, rows, longest);
	return hg_error_set(error, HG_INVALID, detail, "padding of a table of kind %s beyond its limit",
						hg_table_kind_name(table->spec.kind));
}

/* Returns the longest of the lists v .. v + count - 1 in CSR form. */
static uint64_t
longest_of(const HgTableLists *lists, uint64_t v, uint64_t count)
{
	uint64_t longest = 0;

	for (uint64_t i = v; i < v + count; i++)
		if (lists->offsets[i + 1] - lists->offsets[i] > longest)
			longest = lists->offsets[i + 1] - lists->offsets[i];
	return longest;
}

/* Chooses the lengths of lists, with *slots in all, which may be too many. */
static HgStatus
static_lengths(HgTable *table, StaticTable *graph, uint64_t *slots, HgError *error)
{
	HgTableLists *lists = &graph->lists;
	uint64_t vertices = hg_lists_vertices(lists);
	uint32_t log2 = slice_log2(lists);
	uint64_t slices = vertices >> log2;
	uint64_t sum = 0;
	HgStatus status;
	void *memory;

	if (table->spec.kind == HG_TABLE_ELLPACK)
	{
		graph->length = lists->longest;
		*slots = vertices * lists->longest;
		return HG_OK;
	}
	graph->starts_bytes = (slices + 1) * sizeof(uint32_t);
	status = hg_table_alloc(table, graph->starts_bytes, &memory, error);
	graph->starts = memory;
	for (uint64_t i = 0; i < slices && status == HG_OK; i++)
	{
		graph->starts[i] = (uint32_t) sum;
		sum += longest_of(lists, i << log2, UINT64_C(1) << log2) << log2;
		status = hg_table_work(table, 1, error);
	}
	if (status == HG_OK)
		graph->starts[slices] = (uint32_t) sum;
	*slots = sum;
	return status;
}

/*
 * Copies the lists to their padded slots. A list with more slots than HG_TABLE_SORTED_LIST must be
 * sorted, even if it has fewer rows.
 */
static HgStatus
static_pad(HgTable *table, StaticTable *graph, HgTableSlots *padded, HgError *error)
{
	HgTableLists *lists = &graph->lists;
	uint32_t width = table->spec.key_width;
	uint64_t vertices = hg_lists_vertices(lists);
	HgTableSlots scratch = {0};
	HgStatus status = hg_table_fill(table, padded->memory, 0xff, padded->bytes, error);

	if (status == HG_OK && lists->longest > HG_TABLE_SORTED_LIST)
		status = hg_slots_alloc(table, table->spec.layout, HG_TABLE_SORTED_LIST, &scratch, error);
	for (uint64_t v = 0; v < vertices && status == HG_OK; v++)
	{
		uint64_t old = lists->offsets[v];
		uint64_t rows = lists->offsets[v + 1] - old;
		uint64_t from;
		uint64_t length = list_slots(graph, v, &from);

		status = hg_table_work(table, 1, error);
		for (uint64_t i = 0; i < rows && status == HG_OK; i++)
		{
			hg_slot_set(padded, from + i, hg_slot_word(&lists->slots, old + i, width),
						hg_slot_row(&lists->slots, old + i, width), width);
			status = hg_table_work(table, i % HG_TABLE_UNIT_ITEMS == 0, error);
		}
		if (status == HG_OK && length > HG_TABLE_SORTED_LIST && rows <= HG_TABLE_SORTED_LIST)
			status = hg_lists_sort(table, padded, from, rows, &scratch, error);
	}
	hg_slots_free(table, &scratch);
	return status;
}

/* Converts CSR lists to an Ellpack. */
static HgStatus
static_convert(HgTable *table, StaticTable *graph, HgError *error)
{
	HgTableLists *lists = &graph->lists;
	HgTableSlots padded;
	uint64_t slots;
	HgStatus status;

	HG_TRY(static_lengths(table, graph, &slots, error));
	if (slots > padded_most(&table->spec, lists->rows))
		return refuse_padding(table, slots, lists->rows, lists->longest, error);
	status = hg_slots_alloc(table, table->spec.layout, slots, &padded, error);
	if (status == HG_OK)
		status = static_pad(table, graph, &padded, error);
	if (status != HG_OK)
	{
		hg_slots_free(table, &padded);
		return status;
	}
	hg_slots_free(table, &lists->slots);
	lists->slots = padded;
	hg_table_free(table, lists->offsets, lists->offsets_bytes);
	lists->offsets = NULL;
	lists->offsets_bytes = 0;
	return HG_OK;
}

/* Builds the new table in a struct of its own, which then replaces the old one. */
static HgStatus
static_change(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
			  HgError *error)
{
	StaticTable *graph = (StaticTable *) table;
	StaticTable built = {.table = {.spec = table->spec}};
	HgTableErased erased = {0};
	HgTableFeed feed;
	HgStatus status = HG_OK;

	if (out != NULL)
		status = hg_erased_create(table, &erased, out, error);
	if (status != HG_OK)
		return status;
	hg_feed_init(&feed, table->rows > 0 ? table : NULL, out != NULL ? &erased : NULL, in);
	status = hg_lists_build(table, &feed, 0, true, &built.lists, error);
	if (status == HG_OK && table->spec.kind != HG_TABLE_CSR)
		status = static_convert(table, &built, error);
	if (out != NULL)
		hg_erased_free(table, &erased);
	if (status != HG_OK)
	{
		static_free(table, &built);
		return status;
	}

	static_free(table, graph);
	graph->lists = built.lists;
	graph->length = built.length;
	graph->starts = built.starts;
	graph->starts_bytes = built.starts_bytes;
	table->rows = built.lists.rows;
	if (table->used)
		table->totals.rebuilds++;
	change->erased = feed.erased_rows;
	change->inserted = table->rows - feed.old_rows;
	return HG_OK;
}

/* Returns the first slot of a sorted list whose word is not below a word or, if past, above it. */
HG_TABLE_INLINE uint64_t
list_bisect(const HgTableSlots *slots, uint64_t from, uint64_t length, uint64_t word, bool past,
			uint32_t width)
{
	while (length > 0)
	{
		uint64_t half = length / 2;
		uint64_t middle = hg_slot_word(slots, from + half, width);

		/* an empty slot is above every word */
		if ((middle < word || (past && middle == word)) &&
			hg_slot_is_live(hg_slot_row(slots, from + half, width)))
		{
			from += half + 1;
			length -= half + 1;
		}
		else
			length = half;
	}
	return from;
}

/* Stores the bounds of words' lists; the memory accesses of all words overlap. */
HG_TABLE_INLINE void
static_lists_of(const StaticTable *graph, const uint64_t *words, uint32_t count, uint64_t *from,
				uint64_t *length, uint32_t width)
{
	const HgTableLists *lists = &graph->lists;
	uint32_t log2 = slice_log2(lists);

	for (uint32_t i = 0; i < count; i++)
	{
		from[i] = hg_vertex_of_hash(hg_table_hash(words[i], width), lists->log2);
		if (lists->offsets != NULL)
			HG_TABLE_PREFETCH(&lists->offsets[from[i]]);
		else if (graph->starts != NULL)
			HG_TABLE_PREFETCH(&graph->starts[from[i] >> log2]);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		length[i] = list_slots(graph, from[i], &from[i]);
		hg_slot_prefetch(&lists->slots, from[i]);
	}
}

HG_TABLE_INLINE void
static_find_width(const HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows,
				  uint32_t width)
{
	const StaticTable *graph = (const StaticTable *) table;
	const HgTableSlots *slots = &graph->lists.slots;
	uint64_t from[HG_TABLE_CHUNK];
	uint64_t length[HG_TABLE_CHUNK];

	static_lists_of(graph, words, count, from, length, width);
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t slot = from[i];
		uint64_t end = slot + length[i];

		rows[i] = HG_NO_ROW;
		if (length[i] > HG_TABLE_SORTED_LIST)
		{
			slot = list_bisect(slots, slot, length[i], words[i], false, width);
			end = slot < end ? slot + 1 : end;
		}
		for (; slot < end; slot++)
			if (hg_slot_word(slots, slot, width) == words[i])
			{
				uint32_t row = hg_slot_row(slots, slot, width);

				/* in an empty slot it is HG_NO_ROW, and no row follows */
				rows[i] = row;
				break;
			}
	}
}

static HgStatus
static_find(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	(void) error;
	if (table->rows == 0)
		memset(rows, 0xff, count * sizeof(uint32_t));
	else if (table->spec.key_width == 4)
		static_find_width(table, words, count, rows, 4);
	else
		static_find_width(table, words, count, rows, 8);
	return HG_OK;
}

HG_TABLE_INLINE void
static_locate_width(const StaticTable *graph, const uint64_t *words, uint32_t count,
					HgTableCursor *cursors, uint32_t width)
{
	uint64_t from[HG_TABLE_CHUNK];
	uint64_t length[HG_TABLE_CHUNK];

	static_lists_of(graph, words, count, from, length, width);
	for (uint32_t i = 0; i < count; i++)
	{
		cursors[i].at = from[i];
		cursors[i].left = length[i];
		if (length[i] > HG_TABLE_SORTED_LIST)
		{
			uint64_t first =
				list_bisect(&graph->lists.slots, from[i], length[i], words[i], false, width);
			uint64_t past =
				list_bisect(&graph->lists.slots, from[i], length[i], words[i], true, width);

			cursors[i].at = first;
			cursors[i].left = past - first;
		}
	}
}

static HgStatus
static_locate(HgTable *table, const uint64_t *words, uint32_t count, HgTableCursor *cursors,
			  HgError *error)
{
	const StaticTable *graph = (const StaticTable *) table;

	(void) error;
	if (table->rows == 0)
		memset(cursors, 0, count * sizeof(HgTableCursor));
	else if (table->spec.key_width == 4)
		static_locate_width(graph, words, count, cursors, 4);
	else
		static_locate_width(graph, words, count, cursors, 8);
	return HG_OK;
}

HG_TABLE_INLINE void
static_count_width(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *counts,
				   uint32_t width, HgError *error)
{
	const HgTableSlots *slots = &((const StaticTable *) table)->lists.slots;
	HgTableCursor cursors[HG_TABLE_CHUNK];

	static_locate(table, words, count, cursors, error);
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t end = cursors[i].at + cursors[i].left;
		uint32_t found = 0;

		if (cursors[i].left > HG_TABLE_SORTED_LIST)
			found = (uint32_t) cursors[i].left; /* only the word's rows: see locate */
		else
			for (uint64_t slot = cursors[i].at; slot < end; slot++)
				found += hg_slot_word(slots, slot, width) == words[i] &&
						 hg_slot_is_live(hg_slot_row(slots, slot, width));
		counts[i] = found;
	}
}

static HgStatus
static_count(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *counts,
			 HgError *error)
{
	if (table->spec.key_width == 4)
		static_count_width(table, words, count, counts, 4, error);
	else
		static_count_width(table, words, count, counts, 8, error);
	return HG_OK;
}

static HgStatus
static_next(HgTable *table, uint64_t word, HgTableCursor *cursor, uint32_t *rows, size_t capacity,
			size_t *found, HgError *error)
{
	const HgTableSlots *slots = &((const StaticTable *) table)->lists.slots;
	uint32_t width = table->spec.key_width;

	(void) error;
	*found = 0;
	for (; cursor->left > 0 && *found < capacity; cursor->at++, cursor->left--)
		if (hg_slot_word(slots, cursor->at, width) == word)
		{
			uint32_t row = hg_slot_row(slots, cursor->at, width);

			if (hg_slot_is_live(row))
				rows[(*found)++] = row;
		}
	return HG_OK;
}

/* Returns the number of slots that belong to lists. */
static uint64_t
static_used(const StaticTable *graph)
{
	if (graph->lists.offsets != NULL)
		return graph->lists.offsets[hg_lists_vertices(&graph->lists)];
	return graph->lists.slots.count;
}

static uint32_t
static_scan(const HgTable *table, uint64_t *cursor, uint64_t *words, uint32_t *rows, bool *end)
{
	const StaticTable *graph = (const StaticTable *) table;

	return hg_slots_scan(&graph->lists.slots, static_used(graph), table->spec.key_width, cursor,
						 words, rows, end);
}

static HgStatus
static_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	const StaticTable *graph = (const StaticTable *) table;
	const HgTableLists *lists = &graph->lists;
	HgStatus status = HG_OK;

	if (lists->slots.memory == NULL)
		return HG_OK;
	stats->slots = lists->slots.count;
	stats->lists = hg_lists_vertices(lists);
	stats->longest_list = lists->longest;
	for (uint64_t v = 0; v < stats->lists && status == HG_OK; v++)
	{
		uint64_t from;
		uint64_t length = list_slots(graph, v, &from);

		if (length == 0 ||
			!hg_slot_is_live(hg_slot_row(&lists->slots, from, table->spec.key_width)))
			stats->empty_lists++;
		status = hg_table_work(table, 1, error);
	}
	return status;
}

const HgTableCalls hg_table_static_calls = {
	.bytes = sizeof(StaticTable),
	.memory = static_memory,
	.open = static_open,
	.change = static_change,
	.find = static_find,
	.count = static_count,
	.locate = static_locate,
	.next = static_next,
	.scan = static_scan,
	.describe = static_describe,
	.close = static_close,
};
