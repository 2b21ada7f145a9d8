/*-------------------------------------------------------------------------
 *
 * hg_cuda_edges_kernels.h
 *	  The kernels for edges of graph replicas: hg_cuda_edges.cu tells when each runs.
 *
 * Each works on the items first .. end - 1, a thread an item.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_EDGES_KERNELS_H
#define HG_CUDA_EDGES_KERNELS_H

#include "../../src/engine/hg_flat.h"
#include "hg_cuda_tuning.h"

/* The item of this thread. */
__device__ __forceinline__ uint64_t
hg_edge_item(uint64_t first)
{
	return first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
}

/* wide[i] = keys[i], with its sign. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_widen_kernel(const int32_t *keys, int64_t *wide, uint64_t first, uint64_t end)
{
	const uint64_t i = hg_edge_item(first);

	if (i < end)
		wide[i] = keys[i];
}

/*
 * found[0] becomes 1 where a row is not below limit, and found[1] what the numbers of all rows in
 * their parts are below, where it was less.
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
	/* few are more than all before them: only these are compared again, at a time */
	if (HG_FLAT_NUMBER(row) >= *const_cast<volatile uint32_t *>(&found[1]))
		atomicMax(&found[1], HG_FLAT_NUMBER(row) + 1);
}

/* flags[i] = 1 where the row of edge i counts, else 0. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS) hg_flag_kernel(const uint32_t *rows, const uint64_t *mask,
													uint64_t first, uint64_t end, uint32_t *flags)
{
	const uint64_t i = hg_edge_item(first);

	if (i < end)
		flags[i] = (uint32_t) (mask[rows[i] / 64] >> (rows[i] % 64)) & 1;
}

/* Put the edges that count to their places, which are the numbers of those that count before them.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_filter_kernel(const uint64_t *words, const uint32_t *rows, const uint32_t *places,
					 uint64_t first, uint64_t end, uint64_t *words_out, uint32_t *rows_out)
{
	const uint64_t i = hg_edge_item(first);

	if (i < end)
	{
		const uint32_t place = places[i];

		if (places[i + 1] != place)
		{
			words_out[place] = words[i];
			rows_out[place] = rows[i];
		}
	}
}

/* Lists begin where the first of their edges would be. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_filter_offsets_kernel(const uint32_t *offsets, const uint32_t *places, uint64_t first,
							 uint64_t end, uint32_t *offsets_out)
{
	const uint64_t v = hg_edge_item(first);

	if (v < end)
		offsets_out[v] = places[offsets[v]];
}

#endif /* HG_CUDA_EDGES_KERNELS_H */
