/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_groups_kernels.h
 *	  The kernels of rows in groups: hg_cuda_table_groups.cu says when each runs.
 *
 * The rows of key number n are rows[offsets[n]] .. rows[offsets[n + 1] - 1].
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_GROUPS_KERNELS_H
#define HG_CUDA_TABLE_GROUPS_KERNELS_H

#include "../kernels/hg_cuda_search.h"
#include "../kernels/hg_cuda_tuning.h"
#include "hg_cuda_table.h"

#include "../../src/engine/hg_hash.h"

/* An empty slot of a table of pairs: no key has this number. */
constexpr unsigned long long HG_GROUPS_NO_PAIR = UINT64_MAX;

/* A group longer than this is copied by a block, not by a warp. */
constexpr uint32_t HG_GROUPS_LONG = 4096;

/* Returns a pair to be erased; its row is HG_NO_ROW if it is erased by key. */
__device__ __forceinline__ unsigned long long
hg_groups_pair(uint32_t number, uint32_t row)
{
	return (unsigned long long) number << 32 | row;
}

/*
 * Enters pairs to be erased, with key numbers[i], into a hash table with open addressing:
 * pairs[mask + 1], at least twice as many slots as pairs.  Keys with HG_NO_ROW are left out.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_erased_kernel(const uint32_t *numbers, const uint32_t *rows, uint32_t first_row,
							bool by_key, uint64_t first, uint64_t end, unsigned long long *pairs,
							uint64_t mask)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	unsigned long long pair;

	if (i >= end || numbers[i] == HG_NO_ROW)
		return;
	pair = hg_groups_pair(numbers[i], by_key			? HG_NO_ROW
									  : rows != nullptr ? rows[i]
														: first_row + (uint32_t) i);
	for (uint64_t position = hg_mix64(pair) & mask;; position = (position + 1) & mask)
	{
		const unsigned long long there = atomicCAS(&pairs[position], HG_GROUPS_NO_PAIR, pair);

		if (there == HG_GROUPS_NO_PAIR || there == pair)
			return;
	}
}

/*
 * Copies the keys and rows of positions first .. end - 1 that pairs does not have.  *cursor is the
 * next position of the copies.  If pairs and cursor are NULL, all are copied to their positions.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_expand_kernel(const Word *keys, const uint32_t *offsets, const uint32_t *rows,
							uint32_t key_count, uint64_t first, uint64_t end,
							const unsigned long long *pairs, uint64_t mask, bool by_key,
							uint32_t *cursor, Word *keys_out, uint32_t *rows_out)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	uint32_t number = 0;
	uint32_t row = 0;
	bool kept = i < end;

	if (kept)
	{
		number = hg_search_owner(offsets, 0, key_count - 1, (uint32_t) i);
		row = rows[i];
	}
	if (kept && pairs != nullptr)
	{
		const unsigned long long pair = hg_groups_pair(number, by_key ? HG_NO_ROW : row);

		for (uint64_t position = hg_mix64(pair) & mask;; position = (position + 1) & mask)
		{
			if (pairs[position] == pair)
				kept = false;
			if (pairs[position] == pair || pairs[position] == HG_GROUPS_NO_PAIR)
				break;
		}
	}

	const uint32_t all = __ballot_sync(UINT32_MAX, kept);
	const uint32_t lane = threadIdx.x % 32;
	uint64_t position = i;

	if (cursor != nullptr)
	{
		uint32_t begin = 0;

		if (lane == 0 && all != 0)
			begin = atomicAdd(cursor, (uint32_t) __popc(all));
		position = __shfl_sync(UINT32_MAX, begin, 0) + __popc(all & ((1u << lane) - 1));
	}
	if (!kept)
		return;
	keys_out[position] = keys[number];
	if (rows_out != nullptr)
		rows_out[position] = row;
}

/* Replaces numbers of keys, or HG_NO_ROW, by a row of each, or, with COUNTS, the row count. */
template <bool COUNTS>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_answer_kernel(const uint32_t *offsets, const uint32_t *rows, uint64_t first,
							uint64_t end, uint32_t *numbers)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	uint32_t number;

	if (i >= end)
		return;
	number = numbers[i];
	if (COUNTS)
		numbers[i] = number == HG_NO_ROW ? 0 : offsets[number + 1] - offsets[number];
	else if (number != HG_NO_ROW)
		numbers[i] = rows[offsets[number]];
}

/*
 * Copies the rows of keys, given by number, to rows_out[positions[i] - positions[0]].
 * A warp has a key
 * a lane and copies the rows of all of them as one sequence, 32 at a time, so that the sizes of
 * groups do not matter.  A long group is copied by all warps of the block.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_match_kernel(const uint32_t *offsets, const uint32_t *rows, const uint32_t *numbers,
						   const uint64_t *positions, uint64_t first, uint64_t end,
						   uint32_t *rows_out)
{
	__shared__ uint3 longs[HG_STREAM_THREADS]; /* from, to, count */
	__shared__ uint32_t long_count;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t number = i < end ? numbers[i] : HG_NO_ROW;
	uint32_t from = 0;
	uint32_t to = 0;
	uint32_t count = 0;
	uint32_t sum; /* rows of the lanes up to this one */

	if (threadIdx.x == 0)
		long_count = 0;
	__syncthreads();
	if (number != HG_NO_ROW)
	{
		from = offsets[number];
		to = (uint32_t) (positions[i] - positions[0]);
		count = offsets[number + 1] - from;
	}
	if (count > HG_GROUPS_LONG)
	{
		longs[atomicAdd(&long_count, 1u)] = make_uint3(from, to, count);
		count = 0;
	}
	sum = count;
#pragma unroll
	for (uint32_t distance = 1; distance < 32; distance *= 2)
	{
		const uint32_t before = __shfl_up_sync(UINT32_MAX, sum, distance);

		if (lane >= distance)
			sum += before;
	}
	from -= sum - count;
	to -= sum - count;

	const uint32_t all = __shfl_sync(UINT32_MAX, sum, 31);

	for (uint32_t begin = 0; begin < all; begin += 32)
	{
		const uint32_t row = begin + lane;
		uint32_t owner = 0; /* lanes whose rows all come before */

#pragma unroll
		for (uint32_t step = 16; step > 0; step /= 2)
			if (__shfl_sync(UINT32_MAX, sum, (int) (owner + step - 1)) <= row)
				owner += step;

		const uint32_t source = __shfl_sync(UINT32_MAX, from, (int) owner) + row;
		const uint32_t target = __shfl_sync(UINT32_MAX, to, (int) owner) + row;

		if (row < all)
			rows_out[target] = rows[source];
	}
	__syncthreads();
	for (uint32_t k = 0; k < long_count; k++)
		for (uint32_t row = threadIdx.x; row < longs[k].z; row += HG_STREAM_THREADS)
			rows_out[longs[k].y + row] = rows[longs[k].x + row];
}

#endif /* HG_CUDA_TABLE_GROUPS_KERNELS_H */
