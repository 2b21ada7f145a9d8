/*-------------------------------------------------------------------------
 *
 * hg_table_cuckoo.c
 *	  Cuckoo tables: maps, sets and numberings.
 *
 * Three of the tables of "Building an Efficient Hash Table on the GPU" (hg_table_cuckoo_slots.c):
 *
 *	basic		a map: word and row side by side in a slot
 *	set			words alone
 *	compacting	a numbering: a set whose keys have dense numbers. The paper builds a set, and
 *				numbers the keys without duplicates by a prefix sum over the slots. Here keys
 *				come one after the other, and each new one gets the next number: keys are numbered
 *				in the order in which they first occur, and later batches continue.
 *
 * An empty map or set makes room for the first batch as a whole. A numbering does not: most of the
 * rows whose groups it numbers have keys that occurred before.
 *
 * Memory: hg_table_cuckoo_slots.c.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_cuckoo_slots.h"
#include "hg_table_erased.h"
#include "hg_table_kinds.h"

typedef struct CuckooTable
{
	HgTable table;
	HgCuckooSlots cuckoo;
} CuckooTable;

static HgStatus
cuckoo_open(HgTable *table, HgError *error)
{
	HgStatus status = hg_cuckoo_check(&table->spec, table->spec.expected_rows, error);

	if (status != HG_OK)
		return status;
	return hg_cuckoo_open(table, &((CuckooTable *) table)->cuckoo, table->spec.expected_rows,
						  error);
}

static void
cuckoo_close(HgTable *table)
{
	hg_cuckoo_close(table, &((CuckooTable *) table)->cuckoo);
}

static void
cuckoo_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	uint64_t slots = hg_cuckoo_bytes(spec, rows);

	memory->held += slots;
	memory->build += 2 * slots;
	memory->change += 2 * slots;
}

static HgStatus
cuckoo_erase(HgTable *table, HgTableSource *out, HgTableChange *change, HgError *error)
{
	HgCuckooSlots *cuckoo = &((CuckooTable *) table)->cuckoo;
	bool by_key = out->batch->by_key || table->spec.content == HG_TABLE_SET;
	uint64_t words[HG_TABLE_CHUNK];
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status;

	while ((status = hg_source_next(table, out, words, rows, &count, error)) == HG_OK && count > 0)
	{
		hg_cuckoo_find(table, cuckoo, words, count, slots);
		for (uint32_t i = 0; i < count; i++)
		{
			uint32_t there;

			if (slots[i] == UINT64_MAX)
				continue;

			/* an earlier entry of the chunk may have erased it */
			there = hg_slot_row(&cuckoo->slots, slots[i], table->spec.key_width);
			if (there == HG_SLOT_EMPTY || !(by_key || there == rows[i]))
				continue;
			hg_cuckoo_erase(table, cuckoo, slots[i]);
			change->erased++;
		}
	}
	return status;
}

/* Makes room for a first batch. */
static HgStatus
cuckoo_reserve(HgTable *table, uint64_t rows, HgError *error)
{
	HgCuckooSlots *cuckoo = &((CuckooTable *) table)->cuckoo;

	if (table->spec.content == HG_TABLE_NUMBERING || cuckoo->rows > 0 ||
		cuckoo->slots.count * hg_slot_bytes(&table->spec) >= hg_cuckoo_bytes(&table->spec, rows))
		return HG_OK;
	hg_cuckoo_close(table, cuckoo);
	return hg_cuckoo_open(
		table, cuckoo, rows > table->spec.expected_rows ? rows : table->spec.expected_rows, error);
}

static HgStatus
cuckoo_insert(HgTable *table, HgTableSource *in, HgTableChange *change, HgError *error)
{
	HgCuckooSlots *cuckoo = &((CuckooTable *) table)->cuckoo;
	bool numbers = table->spec.content == HG_TABLE_NUMBERING;
	uint64_t words[HG_TABLE_CHUNK];
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status = cuckoo_reserve(table, in->batch->count, error);

	if (status != HG_OK)
		return status;
	while ((status = hg_source_next(table, in, words, rows, &count, error)) == HG_OK && count > 0)
	{
		uint64_t to_come = in->batch->count - in->at;

		/* this prefetches their slots */
		hg_cuckoo_find(table, cuckoo, words, count, slots);
		for (uint32_t i = 0; i < count && status == HG_OK; i++)
		{
			uint32_t there;

			if (slots[i] != UINT64_MAX)
				continue;
			status = hg_cuckoo_insert(table, cuckoo, words[i],
									  numbers ? (uint32_t) cuckoo->rows : rows[i],
									  to_come + count - i - 1, &there, error);
			change->inserted += there == HG_NO_ROW;
		}
		if (status != HG_OK)
			break;
	}
	return status;
}

static HgStatus
cuckoo_change(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
			  HgError *error)
{
	HgStatus status = HG_OK;

	/* a change that might not fit is not begun */
	if (in != NULL)
		status = hg_cuckoo_check(&table->spec, table->rows + in->batch->count, error);
	if (status == HG_OK && out != NULL)
		status = cuckoo_erase(table, out, change, error);
	if (status == HG_OK && in != NULL)
		status = cuckoo_insert(table, in, change, error);
	table->rows = ((CuckooTable *) table)->cuckoo.rows;
	return status;
}

static HgStatus
cuckoo_find(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	const HgCuckooSlots *cuckoo = &((CuckooTable *) table)->cuckoo;

	(void) error;
	hg_cuckoo_find_rows(table, cuckoo, words, count, rows);
	return HG_OK;
}

static uint32_t
cuckoo_scan(const HgTable *table, uint64_t *cursor, uint64_t *words, uint32_t *rows, bool *end)
{
	const HgTableSlots *slots = &((const CuckooTable *) table)->cuckoo.slots;

	return hg_slots_scan(slots, slots->count, table->spec.key_width, cursor, words, rows, end);
}

static HgStatus
cuckoo_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	(void) error;
	stats->slots = ((CuckooTable *) table)->cuckoo.slots.count;
	return HG_OK;
}

const HgTableCalls hg_table_cuckoo_calls = {
	.bytes = sizeof(CuckooTable),
	.memory = cuckoo_memory,
	.open = cuckoo_open,
	.change = cuckoo_change,
	.find = cuckoo_find,
	.scan = cuckoo_scan,
	.describe = cuckoo_describe,
	.close = cuckoo_close,
};
