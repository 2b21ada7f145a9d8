/*-------------------------------------------------------------------------
 *
 * hg_cuda_filter.h
 *	  Filters on the rows of a graph replica: computed by ordinal, for a mask by row number.
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
 * Clears the bits of a mask whose rows the filter does not let through.  The rows are those of
 * parts 0 .. parts - 1; the mask and the filter's columns are in device memory.  Bits of numbers
 * that no row can have become undefined.
 *
 * *lost, in device memory, becomes 1 if a number that the filter computes overflows for a row
 * whose bit is set; lost is NULL if the filter computes none.  Returns once the work is launched.
 */
HgStatus hg_cuda_filter(HgCudaWork *work, const HgFilterTest *test, uint32_t parts, uint64_t *mask,
						uint32_t *lost, HgError *error);

#endif /* HG_CUDA_FILTER_H */
