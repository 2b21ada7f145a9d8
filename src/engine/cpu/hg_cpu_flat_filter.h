/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_filter.h
 *	  Which rows count, as tables of parts for kernels.
 *
 * A row number consists of a part and a number in it, and a mask says which rows count (hg_flat.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_FILTER_H
#define HG_CPU_FLAT_FILTER_H

#include "../hg_features.h"
#include "hg_cpu_flat.h"

#ifdef HG_CPU_X86
#include <immintrin.h>
#endif

/* Sets of parts, a bit each: those that count whole, and those of which some rows count. */
typedef struct HgCpuFlatFilter
{
	const HgFlatMask *mask; /* NULL: all rows count, and the other fields are not set */
	uint32_t nparts;
	bool any_some;
	uint32_t all[HG_FLAT_PARTS / 32];
	uint32_t some[HG_FLAT_PARTS / 32];
} HgCpuFlatFilter;

/* Makes the tables of a mask, which must stay in place; NULL is allowed. */
static inline void
hg_cpu_flat_filter_init(HgCpuFlatFilter *filter, const HgFlatMask *mask)
{
	filter->mask = mask;
	if (mask == NULL)
		return;
	filter->any_some = false;
	filter->nparts = mask->nparts < HG_FLAT_PARTS ? mask->nparts : HG_FLAT_PARTS;
	memset(filter->all, 0, sizeof(filter->all));
	memset(filter->some, 0, sizeof(filter->some));
	for (uint32_t p = 0; p < filter->nparts; p++)
	{
		filter->all[p / 32] |= (uint32_t) (mask->states[p] == HG_FLAT_ALL) << p % 32;
		filter->some[p / 32] |= (uint32_t) (mask->states[p] == HG_FLAT_SOME) << p % 32;
		filter->any_some |= mask->states[p] == HG_FLAT_SOME;
	}
}

#ifdef HG_CPU_X86

/* So many parts' bits are one register. */
#define HG_CPU_FLAT_REGISTER_PARTS 512

/* Returns the lanes whose rows' parts are in a table of parts; all parts are below nparts. */
HG_CPU_TARGET_AVX512 static HG_CPU_FLAT_INLINE __mmask16
hg_cpu_flat_parts_avx512(__mmask16 lanes, const uint32_t *table, uint32_t nparts, __m512i parts)
{
	__m512i offsets = _mm512_srli_epi32(parts, 5);
	__m512i words =
		nparts <= HG_CPU_FLAT_REGISTER_PARTS
			? _mm512_permutexvar_epi32(offsets, _mm512_loadu_si512(table))
			: _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, offsets, table, 4);

	return _mm512_mask_test_epi32_mask(lanes, _mm512_rorv_epi32(words, parts),
									   _mm512_set1_epi32(1));
}

/* Returns the lanes of 8 rows whose bits are set in the bits of their parts. */
HG_CPU_TARGET_AVX512 static HG_CPU_FLAT_INLINE __mmask8
hg_cpu_flat_bits_avx512(__mmask8 lanes, const uint64_t *const *bits, __m256i rows)
{
	__m512i wide = _mm512_cvtepu32_epi64(rows);
	__m512i numbers = _mm512_and_si512(wide, _mm512_set1_epi64((1 << HG_FLAT_ROW_BITS) - 1));
	__m512i arrays = _mm512_mask_i64gather_epi64(
		_mm512_setzero_si512(), lanes, _mm512_srli_epi64(wide, HG_FLAT_ROW_BITS), bits, 8);
	__m512i offsets = _mm512_add_epi64(arrays, _mm512_slli_epi64(_mm512_srli_epi64(numbers, 6), 3));
	__m512i words = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes, offsets, NULL, 1);

	return _mm512_mask_test_epi64_mask(lanes, _mm512_rorv_epi64(words, numbers),
									   _mm512_set1_epi64(1));
}

/* Returns the lanes whose rows count. */
HG_CPU_TARGET_AVX512 static HG_CPU_FLAT_INLINE __mmask16
hg_cpu_flat_filter_avx512(const HgCpuFlatFilter *filter, __mmask16 lanes, __m512i rows)
{
	__m512i parts = _mm512_srli_epi32(rows, HG_FLAT_ROW_BITS);
	__mmask16 all;
	__mmask16 some;

	if (filter->mask == NULL)
		return lanes;
	lanes = _mm512_mask_cmplt_epu32_mask(lanes, parts, _mm512_set1_epi32((int) filter->nparts));
	all = hg_cpu_flat_parts_avx512(lanes, filter->all, filter->nparts, parts);
	lanes &= (__mmask16) ~all;
	if (!filter->any_some || lanes == 0)
		return all;
	some = hg_cpu_flat_parts_avx512(lanes, filter->some, filter->nparts, parts);

	/* lists are short: the second half is mostly empty */
	if ((some & 0xff) != 0)
		all |= hg_cpu_flat_bits_avx512((__mmask8) some, filter->mask->bits,
									   _mm512_castsi512_si256(rows));
	if (some >> 8 != 0)
		all |= (__mmask16) (hg_cpu_flat_bits_avx512((__mmask8) (some >> 8), filter->mask->bits,
													_mm512_extracti64x4_epi64(rows, 1))
							<< 8);
	return all;
}

#endif

/* Most rows of a piece. */
#define HG_CPU_FLAT_PIECE 512

/* Returns the rows of the piece that starts at `from`, of count rows in all. */
static inline uint32_t
hg_cpu_flat_piece(uint64_t from, uint64_t count)
{
	return count - from < HG_CPU_FLAT_PIECE ? (uint32_t) (count - from) : HG_CPU_FLAT_PIECE;
}

/* Polls once in HG_CPU_FLAT_POLL_ROWS rows that are processed in pieces. */
static inline HgStatus
hg_cpu_flat_poll_piece(const HgHost *host, uint64_t from, HgError *error)
{
	return from % HG_CPU_FLAT_POLL_ROWS == 0 ? hg_host_check_cancel(host, error) : HG_OK;
}

/* Returns the address of key i. */
static inline const void *
hg_cpu_flat_key_at(const void *keys, uint32_t width, uint64_t i)
{
	return (const char *) keys + i * width;
}

/* Stores in vertices[n] the top log2 bits of the hashes of n keys: their vertices, or bins. */
extern void hg_cpu_flat_vertices(const void *keys, uint32_t width, uint32_t n, uint32_t log2,
								 uint32_t *vertices);

/* Returns how many of the row numbers rows[n] count. */
extern uint32_t hg_cpu_flat_count_rows(const HgCpuFlatFilter *filter, const uint32_t *rows,
									   uint32_t n);

/* Copies those of rows[n] that count, and their keys, to arrays of n elements; returns how many. */
extern uint32_t hg_cpu_flat_copy_rows(const HgCpuFlatFilter *filter, const void *keys,
									  uint32_t width, const uint32_t *rows, uint32_t n,
									  void *to_keys, uint32_t *to_rows);

#endif /* HG_CPU_FLAT_FILTER_H */
