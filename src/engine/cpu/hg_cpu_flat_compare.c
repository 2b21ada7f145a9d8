/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_compare.c
 *	  Compares keys with keys: the inner loops of joins of flat HashGraphs.
 *
 * Intersecting two graphs meets lists of some 5 rows a side, whose lengths cannot be predicted:
 * loops over their rows would mispredict each end. So a list is compared as a whole. A register
 * holds 16 (or 8) outer keys of a cell, nearly always all of them. It is compared with one inner
 * key after the other, with a check for the end after eight of them. Keys after the list's end are
 * of other vertices, and can't be equal to keys of this one; only at the end of the bin, where no
 * keys follow, the end is exact. Each comparison adds to a count for each outer row, and puts the
 * inner row's number into its lane. So two compressing stores write a block of rows with one
 * partner each; rows with more are written one by one. No key is hashed: the bounds of a vertex
 * are known.
 *
 * A probe is one outer key; its list is compared with it a register at a time.
 *
 * The mask is checked only for rows that have a partner. Parts that count whole, and parts of
 * which some rows count, are bits of a table, which is one register for up to 512 parts.
 *
 * Without AVX-512 a list is compared with one outer key after the other, eight inner keys at once:
 * one comparison with AVX2.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_flat_stream.h"

#include "hg_cpu_bits.h"
#include "hg_cpu_job.h"

/* Cells, and blocks of them, between two polls: some 100000 rows. */
#define POLL_CELLS 8192

/* Cells of more than 2^this vertices are not checked for masked rows: all count as masked. */
#define MASKED_LOG2 5

/* What a kernel is specialised for, known at compile time. */
typedef struct Kind
{
	uint32_t outer_width; /* bytes of a key */
	uint32_t inner_width;
	bool filtered; /* not all rows count */
	bool written;  /* pairs are written, not only counted */
	HgMatchMode mode;
} Kind;

typedef HgCpuFlatEnd (*IntersectKernel)(HgFlatJoin *join, HgCpuFlatPairs *pairs);
typedef HgCpuFlatEnd (*CompareKernel)(HgFlatJoin *join, HgCpuFlatPairs *pairs);

/* The edges of a cell. */
typedef struct Cell
{
	uint32_t outer_low;
	uint32_t outer_high;
	uint32_t inner_low;
	uint32_t inner_high;
} Cell;

static HG_CPU_FLAT_INLINE Cell
cell_at(const HgCpuFlatStretch *stretch, uint32_t number)
{
	uint64_t outer =
		stretch->first[HG_OUTER] + ((uint64_t) number << stretch->vertices_log2[HG_OUTER]);
	uint64_t inner =
		stretch->first[HG_INNER] + ((uint64_t) number << stretch->vertices_log2[HG_INNER]);
	Cell cell;

	cell.outer_low = hg_cpu_flat_offset(&stretch->bins[HG_OUTER], outer);
	cell.outer_high = hg_cpu_flat_offset(&stretch->bins[HG_OUTER],
										 outer + (UINT64_C(1) << stretch->vertices_log2[HG_OUTER]));
	cell.inner_low = hg_cpu_flat_offset(&stretch->bins[HG_INNER], inner);
	cell.inner_high = hg_cpu_flat_offset(&stretch->bins[HG_INNER],
										 inner + (UINT64_C(1) << stretch->vertices_log2[HG_INNER]));

	/* skip what a kernel has done of the cell before it returned */
	if (cell.outer_low < stretch->outer_at)
		cell.outer_low = stretch->outer_at;
	return cell;
}

/* Returns, as bits, which of count <= 64 cells from a number on may have masked rows. */
static HG_CPU_FLAT_INLINE uint64_t
masked_cells(const HgFlatJoin *join, const HgCpuFlatStretch *stretch, uint32_t number,
			 uint32_t count)
{
	uint64_t all = ~UINT64_C(0) >> (64 - count);
	uint64_t masked = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const uint64_t *vertices = join->sides[side].masked;
		uint32_t log2 = stretch->vertices_log2[side];
		uint64_t at = stretch->number[side] + ((uint64_t) number << log2);

		if (join->sides[side].mask == NULL)
			continue;
		if (vertices == NULL || log2 > MASKED_LOG2)
			return all;
		if (log2 == 0)
		{
			masked |= vertices[at / 64] >> at % 64;
			if (at % 64 + count > 64)
				masked |= vertices[at / 64 + 1] << (64 - at % 64);
			continue;
		}
		/* the vertices of a cell lie in one word, as their number is a power of two */
		for (uint32_t i = 0; i < count; i++, at += UINT64_C(1) << log2)
		{
			uint64_t run = vertices[at / 64] >> at % 64 & ((UINT64_C(1) << (1U << log2)) - 1);

			masked |= (uint64_t) (run != 0) << i;
		}
	}
	return masked & all;
}

/* Returns how many bits from the lowest one on, at most `most`, are set, or are not set. */
static HG_CPU_FLAT_INLINE uint32_t
run_length(uint64_t bits, bool set, uint32_t most)
{
	uint64_t others = set ? ~bits : bits;
	uint32_t run = others != 0 ? lowest_bit64(others) : 64;

	return run < most ? run : most;
}

/*
 * Prefetches the row numbers of masked cells from a number on. If few cells are masked, their row
 * numbers lie apart, and nothing else reads them.
 */
static HG_CPU_FLAT_INLINE void
ask_for_rows(const HgCpuFlatStretch *stretch, uint32_t number, uint64_t cells)
{
	if (cells == ~UINT64_C(0))
		return;
	for (; cells != 0; cells &= cells - 1)
	{
		uint64_t cell = number + (uint64_t) lowest_bit64(cells);

		for (int side = HG_OUTER; side <= HG_INNER; side++)
		{
			const HgCpuFlatBin *bin = &stretch->bins[side];
			uint64_t vertex = stretch->first[side] + (cell << stretch->vertices_log2[side]);

			HG_CPU_PREFETCH(&bin->numbers[hg_cpu_flat_offset(bin, vertex)]);
		}
	}
}

/* Returns true if there is room for count pairs and a register more. */
static HG_CPU_FLAT_INLINE bool
has_room(const HgCpuFlatPairs *pairs, size_t n, size_t count)
{
	return pairs->room - n >= count + HG_CPU_FLAT_BLOCK;
}

#define HG_TARGET
#define KERNEL(name) name##_portable

/*
 * Returns a mask of those of 8 keys that equal a key. Compares them with SSE2 on x86-64. With width
 * 4 only the low half of key is compared. key must then fit in an int32.
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

#include "hg_cpu_flat_lists.h"
#include "hg_cpu_flat_kernels.h"
#undef HG_TARGET
#undef KERNEL

#ifdef HG_CPU_X86
#define HG_TARGET HG_CPU_TARGET_AVX2
#define KERNEL(name) name##_avx2

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

#include "hg_cpu_flat_lists.h"
#include "hg_cpu_flat_kernels.h"
#undef HG_TARGET
#undef KERNEL

#define HG_TARGET HG_CPU_TARGET_AVX512
#define KERNEL(name) name##_avx512
#include "hg_cpu_flat_avx512.h"
#include "hg_cpu_flat_kernels.h"
#undef HG_TARGET
#undef KERNEL
#endif

static uint32_t
key_width_of(const HgFlatJoin *join, HgSide side)
{
	return join->sides[side].graph->shape.key_width;
}

HgCpuFlatEnd
hg_cpu_flat_intersect(HgFlatJoin *join, HgMatchMode mode, HgCpuFlatPairs *pairs)
{
	bool filtered = join->filters[HG_OUTER].mask != NULL || join->filters[HG_INNER].mask != NULL;
	bool wide[2] = {key_width_of(join, HG_OUTER) == 8, key_width_of(join, HG_INNER) == 8};

#ifdef HG_CPU_X86
	if (hg_cpu_features() >= HG_CPU_AVX512)
		return intersect_kernels_avx512[wide[0]][wide[1]][filtered][pairs->outer != NULL][mode](
			join, pairs);
	if (hg_cpu_features() >= HG_CPU_AVX2)
		return intersect_kernels_avx2[wide[0]][wide[1]][filtered][pairs->outer != NULL][mode](
			join, pairs);
#endif
	return intersect_kernels_portable[wide[0]][wide[1]][filtered][pairs->outer != NULL][mode](
		join, pairs);
}

HgCpuFlatEnd
hg_cpu_flat_compare(HgFlatJoin *join, HgMatchMode mode, HgCpuFlatPairs *pairs)
{
	bool filtered = join->filters[HG_INNER].mask != NULL;
	bool wide = key_width_of(join, HG_INNER) == 8;

#ifdef HG_CPU_X86
	if (hg_cpu_features() >= HG_CPU_AVX512)
		return compare_kernels_avx512[wide][filtered][pairs->outer != NULL][mode](join, pairs);
	if (hg_cpu_features() >= HG_CPU_AVX2)
		return compare_kernels_avx2[wide][filtered][pairs->outer != NULL][mode](join, pairs);
#endif
	return compare_kernels_portable[wide][filtered][pairs->outer != NULL][mode](join, pairs);
}
