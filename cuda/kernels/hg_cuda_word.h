/*-------------------------------------------------------------------------
 *
 * hg_cuda_word.h
 *	  Mixed words of both widths, for kernels that are templates of the word.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_WORD_H
#define HG_CUDA_WORD_H

#include <cstdint>

#include "../../src/engine/hg_hash.h"

/* Functions of mixed words of both widths, for kernels that are templates of the word. */

/* Return the mixed word of a key. */
__host__ __device__ __forceinline__ uint32_t
hg_word_mix(uint32_t key)
{
	return hg_mix32(key);
}

__host__ __device__ __forceinline__ uint64_t
hg_word_mix(uint64_t key)
{
	return hg_mix64(key);
}

/* Return the key of a mixed word. */
__host__ __device__ __forceinline__ uint32_t
hg_word_unmix(uint32_t word)
{
	return hg_unmix32(word);
}

__host__ __device__ __forceinline__ uint64_t
hg_word_unmix(uint64_t word)
{
	return hg_unmix64(word);
}

/* Return the vertex (or bin) of a word among 2^log2, where shift is 32 - log2. */
__device__ __forceinline__ uint32_t
hg_word_vertex(uint32_t word, uint32_t shift)
{
	/* a shift by 32, for one vertex, is 0 here, where >> would leave it undefined */
	return __funnelshift_rc(hg_hash_of_mixed32(word), 0, shift);
}

__device__ __forceinline__ uint32_t
hg_word_vertex(uint64_t word, uint32_t shift)
{
	return __funnelshift_rc(hg_hash_of_mixed64(word), 0, shift);
}

/* Returns the first index in [low, high) of sorted words that is not below word, or high. */
template <typename Word>
__device__ __forceinline__ uint32_t
hg_word_lower_bound(const Word *words, uint32_t low, uint32_t high, Word word)
{
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (words[middle] < word)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the least word whose vertex (or bin) among 2^log2 is at least vertex; log2 > 0. */
template <typename Word>
__device__ __forceinline__ Word
hg_word_first(uint32_t vertex, uint32_t log2)
{
	return (Word) vertex << (8 * sizeof(Word) - log2);
}

/*
 * Returns the last index i in low .. high with starts[i] <= item.  starts ascend, and
 * starts[low] <= item.  Of several owners with the same start, the last one owns the item; the
 * others have none.
 */
template <typename Number>
__device__ __forceinline__ uint32_t
hg_search_owner(const Number *starts, uint32_t low, uint32_t high, Number item)
{
	while (low < high)
	{
		const uint32_t middle = low + (high - low + 1) / 2;

		if (starts[middle] <= item)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

#endif /* HG_CUDA_WORD_H */
