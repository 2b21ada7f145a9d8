/*-------------------------------------------------------------------------
 *
 * hg_cuda_check.cu
 *	  Turns failures of CUDA calls into HgErrors.
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
	cudaGetLastError(); /* clears an error that is not sticky */
	if (code == cudaErrorMemoryAllocation)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail, "out of device memory");
	return hg_error_set(error, HG_DEVICE_FAILED, detail, "the device failed");
}
