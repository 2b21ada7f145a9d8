/*-------------------------------------------------------------------------
 *
 * hg_table_cuckoo_slots.h
 *	  The slot array of the cuckoo tables, in which each key has several possible slots.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_CUCKOO_SLOTS_H
#define HG_TABLE_CUCKOO_SLOTS_H

#include "hg_table_slots.h"

/* A hash function: the top half of (word ^ flip) * factor, scaled to the number of slots. */
typedef struct HgCuckooFunction
{
	uint64_t flip;
	uint64_t factor;
} HgCuckooFunction;

typedef struct HgCuckooSlots
{
	HgTableSlots slots;
	uint64_t rows;
	HgCuckooFunction functions[HG_TABLE_MAX_FUNCTIONS];
	uint64_t random; /* state of the generator of functions */
	uint64_t functions_made;
} HgCuckooSlots;

/* Allocates slots for so many rows, all empty. On failure no memory stays allocated. */
extern HgStatus hg_cuckoo_open(HgTable *table, HgCuckooSlots *cuckoo, uint64_t rows,
							   HgError *error);

/* Frees the slots. */
extern void hg_cuckoo_close(HgTable *table, HgCuckooSlots *cuckoo);

/*
 * Inserts a word and its row. If the word is there already, nothing changes and *there is its row,
 * else *there is HG_NO_ROW. to_come is the number of words that may follow: if the array has to
 * grow, it grows for these too. After a failure only close is allowed.
 */
extern HgStatus hg_cuckoo_insert(HgTable *table, HgCuckooSlots *cuckoo, uint64_t word, uint32_t row,
								 uint64_t to_come, uint32_t *there, HgError *error);

/* Stores the slot of each word, or UINT64_MAX if it is absent; count is at most HG_TABLE_CHUNK. */
extern void hg_cuckoo_find(const HgTable *table, const HgCuckooSlots *cuckoo, const uint64_t *words,
						   uint32_t count, uint64_t *slots);

/* Stores the row of each word, or HG_NO_ROW if it is absent; count is at most HG_TABLE_CHUNK. */
extern void hg_cuckoo_find_rows(const HgTable *table, const HgCuckooSlots *cuckoo,
								const uint64_t *words, uint32_t count, uint32_t *rows);

/* Empties a slot that has a row. */
extern void hg_cuckoo_erase(const HgTable *table, HgCuckooSlots *cuckoo, uint64_t slot);

/* Returns HG_TOO_MANY_ROWS if so many rows would need too many slots, else HG_OK. */
extern HgStatus hg_cuckoo_check(const HgTableSpec *spec, uint64_t rows, HgError *error);

/* Returns the upper bound on the bytes of the slots for so many rows. */
extern uint64_t hg_cuckoo_bytes(const HgTableSpec *spec, uint64_t rows);

#endif /* HG_TABLE_CUCKOO_SLOTS_H */
