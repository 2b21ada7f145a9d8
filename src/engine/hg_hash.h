/*-------------------------------------------------------------------------
 *
 * hg_hash.h
 *	  The hash function of a HashGraph, bit for bit the same on every backend.
 *
 * A key is mixed by a finaliser of MurmurHash3 (Austin Appleby, public domain):
 * a bijection of the keys of its width, so that two keys have equal mixed words
 * only when they are equal, and an engine may carry the mixed word in place of
 * the key and mix it back.
 *
 * The top 32 bits of the mixed word are the hash.  With V = 2^v vertices and
 * B = 2^b bins, b <= v, the vertex of a key is the top v bits of its hash and
 * its bin the top b bits: a bin is a consecutive range of vertices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HASH_H
#define HG_HASH_H

#include <stdint.h>

#ifdef __CUDACC__
#define HG_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define HG_HOST_DEVICE static inline
#endif

/* Returns the mixed word of a key of 4 bytes: Murmur3 fmix32. */
HG_HOST_DEVICE uint32_t
hg_mix32(uint32_t key)
{
	key ^= key >> 16;
	key *= UINT32_C(0x85ebca6b);
	key ^= key >> 13;
	key *= UINT32_C(0xc2b2ae35);
	key ^= key >> 16;
	return key;
}

/* Returns the key of a mixed word: the inverse of hg_mix32. */
HG_HOST_DEVICE uint32_t
hg_unmix32(uint32_t mixed)
{
	mixed ^= mixed >> 16;
	mixed *= UINT32_C(0x7ed1b41d);
	mixed ^= (mixed >> 13) ^ (mixed >> 26);
	mixed *= UINT32_C(0xa5cb9243);
	mixed ^= mixed >> 16;
	return mixed;
}

/* Returns the mixed word of a key of 8 bytes: Murmur3 fmix64. */
HG_HOST_DEVICE uint64_t
hg_mix64(uint64_t key)
{
	key ^= key >> 33;
	key *= UINT64_C(0xff51afd7ed558ccd);
	key ^= key >> 33;
	key *= UINT64_C(0xc4ceb9fe1a85ec53);
	key ^= key >> 33;
	return key;
}

/* Returns the key of a mixed word: the inverse of hg_mix64. */
HG_HOST_DEVICE uint64_t
hg_unmix64(uint64_t mixed)
{
	mixed ^= mixed >> 33;
	mixed *= UINT64_C(0x9cb4b2f8129337db);
	mixed ^= mixed >> 33;
	mixed *= UINT64_C(0x4f74430c22a54005);
	mixed ^= mixed >> 33;
	return mixed;
}

/* Return the 32-bit hash of a mixed word of 4 or 8 bytes. */
HG_HOST_DEVICE uint32_t
hg_hash_of_mixed32(uint32_t mixed)
{
	return mixed;
}

HG_HOST_DEVICE uint32_t
hg_hash_of_mixed64(uint64_t mixed)
{
	return (uint32_t) (mixed >> 32);
}

/* Returns the vertex (or bin) of a hash among 2^log2 of them, 0 <= log2 <= 32. */
HG_HOST_DEVICE uint32_t
hg_vertex_of_hash(uint32_t hash, uint32_t log2)
{
	return (uint32_t) ((uint64_t) hash >> (32 - log2));
}

#endif /* HG_HASH_H */
