/*-------------------------------------------------------------------------
 *
 * hg_cuda_search.h
 *	  Whose is an item: a search in prefix sums, which tell where each one's items begin.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_SEARCH_H
#define HG_CUDA_SEARCH_H

#include <cstdint>

/*
 * The last of starts[low .. high], which ascend, that is at most item, as starts[low] is.  Of those
 * that begin at one place, the last has the item, and the others have none.
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
