/*-------------------------------------------------------------------------
 *
 * hg_cuda_parts.h
 *	  Which shard each row belongs to, when several jobs are one join (src/engine/hg_exchange.h).
 *
 * Arrays are in device memory unless a comment says "host".  A function that does not wait returns
 * once the last kernel is launched.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PARTS_H
#define HG_CUDA_PARTS_H

#include "../../src/engine/hg_exchange.h"
#include "../device/hg_cuda_work.h"

/* Counts the keys of each part into counts[HG_EXCHANGE_PARTS], on the host.  Waits. */
HgStatus hg_cuda_parts_tally(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
							 uint64_t *counts, HgError *error);

/*
 * Sorts the positions of count keys by the shards that have their parts,
 * owners[HG_EXCHANGE_PARTS], into order[count].  Those of shard m begin at starts[m], on the host,
 * as the tallies imply.
 */
HgStatus hg_cuda_parts_order(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
							 const uint8_t *owners, uint32_t shards, const uint64_t *starts,
							 uint32_t *order, HgError *error);

/* to[i] = from[order[i]], for elements of 1, 2, 4 or 8 bytes. */
HgStatus hg_cuda_parts_gather(HgCudaWork *work, uint32_t width, const void *from,
							  const uint32_t *order, uint64_t count, void *to, HgError *error);

/*
 * Sets *right to whether all of the keys are of parts of shard self, and all of the numbers are
 * less than limit.  Waits.
 */
HgStatus hg_cuda_parts_check(HgCudaWork *work, uint32_t key_width, const void *keys,
							 const uint32_t *numbers, uint64_t count, const uint8_t *owners,
							 uint32_t self, uint64_t limit, bool *right, HgError *error);

#endif /* HG_CUDA_PARTS_H */
