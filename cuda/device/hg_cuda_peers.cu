/*-------------------------------------------------------------------------
 *
 * hg_cuda_peers.cu
 *	  Access of one device to another one's memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_device.h"

#include <cstring>

HgStatus
hg_cuda_peers_admit(HgCudaDevice *device, int other, bool *reached, HgError *error)
{
	cudaMemAccessDesc access;
	cudaError_t code;
	int can = 0;

	*reached = other == device->ordinal;
	if (*reached)
		return HG_OK;
	HG_CUDA_TRY(cudaDeviceCanAccessPeer(&can, other, device->ordinal), error);
	*reached = can != 0;
	if (!*reached)
		return HG_OK;
	if (device->pool != nullptr)
	{
		memset(&access, 0, sizeof(access));
		access.location.type = cudaMemLocationTypeDevice;
		access.location.id = other;
		access.flags = cudaMemAccessFlagsProtReadWrite;
		HG_CUDA_TRY(cudaMemPoolSetAccess(device->pool, &access, 1), error);
		return HG_OK;
	}
	HG_CUDA_TRY(cudaSetDevice(other), error);
	code = cudaDeviceEnablePeerAccess(device->ordinal, 0);
	cudaSetDevice(device->ordinal);
	if (code != cudaSuccess && code != cudaErrorPeerAccessAlreadyEnabled)
		return hg_cuda_error(code, "cudaDeviceEnablePeerAccess", error);
	cudaGetLastError();
	return HG_OK;
}
