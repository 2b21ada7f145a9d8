/*-------------------------------------------------------------------------
 *
 * hg_cpu_match.c
 *	  Matches two sides on the CPU: probe intersect (Algorithm 3) and standard.
 *
 * The work is divided into units. A unit is a bin, whose graphs are built first (hg_cpu_graph.c).
 * If the outer rows are not in bins, one unit has all of them, and build has made its graphs. In a
 * shared job, units are handed out to the participants, and may be a part of a bin's outer rows
 * (hg_cpu_participants.c).
 *
 * Intersect walks the edges of the outer graph. They are in the order of their vertices, so that
 * this is Algorithm 3's walk over all vertices in ascending order, without steps for empty lists:
 * for each edge of a vertex's outer list, it finds the equal ones of the inner list. So both
 * graphs are read from front to back. Standard walks the outer rows in the order of the bin, or as
 * they were appended, and looks them up at random positions.
 *
 * Either way rows are taken in groups: first the inner lists of the whole group are found, then
 * they are compared. The loads of a group do not depend on each other, so that cache misses
 * overlap. There are prefetches between the steps if the inner graph may not be in the cache.
 *
 * Nearly all lists are short, but how short cannot be predicted: of the lists that rows with a
 * partner meet at load factor 1, a quarter have more than two edges. Comparing the first few edges
 * of a list regardless of its length takes a few instructions, fewer if they fit a vector
 * register, and no branch that could be mispredicted. The result is a number by which the count,
 * or the position in the output, advances. Longer lists branch off: up to HG_CPU_SORTED_LIST they
 * are compared edge by edge, beyond they are sorted and searched. For rows whose lists are not the
 * shortest, the caller can say that it needs no more matches (hg_finished.h).
 *
 * A cursor holds the position of the stream, down to an edge of a list. So a chunk may end
 * anywhere, and only the cursor and the unit's graphs are kept between two chunks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_phases.h"

#include "../hg_features.h"
#include "../hg_hash.h"
#include "../hg_finished.h"
#include "hg_cpu_bits.h"
#include "hg_cpu_participants.h"

#ifdef HG_CPU_X86
#include <immintrin.h>
#endif

/* cursor->last_low before the first list: no list starts there. */
#define NO_LIST UINT32_MAX

void
hg_cpu_cursor_init(HgCpuCursor *cursor, HgMatchMode mode)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->mode = mode;
}

/* Adds rows, and polls when enough were processed. */
static inline HgStatus
cursor_work(HgJob *job, HgCpuCursor *cursor, uint32_t rows, HgError *error)
{
	cursor->work += rows;
	if (cursor->work < HG_CPU_POLL_ROWS)
		return HG_OK;
	cursor->work = 0;
	return hg_host_poll(&job->base, error);
}

/*
 * Starts a unit: edges from .. from + rows - 1 of the outer rows of a bin. The inner graph of the
 * last unit is reused if it is of the same bin.
 */
static HgStatus
unit_begin_bin(HgJob *job, HgCpuCursor *cursor, uint32_t bin, uint64_t from, uint64_t rows,
			   HgError *error)
{
	bool intersect = job->shape.probe == HG_PROBE_INTERSECT;
	uint64_t inner_rows = hg_cpu_bin_rows(&job->sides[HG_INNER], bin);
	HgStatus status = HG_OK;

	if (inner_rows == 0 || rows == 0)
		return HG_OK;
	if (job->graphs[HG_INNER].bin != bin)
		status = hg_cpu_graph_bin(job, HG_INNER, bin, 0, inner_rows, error);
	if (status == HG_OK && intersect)
		status = hg_cpu_graph_bin(job, HG_OUTER, bin, from, rows, error);
	if (status == HG_OK && !intersect)
		hg_cpu_walk_init(&cursor->walk, &job->sides[HG_OUTER], bin, from, rows);
	cursor->in_unit = status == HG_OK;
	return status;
}

/* Starts the next unit that may have matches; cursor->in_unit is false if there is none. */
static HgStatus
unit_next(HgJob *job, HgCpuCursor *cursor, HgError *error)
{
	uint64_t bins = UINT64_C(1) << job->shape.bins_log2;
	HgStatus status = HG_OK;

	cursor->in_unit = false;
	cursor->next_edge = 0;
	cursor->last_low = NO_LIST;
	cursor->run_low = NO_LIST;
	if (!job->sides[HG_OUTER].binned)
	{
		cursor->in_unit = cursor->next_bin == 0;
		cursor->next_bin = 1;
		hg_cpu_scan_init(&cursor->scan, &job->base.sides[HG_OUTER]);
		return HG_OK;
	}

	while (!cursor->in_unit && status == HG_OK)
	{
		uint32_t bin;
		uint64_t from = 0;
		uint64_t rows;

		if (job->participants != NULL)
		{
			if (!hg_cpu_participants_take(job, &bin, &from, &rows))
				break;
		}
		else
		{
			if (cursor->next_bin == bins)
				break;
			bin = (uint32_t) cursor->next_bin++;
			rows = hg_cpu_bin_rows(&job->sides[HG_OUTER], bin);
		}
		status = cursor_work(job, cursor, (uint32_t) job->sides[HG_OUTER].run_count + 1, error);
		if (status == HG_OK)
			status = unit_begin_bin(job, cursor, bin, from, rows, error);
	}
	return status;
}

/* Adds the cursor's counters to the statistics. */
static void
cursor_report(HgJob *job, HgCpuCursor *cursor)
{
	job->base.stats.comparisons += cursor->comparisons;
	job->base.stats.intersections += cursor->lists;
	cursor->comparisons = 0;
	cursor->lists = 0;
}

#define KEY HG_CPU_T(HgCpuKey)
#define EDGE HG_CPU_T(HgCpuEdge)
#define MIXED HG_CPU_T(hg_cpu_mixed)
#define GROUP_KEYS(cursor) ((cursor)->u.HG_CPU_T(mixed))
#define PASTE3(name, bits, isa) name##bits##_##isa
#define PASTE2(name, bits, isa) PASTE3(name, bits, isa)
#define KERNEL(name) PASTE2(name, HG_KEY_BITS, HG_ISA)
#define EQUAL_EDGES KERNEL(equal_edges)
#define WRITE_EDGES KERNEL(write_edges)

/* Plain instructions: four edges at once. */
#define HG_ISA portable
#define HG_TARGET
#define SHORT_LIST 4
#define HG_KEY_BITS 32
#include "hg_cpu_match_portable.h"
#include "hg_cpu_match_kernels.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_cpu_match_portable.h"
#include "hg_cpu_match_kernels.h"
#undef HG_KEY_BITS
#undef SHORT_LIST
#undef HG_ISA
#undef HG_TARGET

#ifdef HG_CPU_X86

/* AVX-512: eight edges with keys of 4 bytes, or five of 8, are one register. */
#define HG_ISA avx512
#define HG_TARGET HG_CPU_TARGET_AVX512

HG_TARGET static inline uint32_t
equal_edges32_avx512(const HgCpuEdge32 *list, uint32_t length, uint32_t mixed)
{
	__m512i edges = _mm512_and_si512(_mm512_loadu_si512(list), _mm512_set1_epi64(UINT32_MAX));

	return _mm512_cmpeq_epi64_mask(edges, _mm512_set1_epi64(mixed)) & ((1U << length) - 1);
}

HG_TARGET static inline void
write_edges32_avx512(const HgCpuEdge32 *list, uint32_t equal, uint32_t *inner)
{
	__m512i rows = _mm512_srli_epi64(_mm512_loadu_si512(list), 32);

	_mm256_storeu_si256((__m256i *) inner,
						_mm256_maskz_compress_epi32((__mmask8) equal, _mm512_cvtepi64_epi32(rows)));
}

/* The first word of each edge in a register of 16 words. */
#define EDGES64_FIRST 0x1249

HG_TARGET static inline uint32_t
equal_edges64_avx512(const HgCpuEdge64 *list, uint32_t length, uint64_t mixed)
{
	__m512i wanted = _mm512_mask_set1_epi32(_mm512_set1_epi32((int) (uint32_t) mixed),
											EDGES64_FIRST << 1, (int) (uint32_t) (mixed >> 32));
	uint32_t words = _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(list), wanted);

	return _pext_u32(words & words >> 1, EDGES64_FIRST) & ((1U << length) - 1);
}

HG_TARGET static inline void
write_edges64_avx512(const HgCpuEdge64 *list, uint32_t equal, uint32_t *inner)
{
	__mmask16 rows = (__mmask16) (_pdep_u32(equal, EDGES64_FIRST) << 2);

	_mm512_mask_storeu_epi32(inner, 0x1f,
							 _mm512_maskz_compress_epi32(rows, _mm512_loadu_si512(list)));
}

#define HG_KEY_BITS 32
#define SHORT_LIST 8
#include "hg_cpu_match_kernels.h"
#undef SHORT_LIST
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#define SHORT_LIST 5
#include "hg_cpu_match_kernels.h"
#undef SHORT_LIST
#undef HG_KEY_BITS
#undef HG_ISA
#undef HG_TARGET
#endif

typedef uint32_t (*CountKernel)(HgCpuCursor *cursor, const void *edges, uint32_t *longer,
								uint64_t *matches);
typedef void (*WriteKernel)(HgCpuCursor *cursor, const void *edges, HgMatches *matches);

/* The kernels for a key width. */
typedef struct Kernels
{
	CountKernel count;
	WriteKernel write;
} Kernels;

static inline Kernels
choose_kernels(int key_bits)
{
#ifdef HG_CPU_X86
	if (hg_cpu_features() >= HG_CPU_AVX512)
		return key_bits == 32 ? (Kernels){count_short32_avx512, write_short32_avx512}
							  : (Kernels){count_short64_avx512, write_short64_avx512};
#endif
	return key_bits == 32 ? (Kernels){count_short32_portable, write_short32_portable}
						  : (Kernels){count_short64_portable, write_short64_portable};
}

#define HG_KEY_BITS 32
#include "hg_cpu_match_impl.h"
#undef HG_KEY_BITS

#define HG_KEY_BITS 64
#include "hg_cpu_match_impl.h"
#undef HG_KEY_BITS

HgStatus
hg_cpu_next(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error)
{
	HgStatus status;

	matches->count = 0;
	status = job->base.spec.key_width == 4 ? next32(job, cursor, matches, error)
										   : next64(job, cursor, matches, error);
	cursor_report(job, cursor);
	return status;
}

HgStatus
hg_cpu_count(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error)
{
	HgStatus status;

	status = job->base.spec.key_width == 4 ? count32(job, cursor, matches, error)
										   : count64(job, cursor, matches, error);
	cursor_report(job, cursor);
	return status;
}
