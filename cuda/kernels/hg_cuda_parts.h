/*-------------------------------------------------------------------------
 *
 * hg_cuda_parts.h
 *	  Whose are rows, when several jobs are one join (src/engine/hg_exchange.h).
 *
 * All arrays but host ones are in device memory.  What is not said to wait returns when the last
 * of it is launched.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PARTS_H
#define HG_CUDA_PARTS_H

#include "../../src/engine/hg_exchange.h"
#include "../device/hg_cuda_work.h"

/* Count the keys of each part into counts[HG_EXCHANGE_PARTS] of the host's; it waits. */
HgStatus hg_cuda_parts_tally(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
							 uint64_t *counts, HgError *error);

/*
 * Put the positions of keys in the order of the shards that have their parts, owners[
 * HG_EXCHANGE_PARTS]: those of shard m begin at starts[m] of the host's, as they were tallied.
 */
HgStatus hg_cuda_parts_order(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
							 const uint8_t *owners, uint32_t shards, const uint64_t *starts,
							 uint32_t *order, HgError *error);

/* to[i] = from[order[i]], for elements of 1, 2, 4 or 8 bytes. */
HgStatus hg_cuda_parts_gather(HgCudaWork *work, uint32_t width, const void *from,
							  const uint32_t *order, uint64_t count, void *to, HgError *error);

/*
 * Are all of these keys of shard self's parts, and do all of these numbers stay below limit?  It
 * waits.
 */
HgStatus hg_cuda_parts_check(HgCudaWork *work, uint32_t key_width, const void *keys,
							 const uint32_t *numbers, uint64_t count, const uint8_t *owners,
							 uint32_t self, uint64_t limit, bool *right, HgError *error);

#endif /* HG_CUDA_PARTS_H */
