/*-------------------------------------------------------------------------
 *
 * hg_cuda_filter.h
 *	  Filters of graph replicas' rows, decided by ordinal for a mask by row number.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_FILTER_H
#define HG_CUDA_FILTER_H

#include "../../src/engine/hg_row_filter.h"
#include "../device/hg_cuda_work.h"

/*
 * Clear the bits of rows of so many parts in a mask, which the filter does not let through; its
 * columns are in device memory, as the mask is.  Bits of numbers that no row can have become
 * anything.  *lost, in device memory, becomes 1 where a number that the filter computes does not
 * fit for a row whose bit is set; NULL: it computes none.  It returns when that is launched.
 */
HgStatus hg_cuda_filter(HgCudaWork *work, const HgFilterTest *test, uint32_t parts, uint64_t *mask,
						uint32_t *lost, HgError *error);

#endif /* HG_CUDA_FILTER_H */
