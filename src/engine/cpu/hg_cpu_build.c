/*-------------------------------------------------------------------------
 *
 * hg_cpu_build.c
 *	  Build of HashGraphs on the CPU: Algorithms 1 and 2 of the paper.
 *
 * V1 (Algorithm 1) has three steps over all rows: count the edges of every
 * vertex, turn the counts into offsets by a prefix sum, and put every row into
 * the next free place of its vertex's list.  Counting and placing touch memory at
 * random, so that a graph that does not fit the cache pays two cache misses, and
 * as often two TLB misses, for each row.
 *
 * V2 (Algorithm 2) first moves the rows into bins, consecutive ranges of vertices
 * that fit the cache, and then runs the three steps of V1 inside one bin after
 * another:
 *
 *	1. count the rows of every bin; a prefix sum gives where each bin starts;
 *	2. move each row, as an edge with its mixed key, to the next free place of its
 *	   bin.  Writing single edges to a thousand places at once would miss the TLB
 *	   on each of them, so that every bin has a line of a few edges in the cache,
 *	   which goes to memory when it is full, past the cache;
 *	3. in each bin: copy its edges aside, count, prefix sum, and put them back in
 *	   the order of their vertices.
 *
 * As a bin is a range of vertices, its edges in the finished graph stand where
 * the bin itself stood: there is no second array, only room for the biggest bin.
 *
 * Offsets.  While a range of vertices is built, the count of vertex v is kept in
 * offsets[v + 2]; the prefix sum leaves the start of v's list in offsets[v + 1],
 * and placing moves it on to the end of that list, which is the start of the
 * next: the offsets are finished without a separate array of cursors.  Hence the
 * one entry more than the paper's V + 1.  Bins are built in ascending order, since
 * each leaves a value of its own in the entry after its last, where the next bin
 * starts.
 *
 * Both keep the rows of a list in ascending order, and then sort the lists that
 * are long by their keys (hg_cpu_internal.h says why).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_internal.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/*
 * What a bin's edges and offsets may take: with the copy of its edges they
 * should stay in the level 2 cache, which has 1 MB or more on the machines of
 * today and 256 kB on old ones.
 */
#define BIN_BYTES (256 * 1024)

/* Up to this size the level 3 cache holds everything, and bins are a loss. */
#define BINNED_FROM (16 * 1024 * 1024)

static const HgShapeLimits cpu_limits = {
	.bin_bytes = BIN_BYTES,
	.binned_from = BINNED_FROM,
	.max_bins_log2 = HG_MAX_BINS_LOG2,
};

/* The smaller of what is left and what fits between two polls. */
static inline uint64_t
poll_step(uint64_t left)
{
	return left < HG_CPU_POLL_ROWS ? left : HG_CPU_POLL_ROWS;
}

/* Set n entries of offsets to 0. */
static HgStatus
offsets_clear(HgJob *job, uint32_t *offsets, uint64_t n, HgError *error)
{
	uint64_t step;

	for (uint64_t i = 0; i < n; i += step)
	{
		HgStatus status = hg_cpu_poll(job, error);

		if (status != HG_OK)
			return status;
		step = poll_step(n - i);
		memset(offsets + i, 0, step * sizeof(uint32_t));
	}
	return HG_OK;
}

/*
 * Turn the n counts in offsets[0..n) into running sums from start on, and raise
 * *longest to the biggest count.
 */
static HgStatus
offsets_sum(HgJob *job, uint32_t *offsets, uint64_t n, uint32_t start, uint32_t *longest,
			HgError *error)
{
	uint32_t sum = start;
	uint32_t most = *longest;
	uint64_t step;

	for (uint64_t i = 0; i < n; i += step)
	{
		HgStatus status = hg_cpu_poll(job, error);

		if (status != HG_OK)
			return status;
		step = poll_step(n - i);
		for (uint64_t k = i; k < i + step; k++)
		{
			uint32_t count = offsets[k];

			most = count > most ? count : most;
			sum += count;
			offsets[k] = sum;
		}
	}
	*longest = most;
	return HG_OK;
}

/*
 * Bytes to memory without reading it first: bytes is a multiple of 64 and both
 * are aligned to 64.
 */
static inline void
stream_copy(void *to, const void *from, size_t bytes)
{
#if defined(__SSE2__)
	for (size_t i = 0; i < bytes; i += 16)
		_mm_stream_si128((__m128i *) ((char *) to + i),
						 _mm_load_si128((const __m128i *) ((const char *) from + i)));
#else
	memcpy(to, from, bytes);
#endif
}

/* What stream_copy wrote is there for plain reads. */
static inline void
stream_end(void)
{
#if defined(__SSE2__)
	_mm_sfence();
#endif
}

#define HG_KEY_BITS 32
#define HG_LINE_EDGES 8 /* one line of 64 bytes */
#include "hg_cpu_build_impl.h"
#undef HG_KEY_BITS
#undef HG_LINE_EDGES

#define HG_KEY_BITS 64
#define HG_LINE_EDGES 16 /* three lines */
#include "hg_cpu_build_impl.h"
#undef HG_KEY_BITS
#undef HG_LINE_EDGES

/* Allocate the graph of a side. */
static HgStatus
side_alloc_graph(HgJob *job, HgCpuSide *side, HgError *error)
{
	size_t edge_size = job->spec.key_width == 4 ? sizeof(HgCpuEdge32) : sizeof(HgCpuEdge64);
	uint64_t vertices = UINT64_C(1) << job->shape.vertices_log2;
	HgStatus status;
	void *memory;

	side->edges_bytes = (side->rows + HG_CPU_EDGE_PADDING) * edge_size;
	status = hg_cpu_alloc(job, side->edges_bytes, &side->edges, error);
	if (status != HG_OK)
		return status;

	/* read, but never by itself the reason for anything */
	memset((char *) side->edges + side->rows * edge_size, 0, HG_CPU_EDGE_PADDING * edge_size);

	side->offsets_bytes = (vertices + 2) * sizeof(uint32_t);
	status = hg_cpu_alloc(job, side->offsets_bytes, &memory, error);
	side->offsets = memory;
	return status;
}

/*
 * Build the graphs that the probe needs, in the shape chosen here.  On failure
 * the job holds what it held at that moment, for close to free.
 */
HgStatus
hg_cpu_build(HgJob *job, HgError *error)
{
	job->shape = hg_shape_choose(&job->spec, &cpu_limits, job->sides[HG_OUTER].rows,
								 job->sides[HG_INNER].rows);
	job->stats.vertices = UINT64_C(1) << job->shape.vertices_log2;
	job->stats.bins = UINT64_C(1) << job->shape.bins_log2;
	job->stats.ranges = 1;
	job->stats.build = job->shape.build;
	job->stats.probe = job->shape.probe;

	for (int i = 0; i < 2; i++)
	{
		HgCpuSide *side = &job->sides[i];
		HgStatus status;

		if (i == HG_OUTER && job->shape.probe == HG_PROBE_STANDARD)
			continue;
		status = side_alloc_graph(job, side, error);
		if (status != HG_OK)
			return status;
		status = job->spec.key_width == 4 ? build_side32(job, side, error)
										  : build_side64(job, side, error);
		if (status != HG_OK)
			return status;
	}
	return HG_OK;
}
