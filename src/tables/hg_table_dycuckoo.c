/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo.c
 *	  DyCuckoo: subtables of buckets, of which one at a time is resized.
 *
 * Y. Li and others, "Dynamic Hash Tables on GPUs", ICDE 2021. There are d subtables of 2^k
 * buckets, each with a function of its own. A bucket has 32 slots for keys of 4 bytes and 16 for
 * 8, so that its words are 128 bytes; rows are stored apart. A key is in one of d buckets, one of
 * each subtable, in any slot.
 *
 * FIND searches the d buckets. ERASE finds, and empties the slot.
 *
 * INSERT. A new pair goes to a random subtable, in proportion to n / C(m, 2) for n slots and m
 * pairs there: conflicts are fewest if C(m, 2) / n is the same for all. (The proportions are those
 * at the start of a chunk of rows.) If its bucket is full, it takes a random slot, and the pair in
 * that slot goes to the next subtable, and so on until a bucket has room.
 *
 * RESIZE. The fill factor stays between alpha and beta (min_filled, max_filled). Before an insert
 * that would exceed beta the smallest subtable is doubled. After an erase the largest is halved
 * while the factor is below alpha; but no subtable gets smaller than it was opened. So none has
 * more than twice the slots of another, and a resize moves a d-th of the table.
 *
 * Doubling: a bucket's number is the low bits of the hash, so the pairs of bucket b stay there or
 * go to b + old number of buckets, and all of them fit. Halving: buckets b and b + half become
 * one; what does not fit is inserted into the other subtables.
 *
 * A chain of more than 7 lg(slots) evictions means that the table is full in effect: the smallest
 * subtable is doubled. If the table is filled less than alpha, it means that the functions are
 * bad: all pairs move to new subtables of the same sizes, with new functions.
 *
 * In the paper a warp processes a bucket, a lane a slot, under a lock that lanes vote for; here
 * pairs come one after the other.
 *
 * Memory: the subtables, and beside them the one that replaces another or, with new functions, all
 * of them; and the pairs that do not fit into a half.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../engine/hg_shape.h"
#include "hg_table_base.h"
#include "hg_table_slots.h"

/*
 * DyCuckoo: its subtables, and the functions that its files share.
 *
 *	hg_table_dycuckoo.c			the kind's calls
 *	hg_table_dycuckoo.c	doubles and halves subtables; inserts that may resize
 *	hg_table_dycuckoo.c		puts pairs into buckets, with evictions
 *	hg_table_dycuckoo.c	finds words
 */

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

/* hg_table_dycuckoo.c */

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

/* hg_table_dycuckoo.c */

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

/* hg_table_dycuckoo.c */

/*
 * Stores each word's subtable and slot. slots[i] is HG_DYCUCKOO_NOWHERE for an absent word;
 * subtables[i] then means nothing. count is at most HG_TABLE_CHUNK.
 */
extern void hg_dycuckoo_locate(const HgDycuckoo *dycuckoo, const uint64_t *words, uint32_t count,
							   uint32_t *subtables, uint64_t *slots);

/* ---------------------------------------------------------------------
 * DyCuckoo: finds words
 * ---------------------------------------------------------------------
 */

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

/* ---------------------------------------------------------------------
 * DyCuckoo: doubles and halves subtables; inserts that may resize
 * ---------------------------------------------------------------------
 */

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

/* ---------------------------------------------------------------------
 * DyCuckoo: puts pairs into buckets, with evictions
 * ---------------------------------------------------------------------
 */

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

		HG_TRY(hg_table_poll(&dycuckoo->table, error));
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

static HgStatus
dycuckoo_open(HgTable *table, HgError *error)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;
	HgStatus status;

	dycuckoo->random = table->spec.seed;
	status = hg_dycuckoo_make(table, table->spec.expected_rows, error);
	for (uint32_t i = 0; i < table->spec.subtables; i++)
	{
		dycuckoo->subtables[i].least_log2 = dycuckoo->subtables[i].log2;
		hg_dycuckoo_choose_function(dycuckoo, &dycuckoo->subtables[i]);
	}
	return status;
}

static void
dycuckoo_close(HgTable *table)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;

	for (uint32_t i = 0; i < table->spec.subtables; i++)
		hg_slots_free(table, &dycuckoo->subtables[i].slots);
}

static void
dycuckoo_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots = hg_dycuckoo_choose_sizes(
		spec, rows > spec->expected_rows ? rows : spec->expected_rows, log2);
	uint64_t bytes;

	/* a chain that was too long may have doubled one more */
	slots += (uint64_t) hg_dycuckoo_bucket_slots(spec->key_width) << log2[0];
	bytes = slots * hg_slot_bytes(spec);
	memory->held += bytes;
	memory->build += 2 * bytes;
	memory->change += 2 * bytes;
}

static HgStatus
dycuckoo_erase(HgTable *table, HgTableSource *out, HgTableChange *change, HgError *error)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;
	bool by_key = out->batch->by_key || table->spec.content == HG_TABLE_SET;
	uint32_t width = table->spec.key_width;
	uint64_t words[HG_TABLE_CHUNK];
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status;

	while ((status = hg_source_next(table, out, words, rows, &count, error)) == HG_OK && count > 0)
	{
		hg_dycuckoo_locate(dycuckoo, words, count, subtables, slots);
		for (uint32_t i = 0; i < count; i++)
		{
			HgDycuckooSubtable *subtable = &dycuckoo->subtables[subtables[i]];
			uint32_t there;

			if (slots[i] == HG_DYCUCKOO_NOWHERE)
				continue;

			/* an earlier entry of the chunk may have erased it */
			there = hg_slot_row(&subtable->slots, slots[i], width);
			if (!hg_slot_is_live(there) || !(by_key || there == rows[i]))
				continue;
			hg_slot_mark(&subtable->slots, slots[i], 0, width);
			subtable->rows--;
			table->rows--;
			change->erased++;
		}
		status = hg_dycuckoo_hold_least(dycuckoo, error);
		if (status != HG_OK)
			break;
	}
	return status;
}

/* Inserts a chunk of a batch. */
static HgStatus
insert_chunk(HgDycuckoo *dycuckoo, const uint64_t *words, const uint32_t *rows, uint32_t count,
			 HgTableChange *change, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];
	uint64_t before = change->inserted;
	HgStatus status = HG_OK;

	hg_dycuckoo_locate(dycuckoo, words, count, subtables, slots);
	hg_dycuckoo_choose_weights(dycuckoo, HG_DYCUCKOO_NOWHERE);
	for (uint32_t i = 0; i < count && status == HG_OK; i++)
	{
		HgDycuckooItem item = {words[i], rows[i]};

		if (slots[i] != HG_DYCUCKOO_NOWHERE)
			continue;

		/* the same key may have come with the chunk */
		if (change->inserted > before)
		{
			uint64_t again;
			uint32_t subtable;

			hg_dycuckoo_locate(dycuckoo, &words[i], 1, &subtable, &again);
			if (again != HG_DYCUCKOO_NOWHERE)
				continue;
		}
		if (table->rows + 1 > hg_dycuckoo_most_rows(&table->spec, dycuckoo->slots))
			status = hg_dycuckoo_double(dycuckoo, error);
		if (status == HG_OK)
			status = hg_table_work(table, 1, error);
		if (status == HG_OK)
			status = hg_dycuckoo_insert(dycuckoo, &item, error);
		table->rows++;
		change->inserted++;
	}
	return status;
}

static HgStatus
dycuckoo_insert(HgTable *table, HgTableSource *in, HgTableChange *change, HgError *error)
{
	HgDycuckoo *dycuckoo = (HgDycuckoo *) table;
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status = HG_OK;

	/* a first batch gets room for all of it */
	if (table->rows == 0 && in->batch->count > hg_dycuckoo_most_rows(&table->spec, dycuckoo->slots))
		status = hg_dycuckoo_make(table, in->batch->count, error);
	while (status == HG_OK &&
		   (status = hg_source_next(table, in, words, rows, &count, error)) == HG_OK && count > 0)
		status = insert_chunk(dycuckoo, words, rows, count, change, error);
	return status;
}

static HgStatus
dycuckoo_change(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
				HgError *error)
{
	HgStatus status = HG_OK;

	if (out != NULL)
		status = dycuckoo_erase(table, out, change, error);
	if (status == HG_OK && in != NULL)
		status = dycuckoo_insert(table, in, change, error);

	/* duplicates in a first batch, or new functions, may have left the table too large */
	if (status == HG_OK)
		status = hg_dycuckoo_hold_least((HgDycuckoo *) table, error);
	return status;
}

static HgStatus
dycuckoo_find(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	const HgDycuckoo *dycuckoo = (const HgDycuckoo *) table;
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];

	(void) error;
	hg_dycuckoo_locate(dycuckoo, words, count, subtables, slots);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = slots[i] == HG_DYCUCKOO_NOWHERE
					  ? HG_NO_ROW
					  : hg_slot_row(&dycuckoo->subtables[subtables[i]].slots, slots[i],
									table->spec.key_width);
	return HG_OK;
}

/* *cursor is the number of a subtable, above 56 bits, and a slot. */
static uint32_t
dycuckoo_scan(const HgTable *table, uint64_t *cursor, uint64_t *words, uint32_t *rows, bool *end)
{
	const HgDycuckoo *dycuckoo = (const HgDycuckoo *) table;
	uint64_t s = *cursor >> 56;
	uint64_t slot = *cursor & ((UINT64_C(1) << 56) - 1);
	const HgTableSlots *slots = &dycuckoo->subtables[s].slots;
	uint32_t count =
		hg_slots_scan(slots, slots->count, table->spec.key_width, &slot, words, rows, end);

	if (*end && s + 1 < table->spec.subtables)
	{
		*end = false;
		s++;
		slot = 0;
	}
	*cursor = s << 56 | slot;
	return count;
}

static HgStatus
dycuckoo_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	const HgDycuckoo *dycuckoo = (const HgDycuckoo *) table;
	uint32_t width = table->spec.key_width;
	HgStatus status = HG_OK;

	stats->slots = dycuckoo->slots;
	for (uint32_t s = 0; s < table->spec.subtables; s++)
	{
		const HgTableSlots *slots = &dycuckoo->subtables[s].slots;

		for (uint64_t from = 0; from < slots->count && status == HG_OK;
			 from += hg_dycuckoo_bucket_slots(width))
		{
			uint64_t rows = 0;

			for (uint32_t i = 0; i < hg_dycuckoo_bucket_slots(width); i++)
				rows += hg_slot_is_live(hg_slot_row(slots, from + i, width));
			stats->lists++;
			stats->empty_lists += rows == 0;
			stats->longest_list = rows > stats->longest_list ? rows : stats->longest_list;
			status = hg_table_work(table, hg_dycuckoo_bucket_slots(width), error);
		}
	}
	return status;
}

const HgTableCalls hg_table_dycuckoo_calls = {
	.bytes = sizeof(HgDycuckoo),
	.memory = dycuckoo_memory,
	.open = dycuckoo_open,
	.change = dycuckoo_change,
	.find = dycuckoo_find,
	.scan = dycuckoo_scan,
	.describe = dycuckoo_describe,
	.close = dycuckoo_close,
};
