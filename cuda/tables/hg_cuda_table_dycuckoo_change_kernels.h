/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo_change_kernels.h
 *	  The kernels that change DyCuckoo tables: hg_cuda_table_dycuckoo.cu says when each runs.
 *
 * Slots is HgDySlots of a word and whether there are rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYCUCKOO_CHANGE_KERNELS_H
#define HG_CUDA_TABLE_DYCUCKOO_CHANGE_KERNELS_H

#include "hg_cuda_table_dycuckoo_kernels.h"

/* Adds the lanes of a warp with each subtable to its count, which is in shared memory. */
__device__ __forceinline__ void
hg_dy_add_counts(const HgDyTable &table, uint32_t *counts, uint32_t subtable)
{
	for (uint32_t s = 0; s < table.count; s++)
	{
		const uint32_t lanes = __ballot_sync(UINT32_MAX, subtable == s);

		if (threadIdx.x % 32 == 0 && lanes != 0)
			atomicAdd(&counts[s], (uint32_t) __popc(lanes));
	}
}

/*
 * Merges sets of slots of a key's two buckets, as of hg_dy_empties(), into one set in the order in
 * which a key takes slots: most of the first bucket, where lookups search first; most of the
 * second; and the rest of both.  So buckets are full only when nearly all are.
 */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_order(uint32_t first, uint32_t second)
{
	constexpr uint32_t MOST = Slots::COUNT - Slots::COUNT / HG_DY_LAST;
	constexpr uint32_t LAST = Slots::COUNT / HG_DY_LAST;
	constexpr uint32_t MASK = (1u << MOST) - 1;

	return (first & MASK) | (second & MASK) << MOST | first >> MOST << 2 * MOST |
		   second >> MOST << (2 * MOST + LAST);
}

/* Returns the slot of a bit of that set; *second: it is one of the second bucket. */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_ordered(uint32_t bit, bool *second)
{
	constexpr uint32_t MOST = Slots::COUNT - Slots::COUNT / HG_DY_LAST;
	constexpr uint32_t LAST = Slots::COUNT / HG_DY_LAST;
	const bool last = bit >= 2 * MOST;
	const uint32_t at = last ? bit - 2 * MOST : bit;
	const uint32_t width = last ? LAST : MOST;

	*second = at >= width;
	return hg_dy_slot_of<Slots>((last ? MOST : 0) + (*second ? at - width : at));
}

/*
 * Inserts pair i of a list if its key is not in the table and one of its buckets has an empty
 * slot.  If both are full, it is appended to left.  Returns the subtable that it was put into, or
 * HG_TABLE_MAX_SUBTABLES.  All lanes of a warp call it.
 */
template <typename Slots, bool KEYS>
__device__ __forceinline__ uint32_t
hg_dy_put(const HgDyTable &table, const HgSlotBatch &list, uint32_t i,
		  const HgDyRoom<typename Slots::Word> &left, HgDyState *state)
{
	typedef typename Slots::Slot Slot;
	typename Slots::Word word = 0;
	uint4 pieces[2][HG_DY_LANES];
	uint32_t placed = HG_TABLE_MAX_SUBTABLES;
	uint32_t subtables[2];
	uint64_t buckets[2];
	bool wanted = i < list.count;
	bool over = false;
	uint32_t row = 0;

	if (wanted)
	{
		word = static_cast<const typename Slots::Word *>(list.keys)[i];
		if (KEYS)
			word = hg_word_mix(word);
		if (Slots::HAS_ROWS)
			row = list.rows != nullptr ? list.rows[i] : list.first_row + i;
		if (Slots::is_odd(word))
		{
			if (Slots::APART)
				atomicCAS(&state->odd_row, HG_CUDA_EMPTY_ROW, row);
			wanted = false;
		}
	}
	hg_dy_pair(table, word, &subtables[0], &subtables[1]);
#pragma unroll
	for (int k = 0; k < 2; k++)
	{
		buckets[k] = hg_dy_bucket<Slots>(table.subtables[subtables[k]], word);
		hg_dy_load(hg_dy_slots<Slots>(table.subtables[subtables[k]]) + buckets[k], wanted,
				   pieces[k]);
	}

	const bool found = hg_dy_is_in<Slots>(pieces[0], word) | hg_dy_is_in<Slots>(pieces[1], word);
	uint32_t empties =
		hg_dy_order<Slots>(hg_dy_empties<Slots>(pieces[0]), hg_dy_empties<Slots>(pieces[1]));

	if (wanted && !found)
	{
		over = true;
		while (over && empties != 0)
		{
			bool second;
			const uint32_t at = hg_dy_ordered<Slots>((uint32_t) __ffs((int) empties) - 1, &second);
			const uint32_t number = second ? subtables[1] : subtables[0];
			const HgDySubtable &subtable = table.subtables[number];
			const uint64_t slot = (second ? buckets[1] : buckets[0]) + at;
			const Slot there = hg_slot_cas(hg_dy_slots<Slots>(subtable) + slot, Slots::EMPTY,
										   Slots::make(word, row));

			empties &= empties - 1;
			if (there == Slots::EMPTY)
			{
				if (Slots::APART)
					subtable.rows[slot] = row;
				placed = number;
			}
			over = there != Slots::EMPTY && Slots::word(there) != word;
		}
	}
	__syncwarp();

	const uint32_t to = hg_slot_append(&state->left, over);

	if (over)
	{
		left.words[to] = word;
		if (Slots::HAS_ROWS)
			left.rows[to] = row;
	}
	return placed;
}

/*
 * Inserts pairs of a list, and appends those whose buckets are full to left.
 * hg_cuda_table_dycuckoo.cu says why a key is inserted once however often the list has it.
 */
template <typename Slots, bool KEYS>
__global__ void
__launch_bounds__(HG_DY_THREADS, HG_DY_PUT_BLOCKS)
	hg_dy_put_kernel(const __grid_constant__ HgDyTable table, HgSlotBatch list,
					 HgDyRoom<typename Slots::Word> left, HgDyState *state)
{
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];

	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	hg_dy_share(table, &shared);
	for (uint32_t base = blockIdx.x * HG_DY_THREADS; base < list.count;
		 base += gridDim.x * HG_DY_THREADS)
		hg_dy_add_counts(shared, counts,
						 hg_dy_put<Slots, KEYS>(shared, list, base + threadIdx.x, left, state));
	__syncthreads();
	if (threadIdx.x < shared.count && counts[threadIdx.x] > 0)
		atomicAdd(&state->rows[threadIdx.x], counts[threadIdx.x]);
}

/* Reads a bucket, by one lane. */
__device__ __forceinline__ void
hg_dy_read(const void *bucket, uint4 (&pieces)[HG_DY_LANES])
{
#pragma unroll
	for (uint32_t p = 0; p < HG_DY_LANES; p++)
		pieces[p] = __ldcg(static_cast<const uint4 *>(bucket) + p);
}

/* Returns slot k of a bucket that a lane has read. */
template <typename Slots>
__device__ __forceinline__ typename Slots::Slot
hg_dy_cell(const uint4 (&pieces)[HG_DY_LANES], uint32_t k)
{
	typename Slots::Slot slot = Slots::EMPTY;

#pragma unroll
	for (uint32_t i = 0; i < Slots::COUNT; i++)
		if (i == k)
			slot = hg_dy_piece<Slots>(pieces[i / Slots::PIECE], i % Slots::PIECE);
	return slot;
}

/* Returns the lock of a bucket, given by its first slot.  Several buckets share a lock. */
template <typename Slots>
__device__ __forceinline__ uint32_t *
hg_dy_lock(uint32_t *locks, uint32_t mask, uint32_t subtable, uint64_t bucket)
{
	return &locks[((uint32_t) (bucket / Slots::COUNT) * HG_TABLE_MAX_SUBTABLES + subtable) & mask];
}

/* Frees a lock.  The next owner sees what was written under it. */
__device__ __forceinline__ void
hg_dy_unlock(uint32_t *lock)
{
	__threadfence();
	atomicExch(lock, HG_DY_UNLOCKED);
}

/* Returns the first empty slot of a bucket that a lane has read, or COUNT. */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_empty(const uint4 (&pieces)[HG_DY_LANES])
{
	uint32_t at = Slots::COUNT;

#pragma unroll
	for (uint32_t i = Slots::COUNT; i-- > 0;)
		if (hg_dy_piece<Slots>(pieces[i / Slots::PIECE], i % Slots::PIECE) == Slots::EMPTY)
			at = i;
	return at;
}

/*
 * Returns the slot of a full bucket whose pair is evicted: one whose other bucket has room, as far
 * as can be seen without its lock, or a random one.  So nearly all chains end with the next
 * eviction; the kernel takes as long as the longest chain.
 */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_victim(const HgDyTable &table, uint32_t subtable, const uint4 (&pieces)[HG_DY_LANES],
			 uint32_t random)
{
	uint32_t best = Slots::COUNT;

#pragma unroll
	for (uint32_t k = 0; k < Slots::COUNT; k += HG_DY_CANDIDATES)
	{
		uint4 theirs[HG_DY_CANDIDATES][HG_DY_LANES];

		if (best < Slots::COUNT)
			break;
#pragma unroll
		for (uint32_t c = 0; c < HG_DY_CANDIDATES; c++)
		{
			const uint64_t word = Slots::word(
				hg_dy_piece<Slots>(pieces[(k + c) / Slots::PIECE], (k + c) % Slots::PIECE));
			uint32_t first;
			uint32_t second;

			hg_dy_pair(table, word, &first, &second);

			const HgDySubtable &other = table.subtables[first == subtable ? second : first];

			hg_dy_read(hg_dy_slots<Slots>(other) + hg_dy_bucket<Slots>(other, word), theirs[c]);
		}
#pragma unroll
		for (uint32_t c = 0; c < HG_DY_CANDIDATES; c++)
			if (best == Slots::COUNT && hg_dy_empty<Slots>(theirs[c]) < Slots::COUNT)
				best = k + c;
	}
	return best < Slots::COUNT ? best : random % Slots::COUNT;
}

/*
 * Inserts the pairs of left, whose buckets are full, by evicting pairs to their other buckets.
 * The keys are not in the table; of equal ones one is inserted.  A chain has at most most
 * evictions; the pair that it then has in hand is appended to next.  So are pairs from index limit
 * on, for which there are no claims.  claims are filled with 0xff.
 *
 * A slot is taken, or its pair exchanged, by compare-and-swap; a lane that fails reads the bucket
 * again.  If rows are apart from words, that is not one operation, and the bucket is locked.  A
 * lane that does not get a lock tries again after the other lanes of its warp; a lane with a lock
 * waits for none.  locks are filled with HG_DY_UNLOCKED.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_evict_kernel(const __grid_constant__ HgDyTable table, HgDyRoom<typename Slots::Word> left,
					   HgDyRoom<typename Slots::Word> next, uint32_t limit, uint32_t *claims,
					   uint32_t claims_mask, uint32_t *locks, uint32_t locks_mask, uint32_t most,
					   HgDyState *state)
{
	typedef typename Slots::Slot Slot;
	typedef typename Slots::Word Word;
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];
	__shared__ uint32_t evictions;
	__shared__ uint32_t longest;
	const uint32_t count = state->left;

	if (blockIdx.x * HG_DY_THREADS >= count)
		return;
	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	if (threadIdx.x == 0)
		evictions = longest = 0;
	hg_dy_share(table, &shared);

	for (uint64_t i = blockIdx.x * HG_DY_THREADS + threadIdx.x; i < count;
		 i += gridDim.x * HG_DY_THREADS)
	{
		Word word = left.words[i];
		uint32_t row = Slots::HAS_ROWS ? left.rows[i] : 0;
		uint32_t subtable;
		uint32_t other;
		uint32_t chain = 0;
		bool retry = i >= limit;
		bool done = retry || !hg_slot_claim(left.words, (uint32_t) i,
											(uint32_t) ((uint64_t) word >> 32) ^ (uint32_t) word,
											claims, claims_mask);

		hg_dy_pair(shared, word, &subtable, &other);
		while (!done)
		{
			const uint64_t bucket = hg_dy_bucket<Slots>(shared.subtables[subtable], word);
			Slot *slots = hg_dy_slots<Slots>(shared.subtables[subtable]) + bucket;
			uint32_t *lock = hg_dy_lock<Slots>(locks, locks_mask, subtable, bucket);
			uint4 pieces[HG_DY_LANES];
			uint32_t at;
			bool room;

			if constexpr (Slots::APART)
			{
				if (atomicCAS(lock, HG_DY_UNLOCKED, 0) != HG_DY_UNLOCKED)
					continue;
				__threadfence();
			}
			hg_dy_read(slots, pieces);
			at = hg_dy_empty<Slots>(pieces);
			room = at < Slots::COUNT;
			if (!room && chain == most)
				done = retry = true;
			else
			{
				Slot out;
				uint32_t out_row;
				bool changed;

				if (!room)
					at = hg_dy_victim<Slots>(shared, subtable, pieces,
											 hg_mix32((uint32_t) word + chain * 0x9e3779b9u));
				out = hg_dy_cell<Slots>(pieces, at);
				out_row = Slots::row(out);
				if constexpr (Slots::APART)
				{
					uint32_t *rows = shared.subtables[subtable].rows + bucket;

					if (!room)
						out_row = __ldcg(&rows[at]);
					__stcg(&slots[at], Slots::make(word, row));
					__stcg(&rows[at], row);
					changed = true;
				}
				else
					changed = hg_slot_cas(&slots[at], out, Slots::make(word, row)) == out;
				if (changed && room)
				{
					atomicAdd(&counts[subtable], 1u);
					done = true;
				}
				else if (changed)
				{
					uint32_t first;
					uint32_t second;

					word = Slots::word(out);
					row = out_row;
					hg_dy_pair(shared, word, &first, &second);
					subtable = first == subtable ? second : first;
					chain++;
				}
			}
			if constexpr (Slots::APART)
				hg_dy_unlock(lock);
		}
		if (retry)
		{
			const uint32_t to = atomicAdd(&state->next, 1u);

			next.words[to] = word;
			if (Slots::HAS_ROWS)
				next.rows[to] = row;
			if (i < limit)
				atomicAdd(&state->failed, 1u);
		}
		if (chain > 0)
		{
			atomicAdd(&evictions, chain);
			atomicMax(&longest, chain);
		}
	}
	__syncthreads();
	if (threadIdx.x < shared.count && counts[threadIdx.x] > 0)
		atomicAdd(&state->rows[threadIdx.x], counts[threadIdx.x]);
	if (threadIdx.x == 0 && evictions > 0)
	{
		atomicAdd(&state->evictions, (unsigned long long) evictions);
		atomicMax(&state->longest_chain, longest);
	}
}

/*
 * Empties the slot of key i of a list, or, without by_key, of the pair.  Returns the subtable that
 * it was in, or HG_TABLE_MAX_SUBTABLES.  All lanes of a warp call it.
 */
template <typename Slots>
__device__ __forceinline__ uint32_t
hg_dy_erase(const HgDyTable &table, const HgSlotBatch &list, uint32_t i, bool by_key,
			HgDyState *state)
{
	const bool there = i < list.count;
	typename Slots::Word word = 0;
	uint32_t erased = HG_TABLE_MAX_SUBTABLES;
	uint32_t subtable;
	uint64_t slot;
	uint32_t row = 0;
	uint32_t wanted = 0;

	if (there)
	{
		word = hg_word_mix(static_cast<const typename Slots::Word *>(list.keys)[i]);
		if (!by_key)
			wanted = list.rows != nullptr ? list.rows[i] : list.first_row + i;
		if (Slots::APART && Slots::is_odd(word))
		{
			if (by_key)
				atomicExch(&state->odd_row, HG_CUDA_EMPTY_ROW);
			else
				atomicCAS(&state->odd_row, wanted, HG_CUDA_EMPTY_ROW);
		}
	}
	if (hg_dy_look<Slots>(table, word, there && !Slots::is_odd(word), &subtable, &slot, &row))
	{
		typename Slots::Slot *target = hg_dy_slots<Slots>(table.subtables[subtable]) + slot;

		if (Slots::APART && !by_key)
			row = table.subtables[subtable].rows[slot];
		/* of two lanes that name a slot, one erases it */
		if ((by_key || row == wanted) &&
			hg_slot_cas(target, Slots::make(word, row), Slots::EMPTY) == Slots::make(word, row))
			erased = subtable;
	}
	__syncwarp();
	return erased;
}

/* Erases the keys or pairs of a list. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS) hg_dy_erase_kernel(const __grid_constant__ HgDyTable table,
													HgSlotBatch list, bool by_key, HgDyState *state)
{
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];

	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	hg_dy_share(table, &shared);
	for (uint32_t base = blockIdx.x * HG_DY_THREADS; base < list.count;
		 base += gridDim.x * HG_DY_THREADS)
		hg_dy_add_counts(shared, counts,
						 hg_dy_erase<Slots>(shared, list, base + threadIdx.x, by_key, state));
	__syncthreads();
	if (threadIdx.x < shared.count && counts[threadIdx.x] > 0)
		atomicSub(&state->rows[threadIdx.x], counts[threadIdx.x]);
}

#endif /* HG_CUDA_TABLE_DYCUCKOO_CHANGE_KERNELS_H */
