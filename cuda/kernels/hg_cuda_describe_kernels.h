/*-------------------------------------------------------------------------
 *
 * hg_cuda_describe_kernels.h
 *	  The kernels for statistics of a HashGraph: hg_cuda_describe.cu says when each runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_DESCRIBE_KERNELS_H
#define HG_CUDA_DESCRIBE_KERNELS_H

#include "hg_cuda_tuning.h"
#include "hg_cuda_word.h"

#include <cub/block/block_reduce.cuh>

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

#endif /* HG_CUDA_DESCRIBE_KERNELS_H */
