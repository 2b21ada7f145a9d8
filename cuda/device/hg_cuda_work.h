/*-------------------------------------------------------------------------
 *
 * hg_cuda_work.h
 *	  The resources of a job on a device: a stream, memory under a budget, waits.
 *
 * DEVICE MEMORY is under two limits: the device's budget for all jobs (hg_cuda_device.h), and the
 * job's own limit.
 *
 * A job may reuse a block that it has freed at once, in the order of its stream. The block stays
 * charged until the stream has passed the point of the free: only then may other jobs have it.
 *
 * HgCudaWork lists every block of a job, so that functions which fail half-way need not free
 * anything: closing the work does. Detached blocks are not listed: they outlive the job
 * (hg_cuda_device.h). All work of a job is in one stream, and memory is freed in the order of that
 * stream, so that a block can be freed while kernels that use it have yet to run.
 *
 * THREADS. A job and its work belong to one thread; all threads share the device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_WORK_H
#define HG_CUDA_WORK_H

#include "hg_cuda_device.h"

#include <cstring>

/* Most blocks of device memory of one job. */
constexpr int HG_WORK_BLOCKS = 48;

/* Block sizes, not addresses, are multiples of this, as in the pool. Rounding adds at most this. */
constexpr uint64_t HG_BLOCK_ALIGNMENT = 512;

struct HgCudaWork
{
	HgCudaDevice *device;
	HgCudaKit kit;
	cudaStream_t stream; /* the kit's stream */
	const HgHost *host;	 /* for cancelled(); may be NULL */
	double spin_ms;		 /* a wait polls without sleeping for so long */
	int pace;			 /* index of the next of the kit's paces */
	uint64_t limit;		 /* bytes; 0 = no limit of its own */
	uint64_t held;		 /* bytes in blocks, and from hg_cuda_work_hold */
	uint64_t charged;	 /* charge to the device's budget: held, and what was freed lately */
	uint64_t peak;		 /* most that was held */
	uint64_t promised;	 /* bytes of the job's minimum, until it has allocated them */
	struct
	{
		void *ptr;
		uint64_t bytes;
	} blocks[HG_WORK_BLOCKS];
	int block_count;
};

/*
 * Opens the work of one job, and makes the device current in the calling thread. limit is in
 * bytes; 0 means none. On failure nothing is open.
 */
HgStatus hg_cuda_work_open(HgCudaWork *work, HgCudaDevice *device, const HgHost *host,
						   uint64_t limit, HgError *error);

/* Closes the work: frees all blocks that are still listed, without waiting. Never fails. */
void hg_cuda_work_close(HgCudaWork *work);

/*
 * Announces that the job needs at least `bytes` bytes, which other jobs leave free
 * (hg_cuda_work_spare). 0 ends the promise.
 */
void hg_cuda_work_promise(HgCudaWork *work, uint64_t bytes);

/*
 * Returns the bytes that the job could allocate now within all limits. Memory that is promised to
 * other jobs counts as free. The allocation can still fail, because other jobs allocate meanwhile.
 */
uint64_t hg_cuda_work_room(HgCudaWork *work);

/*
 * Returns the bytes that the job could allocate beyond what is promised to any job, itself
 * included. For jobs that have no promise any more.
 */
uint64_t hg_cuda_work_spare(HgCudaWork *work);

/*
 * Charges the job with `bytes` bytes outside its blocks and the pool. Returns false if
 * that exceeds a limit, or takes what other jobs were promised.
 */
bool hg_cuda_work_hold(HgCudaWork *work, uint64_t bytes);

/* Uncharges bytes of hg_cuda_work_hold. */
void hg_cuda_work_let_go(HgCudaWork *work, uint64_t bytes);

/*
 * Allocates bytes of device memory in stream order; the address is aligned to 256 bytes, as CUDA
 * guarantees. HG_DEVICE_OUT_OF_MEMORY if that exceeds the job's limit or the device's budget, if
 * the list of blocks is full, or if the device refuses a second try too. Before that try it waits
 * for the stream (hg_cuda_wait), which can return HG_CANCELLED.
 */
HgStatus hg_cuda_alloc(HgCudaWork *work, uint64_t bytes, void **ptr, HgError *error);

/* Frees a block in stream order; NULL is allowed. */
void hg_cuda_free(HgCudaWork *work, void *ptr);

/*
 * Takes a block out of the job, so that it outlives it, and returns its bytes; 0 if ptr is NULL.
 * No work that still runs may use the block. The caller releases it by hg_cuda_device_release.
 */
uint64_t hg_cuda_detach(HgCudaWork *work, void *ptr);

/* Allocates an array of count elements; see hg_cuda_alloc. */
template <typename T>
static inline HgStatus
hg_cuda_alloc_array(HgCudaWork *work, uint64_t count, T **array, HgError *error)
{
	void *ptr = nullptr;
	HgStatus status = hg_cuda_alloc(work, count * sizeof(T), &ptr, error);

	*array = static_cast<T *>(ptr);
	return status;
}

/*
 * Allocates a zeroed plain struct of `bytes` bytes in the host's memory. Returns HG_OUT_OF_MEMORY
 * if there is none. The caller frees it by host->free.
 */
template <typename T>
static inline HgStatus
hg_cuda_make_struct(const HgHost *host, size_t bytes, T **made, HgError *error)
{
	*made = static_cast<T *>(host->alloc(host->arg, bytes));
	if (*made == nullptr)
		return hg_error_set(error, HG_OUT_OF_MEMORY, nullptr, "out of memory");
	memset(static_cast<void *>(*made), 0, bytes);
	return HG_OK;
}

/* Returns HG_CANCELLED if the job is cancelled, else HG_OK, without waiting. */
HgStatus hg_cuda_look(const HgCudaWork *work, HgError *error);

/*
 * Waits until the stream is idle, polling cancelled(). A device that takes longer than a minute
 * has failed: HG_DEVICE_FAILED.
 */
HgStatus hg_cuda_wait(HgCudaWork *work, HgError *error);

/*
 * To be called between pieces of work: waits until everything launched before the previous call is
 * done, polling cancelled(). So the device works on one piece while the host launches the next.
 */
HgStatus hg_cuda_pace(HgCudaWork *work, HgError *error);

/*
 * Waits until the stream is idle, cancelled or not: for copies to memory of the caller, which is
 * free to reuse it after the return. After a failure copies can still arrive: the process must
 * then end before that memory is used for anything else.
 */
HgStatus hg_cuda_finish(HgCudaWork *work, HgError *error);

/*
 * Copies bytes <= HG_READBACK_BYTES from the device and waits; *host is valid until the next call.
 */
HgStatus hg_cuda_read_back(HgCudaWork *work, const void *from, size_t bytes, const void **host,
						   HgError *error);

#endif /* HG_CUDA_WORK_H */
