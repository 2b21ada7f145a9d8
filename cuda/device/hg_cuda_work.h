/*-------------------------------------------------------------------------
 *
 * hg_cuda_work.h
 *	  What a job holds on a device: a stream, memory under a budget, a way to wait.
 *
 * DEVICE MEMORY comes from one pool per device, whose release threshold is the most that the
 * process may take: memory that a job gave back stays with the process and is reused without
 * a call to the driver, until the process has nothing to do, or has not needed as much for some
 * seconds (hg_cuda_device_tidy), or an allocation fails, which is tried again then.  Where the
 * device has no pools, plain cudaMalloc serves.  We account for what is held ourselves: what all
 * jobs hold stays within the device's budget, and what one job holds within its own limit.
 *
 * THE BUDGET is what the process may take, by its options, or what the device had for it when that
 * was measured last, whichever is less: other processes take memory of the same device, and
 * give it back.  It is measured when the device is opened, when an allocation fails, and as
 * often as hg_cuda_device_measure() is called, but once a second at most.
 *
 * A block that a job gives back is its own again at once, in the order of its stream.  To others it
 * counts as held until the stream has passed that point: only then can it be anybody's.
 *
 * Every block that a job holds is listed in its HgCudaWork, so that functions which
 * fail half-way need not give back anything: closing the work does.  All work of a
 * job is in one stream, and memory is given back in the order of that stream, so
 * that a block can be given back while kernels that use it are still to run.
 *
 * THREADS.  A job, and so its work, belongs to one thread; the device is all threads', and its
 * mutex guards what they change of it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_WORK_H
#define HG_CUDA_WORK_H

#include "hg_cuda_check.h"

#include <mutex>

/* Blocks of device memory that one job holds at most. */
constexpr int HG_WORK_BLOCKS = 48;

/* Bytes of pinned host memory that a job reads results of kernels back into. */
constexpr size_t HG_READBACK_BYTES = 8192;

/* Jobs whose stream and pinned memory are kept for the next ones: as many as may well run at a
 * time, because giving pinned memory back waits for all that runs; and after a rest. */
constexpr int HG_IDLE_KITS = 64;
constexpr int HG_RESTED_KITS = 4;

/* What is slow to make and is passed on from job to job. */
struct HgCudaKit
{
	cudaStream_t stream;
	cudaEvent_t done;	  /* to wait for */
	cudaEvent_t paces[2]; /* in turn, behind pieces of work */
	cudaEvent_t marks[3]; /* to measure phases */
	void *readback;		  /* pinned, HG_READBACK_BYTES */
	uint64_t charged;	  /* while idle: bytes that its stream has not passed the end of yet */
};

struct HgCudaDevice
{
	int ordinal;
	cudaMemPool_t pool;	 /* NULL where there are no pools */
	uint64_t most;		 /* bytes that the process may take, whatever is free */
	size_t shared_limit; /* bytes of shared memory that a block can have */

	std::mutex lock;	/* guards all that follows */
	uint64_t budget;	/* bytes that all jobs may hold together, as measured last ... */
	double measured_ms; /* ... which was then */
	uint64_t held;		/* what they are charged with */
	uint64_t peak;
	uint64_t recent;		/* the most that was held in this period ... */
	double period_began_ms; /* ... of HG_TIDY_MS */
	HgCudaKit idle[HG_IDLE_KITS];
	int idle_count;
};

struct HgCudaWork
{
	HgCudaDevice *device;
	HgCudaKit kit;
	cudaStream_t stream; /* of the kit */
	const HgHost *host;	 /* for cancelled(); may be NULL */
	int pace;			 /* of the kit's, the next one */
	uint64_t limit;		 /* bytes; 0 = none of its own */
	uint64_t held;		 /* in blocks */
	uint64_t charged;	 /* of the device's budget: held, and what it has given back lately */
	uint64_t peak;		 /* of held */
	struct
	{
		void *ptr;
		uint64_t bytes;
	} blocks[HG_WORK_BLOCKS];
	int block_count;
};

/* What jobs have not held for a period of so many ms goes back to the driver at its end. */
constexpr double HG_TIDY_MS = 5000;

/* Get a device ready, which its owner has zeroed; budget 0 means 80 % of its memory at most. */
HgStatus hg_cuda_device_open(HgCudaDevice *device, int ordinal, uint64_t budget, HgError *error);
void hg_cuda_device_close(HgCudaDevice *device);

/* The budget, what jobs hold of it now, and the most that they held. */
void hg_cuda_device_use(HgCudaDevice *device, uint64_t *budget, uint64_t *held, uint64_t *peak);

/* See what other processes have left of the device, unless that was seen in the last second. */
void hg_cuda_device_measure(HgCudaDevice *device);

/* Give memory that no job holds back to the driver, and kits that are many. */
void hg_cuda_device_trim(HgCudaDevice *device);

/*
 * Called now and then while there are jobs: give memory back to the driver that they have not
 * needed for some seconds.
 */
void hg_cuda_device_tidy(HgCudaDevice *device);

/* Start and end the work of one job.  close frees all its memory, and never fails. */
HgStatus hg_cuda_work_open(HgCudaWork *work, HgCudaDevice *device, const HgHost *host,
						   uint64_t limit, HgError *error);
void hg_cuda_work_close(HgCudaWork *work);

/*
 * bytes of device memory, aligned to 256, in stream order.  HG_DEVICE_OUT_OF_MEMORY over the
 * job's limit, over the device's budget, or when refused.  Where the device refuses at first it
 * waits for the stream, polling cancelled().
 */
HgStatus hg_cuda_alloc(HgCudaWork *work, uint64_t bytes, void **ptr, HgError *error);

/* Give a block back; NULL is none. */
void hg_cuda_free(HgCudaWork *work, void *ptr);

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
