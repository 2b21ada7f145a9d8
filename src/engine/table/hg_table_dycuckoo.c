/*-------------------------------------------------------------------------
 *
 * hg_table_dycuckoo.c
 *	  DyCuckoo: subtables of buckets, of which one at a time is resized.
 *
 * Y. Li and others, "Dynamic Hash Tables on GPUs", ICDE 2021.  There are d subtables, each with a
 * function of its own, of 2^k buckets.  A bucket is 32 slots for keys of 4 bytes and 16 for 8, so
 * that its words are 128 bytes; rows stand apart.  A key is in one of d buckets, one of each
 * subtable, in any slot.
 *
 * FIND looks into the d buckets.  ERASE finds, and empties the slot.
 *
 * INSERT.  A pair that is new goes to a subtable at random, in proportion to n / C(m, 2) for n
 * slots and m pairs there: conflicts are fewest where C(m, 2) / n is the same for all.  (The
 * proportions are those at the beginning of a chunk of rows.)  Where its bucket is full it takes a
 * slot at random, and the pair from there goes to the next subtable; so on until a bucket has
 * room.
 *
 * RESIZE.  The filled factor is held within alpha and beta (min_filled, max_filled): a pair that
 * would make it pass beta has the smallest subtable doubled first, and rows that were erased have
 * the largest one halved while it is below alpha; but no subtable gets smaller than it was opened.
 * So none has more than twice the slots of another, and a resize moves a d-th of the table, not
 * all of it.
 *
 * Doubling: a bucket's number is the low bits of the hash, so the pairs of bucket b stay there or
 * go to b + old number of buckets, and there is room for all of them.  Halving: buckets b and
 * b + half become one; what does not fit is inserted into the other subtables.
 *
 * A chain of more than 7 lg(slots) pairs that make room for each other means that the table is
 * full in fact: then the smallest subtable is doubled too; or, where the table is filled less than
 * alpha, that the functions are bad: then all pairs go to new subtables of the same sizes, by new
 * functions.
 *
 * Theirs has a warp look at a bucket, a lane a slot, under a lock that lanes vote for; here pairs
 * come one after the other.
 *
 * Memory: the subtables, and beside them the one that takes another's place, or with new functions
 * all of them; and what does not fit into a half.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_erased.h"
#include "hg_table_kinds.h"
#include "hg_table_slots.h"

/* Bytes of the words in a bucket. */
#define BUCKET_BYTES 128

/* Pairs that make room for each other before a chain is given up, times log2 of the slots. */
#define CHAIN_LOGS 7

/* No subtable, or slot. */
#define NOWHERE UINT64_MAX

typedef struct Subtable
{
	HgTableSlots slots;
	uint32_t log2; /* 2^log2 buckets */
	uint32_t least_log2;
	uint64_t rows;
	uint64_t flip; /* its function: (word ^ flip) * factor, from bit 32 on */
	uint64_t factor;
	uint64_t weight; /* the share of new pairs that it gets, as the end of a range below 2^32 */
} Subtable;

typedef struct DycuckooTable
{
	HgTable table;
	Subtable subtables[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots; /* of all */
	uint64_t random;
	uint64_t functions_made;
} DycuckooTable;

/* A word and its row, on their way. */
typedef struct Item
{
	uint64_t word;
	uint32_t row;
} Item;

static inline uint32_t
bucket_slots(uint32_t width)
{
	return BUCKET_BYTES / width;
}

/* The next random number. */
static inline uint64_t
next_random(DycuckooTable *dycuckoo)
{
	return hg_mix64(dycuckoo->random += UINT64_C(0x9e3779b97f4a7c15));
}

/* The first slot of a word's bucket. */
HG_TABLE_INLINE uint64_t
bucket_of(const Subtable *subtable, uint64_t word, uint32_t width)
{
	uint64_t hash = (word ^ subtable->flip) * subtable->factor >> 32;

	return (hash & ((UINT64_C(1) << subtable->log2) - 1)) * bucket_slots(width);
}

static void
choose_function(DycuckooTable *dycuckoo, Subtable *subtable)
{
	subtable->flip = next_random(dycuckoo);
	subtable->factor = next_random(dycuckoo) | 1;
	if (dycuckoo->functions_made++ < dycuckoo->table.spec.bad_functions)
		subtable->factor = 0;
}

/* Rows that so many slots may have at most, and are to have at least. */
static uint64_t
most_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->max_filled * (double) slots);
}

static uint64_t
least_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->min_filled * (double) slots);
}

/*
 * Choose the sizes of subtables for so many rows: the least that hold them, the first ones doubled.
 * Returns the slots of all.
 */
static uint64_t
choose_sizes(const HgTableSpec *spec, uint64_t rows, uint32_t log2[HG_TABLE_MAX_SUBTABLES])
{
	uint64_t slots = (uint64_t) spec->subtables * bucket_slots(spec->key_width);

	memset(log2, 0, HG_TABLE_MAX_SUBTABLES * sizeof(uint32_t));
	for (uint32_t i = 0; most_rows(spec, slots) < rows; i = (i + 1) % spec->subtables)
		slots += (uint64_t) bucket_slots(spec->key_width) << log2[i]++;
	return slots;
}

/* Have empty slots for a subtable. */
static HgStatus
subtable_alloc(HgTable *table, uint32_t log2, HgTableSlots *slots, HgError *error)
{
	HgStatus status = hg_slots_alloc(
		table, HG_TABLE_SOA, (uint64_t) bucket_slots(table->spec.key_width) << log2, slots, error);

	if (status == HG_OK)
		status = hg_table_fill(table, slots->memory, 0xff, slots->bytes, error);
	if (status != HG_OK)
		hg_slots_free(table, slots);
	return status;
}

/* Make empty subtables for so many rows, in place of empty ones. */
static HgStatus
make_subtables(HgTable *table, uint64_t rows, HgError *error)
{
	DycuckooTable *dycuckoo = (DycuckooTable *) table;
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	HgStatus status = HG_OK;

	dycuckoo->slots = choose_sizes(&table->spec, rows, log2);
	for (uint32_t i = 0; i < table->spec.subtables && status == HG_OK; i++)
	{
		Subtable *subtable = &dycuckoo->subtables[i];

		hg_slots_free(table, &subtable->slots);
		subtable->log2 = log2[i];
		status = subtable_alloc(table, log2[i], &subtable->slots, error);
	}
	return status;
}

static HgStatus
dycuckoo_open(HgTable *table, HgError *error)
{
	DycuckooTable *dycuckoo = (DycuckooTable *) table;
	HgStatus status;

	dycuckoo->random = table->spec.seed;
	status = make_subtables(table, table->spec.expected_rows, error);
	for (uint32_t i = 0; i < table->spec.subtables; i++)
	{
		dycuckoo->subtables[i].least_log2 = dycuckoo->subtables[i].log2;
		choose_function(dycuckoo, &dycuckoo->subtables[i]);
	}
	return status;
}

static void
dycuckoo_close(HgTable *table)
{
	DycuckooTable *dycuckoo = (DycuckooTable *) table;

	for (uint32_t i = 0; i < table->spec.subtables; i++)
		hg_slots_free(table, &dycuckoo->subtables[i].slots);
}

static void
dycuckoo_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots =
		choose_sizes(spec, rows > spec->expected_rows ? rows : spec->expected_rows, log2);
	uint64_t bytes;

	/* a chain that was too long may have had one more doubled */
	slots += (uint64_t) bucket_slots(spec->key_width) << log2[0];
	bytes = slots * hg_slot_bytes(spec);
	memory->held += bytes;
	memory->build += 2 * bytes;
	memory->change += 2 * bytes;
}

/* The slot of a word in its bucket of a subtable, or NOWHERE. */
HG_TABLE_INLINE uint64_t
bucket_find(const Subtable *subtable, uint64_t word, uint32_t width)
{
	uint64_t from = bucket_of(subtable, word, width);
	uint32_t any = 0;

	/* most buckets have it not: a loop without a way out is done with vectors */
	for (uint32_t i = 0; i < bucket_slots(width); i++)
		any |= hg_slot_word(&subtable->slots, from + i, width) == word;
	for (uint32_t i = 0; any && i < bucket_slots(width); i++)
		if (hg_slot_word(&subtable->slots, from + i, width) == word &&
			hg_slot_is_live(hg_slot_row(&subtable->slots, from + i, width)))
			return from + i;
	return NOWHERE;
}

/* An empty slot of a word's bucket, or NOWHERE. */
HG_TABLE_INLINE uint64_t
bucket_room(const Subtable *subtable, uint64_t word, uint32_t width)
{
	uint64_t from = bucket_of(subtable, word, width);

	for (uint32_t i = 0; i < bucket_slots(width); i++)
		if (hg_slot_row(&subtable->slots, from + i, width) == HG_SLOT_EMPTY)
			return from + i;
	return NOWHERE;
}

/*
 * Choose the shares of subtables, without one of them, or NOWHERE: each gets new pairs in
 * proportion to n / C(m, 2).
 */
static void
choose_weights(DycuckooTable *dycuckoo, uint64_t without)
{
	double weights[HG_TABLE_MAX_SUBTABLES];
	uint32_t subtables = dycuckoo->table.spec.subtables;
	double sum = 0;
	double end = 0;

	for (uint32_t i = 0; i < subtables; i++)
	{
		double m = (double) dycuckoo->subtables[i].rows;

		/* where there is no pair of rows, as if there were one */
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

/* A subtable at random, by the weights. */
static uint32_t
draw_subtable(DycuckooTable *dycuckoo)
{
	uint64_t drawn = next_random(dycuckoo) >> 32;
	uint32_t last = 0;

	for (uint32_t i = 0; i < dycuckoo->table.spec.subtables; i++)
	{
		if (drawn < dycuckoo->subtables[i].weight)
			return i;
		/* rounding may leave a number at the end to nobody */
		if (dycuckoo->subtables[i].weight > (i > 0 ? dycuckoo->subtables[i - 1].weight : 0))
			last = i;
	}
	return last;
}

/* log2, rounded up. */
static uint32_t
ceil_log2(uint64_t n)
{
	uint32_t log2 = 0;

	while ((UINT64_C(1) << log2) < n)
		log2++;
	return log2;
}

/*
 * Put an item in that is not there.  Returns false where the chain was too long: then the item that
 * is left without a slot is in its place.
 */
HG_TABLE_INLINE bool
put(DycuckooTable *dycuckoo, Item *item, uint32_t width)
{
	HgTable *table = &dycuckoo->table;
	uint32_t most = CHAIN_LOGS * ceil_log2(dycuckoo->slots);
	uint32_t to = draw_subtable(dycuckoo);
	uint64_t room = NOWHERE;
	uint32_t chain;

	for (chain = 0; chain <= most; chain++)
	{
		Subtable *subtable = &dycuckoo->subtables[to];
		Item out;

		room = bucket_room(subtable, item->word, width);
		if (room != NOWHERE)
		{
			hg_slot_set(&subtable->slots, room, item->word, item->row, width);
			subtable->rows++;
			break;
		}
		room = bucket_of(subtable, item->word, width) + next_random(dycuckoo) % bucket_slots(width);
		out.word = hg_slot_word(&subtable->slots, room, width);
		out.row = hg_slot_row(&subtable->slots, room, width);
		hg_slot_set(&subtable->slots, room, item->word, item->row, width);
		*item = out;
		to = (to + 1) % table->spec.subtables;
	}
	table->work += chain;
	table->told.evictions += chain;
	if (chain > table->told.longest_chain)
		table->told.longest_chain = chain;
	return chain <= most;
}

static bool
put_item(DycuckooTable *dycuckoo, Item *item)
{
	return dycuckoo->table.spec.key_width == 4 ? put(dycuckoo, item, 4) : put(dycuckoo, item, 8);
}

/* Put all rows of other slots in; *done is false where a chain was too long. */
static HgStatus
put_all(DycuckooTable *dycuckoo, const HgTableSlots *from, bool *done, HgError *error)
{
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint64_t place = 0;
	bool end = false;

	while (!end && *done)
	{
		uint32_t count = hg_slots_scan(from, from->count, dycuckoo->table.spec.key_width, &place,
									   words, rows, &end);
		HgStatus status = hg_table_poll(&dycuckoo->table, error);

		if (status != HG_OK)
			return status;
		choose_weights(dycuckoo, NOWHERE);
		for (uint32_t i = 0; i < count && *done; i++)
		{
			Item item = {words[i], rows[i]};

			*done = put_item(dycuckoo, &item);
		}
	}
	return HG_OK;
}

/*
 * Move all pairs, and an item that has no slot, to new subtables of the same sizes by new
 * functions.
 */
static HgStatus
restart(DycuckooTable *dycuckoo, const Item *more, HgError *error)
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
		Item item = *more;

		table->told.restarts++;
		for (uint32_t i = 0; i < subtables && status == HG_OK; i++)
		{
			Subtable *subtable = &dycuckoo->subtables[i];

			hg_slots_free(table, &subtable->slots);
			status = subtable_alloc(table, subtable->log2, &subtable->slots, error);
			choose_function(dycuckoo, subtable);
			subtable->rows = 0;
		}
		done = true;
		for (uint32_t i = 0; i < subtables && status == HG_OK; i++)
			status = put_all(dycuckoo, &old[i], &done, error);
		if (status == HG_OK && done)
			done = put_item(dycuckoo, &item);
	}
	for (uint32_t i = 0; i < subtables; i++)
		hg_slots_free(table, &old[i]);
	return status;
}

/* Double the smallest subtable. */
static HgStatus
double_smallest(DycuckooTable *dycuckoo, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	uint32_t width = table->spec.key_width;
	Subtable *smallest = &dycuckoo->subtables[0];
	HgTableSlots old;
	HgTableSlots twice;
	HgStatus status;

	for (uint32_t i = 1; i < table->spec.subtables; i++)
		if (dycuckoo->subtables[i].log2 < smallest->log2)
			smallest = &dycuckoo->subtables[i];
	status = subtable_alloc(table, smallest->log2 + 1, &twice, error);
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

			hg_slot_set(&smallest->slots, bucket_room(smallest, word, width), word, row, width);
		}
		status = hg_table_work(table, 1, error);
	}
	dycuckoo->slots += old.count;
	hg_slots_free(table, &old);
	table->told.doubled++;
	return status;
}

/* Put an item in that is not there, whatever has to be done for it. */
static HgStatus
insert_item(DycuckooTable *dycuckoo, Item *item, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	HgStatus status = HG_OK;

	while (status == HG_OK && !put_item(dycuckoo, item))
	{
		uint64_t rows = 0;

		for (uint32_t i = 0; i < table->spec.subtables; i++)
			rows += dycuckoo->subtables[i].rows;
		if (rows < least_rows(&table->spec, dycuckoo->slots))
			return restart(dycuckoo, item, error);
		status = double_smallest(dycuckoo, error);
	}
	return status;
}

/* What of buckets b and b + half does not fit into one; with half NULL it is counted only. */
static uint64_t
merge_buckets(const Subtable *subtable, uint64_t b, const HgTableSlots *half, HgTableSlots *left,
			  uint64_t left_rows, uint32_t width)
{
	uint32_t most = bucket_slots(width);
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

/* Insert what did not fit into half a subtable into the others. */
static HgStatus
insert_left(DycuckooTable *dycuckoo, uint32_t halved, const HgTableSlots *left, HgError *error)
{
	uint32_t width = dycuckoo->table.spec.key_width;
	HgStatus status = HG_OK;

	for (uint64_t i = 0; i < left->count && status == HG_OK; i++)
	{
		Item item = {hg_slot_word(left, i, width), hg_slot_row(left, i, width)};

		if (i % HG_TABLE_CHUNK == 0)
			choose_weights(dycuckoo, halved);
		status = hg_table_work(&dycuckoo->table, 1, error);
		if (status == HG_OK)
			status = insert_item(dycuckoo, &item, error);
	}
	return status;
}

/* Halve a subtable. */
static HgStatus
halve(DycuckooTable *dycuckoo, uint32_t number, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	Subtable *subtable = &dycuckoo->subtables[number];
	uint32_t width = table->spec.key_width;
	uint64_t buckets = UINT64_C(1) << (subtable->log2 - 1);
	HgTableSlots half;
	HgTableSlots left = {0};
	uint64_t over = 0;
	HgStatus status = subtable_alloc(table, subtable->log2 - 1, &half, error);

	for (uint64_t b = 0; b < buckets && status == HG_OK; b++)
	{
		over += merge_buckets(subtable, b, NULL, NULL, 0, width);
		status = hg_table_work(table, bucket_slots(width), error);
	}
	if (status == HG_OK && over > 0)
		status = hg_slots_alloc(table, HG_TABLE_SOA, over, &left, error);
	over = 0;
	for (uint64_t b = 0; b < buckets && status == HG_OK; b++)
	{
		over += merge_buckets(subtable, b, &half, &left, over, width);
		status = hg_table_work(table, bucket_slots(width), error);
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
	table->told.halved++;
	status = insert_left(dycuckoo, number, &left, error);
	hg_slots_free(table, &left);
	return status;
}

/* Halve the largest subtable, of those that may be, while the table is filled too little. */
static HgStatus
hold_least(DycuckooTable *dycuckoo, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	HgStatus status = HG_OK;

	while (status == HG_OK && table->rows < least_rows(&table->spec, dycuckoo->slots))
	{
		Subtable *largest = NULL;

		for (uint32_t i = 0; i < table->spec.subtables; i++)
		{
			Subtable *subtable = &dycuckoo->subtables[i];

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

/*
 * The subtables and slots of words, or NOWHERE.  All words look into the first subtable, then those
 * that are not there into the second, and so on, so that the memory accesses of a round are on
 * their way together.
 */
HG_TABLE_INLINE void
locate_width(const DycuckooTable *dycuckoo, const uint64_t *words, uint32_t count,
			 uint32_t *subtables, uint64_t *slots, uint32_t width)
{
	uint32_t looked_for[HG_TABLE_CHUNK]; /* numbers of the words that were not met so far */
	uint32_t left = count;

	for (uint32_t i = 0; i < count; i++)
	{
		looked_for[i] = i;
		slots[i] = NOWHERE;
	}
	for (uint32_t s = 0; s < dycuckoo->table.spec.subtables; s++)
	{
		const Subtable *subtable = &dycuckoo->subtables[s];
		uint32_t missed = 0;

		for (uint32_t i = 0; i < left; i++)
		{
			uint64_t bucket = bucket_of(subtable, words[looked_for[i]], width);

			hg_slot_prefetch(&subtable->slots, bucket);
			hg_slot_prefetch(&subtable->slots, bucket + bucket_slots(width) / 2);
		}
		for (uint32_t i = 0; i < left; i++)
		{
			uint32_t number = looked_for[i];

			slots[number] = bucket_find(subtable, words[number], width);
			subtables[number] = s;
			if (slots[number] == NOWHERE)
				looked_for[missed++] = number;
		}
		left = missed;
	}
}

static void
locate_words(const DycuckooTable *dycuckoo, const uint64_t *words, uint32_t count,
			 uint32_t *subtables, uint64_t *slots)
{
	if (dycuckoo->table.spec.key_width == 4)
		locate_width(dycuckoo, words, count, subtables, slots, 4);
	else
		locate_width(dycuckoo, words, count, subtables, slots, 8);
}

static HgStatus
dycuckoo_erase(HgTable *table, HgTableSource *out, HgTableChange *change, HgError *error)
{
	DycuckooTable *dycuckoo = (DycuckooTable *) table;
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
		locate_words(dycuckoo, words, count, subtables, slots);
		for (uint32_t i = 0; i < count; i++)
		{
			Subtable *subtable = &dycuckoo->subtables[subtables[i]];
			uint32_t there;

			if (slots[i] == NOWHERE)
				continue;

			/* what the chunk has named before is gone */
			there = hg_slot_row(&subtable->slots, slots[i], width);
			if (!hg_slot_is_live(there) || !(by_key || there == rows[i]))
				continue;
			hg_slot_mark(&subtable->slots, slots[i], 0, width);
			subtable->rows--;
			table->rows--;
			change->erased++;
		}
		status = hold_least(dycuckoo, error);
		if (status != HG_OK)
			break;
	}
	return status;
}

/* Insert a chunk of a batch. */
static HgStatus
insert_chunk(DycuckooTable *dycuckoo, const uint64_t *words, const uint32_t *rows, uint32_t count,
			 HgTableChange *change, HgError *error)
{
	HgTable *table = &dycuckoo->table;
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];
	uint64_t before = change->inserted;
	HgStatus status = HG_OK;

	locate_words(dycuckoo, words, count, subtables, slots);
	choose_weights(dycuckoo, NOWHERE);
	for (uint32_t i = 0; i < count && status == HG_OK; i++)
	{
		Item item = {words[i], rows[i]};

		if (slots[i] != NOWHERE)
			continue;

		/* it may have come with the chunk */
		if (change->inserted > before)
		{
			uint64_t again;
			uint32_t subtable;

			locate_words(dycuckoo, &words[i], 1, &subtable, &again);
			if (again != NOWHERE)
				continue;
		}
		if (table->rows + 1 > most_rows(&table->spec, dycuckoo->slots))
			status = double_smallest(dycuckoo, error);
		if (status == HG_OK)
			status = hg_table_work(table, 1, error);
		if (status == HG_OK)
			status = insert_item(dycuckoo, &item, error);
		table->rows++;
		change->inserted++;
	}
	return status;
}

static HgStatus
dycuckoo_insert(HgTable *table, HgTableSource *in, HgTableChange *change, HgError *error)
{
	DycuckooTable *dycuckoo = (DycuckooTable *) table;
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];
	uint32_t count;
	HgStatus status = HG_OK;

	/* a first batch finds room for all of it */
	if (table->rows == 0 && in->batch->count > most_rows(&table->spec, dycuckoo->slots))
		status = make_subtables(table, in->batch->count, error);
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

	/* duplicates in a first batch, or new functions, may have left it with more than it needs */
	if (status == HG_OK)
		status = hold_least((DycuckooTable *) table, error);
	return status;
}

static HgStatus
dycuckoo_find(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	const DycuckooTable *dycuckoo = (const DycuckooTable *) table;
	uint64_t slots[HG_TABLE_CHUNK];
	uint32_t subtables[HG_TABLE_CHUNK];

	(void) error;
	locate_words(dycuckoo, words, count, subtables, slots);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = slots[i] == NOWHERE ? HG_NO_ROW
									  : hg_slot_row(&dycuckoo->subtables[subtables[i]].slots,
													slots[i], table->spec.key_width);
	return HG_OK;
}

/* Its place is the number of a subtable, above 56 bits, and a slot. */
static uint32_t
dycuckoo_scan(const HgTable *table, uint64_t *place, uint64_t *words, uint32_t *rows, bool *end)
{
	const DycuckooTable *dycuckoo = (const DycuckooTable *) table;
	uint64_t s = *place >> 56;
	uint64_t slot = *place & ((UINT64_C(1) << 56) - 1);
	const HgTableSlots *slots = &dycuckoo->subtables[s].slots;
	uint32_t count =
		hg_slots_scan(slots, slots->count, table->spec.key_width, &slot, words, rows, end);

	if (*end && s + 1 < table->spec.subtables)
	{
		*end = false;
		s++;
		slot = 0;
	}
	*place = s << 56 | slot;
	return count;
}

static HgStatus
dycuckoo_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	const DycuckooTable *dycuckoo = (const DycuckooTable *) table;
	uint32_t width = table->spec.key_width;
	HgStatus status = HG_OK;

	stats->slots = dycuckoo->slots;
	for (uint32_t s = 0; s < table->spec.subtables; s++)
	{
		const HgTableSlots *slots = &dycuckoo->subtables[s].slots;

		for (uint64_t from = 0; from < slots->count && status == HG_OK; from += bucket_slots(width))
		{
			uint64_t rows = 0;

			for (uint32_t i = 0; i < bucket_slots(width); i++)
				rows += hg_slot_is_live(hg_slot_row(slots, from + i, width));
			stats->lists++;
			stats->empty_lists += rows == 0;
			stats->longest_list = rows > stats->longest_list ? rows : stats->longest_list;
			status = hg_table_work(table, bucket_slots(width), error);
		}
	}
	return status;
}

const HgTableCalls hg_table_dycuckoo_calls = {
	.bytes = sizeof(DycuckooTable),
	.memory = dycuckoo_memory,
	.open = dycuckoo_open,
	.change = dycuckoo_change,
	.find = dycuckoo_find,
	.scan = dycuckoo_scan,
	.describe = dycuckoo_describe,
	.close = dycuckoo_close,
};
