/*-------------------------------------------------------------------------
 *
 * hg_cuda_parts_kernels.h
 *	  The kernels that find the shard of each row (hg_cuda_parts.cu).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PARTS_KERNELS_H
#define HG_CUDA_PARTS_KERNELS_H

#include "../../src/engine/hg_exchange.h"
#include "hg_cuda_tuning.h"
#include "hg_cuda_word.h"

/* Threads of a block, and rows that each has at a time. */
constexpr int HG_PARTS_THREADS = 512;
constexpr int HG_PARTS_ITEMS = 8;

/* Return the part of a key. */
__device__ __forceinline__ uint32_t
hg_part_of_key(uint32_t key)
{
	return hg_exchange_part32(hg_word_mix(key));
}

__device__ __forceinline__ uint32_t
hg_part_of_key(uint64_t key)
{
	return hg_exchange_part64(hg_word_mix(key));
}

/* counts[part] += the number of keys first .. end - 1 that are of this part. */
template <typename Word>
__global__ void
__launch_bounds__(HG_PARTS_THREADS)
	hg_parts_tally_kernel(const Word *keys, uint64_t first, uint64_t end, uint32_t *counts)
{
	__shared__ uint32_t parts[HG_EXCHANGE_PARTS];
	const uint64_t stride = (uint64_t) gridDim.x * HG_PARTS_THREADS;

	for (uint32_t part = threadIdx.x; part < HG_EXCHANGE_PARTS; part += HG_PARTS_THREADS)
		parts[part] = 0;
	__syncthreads();
	for (uint64_t i = first + (uint64_t) blockIdx.x * HG_PARTS_THREADS + threadIdx.x; i < end;
		 i += stride)
		atomicAdd(&parts[hg_part_of_key(keys[i])], 1u);
	__syncthreads();
	for (uint32_t part = threadIdx.x; part < HG_EXCHANGE_PARTS; part += HG_PARTS_THREADS)
		if (parts[part] > 0)
			atomicAdd(&counts[part], parts[part]);
}

/*
 * For each i from first to end - 1, writes i into `order` at the next free position of the shard
 * that owns key i; cursors[shard] is that position.  A block has HG_PARTS_THREADS * HG_PARTS_ITEMS
 * keys, numbers those of each shard in shared memory, and reserves positions for them together.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_PARTS_THREADS)
	hg_parts_order_kernel(const Word *keys, uint64_t first, uint64_t end, const uint8_t *owners,
						  uint32_t *cursors, uint32_t *order)
{
	__shared__ uint32_t counts[HG_MAX_SHARDS];
	__shared__ uint32_t bases[HG_MAX_SHARDS];
	const uint64_t begin = first + (uint64_t) blockIdx.x * HG_PARTS_THREADS * HG_PARTS_ITEMS;
	uint32_t shard[HG_PARTS_ITEMS];
	uint32_t number[HG_PARTS_ITEMS];

	if (threadIdx.x < HG_MAX_SHARDS)
		counts[threadIdx.x] = 0;
	__syncthreads();
#pragma unroll
	for (int k = 0; k < HG_PARTS_ITEMS; k++)
	{
		const uint64_t i = begin + k * HG_PARTS_THREADS + threadIdx.x;

		if (i < end)
		{
			shard[k] = owners[hg_part_of_key(keys[i])];
			number[k] = atomicAdd(&counts[shard[k]], 1u);
		}
	}
	__syncthreads();
	if (threadIdx.x < HG_MAX_SHARDS && counts[threadIdx.x] > 0)
		bases[threadIdx.x] = atomicAdd(&cursors[threadIdx.x], counts[threadIdx.x]);
	__syncthreads();
#pragma unroll
	for (int k = 0; k < HG_PARTS_ITEMS; k++)
	{
		const uint64_t i = begin + k * HG_PARTS_THREADS + threadIdx.x;

		if (i < end)
			order[bases[shard[k]] + number[k]] = (uint32_t) i;
	}
}

/* to[i] = from[order[i]], for i from first to end - 1. */
template <typename Element>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_parts_gather_kernel(const Element *from, const uint32_t *order, uint64_t first, uint64_t end,
						   Element *to)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < end)
		to[i] = from[order[i]];
}

/* *wrong becomes 1 if a key is not of the parts of shard self, or a number is not below limit. */
template <typename Word>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_parts_check_kernel(const Word *keys, const uint32_t *numbers, uint64_t first, uint64_t end,
						  const uint8_t *owners, uint32_t self, uint64_t limit, uint32_t *wrong)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < end && (owners[hg_part_of_key(keys[i])] != self || numbers[i] >= limit))
		atomicExch(wrong, 1u);
}

#endif /* HG_CUDA_PARTS_KERNELS_H */
