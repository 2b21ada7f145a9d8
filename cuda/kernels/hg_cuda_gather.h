/*-------------------------------------------------------------------------
 *
 * hg_cuda_gather.h
 *	  Matches and the values of their rows, on their way to the host.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_GATHER_H
#define HG_CUDA_GATHER_H

#include "hg_cuda_columns.h"
#include "hg_cuda_tuning.h"

/* What a column's values of some matches pass through; NULL before it is opened. */
struct HgCudaGather
{
	unsigned char *block; /* [HG_GATHER_BYTES] */
};

/* Device memory that it takes: values, or row numbers, and bytes that tell NULL. */
constexpr uint64_t HG_GATHER_BYTES = HG_GATHER_PAIRS * (sizeof(uint64_t) + 1);

HgStatus hg_cuda_gather_open(HgCudaWork *work, HgCudaGather *gather, HgError *error);

/*
 * Copy count matches, HG_GATHER_PAIRS at most, to the caller's arrays, with the values that he
 * wants: rows are pairs of positions in device memory, and columns and numbers are those of both
 * sides.  It waits until all are copied, even on failure.
 */
HgStatus hg_cuda_gather_matches(HgCudaWork *work, const HgCudaGather *gather,
								const HgCudaColumns columns[2], HgCudaNumbers numbers[2],
								const uint32_t *const rows[2], uint64_t count, HgMatches *matches,
								HgError *error);

#endif /* HG_CUDA_GATHER_H */
