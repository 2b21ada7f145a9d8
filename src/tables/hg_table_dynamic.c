/*-------------------------------------------------------------------------
 *
 * hg_table_dynamic.c
 *	  The HashGraph that changes in place: lists with empty slots.
 *
 * From the thesis on the Template Numerical Library (hg_table_static.c). The lists are those of a
 * CSR HashGraph, built with e empty slots at the end of each (empty_slots): a list's counter
 * starts at e instead of 0, and the slots start as empty.
 *
 * WALK. A key belongs to its vertex's list or, if that is full, to the next one, and so on (linear
 * probing over lists), up to MOST_WALK lists further, around the end.
 *
 *	insert	walks until it finds the key (which stays, except in a multimap) or an empty slot.
 *			It uses that slot, or the first deleted slot on its way. If there is none, the table
 *			is full and is rebuilt, with the rest of the batch.
 *	find	walks until it finds the key or an empty slot, after which the key can't be.
 *	erase	finds, and marks the slot as deleted: walks go on after it.
 *
 * INVARIANT: on the walk from a row's own list to the row no slot is empty. For a used slot
 * becomes empty only in a rebuild, and the empty slots of a list are its last ones. So in long
 * lists (HG_TABLE_SORTED_LIST) the first empty slot can be found by bisection.
 *
 * REBUILD. A batch with as many rows as the table, if these are more than a few for its slots, or
 * with more than the empty slots can take before walks get long, is not worth a walk for each row:
 * everything is hashed again, the old rows and the batch's.
 *
 * ERASING MANY PAIRS OF ONE KEY would walk over all of its rows for each pair. Once the walks of a
 * batch have read more slots than the table has, the rest of the batch is erased by one sweep over
 * all slots (hg_table_base.c).
 *
 * Memory: the lists; during a rebuild both old and new ones; during a sweep a table of what is
 * erased.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_base.h"
#include "hg_table_lists.h"

/* Most lists after its own in which a row may be. */
#define MOST_WALK 32

/* Slots seen for each erased row, beside all slots once, from which one sweep is faster. */
#define SWEPT_SLOTS 64

/* A batch that fills more of the empty slots, or a part of all, is inserted by a rebuild. */
#define FILLED_QUARTERS 3
#define FILLED_PART 4

typedef struct DynamicTable
{
	HgTable table;
	HgTableLists lists; /* rows and longest are those of the last rebuild */
	uint64_t deleted;	/* slots marked as deleted */
} DynamicTable;

/* A walk from list to list. */
typedef struct Walk
{
	uint64_t list;
	uint64_t at; /* the remaining slots of the list are at .. end - 1 */
	uint64_t end;
	uint32_t lists; /* lists after the first */
} Walk;

static inline void
walk_begin(const HgTableLists *lists, uint64_t vertex, Walk *walk)
{
	walk->list = vertex;
	walk->at = lists->offsets[vertex];
	walk->end = lists->offsets[vertex + 1];
	walk->lists = 0;
}

/* Goes to the next list; returns false if no row of the first list can be there. */
static inline bool
walk_next(const HgTableLists *lists, Walk *walk)
{
	uint64_t vertices = hg_lists_vertices(lists);

	if (walk->lists == MOST_WALK || walk->lists + 1 == vertices)
		return false;
	walk->lists++;
	walk->list = (walk->list + 1) & (vertices - 1);
	walk->at = lists->offsets[walk->list];
	walk->end = lists->offsets[walk->list + 1];
	return true;
}

static inline uint32_t
vertex_of(const DynamicTable *dynamic, uint64_t word)
{
	return hg_vertex_of_hash(hg_table_hash(word, dynamic->table.spec.key_width),
							 dynamic->lists.log2);
}

/* Prefetches the first list of each word. */
static void
prefetch_lists(const DynamicTable *dynamic, const uint64_t *words, uint32_t count)
{
	const uint32_t *offsets = dynamic->lists.offsets;

	for (uint32_t i = 0; i < count; i++)
		HG_TABLE_PREFETCH(&offsets[vertex_of(dynamic, words[i])]);
	for (uint32_t i = 0; i < count; i++)
		hg_slot_prefetch(&dynamic->lists.slots, offsets[vertex_of(dynamic, words[i])]);
}

/* Returns the empty slots of each list of a table that is opened. */
static uint32_t
empty_slots_at_first(const HgTableSpec *spec)
{
	return spec->empty_slots + (spec->expected_rows > 0 ? (uint32_t) spec->load_factor + 1 : 0);
}

static HgStatus
dynamic_open(HgTable *table, HgError *error)
{
	DynamicTable *dynamic = (DynamicTable *) table;
	HgTableFeed nothing;

	hg_feed_init(&nothing, NULL, NULL, NULL);
	return hg_lists_build(table, &nothing, empty_slots_at_first(&table->spec), false,
						  &dynamic->lists, error);
}

static void
dynamic_close(HgTable *table)
{
	hg_lists_free(table, &((DynamicTable *) table)->lists);
}

static void
dynamic_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	uint64_t first = hg_lists_bytes(spec, 0, empty_slots_at_first(spec));
	uint64_t lists = hg_lists_bytes(spec, rows, spec->empty_slots);
	uint64_t scratch = hg_lists_build_bytes(spec, rows, spec->empty_slots);
	uint64_t held = first > lists ? first : lists;

	memory->held += held;
	memory->build += first + lists + scratch;
	memory->change += held + lists + scratch + hg_erased_bytes(rows);
}

/* Rebuilds the table of its rows and the rest of a source, which may be NULL. */
static HgStatus
dynamic_rebuild(HgTable *table, HgTableSource *in, HgTableChange *change, HgError *error)
{
	DynamicTable *dynamic = (DynamicTable *) table;
	HgTableLists built;
	HgTableFeed feed;

	hg_feed_init(&feed, table->rows > 0 ? table : NULL, NULL, in);
	HG_TRY(hg_lists_build(table, &feed, table->spec.empty_slots, false, &built, error));
	if (table->used)
		table->totals.rebuilds++;
	hg_lists_free(table, &dynamic->lists);
	dynamic->lists = built;
	dynamic->deleted = 0;
	change->inserted += built.rows - feed.old_rows;
	table->rows = built.rows;
	return HG_OK;
}

/* Returns the first empty slot of from .. end - 1, or end; empty slots must be the last ones. */
HG_TABLE_INLINE uint64_t
first_empty(const HgTableSlots *slots, uint64_t from, uint64_t end, uint32_t width)
{
	while (from < end)
	{
		uint64_t middle = from + (end - from) / 2;

		if (hg_slot_row(slots, middle, width) == HG_SLOT_EMPTY)
			end = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* The outcome of an insert. */
typedef enum Inserted
{
	INSERTED_NEW,
	INSERTED_BEFORE, /* the key was there before */
	INSERTED_NOT	 /* there is no free slot */
} Inserted;

HG_TABLE_INLINE HgStatus
insert_one(DynamicTable *dynamic, uint64_t word, uint32_t row, Inserted *inserted, uint32_t width,
		   HgError *error)
{
	bool unique = dynamic->table.spec.content != HG_TABLE_MULTIMAP;
	const HgTableSlots *slots = &dynamic->lists.slots;
	uint64_t free_slot = UINT64_MAX; /* the first free slot */
	uint32_t free_row = HG_SLOT_DELETED;
	HgStatus status = HG_OK;
	Walk walk;

	walk_begin(&dynamic->lists, vertex_of(dynamic, word), &walk);
	do
	{
		uint64_t seen = walk.at;

		if (!unique && walk.end - walk.at > HG_TABLE_SORTED_LIST)
			seen = walk.at = first_empty(slots, walk.at, walk.end, width);
		for (; walk.at < walk.end; walk.at++)
		{
			uint32_t there = hg_slot_row(slots, walk.at, width);

			if (hg_slot_is_live(there))
			{
				if (!unique || hg_slot_word(slots, walk.at, width) != word)
					continue;
				*inserted = INSERTED_BEFORE;
				return HG_OK;
			}
			if (free_slot == UINT64_MAX)
			{
				free_slot = walk.at;
				free_row = there;
			}
			if (there == HG_SLOT_EMPTY || !unique)
				goto found;
		}
		status = hg_table_work(&dynamic->table, (uint32_t) (walk.at - seen), error);
	} while (status == HG_OK && walk_next(&dynamic->lists, &walk));

found:
	*inserted = free_slot == UINT64_MAX ? INSERTED_NOT : INSERTED_NEW;
	if (status != HG_OK || free_slot == UINT64_MAX)
		return status;
	dynamic->deleted -= free_row == HG_SLOT_DELETED;
	hg_slot_set(slots, free_slot, word, row, width);
	return HG_OK;
}

/* Returns true if a batch of so many rows is worth a rebuild at once. */
static bool
batch_is_large(const DynamicTable *dynamic, uint64_t count)
{
	uint64_t rows = dynamic->table.rows;
	uint64_t slots = dynamic->lists.offsets[hg_lists_vertices(&dynamic->lists)];
	uint64_t empty = slots - rows - dynamic->deleted;

	/* a table that was opened with room for the rows is filled, not rebuilt */
	return count > empty / 4 * FILLED_QUARTERS ||
		   (rows > 0 && count >= rows && count >= slots / FILLED_PART);
}

static HgStatus
dynamic_insert(HgTable *table, HgTableSource *in, HgTableChange *change, HgError *error)
{
	DynamicTable *dynamic = (DynamicTable *) table;
	uint32_t width = table->spec.key_width;
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];

	if (batch_is_large(dynamic, in->batch->count))
		return dynamic_rebuild(table, in, change, error);
	for (;;)
	{
		uint64_t begin = in->at;
		uint32_t count;
		HgStatus status = hg_source_next(table, in, words, rows, &count, error);

		if (status != HG_OK || count == 0)
			return status;
		prefetch_lists(dynamic, words, count);
		for (uint32_t i = 0; i < count; i++)
		{
			Inserted inserted = INSERTED_NOT;

			status = width == 4 ? insert_one(dynamic, words[i], rows[i], &inserted, 4, error)
								: insert_one(dynamic, words[i], rows[i], &inserted, 8, error);
			if (status != HG_OK)
				return status;
			if (inserted == INSERTED_NOT)
			{
				/*
				 * sets and maps: keys of the chunk that were inserted are skipped when they recur
				 */
				in->at = table->spec.content == HG_TABLE_MULTIMAP ? begin + i : begin;
				return dynamic_rebuild(table, in, change, error);
			}
			table->rows += inserted == INSERTED_NEW;
			change->inserted += inserted == INSERTED_NEW;
		}
	}
}

/* Marks the slots of a key, or of a pair, as deleted; adds the slots read to *seen. */
HG_TABLE_INLINE HgStatus
erase_one(DynamicTable *dynamic, uint64_t word, bool by_key, uint32_t row, uint64_t *erased,
		  uint64_t *seen, uint32_t width, HgError *error)
{
	bool unique = dynamic->table.spec.content != HG_TABLE_MULTIMAP;
	const HgTableSlots *slots = &dynamic->lists.slots;
	HgStatus status;
	Walk walk;

	walk_begin(&dynamic->lists, vertex_of(dynamic, word), &walk);
	do
	{
		for (; walk.at < walk.end; walk.at++)
		{
			uint32_t there = hg_slot_row(slots, walk.at, width);

			++*seen;
			if (there == HG_SLOT_EMPTY)
				return HG_OK;
			if (there == HG_SLOT_DELETED || hg_slot_word(slots, walk.at, width) != word)
				continue;
			if (by_key || there == row)
			{
				hg_slot_mark(slots, walk.at, 1, width);
				++*erased;
			}
			if (unique)
				return HG_OK;
			status = hg_table_work(&dynamic->table, 1, error);
			if (status != HG_OK)
				return status;
		}
		status = hg_table_work(&dynamic->table, 1, error);
	} while (status == HG_OK && walk_next(&dynamic->lists, &walk));
	return status;
}

/* Reads every slot, and erases the rest of a source. */
static HgStatus
erase_sweep(DynamicTable *dynamic, HgTableSource *out, uint64_t *erased, HgError *error)
{
	HgTable *table = &dynamic->table;
	const HgTableSlots *slots = &dynamic->lists.slots;
	uint64_t used = dynamic->lists.offsets[hg_lists_vertices(&dynamic->lists)];
	uint32_t width = table->spec.key_width;
	HgTableErased batch;
	HgStatus status = HG_OK;

	HG_TRY(hg_erased_create(table, &batch, out, error));
	for (uint64_t i = 0; i < used && status == HG_OK; i++)
	{
		uint32_t row = hg_slot_row(slots, i, width);

		if (hg_slot_is_live(row) && hg_erased_has(&batch, hg_slot_word(slots, i, width), row))
		{
			hg_slot_mark(slots, i, 1, width);
			++*erased;
		}
		status = hg_table_work(table, 1, error);
	}
	hg_erased_free(table, &batch);
	return status;
}

static HgStatus
dynamic_erase(HgTable *table, HgTableSource *out, HgTableChange *change, HgError *error)
{
	DynamicTable *dynamic = (DynamicTable *) table;
	bool by_key = out->batch->by_key || table->spec.content == HG_TABLE_SET;
	uint64_t slots = dynamic->lists.offsets[hg_lists_vertices(&dynamic->lists)];
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint64_t seen = 0;
	uint64_t erased = 0;
	uint32_t count;
	HgStatus status;

	while ((status = hg_source_next(table, out, words, rows, &count, error)) == HG_OK && count > 0)
	{
		prefetch_lists(dynamic, words, count);
		for (uint32_t i = 0; i < count && status == HG_OK; i++)
			status = table->spec.key_width == 4
						 ? erase_one(dynamic, words[i], by_key, rows[i], &erased, &seen, 4, error)
						 : erase_one(dynamic, words[i], by_key, rows[i], &erased, &seen, 8, error);
		if (status == HG_OK && seen > slots + SWEPT_SLOTS * out->at)
			status = erase_sweep(dynamic, out, &erased, error);
		if (status != HG_OK)
			break;
	}
	table->rows -= erased;
	dynamic->deleted += erased;
	change->erased += erased;
	return status;
}

static HgStatus
dynamic_change(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
			   HgError *error)
{
	HgStatus status = HG_OK;

	/* a change that might not fit is not begun */
	if (in != NULL)
		status = hg_lists_check(&table->spec, table->rows + in->batch->count,
								table->spec.empty_slots, error);
	if (status == HG_OK && out != NULL)
		status = dynamic_erase(table, out, change, error);
	if (status == HG_OK && in != NULL)
		status = dynamic_insert(table, in, change, error);
	return status;
}

HG_TABLE_INLINE HgStatus
find_one(DynamicTable *dynamic, uint64_t word, uint32_t *row, uint32_t width, HgError *error)
{
	const HgTableSlots *slots = &dynamic->lists.slots;
	HgStatus status;
	Walk walk;

	*row = HG_NO_ROW;
	walk_begin(&dynamic->lists, vertex_of(dynamic, word), &walk);
	do
	{
		uint64_t begin = walk.at;

		for (; walk.at < walk.end; walk.at++)
		{
			uint32_t there = hg_slot_row(slots, walk.at, width);

			if (there == HG_SLOT_EMPTY)
				return HG_OK;
			if (there != HG_SLOT_DELETED && hg_slot_word(slots, walk.at, width) == word)
			{
				*row = there;
				return HG_OK;
			}
		}
		status = hg_table_work(&dynamic->table, (uint32_t) (walk.at - begin), error);
	} while (status == HG_OK && walk_next(&dynamic->lists, &walk));
	return status;
}

static HgStatus
dynamic_find(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	DynamicTable *dynamic = (DynamicTable *) table;
	HgStatus status = HG_OK;

	prefetch_lists(dynamic, words, count);
	for (uint32_t i = 0; i < count && status == HG_OK; i++)
		status = table->spec.key_width == 4 ? find_one(dynamic, words[i], &rows[i], 4, error)
											: find_one(dynamic, words[i], &rows[i], 8, error);
	return status;
}

static HgStatus
dynamic_locate(HgTable *table, const uint64_t *words, uint32_t count, HgTableCursor *cursors,
			   HgError *error)
{
	DynamicTable *dynamic = (DynamicTable *) table;

	(void) error;
	prefetch_lists(dynamic, words, count);
	for (uint32_t i = 0; i < count; i++)
	{
		Walk walk;

		walk_begin(&dynamic->lists, vertex_of(dynamic, words[i]), &walk);
		cursors[i].list = walk.list;
		cursors[i].at = walk.at;
		cursors[i].left = walk.end - walk.at;
		cursors[i].walk = 0;
	}
	return HG_OK;
}

/* HgTableCursor.walk after the last of a word's rows. */
#define WALK_ENDED UINT32_MAX

static HgStatus
dynamic_next(HgTable *table, uint64_t word, HgTableCursor *cursor, uint32_t *rows, size_t capacity,
			 size_t *found, HgError *error)
{
	DynamicTable *dynamic = (DynamicTable *) table;
	const HgTableSlots *slots = &dynamic->lists.slots;
	uint32_t width = table->spec.key_width;
	Walk walk = {cursor->list, cursor->at, cursor->at + cursor->left, cursor->walk};
	HgStatus status = HG_OK;

	*found = 0;
	while (walk.lists != WALK_ENDED && *found < capacity && status == HG_OK)
	{
		uint32_t there;

		if (walk.at == walk.end)
		{
			if (!walk_next(&dynamic->lists, &walk))
				walk.lists = WALK_ENDED;
			continue;
		}
		there = hg_slot_row(slots, walk.at, width);
		if (there == HG_SLOT_EMPTY)
			walk.lists = WALK_ENDED;
		else if (there != HG_SLOT_DELETED && hg_slot_word(slots, walk.at, width) == word)
			rows[(*found)++] = there;
		walk.at++;
		status = hg_table_work(table, walk.at % HG_TABLE_UNIT_ITEMS == 0, error);
	}
	cursor->list = walk.list;
	cursor->at = walk.at;
	cursor->left = walk.end - walk.at;
	cursor->walk = walk.lists;
	return status;
}

static HgStatus
dynamic_count(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *counts,
			  HgError *error)
{
	HgTableCursor cursors[HG_TABLE_CHUNK];
	uint32_t room[HG_TABLE_CHUNK];
	HgStatus status = dynamic_locate(table, words, count, cursors, error);

	for (uint32_t i = 0; i < count && status == HG_OK; i++)
	{
		size_t found = HG_TABLE_CHUNK;

		counts[i] = 0;
		while (status == HG_OK && found == HG_TABLE_CHUNK)
		{
			status =
				dynamic_next(table, words[i], &cursors[i], room, HG_TABLE_CHUNK, &found, error);
			counts[i] += (uint32_t) found;
		}
	}
	return status;
}

static uint32_t
dynamic_scan(const HgTable *table, uint64_t *cursor, uint64_t *words, uint32_t *rows, bool *end)
{
	const HgTableLists *lists = &((const DynamicTable *) table)->lists;

	return hg_slots_scan(&lists->slots, lists->offsets[hg_lists_vertices(lists)],
						 table->spec.key_width, cursor, words, rows, end);
}

static HgStatus
dynamic_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	const DynamicTable *dynamic = (const DynamicTable *) table;
	const HgTableLists *lists = &dynamic->lists;
	uint32_t width = table->spec.key_width;
	uint64_t vertices = hg_lists_vertices(lists);
	HgStatus status = HG_OK;

	stats->slots = lists->offsets[vertices];
	stats->lists = vertices;
	stats->deleted = dynamic->deleted;
	for (uint64_t v = 0; v < vertices && status == HG_OK; v++)
	{
		uint64_t length = lists->offsets[v + 1] - lists->offsets[v];
		bool empty = true;

		stats->longest_list = length > stats->longest_list ? length : stats->longest_list;
		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1] && status == HG_OK; i++)
		{
			uint64_t walk;

			status = hg_table_work(table, i % HG_TABLE_UNIT_ITEMS == 0, error);
			if (!hg_slot_is_live(hg_slot_row(&lists->slots, i, width)))
				continue;
			empty = false;
			walk = (v - vertex_of(dynamic, hg_slot_word(&lists->slots, i, width))) & (vertices - 1);
			stats->longest_walk = walk > stats->longest_walk ? walk : stats->longest_walk;
		}
		stats->empty_lists += empty;
		if (status == HG_OK)
			status = hg_table_work(table, v % HG_TABLE_UNIT_ITEMS == 0, error);
	}
	return status;
}

const HgTableCalls hg_table_dynamic_calls = {
	.bytes = sizeof(DynamicTable),
	.memory = dynamic_memory,
	.open = dynamic_open,
	.change = dynamic_change,
	.find = dynamic_find,
	.count = dynamic_count,
	.locate = dynamic_locate,
	.next = dynamic_next,
	.scan = dynamic_scan,
	.describe = dynamic_describe,
	.close = dynamic_close,
};
