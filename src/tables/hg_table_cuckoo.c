/*-------------------------------------------------------------------------
 *
 * hg_table_cuckoo.c
 *	  Cuckoo tables: maps, sets and numberings.
 *
 * Three of the tables of "Building an Efficient Hash Table on the GPU" (hg_table_cuckoo.c):
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
 * Memory: hg_table_cuckoo.c.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../engine/hg_features.h"
#include "../engine/hg_shape.h"
#include "hg_table_base.h"
#include "hg_table_slots.h"

/* ---------------------------------------------------------------------
 * The slot array of the cuckoo tables, in which each key has several possible slots
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
 * ---------------------------------------------------------------------
 */

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

		HG_TRY(hg_table_poll(table, error));
		for (uint32_t i = 0; i < count; i++)
			HG_TABLE_PREFETCH(cuckoo->slots.words +
							  function_slot(cuckoo, 0, words[i]) * cuckoo->slots.word_stride);
		for (uint32_t i = 0; i < count && *done; i++)
		{
			Item item = {words[i], rows[i]};

			HG_TRY(hg_table_work(table, 1, error));
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
	HgStatus status = HG_OK;

	*there = HG_NO_ROW;
	HG_TRY(hg_table_work(table, 1, error));
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

/* Empties a slot that has a row. */
static void
erase_slot(const HgTable *table, HgCuckooSlots *cuckoo, uint64_t slot)
{
	hg_slot_mark(&cuckoo->slots, slot, 0, table->spec.key_width);
	cuckoo->rows--;
}

/* ---------------------------------------------------------------------
 * Looks up the rows of words in the slots of a cuckoo table
 *
 * All words try their first slot, then those that were not found their second, and so on. With
 * AVX-512 eight words of 4 bytes are processed together: their slots are computed and gathered at
 * once, and the indexes of those not found are packed without a branch. (Measured with 10^5 pairs,
 * which stay in a near cache: 6 ns a word instead of 14; with 4 * 10^6, which do not, no less than
 * word by word.)
 * ---------------------------------------------------------------------
 */

#ifdef HG_CPU_X86
#include <immintrin.h>

/* The low halves of lanes. */
#define LOW_HALVES _mm512_set1_epi64(UINT32_MAX)

/* Returns the slot numbers of words by one of the functions (hg_table_cuckoo.c). */
HG_CPU_TARGET_AVX512 static inline __m512i
function_slots(const HgCuckooSlots *cuckoo, uint32_t function, __m512i words)
{
	const __m512i flip = _mm512_set1_epi64((long long) cuckoo->functions[function].flip);
	const __m512i factor = _mm512_set1_epi64((long long) cuckoo->functions[function].factor);
	const __m512i count = _mm512_set1_epi64((long long) cuckoo->slots.count);
	__m512i product = _mm512_mullo_epi64(_mm512_xor_si512(words, flip), factor);

	return _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(product, 32), count), 32);
}

/* Looks up the asked lanes' words by a function; returns which were found, and their rows. */
HG_CPU_TARGET_AVX512 static inline __mmask8
look_up(const HgCuckooSlots *cuckoo, uint32_t function, __mmask8 asked, __m512i words,
		__m512i *rows)
{
	__m512i indexes = function_slots(cuckoo, function, words);
	__m512i slots =
		_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), asked, indexes, cuckoo->slots.words, 8);
	__mmask8 equal =
		_mm512_mask_cmpeq_epi64_mask(asked, _mm512_and_si512(slots, LOW_HALVES), words);

	*rows = _mm512_srli_epi64(slots, 32);
	return _mm512_mask_cmpneq_epi64_mask(equal, *rows, _mm512_set1_epi64(HG_SLOT_EMPTY));
}

/* Returns the lanes of the next `left` words. */
static inline __mmask8
lanes_of(uint32_t left)
{
	return left >= 8 ? 0xff : (__mmask8) ((1U << left) - 1);
}

/* For slots of 8 bytes, a word of 4 bytes before its row. */
HG_CPU_TARGET_AVX512 static void
find_avx512(const HgTable *table, const HgCuckooSlots *cuckoo, const uint64_t *words,
			uint32_t count, uint32_t *rows)
{
	uint32_t missed[HG_TABLE_CHUNK + 8]; /* indexes of words not found yet */
	uint32_t left = 0;
	__m512i found;

	for (uint32_t i = 0; i < count; i += 8)
	{
		const __mmask8 asked = lanes_of(count - i);
		const __m256i numbers =
			_mm256_add_epi32(_mm256_set1_epi32((int) i), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
		const __mmask8 met =
			look_up(cuckoo, 0, asked, _mm512_maskz_loadu_epi64(asked, words + i), &found);
		const __mmask8 not_met = (__mmask8) (asked & ~met);

		_mm256_mask_storeu_epi32(
			rows + i, asked, _mm512_cvtepi64_epi32(_mm512_mask_mov_epi64(LOW_HALVES, met, found)));
		_mm256_storeu_si256((__m256i *) (missed + left),
							_mm256_maskz_compress_epi32(not_met, numbers));
		left += (uint32_t) __builtin_popcount(not_met);
	}
	for (uint32_t function = 1; function < table->spec.functions && left > 0; function++)
	{
		uint32_t still = 0;

		for (uint32_t i = 0; i < left; i += 8)
		{
			const __mmask8 asked = lanes_of(left - i);
			const __m256i numbers = _mm256_maskz_loadu_epi32(asked, missed + i);
			const __m512i wanted =
				_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), asked, numbers, words, 8);
			const __mmask8 met = look_up(cuckoo, function, asked, wanted, &found);
			const __mmask8 not_met = (__mmask8) (asked & ~met);

			_mm256_mask_i32scatter_epi32(rows, met, numbers, _mm512_cvtepi64_epi32(found), 4);
			_mm256_storeu_si256((__m256i *) (missed + still),
								_mm256_maskz_compress_epi32(not_met, numbers));
			still += (uint32_t) __builtin_popcount(not_met);
		}
		left = still;
	}
}
#endif

/* Stores the row of each word, or HG_NO_ROW if it is absent; count is at most HG_TABLE_CHUNK. */
static void
cuckoo_find_rows(const HgTable *table, const HgCuckooSlots *cuckoo, const uint64_t *words,
				 uint32_t count, uint32_t *rows)
{
	uint64_t slots[HG_TABLE_CHUNK];

#ifdef HG_CPU_X86
	if (table->spec.key_width == 4 && hg_table_has_rows(table) && cuckoo->slots.count > 0 &&
		hg_cpu_features() >= HG_CPU_AVX512)
	{
		find_avx512(table, cuckoo, words, count, rows);
		return;
	}
#endif
	hg_cuckoo_find(table, cuckoo, words, count, slots);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = slots[i] == UINT64_MAX
					  ? HG_NO_ROW
					  : hg_slot_row(&cuckoo->slots, slots[i], table->spec.key_width);
}

typedef struct CuckooTable
{
	HgTable table;
	HgCuckooSlots cuckoo;
} CuckooTable;

static HgStatus
cuckoo_open(HgTable *table, HgError *error)
{
	HG_TRY(hg_cuckoo_check(&table->spec, table->spec.expected_rows, error));
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
			erase_slot(table, cuckoo, slots[i]);
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
	HgStatus status = HG_OK;

	HG_TRY(cuckoo_reserve(table, in->batch->count, error));
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
	cuckoo_find_rows(table, cuckoo, words, count, rows);
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
