/*-------------------------------------------------------------------------
 *
 * hg_cuda_device.h
 *	  A device: its memory under a budget, and the streams, events and pinned memory that its jobs
 *	  reuse.
 *
 * DEVICE MEMORY comes from one pool per device, whose release threshold is the most that the
 * process may take. Memory that a job frees stays with the process and is reused without a call to
 * the driver. It goes back to the driver when the process has nothing to do, when it has not
 * needed as much for some seconds (hg_cuda_device_tidy), or when an allocation fails, which is
 * then retried. Devices without pools use plain cudaMalloc. The memory of all jobs stays within
 * the device's budget, and that of one job within its own limit.
 *
 * THE BUDGET is the smaller of the process's option and the memory that the device had free for
 * this process when last measured: other processes allocate and free memory of the same device. It
 * is measured when the device is opened, when an allocation fails, and at each
 * hg_cuda_device_measure(), but there at most once a second.
 *
 * BLOCKS THAT OUTLIVE THEIR JOB (hg_cuda_detach) stay charged, and are freed in a stream of the
 * device's own. Jobs that used them, and may have left work in their streams, say so when they end
 * (hg_cuda_device_follow): the release then waits for that work, and no caller does.
 *
 * PROMISES. A job is opened only if its minimum fits, but allocates it step by step. Until it has
 * finished that, the device counts the whole minimum as promised. Jobs that use more than their own
 * minimum do not take promised memory.
 *
 * THREADS. All threads share a device; its mutex guards what they change.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_DEVICE_H
#define HG_CUDA_DEVICE_H

#include <mutex>

#include "hg_cuda_launch.h"

/* Bytes of pinned host memory into which a job reads back results of kernels. */
constexpr size_t HG_READBACK_BYTES = 8192;

/*
 * Most kits that stay pooled: while jobs run, and after a trim. The first is as many as may run at
 * a time, because freeing pinned memory waits for everything that runs.
 */
constexpr int HG_IDLE_KITS = 64;
constexpr int HG_RESTED_KITS = 16;

/* Resources of a job that are slow to create and go from job to job. */
struct HgCudaKit
{
	cudaStream_t stream;
	cudaEvent_t done;	  /* recorded and waited for by each wait */
	cudaEvent_t paces[2]; /* used alternately, recorded after pieces of work */
	cudaEvent_t marks[3]; /* to measure phases */
	void *readback;		  /* pinned, HG_READBACK_BYTES */
	/* while idle: bytes still charged because the stream has not reached their free */
	uint64_t charged;
};

struct HgCudaDevice
{
	int ordinal;
	cudaMemPool_t pool;	   /* NULL: the device has no pools */
	cudaStream_t releases; /* stream that frees blocks that have outlived their job */
	uint64_t most;		   /* upper bound of the budget, in bytes */
	size_t shared_limit;   /* most bytes of shared memory of a block */

	std::mutex lock;	/* guards all fields below */
	uint64_t budget;	/* bytes that all jobs may hold together, as last measured */
	double measured_ms; /* time of that measurement */
	uint64_t held;		/* bytes charged to all jobs */
	uint64_t outside;	/* part of held that is outside the pool */
	uint64_t promised;	/* sum of the minima of jobs that have not allocated them yet */
	uint64_t peak;
	/* part of held that is freed in the stream releases, which has not passed it yet */
	uint64_t releasing;
	uint64_t recent;		/* most that was held in the current period */
	double period_began_ms; /* start of the period of HG_TIDY_MS */
	HgCudaKit idle[HG_IDLE_KITS];
	int idle_count;
};

/* Memory that no job has held for this many milliseconds goes back to the driver. */
constexpr double HG_TIDY_MS = 5000;

/*
 * Opens a device; the caller has zeroed the struct. budget is in bytes; 0 means 80 % of the
 * device's memory. After a failure the caller still calls close.
 */
HgStatus hg_cuda_device_open(HgCudaDevice *device, int ordinal, uint64_t budget, HgError *error);

/* Frees the streams, the pool and the idle kits. */
void hg_cuda_device_close(HgCudaDevice *device);

/* Returns the budget, what jobs hold of it now, and the most that they have held, in bytes. */
void hg_cuda_device_use(HgCudaDevice *device, uint64_t *budget, uint64_t *held, uint64_t *peak);

/* Measures the budget anew, unless that was done in the last second. */
void hg_cuda_device_measure(HgCudaDevice *device);

/* Gives memory that no job holds, and all but HG_RESTED_KITS idle kits, back to the driver. */
void hg_cuda_device_trim(HgCudaDevice *device);

/*
 * Gives memory back to the driver that jobs have not needed for HG_TIDY_MS. To be called now and
 * then while there are jobs.
 */
void hg_cuda_device_tidy(HgCudaDevice *device);

/*
 * The functions below are for the work of jobs (hg_cuda_work.cu).
 *
 * hg_cuda_stream_has_passed returns true if a stream has finished everything launched in it, or
 * has failed. It then synchronizes the idle stream, without which the runtime does not know that
 * the memory freed in it is free.
 */
bool hg_cuda_stream_has_passed(cudaStream_t stream);

/* Takes an idle kit for a job, or creates one. On failure *kit is zeroed. */
HgStatus hg_cuda_device_take_kit(HgCudaDevice *device, HgCudaKit *kit, HgError *error);

/*
 * Takes a kit back and zeroes *kit; it may be charged with memory that its stream has not passed.
 */
void hg_cuda_device_release_kit(HgCudaDevice *device, HgCudaKit *kit);

/*
 * Raises *charged to needed bytes, if it is less, and the device's charge with it. Returns false,
 * and changes nothing, if that exceeds the budget.
 */
bool hg_cuda_device_charge(HgCudaDevice *device, uint64_t needed, uint64_t *charged);

/* Replaces a job's promise of `before` bytes by one of `bytes`. */
void hg_cuda_device_promise(HgCudaDevice *device, uint64_t before, uint64_t bytes);

/*
 * Returns the bytes of the budget that are not held. If beside_promises, the promises of other
 * jobs are subtracted too: all promises but own_promise, the caller's.
 */
uint64_t hg_cuda_device_room(HgCudaDevice *device, bool beside_promises, uint64_t own_promise);

/* Changes the number of charged bytes that are outside the pool. */
void hg_cuda_device_add_outside(HgCudaDevice *device, int64_t bytes);

/* Lowers *charged to held bytes, and the device's charge with it. */
void hg_cuda_device_uncharge(HgCudaDevice *device, uint64_t held, uint64_t *charged);

/*
 * Makes later releases wait for all work in the kit's stream. For a job that ends and has used
 * blocks that outlive it.
 */
void hg_cuda_device_follow(HgCudaDevice *device, const HgCudaKit *kit);

/*
 * Frees a block of `bytes` bytes that has outlived its job (hg_cuda_detach). Only jobs that the
 * device follows may still use it. Any thread may call it; it waits only without a pool.
 */
void hg_cuda_device_release(HgCudaDevice *device, void *ptr, uint64_t bytes);

/* Measures the budget anew at once. After a failure of CUDA the budget stays. */
void hg_cuda_device_measure_now(HgCudaDevice *device);

/*
 * Gives the pool's unused memory beyond `bytes` back to the driver. It first checks the idle kits'
 * streams, because a closed job's last blocks were freed after its last wait.
 */
void hg_cuda_device_trim_pool(HgCudaDevice *device, uint64_t bytes);

/* hg_cuda_peers.cu: access of one device to another one's memory */

/*
 * Lets the device number `other` read and write the memory of this device. *reached is false if it
 * cannot reach it; copies between the two then go through host memory.
 */
HgStatus hg_cuda_peers_admit(HgCudaDevice *device, int other, bool *reached, HgError *error);

#endif /* HG_CUDA_DEVICE_H */
