/*-------------------------------------------------------------------------
 *
 * hg_cuda_launch.cu
 *	  Allows kernels their shared memory before they are launched.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstdio>
#include <cstring>

#include "hg_cuda_launch.h"

/* ---------------------------------------------------------------------
 * Turns failures of CUDA calls into HgErrors
 * ---------------------------------------------------------------------
 */

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

/* zero-initialized before any constructor of an entry runs */
static const HgCudaSharingKernel *sharing_kernels;

HgCudaSharingKernel::HgCudaSharingKernel(const void *function)
	: kernel(function), next(sharing_kernels)
{
	sharing_kernels = this;
}

HgStatus
hg_cuda_launch_prepare(size_t shared_limit, HgError *error)
{
	for (const HgCudaSharingKernel *entry = sharing_kernels; entry != nullptr; entry = entry->next)
	{
		cudaFuncAttributes attributes;

		HG_CUDA_TRY(cudaFuncGetAttributes(&attributes, entry->kernel), error);
		HG_CUDA_TRY(cudaFuncSetAttribute(entry->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
										 (int) (shared_limit - attributes.sharedSizeBytes)),
					error);
	}
	return HG_OK;
}
