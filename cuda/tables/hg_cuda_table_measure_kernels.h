/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_measure_kernels.h
 *	  The kernel of hg_cuda_table_measure.cu.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_MEASURE_KERNELS_H
#define HG_CUDA_TABLE_MEASURE_KERNELS_H

#include "../kernels/hg_cuda_tuning.h"

/* Sets found[0] to 1 if key a is among keys[n], and found[1] if key b is. */
template <typename Word>
__global__ void
hg_table_among_kernel(const Word *keys, uint64_t n, Word a, Word b, uint32_t *found)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n && keys[i] == a)
		found[0] = 1;
	if (i < n && keys[i] == b)
		found[1] = 1;
}

#endif /* HG_CUDA_TABLE_MEASURE_KERNELS_H */
