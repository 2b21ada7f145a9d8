/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_avx2.h
 *	  Compares keys with AVX2: included by hg_cpu_flat_compare.c only.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

/* As equal_8_portable(). */
HG_TARGET static HG_CPU_FLAT_INLINE uint32_t
equal_8_avx2(const void *keys, uint32_t width, int64_t key)
{
	const __m256i *words = keys;
	__m256i wanted;
	__m256i low;
	__m256i high;

	if (width == 4)
		return (uint32_t) _mm256_movemask_ps(_mm256_castsi256_ps(
			_mm256_cmpeq_epi32(_mm256_loadu_si256(words), _mm256_set1_epi32((int32_t) key))));
	wanted = _mm256_set1_epi64x(key);
	low = _mm256_cmpeq_epi64(_mm256_loadu_si256(words), wanted);
	high = _mm256_cmpeq_epi64(_mm256_loadu_si256(words + 1), wanted);
	return (uint32_t) _mm256_movemask_pd(_mm256_castsi256_pd(low)) |
		   (uint32_t) _mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4;
}
