/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_portable.h
 *	  Compares keys in plain C, or with SSE2 on x86-64: included by hg_cpu_flat_compare.c only.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

/*
 * Returns a mask of those of 8 keys that equal a key. With width 4 only the low half of key is
 * compared. key must then fit in an int32.
 */
static HG_CPU_FLAT_INLINE uint32_t
equal_8_portable(const void *keys, uint32_t width, int64_t key)
{
#ifdef HG_CPU_X86
	const __m128i *words = keys;

	if (width == 4)
	{
		__m128i wanted = _mm_set1_epi32((int32_t) key);
		__m128i low = _mm_cmpeq_epi32(_mm_loadu_si128(words), wanted);
		__m128i high = _mm_cmpeq_epi32(_mm_loadu_si128(words + 1), wanted);
		__m128i both = _mm_packs_epi32(low, high);

		return (uint32_t) _mm_movemask_epi8(_mm_packs_epi16(both, _mm_setzero_si128()));
	}
	else
	{
		__m128i wanted = _mm_set1_epi64x(key);
		uint32_t equal = 0;

		for (int i = 0; i < 4; i++)
		{
			__m128i halves = _mm_cmpeq_epi32(_mm_loadu_si128(words + i), wanted);
			__m128i swapped = _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1));
			__m128i whole = _mm_and_si128(halves, swapped);

			equal |= (uint32_t) _mm_movemask_pd(_mm_castsi128_pd(whole)) << 2 * i;
		}
		return equal;
	}
#else
	uint32_t equal = 0;

	for (uint32_t i = 0; i < 8; i++)
		equal |= (uint32_t) (hg_cpu_flat_key(keys, width, i) == key) << i;
	return equal;
#endif
}
