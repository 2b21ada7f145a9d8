/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo.c
 *	  DyCuckoo: subtables of buckets, of which one at a time is resized.
 *
 * Y. Li and others, "Dynamic Hash Tables on GPUs", ICDE 2021. There are d subtables of 2^k
 * buckets, each with a function of its own. A bucket has 32 slots for keys of 4 bytes and 16 for
 * 8, so that its words are 128 bytes; rows are stored apart. A key is in one of d buckets, one of
 * each subtable, in any slot.
 *
 * FIND searches the d buckets. ERASE finds, and empties the slot.
 *
 * INSERT. A new pair goes to a random subtable, in proportion to n / C(m, 2) for n slots and m
 * pairs there: conflicts are fewest if C(m, 2) / n is the same for all. (The proportions are those
 * at the start of a chunk of rows.) If its bucket is full, it takes a random slot, and the pair in
 * that slot goes to the next subtable, and so on until a bucket has room.
 *
 * RESIZE. The fill factor stays between alpha and beta (min_filled, max_filled). Before an insert
 * that would exceed beta the smallest subtable is doubled. After an erase the largest is halved
 * while the factor is below alpha; but no subtable gets smaller than it was opened. So none has
 * more than twice the slots of another, and a resize moves a d-th of the table.
 *
 * Doubling: a bucket's number is the low bits of the hash, so the pairs of bucket b stay there or
 * go to b + old number of buckets, and all of them fit. Halving: buckets b and b + half become
 * one; what does not fit is inserted into the other subtables.
 *
 * A chain of more than 7 lg(slots) evictions means that the table is full in effect: the smallest
 * subtable is doubled. If the table is filled less than alpha, it means that the functions are
 * bad: all pairs move to new subtables of the same sizes, with new functions.
 *
 * In the paper a warp processes a bucket, a lane a slot, under a lock that lanes vote for; here
 * pairs come one after the other.
 *
 * Memory: the subtables, and beside them the one that replaces another or, with new functions, all
 * of them; and the pairs that do not fit into a half.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_dycuckoo_base.h"
#include "hg_table_erased.h"
#include "hg_table_kinds.h"

static HgStatus
dycuckoo_open(HgTable *table, HgError *error)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;
	HgStatus status;

	dycuckoo->random = table->spec.seed;
	status = hg_dycuckoo_make(table, table->spec.expected_rows, error);
	for (uint32_t i = 0; i < table->spec.subtables; i++)
	{
		dycuckoo->subtables[i].least_log2 = dycuckoo->subtables[i].log2;
		hg_dycuckoo_choose_function(dycuckoo, &dycuckoo->subtables[i]);
	}
	return status;
}

static void
dycuckoo_close(HgTable *table)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;

	for (uint32_t i = 0; i < table->spec.subtables; i++)
		hg_slots_free(table, &dycuckoo->subtables[i].slots);
}

static void
dycuckoo_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots = hg_dycuckoo_choose_sizes(
		spec, rows > spec->expected_rows ? rows : spec->expected_rows, log2);
	uint64_t bytes;

	/* a chain that was too long may have doubled one more */
	slots += (uint64_t) hg_dycuckoo_bucket_slots(spec->key_width) << log2[0];
	bytes = slots * hg_slot_bytes(spec);
	memory->held += bytes;
	memory->build += 2 * bytes;
	memory->change += 2 * bytes;
}

static HgStatus
dycuckoo_erase(HgTable *table, HgTableSource *out, HgTableChange *change, HgError *error)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;
	bool by_key = out->batch->by_key || table->spec.content == HG_TABLE_SET;
	uint32_t width = table->spec.key_width;
	uint64_t words[HG_TABLE_CHUNK];
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status;

	while ((status = hg_source_next(table, out, words, rows, &count, error)) == HG_OK && count > 0)
	{
		hg_dycuckoo_locate(dycuckoo, words, count, subtables, slots);
		for (uint32_t i = 0; i < count; i++)
		{
			HgDycuckooSubtable *subtable = &dycuckoo->subtables[subtables[i]];
			uint32_t there;

			if (slots[i] == HG_DYCUCKOO_NOWHERE)
				continue;

			/* an earlier entry of the chunk may have erased it */
			there = hg_slot_row(&subtable->slots, slots[i], width);
			if (!hg_slot_is_live(there) || !(by_key || there == rows[i]))
				continue;
			hg_slot_mark(&subtable->slots, slots[i], 0, width);
			subtable->rows--;
			table->rows--;
			change->erased++;
		}
		status = hg_dycuckoo_hold_least(dycuckoo, error);
		if (status != HG_OK)
			break;
	}
	return status;
}

/* Inserts a chunk of a batch. */
static HgStatus
insert_chunk(HgDycuckoo *dycuckoo, const uint64_t *words, const uint32_t *rows, uint32_t count,
			 HgTableChange *change, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];
	uint64_t before = change->inserted;
	HgStatus status = HG_OK;

	hg_dycuckoo_locate(dycuckoo, words, count, subtables, slots);
	hg_dycuckoo_choose_weights(dycuckoo, HG_DYCUCKOO_NOWHERE);
	for (uint32_t i = 0; i < count && status == HG_OK; i++)
	{
		HgDycuckooItem item = {words[i], rows[i]};

		if (slots[i] != HG_DYCUCKOO_NOWHERE)
			continue;

		/* the same key may have come with the chunk */
		if (change->inserted > before)
		{
			uint64_t again;
			uint32_t subtable;

			hg_dycuckoo_locate(dycuckoo, &words[i], 1, &subtable, &again);
			if (again != HG_DYCUCKOO_NOWHERE)
				continue;
		}
		if (table->rows + 1 > hg_dycuckoo_most_rows(&table->spec, dycuckoo->slots))
			status = hg_dycuckoo_double(dycuckoo, error);
		if (status == HG_OK)
			status = hg_table_work(table, 1, error);
		if (status == HG_OK)
			status = hg_dycuckoo_insert(dycuckoo, &item, error);
		table->rows++;
		change->inserted++;
	}
	return status;
}

static HgStatus
dycuckoo_insert(HgTable *table, HgTableSource *in, HgTableChange *change, HgError *error)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status = HG_OK;

	/* a first batch gets room for all of it */
	if (table->rows == 0 && in->batch->count > hg_dycuckoo_most_rows(&table->spec, dycuckoo->slots))
		status = hg_dycuckoo_make(table, in->batch->count, error);
	while (status == HG_OK &&
		   (status = hg_source_next(table, in, words, rows, &count, error)) == HG_OK && count > 0)
		status = insert_chunk(dycuckoo, words, rows, count, change, error);
	return status;
}

static HgStatus
dycuckoo_change(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
				HgError *error)
{
	HgStatus status = HG_OK;

	if (out != NULL)
		status = dycuckoo_erase(table, out, change, error);
	if (status == HG_OK && in != NULL)
		status = dycuckoo_insert(table, in, change, error);

	/* duplicates in a first batch, or new functions, may have left the table too large */
	if (status == HG_OK)
		status = hg_dycuckoo_hold_least((HgDycuckoo *) table, error);
	return status;
}

static HgStatus
dycuckoo_find(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	const HgDycuckoo *dycuckoo = (const HgDycuckoo *) table;
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];

	(void) error;
	hg_dycuckoo_locate(dycuckoo, words, count, subtables, slots);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = slots[i] == HG_DYCUCKOO_NOWHERE
					  ? HG_NO_ROW
					  : hg_slot_row(&dycuckoo->subtables[subtables[i]].slots, slots[i],
									table->spec.key_width);
	return HG_OK;
}

/* *cursor is the number of a subtable, above 56 bits, and a slot. */
static uint32_t
dycuckoo_scan(const HgTable *table, uint64_t *cursor, uint64_t *words, uint32_t *rows, bool *end)
{
	const HgDycuckoo *dycuckoo = (const HgDycuckoo *) table;
	uint64_t s = *cursor >> 56;
	uint64_t slot = *cursor & ((UINT64_C(1) << 56) - 1);
	const HgTableSlots *slots = &dycuckoo->subtables[s].slots;
	uint32_t count =
		hg_slots_scan(slots, slots->count, table->spec.key_width, &slot, words, rows, end);

	if (*end && s + 1 < table->spec.subtables)
	{
		*end = false;
		s++;
		slot = 0;
	}
	*cursor = s << 56 | slot;
	return count;
}

static HgStatus
dycuckoo_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	const HgDycuckoo *dycuckoo = (const HgDycuckoo *) table;
	uint32_t width = table->spec.key_width;
	HgStatus status = HG_OK;

	stats->slots = dycuckoo->slots;
	for (uint32_t s = 0; s < table->spec.subtables; s++)
	{
		const HgTableSlots *slots = &dycuckoo->subtables[s].slots;

		for (uint64_t from = 0; from < slots->count && status == HG_OK;
			 from += hg_dycuckoo_bucket_slots(width))
		{
			uint64_t rows = 0;

			for (uint32_t i = 0; i < hg_dycuckoo_bucket_slots(width); i++)
				rows += hg_slot_is_live(hg_slot_row(slots, from + i, width));
			stats->lists++;
			stats->empty_lists += rows == 0;
			stats->longest_list = rows > stats->longest_list ? rows : stats->longest_list;
			status = hg_table_work(table, hg_dycuckoo_bucket_slots(width), error);
		}
	}
	return status;
}

const HgTableCalls hg_table_dycuckoo_calls = {
	.bytes = sizeof(HgDycuckoo),
	.memory = dycuckoo_memory,
	.open = dycuckoo_open,
	.change = dycuckoo_change,
	.find = dycuckoo_find,
	.scan = dycuckoo_scan,
	.describe = dycuckoo_describe,
	.close = dycuckoo_close,
};
