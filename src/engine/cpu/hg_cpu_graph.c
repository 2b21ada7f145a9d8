/*-------------------------------------------------------------------------
 *
 * hg_cpu_graph.c
 *	  Builds a HashGraph on the CPU: Algorithm 1 of the paper.
 *
 * V1 (Algorithm 1) has three steps over all rows: count the edges of every vertex, turn the counts
 * into offsets by a prefix sum, and put every row into the next free position of its vertex's
 * list. Counting and placing access memory at random, so that a graph that does not fit the cache
 * pays two cache misses, and as often two TLB misses, for each row.
 *
 * V2 (Algorithm 2) first copies the rows into bins, consecutive ranges of vertices that fit the
 * cache (hg_cpu_run.c), and then runs the three steps of V1 for one bin after another. Here a
 * bin's graph is built right before its matches are returned, in memory that the bin before has
 * used: it is only ever in the cache. The rows of a bin are read from all runs, one after the
 * other, twice; the second time they are in the cache as well. V1 is the same for one bin whose
 * rows are the appended keys.
 *
 * OFFSETS. While a graph is built, offsets[v + 2] holds the count of vertex v. The prefix sum
 * leaves the start of v's list in offsets[v + 1], and placing moves it to the end of that list,
 * which is the start of the next. So the offsets are finished without an array of cursors, and
 * have one entry more than the paper's V + 1.
 *
 * The rows of a list keep the order in which they were read, but long lists are sorted by key
 * (hg_cpu_job.h says why).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_phases.h"

#include "../hg_hash.h"
#include "hg_cpu_side.h"

/* Returns the smaller of what is left and what fits between two polls. */
static inline uint64_t
poll_step(uint64_t left)
{
	return left < HG_CPU_POLL_ROWS ? left : HG_CPU_POLL_ROWS;
}

/* Adds rows, and polls when enough were processed. */
static inline HgStatus
work_done(HgJob *job, uint32_t *work, uint32_t rows, HgError *error)
{
	*work += rows;
	if (*work < HG_CPU_POLL_ROWS)
		return HG_OK;
	*work = 0;
	return hg_host_poll(&job->base, error);
}

/* Sets n entries of offsets to 0. */
static HgStatus
offsets_clear(HgJob *job, uint32_t *offsets, uint64_t n, HgError *error)
{
	uint64_t step;

	for (uint64_t i = 0; i < n; i += step)
	{
		HG_TRY(hg_host_poll(&job->base, error));
		step = poll_step(n - i);
		memset(offsets + i, 0, step * sizeof(uint32_t));
	}
	return HG_OK;
}

HgStatus
hg_cpu_offsets_sum(HgJob *job, uint32_t *offsets, uint64_t n, uint32_t *longest, HgError *error)
{
	uint32_t sum = 0;
	uint32_t most = 0;
	uint64_t step;

	for (uint64_t i = 0; i < n; i += step)
	{
		HG_TRY(hg_host_poll(&job->base, error));
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

#define HG_KEY_BITS 32
#include "hg_cpu_graph_impl.h"
#undef HG_KEY_BITS

#define HG_KEY_BITS 64
#include "hg_cpu_graph_impl.h"
#undef HG_KEY_BITS

/* Returns the vertices of one graph: of a bin, or all. */
static uint64_t
graph_vertices(const HgJob *job)
{
	return UINT64_C(1) << (job->shape.vertices_log2 - job->shape.bins_log2);
}

HgStatus
hg_cpu_graph_reserve(HgJob *job, HgSide which, uint64_t rows, HgError *error)
{
	HgCpuGraph *graph = &job->graphs[which];
	HgStatus status;
	void *memory;

	graph->bin = HG_CPU_NO_BIN;
	graph->edges_bytes = (rows + HG_CPU_EDGE_PADDING) * hg_cpu_edge_size(job);
	HG_TRY(hg_host_alloc(&job->base, graph->edges_bytes, &graph->edges, error));
	graph->offsets_bytes = (graph_vertices(job) + 2) * sizeof(uint32_t);
	status = hg_host_alloc(&job->base, graph->offsets_bytes, &memory, error);
	graph->offsets = memory;
	return status;
}

/* Builds from one of the two sources. */
static HgStatus
graph_build(HgJob *job, HgSide which, uint32_t bin, uint64_t rows, const HgCpuScan *scan,
			const HgCpuWalk *walk, HgError *error)
{
	HgCpuGraph *graph = &job->graphs[which];
	double start = hg_clock_ms();
	uint64_t vertices = graph_vertices(job);
	HgStatus status;

	graph->bin = HG_CPU_NO_BIN;
	graph->edges_count = (uint32_t) rows;
	status = job->base.spec.key_width == 4 ? build32(job, graph, vertices, scan, walk, error)
										   : build64(job, graph, vertices, scan, walk, error);
	if (status == HG_OK)
		graph->bin = bin;
	job->base.stats.phase_ms[HG_PHASE_BUILD] += hg_clock_ms() - start;
	return status;
}

HgStatus
hg_cpu_graph_bin(HgJob *job, HgSide which, uint32_t bin, uint64_t from, uint64_t rows,
				 HgError *error)
{
	HgCpuWalk walk;

	hg_cpu_walk_init(&walk, &job->sides[which], bin, from, rows);
	return graph_build(job, which, bin, rows, NULL, &walk, error);
}

HgStatus
hg_cpu_graph_pieces(HgJob *job, HgSide which, HgError *error)
{
	HgCpuScan scan;

	hg_cpu_scan_init(&scan, &job->base.sides[which]);
	return graph_build(job, which, 0, job->base.sides[which].rows, &scan, NULL, error);
}
