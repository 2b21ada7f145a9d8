/*-------------------------------------------------------------------------
 *
 * hg_cuda_work.h
 *	  What a job holds on a device: a stream, memory under a budget, a way to wait.
 *
 * DEVICE MEMORY is under two limits: what all jobs hold stays within the device's budget
 * (hg_cuda_device.h), and what one job holds within its own limit.
 *
 * A block that a job gives back is its own again at once, in the order of its stream.  To others it
 * counts as held until the stream has passed that point: only then can it be anybody's.
 *
 * Every block that a job holds is listed in its HgCudaWork, so that functions which
 * fail half-way need not give back anything: closing the work does.  Detached ones are not: they
 * outlive it (hg_cuda_device.h).  All work of a
 * job is in one stream, and memory is given back in the order of that stream, so
 * that a block can be given back while kernels that use it are still to run.
 *
 * THREADS.  A job, and so its work, belongs to one thread; the device is all threads'.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_WORK_H
#define HG_CUDA_WORK_H

#include "hg_cuda_device.h"

#include <cstring>

/* Blocks of device memory that one job holds at most. */
constexpr int HG_WORK_BLOCKS = 48;

/* Their bytes are multiples of this, as in the pool: so much is added to each at most. */
constexpr uint64_t HG_BLOCK_ALIGNMENT = 512;

struct HgCudaWork
{
	HgCudaDevice *device;
	HgCudaKit kit;
	cudaStream_t stream; /* of the kit */
	const HgHost *host;	 /* for cancelled(); may be NULL */
	double spin_ms;		 /* for so long a wait asks again at once, before it sleeps in between */
	int pace;			 /* of the kit's, the next one */
	uint64_t limit;		 /* bytes; 0 = none of its own */
	uint64_t held;		 /* in blocks */
	uint64_t charged;	 /* of the device's budget: held, and what it has given back lately */
	uint64_t peak;		 /* of held */
	uint64_t promised;	 /* bytes that it was opened for, until it has taken them */
	struct
	{
		void *ptr;
		uint64_t bytes;
	} blocks[HG_WORK_BLOCKS];
	int block_count;
};

/* Start and end the work of one job.  close frees all its memory, and never fails. */
HgStatus hg_cuda_work_open(HgCudaWork *work, HgCudaDevice *device, const HgHost *host,
						   uint64_t limit, HgError *error);
void hg_cuda_work_close(HgCudaWork *work);

/*
 * The job was opened for so many bytes, which others are to leave to it: until it says 0, because
 * it has what it needs at least.
 */
void hg_cuda_work_promise(HgCudaWork *work, uint64_t bytes);

/*
 * Bytes that the job could take now without going past a limit, whoever else wants them.  To take
 * as much can still fail: others take some meanwhile.
 */
uint64_t hg_cuda_work_room(HgCudaWork *work);

/* The same without keeping anything from other jobs that they were promised. */
uint64_t hg_cuda_work_spare(HgCudaWork *work);

/*
 * Charge the job with so many bytes of the device that are in none of its blocks, and not of the
 * pool.  False where that is over a limit, or would take from other jobs what they were promised.
 */
bool hg_cuda_work_hold(HgCudaWork *work, uint64_t bytes);

/* They are the driver's again. */
void hg_cuda_work_let_go(HgCudaWork *work, uint64_t bytes);

/*
 * bytes of device memory, aligned to 256, in stream order.  HG_DEVICE_OUT_OF_MEMORY over the
 * job's limit, over the device's budget, or when refused.  Where the device refuses at first it
 * waits for the stream, polling cancelled().
 */
HgStatus hg_cuda_alloc(HgCudaWork *work, uint64_t bytes, void **ptr, HgError *error);

/* Give a block back; NULL is none. */
void hg_cuda_free(HgCudaWork *work, void *ptr);

/*
 * Let a block outlive the job, which is no more charged with it, and of which nothing that still
 * runs uses it: returns its bytes, 0 for NULL.  Whoever has it then gives it back by
 * hg_cuda_device_release.
 */
uint64_t hg_cuda_detach(HgCudaWork *work, void *ptr);

/* The same with a type: count elements. */
template <typename T>
static inline HgStatus
hg_cuda_alloc_array(HgCudaWork *work, uint64_t count, T **array, HgError *error)
{
	void *ptr = nullptr;
	HgStatus status = hg_cuda_alloc(work, count * sizeof(T), &ptr, error);

	*array = static_cast<T *>(ptr);
	return status;
}

/* Make a plain struct of bytes in the memory of a host, filled with zeros; or HG_OUT_OF_MEMORY. */
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

/* HG_CANCELLED where the job is, without waiting for anything. */
HgStatus hg_cuda_look(const HgCudaWork *work, HgError *error);

/*
 * Wait until the stream is idle, polling cancelled().  No wait is for ever: a device that does not
 * get done in a minute has failed.
 */
HgStatus hg_cuda_wait(HgCudaWork *work, HgError *error);

/*
 * Called between pieces of work: wait until all that was launched before the last call is done,
 * polling cancelled().  So the device has a piece to go on with while the host launches another.
 */
HgStatus hg_cuda_pace(HgCudaWork *work, HgError *error);

/*
 * Wait until the stream is idle, cancelled or not: for copies to memory of the caller,
 * who may do with it what he likes once the call has returned.  Only where the device has failed
 * can they still come: then the process must end before that memory is used for anything else.
 */
HgStatus hg_cuda_finish(HgCudaWork *work, HgError *error);

/* Copy bytes <= HG_READBACK_BYTES from the device, wait, and return where they are. */
HgStatus hg_cuda_read_back(HgCudaWork *work, const void *from, size_t bytes, const void **host,
						   HgError *error);

#endif /* HG_CUDA_WORK_H */
