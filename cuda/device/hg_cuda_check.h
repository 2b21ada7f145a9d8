/*-------------------------------------------------------------------------
 *
 * hg_cuda_check.h
 *	  Turns failures of CUDA calls into HgErrors; every call is checked.
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
 * Turns a failure into an error and returns its status: HG_DEVICE_OUT_OF_MEMORY for refused
 * memory, else HG_DEVICE_FAILED. call is the text of the failed call; its name goes into the
 * detail. Clears CUDA's last error.
 */
HgStatus hg_cuda_error(cudaError_t code, const char *call, HgError *error);

/* Returns from the calling function, which returns HgStatus, if a CUDA call fails. */
#define HG_CUDA_TRY(call, error)                                                                   \
	do                                                                                             \
	{                                                                                              \
		cudaError_t code_ = (call);                                                                \
		if (code_ != cudaSuccess)                                                                  \
			return hg_cuda_error(code_, #call, (error));                                           \
	} while (0)

/* Returns from the calling function if a call that returns HgStatus fails. */
#define HG_TRY(call)                                                                               \
	do                                                                                             \
	{                                                                                              \
		HgStatus status_ = (call);                                                                 \
		if (status_ != HG_OK)                                                                      \
			return status_;                                                                        \
	} while (0)

#endif /* HG_CUDA_CHECK_H */
