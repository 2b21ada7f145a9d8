/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct_avx512.h
 *	  Direct addressing of a register full of rows with AVX-512, for one key width: included by
 *	  hg_cpu_direct_kernels.c only, before hg_cpu_direct_impl.h.
 *
 * Expects HG_KEY_BITS and HG_TARGET. Each function returns how many of the rows it has done.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

#define HG_MANY

#if HG_KEY_BITS == 32

/* Computes the vertices of 16 keys, and returns which of them are in the table. */
HG_TARGET static inline __mmask16
vertices32_avx512(const HgCpuDirectTable *table, const uint32_t *keys, __m512i *vertices)
{
	*vertices = _mm512_sub_epi32(_mm512_loadu_si512(keys),
								 _mm512_set1_epi32((int) (uint32_t) table->least));
	return _mm512_cmple_epu32_mask(*vertices, _mm512_set1_epi32((int) (uint32_t) table->last));
}

HG_TARGET static inline uint32_t
many_count_in_bits32_avx512(const HgCpuDirectTable *table, const uint32_t *keys, uint32_t n,
							uint32_t *matches)
{
	const __m512i one = _mm512_set1_epi32(1);
	uint32_t found = 0;
	uint32_t i;

	for (i = 0; n - i >= 16; i += 16)
	{
		__m512i vertices;
		__mmask16 inside = vertices32_avx512(table, keys + i, &vertices);
		__m512i words = _mm512_mask_i32gather_epi32(
			_mm512_setzero_si512(), inside, _mm512_srli_epi32(vertices, 5), table->entries, 4);

		found += count_lanes(_mm512_test_epi32_mask(words, _mm512_rolv_epi32(one, vertices)));
	}
	*matches = found;
	return i;
}

HG_TARGET static inline uint32_t
many_count_in_counts32_avx512(const HgCpuDirectTable *table, const uint32_t *keys, uint32_t n,
							  HgCpuDirectTally *tally)
{
	__m512i total = _mm512_setzero_si512();
	uint32_t lists = 0;
	uint32_t i;

	for (i = 0; n - i >= 16; i += 16)
	{
		__m512i vertices;
		__mmask16 inside = vertices32_avx512(table, keys + i, &vertices);
		__m512i counts = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), inside, vertices,
													 table->entries, 4);

		lists += count_lanes(_mm512_test_epi32_mask(counts, counts));
		total = _mm512_add_epi64(total, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(counts)));
		total =
			_mm512_add_epi64(total, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(counts, 1)));
	}
	tally->matches += (uint64_t) _mm512_reduce_add_epi64(total);
	tally->lists += lists;
	return i;
}

HG_TARGET static inline uint32_t
many_write_from_bits32_avx512(const HgCpuDirectTable *table, const uint32_t *keys, uint32_t n,
							  uint32_t row, HgMatches *matches)
{
	const __m512i one = _mm512_set1_epi32(1);
	const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	size_t m = matches->count;
	uint32_t i;

	for (i = 0; n - i >= 16 && matches->capacity - m >= 16; i += 16)
	{
		__m512i vertices;
		__mmask16 inside = vertices32_avx512(table, keys + i, &vertices);
		__m512i words = _mm512_mask_i32gather_epi32(
			_mm512_setzero_si512(), inside, _mm512_srli_epi32(vertices, 5), table->entries, 4);
		__mmask16 found = _mm512_test_epi32_mask(words, _mm512_rolv_epi32(one, vertices));
		__m512i outer = _mm512_add_epi32(_mm512_set1_epi32((int) (row + i)), steps);

		_mm512_storeu_si512(matches->outer + m, _mm512_maskz_compress_epi32(found, outer));
		m += count_lanes(found);
	}
	matches->count = m;
	return i;
}

HG_TARGET static inline uint32_t
many_write_from_rows32_avx512(const HgCpuDirectTable *table, const uint32_t *keys, uint32_t n,
							  uint32_t row, HgMatches *matches)
{
	const __m512i none = _mm512_set1_epi32(-1);
	const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	size_t m = matches->count;
	uint32_t i;

	for (i = 0; n - i >= 16 && matches->capacity - m >= 16; i += 16)
	{
		__m512i vertices;
		__mmask16 inside = vertices32_avx512(table, keys + i, &vertices);
		__m512i inner = _mm512_mask_i32gather_epi32(none, inside, vertices, table->entries, 4);
		__m512i outer = _mm512_add_epi32(_mm512_set1_epi32((int) (row + i)), steps);
		__mmask16 found = _mm512_cmpneq_epi32_mask(inner, none);

		_mm512_storeu_si512(matches->outer + m, _mm512_maskz_compress_epi32(found, outer));
		_mm512_storeu_si512(matches->inner + m, _mm512_maskz_compress_epi32(found, inner));
		m += count_lanes(found);
	}
	matches->count = m;
	return i;
}

#else

/* The same for 8 keys. */
HG_TARGET static inline __mmask8
vertices64_avx512(const HgCpuDirectTable *table, const uint64_t *keys, __m512i *vertices)
{
	*vertices =
		_mm512_sub_epi64(_mm512_loadu_si512(keys), _mm512_set1_epi64((long long) table->least));
	return _mm512_cmple_epu64_mask(*vertices, _mm512_set1_epi64((long long) table->last));
}

HG_TARGET static inline uint32_t
many_count_in_bits64_avx512(const HgCpuDirectTable *table, const uint64_t *keys, uint32_t n,
							uint32_t *matches)
{
	const __m256i one = _mm256_set1_epi32(1);
	uint32_t found = 0;
	uint32_t i;

	for (i = 0; n - i >= 8; i += 8)
	{
		__m512i vertices;
		__mmask8 inside = vertices64_avx512(table, keys + i, &vertices);
		__m256i words = _mm512_mask_i64gather_epi32(
			_mm256_setzero_si256(), inside, _mm512_srli_epi64(vertices, 5), table->entries, 4);
		__m256i bits = _mm256_rolv_epi32(one, _mm512_cvtepi64_epi32(vertices));

		found += count_lanes(_mm256_test_epi32_mask(words, bits));
	}
	*matches = found;
	return i;
}

HG_TARGET static inline uint32_t
many_count_in_counts64_avx512(const HgCpuDirectTable *table, const uint64_t *keys, uint32_t n,
							  HgCpuDirectTally *tally)
{
	__m512i total = _mm512_setzero_si512();
	uint32_t lists = 0;
	uint32_t i;

	for (i = 0; n - i >= 8; i += 8)
	{
		__m512i vertices;
		__mmask8 inside = vertices64_avx512(table, keys + i, &vertices);
		__m256i counts = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), inside, vertices,
													 table->entries, 4);

		lists += count_lanes(_mm256_test_epi32_mask(counts, counts));
		total = _mm512_add_epi64(total, _mm512_cvtepu32_epi64(counts));
	}
	tally->matches += (uint64_t) _mm512_reduce_add_epi64(total);
	tally->lists += lists;
	return i;
}

HG_TARGET static inline uint32_t
many_write_from_bits64_avx512(const HgCpuDirectTable *table, const uint64_t *keys, uint32_t n,
							  uint32_t row, HgMatches *matches)
{
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	size_t m = matches->count;
	uint32_t i;

	for (i = 0; n - i >= 8 && matches->capacity - m >= 8; i += 8)
	{
		__m512i vertices;
		__mmask8 inside = vertices64_avx512(table, keys + i, &vertices);
		__m256i words = _mm512_mask_i64gather_epi32(
			_mm256_setzero_si256(), inside, _mm512_srli_epi64(vertices, 5), table->entries, 4);
		__m256i bits = _mm256_rolv_epi32(one, _mm512_cvtepi64_epi32(vertices));
		__mmask8 found = _mm256_test_epi32_mask(words, bits);
		__m256i outer = _mm256_add_epi32(_mm256_set1_epi32((int) (row + i)), steps);

		_mm256_storeu_si256((__m256i *) (matches->outer + m),
							_mm256_maskz_compress_epi32(found, outer));
		m += count_lanes(found);
	}
	matches->count = m;
	return i;
}

HG_TARGET static inline uint32_t
many_write_from_rows64_avx512(const HgCpuDirectTable *table, const uint64_t *keys, uint32_t n,
							  uint32_t row, HgMatches *matches)
{
	const __m256i none = _mm256_set1_epi32(-1);
	const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	size_t m = matches->count;
	uint32_t i;

	for (i = 0; n - i >= 8 && matches->capacity - m >= 8; i += 8)
	{
		__m512i vertices;
		__mmask8 inside = vertices64_avx512(table, keys + i, &vertices);
		__m256i inner = _mm512_mask_i64gather_epi32(none, inside, vertices, table->entries, 4);
		__m256i outer = _mm256_add_epi32(_mm256_set1_epi32((int) (row + i)), steps);
		__mmask8 found = _mm256_cmpneq_epi32_mask(inner, none);

		_mm256_storeu_si256((__m256i *) (matches->outer + m),
							_mm256_maskz_compress_epi32(found, outer));
		_mm256_storeu_si256((__m256i *) (matches->inner + m),
							_mm256_maskz_compress_epi32(found, inner));
		m += count_lanes(found);
	}
	matches->count = m;
	return i;
}

#endif
