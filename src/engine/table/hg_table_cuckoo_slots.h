/*-------------------------------------------------------------------------
 *
 * hg_table_cuckoo_slots.h
 *	  One array in which each key has several places: the cuckoo tables' slots.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_CUCKOO_SLOTS_H
#define HG_TABLE_CUCKOO_SLOTS_H

#include "hg_table_slots.h"

/*
 * A function: the place of a word is the top half of (word ^ flip) * factor, spread over the slots.
 */
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
	uint64_t random; /* where the next function comes from */
	uint64_t functions_made;
} HgCuckooSlots;

/* Have room for so many rows, of which there are none so far.  On failure nothing is held. */
extern HgStatus hg_cuckoo_open(HgTable *table, HgCuckooSlots *cuckoo, uint64_t rows,
							   HgError *error);
extern void hg_cuckoo_close(HgTable *table, HgCuckooSlots *cuckoo);

/*
 * Put a word and its row in, unless the word is there: *there is its row then, else HG_NO_ROW.
 * to_come more words may follow, for which room is made where it has to be anyway.  After a failure
 * only close is allowed.
 */
extern HgStatus hg_cuckoo_insert(HgTable *table, HgCuckooSlots *cuckoo, uint64_t word, uint32_t row,
								 uint64_t to_come, uint32_t *there, HgError *error);

/* The slots of words, at most HG_TABLE_CHUNK, or UINT64_MAX for one that is not there. */
extern void hg_cuckoo_find(const HgTable *table, const HgCuckooSlots *cuckoo, const uint64_t *words,
						   uint32_t count, uint64_t *slots);

/* The rows of words, at most HG_TABLE_CHUNK, or HG_NO_ROW: hg_table_cuckoo_find.c. */
extern void hg_cuckoo_find_rows(const HgTable *table, const HgCuckooSlots *cuckoo,
								const uint64_t *words, uint32_t count, uint32_t *rows);

/* Take what is in a slot out. */
extern void hg_cuckoo_erase(const HgTable *table, HgCuckooSlots *cuckoo, uint64_t slot);

/* HG_OK, or HG_TOO_MANY_ROWS where so many rows would want too many slots. */
extern HgStatus hg_cuckoo_check(const HgTableSpec *spec, uint64_t rows, HgError *error);

/* Bytes of the slots for so many rows, at most. */
extern uint64_t hg_cuckoo_bytes(const HgTableSpec *spec, uint64_t rows);

#endif /* HG_TABLE_CUCKOO_SLOTS_H */
