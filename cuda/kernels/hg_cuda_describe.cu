/*-------------------------------------------------------------------------
 *
 * hg_cuda_describe.cu
 *	  Statistics and copies of a HashGraph in device memory.
 *
 * Empty vertices and the longest list come from the offsets.  Distinct keys are counted as edges
 * whose word differs from the one before; if lists are unordered, the words are sorted for that,
 * in a copy.  Graphs are copied out in pieces, since row numbers and keys must be translated.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_graph.h"
#include "hg_cuda_tuning.h"
#include "hg_cuda_word.h"

/* Adds the empty vertices to sums[0]; sums[1] becomes at least the length of the longest list. */
static __global__ void
hg_describe_lists_kernel(const uint32_t *offsets, uint64_t first, uint64_t vertices,
						 unsigned long long *sums)
{
	uint64_t v = first + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t length = v < vertices ? offsets[v + 1] - offsets[v] : 0;
	int empty = __syncthreads_count(v < vertices && length == 0);
	typedef cub::BlockReduce<uint32_t, HG_STREAM_THREADS> Reduce;
	__shared__ typename Reduce::TempStorage storage;
	uint32_t longest =
		Reduce(storage).Reduce(length, [](uint32_t a, uint32_t b) { return a > b ? a : b; });

	if (threadIdx.x == 0)
	{
		if (empty > 0)
			atomicAdd(&sums[0], (unsigned long long) empty);
		atomicMax(&sums[1], (unsigned long long) longest);
	}
}

/* Adds the words that differ from the one before them to sums[2]: the distinct keys. */
template <typename Word>
__global__ void
hg_describe_keys_kernel(const Word *words, uint64_t first, uint64_t n, unsigned long long *sums)
{
	uint64_t i = first + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	int fresh = __syncthreads_count(i < n && (i == 0 || words[i] != words[i - 1]));

	if (threadIdx.x == 0 && fresh > 0)
		atomicAdd(&sums[2], (unsigned long long) fresh);
}

/* Threads of kernels with one edge or vertex a thread. */
static constexpr int THREADS = HG_STREAM_THREADS;

/* ------------------------------------------------------------------------
 * Statistics
 * ------------------------------------------------------------------------ */

/* Sorts words, many of them digit by digit, as hg_cuda_graph.cu sorts rows. */
template <typename Word>
static HgStatus
sort_words(HgCudaWork *work, cub::DoubleBuffer<Word> *words, uint64_t n, HgError *error)
{
	const int width = 8 * sizeof(Word);
	const int step = n > HG_SORT_AT_ONCE ? HG_SORT_DIGIT_BITS : width;
	const uint32_t count = (uint32_t) n;

	for (int low = 0; low < width; low += step)
	{
		size_t bytes = 0;
		void *temporary;

		HG_CUDA_TRY(cub::DeviceRadixSort::SortKeys(nullptr, bytes, *words, count, low, low + step,
												   work->stream),
					error);
		HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
		HG_CUDA_TRY(cub::DeviceRadixSort::SortKeys(temporary, bytes, *words, count, low, low + step,
												   work->stream),
					error);
		hg_cuda_free(work, temporary);
		HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* Adds the distinct keys of a graph to sums[2]. */
template <typename Word>
static HgStatus
count_keys(HgCudaWork *work, const HgCudaGraph *graph, unsigned long long *sums, HgError *error)
{
	const Word *words = static_cast<const Word *>(graph->edge_words);
	const uint64_t n = graph->rows;
	cub::DoubleBuffer<Word> ordered;

	/* equal keys must be neighbours to be counted once */
	if (!graph->ordered && n > 0)
	{
		HG_TRY(hg_cuda_alloc_array(work, n, &ordered.d_buffers[0], error));
		HG_TRY(hg_cuda_alloc_array(work, n, &ordered.d_buffers[1], error));
		HG_CUDA_TRY(cudaMemcpyAsync(ordered.Current(), words, n * sizeof(Word),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
		HG_TRY(sort_words(work, &ordered, n, error));
		words = ordered.Current();
	}
	for (uint64_t first = 0; first < n; first += HG_PIECE_ROWS)
	{
		uint64_t piece = n - first < HG_PIECE_ROWS ? n - first : HG_PIECE_ROWS;

		HG_TRY((hg_cuda_launch<hg_describe_keys_kernel<Word>>(
			work->stream, "hg_describe_keys_kernel", hg_blocks_for(piece, THREADS), THREADS, error,
			words, first, first + piece, sums)));
		HG_TRY(hg_cuda_wait(work, error));
	}
	hg_cuda_free(work, ordered.d_buffers[0]);
	hg_cuda_free(work, ordered.d_buffers[1]);
	return HG_OK;
}

HgStatus
hg_cuda_graph_describe(HgCudaWork *work, const HgCudaGraph *graph, HgGraphStats *stats,
					   HgError *error)
{
	const uint64_t vertices = UINT64_C(1) << graph->vertices_log2;
	unsigned long long *sums;
	unsigned long long result[3];
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, 3, &sums, error));
	HG_CUDA_TRY(cudaMemsetAsync(sums, 0, sizeof(result), work->stream), error);
	for (uint64_t first = 0; first < vertices; first += HG_PIECE_ROWS)
	{
		uint64_t piece = vertices - first < HG_PIECE_ROWS ? vertices - first : HG_PIECE_ROWS;

		HG_TRY((hg_cuda_launch<hg_describe_lists_kernel>(
			work->stream, "hg_describe_lists_kernel", hg_blocks_for(piece, THREADS), THREADS, error,
			graph->offsets, first, first + piece, sums)));
		HG_TRY(hg_cuda_wait(work, error));
	}
	if (graph->key_width == 4)
		HG_TRY(count_keys<uint32_t>(work, graph, sums, error));
	else
		HG_TRY(count_keys<uint64_t>(work, graph, sums, error));
	HG_TRY(hg_cuda_read_back(work, sums, sizeof(result), &host, error));
	memcpy(result, host, sizeof(result));
	hg_cuda_free(work, sums);

	stats->vertices = vertices;
	stats->edges = graph->rows;
	stats->empty_vertices = result[0];
	stats->longest_list = result[1];
	stats->distinct_keys = result[2];
	stats->bytes =
		(vertices + 1) * sizeof(uint32_t) + graph->rows * (graph->key_width + sizeof(uint32_t));
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Copies
 * ------------------------------------------------------------------------ */

/* Copies an array to the caller, in pieces, with checks for cancellation between them. */
static HgStatus
copy_out(HgCudaWork *work, const void *from, void *to, uint64_t bytes, HgError *error)
{
	const uint64_t piece_bytes = HG_APPEND_KEYS * sizeof(uint64_t);

	for (uint64_t at = 0; at < bytes; at += piece_bytes)
	{
		uint64_t piece = bytes - at < piece_bytes ? bytes - at : piece_bytes;

		HG_TRY(hg_cuda_wait(work, error));
		HG_CUDA_TRY(cudaMemcpyAsync(static_cast<unsigned char *>(to) + at,
									static_cast<const unsigned char *>(from) + at, piece,
									cudaMemcpyDeviceToHost, work->stream),
					error);
		HG_TRY(hg_cuda_finish(work, error));
	}
	return HG_OK;
}

/* Copies the row numbers of a graph's edges to the caller. */
static HgStatus
copy_rows(HgCudaWork *work, const HgCudaGraph *graph, HgCudaNumbers *numbers, uint32_t *edge_rows,
		  HgError *error)
{
	uint32_t *rows;

	HG_TRY(hg_cuda_alloc_array(work, HG_APPEND_KEYS, &rows, error));
	for (uint64_t at = 0; at < graph->rows; at += HG_APPEND_KEYS)
	{
		uint64_t piece = graph->rows - at < HG_APPEND_KEYS ? graph->rows - at : HG_APPEND_KEYS;

		HG_CUDA_TRY(cudaMemcpyAsync(rows, graph->edge_rows + at, piece * sizeof(uint32_t),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
		HG_TRY(hg_cuda_numbers_translate(work, numbers, rows, piece, error));
		HG_TRY(copy_out(work, rows, edge_rows + at, piece * sizeof(uint32_t), error));
	}
	hg_cuda_free(work, rows);
	return HG_OK;
}

HgStatus
hg_cuda_graph_export(HgCudaWork *work, const HgCudaGraph *graph, HgCudaNumbers *numbers,
					 uint32_t *offsets, void *edge_keys, uint32_t *edge_rows, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << graph->vertices_log2) + 1;
	const uint32_t width = graph->key_width;
	void *keys;

	HG_TRY(copy_out(work, graph->offsets, offsets, entries * sizeof(uint32_t), error));
	HG_TRY(copy_rows(work, graph, numbers, edge_rows, error));

	/* edges have mixed words; the caller gets keys */
	HG_TRY(hg_cuda_alloc(work, HG_APPEND_KEYS * width, &keys, error));
	for (uint64_t at = 0; at < graph->rows; at += HG_APPEND_KEYS)
	{
		uint64_t piece = graph->rows - at < HG_APPEND_KEYS ? graph->rows - at : HG_APPEND_KEYS;

		HG_TRY(hg_cuda_unmix(work, width,
							 static_cast<unsigned char *>(graph->edge_words) + at * width, keys,
							 piece, error));
		HG_TRY(copy_out(work, keys, static_cast<unsigned char *>(edge_keys) + at * width,
						piece * width, error));
	}
	hg_cuda_free(work, keys);
	return HG_OK;
}
