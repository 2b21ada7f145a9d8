/*-------------------------------------------------------------------------
 *
 * hg_cuda_build_kernels.h
 *	  The kernels that build a HashGraph: hg_cuda_graph.cu says when each runs.
 *
 * Word is uint32_t or uint64_t, a mixed word.  shift is 32 - log2 of the number of
 * vertices (see hg_cuda_word.h).  n counts rows, and is below 2^32.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BUILD_KERNELS_H
#define HG_CUDA_BUILD_KERNELS_H

#include "hg_cuda_tuning.h"
#include "hg_cuda_word.h"

#include <cub/block/block_scan.cuh>

/* ------------------------------------------------------------------------
 * Streams
 * ------------------------------------------------------------------------ */

/* words[i] = mix(keys[i]), or, without FORWARD, unmix; both may be one array. */
template <typename Word, bool FORWARD>
__global__ void
hg_mix_kernel(const Word *keys, Word *words, uint64_t n)
{
	uint64_t first = (uint64_t) blockIdx.x * (HG_STREAM_THREADS * HG_STREAM_ITEMS) + threadIdx.x;
	Word word[HG_STREAM_ITEMS];

#pragma unroll
	for (int k = 0; k < HG_STREAM_ITEMS; k++)
		if (first + k * HG_STREAM_THREADS < n)
			word[k] = keys[first + k * HG_STREAM_THREADS];
#pragma unroll
	for (int k = 0; k < HG_STREAM_ITEMS; k++)
		if (first + k * HG_STREAM_THREADS < n)
			words[first + k * HG_STREAM_THREADS] =
				FORWARD ? hg_word_mix(word[k]) : hg_word_unmix(word[k]);
}

/* ------------------------------------------------------------------------
 * Algorithm 1 over the whole device
 * ------------------------------------------------------------------------ */

/*
 * Adds 1 to counters[vertex] for each thread of a warp that is in active, and returns the value
 * that the thread found.  Threads with the same vertex add once together: otherwise all rows of a
 * key with millions of them would queue for one word of memory.
 */
__device__ __forceinline__ uint32_t
hg_warp_increment(uint32_t active, uint32_t *counters, uint32_t vertex)
{
	uint32_t peers = __match_any_sync(active, vertex);
	uint32_t lane;
	int leader = __ffs(peers) - 1;
	uint32_t base = 0;

	asm("mov.u32 %0, %%laneid;" : "=r"(lane));
	if ((int) lane == leader)
		base = atomicAdd(&counters[vertex], (uint32_t) __popc(peers));
	base = __shfl_sync(peers, base, leader);
	return base + __popc(peers & ((1u << lane) - 1));
}

/* Phase 1: adds the rows of each vertex v to counters[v], which are 0 at first. */
template <typename Word>
__global__ void
hg_count_kernel(const Word *words, uint64_t first, uint64_t n, uint32_t shift, uint32_t *counters)
{
	uint64_t i = first + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t active = __ballot_sync(UINT32_MAX, i < n);

	if (i < n)
		hg_warp_increment(active, counters, hg_word_vertex(words[i], shift));
}

/*
 * Phase 3: puts each row at the next free position of its list.  cursors[v] is offsets[v] at
 * first.  Row i has the number rows[i], or i if rows is NULL.
 */
template <typename Word>
__global__ void
hg_scatter_kernel(const Word *words, const uint32_t *rows, uint64_t first, uint64_t n,
				  uint32_t shift, uint32_t *cursors, Word *edge_words, uint32_t *edge_rows)
{
	uint64_t i = first + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t active = __ballot_sync(UINT32_MAX, i < n);

	if (i < n)
	{
		Word word = words[i];
		uint32_t position = hg_warp_increment(active, cursors, hg_word_vertex(word, shift));

		edge_words[position] = word;
		edge_rows[position] = rows == nullptr ? (uint32_t) i : rows[i];
	}
}

/*
 * Sorts the edges low .. high - 1, one list, by their words.  Returns false, and leaves them as
 * they are, if that would take one thread too long.  A list of one key is sorted already, whatever
 * its length.
 */
template <typename Word>
__device__ __forceinline__ bool
hg_order_list(Word *words, uint32_t *rows, uint32_t low, uint32_t high)
{
	if (high - low > HG_LIST_ORDERED)
	{
		for (uint32_t i = low + 1; i < high; i++)
			if (words[i] != words[low])
				return false;
		return true;
	}

	for (uint32_t i = low + 1; i < high; i++)
	{
		Word word = words[i];
		uint32_t row = rows[i];
		uint32_t position = i;

		while (position > low && words[position - 1] > word)
		{
			words[position] = words[position - 1];
			rows[position] = rows[position - 1];
			position--;
		}
		words[position] = word;
		rows[position] = row;
	}
	return true;
}

/* Sorts the lists of vertices first .. vertices - 1; *unfinished counts those left unsorted. */
template <typename Word>
__global__ void
hg_order_kernel(const uint32_t *offsets, uint64_t first, uint64_t vertices, Word *edge_words,
				uint32_t *edge_rows, uint32_t *unfinished)
{
	uint64_t v = first + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;

	if (v < vertices)
	{
		uint32_t low = offsets[v];
		uint32_t high = offsets[v + 1];

		/* one thread should not walk a list of millions */
		if (high - low > HG_BIN_ROWS)
			atomicAdd(unfinished, 1);
		else if (high - low > 1 && !hg_order_list(edge_words, edge_rows, low, high))
			atomicAdd(unfinished, 1);
	}
}

/* ------------------------------------------------------------------------
 * Algorithm 2: bins
 * ------------------------------------------------------------------------ */

/* Returns the index of counter i in shared memory: 33 words for 32, against bank conflicts. */
__device__ __forceinline__ uint32_t
hg_padded(uint32_t i)
{
	return i + (i >> 5);
}

/* Returns the dynamic shared memory of hg_bin_build_kernel. */
template <typename Word>
constexpr size_t
hg_bin_shared_bytes(uint32_t bin_vertices)
{
	return HG_BIN_ROWS * (sizeof(Word) + sizeof(uint32_t)) +
		   (bin_vertices + bin_vertices / 32 + 2) * sizeof(uint32_t) +
		   (bin_vertices + 31) / 32 * sizeof(uint32_t);
}

/* Upper bound on the static shared memory of hg_bin_build_kernel, for its prefix sum. */
constexpr size_t HG_BIN_STATIC_SHARED = 4096;

/*
 * Runs Algorithm 1 inside one bin, in shared memory, a block a bin.  It reads the rows
 * starts[bin] .. starts[bin + 1] - 1 of words and rows, writes them back to the same positions as
 * edges, and writes the offsets of the bin's vertices.
 *
 * With ORDERED the edges of a list are sorted by their words: each row counts the words of its
 * list below its own.  That is work of the list's length for each row, all rows at once.  Long
 * lists of one key need no sort.
 *
 * A bin with more than HG_BIN_ROWS rows is left as it is.  A bin whose long list has several keys
 * leaves this list unsorted.  Both are counted in *unfinished.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Word, bool ORDERED>
__global__ void
__launch_bounds__(HG_BIN_THREADS, hg_bin_blocks(sizeof(Word)))
	hg_bin_build_kernel(const uint32_t *starts, uint32_t first_bin, uint32_t shift,
						uint32_t bin_vertices, Word *words, uint32_t *rows, uint32_t *offsets,
						uint32_t *unfinished)
{
	typedef cub::BlockScan<uint32_t, HG_BIN_THREADS> Scan;
	extern __shared__ __align__(16) unsigned char hg_shared[];
	__shared__ typename Scan::TempStorage scan_storage;
	static_assert(sizeof(scan_storage) <= HG_BIN_STATIC_SHARED, "see hg_cuda_graph.cu");

	Word *bin_words = reinterpret_cast<Word *>(hg_shared);
	uint32_t *bin_rows = reinterpret_cast<uint32_t *>(bin_words + HG_BIN_ROWS);
	uint32_t *counts = bin_rows + HG_BIN_ROWS;
	uint32_t *mixed = counts + bin_vertices + bin_vertices / 32 + 2; /* a bit for each vertex */

	const uint32_t bin = first_bin + blockIdx.x;
	const uint32_t thread = threadIdx.x;
	const uint32_t start = starts[bin];
	const uint32_t n = starts[bin + 1] - start;
	const uint32_t first_vertex = bin * bin_vertices;
	const uint32_t per_thread = (bin_vertices + HG_BIN_THREADS - 1) / HG_BIN_THREADS;
	Word word[HG_BIN_ITEMS];
	uint32_t position[HG_BIN_ITEMS];
	uint32_t sum = 0;
	uint32_t before;
	bool finished = true;

	if (n > HG_BIN_ROWS)
	{
		if (thread == 0)
			atomicAdd(unfinished, 1);
		return;
	}

#pragma unroll
	for (int k = 0; k < HG_BIN_ITEMS; k++)
		if (k * HG_BIN_THREADS + thread < n)
			word[k] = words[start + k * HG_BIN_THREADS + thread];
	for (uint32_t v = thread; v < bin_vertices; v += HG_BIN_THREADS)
		counts[hg_padded(v)] = 0;
	if (ORDERED)
		for (uint32_t v = thread; v < (bin_vertices + 31) / 32; v += HG_BIN_THREADS)
			mixed[v] = 0;
	__syncthreads();

	/* count; the value before the addition is the row's position within its list */
#pragma unroll
	for (int k = 0; k < HG_BIN_ITEMS; k++)
		if (k * HG_BIN_THREADS + thread < n)
			position[k] =
				atomicAdd(&counts[hg_padded(hg_word_vertex(word[k], shift) - first_vertex)], 1);
	__syncthreads();

	/* prefix sum; a thread sums up neighbours */
	for (uint32_t j = 0; j < per_thread; j++)
	{
		uint32_t v = thread * per_thread + j;

		if (v < bin_vertices)
			sum += counts[hg_padded(v)];
	}
	Scan(scan_storage).ExclusiveSum(sum, before);
	for (uint32_t j = 0; j < per_thread; j++)
	{
		uint32_t v = thread * per_thread + j;

		if (v < bin_vertices)
		{
			uint32_t count = counts[hg_padded(v)];

			counts[hg_padded(v)] = before;
			before += count;
		}
	}
	if (thread == 0)
		counts[hg_padded(bin_vertices)] = n;
	__syncthreads();

	/* scatter; also offsets, with the one behind the last, which the next bin writes as well */
#pragma unroll
	for (int k = 0; k < HG_BIN_ITEMS; k++)
		if (k * HG_BIN_THREADS + thread < n)
		{
			position[k] += counts[hg_padded(hg_word_vertex(word[k], shift) - first_vertex)];
			bin_words[position[k]] = word[k];
			bin_rows[position[k]] = rows[start + k * HG_BIN_THREADS + thread];
		}
	for (uint32_t v = thread; v <= bin_vertices; v += HG_BIN_THREADS)
		offsets[first_vertex + v] = start + counts[hg_padded(v)];
	__syncthreads();

	if (ORDERED)
	{
		/* mark the long lists that have several keys */
#pragma unroll
		for (int k = 0; k < HG_BIN_ITEMS; k++)
			if (k * HG_BIN_THREADS + thread < n)
			{
				uint32_t v = hg_word_vertex(word[k], shift) - first_vertex;
				uint32_t low = counts[hg_padded(v)];

				if (counts[hg_padded(v + 1)] - low > HG_LIST_SHORT && bin_words[low] != word[k])
					atomicOr(&mixed[v / 32], 1u << (v % 32));
			}
		__syncthreads();

		/* a row takes its row number along to its sorted position */
		uint32_t row[HG_BIN_ITEMS];

#pragma unroll
		for (int k = 0; k < HG_BIN_ITEMS; k++)
		{
			row[k] = UINT32_MAX; /* no row has this number: the edge stays where it is */
			if (k * HG_BIN_THREADS + thread < n)
			{
				uint32_t v = hg_word_vertex(word[k], shift) - first_vertex;
				uint32_t low = counts[hg_padded(v)];
				uint32_t high = counts[hg_padded(v + 1)];

				if (high - low == 1 ||
					(high - low > HG_LIST_SHORT && (mixed[v / 32] >> (v % 32) & 1) == 0))
					continue;
				if (high - low > HG_LIST_ORDERED)
				{
					finished = false;
					continue;
				}

				uint32_t ordered = low;

				for (uint32_t i = low; i < high; i++)
					ordered +=
						bin_words[i] < word[k] || (bin_words[i] == word[k] && i < position[k]);
				row[k] = bin_rows[position[k]];
				position[k] = ordered;
			}
		}
		__syncthreads();
#pragma unroll
		for (int k = 0; k < HG_BIN_ITEMS; k++)
			if (row[k] != UINT32_MAX)
			{
				bin_words[position[k]] = word[k];
				bin_rows[position[k]] = row[k];
			}
		if (!finished)
			atomicAdd(unfinished, 1);
		__syncthreads();
	}

#pragma unroll
	for (int k = 0; k < HG_BIN_ITEMS; k++)
	{
		uint32_t i = k * HG_BIN_THREADS + thread;

		if (i < n)
		{
			words[start + i] = bin_words[i];
			rows[start + i] = bin_rows[i];
		}
	}
}

/* Writes offsets[v] for v = first .. vertices; words are sorted. */
template <typename Word>
__global__ void
hg_offsets_kernel(const Word *words, uint32_t n, uint64_t first, uint32_t vertices_log2,
				  uint32_t *offsets)
{
	uint64_t vertices = UINT64_C(1) << vertices_log2;
	uint64_t v = first + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;

	if (v > vertices)
		return;
	if (v == 0 || v == vertices)
		offsets[v] = v == 0 ? 0 : n;
	else
		offsets[v] =
			hg_word_lower_bound(words, 0, n, hg_word_first<Word>((uint32_t) v, vertices_log2));
}

#endif /* HG_CUDA_BUILD_KERNELS_H */
