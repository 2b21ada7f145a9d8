/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_avx512.h
 *	  Compares lists with AVX-512: included by hg_cpu_flat_compare.c only.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */

/* Returns a mask of the first count lanes; all 16 if count is larger. */
HG_TARGET static HG_CPU_FLAT_INLINE __mmask16
first_lanes(uint32_t count)
{
	return (__mmask16) _bzhi_u32(0xffff, count < 16 ? count : 16);
}

/* Writes the rows of lanes, packed. */
HG_TARGET static HG_CPU_FLAT_INLINE void
write_lanes(uint32_t *to, __mmask16 lanes, __m512i rows)
{
	_mm512_storeu_si512(to, _mm512_maskz_compress_epi32(lanes, rows));
}

/* Returns which of the lanes' keys of a line are equal to a key. */
HG_TARGET static HG_CPU_FLAT_INLINE uint32_t
equal_in_line(__mmask16 lanes, const void *line, int64_t key, Kind kind)
{
	if (kind.inner_width == 4)
		return _mm512_mask_cmpeq_epi32_mask(lanes, _mm512_maskz_load_epi32(lanes, line),
											_mm512_set1_epi32((int32_t) key));
	return _mm512_mask_cmpeq_epi64_mask(
		(__mmask8) lanes, _mm512_maskz_load_epi64((__mmask8) lanes, line), _mm512_set1_epi64(key));
}

/*
 * Compares an outer row that counts with edges low .. high - 1 of the inner side, two cache lines
 * at once, which hold nearly all lists. A register that began with the list would need the next
 * line, too, if the list crosses into it, and a branch on that mispredicts often. So the first
 * line is read again instead.
 */
HG_TARGET static HG_CPU_FLAT_INLINE size_t
meet_list_avx512(const HgFlatJoin *join, int64_t key, uint32_t row, const void *keys,
				 const uint32_t *numbers, uint32_t low, uint32_t high, size_t n,
				 HgCpuFlatPairs *pairs, Kind kind)
{
	const uint32_t line = 64 / kind.inner_width;
	const char *from = (const char *) keys + (size_t) low * kind.inner_width;
	uint32_t at = (uint32_t) ((uintptr_t) from % 64) / kind.inner_width;
	uint32_t end = at + (high - low);

	if (kind.inner_width == 4 && key != (int32_t) key)
		return n;
	from -= at * kind.inner_width;
	numbers = numbers + low - at;
	for (;;)
	{
		uint32_t behind = end > line ? end - line : 0;
		const char *next = behind > 0 ? from + 64 : from;
		uint32_t equal =
			equal_in_line(first_lanes(end) & (__mmask16) (0xffffU << at), from, key, kind) |
			equal_in_line(first_lanes(behind), next, key, kind) << line;

		if (kind.mode == HG_MATCH_FIRST && !kind.filtered)
			equal &= 0 - equal;
		if (!kind.written && !kind.filtered)
			pairs->counted += count_bits(equal);
		else if (!kind.filtered && (equal & (equal - 1)) == 0)
		{
			/* none or one; what is written for none is overwritten */
			pairs->outer[n] = row;
			if (pairs->inner != NULL && equal != 0)
				pairs->inner[n] = numbers[lowest_bit(equal)];
			n += equal != 0;
		}
		else if (equal != 0)
			for (uint32_t half = 0; half < 2; half++)
			{
				__mmask16 lanes =
					(__mmask16) (half == 0 ? equal & ((1U << line) - 1) : equal >> line);
				__m512i rows = _mm512_maskz_loadu_epi32(lanes, numbers + half * line);

				if (kind.filtered)
					lanes = hg_cpu_flat_filter_avx512(&join->filters[HG_INNER], lanes, rows);
				if (kind.mode == HG_MATCH_FIRST)
					lanes &= (__mmask16) -lanes;
				pairs->counted += count_bits(lanes);
				if (kind.written)
				{
					_mm512_storeu_si512(pairs->outer + n, _mm512_set1_epi32((int) row));
					if (pairs->inner != NULL)
						write_lanes(pairs->inner + n, lanes, rows);
					n += count_bits(lanes);
				}
				if (kind.mode == HG_MATCH_FIRST && lanes != 0)
					return n;
			}
		if (!HG_CPU_UNLIKELY(end > 2 * line) ||
			(kind.mode == HG_MATCH_FIRST && !kind.filtered && equal != 0))
			return n;
		from += 128;
		numbers += 2 * line;
		end -= 2 * line;
		at = 0;
	}
}

HG_TARGET static HG_CPU_FLAT_INLINE size_t
meet_row_avx512(const HgFlatJoin *join, const HgCpuFlatProbe *probe, size_t n,
				HgCpuFlatPairs *pairs, Kind kind)
{
	return meet_list_avx512(join, probe->key, probe->row, probe->keys, probe->numbers, probe->at,
							probe->end, n, pairs, kind);
}

/*
 * 16 outer keys if both sides' keys have 4 bytes, otherwise 8 keys widened to 8 bytes. Only lanes
 * set in `lanes` are compared.
 */
typedef struct Block
{
	__m512i keys;
	__m512i partners; /* number of partners of each key, as wide as keys */
	__m512i rows;	  /* the last partner's row of each key: 4 bytes */
	__mmask16 lanes;
} Block;

HG_TARGET static HG_CPU_FLAT_INLINE bool
is_narrow(Kind kind)
{
	return kind.outer_width == 4 && kind.inner_width == 4;
}

/* One counter for each lane, over all blocks, if pairs are only counted. */
typedef struct Sums_avx512
{
	__m512i pairs;
} Sums_avx512;

HG_TARGET static HG_CPU_FLAT_INLINE Sums_avx512
sums_avx512(void)
{
	return (Sums_avx512){_mm512_setzero_si512()};
}

HG_TARGET static HG_CPU_FLAT_INLINE uint64_t
sum_avx512(const Sums_avx512 *sums, Kind kind)
{
	return (uint64_t) (is_narrow(kind) ? _mm512_reduce_add_epi32(sums->pairs)
									   : _mm512_reduce_add_epi64(sums->pairs));
}

/* Compares the block with inner edge i. */
HG_TARGET static HG_CPU_FLAT_INLINE void
block_compare(Block *block, const HgCpuFlatBin *inner, uint32_t i, Kind kind)
{
	__mmask16 equal;

	if (is_narrow(kind))
	{
		__m512i key = _mm512_set1_epi32(((const int32_t *) inner->keys)[i]);

		equal = _mm512_mask_cmpeq_epi32_mask(block->lanes, block->keys, key);
		block->partners =
			_mm512_mask_add_epi32(block->partners, equal, block->partners, _mm512_set1_epi32(1));
	}
	else
	{
		__m512i key = _mm512_set1_epi64(hg_cpu_flat_key(inner->keys, kind.inner_width, i));

		equal = _mm512_mask_cmpeq_epi64_mask((__mmask8) block->lanes, block->keys, key);
		block->partners = _mm512_mask_add_epi64(block->partners, (__mmask8) equal, block->partners,
												_mm512_set1_epi64(1));
	}
	if (kind.written || kind.filtered)
		block->rows = _mm512_mask_set1_epi32(block->rows, equal, (int) inner->numbers[i]);
}

/*
 * Slow path of a block in which some outer row has several partners: compares each row of lanes
 * with the list by itself.
 */
HG_TARGET static HG_CPU_FLAT_INLINE size_t
meet_several_avx512(const HgFlatJoin *join, const HgCpuFlatStretch *stretch, const Cell *cell,
					uint32_t outer_at, __mmask16 lanes, size_t n, HgCpuFlatPairs *pairs, Kind kind)
{
	const HgCpuFlatBin *outer = &stretch->bins[HG_OUTER];
	const HgCpuFlatBin *inner = &stretch->bins[HG_INNER];

	for (; lanes != 0; lanes &= lanes - 1)
	{
		uint32_t i = outer_at + lowest_bit(lanes);

		n = meet_list_avx512(join, hg_cpu_flat_key(outer->keys, kind.outer_width, i),
							 outer->numbers[i], inner->keys, inner->numbers, cell->inner_low,
							 cell->inner_high, n, pairs, kind);
	}
	return n;
}

/* Compares count outer edges, at most a block, with the list of a cell. */
HG_TARGET static HG_CPU_FLAT_INLINE size_t
meet_block_avx512(const HgFlatJoin *join, const HgCpuFlatStretch *stretch, const Cell *cell,
				  uint32_t outer_at, uint32_t count, size_t n, HgCpuFlatPairs *pairs,
				  Sums_avx512 *sums, Kind kind)
{
	const bool summed = !kind.written && !kind.filtered && kind.mode == HG_MATCH_ALL;
	const HgCpuFlatBin *outer = &stretch->bins[HG_OUTER];
	const HgCpuFlatBin *inner = &stretch->bins[HG_INNER];
	const char *keys = (const char *) outer->keys + (size_t) outer_at * kind.outer_width;
	uint32_t at = cell->inner_low;
	uint32_t safe_end = cell->inner_high + 7 < inner->rows ? cell->inner_high : 0;
	__mmask16 met;
	__m512i rows;
	Block block;

	block.lanes = first_lanes(count);
	block.partners = summed ? sums->pairs : _mm512_setzero_si512();
	block.rows = _mm512_setzero_si512();
	block.keys = is_narrow(kind) || kind.outer_width == 8
					 ? _mm512_loadu_si512(keys)
					 : _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *) keys));

	for (; at < safe_end; at += 8)
		for (uint32_t i = 0; i < 8; i++)
			block_compare(&block, inner, at + i, kind);
	for (; HG_CPU_UNLIKELY(at < cell->inner_high); at++)
		block_compare(&block, inner, at, kind);

	if (summed)
	{
		sums->pairs = block.partners;
		return n;
	}
	met = is_narrow(kind) ? _mm512_test_epi32_mask(block.partners, block.partners)
						  : _mm512_test_epi64_mask(block.partners, block.partners);
	if (!kind.written && !kind.filtered)
	{
		pairs->counted += count_bits(met);
		return n;
	}

	rows = is_narrow(kind) ? _mm512_loadu_si512(outer->numbers + outer_at)
						   : _mm512_zextsi256_si512(
								 _mm256_loadu_si256((const __m256i *) (outer->numbers + outer_at)));
	if (kind.filtered && met != 0)
		met = hg_cpu_flat_filter_avx512(&join->filters[HG_OUTER], met, rows);
	if (kind.filtered || kind.mode == HG_MATCH_ALL)
	{
		__m512i one = is_narrow(kind) ? _mm512_set1_epi32(1) : _mm512_set1_epi64(1);
		__mmask16 several = is_narrow(kind)
								? _mm512_mask_cmpgt_epi32_mask(met, block.partners, one)
								: _mm512_mask_cmpgt_epi64_mask((__mmask8) met, block.partners, one);

		if (HG_CPU_UNLIKELY(several != 0))
			return meet_several_avx512(join, stretch, cell, outer_at, met, n, pairs, kind);
	}
	if (kind.filtered && met != 0)
		met = hg_cpu_flat_filter_avx512(&join->filters[HG_INNER], met, block.rows);
	pairs->counted += count_bits(met);
	if (kind.written)
	{
		write_lanes(pairs->outer + n, met, rows);
		if (pairs->inner != NULL)
			write_lanes(pairs->inner + n, met, block.rows);
		n += count_bits(met);
	}
	return n;
}

HG_TARGET static HG_CPU_FLAT_INLINE size_t
meet_avx512(const HgFlatJoin *join, const HgCpuFlatStretch *stretch, const Cell *cell,
			uint32_t count, size_t n, HgCpuFlatPairs *pairs, Sums_avx512 *sums, Kind kind)
{
	uint32_t most = is_narrow(kind) ? 16 : 8;

	for (uint32_t done = 0; done < count; done += most)
		n = meet_block_avx512(join, stretch, cell, cell->outer_low + done,
							  count - done < most ? count - done : most, n, pairs, sums, kind);
	return n;
}
