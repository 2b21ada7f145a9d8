/*-------------------------------------------------------------------------
 *
 * hg_cuda_both_kernels.h
 *	  The kernels that build the HashGraphs of both sides: hg_cuda_both.cu says when each runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BOTH_KERNELS_H
#define HG_CUDA_BOTH_KERNELS_H

#include "hg_cuda_bins_kernels.h"

/* Numbers about the bins of a build, by the rows of both sides together. */
struct HgBothSurvey
{
	uint32_t wide;		   /* bins that fit only wide blocks */
	uint32_t rest;		   /* bins that fit no block */
	uint32_t rest_rows[2]; /* by HgSide: rows of the latter */
};

/*
 * Lists the bins that fit only wide blocks, from the front of list[bins], and those that fit no
 * block, from its end, a thread a bin.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_both_survey_kernel(const uint32_t *inner_starts, const uint32_t *outer_starts, uint32_t bins,
						  uint32_t narrow_rows, uint32_t wide_rows, uint32_t *list,
						  HgBothSurvey *survey)
{
	const uint32_t bin = blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (bin >= bins)
		return;

	const uint32_t inner = inner_starts[bin + 1] - inner_starts[bin];
	const uint32_t outer = outer_starts[bin + 1] - outer_starts[bin];
	const uint64_t rows = (uint64_t) inner + outer;

	if (rows > wide_rows)
	{
		list[bins - 1 - atomicAdd(&survey->rest, 1u)] = bin;
		atomicAdd(&survey->rest_rows[HG_INNER], inner);
		atomicAdd(&survey->rest_rows[HG_OUTER], outer);
	}
	else if (rows > narrow_rows)
		list[atomicAdd(&survey->wide, 1u)] = bin;
}

/* Returns the dynamic shared memory of hg_both_kernel: two lists, edge words and rows. */
template <typename Word>
constexpr size_t
hg_both_shared_bytes(uint32_t bin_vertices, uint32_t rows)
{
	return hg_bins_shared_bytes<Word>(bin_vertices, rows) +
		   hg_bins_list_room(bin_vertices) * sizeof(uint32_t);
}

/* One side of hg_both_kernel: its rows in bins, and the graph they become, in device memory. */
template <typename Word> struct HgBothSide
{
	const Word *words;
	const uint32_t *rows;
	const uint32_t *starts;
	Word *edge_words; /* [rows of all bins]; must not be the array words */
	uint32_t *edge_rows;
	uint32_t *offsets; /* of the vertices of all bins */
};

/* Parameters of hg_both_kernel. */
template <typename Word> struct HgBoth
{
	HgBothSide<Word> inner;
	HgBothSide<Word> outer;
	const uint32_t *bins; /* the bin of each block; NULL: first_bin + the block's number */
	uint32_t first_bin;
	uint32_t shift;		   /* 32 - log2 of the vertices of all bins */
	uint32_t bin_vertices; /* vertices of one bin */
	uint32_t room;		   /* most rows of both sides of a bin together */

	bool matched;		 /* also look the outer rows up */
	bool first_only;	 /* a row has at most one match */
	uint32_t *outer_out; /* [capacity] pairs; NULL: count only */
	uint32_t *inner_out;
	uint64_t capacity;
	HgBinsCounters *counters;
};

/* Writes offsets[v] of the vertices of a bin, whose first edge is edge start of the graph. */
template <int THREADS>
__device__ __forceinline__ void
hg_both_offsets(const uint32_t *lists, uint32_t bin_vertices, uint32_t start, uint32_t *offsets)
{
	for (uint32_t v = threadIdx.x; v < bin_vertices; v += THREADS)
		offsets[v] = start + (lists[v] & 0xffff) - (lists[v] >> 16);
}

/*
 * Builds the graphs of both sides of a bin, and joins them, a block a bin.
 *
 * The block runs Algorithm 1 of the paper for either side in shared memory.  It writes the edges
 * to the positions that their rows have in the partition, and the offsets of the bin's vertices.
 * If matched, it then looks each outer edge up in the inner list of its vertex, as
 * hg_bins_join_kernel does with rows, and writes the pairs in the same way.
 *
 * Bins with more than room rows are left out.  HOT: one key may have most rows of a bin.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Word, int THREADS, bool HOT>
__global__ void
__launch_bounds__(THREADS, hg_both_blocks(THREADS)) hg_both_kernel(const HgBoth<Word> both)
{
	constexpr uint32_t UNIT_ROWS = THREADS * HG_BINS_ITEMS;
	extern __shared__ __align__(16) unsigned char hg_shared[];
	__shared__ HgBinsTally<THREADS> tally;

	const uint32_t bin = both.bins == nullptr ? both.first_bin + blockIdx.x : both.bins[blockIdx.x];
	const uint32_t inner_start = both.inner.starts[bin];
	const uint32_t outer_start = both.outer.starts[bin];
	const uint32_t inner_rows = both.inner.starts[bin + 1] - inner_start;
	const uint32_t outer_rows = both.outer.starts[bin + 1] - outer_start;

	if ((uint64_t) inner_rows + outer_rows > both.room)
		return;

	const uint32_t list_room = hg_bins_list_room(both.bin_vertices);
	uint32_t *lists = reinterpret_cast<uint32_t *>(hg_shared);
	uint32_t *outer_lists = lists + list_room;
	Word *edge_words = reinterpret_cast<Word *>(outer_lists + list_room);
	uint32_t *edge_rows = reinterpret_cast<uint32_t *>(edge_words + both.room + 2);
	Word *outer_words = edge_words + inner_rows; /* behind the inner edges */
	uint32_t *outer_edge_rows = edge_rows + inner_rows;

	const size_t first_vertex = (size_t) bin * both.bin_vertices;
	const uint32_t thread = threadIdx.x;
	const uint32_t mask = both.bin_vertices - 1;
	uint32_t comparisons = 0;
	uint32_t intersections = 0;
	uint32_t turn = 0;

	hg_bins_tally_begin(&tally);
	hg_bins_build<Word, THREADS, HOT>(both.inner.words + inner_start, both.inner.rows + inner_start,
									  inner_rows, both.shift, both.bin_vertices, lists, edge_words,
									  edge_rows);
	hg_bins_build<Word, THREADS, HOT>(both.outer.words + outer_start, both.outer.rows + outer_start,
									  outer_rows, both.shift, both.bin_vertices, outer_lists,
									  outer_words, outer_edge_rows);
	hg_both_offsets<THREADS>(lists, both.bin_vertices, inner_start,
							 both.inner.offsets + first_vertex);
	hg_both_offsets<THREADS>(outer_lists, both.bin_vertices, outer_start,
							 both.outer.offsets + first_vertex);
	for (uint32_t i = thread; i < inner_rows; i += THREADS)
	{
		both.inner.edge_words[inner_start + i] = edge_words[i];
		both.inner.edge_rows[inner_start + i] = edge_rows[i];
	}

	for (uint32_t unit = 0; unit < outer_rows; unit += UNIT_ROWS)
	{
		Word word[HG_BINS_ITEMS];
		uint32_t row[HG_BINS_ITEMS];
		uint32_t list[HG_BINS_ITEMS];
		uint32_t found[HG_BINS_ITEMS]; /* see hg_bins_find */
		uint32_t matches = 0;
		uint32_t of_warp;

#pragma unroll
		for (int k = 0; k < HG_BINS_ITEMS; k++)
		{
			const uint32_t i = unit + k * THREADS + thread;

			word[k] = 0;
			list[k] = 0;
			if (i < outer_rows)
			{
				word[k] = outer_words[i];
				list[k] = lists[hg_word_vertex(word[k], both.shift) & mask];
				both.outer.edge_words[outer_start + i] = word[k];
				both.outer.edge_rows[outer_start + i] = outer_edge_rows[i];
			}
		}
		if (!both.matched)
			continue;
		hg_bins_find<Word>(word, list, edge_words, both.first_only, found, &matches, &comparisons,
						   &intersections);

		const uint64_t position =
			hg_bins_take_room(&tally, turn, matches, false, nullptr, both.counters, &of_warp);

		turn ^= 1;
		/* row numbers are read late, which takes fewer registers */
		if (both.outer_out == nullptr || of_warp == 0)
			continue;
#pragma unroll
		for (int k = 0; k < HG_BINS_ITEMS; k++)
		{
			const uint32_t i = unit + k * THREADS + thread;

			row[k] = i < outer_rows ? outer_edge_rows[i] : 0;
		}
		hg_bins_write<Word>(word, row, list, found, edge_words, edge_rows, (long long) position,
							(long long) both.capacity, both.outer_out, both.inner_out, nullptr, 0);
	}

	if (both.matched)
		hg_bins_tally_end(&tally, comparisons, intersections, both.counters);
}

/* Adds the vertices first .. end - 1 that have edges in both graphs to *common. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_common_kernel(const uint32_t *inner_offsets, const uint32_t *outer_offsets, uint64_t first,
					 uint64_t end, unsigned long long *common)
{
	const uint64_t v = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const int count = __syncthreads_count(v < end && inner_offsets[v] < inner_offsets[v + 1] &&
										  outer_offsets[v] < outer_offsets[v + 1]);

	if (threadIdx.x == 0 && count > 0)
		atomicAdd(common, (unsigned long long) count);
}

#endif /* HG_CUDA_BOTH_KERNELS_H */
