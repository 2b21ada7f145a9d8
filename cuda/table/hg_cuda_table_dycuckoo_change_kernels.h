/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo_change_kernels.h
 *	  The kernels that change DyCuckoo tables: hg_cuda_table_dycuckoo.cu tells when each runs.
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

/* Add up, subtable by subtable, where the lanes of a warp have put a pair, or taken one out. */
__device__ __forceinline__ void
hg_dy_tell(uint32_t *counts, uint32_t subtable)
{
#pragma unroll
	for (uint32_t s = 0; s < HG_TABLE_MAX_SUBTABLES; s++)
	{
		const uint32_t lanes = __ballot_sync(UINT32_MAX, subtable == s);

		if (threadIdx.x % 32 == 0 && lanes != 0)
			atomicAdd(&counts[s], (uint32_t) __popc(lanes));
	}
}

/*
 * Put those pairs of a list into the table whose keys are not there and whose buckets have an empty
 * slot; those whose buckets are full are left over.  See hg_cuda_table_dycuckoo.cu why a key
 * comes in once however often it is in the list.
 */
template <typename Slots, bool KEYS>
__global__ void
__launch_bounds__(HG_DY_THREADS)
	hg_dy_place_kernel(const __grid_constant__ HgDyTable table, HgSlotBatch list,
					   HgDyRoom<typename Slots::Word> left, HgDyState *state)
{
	typedef typename Slots::Slot Slot;
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];
	const uint32_t i = blockIdx.x * HG_DY_THREADS + threadIdx.x;
	typename Slots::Word word = 0;
	uint4 pieces[2][HG_DY_LANES];
	uint32_t placed = HG_TABLE_MAX_SUBTABLES;
	uint32_t subtables[2];
	uint64_t buckets[2];
	bool wanted = i < list.count;
	bool found;
	uint32_t ignored;
	uint32_t row = 0;

	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	hg_dy_share(table, &shared);
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

	hg_dy_pair(shared, word, &subtables[0], &subtables[1]);
#pragma unroll
	for (int k = 0; k < 2; k++)
	{
		buckets[k] = hg_dy_bucket<Slots>(shared.subtables[subtables[k]], word);
		hg_dy_load(hg_dy_slots<Slots>(shared.subtables[subtables[k]]) + buckets[k], wanted,
				   pieces[k]);
	}
	found = hg_dy_match<Slots>(pieces[0], word, &ignored) < Slots::COUNT;
	found |= hg_dy_match<Slots>(pieces[1], word, &ignored) < Slots::COUNT;

	/* the first empty slot of both buckets, which follow each other */
	uint32_t at = hg_dy_room<Slots>(pieces[0]);
	const uint32_t more = hg_dy_room<Slots>(pieces[1]);

	if (at == Slots::COUNT)
		at += more;
	wanted = wanted && !found;
	if (wanted)
	{
		bool known = true; /* to be empty, as far as was seen */

		while (at < 2 * Slots::COUNT)
		{
			const uint32_t k = at < Slots::COUNT ? 0 : 1;
			const HgDySubtable &subtable = shared.subtables[k == 0 ? subtables[0] : subtables[1]];
			const uint64_t slot =
				(k == 0 ? buckets[0] : buckets[1]) + at - (k == 0 ? 0 : Slots::COUNT);
			Slot *place = hg_dy_slots<Slots>(subtable) + slot;
			Slot there = known ? Slots::EMPTY : __ldcg(place);

			if (there == Slots::EMPTY)
				there = hg_slot_cas(place, Slots::EMPTY, Slots::make(word, row));
			if (there == Slots::EMPTY)
			{
				if (Slots::APART)
					subtable.rows[slot] = row;
				placed = k == 0 ? subtables[0] : subtables[1];
				break;
			}
			if (Slots::word(there) == word)
				break;
			known = false;
			at++;
		}
	}

	const bool over = wanted && at == 2 * Slots::COUNT;
	const uint32_t to = hg_slot_append(&state->left, over);

	if (over)
	{
		left.words[to] = word;
		if (Slots::HAS_ROWS)
			left.rows[to] = row;
	}
	hg_dy_tell(counts, placed);
	__syncthreads();
	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES && counts[threadIdx.x] > 0)
		atomicAdd(&state->rows[threadIdx.x], counts[threadIdx.x]);
}

/* Read a bucket, by one lane. */
__device__ __forceinline__ void
hg_dy_read(const void *bucket, uint4 (&pieces)[HG_DY_LANES])
{
#pragma unroll
	for (uint32_t p = 0; p < HG_DY_LANES; p++)
		pieces[p] = __ldcg(static_cast<const uint4 *>(bucket) + p);
}

/* Slot k of a bucket that a lane has read. */
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

/* The first empty slot of a bucket that a lane has read, or COUNT. */
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
 * The slot of a full bucket of a subtable, which a lane has read, whose pair is to go: one whose
 * other bucket has room, as far as can be seen without its lock, or any.  So nearly all chains end
 * with the next eviction, and it is the longest that is waited for.
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
 * Put pairs into the table that are not there, and whose buckets were full: who stands there has
 * to go to his other bucket.  One of each word comes in.  A chain has most evictions; the pair
 * that is in hand then is to be tried again, and so are those beyond limit, for which there are no
 * claims.  locks and claims are filled with HG_DY_UNLOCKED.
 *
 * A lane that does not get its lock tries again when the others of its warp have had a turn; who
 * has one waits for nobody.
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
			uint32_t *lock =
				&locks[((uint32_t) (bucket / Slots::COUNT) * HG_TABLE_MAX_SUBTABLES + subtable) &
					   locks_mask];

			if (atomicCAS(lock, HG_DY_UNLOCKED, 0) == HG_DY_UNLOCKED)
			{
				uint4 pieces[HG_DY_LANES];
				uint32_t at;

				__threadfence();
				hg_dy_read(slots, pieces);
				at = hg_dy_empty<Slots>(pieces);
				if (at < Slots::COUNT)
					done = true;
				else if (chain == most)
					done = retry = true;
				else
					at = hg_dy_victim<Slots>(shared, subtable, pieces,
											 hg_mix32((uint32_t) word + chain * 0x9e3779b9u));
				if (!retry)
				{
					const Slot out = hg_dy_cell<Slots>(pieces, at);
					uint32_t out_row = Slots::row(out);

					__stcg(&slots[at], Slots::make(word, row));
					if (Slots::APART)
					{
						uint32_t *rows = shared.subtables[subtable].rows + bucket;

						if (!done)
							out_row = __ldcg(&rows[at]);
						__stcg(&rows[at], row);
					}
					if (done)
						atomicAdd(&counts[subtable], 1u);
					else
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
				__threadfence();
				atomicExch(lock, HG_DY_UNLOCKED);
			}
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
	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES && counts[threadIdx.x] > 0)
		atomicAdd(&state->rows[threadIdx.x], counts[threadIdx.x]);
	if (threadIdx.x == 0 && evictions > 0)
	{
		atomicAdd(&state->evictions, (unsigned long long) evictions);
		atomicMax(&state->longest_chain, longest);
	}
}

/* Empty the slots of keys, or, where rows are looked at, of pairs. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DY_THREADS) hg_dy_erase_kernel(const __grid_constant__ HgDyTable table,
													HgSlotBatch list, bool by_key, HgDyState *state)
{
	typedef typename Slots::Slot Slot;
	__shared__ HgDyTable shared;
	__shared__ uint32_t counts[HG_TABLE_MAX_SUBTABLES];
	const uint32_t i = blockIdx.x * HG_DY_THREADS + threadIdx.x;
	const bool there = i < list.count;
	typename Slots::Word word = 0;
	uint32_t erased = HG_TABLE_MAX_SUBTABLES;
	uint32_t subtable;
	uint64_t slot;
	uint32_t row = 0;
	uint32_t wanted = 0;

	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES)
		counts[threadIdx.x] = 0;
	hg_dy_share(table, &shared);
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
	if (hg_dy_look<Slots>(shared, word, there && !Slots::is_odd(word), &subtable, &slot, &row))
	{
		Slot *place = hg_dy_slots<Slots>(shared.subtables[subtable]) + slot;

		if (Slots::APART && !by_key)
			row = shared.subtables[subtable].rows[slot];
		/* of two that name it, one has taken it out */
		if ((by_key || row == wanted) &&
			hg_slot_cas(place, Slots::make(word, row), Slots::EMPTY) == Slots::make(word, row))
			erased = subtable;
	}
	__syncwarp();
	hg_dy_tell(counts, erased);
	__syncthreads();
	if (threadIdx.x < HG_TABLE_MAX_SUBTABLES && counts[threadIdx.x] > 0)
		atomicSub(&state->rows[threadIdx.x], counts[threadIdx.x]);
}

#endif /* HG_CUDA_TABLE_DYCUCKOO_CHANGE_KERNELS_H */
