/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dynamic_change_kernels.h
 *	  The kernels that change dynamic HashGraphs in place: a key a thread.
 *
 * hg_cuda_table_dynamic.cu says when each runs, and why no key is inserted twice.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYNAMIC_CHANGE_KERNELS_H
#define HG_CUDA_TABLE_DYNAMIC_CHANGE_KERNELS_H

#include "hg_cuda_table_dynamic_kernels.h"

/* In longer lists of a multimap than this, bisection finds the first empty slot. */
constexpr uint32_t HG_DYNAMIC_LONG = 64;

/* Slots that are read at a time in the search for a key that is inserted. */
constexpr uint32_t HG_DYNAMIC_READ = 4;

/*
 * Changes a slot, which was read as *seen, to a word and row, or to deleted.  Returns false if it
 * has changed meanwhile; then *seen becomes the new value, unless rows are apart.
 */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_write(const HgDynamicLists &lists, uint32_t at, HgDynamicSlot<Slots> *seen,
				 typename Slots::Word word, uint32_t row)
{
	typedef typename Slots::Slot Slot;

	if constexpr (Slots::APART)
	{
		const uint32_t there = hg_slot_cas(lists.rows + at, seen->row, row);

		if (there != seen->row)
			return false;
		if (row != HG_CUDA_DELETED_ROW)
			static_cast<Slot *>(lists.slots)[at] = word;
	}
	else
	{
		const Slot there =
			hg_slot_cas(static_cast<Slot *>(lists.slots) + at, seen->slot, Slots::make(word, row));

		if (there != seen->slot)
		{
			*seen = hg_dynamic_read<Slots>(lists, at);
			return false;
		}
	}
	return true;
}

/* Returns the sum of value over the threads of a block to the first thread; all call it. */
__device__ __forceinline__ uint32_t
hg_dynamic_sum(uint32_t value)
{
	__shared__ uint32_t sums[HG_DYNAMIC_THREADS / 32];

	__syncwarp();
	for (int step = 16; step > 0; step /= 2)
		value += __shfl_down_sync(UINT32_MAX, value, step);
	if (threadIdx.x % 32 == 0)
		sums[threadIdx.x / 32] = value;
	__syncthreads();
	if (threadIdx.x == 0)
		for (int warp = 1; warp < HG_DYNAMIC_THREADS / 32; warp++)
			value += sums[warp];
	return value;
}

/*
 * Moves a walk, from a slot that is not free any more, to the next free one.  Returns false if it
 * meets the word (with compare; *met becomes true) or the end.
 */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_next_free(const HgDynamicLists &lists, typename Slots::Word word, bool compare,
					 HgDynamicWalk *walk, HgDynamicSlot<Slots> *seen, bool *met)
{
	for (; hg_dynamic_go_on(lists, walk); walk->at++)
	{
		*seen = hg_dynamic_read<Slots>(lists, walk->at);
		if (seen->mark != HG_DYNAMIC_LIVE)
			return true;
		if (compare && Slots::word(seen->slot) == word)
		{
			*met = true;
			return false;
		}
	}
	return false;
}

/*
 * Finds a free slot for a word that must be unique.  Returns false if the word is in the table
 * (*met becomes true) or there is none.  Several slots are read before the first is examined, so
 * that their loads overlap.
 */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_look(const HgDynamicLists &lists, typename Slots::Word word, HgDynamicWalk *walk,
				HgDynamicSlot<Slots> *seen, bool *met)
{
	HgDynamicWalk free_walk;
	HgDynamicSlot<Slots> free_slot;
	bool free = false;
	bool end = false; /* an empty slot was met: the word is not behind it */

	while (!end && hg_dynamic_go_on(lists, walk))
	{
		HgDynamicSlot<Slots> slots[HG_DYNAMIC_READ];
		const uint32_t first = walk->at;
		const uint32_t count =
			walk->end - first < HG_DYNAMIC_READ ? walk->end - first : HG_DYNAMIC_READ;

#pragma unroll
		for (uint32_t k = 0; k < HG_DYNAMIC_READ; k++)
			if (k < count)
				slots[k] = hg_dynamic_read<Slots>(lists, first + k);
#pragma unroll
		for (uint32_t k = 0; k < HG_DYNAMIC_READ; k++)
		{
			if (k >= count || end)
				continue;
			if (slots[k].mark == HG_DYNAMIC_LIVE)
			{
				if (Slots::word(slots[k].slot) == word)
				{
					*met = true;
					return false;
				}
				continue;
			}
			if (!free)
			{
				free = true;
				free_walk = *walk;
				free_walk.at = first + k;
				free_slot = slots[k];
			}
			end = slots[k].mark == HG_DYNAMIC_EMPTY;
		}
		walk->at = first + count;
	}
	if (free)
	{
		*walk = free_walk;
		*seen = free_slot;
	}
	return free;
}

/* Moves a walk to the first empty slot of a long list, whose empty slots are its last ones. */
template <typename Slots>
__device__ __forceinline__ void
hg_dynamic_skip(const HgDynamicLists &lists, HgDynamicWalk *walk)
{
	uint32_t end = walk->end;

	if (end - walk->at <= HG_DYNAMIC_LONG)
		return;
	while (walk->at < end)
	{
		const uint32_t middle = walk->at + (end - walk->at) / 2;

		if (hg_dynamic_read<Slots>(lists, middle).mark == HG_DYNAMIC_EMPTY)
			end = middle;
		else
			walk->at = middle + 1;
	}
}

/*
 * Inserts keys.  With COMPARE, those that are not in the table, and one of equal ones; without,
 * all with wanted[i] not 0 (NULL: all).  Keys that find no slot are appended to left_keys and
 * left_rows.
 */
template <typename Slots, bool COMPARE>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_insert_kernel(HgDynamicLists lists, HgSlotBatch batch, const uint8_t *wanted,
							 typename Slots::Word *left_keys, uint32_t *left_rows,
							 HgDynamicState *state)
{
	const uint32_t i = blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	typename Slots::Word key = 0;
	bool inserted = false;
	bool reused = false;
	bool left = false;
	uint32_t row = 0;

	if (i < batch.count && (wanted == nullptr || wanted[i] != 0))
	{
		key = static_cast<const typename Slots::Word *>(batch.keys)[i];
		row = batch.rows != nullptr ? batch.rows[i] : batch.first_row + i;

		const typename Slots::Word word = hg_word_mix(key);

		if (!hg_dynamic_is_marker<Slots>(word))
		{
			HgDynamicWalk walk = hg_dynamic_begin(lists, word);
			HgDynamicSlot<Slots> seen;
			bool met = false;
			bool free;

			if (COMPARE)
				free = hg_dynamic_look<Slots>(lists, word, &walk, &seen, &met);
			else
			{
				hg_dynamic_skip<Slots>(lists, &walk);
				free = hg_dynamic_next_free<Slots>(lists, word, false, &walk, &seen, &met);
			}
			while (free && !inserted)
			{
				reused = seen.mark == HG_DYNAMIC_DELETED;
				inserted = hg_dynamic_write<Slots>(lists, walk.at, &seen, word, row);
				/* another thread took the slot, possibly for the same key */
				if (!inserted)
					free = hg_dynamic_next_free<Slots>(lists, word, COMPARE, &walk, &seen, &met);
			}
			left = !inserted && !met;
		}
	}
	__syncwarp();

	const uint32_t to = hg_slot_append(&state->left, left);

	if (left)
	{
		left_keys[to] = key;
		if (Slots::HAS_ROWS)
			left_rows[to] = row;
	}
	hg_dynamic_add_count(&state->inserted, inserted);
	hg_dynamic_add_count(&state->reused, inserted && reused);
}

/*
 * wanted[i] = 1 for keys that are not in the table, and for one of equal ones; else 0.  claims as
 * in hg_slot_claim().
 */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_claim_kernel(HgDynamicLists lists, HgSlotBatch batch, uint32_t *claims,
							uint32_t mask, uint8_t *wanted)
{
	const uint32_t i = blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	const typename Slots::Word *keys = static_cast<const typename Slots::Word *>(batch.keys);

	if (i < batch.count)
	{
		const typename Slots::Word word = hg_word_mix(keys[i]);
		HgDynamicWalk walk = hg_dynamic_begin(lists, word);
		HgDynamicSlot<Slots> found;

		wanted[i] = !hg_dynamic_next<Slots>(lists, word, &walk, &found) &&
					hg_slot_claim(keys, i, (uint32_t) word, claims, mask);
	}
}

/* Marks the slots of keys, or of pairs, as deleted. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_erase_kernel(HgDynamicLists lists, HgSlotBatch batch, bool by_key,
							HgDynamicState *state)
{
	typedef typename Slots::Word Word;
	const uint32_t i = blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	uint32_t erased = 0;

	if (i < batch.count)
	{
		const Word word = hg_word_mix(static_cast<const Word *>(batch.keys)[i]);
		const uint32_t row = by_key					 ? 0
							 : batch.rows != nullptr ? batch.rows[i]
													 : batch.first_row + i;
		HgDynamicWalk walk = hg_dynamic_begin(lists, word);
		HgDynamicSlot<Slots> found;

		/* of several threads that name a slot, one deletes it */
		while (!hg_dynamic_is_marker<Slots>(word) &&
			   hg_dynamic_next<Slots>(lists, word, &walk, &found))
		{
			if (by_key || found.row == row)
				erased += hg_dynamic_write<Slots>(lists, walk.at, &found,
												  Slots::HAS_ROWS ? static_cast<Word>(-1)
																  : HG_CUDA_DELETED_WORD<Word>,
												  HG_CUDA_DELETED_ROW);
			if (lists.unique)
				break;
			walk.at++;
		}
	}
	erased = hg_dynamic_sum(erased);
	if (threadIdx.x == 0 && erased > 0)
		atomicAdd(&state->erased, (unsigned long long) erased);
}

#endif /* HG_CUDA_TABLE_DYNAMIC_CHANGE_KERNELS_H */
