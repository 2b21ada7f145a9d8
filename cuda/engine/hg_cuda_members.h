/*-------------------------------------------------------------------------
 *
 * hg_cuda_members.h
 *	  Rows that a job of the CUDA engine exchanges with other members of its join.
 *
 * src/engine/hg_exchange.h tells the way of it, and src/engine/hg_engine.h what each of these calls
 * does.  The sides of a job are exchanged one by one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_MEMBERS_H
#define HG_CUDA_MEMBERS_H

#include "hg_cuda_job.h"

HgStatus hg_cuda_members_tally(HgCudaJob *job, HgSide side, uint64_t *counts, HgError *error);
HgStatus hg_cuda_members_expect(HgCudaJob *job, HgSide side, const HgExchange *exchange,
								HgError *error);
HgStatus hg_cuda_members_take(HgCudaJob *job, HgSide side, uint32_t member, HgExchangeRows *rows,
							  HgError *error);
HgStatus hg_cuda_members_put(HgCudaJob *job, HgSide side, const HgExchangeRows *rows,
							 HgError *error);
HgStatus hg_cuda_members_arrived(HgCudaJob *job, HgSide side, HgError *error);

/* HG_INVALID where the rows of a side, or of a job that is to be built, are not to be touched. */
HgStatus hg_cuda_members_check_append(const HgCudaJob *job, HgSide side, HgError *error);
HgStatus hg_cuda_members_check_build(const HgCudaJob *job, HgError *error);

/* What a job holds at most that would hold joined bytes if it had its rows from the beginning. */
uint64_t hg_cuda_members_bytes(const HgJobSpec *spec, uint64_t joined);

#endif /* HG_CUDA_MEMBERS_H */
