/*-------------------------------------------------------------------------
 *
 * hg_cpu_bits.h
 *	  Counts and finds bits of a word, for the kernels that match rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_BITS_H
#define HG_CPU_BITS_H

#include <stdint.h>

/*
 * count_bits returns the number of set bits; lowest_bit and lowest_bit64 the index of the lowest
 * set bit of a word that is not 0.
 */
#if defined(__GNUC__)
#define count_bits(word) ((uint32_t) __builtin_popcount(word))
#define lowest_bit(word) ((uint32_t) __builtin_ctz(word))
#define lowest_bit64(word) ((uint32_t) __builtin_ctzll(word))
#else
static inline uint32_t
count_bits(uint32_t word)
{
	uint32_t count = 0;

	for (; word != 0; word &= word - 1)
		count++;
	return count;
}

static inline uint32_t
lowest_bit(uint32_t word)
{
	return count_bits((word & (0 - word)) - 1);
}

static inline uint32_t
lowest_bit64(uint64_t word)
{
	uint32_t low = (uint32_t) word;

	return low != 0 ? lowest_bit(low) : 32 + lowest_bit((uint32_t) (word >> 32));
}
#endif

#endif /* HG_CPU_BITS_H */
