/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_rows.c
 *	  Vectorised helpers that make flat HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_flat_rows.h"

#include "hg_cpu_bits.h"

#ifdef HG_CPU_X86

/* hg_mix64 of 8 keys. */
HG_CPU_TARGET_AVX512 static inline __m512i
mix_avx512(__m512i key)
{
	key = _mm512_xor_si512(key, _mm512_srli_epi64(key, 33));
	key = _mm512_mullo_epi64(key, _mm512_set1_epi64((int64_t) UINT64_C(0xff51afd7ed558ccd)));
	key = _mm512_xor_si512(key, _mm512_srli_epi64(key, 33));
	key = _mm512_mullo_epi64(key, _mm512_set1_epi64((int64_t) UINT64_C(0xc4ceb9fe1a85ec53)));
	return _mm512_xor_si512(key, _mm512_srli_epi64(key, 33));
}

/* Stores the vertices of whole vectors of keys, and returns the number of these keys. */
HG_CPU_TARGET_AVX512 static uint32_t
vertices_avx512(const void *keys, uint32_t width, uint32_t n, uint32_t log2, uint32_t *vertices)
{
	__m128i shift = _mm_cvtsi32_si128((int) (64 - log2));
	uint32_t i;

	for (i = 0; i + 8 <= n; i += 8)
	{
		__m512i key = width == 4 ? _mm512_cvtepi32_epi64(_mm256_loadu_si256(
									   (const __m256i *) ((const int32_t *) keys + i)))
								 : _mm512_loadu_si512((const int64_t *) keys + i);

		_mm256_storeu_si256((__m256i *) (vertices + i),
							_mm512_cvtepi64_epi32(_mm512_srl_epi64(mix_avx512(key), shift)));
	}
	return i;
}

HG_CPU_TARGET_AVX512 static uint32_t
count_avx512(const HgCpuFlatFilter *filter, const uint32_t *rows, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i += 16)
	{
		__mmask16 lanes = (__mmask16) (n - i < 16 ? (1U << (n - i)) - 1 : 0xffff);
		__m512i numbers = _mm512_maskz_loadu_epi32(lanes, rows + i);

		count += count_bits(hg_cpu_flat_filter_avx512(filter, lanes, numbers));
	}
	return count;
}

HG_CPU_TARGET_AVX512 static uint32_t
copy_avx512(const HgCpuFlatFilter *filter, const void *keys, uint32_t width, const uint32_t *rows,
			uint32_t n, void *to_keys, uint32_t *to_rows)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i += 16)
	{
		__mmask16 lanes = (__mmask16) (n - i < 16 ? (1U << (n - i)) - 1 : 0xffff);
		__m512i numbers = _mm512_maskz_loadu_epi32(lanes, rows + i);
		__mmask16 selected = hg_cpu_flat_filter_avx512(filter, lanes, numbers);
		uint32_t more = count_bits(selected);
		__mmask16 written = (__mmask16) _bzhi_u32(0xffff, more);

		_mm512_mask_storeu_epi32(to_rows + count, written,
								 _mm512_maskz_compress_epi32(selected, numbers));
		if (width == 4)
			_mm512_mask_storeu_epi32(
				(uint32_t *) to_keys + count, written,
				_mm512_maskz_compress_epi32(
					selected, _mm512_maskz_loadu_epi32(selected, (const uint32_t *) keys + i)));
		else
			for (uint32_t half = 0; half < 16; half += 8)
			{
				__mmask8 low = (__mmask8) (selected >> half);
				uint32_t first = half == 0 ? 0 : count_bits(selected & 0xff);

				_mm512_mask_storeu_epi64(
					(uint64_t *) to_keys + count + first,
					(__mmask8) _bzhi_u32(0xff, count_bits(low)),
					_mm512_maskz_compress_epi64(
						low, _mm512_maskz_loadu_epi64(low, (const uint64_t *) keys + i + half)));
			}
		count += more;
	}
	return count;
}

static bool
have_avx512(void)
{
	return hg_cpu_features() >= HG_CPU_AVX512;
}

#endif

void
hg_cpu_flat_vertices(const void *keys, uint32_t width, uint32_t n, uint32_t log2,
					 uint32_t *vertices)
{
	uint32_t i = 0;

#ifdef HG_CPU_X86
	if (have_avx512())
		i = vertices_avx512(keys, width, n, log2, vertices);
#endif
	for (; i < n; i++)
		vertices[i] = hg_vertex_of_hash(hg_cpu_flat_hash(hg_cpu_flat_key(keys, width, i)), log2);
}

uint32_t
hg_cpu_flat_count_rows(const HgCpuFlatFilter *filter, const uint32_t *rows, uint32_t n)
{
	uint32_t count = 0;

	if (filter->mask == NULL)
		return n;
#ifdef HG_CPU_X86
	if (have_avx512())
		return count_avx512(filter, rows, n);
#endif
	for (uint32_t i = 0; i < n; i++)
		count += hg_cpu_flat_counts(filter->mask, rows[i]);
	return count;
}

uint32_t
hg_cpu_flat_copy_rows(const HgCpuFlatFilter *filter, const void *keys, uint32_t width,
					  const uint32_t *rows, uint32_t n, void *to_keys, uint32_t *to_rows)
{
	uint32_t count = 0;

	if (filter->mask == NULL)
	{
		memcpy(to_keys, keys, (size_t) n * width);
		memcpy(to_rows, rows, n * sizeof(uint32_t));
		return n;
	}
#ifdef HG_CPU_X86
	if (have_avx512())
		return copy_avx512(filter, keys, width, rows, n, to_keys, to_rows);
#endif
	for (uint32_t i = 0; i < n; i++)
	{
		if (!hg_cpu_flat_counts(filter->mask, rows[i]))
			continue;
		memcpy((char *) to_keys + (size_t) count * width, (const char *) keys + (size_t) i * width,
			   width);
		to_rows[count++] = rows[i];
	}
	return count;
}
