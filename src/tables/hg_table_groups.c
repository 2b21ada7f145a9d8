/*-------------------------------------------------------------------------
 *
 * hg_table_groups.c
 *	  Cuckoo tables: multimaps, as rows in groups.
 *
 * The multi-value table of "Building an Efficient Hash Table on the GPU"
 * (hg_table_cuckoo.c): distinct keys have dense numbers, the rows of key k are
 * rows[offsets[k]] .. rows[offsets[k + 1] - 1], and a basic table maps a key to its number.
 *
 * The paper sorts all pairs by radix sort, which brings equal keys together, and then numbers
 * them. Here a compacting table numbers the keys first, and the pairs are sorted by number, by
 * counting:
 *
 *	1. each row's key gets its number, which is noted;
 *	2. numbers are counted, and a prefix sum of the counts gives the offsets;
 *	3. each row goes to the next position of its group, which so keeps the order of its rows.
 *
 * As with static HashGraphs (hg_table_static.c) a change builds a new table from the old one's
 * rows that are not erased, and the batch's.
 *
 * Memory: the keys' slots, an offset and a word for each key, and the rows; during a build also
 * the number of each row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_base.h"
#include "hg_table_slots.h"

/* The arrays of a table, which each change builds anew. */
typedef struct Groups
{
	HgCuckooSlots numbers; /* the number of each key, stored as its row */
	uint32_t *offsets;	   /* [keys + 2] */
	uint64_t offsets_bytes;
	void *words; /* [keys] of the table's width, by number */
	uint64_t words_bytes;
	uint32_t *rows; /* [count] */
	uint64_t rows_bytes;
	uint64_t count;
	uint64_t longest; /* most rows of one key */
} Groups;

typedef struct GroupsTable
{
	HgTable table;
	Groups groups; /* all zero in a table without rows */
} GroupsTable;

static void
groups_free(HgTable *table, Groups *groups)
{
	hg_cuckoo_close(table, &groups->numbers);
	hg_table_free(table, groups->offsets, groups->offsets_bytes);
	hg_table_free(table, groups->words, groups->words_bytes);
	hg_table_free(table, groups->rows, groups->rows_bytes);
	memset(groups, 0, sizeof(*groups));
}

static HgStatus
groups_open(HgTable *table, HgError *error)
{
	/* no memory before the first row */
	(void) table;
	(void) error;
	return HG_OK;
}

static void
groups_close(HgTable *table)
{
	groups_free(table, &((GroupsTable *) table)->groups);
}

static void
groups_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	uint64_t slots = hg_cuckoo_bytes(spec, rows);
	uint64_t held =
		slots + (rows + 2) * sizeof(uint32_t) + (rows + 1) * (spec->key_width + sizeof(uint32_t));
	uint64_t numbers = (rows + 1) * sizeof(uint32_t);

	memory->held += held;
	memory->build += held + slots + numbers;
	memory->change += 2 * held + slots + numbers + hg_erased_bytes(rows);
}

/* Numbers the keys of a feed; numbers[i] is the number of row i's key. */
static HgStatus
groups_number(HgTable *table, HgTableFeed *feed, Groups *groups, uint32_t *numbers, HgError *error)
{
	uint64_t most = hg_feed_most(feed);
	uint64_t words[HG_TABLE_CHUNK];
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status = HG_OK;

	HG_TRY(hg_cuckoo_open(table, &groups->numbers, 0, error));
	while ((status = hg_feed_next(table, feed, words, rows, &count, error)) == HG_OK && count > 0)
	{
		/* this prefetches their slots */
		hg_cuckoo_find(table, &groups->numbers, words, count, slots);
		for (uint32_t i = 0; i < count && status == HG_OK; i++)
		{
			uint32_t next = (uint32_t) groups->numbers.rows;
			uint32_t number;

			status = hg_cuckoo_insert(table, &groups->numbers, words[i], next,
									  most - groups->count - i - 1, &number, error);
			numbers[groups->count + i] = number == HG_NO_ROW ? next : number;
		}
		groups->count += count;
		if (status != HG_OK)
			break;
	}
	return status;
}

/* Counts rows by number, and turns the counts into offsets, which groups_scatter advances. */
static HgStatus
groups_count(HgTable *table, Groups *groups, const uint32_t *numbers, HgError *error)
{
	uint64_t keys = groups->numbers.rows;
	HgStatus status = hg_table_fill(table, groups->offsets, 0, groups->offsets_bytes, error);

	for (uint64_t i = 0; i < groups->count && status == HG_OK; i++)
	{
		groups->offsets[numbers[i] + 2]++;
		if (i % HG_TABLE_CHUNK_ITEMS == 0)
			status = hg_table_poll(table, error);
	}
	for (uint64_t key = 0; key < keys && status == HG_OK; key++)
	{
		if (groups->offsets[key + 2] > groups->longest)
			groups->longest = groups->offsets[key + 2];
		groups->offsets[key + 2] += groups->offsets[key + 1];
		if (key % HG_TABLE_CHUNK_ITEMS == 0)
			status = hg_table_poll(table, error);
	}
	return status;
}

/* Puts each row into its group, and each key's word at its number. */
static HgStatus
groups_scatter(HgTable *table, HgTableFeed *feed, Groups *groups, const uint32_t *numbers,
			   HgError *error)
{
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status;

	hg_feed_rewind(feed);
	while ((status = hg_feed_next(table, feed, words, rows, &count, error)) == HG_OK && count > 0)
		for (uint32_t i = 0; i < count; i++)
		{
			uint32_t number = *numbers++;

			groups->rows[groups->offsets[number + 1]++] = rows[i];
			if (table->spec.key_width == 4)
				((uint32_t *) groups->words)[number] = (uint32_t) words[i];
			else
				((uint64_t *) groups->words)[number] = words[i];
		}
	return status;
}

/* Allocates the arrays for the numbers of keys and rows that were counted. */
static HgStatus
groups_alloc(HgTable *table, Groups *groups, HgError *error)
{
	uint64_t keys = groups->numbers.rows;
	HgStatus status;
	void *memory;

	groups->offsets_bytes = (keys + 2) * sizeof(uint32_t);
	status = hg_table_alloc(table, groups->offsets_bytes, &memory, error);
	groups->offsets = memory;
	if (status != HG_OK)
		return status;
	groups->words_bytes = (keys + 1) * table->spec.key_width;
	HG_TRY(hg_table_alloc(table, groups->words_bytes, &groups->words, error));
	groups->rows_bytes = (groups->count + 1) * sizeof(uint32_t);
	status = hg_table_alloc(table, groups->rows_bytes, &memory, error);
	groups->rows = memory;
	return status;
}

/* Builds groups of a feed. On failure no memory stays allocated. */
static HgStatus
groups_build(HgTable *table, HgTableFeed *feed, Groups *groups, HgError *error)
{
	uint64_t numbers_bytes = (hg_feed_most(feed) + 1) * sizeof(uint32_t);
	HgStatus status;
	void *memory;
	uint32_t *numbers;

	memset(groups, 0, sizeof(*groups));
	status = hg_table_alloc(table, numbers_bytes, &memory, error);
	numbers = memory;
	if (status == HG_OK)
		status = groups_number(table, feed, groups, numbers, error);
	if (status == HG_OK)
		status = groups_alloc(table, groups, error);
	if (status == HG_OK)
		status = groups_count(table, groups, numbers, error);
	if (status == HG_OK)
		status = groups_scatter(table, feed, groups, numbers, error);
	hg_table_free(table, numbers, numbers_bytes);
	if (status != HG_OK)
		groups_free(table, groups);
	return status;
}

static HgStatus
groups_change(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
			  HgError *error)
{
	Groups *groups = &((GroupsTable *) table)->groups;
	HgTableErased erased = {0};
	HgTableFeed feed;
	Groups built;
	HgStatus status = HG_OK;

	if (in != NULL)
		status = hg_cuckoo_check(&table->spec, table->rows + in->batch->count, error);
	if (status == HG_OK && out != NULL)
		status = hg_erased_create(table, &erased, out, error);
	if (status != HG_OK)
		return status;
	hg_feed_init(&feed, table->rows > 0 ? table : NULL, out != NULL ? &erased : NULL, in);
	status = groups_build(table, &feed, &built, error);
	if (out != NULL)
		hg_erased_free(table, &erased);
	if (status != HG_OK)
		return status;

	groups_free(table, groups);
	*groups = built;
	table->rows = built.count;
	if (table->used)
		table->totals.rebuilds++;
	change->erased = feed.erased_rows;
	change->inserted = table->rows - feed.old_rows;
	return HG_OK;
}

static HgStatus
groups_locate(HgTable *table, const uint64_t *words, uint32_t count, HgTableCursor *cursors,
			  HgError *error)
{
	const Groups *groups = &((GroupsTable *) table)->groups;
	uint64_t slots[HG_TABLE_CHUNK];

	(void) error;
	memset(cursors, 0, count * sizeof(HgTableCursor));
	if (table->rows == 0)
		return HG_OK;
	hg_cuckoo_find(table, &groups->numbers, words, count, slots);
	for (uint32_t i = 0; i < count; i++)
		if (slots[i] != UINT64_MAX)
		{
			cursors[i].list = hg_slot_row(&groups->numbers.slots, slots[i], table->spec.key_width);
			cursors[i].left = 1;
			HG_TABLE_PREFETCH(&groups->offsets[cursors[i].list]);
		}
	for (uint32_t i = 0; i < count; i++)
		if (cursors[i].left > 0)
		{
			cursors[i].at = groups->offsets[cursors[i].list];
			cursors[i].left = groups->offsets[cursors[i].list + 1] - cursors[i].at;
			HG_TABLE_PREFETCH(&groups->rows[cursors[i].at]);
		}
	return HG_OK;
}

static HgStatus
groups_count_words(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *counts,
				   HgError *error)
{
	HgTableCursor cursors[HG_TABLE_CHUNK];
	HgStatus status = groups_locate(table, words, count, cursors, error);

	for (uint32_t i = 0; i < count && status == HG_OK; i++)
		counts[i] = (uint32_t) cursors[i].left;
	return status;
}

static HgStatus
groups_find(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	const Groups *groups = &((GroupsTable *) table)->groups;
	HgTableCursor cursors[HG_TABLE_CHUNK];
	HgStatus status = groups_locate(table, words, count, cursors, error);

	for (uint32_t i = 0; i < count && status == HG_OK; i++)
		rows[i] = cursors[i].left > 0 ? groups->rows[cursors[i].at] : HG_NO_ROW;
	return status;
}

static HgStatus
groups_next(HgTable *table, uint64_t word, HgTableCursor *cursor, uint32_t *rows, size_t capacity,
			size_t *found, HgError *error)
{
	const Groups *groups = &((GroupsTable *) table)->groups;

	(void) word;
	(void) error;
	*found = cursor->left < capacity ? (size_t) cursor->left : capacity;
	if (*found > 0)
		memcpy(rows, groups->rows + cursor->at, *found * sizeof(uint32_t));
	cursor->at += *found;
	cursor->left -= *found;
	return HG_OK;
}

/* *cursor is the number of a key, above 32 bits, and the index of a row. */
static uint32_t
groups_scan(const HgTable *table, uint64_t *cursor, uint64_t *words, uint32_t *rows, bool *end)
{
	const Groups *groups = &((const GroupsTable *) table)->groups;
	uint64_t key = *cursor >> 32;
	uint64_t at = *cursor & UINT32_MAX;
	uint32_t count = 0;

	for (; at < groups->count && count < HG_TABLE_CHUNK; at++, count++)
	{
		while (groups->offsets[key + 1] <= at)
			key++;
		words[count] = table->spec.key_width == 4 ? ((const uint32_t *) groups->words)[key]
												  : ((const uint64_t *) groups->words)[key];
		rows[count] = groups->rows[at];
	}
	*cursor = key << 32 | at;
	*end = at == groups->count;
	return count;
}

static HgStatus
groups_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	const Groups *groups = &((GroupsTable *) table)->groups;

	(void) error;
	stats->slots = groups->count;
	stats->lists = groups->numbers.rows;
	stats->longest_list = groups->longest;
	return HG_OK;
}

const HgTableCalls hg_table_groups_calls = {
	.bytes = sizeof(GroupsTable),
	.memory = groups_memory,
	.open = groups_open,
	.change = groups_change,
	.find = groups_find,
	.count = groups_count_words,
	.locate = groups_locate,
	.next = groups_next,
	.scan = groups_scan,
	.describe = groups_describe,
	.close = groups_close,
};
