/*-------------------------------------------------------------------------
 *
 * hg_cuda_filter_kernels.h
 *	  The kernel for filters on the rows of a graph replica (hg_cuda_filter.cu).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_FILTER_KERNELS_H
#define HG_CUDA_FILTER_KERNELS_H

#include "../../src/engine/hg_flat.h"
#include "../../src/engine/hg_row_filter.h"
#include "hg_cuda_tuning.h"

/*
 * Tests rows first .. end - 1 (both are multiples of 32).  Each warp tests the 32 row numbers of
 * one mask word.  Of each part's words in the mask, the first part_words are used; rows are counted
 * over the bits of these words.  *lost becomes 1 if a computed number overflows; without computes,
 * lost is not used.
 */
template <bool computes>
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_filter_kernel(const __grid_constant__ HgFilterTest test, uint32_t part_words, uint32_t *mask,
					 uint32_t *lost, uint64_t first, uint64_t end)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const uint32_t lane = threadIdx.x % 32;
	const uint64_t part = i / 32 / part_words;
	const uint32_t word_in_part = (uint32_t) (i / 32 % part_words);
	const uint32_t number = word_in_part * 32 + lane;
	uint32_t *bits = mask + (part << (HG_FLAT_ROW_BITS - 5)) + word_in_part;
	uint32_t counts;
	uint32_t held;
	bool holds = false;
	bool overflows = false;

	/* both conditions hold for a whole warp */
	if (i >= end)
		return;
	counts = *bits;
	if (counts == 0)
		return;
	if (number < test.stride && (counts >> lane & 1) != 0)
		holds = hg_filter_holds(&test, computes, part * test.stride + number, &overflows);
	held = __ballot_sync(UINT32_MAX, holds);
	if (lane == 0 && held != counts)
		*bits = held;
	if (computes && overflows)
		*lost = 1;
}

#endif /* HG_CUDA_FILTER_KERNELS_H */
