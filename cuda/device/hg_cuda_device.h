/*-------------------------------------------------------------------------
 *
 * hg_cuda_device.h
 *	  A device: its memory under a budget, and what is passed on from job to job.
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
 * BLOCKS THAT OUTLIVE THEIR JOB (hg_cuda_detach) stay charged, and go back to the pool in a stream
 * that is the device's own.  Jobs that have used them, and may have left work behind in their
 * streams, say so when they end: what is released then waits for that work, and nobody else does.
 *
 * PROMISES.  A job is opened where there is room for what it needs at least, and takes that bit by
 * bit.  Until it has, the device knows of it as a promise, so that other jobs, which could do with
 * more than they need, leave it what it was told it has.
 *
 * THREADS.  A device is all threads', and its mutex guards what they change of it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_DEVICE_H
#define HG_CUDA_DEVICE_H

#include "hg_cuda_check.h"

#include <mutex>

/* Bytes of pinned host memory that a job reads results of kernels back into. */
constexpr size_t HG_READBACK_BYTES = 8192;

/*
 * Jobs whose stream and pinned memory are pooled for the next ones: as many as may well run at a
 * time, because giving pinned memory back waits for all that runs; and after a rest.
 */
constexpr int HG_IDLE_KITS = 64;
constexpr int HG_RESTED_KITS = 16;

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
	cudaMemPool_t pool;	   /* NULL where there are no pools */
	cudaStream_t releases; /* in which blocks go back that have outlived their job */
	uint64_t most;		   /* bytes that the process may take, whatever is free */
	size_t shared_limit;   /* bytes of shared memory that a block can have */

	std::mutex lock;	/* guards all that follows */
	uint64_t budget;	/* bytes that all jobs may hold together, as measured last ... */
	double measured_ms; /* ... which was then */
	uint64_t held;		/* what they are charged with ... */
	uint64_t outside;	/* ... and the part of it that is in no pool */
	uint64_t promised;	/* what they were opened for, of those that have not taken it all */
	uint64_t peak;
	uint64_t releasing;		/* part of it, whose release that stream has not passed yet */
	uint64_t recent;		/* the most that was held in this period ... */
	double period_began_ms; /* ... of HG_TIDY_MS */
	HgCudaKit idle[HG_IDLE_KITS];
	int idle_count;
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

/*
 * For the work of jobs (hg_cuda_work.cu).
 *
 * Has a stream done all that was launched in it, or can no more?  Then what was given back in it is
 * free for the runtime too, which takes a synchronization, of a stream that has nothing to do, to
 * know that.
 */
bool hg_cuda_stream_has_passed(cudaStream_t stream);

/* A kit for a job: one that is idle, or a new one. */
HgStatus hg_cuda_device_take_kit(HgCudaDevice *device, HgCudaKit *kit, HgError *error);

/* A job needs its kit no more, which may be charged with what its stream has not passed. */
void hg_cuda_device_give_kit(HgCudaDevice *device, HgCudaKit *kit);

/*
 * Charge *charged more, so that it is needed bytes at least, unless that is over the budget: then
 * false.
 */
bool hg_cuda_device_charge(HgCudaDevice *device, uint64_t needed, uint64_t *charged);

/* A job was opened for so many bytes, which were before. */
void hg_cuda_device_promise(HgCudaDevice *device, uint64_t before, uint64_t bytes);

/*
 * The part of the budget that is not held, or that is not promised either, but for what was
 * promised to who asks.
 */
uint64_t hg_cuda_device_room(HgCudaDevice *device, bool beside_promises, uint64_t own_promise);

/* So many bytes more, or less, of what is charged are in no pool though there is one. */
void hg_cuda_device_add_outside(HgCudaDevice *device, int64_t bytes);

/* Charge no more than held. */
void hg_cuda_device_uncharge(HgCudaDevice *device, uint64_t held, uint64_t *charged);

/*
 * What is released from now on is free when all is done that was launched in the kit's stream.  For
 * a job that ends, and has used blocks that may be released then.
 */
void hg_cuda_device_follow(HgCudaDevice *device, const HgCudaKit *kit);

/*
 * Give a block of so many bytes back that has outlived its job (hg_cuda_detach), and is used by
 * nobody but those whom the device follows.  Any thread may call it; it does not wait, unless there
 * are no pools.
 */
void hg_cuda_device_release(HgCudaDevice *device, void *ptr, uint64_t bytes);

/* Others may have the memory that was refused: see what there is. */
void hg_cuda_device_measure_now(HgCudaDevice *device);

/*
 * Give what the pool has beyond bytes back to the driver, as far as nobody uses it.  A closed job's
 * last blocks were given back behind all waits for its stream.
 */
void hg_cuda_device_trim_pool(HgCudaDevice *device, uint64_t bytes);

#endif /* HG_CUDA_DEVICE_H */
