/*-------------------------------------------------------------------------
 *
 * hg_aggregate_groups.c
 *	  The groups of an aggregation: a hash table of their keys, filled batch by batch.
 *
 * Groups lie in chunks, in the order of their first rows.  A table with open addressing holds
 * their numbers.  hg_aggregate_key.h hashes and compares keys; NULLs are equal.
 *
 * While rows without a group go to files, a small bitmap of hashes tells for most of these rows
 * that they have none.
 *
 * A batch is looked up in steps over all of its rows, so that the cache lines of a large table are
 * fetched for many rows at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/* Slots of the smallest table. */
#define HG_GROUPS_FIRST_SLOTS 256

/* Limits of a chunk: its bytes, and log2 of its groups. */
#define HG_GROUPS_CHUNK_BYTES ((Size) 16 * 1024)
#define HG_GROUPS_MAX_CHUNK_LOG2 8

/* Chunks are allocated in pieces: a part of the chunks so far, and at most so many bytes. */
#define HG_GROUPS_PIECE_PART 4
#define HG_GROUPS_PIECE_BYTES ((Size) 8 * 1024 * 1024)

/* Tables with more slots are prefetched. */
#define HG_GROUPS_CACHED_SLOTS 16384

/* log2 of the fewest bits of HgGroups.present: a cache line. */
#define HG_GROUPS_LEAST_PRESENT_LOG2 9

/* Slots to move, or groups to enter into a bitmap, between two checks for interrupts. */
#define HG_GROUPS_POLL 65536

/*
 * If more than 1 / HG_GROUPS_NEAR_MISSES of a batch's rows miss near, the next batch skips it.
 * With each such batch twice as many skip it, up to HG_GROUPS_NEAR_REST.
 */
#define HG_GROUPS_NEAR_MISSES 8
#define HG_GROUPS_NEAR_REST 64

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

HgGroups *
hg_groups_create(int nkeys, HgGroupKey *keys, int nvalues, const int *columns, TupleDesc desc,
				 const int *attnos, Size state_bytes, MemoryContext values, MemoryContext temporary,
				 HgBudget *budget)
{
	HgGroups *groups = palloc0(sizeof(HgGroups));

	groups->charge.budget = budget;
	groups->nkeys = nkeys;
	groups->keys = keys;
	groups->nvalues = nvalues;
	groups->columns = palloc(Max(nvalues, 1) * sizeof(int));
	groups->attlens = palloc(Max(nvalues, 1) * sizeof(int16));
	groups->byvals = palloc(Max(nvalues, 1) * sizeof(bool));
	for (int i = 0; i < nvalues; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnos[columns[i]] - 1);

		groups->columns[i] = columns[i];
		groups->attlens[i] = att->attlen;
		groups->byvals[i] = att->attbyval;
	}
	groups->nulls_offset = offsetof(HgGroup, values) + nvalues * sizeof(Datum);
	groups->states_offset = MAXALIGN(groups->nulls_offset + nvalues * sizeof(bool));
	groups->group_bytes = groups->states_offset + state_bytes;
	groups->temporary = temporary;
	groups->context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph groups", ALLOCSET_DEFAULT_SIZES);
	groups->values = values;
	groups->chunk_log2 = HG_GROUPS_MAX_CHUNK_LOG2;
	while (groups->chunk_log2 > 0 &&
		   groups->group_bytes << groups->chunk_log2 > HG_GROUPS_CHUNK_BYTES)
		groups->chunk_log2--;
	return groups;
}

void
hg_groups_reset(HgGroups *groups)
{
	MemoryContextReset(groups->values);
	MemoryContextReset(groups->context);
	groups->slots = NULL;
	groups->mask = 0;
	groups->present = NULL;
	groups->chunks = NULL;
	groups->nchunks = groups->max_chunks = groups->nfreed = 0;
	groups->piece_next = NULL;
	groups->piece_left = 0;
	groups->bytes = 0;
	groups->count = 0;
	memset(groups->near, 0, sizeof(groups->near));
	hg_charge_set(&groups->charge, 0);
}

/* Charges the memory of groups and states to the budget, and growth bytes that may follow. */
static void
hg_groups_charge_growth(HgGroups *groups, uint64 growth)
{
	hg_charge_set(&groups->charge,
				  groups->bytes + growth + MemoryContextMemAllocated(groups->values, true));
}

void
hg_groups_charge(HgGroups *groups)
{
	/* the table doubles when half of its slots are used */
	uint64 slots = groups->slots != NULL ? groups->mask + 1 : HG_GROUPS_FIRST_SLOTS;
	uint64 growth = groups->count + HG_BATCH_ROWS > slots / 2 ? slots * 2 * sizeof(HgGroupSlot) : 0;

	hg_groups_charge_growth(groups, growth);
}

/* ---------------------------------------------------------------------
 * Memory
 * ---------------------------------------------------------------------
 */

/* Allocates bytes in the table's context; raises an error if there is no memory. */
static void *
hg_groups_alloc(HgGroups *groups, Size bytes)
{
	void *block = hg_block_alloc(groups->context, bytes);

	if (block == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
				 errdetail("Failed to allocate %zu bytes for the groups of an aggregate.", bytes)));
	groups->bytes += bytes;
	return block;
}

/* Returns the number of chunks in the piece that begins after a number of chunks. */
static int
hg_groups_piece_chunks(const HgGroups *groups, int nchunks)
{
	Size most = Max(1, HG_GROUPS_PIECE_BYTES / (groups->group_bytes << groups->chunk_log2));

	return (int) Min(Max(nchunks / HG_GROUPS_PIECE_PART, 1), most);
}

static pg_noinline void
hg_groups_add_chunk(HgGroups *groups)
{
	Size chunk_bytes = groups->group_bytes << groups->chunk_log2;

	if (groups->nchunks == groups->max_chunks)
	{
		int max_chunks = Max(16, 2 * groups->max_chunks);

		if (groups->chunks == NULL)
			groups->chunks = MemoryContextAlloc(groups->context, max_chunks * sizeof(char *));
		else
			groups->chunks = repalloc(groups->chunks, max_chunks * sizeof(char *));
		groups->max_chunks = max_chunks;
	}
	if (groups->piece_left == 0)
	{
		groups->piece_left = hg_groups_piece_chunks(groups, groups->nchunks);
		groups->piece_next = hg_groups_alloc(groups, groups->piece_left * chunk_bytes);
	}
	groups->chunks[groups->nchunks++] = groups->piece_next;
	groups->piece_next += chunk_bytes;
	groups->piece_left--;
}

HgGroup *
hg_groups_add(HgGroups *groups, const HgBatch *batch, int row, uint64 hash)
{
	HgGroup *group;
	bool *nulls;

	/* group numbers, and the hashes in slots, have 32 bits */
	if (groups->count == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many groups for one hash table"),
				 errhint("Lower work_mem, or set hashgraph.enabled to off for this query.")));
	if (groups->count == (uint32) groups->nchunks << groups->chunk_log2)
		hg_groups_add_chunk(groups);
	group = hg_groups_get(groups, groups->count);
	memset(group, 0, groups->group_bytes);
	group->hash = hash;
	nulls = hg_group_nulls(groups, group);
	for (int i = 0; i < groups->nvalues; i++)
	{
		nulls[i] = batch == NULL || hg_batch_is_null(batch, groups->columns[i], row);
		if (!nulls[i])
		{
			MemoryContext old;

			group->values[i] = batch->values[groups->columns[i]][row];
			if (groups->byvals[i])
				continue;
			old = MemoryContextSwitchTo(groups->values);
			group->values[i] = datumCopy(group->values[i], false, groups->attlens[i]);
			MemoryContextSwitchTo(old);
		}
	}
	groups->count++;
	return group;
}

/* Creates the table, or doubles it, checking for interrupts. */
static void
hg_groups_grow(HgGroups *groups)
{
	HgGroupSlot *old = groups->slots;
	uint64 old_slots = old != NULL ? groups->mask + 1 : 0;
	uint64 slots = old != NULL ? 2 * old_slots : HG_GROUPS_FIRST_SLOTS;
	HgGroupSlot *table = hg_groups_alloc(groups, slots * sizeof(HgGroupSlot));
	uint64 mask = slots - 1;

	hg_block_clear(table, slots * sizeof(HgGroupSlot));
	for (uint64 i = 0; i < old_slots; i++)
	{
		uint64 index = old[i].hash & mask;

		if (i % HG_GROUPS_POLL == 0)
			CHECK_FOR_INTERRUPTS();
		if (old[i].number == 0)
			continue;
		while (table[index].number != 0)
			index = (index + 1) & mask;
		table[index] = old[i];
	}
	groups->slots = table;
	groups->mask = mask;
	if (old != NULL)
	{
		hg_block_free(old);
		groups->bytes -= old_slots * sizeof(HgGroupSlot);
	}
}

/* ---------------------------------------------------------------------
 * Looking rows up
 * ---------------------------------------------------------------------
 */

void
hg_groups_hash(HgGroups *groups, const HgBatch *batch, uint64 *hashes)
{
	memset(hashes, 0, batch->nrows * sizeof(uint64));
	for (int k = 0; k < groups->nkeys; k++)
	{
		HgGroupKey *key = &groups->keys[k];
		const Datum *values = batch->values[key->column];
		const bool *nulls = batch->has_nulls[key->column] ? batch->nulls[key->column] : NULL;

		if (nulls != NULL)
			for (int i = 0; i < batch->nrows; i++)
				hashes[i] = nulls[i]
								? hg_group_key_mix(~hashes[i], 0)
								: hg_group_key_hash(key, hashes[i], values[i], groups->temporary);
		else if (key->kind == HG_GROUP_KEY_WORD)
			for (int i = 0; i < batch->nrows; i++)
				hashes[i] = hg_group_key_mix(hashes[i], values[i] & key->mask);
		else
			for (int i = 0; i < batch->nrows; i++)
				hashes[i] = hg_group_key_hash(key, hashes[i], values[i], groups->temporary);
	}
}

/* Returns true if the keys of a row are those of a group. */
static bool
hg_groups_equal(HgGroups *groups, HgGroup *group, const HgBatch *batch, int row)
{
	const bool *nulls = hg_group_nulls(groups, group);

	for (int k = 0; k < groups->nkeys; k++)
	{
		HgGroupKey *key = &groups->keys[k];
		bool null = hg_batch_is_null(batch, key->column, row);

		if (null != nulls[k] ||
			(!null && !hg_group_key_equal(key, group->values[k], batch->values[key->column][row],
										  groups->temporary)))
			return false;
	}
	return true;
}

/* As hg_groups_equal(), for a single word key without NULLs in the batch. */
static inline bool
hg_groups_equal_word(HgGroups *groups, HgGroup *group, const Datum *values, uint64 mask, int row)
{
	return ((values[row] ^ group->values[0]) & mask) == 0 && !hg_group_nulls(groups, group)[0];
}

/* Returns the index of a word in near. */
static inline uint32
hg_groups_near_index(uint64 word)
{
	return (uint32) (word * HG_GROUP_KEY_MIXER >> (64 - HG_GROUPS_NEAR_LOG2));
}

bool
hg_groups_find_near(HgGroups *groups, const HgBatch *batch, HgGroup **found)
{
	const HgGroupKey *key = &groups->keys[0];
	const Datum *values = batch->values[key->column];
	int missing = 0;

	if (groups->nkeys != 1 || key->kind != HG_GROUP_KEY_WORD || batch->has_nulls[key->column])
		return false;
	if (groups->near_rest > 0)
	{
		groups->near_rest--;
		return false;
	}
	for (int i = 0; i < batch->nrows; i++)
	{
		uint64 word = values[i] & key->mask;
		HgGroup *near = groups->near[hg_groups_near_index(word)];

		found[i] = near;
		/* the group of NULL is never near */
		missing += near == NULL || (near->values[0] & key->mask) != word;
	}
	groups->near_step = missing > batch->nrows / HG_GROUPS_NEAR_MISSES
							? Min(Max(2 * groups->near_step, 1), HG_GROUPS_NEAR_REST)
							: 0;
	groups->near_rest = groups->near_step;
	return missing == 0;
}

/* Enters the groups of a batch's rows into near. */
static void
hg_groups_have_near(HgGroups *groups, const Datum *values, int nrows, HgGroup *const *found)
{
	for (int i = 0; i < nrows; i++)
		groups->near[hg_groups_near_index(values[i] & groups->keys[0].mask)] = found[i];
}

/*
 * Sets same[] and heads[]: the rows whose groups must be looked up, because their keys differ from
 * the row before.  Returns the number of heads.
 */
static int
hg_groups_find_heads(const HgGroups *groups, const HgBatch *batch, bool *same, uint16 *heads)
{
	int nheads = 0;

	/* the first columns are the keys */
	hg_small_mark_same(batch, groups->nkeys, groups->columns, same);
	for (int i = 0; i < batch->nrows; i++)
	{
		heads[nheads] = (uint16) i;
		nheads += !same[i];
	}
	return nheads;
}

/* Sets the bit of a hash in present. */
static inline void
hg_groups_set_present(HgGroups *groups, uint64 hash)
{
	uint64 prefix = hash >> groups->present_shift;

	groups->present[prefix / 64] |= UINT64CONST(1) << (prefix % 64);
}

/* Makes present, which has at least eight bits for each group, for all groups. */
static void
hg_groups_make_present(HgGroups *groups)
{
	uint64 least = (uint64) Max(groups->count, 1) * 8;
	int bits = Max(pg_ceil_log2_64(least), HG_GROUPS_LEAST_PRESENT_LOG2);
	Size bytes = (Size) 1 << (bits - 3);

	groups->present = hg_groups_alloc(groups, bytes);
	groups->present_shift = 64 - bits;
	hg_block_clear(groups->present, bytes);
	for (uint32 i = 0; i < groups->count; i++)
	{
		if (i % HG_GROUPS_POLL == 0)
			CHECK_FOR_INTERRUPTS();
		hg_groups_set_present(groups, hg_groups_get(groups, i)->hash);
	}
	hg_groups_charge(groups);
}

/*
 * Leaves those of rows[nrows] whose groups may exist, and sets found to NULL for the others.
 * Returns the number of remaining rows.
 */
static int
hg_groups_filter(HgGroups *groups, const uint64 *hashes, uint16 *rows, int nrows, HgGroup **found)
{
	int remaining = 0;

	if (groups->present == NULL)
		hg_groups_make_present(groups);
	for (int i = 0; i < nrows; i++)
	{
		uint16 row = rows[i];
		uint64 prefix = hashes[row] >> groups->present_shift;

		found[row] = NULL;
		rows[remaining] = row;
		remaining += groups->present[prefix / 64] >> (prefix % 64) & 1;
	}
	return remaining;
}

/* Prefetches the groups of rows.  Always inline: a call without effects would be dropped. */
static pg_attribute_always_inline void
hg_groups_prefetch(const HgGroups *groups, const uint64 *hashes, const uint16 *rows, int nrows)
{
	for (int i = 0; i < nrows; i++)
		HG_PREFETCH(&groups->slots[hashes[rows[i]] & groups->mask]);
	for (int i = 0; i < nrows; i++)
	{
		const HgGroupSlot *slot = &groups->slots[hashes[rows[i]] & groups->mask];

		/* a group with another hash is not read */
		if (slot->number != 0 && slot->hash == (uint32) hashes[rows[i]])
			HG_PREFETCH(hg_groups_get(groups, slot->number - 1));
	}
}

/*
 * Returns the group of a row; if there is none, adds it if add is set and returns NULL if not.
 * words: the values of a single word key, or NULL.
 */
static inline HgGroup *
hg_groups_find_row(HgGroups *groups, const HgBatch *batch, int row, uint64 hash, bool add,
				   const Datum *words)
{
	for (uint64 index = hash & groups->mask;; index = (index + 1) & groups->mask)
	{
		HgGroupSlot *slot = &groups->slots[index];
		HgGroup *group;

		if (slot->number == 0)
		{
			if (!add)
				return NULL;
			group = hg_groups_add(groups, batch, row, hash);
			if (groups->present != NULL)
				hg_groups_set_present(groups, hash);
			slot->hash = (uint32) hash;
			slot->number = groups->count;
			return group;
		}
		if (slot->hash != (uint32) hash)
			continue;
		group = hg_groups_get(groups, slot->number - 1);
		if (words != NULL ? hg_groups_equal_word(groups, group, words, groups->keys[0].mask, row)
						  : hg_groups_equal(groups, group, batch, row))
			return group;
	}
}

void
hg_groups_find(HgGroups *groups, const HgBatch *batch, const uint64 *hashes, bool add,
			   HgGroup **found)
{
	const HgGroupKey *key = &groups->keys[0];
	bool one_word =
		groups->nkeys == 1 && key->kind == HG_GROUP_KEY_WORD && !batch->has_nulls[key->column];
	const Datum *words = one_word ? batch->values[key->column] : NULL;
	bool same[HG_BATCH_ROWS];
	uint16 heads[HG_BATCH_ROWS];
	int nheads = hg_groups_find_heads(groups, batch, same, heads);
	int nlooked = nheads;

	while (groups->slots == NULL ||
		   (add && groups->count + (uint64) batch->nrows > (groups->mask + 1) / 2))
		hg_groups_grow(groups);
	if (!add)
		nlooked = hg_groups_filter(groups, hashes, heads, nheads, found);
	if (groups->mask >= HG_GROUPS_CACHED_SLOTS)
		hg_groups_prefetch(groups, hashes, heads, nlooked);
	for (int i = 0; i < nlooked; i++)
		found[heads[i]] = hg_groups_find_row(groups, batch, heads[i], hashes[heads[i]], add, words);
	if (nheads < batch->nrows)
		for (int i = 1; i < batch->nrows; i++)
			found[i] = same[i] ? found[i - 1] : found[i];
	if (add && one_word && groups->near_rest == 0)
		hg_groups_have_near(groups, words, batch->nrows, found);
	if (add)
		hg_groups_charge(groups);
}

void
hg_groups_truncate(HgGroups *groups, uint32 count)
{
	memset(groups->near, 0, sizeof(groups->near));
	/* last group first, so that no group is removed that a later one was placed behind */
	while (groups->count > count)
	{
		HgGroup *group = hg_groups_get(groups, groups->count - 1);
		const bool *nulls = hg_group_nulls(groups, group);
		uint64 index = group->hash & groups->mask;

		while (groups->slots[index].number != groups->count)
			index = (index + 1) & groups->mask;
		groups->slots[index].number = 0;
		for (int i = 0; i < groups->nvalues; i++)
			if (!groups->byvals[i] && !nulls[i])
				pfree(DatumGetPointer(group->values[i]));
		groups->count--;
	}
	hg_groups_charge(groups);
}

void
hg_groups_release(HgGroups *groups, uint32 count)
{
	int piece = hg_groups_piece_chunks(groups, groups->nfreed);

	if (groups->slots != NULL)
	{
		hg_block_free(groups->slots);
		groups->bytes -= (groups->mask + 1) * sizeof(HgGroupSlot);
		groups->slots = NULL;
		groups->mask = 0;
	}
	for (; (int) (count >> groups->chunk_log2) >= groups->nfreed + piece;
		 piece = hg_groups_piece_chunks(groups, groups->nfreed))
	{
		hg_block_free(groups->chunks[groups->nfreed]);
		groups->bytes -= (groups->group_bytes << groups->chunk_log2) * piece;
		groups->nfreed += piece;
	}
	hg_groups_charge_growth(groups, 0);
}

/* ---------------------------------------------------------------------
 * Small-domain groups: rows of a batch that have few different values
 *
 * Rows of a group mostly have identical Datums, by value or as pointers into a dictionary.  If a
 * batch has few different ones, groups are looked up once per kind instead of once per row.
 * Functions then process the rows of a kind together, with a state that stays in registers.  Kinds
 * are about Datums and not about values, so two kinds can be of one group.
 *
 * If there are many kinds, the first rows show it, and cost no more than that.
 * ---------------------------------------------------------------------
 */

/* Slots in the table of kinds, a power of two; at most a quarter of them is used. */
#define HG_SMALL_SLOTS (4 * HG_SMALL_KINDS)

/* Odd, without a pattern in its bits; the highest bits of the product are the slot. */
#define HG_SMALL_MIXER UINT64CONST(0x9e3779b97f4a7c15)
#define HG_SMALL_SHIFT (64 - 6)

StaticAssertDecl(HG_SMALL_SLOTS == 1 << 6, "a shift leaves a place in the table of kinds");

/* Maximal number of columns to compare. */
#define HG_SMALL_COLUMNS 8

/* The arrays of the columns, copied for fast access. */
typedef struct HgSmallColumns
{
	const Datum *values[HG_SMALL_COLUMNS];
	const bool *nulls[HG_SMALL_COLUMNS]; /* NULL if the column has none */
} HgSmallColumns;

/* Returns a row's Datum in a column, or 0 for a NULL; flags distinguish NULLs. */
static pg_attribute_always_inline uint64
hg_small_bits(const HgSmallColumns *columns, int i, int row, bool nulls)
{
	return nulls && columns->nulls[i] != NULL && columns->nulls[i][row]
			   ? 0
			   : (uint64) columns->values[i][row];
}

static pg_attribute_always_inline bool
hg_small_equal(const HgSmallColumns *columns, int ncolumns, int row, int other, bool nulls)
{
	for (int i = 0; i < ncolumns; i++)
		if (hg_small_bits(columns, i, row, nulls) != hg_small_bits(columns, i, other, nulls) ||
			(nulls && columns->nulls[i] != NULL &&
			 columns->nulls[i][row] != columns->nulls[i][other]))
			return false;
	return true;
}

/* Sets kinds and first; false: too many kinds.  ncolumns and nulls are constants. */
static pg_attribute_always_inline bool
hg_small_number(HgSmallDomain *small, int nrows, HgSmallColumns columns, int ncolumns, bool nulls)
{
	uint8 table[HG_SMALL_SLOTS] = {0}; /* kind + 1; 0: free */
	uint16 first[HG_SMALL_KINDS];
	int nkinds = 0;

	for (int row = 0; row < nrows; row++)
	{
		uint64 hash = 0;
		uint32 slot;
		int kind;

		for (int i = 0; i < ncolumns; i++)
			hash = (hash ^ hg_small_bits(&columns, i, row, nulls)) * HG_SMALL_MIXER;
		for (slot = (uint32) (hash >> HG_SMALL_SHIFT);; slot = (slot + 1) % HG_SMALL_SLOTS)
		{
			kind = (int) table[slot] - 1;
			if (kind < 0 || hg_small_equal(&columns, ncolumns, row, first[kind], nulls))
				break;
		}
		if (kind < 0)
		{
			if (nkinds == HG_SMALL_KINDS)
				return false;
			kind = nkinds++;
			table[slot] = (uint8) (kind + 1);
			first[kind] = (uint16) row;
		}
		small->kinds[row] = (uint8) kind;
	}
	small->nkinds = nkinds;
	memcpy(small->first, first, nkinds * sizeof(uint16));
	return true;
}

/* Chooses the loop for the number of columns. */
static bool
hg_small_number_any(HgSmallDomain *small, const HgBatch *batch, int ncolumns, const int *numbers)
{
	HgSmallColumns columns;
	bool nulls = false;

	for (int i = 0; i < ncolumns; i++)
	{
		columns.values[i] = batch->values[numbers[i]];
		columns.nulls[i] = batch->has_nulls[numbers[i]] ? batch->nulls[numbers[i]] : NULL;
		nulls |= batch->has_nulls[numbers[i]];
	}
	if (nulls)
		return hg_small_number(small, batch->nrows, columns, ncolumns, true);
	if (ncolumns == 1)
		return hg_small_number(small, batch->nrows, columns, 1, false);
	if (ncolumns == 2)
		return hg_small_number(small, batch->nrows, columns, 2, false);
	return hg_small_number(small, batch->nrows, columns, ncolumns, false);
}

bool
hg_small_find(HgSmallDomain *small, const HgBatch *batch, int ncolumns, const int *columns)
{
	uint16 *next[HG_SMALL_KINDS];
	int counts[HG_SMALL_KINDS] = {0};
	uint16 *end = small->rows;

	if (ncolumns > HG_SMALL_COLUMNS || !hg_small_number_any(small, batch, ncolumns, columns))
		return false;
	if (small->nkinds == 1)
	{
		small->members[0] = NULL;
		small->counts[0] = batch->nrows;
		return true;
	}
	for (int row = 0; row < batch->nrows; row++)
		counts[small->kinds[row]]++;
	for (int kind = 0; kind < small->nkinds; kind++)
	{
		small->members[kind] = next[kind] = end;
		small->counts[kind] = counts[kind];
		end += counts[kind];
	}
	for (int row = 0; row < batch->nrows; row++)
		*next[small->kinds[row]]++ = (uint16) row;
	return true;
}

void
hg_small_mark_same(const HgBatch *batch, int ncolumns, const int *columns, bool *same)
{
	if (batch->nrows == 0)
		return;
	memset(same, true, batch->nrows * sizeof(bool));
	same[0] = false;
	for (int c = 0; c < ncolumns; c++)
	{
		const Datum *values = batch->values[columns[c]];
		const bool *nulls = batch->nulls[columns[c]];

		if (!batch->has_nulls[columns[c]])
			for (int i = 1; i < batch->nrows; i++)
				same[i] &= values[i] == values[i - 1];
		else
			for (int i = 1; i < batch->nrows; i++)
				same[i] &= nulls[i] == nulls[i - 1] && (nulls[i] || values[i] == values[i - 1]);
	}
}
