/*-------------------------------------------------------------------------
 *
 * hg_cuda_shared.h
 *	  Device memory that other processes write to.
 *
 * The driver's calls for virtual memory make it, with a descriptor that another process imports
 * and maps for its own device, if that device reaches this one (NVLink, or PCIe between some).
 * This takes no context, and so no memory, on the other device, and neither process needs to see
 * the other's device.
 *
 * The driver frees the memory when no mapping and no descriptor of any process refers to it. So a
 * process may unmap what others still write to, or be killed: their copies go on, into memory that
 * nothing else uses, without an error. Memory of cudaMalloc with cudaIpcGetMemHandle does not
 * allow this: freeing it while others have it open is undefined, and jobs are cancelled at any
 * time. Nor can a descriptor be guessed. (Measured between two H200 of two processes: 395 GB/s
 * either way of sharing; 1 ms to make 1 GiB, 6 to 10 ms to map it in the other process; 200 copies
 * of 1 GiB all end well if the exporter is killed in the middle.)
 *
 * If the driver lacks these calls, or the device is not reached, the functions return HG_INVALID:
 * callers have another way for the data.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_SHARED_H
#define HG_CUDA_SHARED_H

#include "hg_cuda_work.h"

/* A mapping of such memory in this process; zeroed if there is none. */
struct HgCudaShared
{
	unsigned char *memory;
	uint64_t mapped; /* bytes, a multiple of the driver's page size */
	bool is_held;	 /* the job is charged with the mapped bytes */
};

/*
 * Makes and maps `bytes` bytes, rounded up to pages, on the job's device, and charges the job. It
 * takes no memory promised to other jobs. The caller closes *descriptor. The contents are
 * undefined.
 */
HgStatus hg_cuda_shared_make(HgCudaWork *work, uint64_t bytes, HgCudaShared *shared,
							 int *descriptor, HgError *error);

/*
 * Maps `bytes` bytes of another process's memory for the job's device. The descriptor stays the
 * caller's. A descriptor of anything else, or of less memory, gives HG_INVALID.
 */
HgStatus hg_cuda_shared_open(HgCudaWork *work, int descriptor, uint64_t bytes, HgCudaShared *shared,
							 HgError *error);

/*
 * Waits for the job's stream, cancelled or not, then unmaps the memory and uncharges it. Does
 * nothing without a mapping. If the device has failed, the mapping stays until the process ends.
 */
void hg_cuda_shared_close(HgCudaWork *work, HgCudaShared *shared);

#endif /* HG_CUDA_SHARED_H */
