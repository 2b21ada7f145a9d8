/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo_resize.c
 *	  DyCuckoo: doubles and halves subtables; inserts that may resize.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_dycuckoo_base.h"

uint64_t
hg_dycuckoo_most_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->max_filled * (double) slots);
}

/* Returns the least rows that so many slots should hold. */
static uint64_t
least_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->min_filled * (double) slots);
}

uint64_t
hg_dycuckoo_choose_sizes(const HgTableSpec *spec, uint64_t rows,
						 uint32_t log2[HG_TABLE_MAX_SUBTABLES])
{
	uint64_t slots = (uint64_t) spec->subtables * hg_dycuckoo_bucket_slots(spec->key_width);

	memset(log2, 0, HG_TABLE_MAX_SUBTABLES * sizeof(uint32_t));
	for (uint32_t i = 0; hg_dycuckoo_most_rows(spec, slots) < rows; i = (i + 1) % spec->subtables)
		slots += (uint64_t) hg_dycuckoo_bucket_slots(spec->key_width) << log2[i]++;
	return slots;
}

HgStatus
hg_dycuckoo_make(HgTable *table, uint64_t rows, HgError *error)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	HgStatus status = HG_OK;

	dycuckoo->slots = hg_dycuckoo_choose_sizes(&table->spec, rows, log2);
	for (uint32_t i = 0; i < table->spec.subtables && status == HG_OK; i++)
	{
		HgDycuckooSubtable *subtable = &dycuckoo->subtables[i];

		hg_slots_free(table, &subtable->slots);
		subtable->log2 = log2[i];
		status = hg_dycuckoo_alloc(table, log2[i], &subtable->slots, error);
	}
	return status;
}

HgStatus
hg_dycuckoo_double(HgDycuckoo *dycuckoo, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	uint32_t width = table->spec.key_width;
	HgDycuckooSubtable *smallest = &dycuckoo->subtables[0];
	HgTableSlots old;
	HgTableSlots twice;
	HgStatus status;

	for (uint32_t i = 1; i < table->spec.subtables; i++)
		if (dycuckoo->subtables[i].log2 < smallest->log2)
			smallest = &dycuckoo->subtables[i];
	status = hg_dycuckoo_alloc(table, smallest->log2 + 1, &twice, error);
	if (status != HG_OK)
		return status;
	old = smallest->slots;
	smallest->slots = twice;
	smallest->log2++;
	for (uint64_t from = 0; from < old.count && status == HG_OK; from++)
	{
		uint32_t row = hg_slot_row(&old, from, width);

		if (hg_slot_is_live(row))
		{
			uint64_t word = hg_slot_word(&old, from, width);

			hg_slot_set(&smallest->slots, hg_dycuckoo_room(smallest, word, width), word, row,
						width);
		}
		status = hg_table_work(table, 1, error);
	}
	dycuckoo->slots += old.count;
	hg_slots_free(table, &old);
	table->totals.doubled++;
	return status;
}

HgStatus
hg_dycuckoo_insert(HgDycuckoo *dycuckoo, HgDycuckooItem *item, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	HgStatus status = HG_OK;

	while (status == HG_OK && !hg_dycuckoo_put(dycuckoo, item))
	{
		uint64_t rows = 0;

		for (uint32_t i = 0; i < table->spec.subtables; i++)
			rows += dycuckoo->subtables[i].rows;
		if (rows < least_rows(&table->spec, dycuckoo->slots))
			return hg_dycuckoo_restart(dycuckoo, item, error);
		status = hg_dycuckoo_double(dycuckoo, error);
	}
	return status;
}

/*
 * Merges buckets b and b + half into one; pairs that do not fit go to left. With half NULL they
 * are only counted. Returns their number.
 */
static uint64_t
merge_buckets(const HgDycuckooSubtable *subtable, uint64_t b, const HgTableSlots *half,
			  HgTableSlots *left, uint64_t left_rows, uint32_t width)
{
	uint32_t most = hg_dycuckoo_bucket_slots(width);
	uint64_t to = b * most;
	uint64_t room = most;
	uint64_t over = 0;

	for (uint32_t i = 0; i < 2 * most; i++)
	{
		uint64_t from = to + i + (i < most ? 0 : subtable->slots.count / 2 - most);
		uint32_t row = hg_slot_row(&subtable->slots, from, width);
		uint64_t word = hg_slot_word(&subtable->slots, from, width);

		if (!hg_slot_is_live(row))
			continue;
		if (room > 0)
		{
			if (half != NULL)
				hg_slot_set(half, to + most - room, word, row, width);
			room--;
			continue;
		}
		if (half != NULL)
			hg_slot_set(left, left_rows + over, word, row, width);
		over++;
	}
	return over;
}

/* Inserts what did not fit into half a subtable into the other subtables. */
static HgStatus
insert_left(HgDycuckoo *dycuckoo, uint32_t halved, const HgTableSlots *left, HgError *error)
{
	uint32_t width = dycuckoo->table.spec.key_width;
	HgStatus status = HG_OK;

	for (uint64_t i = 0; i < left->count && status == HG_OK; i++)
	{
		HgDycuckooItem item = {hg_slot_word(left, i, width), hg_slot_row(left, i, width)};

		if (i % HG_TABLE_CHUNK == 0)
			hg_dycuckoo_choose_weights(dycuckoo, halved);
		status = hg_table_work(&dycuckoo->table, 1, error);
		if (status == HG_OK)
			status = hg_dycuckoo_insert(dycuckoo, &item, error);
	}
	return status;
}

/* Halves a subtable. */
static HgStatus
halve(HgDycuckoo *dycuckoo, uint32_t number, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	HgDycuckooSubtable *subtable = &dycuckoo->subtables[number];
	uint32_t width = table->spec.key_width;
	uint64_t buckets = UINT64_C(1) << (subtable->log2 - 1);
	HgTableSlots half;
	HgTableSlots left = {0};
	uint64_t over = 0;
	HgStatus status = hg_dycuckoo_alloc(table, subtable->log2 - 1, &half, error);

	for (uint64_t b = 0; b < buckets && status == HG_OK; b++)
	{
		over += merge_buckets(subtable, b, NULL, NULL, 0, width);
		status = hg_table_work(table, hg_dycuckoo_bucket_slots(width), error);
	}
	if (status == HG_OK && over > 0)
		status = hg_slots_alloc(table, HG_TABLE_SOA, over, &left, error);
	over = 0;
	for (uint64_t b = 0; b < buckets && status == HG_OK; b++)
	{
		over += merge_buckets(subtable, b, &half, &left, over, width);
		status = hg_table_work(table, hg_dycuckoo_bucket_slots(width), error);
	}
	if (status != HG_OK)
	{
		hg_slots_free(table, &half);
		hg_slots_free(table, &left);
		return status;
	}
	hg_slots_free(table, &subtable->slots);
	subtable->slots = half;
	subtable->log2--;
	subtable->rows -= over;
	dycuckoo->slots -= half.count;
	table->totals.halved++;
	status = insert_left(dycuckoo, number, &left, error);
	hg_slots_free(table, &left);
	return status;
}

HgStatus
hg_dycuckoo_hold_least(HgDycuckoo *dycuckoo, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	HgStatus status = HG_OK;

	while (status == HG_OK && table->rows < least_rows(&table->spec, dycuckoo->slots))
	{
		HgDycuckooSubtable *largest = NULL;

		for (uint32_t i = 0; i < table->spec.subtables; i++)
		{
			HgDycuckooSubtable *subtable = &dycuckoo->subtables[i];

			if (subtable->log2 > subtable->least_log2 &&
				(largest == NULL || subtable->log2 > largest->log2))
				largest = subtable;
		}
		if (largest == NULL)
			break;
		status = halve(dycuckoo, (uint32_t) (largest - dycuckoo->subtables), error);
	}
	return status;
}
