/*-------------------------------------------------------------------------
 *
 * hg_cuda_kept_filter.cu
 *	  Which rows of a kept graph count in a job by what kept columns have, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_kept_filter.h"

#include "../kernels/hg_cuda_filter.h"

HgStatus
hg_cuda_kept_filters_apply(HgCudaWork *work, const HgCudaKeptFilters *filters, uint32_t lookup,
						   HgCudaKeptMask *mask, HgError *error)
{
	HgFilterTest test;

	if (!hg_filter_test_init(&test, &filters->all, lookup))
		return HG_OK;
	for (uint32_t i = 0; i < filters->all.ncolumns; i++)
	{
		test.columns[i].values = filters->columns[i]->values;
		test.columns[i].nulls = filters->columns[i]->nulls;
	}
	HG_TRY(hg_cuda_kept_mask_begin(work, mask, error));
	return hg_cuda_filter(work, &test, mask->shape.parts, mask->words, error);
}
