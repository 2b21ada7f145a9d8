/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_portable.h
 *	  Lists compared with plain instructions, or those that every x86-64 has: included by
 *	  hg_cpu_flat_compare.c only.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

/*
 * Which of 8 keys are equal to a key, as bits.  Keys of 4 bytes are compared with its low half,
 * which must stand for all of it.
 */
static inline uint32_t
equal_8(const void *keys, uint32_t width, int64_t key)
{
#ifdef HG_CPU_FLAT_X86
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

/*
 * Compare an outer row with edges low .. high - 1 of the inner side, all of which it may have for
 * partners.
 */
static HG_CPU_FLAT_INLINE size_t
meet_list_portable(const HgFlatJoin *join, int64_t key, uint32_t row, bool row_counts,
				   const void *keys, const uint32_t *numbers, uint32_t low, uint32_t high, size_t n,
				   HgCpuFlatPairs *pairs, Kind kind)
{
	const HgFlatMask *outer_mask = join->filters[HG_OUTER].mask;
	const HgFlatMask *inner_mask = join->filters[HG_INNER].mask;
	size_t first = n;
	uint64_t counted = 0;

	if (kind.inner_width == 4 && key != (int32_t) key)
		return n;
	for (uint32_t at = low; at < high; at += 8)
	{
		uint32_t left = high - at;
		uint32_t equal =
			equal_8((const char *) keys + (size_t) at * kind.inner_width, kind.inner_width, key);

		equal &= left < 8 ? (1U << left) - 1 : 0xff;
		if (!kind.filtered && !kind.written && kind.mode == HG_MATCH_ALL)
		{
			counted += count_bits(equal);
			continue;
		}
		while (equal != 0)
		{
			uint32_t number = at + lowest_bit(equal);

			equal &= equal - 1;
			if (kind.filtered && !row_counts)
			{
				if (!hg_cpu_flat_counts(outer_mask, row))
					return first;
				row_counts = true;
			}
			if (kind.filtered && !hg_cpu_flat_counts(inner_mask, numbers[number]))
				continue;
			counted++;
			if (kind.written)
			{
				pairs->outer[n] = row;
				if (pairs->inner != NULL)
					pairs->inner[n] = numbers[number];
				n++;
			}
			if (kind.mode == HG_MATCH_FIRST)
			{
				pairs->counted += 1;
				return n;
			}
		}
	}
	pairs->counted += counted;
	return n;
}

/* Nothing is counted beside pairs->counted. */
typedef struct Sums_portable
{
	uint64_t pairs;
} Sums_portable;

static HG_CPU_FLAT_INLINE Sums_portable
sums_portable(void)
{
	return (Sums_portable){0};
}

static HG_CPU_FLAT_INLINE uint64_t
sum_portable(const Sums_portable *sums, Kind kind)
{
	(void) kind;
	return sums->pairs;
}

static HG_CPU_FLAT_INLINE size_t
meet_portable(const HgFlatJoin *join, const HgCpuFlatStretch *stretch, const Cell *cell,
			  uint32_t count, size_t n, HgCpuFlatPairs *pairs, Sums_portable *sums, Kind kind)
{
	const HgCpuFlatBin *outer = &stretch->bins[HG_OUTER];
	const HgCpuFlatBin *inner = &stretch->bins[HG_INNER];

	(void) sums;
	for (uint32_t i = cell->outer_low; i < cell->outer_low + count; i++)
		n = meet_list_portable(join, hg_cpu_flat_key(outer->keys, kind.outer_width, i),
							   outer->numbers[i], join->filters[HG_OUTER].mask == NULL, inner->keys,
							   inner->numbers, cell->inner_low, cell->inner_high, n, pairs, kind);
	return n;
}

/* A probe's row counts. */
static HG_CPU_FLAT_INLINE size_t
meet_row_portable(const HgFlatJoin *join, const HgCpuFlatProbe *probe, size_t n,
				  HgCpuFlatPairs *pairs, Kind kind)
{
	return meet_list_portable(join, probe->key, probe->row, true, probe->keys, probe->numbers,
							  probe->at, probe->end, n, pairs, kind);
}
