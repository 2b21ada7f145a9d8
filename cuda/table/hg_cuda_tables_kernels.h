/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables_kernels.h
 *	  The kernels between tables and callers: hg_cuda_tables_read.cu tells when each runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLES_KERNELS_H
#define HG_CUDA_TABLES_KERNELS_H

#include "../kernels/hg_cuda_search.h"
#include "../kernels/hg_cuda_tuning.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_table.h"

#include <cub/block/block_reduce.cuh>

/* Keys of a set whose words mark slots are answered here, whatever its kind has said. */
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

/* *sum += all counts. */
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

/* What of a piece of a stream comes next: keys first .. end - 1, which have so many pairs. */
struct HgTablesCut
{
	uint64_t pairs;
	uint64_t end; /* as wide as pairs: nothing between them is read back unwritten */
};

/*
 * As many keys from first on, of n, as have capacity pairs at most together; or one that has more.
 * One thread.
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

/* The number of the key of each of pairs pairs of keys first .. end - 1, the first being number. */
static __global__ void
hg_tables_probes_kernel(const uint64_t *offsets, uint32_t first, uint32_t end, uint64_t pairs,
						uint32_t number, uint32_t *probes)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	/* of keys without rows that begin where one with rows does, that one is the last */
	if (i < pairs)
		probes[i] = number + hg_search_owner(offsets, first, end - 1, offsets[first] + i) - first;
}

/* The sum of counts, wider than they are. */
struct HgTablesSum
{
	__host__ __device__ __forceinline__ uint64_t
	operator()(uint64_t a, uint64_t b) const
	{
		return a + b;
	}
};

#endif /* HG_CUDA_TABLES_KERNELS_H */
