/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_slots.h
 *	  Slots that atomic operations change in place, of tables in device memory.
 *
 * A slot is a word, in a set; a word and its row side by side, if both have 32 bits, with the row
 * in the high half; or a word of 64 bits, whose row is in an array of its own.  Memory filled with
 * 0xff bytes makes all slots and rows empty.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_SLOTS_H
#define HG_CUDA_TABLE_SLOTS_H

#include "../kernels/hg_cuda_pieces.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_table.h"

#include <type_traits>

/* The type of slots with words of type Key, and with or without rows. */
template <typename Key, bool ROWS> struct HgCudaSlots
{
	typedef Key Word;
	static constexpr bool HAS_ROWS = ROWS;
	static constexpr bool PACKED = ROWS && sizeof(Word) == 4;
	static constexpr bool APART = ROWS && sizeof(Word) == 8;
	typedef typename std::conditional<PACKED, uint64_t, Word>::type Slot;
	static constexpr Slot EMPTY = static_cast<Slot>(-1);

	/* Return the slot of a word and row, and the word of a slot. */
	static __device__ __forceinline__ Slot
	make(Word word, uint32_t row)
	{
		if constexpr (PACKED)
			return (uint64_t) row << 32 | word;
		else
			return word;
	}

	static __device__ __forceinline__ Word
	word(Slot slot)
	{
		return static_cast<Word>(slot);
	}

	/* Returns the row, if it is in the slot, else 0. */
	static __device__ __forceinline__ uint32_t
	row(Slot slot)
	{
		if constexpr (PACKED)
			return (uint32_t) (slot >> 32);
		else
			return 0;
	}
};

/* Return what was in a slot, which becomes to if that was from. */
__device__ __forceinline__ uint64_t
hg_slot_cas(uint64_t *slot, uint64_t from, uint64_t to)
{
	return atomicCAS(reinterpret_cast<unsigned long long *>(slot), (unsigned long long) from,
					 (unsigned long long) to);
}

__device__ __forceinline__ uint32_t
hg_slot_cas(uint32_t *slot, uint32_t from, uint32_t to)
{
	return atomicCAS(slot, from, to);
}

/* Returns the next index by counter to each lane with wanted; all lanes of a warp call it. */
__device__ __forceinline__ uint32_t
hg_slot_append(uint32_t *counter, bool wanted)
{
	const uint32_t lanes = __ballot_sync(UINT32_MAX, wanted);
	const uint32_t lane = threadIdx.x % 32;
	uint32_t base = 0;

	if (lane == 0 && lanes != 0)
		base = atomicAdd(counter, (uint32_t) __popc(lanes));
	return __shfl_sync(UINT32_MAX, base, 0) + __popc(lanes & ((1u << lane) - 1));
}

/*
 * Returns true to exactly one of the threads that call it for rows with the same word.  claims are
 * filled with 0xff, and there are more than rows that call.  words may be keys or words.
 */
template <typename Word>
__device__ __forceinline__ bool
hg_slot_claim(const Word *words, uint32_t i, uint32_t hash, uint32_t *claims, uint32_t mask)
{
	for (uint32_t at = hash & mask;; at = (at + 1) & mask)
	{
		const uint32_t there = atomicCAS(&claims[at], UINT32_MAX, i);

		if (there == UINT32_MAX)
			return true;
		if (words[there] == words[i])
			return false;
	}
}

/* Keys and rows of a batch, or of a piece of it, in device memory. */
struct HgSlotBatch
{
	const void *keys;	  /* keys, or mixed words */
	const uint32_t *rows; /* NULL: first_row, first_row + 1 ... */
	uint32_t first_row;
	uint32_t count;
};

/* Calls does(HgSlotBatch) for the pieces of a batch, of at most most pairs each. */
template <typename Does>
static inline HgStatus
hg_slot_batch_in_pieces(HgCudaTable *table, const HgCudaTableBatch *batch, uint64_t most,
						HgError *error, const Does &does)
{
	return hg_cuda_in_pieces(
		&table->work, batch->count, most, error,
		[&](uint64_t first, uint64_t end)
		{
			HgSlotBatch piece;

			piece.keys = static_cast<const char *>(batch->keys) + first * table->spec.key_width;
			piece.rows = batch->rows == nullptr ? nullptr : batch->rows + first;
			piece.first_row = batch->first_row + (uint32_t) first;
			piece.count = (uint32_t) (end - first);
			return does(piece);
		});
}

/* Calls a function template with the slots of a spec's tables: SLOTS<word, has rows>. */
#define HG_BY_SLOTS(SLOTS, spec, function, ...)                                                    \
	((spec).key_width == 4                                                                         \
		 ? ((spec).content == HG_TABLE_SET ? function<SLOTS<uint32_t, false>>(__VA_ARGS__)         \
										   : function<SLOTS<uint32_t, true>>(__VA_ARGS__))         \
		 : ((spec).content == HG_TABLE_SET ? function<SLOTS<uint64_t, false>>(__VA_ARGS__)         \
										   : function<SLOTS<uint64_t, true>>(__VA_ARGS__)))

#endif /* HG_CUDA_TABLE_SLOTS_H */
