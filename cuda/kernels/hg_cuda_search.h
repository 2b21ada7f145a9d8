/*-------------------------------------------------------------------------
 *
 * hg_cuda_search.h
 *	  Finds the owner of an item by prefix sums, which say where each owner's items begin.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_SEARCH_H
#define HG_CUDA_SEARCH_H

#include <cstdint>

/*
 * Returns the last index i in low .. high with starts[i] <= item.  starts ascend, and
 * starts[low] <= item.  Of several owners with the same start, the last one owns the item; the
 * others have none.
 */
template <typename Number>
__device__ __forceinline__ uint32_t
hg_search_owner(const Number *starts, uint32_t low, uint32_t high, Number item)
{
	while (low < high)
	{
		const uint32_t middle = low + (high - low + 1) / 2;

		if (starts[middle] <= item)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

#endif /* HG_CUDA_SEARCH_H */
