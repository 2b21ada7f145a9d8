/*-------------------------------------------------------------------------
 *
 * hg_cuda_gather.h
 *	  Copies of matches and of their rows' values to the host.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_GATHER_H
#define HG_CUDA_GATHER_H

#include "hg_cuda_columns.h"
#include "hg_cuda_tuning.h"

/* Device memory through which matches and values pass.  NULL before it is opened. */
struct HgCudaGather
{
	unsigned char *block; /* [HG_GATHER_BYTES] */
};

/* Bytes of the block: values or row numbers of HG_GATHER_PAIRS rows, and a NULL byte for each. */
constexpr uint64_t HG_GATHER_BYTES = HG_GATHER_PAIRS * (sizeof(uint64_t) + 1);

/* Allocates the block, which belongs to work. */
HgStatus hg_cuda_gather_open(HgCudaWork *work, HgCudaGather *gather, HgError *error);

/*
 * Copies count matches, at most HG_GATHER_PAIRS, to the caller's arrays, with the values of
 * columns whose matches->values is not NULL.  rows are positions in device memory, [count] by
 * HgSide, as are columns and numbers by HgSide.  Waits until all copies are done, even on failure.
 */
HgStatus hg_cuda_gather_matches(HgCudaWork *work, const HgCudaGather *gather,
								const HgCudaColumns columns[2], HgCudaNumbers numbers[2],
								const uint32_t *const rows[2], uint64_t count, HgMatches *matches,
								HgError *error);

#endif /* HG_CUDA_GATHER_H */
