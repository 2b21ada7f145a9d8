/*-------------------------------------------------------------------------
 *
 * hg_cuda_check.h
 *	  Every call to CUDA is checked, and its failure becomes an HgError.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CHECK_H
#define HG_CUDA_CHECK_H

#include "../../src/engine/hg_engine.h"

#include <cuda_runtime.h>

/*
 * Turn a failure into an error: refused memory is HG_DEVICE_OUT_OF_MEMORY, everything
 * else HG_DEVICE_FAILED.  call is the text of the call, of which the name is told.
 */
HgStatus hg_cuda_error(cudaError_t code, const char *call, HgError *error);

/* Return from the calling function, which returns HgStatus, where a call to CUDA fails. */
#define HG_CUDA_TRY(call, error)                                                                   \
	do                                                                                             \
	{                                                                                              \
		cudaError_t code_ = (call);                                                                \
		if (code_ != cudaSuccess)                                                                  \
			return hg_cuda_error(code_, #call, (error));                                           \
	} while (0)

/* Return from the calling function where a call of ours fails. */
#define HG_TRY(call)                                                                               \
	do                                                                                             \
	{                                                                                              \
		HgStatus status_ = (call);                                                                 \
		if (status_ != HG_OK)                                                                      \
			return status_;                                                                        \
	} while (0)

#endif /* HG_CUDA_CHECK_H */
