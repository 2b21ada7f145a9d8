/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo_base.h
 *	  DyCuckoo: its subtables, and what its files have for each other.
 *
 *	hg_table_dycuckoo.c		the kind's calls
 *	hg_table_dycuckoo_resize.c
 *							subtables doubled and halved; pairs inserted, whatever it takes
 *	hg_table_dycuckoo_put.c	pairs put into buckets, and those that make room for them
 *	hg_table_dycuckoo_find.c
 *							where words are
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_DYCUCKOO_BASE_H
#define HG_TABLE_DYCUCKOO_BASE_H

#include "hg_table_slots.h"

/* Bytes of the words in a bucket. */
#define HG_DYCUCKOO_BUCKET_BYTES 128

/* No subtable, or slot. */
#define HG_DYCUCKOO_NOWHERE UINT64_MAX

typedef struct HgDycuckooSubtable
{
	HgTableSlots slots;
	uint32_t log2; /* 2^log2 buckets */
	uint32_t least_log2;
	uint64_t rows;
	uint64_t flip; /* its function: (word ^ flip) * factor, from bit 32 on */
	uint64_t factor;
	uint64_t weight; /* the share of new pairs that it gets, as the end of a range below 2^32 */
} HgDycuckooSubtable;

typedef struct HgDycuckoo
{
	HgTable table;
	HgDycuckooSubtable subtables[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots; /* of all */
	uint64_t random;
	uint64_t functions_made;
} HgDycuckoo;

/* A word and its row, on their way. */
typedef struct HgDycuckooItem
{
	uint64_t word;
	uint32_t row;
} HgDycuckooItem;

static inline uint32_t
hg_dycuckoo_bucket_slots(uint32_t width)
{
	return HG_DYCUCKOO_BUCKET_BYTES / width;
}

/* The first slot of a word's bucket. */
HG_TABLE_INLINE uint64_t
hg_dycuckoo_bucket(const HgDycuckooSubtable *subtable, uint64_t word, uint32_t width)
{
	uint64_t hash = (word ^ subtable->flip) * subtable->factor >> 32;

	return (hash & ((UINT64_C(1) << subtable->log2) - 1)) * hg_dycuckoo_bucket_slots(width);
}

/* An empty slot of a word's bucket, or HG_DYCUCKOO_NOWHERE. */
HG_TABLE_INLINE uint64_t
hg_dycuckoo_room(const HgDycuckooSubtable *subtable, uint64_t word, uint32_t width)
{
	uint64_t from = hg_dycuckoo_bucket(subtable, word, width);

	for (uint32_t i = 0; i < hg_dycuckoo_bucket_slots(width); i++)
		if (hg_slot_row(&subtable->slots, from + i, width) == HG_SLOT_EMPTY)
			return from + i;
	return HG_DYCUCKOO_NOWHERE;
}

/* hg_table_dycuckoo_put.c */

/* Have empty slots for a subtable.  On failure there are none. */
extern HgStatus hg_dycuckoo_alloc(HgTable *table, uint32_t log2, HgTableSlots *slots,
								  HgError *error);

/* Have another function. */
extern void hg_dycuckoo_choose_function(HgDycuckoo *dycuckoo, HgDycuckooSubtable *subtable);

/*
 * Choose the shares of subtables, without one of them, or HG_DYCUCKOO_NOWHERE: each gets new pairs
 * in proportion to n / C(m, 2).
 */
extern void hg_dycuckoo_choose_weights(HgDycuckoo *dycuckoo, uint64_t without);

/*
 * Put an item in that is not there, by the shares.  Returns false where the chain was too long:
 * then the item that is left without a slot is in its place.
 */
extern bool hg_dycuckoo_put(HgDycuckoo *dycuckoo, HgDycuckooItem *item);

/*
 * Move all pairs, and an item that has no slot, to new subtables of the same sizes by new
 * functions.
 */
extern HgStatus hg_dycuckoo_restart(HgDycuckoo *dycuckoo, const HgDycuckooItem *more,
									HgError *error);

/* hg_table_dycuckoo_resize.c */

/* Rows that so many slots may have at most. */
extern uint64_t hg_dycuckoo_most_rows(const HgTableSpec *spec, uint64_t slots);

/*
 * Choose the sizes of subtables for so many rows: the least that hold them, the first ones doubled.
 * Returns the slots of all.
 */
extern uint64_t hg_dycuckoo_choose_sizes(const HgTableSpec *spec, uint64_t rows,
										 uint32_t log2[HG_TABLE_MAX_SUBTABLES]);

/* Make empty subtables for so many rows, in place of empty ones. */
extern HgStatus hg_dycuckoo_make(HgTable *table, uint64_t rows, HgError *error);

/* Double the smallest subtable. */
extern HgStatus hg_dycuckoo_double(HgDycuckoo *dycuckoo, HgError *error);

/* Put an item in that is not there, whatever has to be done for it. */
extern HgStatus hg_dycuckoo_insert(HgDycuckoo *dycuckoo, HgDycuckooItem *item, HgError *error);

/* Halve the largest subtable, of those that may be, while the table is filled too little. */
extern HgStatus hg_dycuckoo_hold_least(HgDycuckoo *dycuckoo, HgError *error);

/* hg_table_dycuckoo_find.c */

/* The subtables and slots of words, at most HG_TABLE_CHUNK, or HG_DYCUCKOO_NOWHERE. */
extern void hg_dycuckoo_locate(const HgDycuckoo *dycuckoo, const uint64_t *words, uint32_t count,
							   uint32_t *subtables, uint64_t *slots);

#endif /* HG_TABLE_DYCUCKOO_BASE_H */
