/*-------------------------------------------------------------------------
 *
 * hg_cuda_shared.h
 *	  Memory of a device that other processes write to.
 *
 * It is made by the driver's calls for virtual memory, with a descriptor that another process can
 * import and map for its own device, where that one reaches this one (NVLink, or PCIe between
 * some).  That takes no context, and thus no memory, of the other device, and each process need not
 * see the other's device at all.
 *
 * The driver frees such memory when nothing is left that refers to it, be it a mapping or a
 * descriptor of any process.  So a process may unmap what others still write to, or be killed:
 * their copies go on, into memory that is nobody else's, and nothing of it is an error.  That is
 * why it is not cudaMalloc's memory with cudaIpcGetMemHandle: to free that while others have it
 * open is undefined, and jobs are cancelled at any time.  Nor can a descriptor be guessed.
 * (Measured between two H200 of two processes: 395 GB/s by either; 1 ms to make 1 GiB, 6 to 10 ms
 * to map it in the other process; 200 copies of 1 GiB all end well when the exporter is killed in
 * the middle.)
 *
 * Anything that is not so here, a driver without these calls or a device that is not reached, is
 * HG_INVALID: there is another way for what would go this one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_SHARED_H
#define HG_CUDA_SHARED_H

#include "hg_cuda_work.h"

/* Such memory as it is mapped here; zero where there is none. */
struct HgCudaShared
{
	unsigned char *memory;
	uint64_t mapped; /* bytes, whole pages of the driver's */
	bool is_held;	 /* the job's work is charged with them */
};

/*
 * Make bytes of the job's device, which the work is charged with, as far as they are beyond what no
 * other job was promised: *descriptor is the caller's.  What it holds is what was there before.
 */
HgStatus hg_cuda_shared_make(HgCudaWork *work, uint64_t bytes, HgCudaShared *shared,
							 int *descriptor, HgError *error);

/*
 * Map bytes of another process's for the job's device.  Any descriptor may be tried, and stays the
 * caller's: one of something else, or of less memory, is refused.
 */
HgStatus hg_cuda_shared_open(HgCudaWork *work, int descriptor, uint64_t bytes, HgCudaShared *shared,
							 HgError *error);

/*
 * Unmap it, if it is there, once the job's stream has done with it, cancelled or not.  Where the
 * device has failed it stays until the process ends.
 */
void hg_cuda_shared_close(HgCudaWork *work, HgCudaShared *shared);

#endif /* HG_CUDA_SHARED_H */
