/*-------------------------------------------------------------------------
 *
 * hg_cuda_build.h
 *	  Builds a job of the CUDA engine: graphs or bins of its keys, or replicas.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BUILD_H
#define HG_CUDA_BUILD_H

#include "hg_cuda_job.h"

/* Builds a job that has all its keys and columns. The job's device is current. */
HgStatus hg_cuda_build(HgCudaJob *job, HgError *error);

#endif /* HG_CUDA_BUILD_H */
