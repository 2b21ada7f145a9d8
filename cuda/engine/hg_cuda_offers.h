/*-------------------------------------------------------------------------
 *
 * hg_cuda_offers.h
 *	  Rows that jobs of the CUDA engine send each other, from device to device.
 *
 * src/engine/hg_offer.h tells the way of it, and src/engine/hg_engine.h what each of these calls
 * does.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_OFFERS_H
#define HG_CUDA_OFFERS_H

#include "hg_cuda_job.h"

HgStatus hg_cuda_offers_make(HgCudaJob *job, HgSide side, HgOffer *offer, HgError *error);

/* They are there when it returns. */
HgStatus hg_cuda_offers_send(HgCudaJob *job, HgSide side, uint32_t shard, const HgOffer *offer,
							 HgError *error);

/* Before hg_cuda_shards_arrived: put what others have sent, and offer nothing any more. */
HgStatus hg_cuda_offers_take(HgCudaJob *job, HgSide side, HgError *error);

/* Before its work is closed a job gives up what it has offered. */
void hg_cuda_offers_close(HgCudaJob *job);

#endif /* HG_CUDA_OFFERS_H */
