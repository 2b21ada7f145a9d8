/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo_base.h
 *	  DyCuckoo: its subtables, and the functions that its files share.
 *
 *	hg_table_dycuckoo.c			the kind's calls
 *	hg_table_dycuckoo_resize.c	doubles and halves subtables; inserts that may resize
 *	hg_table_dycuckoo_put.c		puts pairs into buckets, with evictions
 *	hg_table_dycuckoo_find.c	finds words
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

/* The answer if a word or an empty slot was not found; also "no subtable". */
#define HG_DYCUCKOO_NOWHERE UINT64_MAX

typedef struct HgDycuckooSubtable
{
	HgTableSlots slots;
	uint32_t log2;		 /* the subtable has 2^log2 buckets */
	uint32_t least_log2; /* log2 when the table was opened; never halved below it */
	uint64_t rows;
	uint64_t flip; /* the bucket is taken from bits 32 and up of (word ^ flip) * factor */
	uint64_t factor;
	/* A new pair goes to the first subtable whose weight is above a random number below 2^32. */
	uint64_t weight;
} HgDycuckooSubtable;

typedef struct HgDycuckoo
{
	HgTable table;
	HgDycuckooSubtable subtables[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots; /* of all subtables */
	uint64_t random;
	uint64_t functions_made;
} HgDycuckoo;

/* A word and its row that need a slot. */
typedef struct HgDycuckooItem
{
	uint64_t word;
	uint32_t row;
} HgDycuckooItem;

/* Returns the slots of a bucket. */
static inline uint32_t
hg_dycuckoo_bucket_slots(uint32_t width)
{
	return HG_DYCUCKOO_BUCKET_BYTES / width;
}

/* Returns the first slot of a word's bucket. */
HG_TABLE_INLINE uint64_t
hg_dycuckoo_bucket(const HgDycuckooSubtable *subtable, uint64_t word, uint32_t width)
{
	uint64_t hash = (word ^ subtable->flip) * subtable->factor >> 32;

	return (hash & ((UINT64_C(1) << subtable->log2) - 1)) * hg_dycuckoo_bucket_slots(width);
}

/* Returns an empty slot of a word's bucket, or HG_DYCUCKOO_NOWHERE. */
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

/* Allocates 2^log2 buckets of empty slots. On failure no memory stays allocated. */
extern HgStatus hg_dycuckoo_alloc(HgTable *table, uint32_t log2, HgTableSlots *slots,
								  HgError *error);

/* Chooses a new random hash function for a subtable. */
extern void hg_dycuckoo_choose_function(HgDycuckoo *dycuckoo, HgDycuckooSubtable *subtable);

/*
 * Recomputes the weights. A subtable's share of new pairs is proportional to its slots divided by
 * m (m - 1) / 2, for its m rows. The subtable `without` gets none; HG_DYCUCKOO_NOWHERE excludes no
 * subtable.
 */
extern void hg_dycuckoo_choose_weights(HgDycuckoo *dycuckoo, uint64_t without);

/*
 * Inserts an item whose word is absent, into a subtable drawn by the shares. Returns false if the
 * chain of evictions was too long; then *item is the item that is left without a slot.
 */
extern bool hg_dycuckoo_put(HgDycuckoo *dycuckoo, HgDycuckooItem *item);

/* Moves all pairs, and *more, to new subtables of the same sizes with new functions. */
extern HgStatus hg_dycuckoo_restart(HgDycuckoo *dycuckoo, const HgDycuckooItem *more,
									HgError *error);

/* hg_table_dycuckoo_resize.c */

/* Returns the maximum number of rows for a number of slots (max_filled). */
extern uint64_t hg_dycuckoo_most_rows(const HgTableSpec *spec, uint64_t slots);

/*
 * Chooses the smallest sizes of subtables that hold rows rows; the first subtables are doubled
 * first. Returns the slots of all subtables.
 */
extern uint64_t hg_dycuckoo_choose_sizes(const HgTableSpec *spec, uint64_t rows,
										 uint32_t log2[HG_TABLE_MAX_SUBTABLES]);

/* Gives an empty table subtables with room for rows rows. Keeps the hash functions. */
extern HgStatus hg_dycuckoo_make(HgTable *table, uint64_t rows, HgError *error);

/* Doubles the smallest subtable. */
extern HgStatus hg_dycuckoo_double(HgDycuckoo *dycuckoo, HgError *error);

/* Inserts an item whose word is absent; doubles subtables or restarts where necessary. */
extern HgStatus hg_dycuckoo_insert(HgDycuckoo *dycuckoo, HgDycuckooItem *item, HgError *error);

/*
 * Halves the largest subtable that is above its opening size, again and again, until the table
 * holds at least min_filled or none can be halved.
 */
extern HgStatus hg_dycuckoo_hold_least(HgDycuckoo *dycuckoo, HgError *error);

/* hg_table_dycuckoo_find.c */

/*
 * Stores each word's subtable and slot. slots[i] is HG_DYCUCKOO_NOWHERE for an absent word;
 * subtables[i] then means nothing. count is at most HG_TABLE_CHUNK.
 */
extern void hg_dycuckoo_locate(const HgDycuckoo *dycuckoo, const uint64_t *words, uint32_t count,
							   uint32_t *subtables, uint64_t *slots);

#endif /* HG_TABLE_DYCUCKOO_BASE_H */
