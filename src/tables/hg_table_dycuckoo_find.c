/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo_find.c
 *	  DyCuckoo: finds words.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_dycuckoo_base.h"

/* Returns the slot of a word in its bucket of a subtable, or HG_DYCUCKOO_NOWHERE. */
HG_TABLE_INLINE uint64_t
bucket_find(const HgDycuckooSubtable *subtable, uint64_t word, uint32_t width)
{
	uint64_t from = hg_dycuckoo_bucket(subtable, word, width);
	uint32_t any = 0;

	/* most buckets do not have it, and a loop without an exit is vectorised */
	for (uint32_t i = 0; i < hg_dycuckoo_bucket_slots(width); i++)
		any |= hg_slot_word(&subtable->slots, from + i, width) == word;
	for (uint32_t i = 0; any && i < hg_dycuckoo_bucket_slots(width); i++)
		if (hg_slot_word(&subtable->slots, from + i, width) == word &&
			hg_slot_is_live(hg_slot_row(&subtable->slots, from + i, width)))
			return from + i;
	return HG_DYCUCKOO_NOWHERE;
}

/*
 * Stores the subtables and slots of words, or HG_DYCUCKOO_NOWHERE. All words search the first
 * subtable, then those not found the second, and so on: the memory accesses of a round overlap.
 */
HG_TABLE_INLINE void
locate(const HgDycuckoo *dycuckoo, const uint64_t *words, uint32_t count, uint32_t *subtables,
	   uint64_t *slots, uint32_t width)
{
	uint32_t looked_for[HG_TABLE_CHUNK]; /* indexes of words not found yet */
	uint32_t left = count;

	for (uint32_t i = 0; i < count; i++)
	{
		looked_for[i] = i;
		slots[i] = HG_DYCUCKOO_NOWHERE;
	}
	for (uint32_t s = 0; s < dycuckoo->table.spec.subtables; s++)
	{
		const HgDycuckooSubtable *subtable = &dycuckoo->subtables[s];
		uint32_t missed = 0;

		for (uint32_t i = 0; i < left; i++)
		{
			uint64_t bucket = hg_dycuckoo_bucket(subtable, words[looked_for[i]], width);

			hg_slot_prefetch(&subtable->slots, bucket);
			hg_slot_prefetch(&subtable->slots, bucket + hg_dycuckoo_bucket_slots(width) / 2);
		}
		for (uint32_t i = 0; i < left; i++)
		{
			uint32_t number = looked_for[i];

			slots[number] = bucket_find(subtable, words[number], width);
			subtables[number] = s;
			if (slots[number] == HG_DYCUCKOO_NOWHERE)
				looked_for[missed++] = number;
		}
		left = missed;
	}
}

void
hg_dycuckoo_locate(const HgDycuckoo *dycuckoo, const uint64_t *words, uint32_t count,
				   uint32_t *subtables, uint64_t *slots)
{
	if (dycuckoo->table.spec.key_width == 4)
		locate(dycuckoo, words, count, subtables, slots, 4);
	else
		locate(dycuckoo, words, count, subtables, slots, 8);
}
