/*-------------------------------------------------------------------------
 *
 * hg_cuda_launch.cu
 *	  Allows kernels their shared memory before they are launched.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_launch.h"

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
