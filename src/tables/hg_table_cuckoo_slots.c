/*-------------------------------------------------------------------------
 *
 * hg_table_cuckoo_slots.c
 *	  The slot array of the cuckoo tables, in which each key has several possible slots.
 *
 * D. Alcantara and others, "Building an Efficient Hash Table on the GPU", GPU Computing Gems,
 * 2011: the basic table. Each of 2 to 5 functions gives a key a slot in one array of 1.25 N slots
 * (slots_factor), and the key is in one of them: a lookup reads at most as many slots as there are
 * functions.
 *
 * INSERT. A key whose slots are all taken evicts the key in its first function's slot. The evicted
 * key goes to the slot of *its* next function; which function it came from is found by comparing
 * its slots with the slot. This repeats until an empty slot is found. A chain of more than 7
 * lg(slots) evictions means that the functions are bad: RESTART, with new functions for all keys.
 * With fewer than 1.2 slots a key, chains are longer even for good functions, and ten times as
 * many evictions are allowed. The paper's tables use a thread an item and exchange 64-bit words.
 * Here items come one after the other. So a new key checks all of its slots first, as each key is
 * stored once, and an evicted key checks all of its slots for an empty one, which makes chains
 * shorter.
 *
 * FUNCTIONS. The paper's are ((a k + b) mod p) mod slots with a prime p of 29 bits, which limits
 * slots, and for keys of 32 bits. Here a slot is computed from a word that is mixed already: bits
 * 32 .. 63 of its product with an odd 64-bit number are scaled to the slots by another
 * multiplication. This works for keys of both widths and up to 2^32 slots.
 *
 * ROOM. An array cannot get fuller than 2.1, 1.1, 1.03 and 1.02 slots a key with 2, 3, 4 and 5
 * functions, and near these limits chains are long. It is filled up to the middle between what it
 * is built with and the limit. Then it grows for as many rows again, or for those still to come,
 * if these are fewer. Four failed restarts in a row make it grow by a quarter, too.
 *
 * ERASE leaves an empty slot: no search walks past a slot.
 *
 * Memory: the slots; during a restart or growth also the new ones.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_cuckoo_slots.h"

#include "../engine/hg_shape.h"

/* Additional slots, as random conflicts can exceed the factor in small tables. */
#define MORE_SLOTS 32

/* Longest chain of evictions before a restart, times log2 of the slots. */
#define CHAIN_LOGS 7

/* The same for arrays with fewer slots a key than FULL_FACTOR. */
#define CHAIN_LOGS_FULL 70
#define FULL_FACTOR 1.2

/* After so many restarts in a row the array grows, to so many quarters. */
#define RESTARTS_TO_GROW 4
#define GROWN_QUARTERS 5

/* The array grows for at least so many rows. */
#define LEAST_ROOM 256

/* Returns the slots for so many rows. */
static uint64_t
slots_for(const HgTableSpec *spec, uint64_t rows)
{
	return (uint64_t) (spec->slots_factor * (double) rows) + MORE_SLOTS;
}

/* Returns the rows that so many slots take before they grow. */
static uint64_t
rows_for(const HgTableSpec *spec, uint64_t slots)
{
	double least = hg_table_least_slots_factor(spec->functions);
	double filled = (1 / spec->slots_factor + 1 / least) / 2;

	return (uint64_t) (filled * (double) (slots - MORE_SLOTS)) + 1;
}

uint64_t
hg_cuckoo_bytes(const HgTableSpec *spec, uint64_t rows)
{
	uint64_t room = rows > spec->expected_rows ? rows : spec->expected_rows;

	/* growth for fewer expected rows, and repeated restarts: see the file's head */
	return slots_for(spec, room + LEAST_ROOM) * GROWN_QUARTERS / 4 * hg_slot_bytes(spec);
}

HgStatus
hg_cuckoo_check(const HgTableSpec *spec, uint64_t rows, HgError *error)
{
	if (slots_for(spec, rows + LEAST_ROOM) * GROWN_QUARTERS / 4 > UINT32_MAX)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many slots in a table");
	return HG_OK;
}

/* Chooses new functions from the next random numbers. */
static void
choose_functions(const HgTable *table, HgCuckooSlots *cuckoo)
{
	for (uint32_t i = 0; i < table->spec.functions; i++)
	{
		HgCuckooFunction *function = &cuckoo->functions[i];

		function->flip = hg_mix64(cuckoo->random += UINT64_C(0x9e3779b97f4a7c15));
		function->factor = hg_mix64(cuckoo->random += UINT64_C(0x9e3779b97f4a7c15)) | 1;
		if (cuckoo->functions_made++ < table->spec.bad_functions)
			function->factor = 0;
	}
}

static inline uint64_t
function_slot(const HgCuckooSlots *cuckoo, uint32_t function, uint64_t word)
{
	uint64_t product =
		(word ^ cuckoo->functions[function].flip) * cuckoo->functions[function].factor;

	return (product >> 32) * cuckoo->slots.count >> 32;
}

/* A word and its row that need a slot. */
typedef struct Item
{
	uint64_t word;
	uint32_t row;
} Item;

/*
 * Inserts an item whose word is absent. Returns false if the chain was too long: then *item is the
 * item that is left without a slot, and only a restart helps.
 */
HG_TABLE_INLINE bool
put(HgTable *table, HgCuckooSlots *cuckoo, Item *item, uint32_t width)
{
	const HgTableSlots *slots = &cuckoo->slots;
	uint32_t functions = table->spec.functions;
	bool is_full = functions > 2 && table->spec.slots_factor < FULL_FACTOR;
	uint32_t most = (is_full ? CHAIN_LOGS_FULL : CHAIN_LOGS) * hg_ceil_log2(slots->count);
	uint32_t next = 0; /* the function whose slot it takes if none of its slots is empty */
	uint64_t slot = 0;
	uint32_t chain;

	for (chain = 0; chain <= most; chain++)
	{
		Item out;
		uint32_t from = 0;

		for (uint32_t i = 0; i < functions; i++)
		{
			slot = function_slot(cuckoo, (next + i) % functions, item->word);
			if (hg_slot_row(slots, slot, width) != HG_SLOT_EMPTY)
				continue;
			hg_slot_set(slots, slot, item->word, item->row, width);
			goto done;
		}
		slot = function_slot(cuckoo, next, item->word);
		out.word = hg_slot_word(slots, slot, width);
		out.row = hg_slot_row(slots, slot, width);
		hg_slot_set(slots, slot, item->word, item->row, width);
		*item = out;

		/* continue with the next function that has another slot for it, if there is one */
		while (function_slot(cuckoo, from, out.word) != slot)
			from++;
		for (uint32_t i = 1; i < functions; i++)
		{
			next = (from + i) % functions;
			if (function_slot(cuckoo, next, out.word) != slot)
				break;
		}
	}

done:
	table->work += chain;
	table->totals.evictions += chain;
	if (chain > table->totals.longest_chain)
		table->totals.longest_chain = chain;
	return chain <= most;
}

static bool
put_item(HgTable *table, HgCuckooSlots *cuckoo, Item *item)
{
	return table->spec.key_width == 4 ? put(table, cuckoo, item, 4) : put(table, cuckoo, item, 8);
}

/* Inserts all rows of other slots; *done is false if a chain was too long. */
static HgStatus
put_all(HgTable *table, HgCuckooSlots *cuckoo, const HgTableSlots *from, bool *done, HgError *error)
{
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint64_t slot = 0;
	bool end = from->count == 0;

	*done = true;
	while (!end && *done)
	{
		uint32_t count =
			hg_slots_scan(from, from->count, table->spec.key_width, &slot, words, rows, &end);
		HgStatus status = hg_table_poll(table, error);

		if (status != HG_OK)
			return status;
		for (uint32_t i = 0; i < count; i++)
			HG_TABLE_PREFETCH(cuckoo->slots.words +
							  function_slot(cuckoo, 0, words[i]) * cuckoo->slots.word_stride);
		for (uint32_t i = 0; i < count && *done; i++)
		{
			Item item = {words[i], rows[i]};

			status = hg_table_work(table, 1, error);
			if (status != HG_OK)
				return status;
			*done = put_item(table, cuckoo, &item);
		}
	}
	return HG_OK;
}

/*
 * Moves everything to an array of at least so many slots, with new functions, together with the
 * absent item *more, unless that is NULL.
 */
static HgStatus
rehash(HgTable *table, HgCuckooSlots *cuckoo, uint64_t count, const Item *more, HgError *error)
{
	HgTableSlots old = cuckoo->slots;
	bool done = false;
	HgStatus status = HG_OK;

	memset(&cuckoo->slots, 0, sizeof(cuckoo->slots));
	for (uint32_t tries = 0; status == HG_OK && !done; tries++)
	{
		if (tries > 0)
			table->totals.restarts++;
		if (tries > 0 && tries % RESTARTS_TO_GROW == 0)
		{
			count = count / 4 * GROWN_QUARTERS;
			hg_slots_free(table, &cuckoo->slots);
		}
		if (count > UINT32_MAX)
			status = hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "too many slots in a table");
		if (status == HG_OK && cuckoo->slots.memory == NULL)
			status = hg_slots_alloc(table, HG_TABLE_AOS, count, &cuckoo->slots, error);
		if (status == HG_OK)
			status = hg_table_fill(table, cuckoo->slots.memory, 0xff, cuckoo->slots.bytes, error);
		choose_functions(table, cuckoo);
		if (status == HG_OK)
			status = put_all(table, cuckoo, &old, &done, error);
		if (status == HG_OK && done && more != NULL)
		{
			Item item = *more;

			done = put_item(table, cuckoo, &item);
		}
	}
	hg_slots_free(table, &old);
	return status;
}

HgStatus
hg_cuckoo_open(HgTable *table, HgCuckooSlots *cuckoo, uint64_t rows, HgError *error)
{
	HgStatus status;

	memset(cuckoo, 0, sizeof(*cuckoo));
	cuckoo->random = table->spec.seed;
	status = rehash(table, cuckoo, slots_for(&table->spec, rows), NULL, error);
	if (status != HG_OK)
		hg_cuckoo_close(table, cuckoo);
	return status;
}

void
hg_cuckoo_close(HgTable *table, HgCuckooSlots *cuckoo)
{
	hg_slots_free(table, &cuckoo->slots);
}

/* Returns the slot of a word, or UINT64_MAX. */
HG_TABLE_INLINE uint64_t
slot_of(const HgTable *table, const HgCuckooSlots *cuckoo, uint64_t word, uint32_t width)
{
	for (uint32_t i = 0; i < table->spec.functions; i++)
	{
		uint64_t slot = function_slot(cuckoo, i, word);

		if (hg_slot_word(&cuckoo->slots, slot, width) == word &&
			hg_slot_row(&cuckoo->slots, slot, width) != HG_SLOT_EMPTY)
			return slot;
	}
	return UINT64_MAX;
}

HgStatus
hg_cuckoo_insert(HgTable *table, HgCuckooSlots *cuckoo, uint64_t word, uint32_t row,
				 uint64_t to_come, uint32_t *there, HgError *error)
{
	uint32_t width = table->spec.key_width;
	uint64_t slot = width == 4 ? slot_of(table, cuckoo, word, 4) : slot_of(table, cuckoo, word, 8);
	Item item = {word, row};
	HgStatus status = hg_table_work(table, 1, error);

	*there = HG_NO_ROW;
	if (status != HG_OK)
		return status;
	if (slot != UINT64_MAX)
	{
		*there = hg_slot_row(&cuckoo->slots, slot, width);
		return HG_OK;
	}
	if (cuckoo->rows >= rows_for(&table->spec, cuckoo->slots.count))
	{
		/* room for the rows to come, but at most as many again */
		uint64_t again = cuckoo->rows > LEAST_ROOM ? cuckoo->rows : LEAST_ROOM;
		uint64_t room = cuckoo->rows + (to_come < again ? to_come + 1 : again);

		table->totals.rebuilds++;
		status = rehash(table, cuckoo, slots_for(&table->spec, room), &item, error);
	}
	else if (!put_item(table, cuckoo, &item))
	{
		table->totals.restarts++;
		status = rehash(table, cuckoo, cuckoo->slots.count, &item, error);
	}
	cuckoo->rows++;
	return status;
}

/*
 * All words try their first slot, then those not found their second, and so on, so that the memory
 * accesses of a round overlap.
 */
HG_TABLE_INLINE void
find_width(const HgTable *table, const HgCuckooSlots *cuckoo, const uint64_t *words, uint32_t count,
		   uint64_t *slots, uint32_t width)
{
	uint32_t looked_for[HG_TABLE_CHUNK]; /* indexes of words not found yet */
	uint64_t candidates[HG_TABLE_CHUNK];
	uint32_t left = count;

	for (uint32_t i = 0; i < count; i++)
	{
		looked_for[i] = i;
		slots[i] = UINT64_MAX;
	}
	for (uint32_t function = 0; function < table->spec.functions; function++)
	{
		uint32_t missed = 0;

		for (uint32_t i = 0; i < left; i++)
		{
			candidates[i] = function_slot(cuckoo, function, words[looked_for[i]]);
			hg_slot_prefetch(&cuckoo->slots, candidates[i]);
		}
		for (uint32_t i = 0; i < left; i++)
		{
			uint32_t number = looked_for[i];

			if (hg_slot_word(&cuckoo->slots, candidates[i], width) == words[number] &&
				hg_slot_row(&cuckoo->slots, candidates[i], width) != HG_SLOT_EMPTY)
				slots[number] = candidates[i];
			else
				looked_for[missed++] = number;
		}
		left = missed;
	}
}

void
hg_cuckoo_find(const HgTable *table, const HgCuckooSlots *cuckoo, const uint64_t *words,
			   uint32_t count, uint64_t *slots)
{
	if (table->spec.key_width == 4)
		find_width(table, cuckoo, words, count, slots, 4);
	else
		find_width(table, cuckoo, words, count, slots, 8);
}

void
hg_cuckoo_erase(const HgTable *table, HgCuckooSlots *cuckoo, uint64_t slot)
{
	hg_slot_mark(&cuckoo->slots, slot, 0, table->spec.key_width);
	cuckoo->rows--;
}
