/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo.cu
 *	  DyCuckoo on a device: subtables of buckets, of which one at a time is resized.
 *
 * Y. Li and others, "Dynamic Hash Tables on GPUs", ICDE 2021: d subtables of 2^k buckets, each
 * with its own function.  The load is kept between alpha and beta (min_filled, max_filled) by
 * doubling the smallest or halving the largest subtable alone.  ../../src/tables/
 * hg_table_dycuckoo.c describes that.  This implementation differs:
 *
 * TWO BUCKETS.  A first function gives each key a pair of subtables, and the key is in one of its
 * two buckets there.  A lookup reads two buckets, however many subtables there are, and one if the
 * key is in the first.  Bits of the same function decide which of the pair is first, with
 * probabilities in proportion to the empty slots of the two.  (The paper's probabilities, slots /
 * C(pairs, 2), are for buckets in which any two keys conflict.  With many slots a bucket it
 * matters how many buckets are full, which is least if all subtables have the same load.)
 *
 * BUCKETS have 64 bytes, the least that a device reads at random at the speed of its memory: 8
 * pairs of 32-bit keys with the rows beside the keys, since a find is then one access; 8 keys of
 * 64 bits with the rows apart; 16 or 8 keys of a set.  Four lanes read a bucket.
 *
 * INSERT has two phases; the first suffices for most pairs, and needs no locks:
 *
 * 1. place	Each pair reads both of its buckets.  If the key is there, the pair is left out.
 *			Otherwise it takes an empty slot by compare-and-swap, the first one in an order of the
 *			slots of both: six of eight of the first bucket, as many of the second, and the others.
 *			If another pair was faster, it checks that pair's key, and goes on to the next slot.
 * 2. evict	Pairs whose buckets were full.  One of each key gets the claim, in a table of claims,
 *			and evicts a pair, which moves to its other bucket, and so on until a bucket has room.
 *			One compare-and-swap exchanges a pair if the slot has all of it.  Keys of 64 bits have
 *			their rows apart: then the bucket is locked.  A lane has at most one lock at a time,
 *			and frees it before it takes another.
 *
 * Each key is inserted once.  In phase 1 slots are only filled, and nothing moves, so a key of the
 * table is found.  Two equal keys of a batch visit the same slots in the same order, since the
 * order of the subtables depends on the key alone, and each takes a slot only after it has seen
 * that other keys have all slots before.  So the one with the later slot would have seen the other
 * one, and they cannot both take one slot.  If one finds both buckets full without its key, so
 * does the other.  In phase 2 keys move, so that no search is possible.  None is needed: no key of
 * phase 2 was in the table before, and of equal ones one has the claim.
 *
 * A chain of more than 7 lg(slots) evictions means that the table is full in fact: then the
 * smallest subtable is doubled.  If the load is below alpha, it means that the functions are bad:
 * then all pairs go to new subtables, by new functions.  Pairs that are left over pass both phases
 * again.
 *
 * ERASE finds the slot, and empties it by compare-and-swap: of two that name it one succeeds.
 *
 * BOUNDS.  Before an insert there is room for all pairs at beta.  If that is not certain, the keys
 * that the table does not have are counted first.  This count is skipped if the batch is small,
 * and the load with a doubled subtable and none of its pairs would still be alpha.  If many pairs
 * were equal, the table may then be too large, which is checked at the end of the change.
 *
 * WAITING.  A change that inserts waits for the device once, for the number of pairs that are left
 * over.  One that erases waits only if its caller wants the counts, or the load may be below
 * alpha: the known rows are then an upper bound, and the rows that may be gone are counted.
 *
 * MEMORY: the subtables; beside them the one that replaces another, or with new functions all
 * pairs; and the pairs that are left over, twice.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_dycuckoo.h"

#include "hg_cuda_table_dycuckoo_change_kernels.h"

#include <algorithm>
#include <cstring>

/* Upper bound on the rounding of all blocks. */
static constexpr uint64_t ROUNDING = 64 * 1024;

/* A batch smaller than one part in this of the slots is not checked for keys of the table. */
static constexpr uint64_t SMALL_BATCH = 8;

/* ------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------ */

static void
dycuckoo_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	const uint64_t piece = rows < HG_DY_PIECE_PAIRS ? rows : HG_DY_PIECE_PAIRS;
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots =
		hg_dy_choose_sizes(spec, rows > spec->expected_rows ? rows : spec->expected_rows, log2);
	uint64_t bytes;
	uint64_t scratch;

	/* a chain that was too long may have had one more doubled */
	slots += (uint64_t) hg_dy_bucket_slots(spec) << log2[0];
	bytes = hg_dy_slots_bytes(spec, slots) + ROUNDING;
	scratch = 2 * hg_dy_scratch_bytes(spec->key_width, piece) + rows * (spec->key_width + 4);
	memory->held += bytes;
	memory->build += 2 * bytes + scratch;
	memory->change += 2 * bytes + scratch;
}

static HgStatus
dycuckoo_open(HgCudaTable *table, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	dy->random = table->spec.seed;
	hg_dy_choose_sizes(&table->spec, table->spec.expected_rows, dy->log2);
	memcpy(dy->least_log2, dy->log2, sizeof(dy->log2));
	hg_dy_choose_functions(dy);
	HG_TRY(hg_cuda_alloc_array(&table->work, 1, &dy->state, error));
	HG_CUDA_TRY(cudaMemsetAsync(dy->state, 0, sizeof(HgDyState), table->work.stream), error);
	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->odd_row, 0xff, sizeof(uint32_t), table->work.stream),
				error);
	dy->known.odd_row = HG_CUDA_EMPTY_ROW;
	HG_TRY(hg_dy_make_subtables(dy, error));
	hg_dy_choose_thresholds(dy);
	return HG_OK;
}

static void
dycuckoo_close(HgCudaTable *table)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	for (uint32_t i = 0; i < table->spec.subtables; i++)
		hg_dy_free_slots(dy, &dy->table.subtables[i]);
	hg_cuda_free(&table->work, dy->state);
	dy->state = nullptr;
}

/* ------------------------------------------------------------------------
 * Looking up
 * ------------------------------------------------------------------------ */

template <typename Slots, HgDyQuestion QUESTION>
static HgStatus
ask(HgCudaDycuckoo *dy, const void *keys, uint64_t count, const uint64_t *offsets,
	uint32_t *answers, HgError *error)
{
	return hg_cuda_launch_pieces<hg_dy_find_kernel<Slots, QUESTION>, HG_DY_THREADS>(
		&dy->base.work, "hg_dy_find_kernel", count, HG_DY_PIECE_KEYS, error, dy->table,
		static_cast<const typename Slots::Word *>(keys), HG_PIECE_FIRST, HG_PIECE_END, offsets,
		answers, dy->state);
}

template <typename Slots>
static HgStatus
find(HgCudaDycuckoo *dy, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return ask<Slots, HG_DY_FIND>(dy, keys, count, nullptr, rows, error);
}

template <typename Slots>
static HgStatus
count_keys(HgCudaDycuckoo *dy, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return ask<Slots, HG_DY_COUNT>(dy, keys, count, nullptr, counts, error);
}

template <typename Slots>
static HgStatus
match(HgCudaDycuckoo *dy, const void *keys, uint64_t count, const uint64_t *offsets, uint32_t *rows,
	  HgError *error)
{
	return ask<Slots, HG_DY_MATCH>(dy, keys, count, offsets, rows, error);
}

static HgStatus
dycuckoo_find(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, find, dy, keys, count, rows, error);
}

static HgStatus
dycuckoo_count(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts,
			   HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, count_keys, dy, keys, count, counts, error);
}

static HgStatus
dycuckoo_match(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
			   uint32_t *rows, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, match, dy, keys, count, offsets, rows, error);
}

/* ------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------ */

template <typename Slots>
static HgStatus
erase(HgCudaDycuckoo *dy, const HgCudaTableBatch *out, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const bool by_key = out->by_key || !Slots::HAS_ROWS;

	HG_TRY(hg_slot_batch_in_pieces(
		table, out, HG_DY_PIECE_PAIRS, error,
		[&](const HgSlotBatch &piece)
		{
			return hg_cuda_launch<hg_dy_erase_kernel<Slots>>(
				table->work.stream, "hg_dy_erase_kernel",
				std::min(hg_blocks_for(piece.count, HG_DY_THREADS), HG_DY_CHANGE_BLOCKS),
				HG_DY_THREADS, error, dy->table, piece, by_key, dy->state);
		}));
	dy->erased += out->count;
	return HG_OK;
}

/* Counts the keys of a list that the table does not have, and makes room for them. */
template <typename Slots>
static HgStatus
make_room_for_new(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	HgCudaTable *table = &dy->base;

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->absent, 0, sizeof(uint32_t), table->work.stream),
				error);
	HG_TRY((ask<Slots, HG_DY_ABSENT>(dy, list->keys, list->count, nullptr, nullptr, error)));
	HG_TRY(hg_dy_read_state(dy, error));
	while (table->rows + dy->known.absent > hg_dy_most_rows(&table->spec, hg_dy_all_slots(dy)))
		HG_TRY(hg_dy_double_smallest(dy, error));
	return HG_OK;
}

/* Makes room for the new keys of a list. */
template <typename Slots>
static HgStatus
make_room(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const HgTableSpec *spec = &table->spec;

	while (table->rows + list->count > hg_dy_most_rows(spec, hg_dy_all_slots(dy)))
	{
		const uint64_t slots = hg_dy_all_slots(dy);

		if (dy->erased > 0)
		{
			HG_TRY(hg_dy_know_rows(dy, error));
			continue;
		}
		/* the smallest subtable has at most its share of the slots */
		if (list->count > slots / SMALL_BATCH ||
			table->rows < hg_dy_least_rows(spec, slots + slots / spec->subtables))
			return make_room_for_new<Slots>(dy, list, error);
		HG_TRY(hg_dy_double_smallest(dy, error));
	}
	return HG_OK;
}

template <typename Slots>
static HgStatus
insert(HgCudaDycuckoo *dy, const HgCudaTableBatch *in, HgError *error)
{
	HgCudaTable *table = &dy->base;

	/* a first batch gets room for all of it */
	if (in->count > hg_dy_most_rows(&table->spec, hg_dy_all_slots(dy)))
	{
		HG_TRY(hg_dy_know_rows(dy, error));
		if (table->rows == 0)
		{
			hg_dy_choose_sizes(&table->spec, in->count, dy->log2);
			HG_TRY(hg_dy_make_subtables(dy, error));
		}
	}
	return hg_slot_batch_in_pieces(table, in, HG_DY_PIECE_PAIRS, error,
								   [&](const HgSlotBatch &piece)
								   {
									   HG_TRY(make_room<Slots>(dy, &piece, error));
									   return hg_dy_insert_keys(dy, &piece, error);
								   });
}

static HgStatus
dycuckoo_change(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
				HgTableChange *change, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);
	uint64_t before;

	if (change != nullptr)
	{
		memset(change, 0, sizeof(*change));
		HG_TRY(hg_dy_know_rows(dy, error));
	}
	before = table->rows;
	if (out != nullptr && out->count > 0)
	{
		HG_TRY(HG_DY_BY_SLOTS(table, erase, dy, out, error));
		if (change != nullptr)
		{
			HG_TRY(hg_dy_know_rows(dy, error));
			change->erased = before - table->rows;
			before = table->rows;
		}
	}
	if (in != nullptr && in->count > 0)
	{
		HG_TRY(HG_DY_BY_SLOTS(table, insert, dy, in, error));
		if (change != nullptr)
			change->inserted = table->rows - before;
	}
	return hg_dy_hold_least(dy, error);
}

/* ------------------------------------------------------------------------
 * The whole table
 * ------------------------------------------------------------------------ */

template <typename Slots>
static HgStatus
export_pairs(HgCudaDycuckoo *dy, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &dy->base.work;

	HG_TRY(hg_dy_export_slots(dy, true, keys, rows, error));
	if constexpr (Slots::APART)
		HG_TRY((hg_cuda_launch<hg_dy_export_odd_kernel<typename Slots::Word>>(
			work->stream, "hg_dy_export_odd_kernel", 1, 1, error,
			static_cast<typename Slots::Word *>(keys), rows, dy->state)));
	return HG_OK;
}

static HgStatus
dycuckoo_export(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, export_pairs, dy, keys, rows, error);
}

template <typename Slots>
static HgStatus
describe_buckets(HgCudaDycuckoo *dy, HgError *error)
{
	HgCudaWork *work = &dy->base.work;

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->empty_buckets, 0, 2 * sizeof(uint32_t), work->stream),
				error);
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
	{
		HG_TRY((hg_cuda_launch_pieces<hg_dy_describe_kernel<Slots>, HG_DY_THREADS>(
			work, "hg_dy_describe_kernel", hg_dy_subtable_slots(dy, i), HG_DY_PIECE_SLOTS, error,
			dy->table.subtables[i], HG_PIECE_FIRST, HG_PIECE_END, dy->state)));
		HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

static HgStatus
dycuckoo_describe(HgCudaTable *table, HgTableStats *stats, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	HG_TRY(HG_DY_BY_SLOTS(table, describe_buckets, dy, error));
	HG_TRY(hg_dy_read_state(dy, error));
	stats->slots = hg_dy_all_slots(dy);
	stats->lists = stats->slots / hg_dy_bucket_slots(&table->spec);
	stats->empty_lists = dy->known.empty_buckets;
	stats->longest_list = dy->known.fullest_bucket;
	return HG_OK;
}

const HgCudaTableCalls hg_cuda_table_dycuckoo = {
	sizeof(HgCudaDycuckoo), dycuckoo_memory, dycuckoo_open,	  dycuckoo_change,	 dycuckoo_find,
	dycuckoo_count,			dycuckoo_match,	 dycuckoo_export, dycuckoo_describe, dycuckoo_close,
};
