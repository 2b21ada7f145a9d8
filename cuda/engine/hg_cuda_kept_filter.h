/*-------------------------------------------------------------------------
 *
 * hg_cuda_kept_filter.h
 *	  Which rows of a kept graph count in a job by what kept columns have, in device memory.
 *
 * What a filter lets through becomes part of the mask that there is of the rows, before anything is
 * looked up: behind that nothing knows of filters.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_KEPT_FILTER_H
#define HG_CUDA_KEPT_FILTER_H

#include "../../src/engine/hg_row_filter.h"
#include "hg_cuda_kept_column.h"
#include "hg_cuda_kept_mask.h"

/* Those of a side; all zero where it has none. */
struct HgCudaKeptFilters
{
	HgRowFilters all;
	const HgCudaKeptColumn *columns[HG_MAX_FILTER_COLUMNS]; /* [all.ncolumns] of kept columns */
};

/*
 * Have rows not count that the filter of a lookup, as HgRowFilter has it, does not let through;
 * where there is none nothing is done.  It returns when that is launched, or where it computes
 * numbers when they are known to fit: else HG_OVERFLOW.
 */
HgStatus hg_cuda_kept_filters_apply(HgCudaWork *work, const HgCudaKeptFilters *filters,
									uint32_t lookup, HgCudaKeptMask *mask, HgError *error);

#endif /* HG_CUDA_KEPT_FILTER_H */
