/*-------------------------------------------------------------------------
 *
 * hg_cuda_shards.h
 *	  Rows that a job of the CUDA engine exchanges with other shards of its join.
 *
 * src/engine/hg_exchange.h tells the way of it, and src/engine/hg_engine.h what each of these calls
 * does.  The sides of a job are exchanged one by one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_SHARDS_H
#define HG_CUDA_SHARDS_H

#include "hg_cuda_job.h"

HgStatus hg_cuda_shards_tally(HgCudaJob *job, HgSide side, uint64_t *counts, HgError *error);
HgStatus hg_cuda_shards_expect(HgCudaJob *job, HgSide side, const HgExchange *exchange,
							   HgError *error);
HgStatus hg_cuda_shards_take(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
							 HgError *error);

/* Here the arrays may be in memory of the device, too, where others can write. */
HgStatus hg_cuda_shards_put(HgCudaJob *job, HgSide side, const HgExchangeRows *rows,
							HgError *error);
HgStatus hg_cuda_shards_arrived(HgCudaJob *job, HgSide side, HgError *error);

/* The rows of a side that are still to be taken for another shard. */
HgStatus hg_cuda_shards_left(const HgCudaJob *job, HgSide side, uint32_t shard, uint64_t *rows,
							 HgError *error);

/*
 * Take the next of them, in arrays of the device that the job's stream uses again when this is
 * called the next time: none when all have been.  It returns when the last of it is launched.
 */
HgStatus hg_cuda_shards_gather(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
							   HgError *error);

/* They are all to be taken again. */
void hg_cuda_shards_rewind(HgCudaJob *job, HgSide side, uint32_t shard);

/* HG_INVALID where the rows of a side, or of a job that is to be built, are not to be touched. */
HgStatus hg_cuda_shards_check_append(const HgCudaJob *job, HgSide side, HgError *error);
HgStatus hg_cuda_shards_check_build(const HgCudaJob *job, HgError *error);

/* What a job holds at most that would hold joined bytes if it had its rows from the beginning. */
uint64_t hg_cuda_shards_bytes(const HgJobSpec *spec, uint64_t joined);

#endif /* HG_CUDA_SHARDS_H */
