/*-------------------------------------------------------------------------
 *
 * hg_cuda_build.h
 *	  What build makes of the keys of a job of the CUDA engine: graphs, or bins.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BUILD_H
#define HG_CUDA_BUILD_H

#include "hg_cuda_job.h"

/* Build a job that has all its keys and columns, on the current device. */
HgStatus hg_cuda_build(HgCudaJob *job, HgError *error);

#endif /* HG_CUDA_BUILD_H */
