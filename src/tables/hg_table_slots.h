/*-------------------------------------------------------------------------
 *
 * hg_table_slots.h
 *	  Slots: words and rows side by side (an array of structures) or apart (a structure of
 *	  arrays).
 *
 * A slot of a set is a word alone. Other slots have a row, which also marks them as empty or
 * deleted; hg_table_base.h says how slots of sets are marked. Slots filled with bytes of 0xff are
 * all empty.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_SLOTS_H
#define HG_TABLE_SLOTS_H

#include "hg_table_base.h"

/* Values that no row has: they mark a slot. */
#define HG_SLOT_EMPTY HG_NO_ROW
#define HG_SLOT_DELETED (HG_NO_ROW - 1)

/* Upper bound on the slots that one call of a scan reads. */
#define HG_SLOTS_SCANNED 4096

typedef struct HgTableSlots
{
	char *memory;
	uint64_t bytes;
	uint64_t count;
	char *words; /* the word of slot i is at i * word_stride */
	char *rows;	 /* NULL: the slots have no rows */
	uint32_t word_stride;
	uint32_t row_stride;
} HgTableSlots;

/* Returns the bytes of a slot. */
static inline uint64_t
hg_slot_bytes(const HgTableSpec *spec)
{
	return spec->key_width + (spec->content == HG_TABLE_SET ? 0 : sizeof(uint32_t));
}

/* Allocates max(count, 1) slots with undefined contents. On failure *slots is zeroed. */
static inline HgStatus
hg_slots_alloc(HgTable *table, HgTableLayout layout, uint64_t count, HgTableSlots *slots,
			   HgError *error)
{
	uint32_t width = table->spec.key_width;
	uint64_t bytes = (count > 0 ? count : 1) * hg_slot_bytes(&table->spec);
	void *memory;
	HgStatus status = hg_table_alloc(table, bytes, &memory, error);

	memset(slots, 0, sizeof(*slots));
	if (status != HG_OK)
		return status;
	slots->memory = memory;
	slots->bytes = bytes;
	slots->count = count;
	slots->words = memory;
	slots->word_stride = width;
	if (!hg_table_has_rows(table))
		return HG_OK;
	slots->rows = slots->words + (layout == HG_TABLE_AOS ? width : count * width);
	slots->row_stride = sizeof(uint32_t);
	if (layout == HG_TABLE_AOS)
		slots->word_stride = slots->row_stride = width + (uint32_t) sizeof(uint32_t);
	return HG_OK;
}

/* Frees the slots and zeroes the struct. */
static inline void
hg_slots_free(HgTable *table, HgTableSlots *slots)
{
	hg_table_free(table, slots->memory, slots->bytes);
	memset(slots, 0, sizeof(*slots));
}

/* Returns the word of a slot. */
HG_TABLE_INLINE uint64_t
hg_slot_word(const HgTableSlots *slots, uint64_t i, uint32_t width)
{
	const char *address = slots->words + i * slots->word_stride;
	uint64_t wide;
	uint32_t narrow;

	if (width == 4)
	{
		memcpy(&narrow, address, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, address, sizeof(wide));
	return wide;
}

/* Returns the row of a slot (0 without rows), or HG_SLOT_EMPTY or HG_SLOT_DELETED. */
HG_TABLE_INLINE uint32_t
hg_slot_row(const HgTableSlots *slots, uint64_t i, uint32_t width)
{
	uint32_t row;

	if (slots->rows == NULL)
	{
		uint64_t word = hg_slot_word(slots, i, width);

		return word < hg_table_marker(1, width)	   ? 0
			   : word == hg_table_marker(0, width) ? HG_SLOT_EMPTY
												   : HG_SLOT_DELETED;
	}
	memcpy(&row, slots->rows + i * slots->row_stride, sizeof(row));
	return row;
}

/* Sets the word and, if slots have rows, the row of a slot. */
HG_TABLE_INLINE void
hg_slot_set(const HgTableSlots *slots, uint64_t i, uint64_t word, uint32_t row, uint32_t width)
{
	char *address = slots->words + i * slots->word_stride;
	uint32_t narrow = (uint32_t) word;

	if (width == 4)
		memcpy(address, &narrow, sizeof(narrow));
	else
		memcpy(address, &word, sizeof(word));
	if (slots->rows != NULL)
		memcpy(slots->rows + i * slots->row_stride, &row, sizeof(row));
}

/* Marks a slot as empty (0) or deleted (1). */
HG_TABLE_INLINE void
hg_slot_mark(const HgTableSlots *slots, uint64_t i, uint32_t which, uint32_t width)
{
	hg_slot_set(slots, i, hg_table_marker(which, width), HG_NO_ROW - which, width);
}

/* Prefetches the word of a slot. */
HG_TABLE_INLINE void
hg_slot_prefetch(const HgTableSlots *slots, uint64_t i)
{
	HG_TABLE_PREFETCH(slots->words + i * slots->word_stride);
}

/* Returns true if this is a row, and false if it is a marker. */
static inline bool
hg_slot_is_live(uint32_t row)
{
	return row < HG_SLOT_DELETED;
}

/* Implements HgTableCalls.scan for a table whose rows are in the first `used` slots of an array. */
static inline uint32_t
hg_slots_scan(const HgTableSlots *slots, uint64_t used, uint32_t width, uint64_t *cursor,
			  uint64_t *words, uint32_t *rows, bool *end)
{
	/* bounds the work of a call that meets many slots without rows */
	uint64_t stop = used - *cursor < HG_SLOTS_SCANNED ? used : *cursor + HG_SLOTS_SCANNED;
	uint32_t count = 0;
	uint64_t i;

	for (i = *cursor; i < stop && count < HG_TABLE_CHUNK; i++)
	{
		uint32_t row = hg_slot_row(slots, i, width);

		if (!hg_slot_is_live(row))
			continue;
		words[count] = hg_slot_word(slots, i, width);
		rows[count++] = row;
	}
	*cursor = i;
	*end = i == used;
	return count;
}

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

/* Allocates empty slots for a cuckoo table of so many rows. On failure nothing stays allocated. */
extern HgStatus hg_cuckoo_open(HgTable *table, HgCuckooSlots *cuckoo, uint64_t rows,
							   HgError *error);

/* Frees the slots. */
extern void hg_cuckoo_close(HgTable *table, HgCuckooSlots *cuckoo);

/*
 * Inserts a word and its row. If the word is there already, nothing changes and *there becomes its
 * row, else HG_NO_ROW. to_come is the number of words that may follow: if the array has to
 * grow, it grows for these too. After a failure only close is allowed.
 */
extern HgStatus hg_cuckoo_insert(HgTable *table, HgCuckooSlots *cuckoo, uint64_t word, uint32_t row,
								 uint64_t to_come, uint32_t *there, HgError *error);

/* Stores the slot of each word, or UINT64_MAX if it is absent; count is at most HG_TABLE_CHUNK. */
extern void hg_cuckoo_find(const HgTable *table, const HgCuckooSlots *cuckoo, const uint64_t *words,
						   uint32_t count, uint64_t *slots);

/* Returns HG_TOO_MANY_ROWS if so many rows could need 2^32 slots, else HG_OK. */
extern HgStatus hg_cuckoo_check(const HgTableSpec *spec, uint64_t rows, HgError *error);

/* Returns the upper bound on the bytes of the slots for so many rows. */
extern uint64_t hg_cuckoo_bytes(const HgTableSpec *spec, uint64_t rows);

#endif /* HG_TABLE_SLOTS_H */
