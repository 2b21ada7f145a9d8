/*-------------------------------------------------------------------------
 *
 * hg_cuda_edges_kernels.h
 *	  The kernels for edges of graph replicas: hg_cuda_edges.cu says when each runs.
 *
 * Each kernel works on the items first .. end - 1, a thread an item.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_EDGES_KERNELS_H
#define HG_CUDA_EDGES_KERNELS_H

#include "../../src/engine/hg_flat.h"
#include "hg_cuda_tuning.h"

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

#endif /* HG_CUDA_EDGES_KERNELS_H */
