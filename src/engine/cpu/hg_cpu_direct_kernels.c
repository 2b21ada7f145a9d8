/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct_kernels.c
 *	  The inner loops of direct addressing, for each key width and instruction set.
 *
 * A table may be much larger than the caches. Rows do not depend on each other, so that the loads
 * of many rows are in flight at once without prefetches. Only a list takes two dependent loads,
 * and is prefetched.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_direct_kernels.h"

#include "../hg_features.h"
#include "../hg_hash.h"
#include "../hg_finished.h"
#include "hg_cpu_bits.h"

#ifdef HG_CPU_X86
#include <immintrin.h>
#endif

/* In a far table a row's list is prefetched this many rows ahead, and its offset twice as far. */
#define FAR_AHEAD 16

#if defined(__GNUC__)
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

/*
 * Writes the matches of a row with a list of length rows, after the first *at, as far as there is
 * room. Returns true if that is all.
 */
static inline bool
write_list(const uint32_t *RESTRICT list, uint32_t length, uint32_t row, uint32_t *at,
		   HgMatches *matches)
{
	uint32_t *RESTRICT outer = matches->outer + matches->count;
	uint32_t *RESTRICT inner = matches->inner + matches->count;
	size_t room = matches->capacity - matches->count;
	uint32_t left = length - *at;
	uint32_t step = left;

	list += *at;
	if (room >= HG_CPU_DIRECT_LIST_STEP && room - HG_CPU_DIRECT_LIST_STEP >= left)
	{
		/* also writes beyond the list's end, where the next matches come */
		for (uint32_t k = 0; k < left; k += HG_CPU_DIRECT_LIST_STEP)
			for (uint32_t e = 0; e < HG_CPU_DIRECT_LIST_STEP; e++)
			{
				outer[k + e] = row;
				inner[k + e] = list[k + e];
			}
		matches->count += left;
		*at = 0;
		return true;
	}
	if (step > room)
		step = (uint32_t) room;
	for (uint32_t k = 0; k < step; k++)
	{
		outer[k] = row;
		inner[k] = list[k];
	}
	matches->count += step;
	*at = step < left ? *at + step : 0;
	return step == left;
}

/* The same for a longer list, in parts, as the caller may not need all matches (hg_finished.h). */
static bool
write_part(const uint32_t *list, uint32_t length, uint32_t row, uint32_t *at, HgMatches *matches)
{
	const size_t capacity = matches->capacity;
	bool done = hg_matches_row_is_finished(matches, row);

	if (done)
	{
		*at = 0;
		return true;
	}
	matches->capacity = hg_matches_part_capacity(matches, *at);
	done = write_list(list, length, row, at, matches);
	matches->capacity = capacity;
	return done;
}

/* Plain instructions. */
#define HG_ISA portable
#define HG_TARGET
#define HG_KEY_BITS 32
#include "hg_cpu_direct_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_cpu_direct_impl.h"
#undef HG_KEY_BITS
#undef HG_ISA
#undef HG_TARGET

#ifdef HG_CPU_X86
/* AVX-512: the entries of 16 or 8 rows are gathered at once. */
#define HG_ISA avx512
#define HG_TARGET HG_CPU_TARGET_AVX512

/*
 * Returns the number of lanes of a mask. It goes through a general register: if GCC 12 has to keep
 * the mask in memory, it stores its 8 or 16 bits, and has popcnt read 32 there.
 */
HG_TARGET static inline uint32_t
count_lanes(uint32_t mask)
{
	__asm__("" : "+r"(mask));
	return count_bits(mask);
}

#define HG_KEY_BITS 32
#include "hg_cpu_direct_avx512.h"
#include "hg_cpu_direct_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_cpu_direct_avx512.h"
#include "hg_cpu_direct_impl.h"
#undef HG_KEY_BITS
#undef HG_ISA
#undef HG_TARGET
#endif

#define KERNELS(bits, isa)                                                                         \
	{                                                                                              \
		.bounds = key_bounds##bits##_##isa, .edges = edge_keys##bits##_##isa,                      \
		.enter = {[HG_CPU_TABLE_BITS] = enter_bits##bits##_##isa,                                  \
				  [HG_CPU_TABLE_COUNTS] = enter_counts##bits##_##isa,                              \
				  [HG_CPU_TABLE_ROWS] = enter_rows##bits##_##isa,                                  \
				  [HG_CPU_TABLE_LISTS] = enter_lists##bits##_##isa},                               \
		.scatter = scatter_lists##bits##_##isa,                                                    \
		.count = {[HG_CPU_TABLE_BITS] = count_in_bits##bits##_##isa,                               \
				  [HG_CPU_TABLE_COUNTS] = count_in_counts##bits##_##isa},                          \
		.write = {[HG_CPU_TABLE_BITS] = write_from_bits##bits##_##isa,                             \
				  [HG_CPU_TABLE_COUNTS] = write_from_counts##bits##_##isa,                         \
				  [HG_CPU_TABLE_ROWS] = write_from_rows##bits##_##isa,                             \
				  [HG_CPU_TABLE_LISTS] = write_from_lists##bits##_##isa},                          \
	}

const HgCpuDirectKernels *
hg_cpu_direct_kernels(const HgJob *job)
{
	static const HgCpuDirectKernels portable[] = {KERNELS(32, portable), KERNELS(64, portable)};
#ifdef HG_CPU_X86
	static const HgCpuDirectKernels avx512[] = {KERNELS(32, avx512), KERNELS(64, avx512)};

	if (hg_cpu_features() >= HG_CPU_AVX512)
		return &avx512[job->base.spec.key_width == 8];
#endif
	return &portable[job->base.spec.key_width == 8];
}
