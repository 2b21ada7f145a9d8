/*-------------------------------------------------------------------------
 *
 * hg_cuda_edges.cu
 *	  Edges of graph replicas: widened keys, checked rows, and graphs of selected rows.
 *
 * A graph of selected rows is the other graph with the gaps closed.  Each edge has a flag, whose
 * prefix sums are the position of each selected edge, and the start of each list.  So lists keep
 * their order, and nothing is hashed or sorted.
 *
 * MEMORY: 4 bytes for each edge, until the graph is made, and the graph.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>
#include <cub/device/device_scan.cuh>

#include "../../src/engine/hg_flat.h"
#include "hg_cuda_graph.h"
#include "hg_cuda_pieces.h"
#include "hg_cuda_tuning.h"

/*
 * The kernels for edges of graph replicas.
 *
 * Each kernel works on the items first .. end - 1, a thread an item.
 */

/* Returns the item of this thread. */
__device__ __forceinline__ uint64_t
hg_edge_item(uint64_t first)
{
	return first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
}

/* wide[i] = keys[i], sign-extended. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_widen_kernel(const int32_t *keys, int64_t *wide, uint64_t first, uint64_t end)
{
	const uint64_t i = hg_edge_item(first);

	if (i < end)
		wide[i] = keys[i];
}

/*
 * found[0] becomes 1 if a row is not less than limit.  found[1] becomes at least one more than
 * each row's number within its part.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS) hg_limit_kernel(const uint32_t *rows, uint32_t limit,
													 uint64_t first, uint64_t end, uint32_t *found)
{
	const uint64_t i = hg_edge_item(first);
	uint32_t row;

	if (i >= end)
		return;
	row = rows[i];
	if (row >= limit)
		found[0] = 1;
	/* few rows exceed the maximum so far: only those need an atomic */
	if (HG_FLAT_NUMBER(row) >= *const_cast<volatile uint32_t *>(&found[1]))
		atomicMax(&found[1], HG_FLAT_NUMBER(row) + 1);
}

/* flags[i] = 1 if the row of edge i is selected, else 0. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS) hg_flag_kernel(const uint32_t *rows, const uint64_t *mask,
													uint64_t first, uint64_t end, uint32_t *flags)
{
	const uint64_t i = hg_edge_item(first);

	if (i < end)
		flags[i] = (uint32_t) (mask[rows[i] / 64] >> (rows[i] % 64)) & 1;
}

/*
 * Moves the selected edges to their positions.  positions[i] is the number of selected edges before
 * edge i, of which there is one more than edges.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_filter_kernel(const uint64_t *words, const uint32_t *rows, const uint32_t *positions,
					 uint64_t first, uint64_t end, uint64_t *words_out, uint32_t *rows_out)
{
	const uint64_t i = hg_edge_item(first);

	if (i < end)
	{
		const uint32_t position = positions[i];

		if (positions[i + 1] != position)
		{
			words_out[position] = words[i];
			rows_out[position] = rows[i];
		}
	}
}

/* Writes the offsets of the new graph: a list begins where its first edge would be. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_filter_offsets_kernel(const uint32_t *offsets, const uint32_t *positions, uint64_t first,
							 uint64_t end, uint32_t *offsets_out)
{
	const uint64_t v = hg_edge_item(first);

	if (v < end)
		offsets_out[v] = positions[offsets[v]];
}

/* Bytes of an edge with a key of 8 bytes. */
static constexpr uint64_t EDGE_BYTES = sizeof(uint64_t) + sizeof(uint32_t);

/* Addition for CUB, whose own functor had two names over time. */
struct Plus
{
	__host__ __device__ uint32_t
	operator()(uint32_t a, uint32_t b) const
	{
		return a + b;
	}
};

HgStatus
hg_cuda_edges_widen(HgCudaWork *work, const void *keys, void *wide, uint64_t count, HgError *error)
{
	return hg_cuda_launch_pieces<hg_widen_kernel, HG_STREAM_THREADS>(
		work, "hg_widen_kernel", count, HG_PIECE_ROWS, error, static_cast<const int32_t *>(keys),
		static_cast<int64_t *>(wide), HG_PIECE_FIRST, HG_PIECE_END);
}

HgStatus
hg_cuda_edges_check(HgCudaWork *work, const uint32_t *rows, uint64_t count, uint32_t limit,
					bool *below, uint32_t *numbers, HgError *error)
{
	const uint32_t *found;
	const void *host;
	uint32_t *device_found; /* [2] see hg_limit_kernel */

	*below = true;
	*numbers = 0;
	if (count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, 2, &device_found, error));
	HG_CUDA_TRY(cudaMemsetAsync(device_found, 0, 2 * sizeof(*device_found), work->stream), error);
	HG_TRY((hg_cuda_launch_pieces<hg_limit_kernel, HG_STREAM_THREADS>(
		work, "hg_limit_kernel", count, HG_PIECE_ROWS, error, rows, limit, HG_PIECE_FIRST,
		HG_PIECE_END, device_found)));
	HG_TRY(hg_cuda_read_back(work, device_found, 2 * sizeof(*device_found), &host, error));
	found = static_cast<const uint32_t *>(host);
	*below = found[0] == 0;
	*numbers = found[1];
	hg_cuda_free(work, device_found);
	return HG_OK;
}

/*
 * Replaces the flags positions[first .. end - 1], and one element behind them, by the number of set
 * flags before each.  *before is that number for first, and becomes that for end.  Waits.
 */
static HgStatus
sum_up(HgCudaWork *work, uint32_t *positions, uint64_t first, uint64_t end, uint32_t *before,
	   HgError *error)
{
	const int count = (int) (end - first) + 1;
	uint32_t *from = positions + first;
	size_t bytes = 0;
	const void *host;
	void *temporary;

	HG_CUDA_TRY(cub::DeviceScan::ExclusiveScan(nullptr, bytes, from, from, Plus(), *before, count,
											   work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveScan(temporary, bytes, from, from, Plus(), *before, count,
											   work->stream),
				error);
	hg_cuda_free(work, temporary);
	HG_TRY(hg_cuda_read_back(work, positions + end, sizeof(*before), &host, error));
	memcpy(before, host, sizeof(*before));
	return HG_OK;
}

/* Sets positions[rows + 1] to the number of selected edges before each edge, and *total to all. */
static HgStatus
find_positions(HgCudaWork *work, const HgCudaGraph *graph, const uint64_t *mask,
			   uint32_t *positions, uint32_t *total, HgError *error)
{
	*total = 0;
	for (uint64_t first = 0; first < graph->rows; first += HG_PIECE_ROWS)
	{
		const uint64_t end =
			graph->rows - first < HG_PIECE_ROWS ? graph->rows : first + HG_PIECE_ROWS;

		/* the next piece begins with the element behind this one, and with the same value */
		HG_TRY((hg_cuda_launch<hg_flag_kernel>(
			work->stream, "hg_flag_kernel", hg_blocks_for(end - first, HG_STREAM_THREADS),
			HG_STREAM_THREADS, error, graph->edge_rows, mask, first, end, positions)));
		HG_CUDA_TRY(cudaMemsetAsync(positions + end, 0, sizeof(*positions), work->stream), error);
		HG_TRY(sum_up(work, positions, first, end, total, error));
	}
	return HG_OK;
}

HgStatus
hg_cuda_edges_filter(HgCudaWork *work, const HgCudaGraph *graph, const uint64_t *mask,
					 HgCudaGraph *filtered, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << graph->vertices_log2) + 1;
	const uint64_t *words = static_cast<const uint64_t *>(graph->edge_words);
	uint64_t *words_out;
	uint32_t *positions;
	uint32_t total;

	*filtered = *graph;
	filtered->offsets = filtered->edge_rows = nullptr;
	filtered->edge_words = nullptr;
	HG_TRY(hg_cuda_alloc_array(work, graph->rows + 1, &positions, error));
	HG_CUDA_TRY(cudaMemsetAsync(positions, 0, sizeof(*positions), work->stream), error);
	HG_TRY(find_positions(work, graph, mask, positions, &total, error));

	filtered->rows = total;
	HG_TRY(hg_cuda_alloc_array(work, filtered->rows, &words_out, error));
	filtered->edge_words = words_out;
	HG_TRY(hg_cuda_alloc_array(work, filtered->rows, &filtered->edge_rows, error));
	HG_TRY(hg_cuda_alloc_array(work, entries, &filtered->offsets, error));
	HG_TRY((hg_cuda_launch_pieces<hg_filter_kernel, HG_STREAM_THREADS>(
		work, "hg_filter_kernel", graph->rows, HG_PIECE_ROWS, error, words, graph->edge_rows,
		positions, HG_PIECE_FIRST, HG_PIECE_END, words_out, filtered->edge_rows)));
	HG_TRY((hg_cuda_launch_pieces<hg_filter_offsets_kernel, HG_STREAM_THREADS>(
		work, "hg_filter_offsets_kernel", entries, HG_PIECE_ROWS, error, graph->offsets, positions,
		HG_PIECE_FIRST, HG_PIECE_END, filtered->offsets)));
	hg_cuda_free(work, positions);
	return HG_OK;
}

uint64_t
hg_cuda_edges_filter_bytes(uint64_t rows, uint32_t vertices_log2, uint64_t *filtered_bytes)
{
	*filtered_bytes = rows * EDGE_BYTES + ((UINT64_C(1) << vertices_log2) + 1) * sizeof(uint32_t);
	return *filtered_bytes + (rows + 1) * sizeof(uint32_t);
}
