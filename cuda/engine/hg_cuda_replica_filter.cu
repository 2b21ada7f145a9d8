/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_filter.cu
 *	  Filters the rows of a graph replica by values of column replicas, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_replica_filter.h"

#include "../kernels/hg_cuda_filter.h"

#include <cstring>

/* Waits; HG_OVERFLOW if the filter computed a number that does not fit. Frees the flag. */
static HgStatus
check_lost(HgCudaWork *work, uint32_t *lost, HgError *error)
{
	uint32_t answer;
	const void *host;

	HG_TRY(hg_cuda_read_back(work, lost, sizeof(answer), &host, error));
	memcpy(&answer, host, sizeof(answer));
	hg_cuda_free(work, lost);
	return answer != 0 ? hg_error_set(error, HG_OVERFLOW, nullptr,
									  "a number that a filter computes does not fit")
					   : HG_OK;
}

HgStatus
hg_cuda_replica_filters_apply(HgCudaWork *work, const HgCudaReplicaFilters *filters,
							  uint32_t lookup, HgCudaReplicaMask *mask, HgError *error)
{
	HgFilterTest test;
	uint32_t *lost = nullptr;

	if (!hg_filter_test_init(&test, &filters->all, lookup))
		return HG_OK;
	for (uint32_t i = 0; i < filters->all.ncolumns; i++)
	{
		test.columns[i].values = filters->columns[i]->values;
		test.columns[i].nulls = filters->columns[i]->nulls;
	}
	HG_TRY(hg_cuda_replica_mask_begin(work, mask, error));
	if (hg_filter_computes(&test))
	{
		HG_TRY(hg_cuda_alloc_array(work, 1, &lost, error));
		HG_CUDA_TRY(cudaMemsetAsync(lost, 0, sizeof(*lost), work->stream), error);
	}
	HG_TRY(hg_cuda_filter(work, &test, mask->shape.parts, mask->words, lost, error));
	return lost != nullptr ? check_lost(work, lost, error) : HG_OK;
}
