/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo_put.c
 *	  DyCuckoo: puts pairs into buckets, with evictions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../engine/hg_shape.h"
#include "hg_table_dycuckoo_base.h"

/* Longest chain of evictions, times log2 of the slots. */
#define CHAIN_LOGS 7

/* Returns the next random number. */
static inline uint64_t
next_random(HgDycuckoo *dycuckoo)
{
	return hg_mix64(dycuckoo->random += UINT64_C(0x9e3779b97f4a7c15));
}

void
hg_dycuckoo_choose_function(HgDycuckoo *dycuckoo, HgDycuckooSubtable *subtable)
{
	subtable->flip = next_random(dycuckoo);
	subtable->factor = next_random(dycuckoo) | 1;
	if (dycuckoo->functions_made++ < dycuckoo->table.spec.bad_functions)
		subtable->factor = 0;
}

HgStatus
hg_dycuckoo_alloc(HgTable *table, uint32_t log2, HgTableSlots *slots, HgError *error)
{
	HgStatus status = hg_slots_alloc(
		table, HG_TABLE_SOA, (uint64_t) hg_dycuckoo_bucket_slots(table->spec.key_width) << log2,
		slots, error);

	if (status == HG_OK)
		status = hg_table_fill(table, slots->memory, 0xff, slots->bytes, error);
	if (status != HG_OK)
		hg_slots_free(table, slots);
	return status;
}

void
hg_dycuckoo_choose_weights(HgDycuckoo *dycuckoo, uint64_t without)
{
	double weights[HG_TABLE_MAX_SUBTABLES];
	uint32_t subtables = dycuckoo->table.spec.subtables;
	double sum = 0;
	double end = 0;

	for (uint32_t i = 0; i < subtables; i++)
	{
		double m = (double) dycuckoo->subtables[i].rows;

		/* fewer than two rows count as one pair of rows */
		weights[i] = i == without ? 0
								  : (double) dycuckoo->subtables[i].slots.count /
										(m < 2 ? 1 : m * (m - 1) / 2);
		sum += weights[i];
	}
	for (uint32_t i = 0; i < subtables; i++)
	{
		end += weights[i];
		dycuckoo->subtables[i].weight = (uint64_t) (end / sum * 4294967296.0);
	}
}

/* Returns a random subtable, by the weights. */
static uint32_t
draw_subtable(HgDycuckoo *dycuckoo)
{
	uint64_t drawn = next_random(dycuckoo) >> 32;
	uint32_t last = 0;

	for (uint32_t i = 0; i < dycuckoo->table.spec.subtables; i++)
	{
		if (drawn < dycuckoo->subtables[i].weight)
			return i;
		/* rounding may leave the last numbers outside all ranges */
		if (dycuckoo->subtables[i].weight > (i > 0 ? dycuckoo->subtables[i - 1].weight : 0))
			last = i;
	}
	return last;
}

/*
 * Inserts an item whose word is absent. Returns false if the chain was too long: then *item is the
 * item that is left without a slot.
 */
HG_TABLE_INLINE bool
put(HgDycuckoo *dycuckoo, HgDycuckooItem *item, uint32_t width)
{
	HgTable *table = &dycuckoo->table;
	uint32_t most = CHAIN_LOGS * hg_ceil_log2(dycuckoo->slots);
	uint32_t to = draw_subtable(dycuckoo);
	uint64_t room = HG_DYCUCKOO_NOWHERE;
	uint32_t chain;

	for (chain = 0; chain <= most; chain++)
	{
		HgDycuckooSubtable *subtable = &dycuckoo->subtables[to];
		HgDycuckooItem out;

		room = hg_dycuckoo_room(subtable, item->word, width);
		if (room != HG_DYCUCKOO_NOWHERE)
		{
			hg_slot_set(&subtable->slots, room, item->word, item->row, width);
			subtable->rows++;
			break;
		}
		room = hg_dycuckoo_bucket(subtable, item->word, width) +
			   next_random(dycuckoo) % hg_dycuckoo_bucket_slots(width);
		out.word = hg_slot_word(&subtable->slots, room, width);
		out.row = hg_slot_row(&subtable->slots, room, width);
		hg_slot_set(&subtable->slots, room, item->word, item->row, width);
		*item = out;
		to = (to + 1) % table->spec.subtables;
	}
	table->work += chain;
	table->totals.evictions += chain;
	if (chain > table->totals.longest_chain)
		table->totals.longest_chain = chain;
	return chain <= most;
}

bool
hg_dycuckoo_put(HgDycuckoo *dycuckoo, HgDycuckooItem *item)
{
	return dycuckoo->table.spec.key_width == 4 ? put(dycuckoo, item, 4) : put(dycuckoo, item, 8);
}

/* Inserts all rows of other slots; *done is false if a chain was too long. */
static HgStatus
put_all(HgDycuckoo *dycuckoo, const HgTableSlots *from, bool *done, HgError *error)
{
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint64_t cursor = 0;
	bool end = false;

	while (!end && *done)
	{
		uint32_t count = hg_slots_scan(from, from->count, dycuckoo->table.spec.key_width, &cursor,
									   words, rows, &end);
		HgStatus status = hg_table_poll(&dycuckoo->table, error);

		if (status != HG_OK)
			return status;
		hg_dycuckoo_choose_weights(dycuckoo, HG_DYCUCKOO_NOWHERE);
		for (uint32_t i = 0; i < count && *done; i++)
		{
			HgDycuckooItem item = {words[i], rows[i]};

			*done = hg_dycuckoo_put(dycuckoo, &item);
		}
	}
	return HG_OK;
}

HgStatus
hg_dycuckoo_restart(HgDycuckoo *dycuckoo, const HgDycuckooItem *more, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	HgTableSlots old[HG_TABLE_MAX_SUBTABLES];
	uint32_t subtables = table->spec.subtables;
	HgStatus status = HG_OK;
	bool done = false;

	for (uint32_t i = 0; i < subtables; i++)
	{
		old[i] = dycuckoo->subtables[i].slots;
		memset(&dycuckoo->subtables[i].slots, 0, sizeof(HgTableSlots));
	}
	while (status == HG_OK && !done)
	{
		HgDycuckooItem item = *more;

		table->totals.restarts++;
		for (uint32_t i = 0; i < subtables && status == HG_OK; i++)
		{
			HgDycuckooSubtable *subtable = &dycuckoo->subtables[i];

			hg_slots_free(table, &subtable->slots);
			status = hg_dycuckoo_alloc(table, subtable->log2, &subtable->slots, error);
			hg_dycuckoo_choose_function(dycuckoo, subtable);
			subtable->rows = 0;
		}
		done = true;
		for (uint32_t i = 0; i < subtables && status == HG_OK; i++)
			status = put_all(dycuckoo, &old[i], &done, error);
		if (status == HG_OK && done)
			done = hg_dycuckoo_put(dycuckoo, &item);
	}
	for (uint32_t i = 0; i < subtables; i++)
		hg_slots_free(table, &old[i]);
	return status;
}
