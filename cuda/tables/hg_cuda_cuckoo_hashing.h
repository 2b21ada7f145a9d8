/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_hashing.h
 *	  The bin and the buckets of a key in a cuckoo table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_HASHING_H
#define HG_CUDA_CUCKOO_HASHING_H

#include "../../src/engine/hg_table.h"
#include "../kernels/hg_cuda_word.h"

/* Slots of a bucket: a 32-byte sector of memory if a slot has 8 bytes. */
constexpr uint32_t HG_CUCKOO_BUCKET = 4;

/*
 * The functions of a table.  A key is spread, (key ^ key_flip) * key_factor, before it is mixed.
 * Initially flip is 0 and factor is 1, so the spread key is the key.  The first bits of its word
 * choose the bin, and each function chooses a bucket of this bin.
 */
struct HgCuckooHashing
{
	uint64_t key_flip;
	uint64_t key_factor; /* odd */
	/*
	 * Words of the keys whose words without spreading are HG_CUDA_EMPTY_WORD and
	 * HG_CUDA_DELETED_WORD: slots of sets never hold these keys.  Cells with markers[0] are empty.
	 */
	uint64_t markers[2];
	uint64_t flips[HG_TABLE_MAX_FUNCTIONS];
	uint64_t factors[HG_TABLE_MAX_FUNCTIONS];
	uint32_t functions;
	uint32_t most_chain; /* most evictions of one insert */
	uint32_t bins_log2;
	uint32_t buckets; /* of a bin */
	bool stops;		  /* a search may stop at a bucket with an empty slot: nothing was erased */
};

/* Return the spread key, and the word of a key. */
template <typename Word>
__host__ __device__ __forceinline__ Word
hg_cuckoo_spread(const HgCuckooHashing &hashing, Word key)
{
	return (key ^ static_cast<Word>(hashing.key_flip)) * static_cast<Word>(hashing.key_factor);
}

template <typename Word>
__host__ __device__ __forceinline__ Word
hg_cuckoo_word(const HgCuckooHashing &hashing, Word key)
{
	return hg_word_mix(hg_cuckoo_spread(hashing, key));
}

/* Returns the inverse of an odd number modulo 2^64.  Each step doubles the bits that are right. */
__host__ __device__ __forceinline__ uint64_t
hg_cuckoo_inverse(uint64_t factor)
{
	uint64_t inverse = factor; /* right in the lowest 3 bits */

	for (int i = 0; i < 5; i++)
		inverse *= 2 - factor * inverse;
	return inverse;
}

/* Returns the key of a word; inverse is hg_cuckoo_inverse(key_factor). */
template <typename Word>
__host__ __device__ __forceinline__ Word
hg_cuckoo_key(const HgCuckooHashing &hashing, uint64_t inverse, Word word)
{
	return (hg_word_unmix(word) * static_cast<Word>(inverse)) ^ static_cast<Word>(hashing.key_flip);
}

/* Returns the bucket of a word within its bin, by a function. */
template <typename Word>
__host__ __device__ __forceinline__ uint32_t
hg_cuckoo_bucket(const HgCuckooHashing &hashing, uint32_t function, Word word)
{
	const uint64_t product = (word ^ hashing.flips[function]) * hashing.factors[function];

	return static_cast<uint32_t>((product >> 32) * hashing.buckets >> 32);
}

#endif /* HG_CUDA_CUCKOO_HASHING_H */
