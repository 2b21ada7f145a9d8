/*-------------------------------------------------------------------------
 *
 * hg_cuda_check.cu
 *	  Every call to CUDA is checked, and its failure becomes an HgError.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_check.h"

#include <cstdio>
#include <cstring>

HgStatus
hg_cuda_error(cudaError_t code, const char *call, HgError *error)
{
	char detail[sizeof(error->detail)];

	snprintf(detail, sizeof(detail), "%.*s: %s", (int) strcspn(call, "(<"), call,
			 cudaGetErrorString(code));
	cudaGetLastError(); /* an error that can pass has now passed */
	if (code == cudaErrorMemoryAllocation)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail, "out of device memory");
	return hg_error_set(error, HG_DEVICE_FAILED, detail, "the device failed");
}
