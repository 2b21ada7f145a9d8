/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables_kernels.h
 *	  The kernels between tables and callers: hg_cuda_tables_read.cu says when each runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLES_KERNELS_H
#define HG_CUDA_TABLES_KERNELS_H

#include "../kernels/hg_cuda_tuning.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_table.h"

#include <cub/block/block_reduce.cuh>

/* Sets the answers to keys of a set whose words mark slots, whatever its kind has answered. */
template <typename Word>
__global__ void
hg_tables_marked_kernel(const Word *keys, uint32_t n, uint32_t of_empty, uint32_t of_deleted,
						uint32_t *answers)
{
	const uint32_t i = blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n)
	{
		const Word word = hg_word_mix(keys[i]);

		if (word == HG_CUDA_EMPTY_WORD<Word>)
			answers[i] = of_empty;
		else if (word == HG_CUDA_DELETED_WORD<Word>)
			answers[i] = of_deleted;
	}
}

/* Adds counts[0 .. n - 1] to *sum. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_tables_sum_kernel(const uint32_t *counts, uint32_t n, unsigned long long *sum)
{
	typedef cub::BlockReduce<unsigned long long, HG_STREAM_THREADS> Reduce;
	__shared__ typename Reduce::TempStorage storage;
	const uint32_t i = blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const unsigned long long all = Reduce(storage).Sum(i < n ? counts[i] : 0);

	if (threadIdx.x == 0 && all > 0)
		atomicAdd(sum, all);
}

/* The next part of a stream's piece: its keys up to end - 1, which have this many pairs. */
struct HgTablesCut
{
	uint64_t pairs;
	uint64_t end; /* as wide as pairs: a hole would be read back undefined */
};

/*
 * Finds as many keys from first on, of n, as have at most capacity pairs together; or one that has
 * more.  One thread.
 */
static __global__ void
hg_tables_cut_kernel(const uint64_t *offsets, uint32_t first, uint32_t n, uint64_t capacity,
					 HgTablesCut *cut)
{
	uint32_t end = hg_search_owner(offsets, first, n, offsets[first] + capacity);

	if (end == first)
		end++;
	cut->pairs = offsets[end] - offsets[first];
	cut->end = end;
}

/* Sets probes[i] to the number of the key of pair i of keys first .. end - 1; first has number. */
static __global__ void
hg_tables_probes_kernel(const uint64_t *offsets, uint32_t first, uint32_t end, uint64_t pairs,
						uint32_t number, uint32_t *probes)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	/* of keys that begin at the same pair, the last one has it: the others have no rows */
	if (i < pairs)
		probes[i] = number + hg_search_owner(offsets, first, end - 1, offsets[first] + i) - first;
}

/* Adds counts as 64 bits. */
struct HgTablesSum
{
	__host__ __device__ __forceinline__ uint64_t
	operator()(uint64_t a, uint64_t b) const
	{
		return a + b;
	}
};

#endif /* HG_CUDA_TABLES_KERNELS_H */
