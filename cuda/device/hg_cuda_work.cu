/*-------------------------------------------------------------------------
 *
 * hg_cuda_work.cu
 *	  The resources of a job on a device: a stream, memory under a budget, waits.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_work.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

/* A wait polls without a pause for SPIN_MS, or as the work says, and then with sleeps. */
static constexpr double SPIN_MS = 0.5;
static constexpr double POLL_MS = 1.0;
static constexpr useconds_t SLEEP_US = 50;

/*
 * A device that needs longer than this has failed. What was launched last takes some milliseconds,
 * and some more for each job that the device works on at the same time.
 */
static constexpr double HUNG_MS = 60000;

/* Charges a job so that it can hold bytes more; returns false if that exceeds the budget. */
static bool
charge(HgCudaWork *work, uint64_t bytes)
{
	return hg_cuda_device_charge(work->device, work->held + bytes, &work->charged);
}

/* Uncharges all that the job has freed: its stream has passed it, and other jobs may have it. */
static void
uncharge(HgCudaWork *work)
{
	hg_cuda_device_uncharge(work->device, work->held, &work->charged);
}

HgStatus
hg_cuda_work_open(HgCudaWork *work, HgCudaDevice *device, const HgHost *host, uint64_t limit,
				  HgError *error)
{
	memset(work, 0, sizeof(*work));
	work->device = device;
	work->host = host;
	work->limit = limit;
	work->spin_ms = SPIN_MS;
	HG_CUDA_TRY(cudaSetDevice(device->ordinal), error);

	HG_TRY(hg_cuda_device_take_kit(device, &work->kit, error));
	work->stream = work->kit.stream;
	work->charged = work->kit.charged;
	return HG_OK;
}

void
hg_cuda_work_close(HgCudaWork *work)
{
	const bool passed = hg_cuda_stream_has_passed(work->stream);

	while (work->block_count > 0)
		hg_cuda_free(work, work->blocks[work->block_count - 1].ptr);
	if (passed)
		uncharge(work);
	hg_cuda_work_promise(work, 0);

	/* work from before a cancellation may still run; the next job's work waits behind it */
	work->kit.charged = work->charged;
	hg_cuda_device_release_kit(work->device, &work->kit);
}

void
hg_cuda_work_promise(HgCudaWork *work, uint64_t bytes)
{
	if (work->promised == bytes)
		return;
	hg_cuda_device_promise(work->device, work->promised, bytes);
	work->promised = bytes;
}

/* Returns the free bytes for the job, all of them or only beside other jobs' promises. */
static uint64_t
room_of(HgCudaWork *work, bool beside_promises, uint64_t own_promise)
{
	uint64_t room;

	hg_cuda_device_measure(work->device);
	/* a job may take again what it has freed lately */
	room = hg_cuda_device_room(work->device, beside_promises, own_promise) +
		   (work->charged - work->held);
	if (work->limit == 0)
		return room;
	if (work->held >= work->limit)
		return 0;
	return room < work->limit - work->held ? room : work->limit - work->held;
}

uint64_t
hg_cuda_work_room(HgCudaWork *work)
{
	return room_of(work, false, 0);
}

uint64_t
hg_cuda_work_spare(HgCudaWork *work)
{
	return room_of(work, true, 0);
}

bool
hg_cuda_work_hold(HgCudaWork *work, uint64_t bytes)
{
	if (bytes > room_of(work, true, work->promised) || !charge(work, bytes))
		return false;
	work->held += bytes;
	if (work->held > work->peak)
		work->peak = work->held;
	hg_cuda_device_add_outside(work->device, (int64_t) bytes);
	return true;
}

void
hg_cuda_work_let_go(HgCudaWork *work, uint64_t bytes)
{
	work->held -= bytes;
	hg_cuda_device_uncharge(work->device, work->charged - bytes, &work->charged);
	hg_cuda_device_add_outside(work->device, -(int64_t) bytes);
}

/* Charges the job with bytes more and allocates them; *code is the device's answer. */
static HgStatus
ask(HgCudaWork *work, uint64_t bytes, void **ptr, cudaError_t *code, HgError *error)
{
	HgCudaDevice *device = work->device;
	uint64_t budget;
	uint64_t held;
	uint64_t peak;
	char detail[120];

	*ptr = nullptr;
	if (!charge(work, bytes))
	{
		/* other processes may have freed memory since the last measurement */
		hg_cuda_device_measure(device);
		if (!charge(work, bytes))
		{
			hg_cuda_device_use(device, &budget, &held, &peak);
			snprintf(detail, sizeof(detail),
					 "%llu bytes more were needed, of a budget of %llu %llu are in use.",
					 (unsigned long long) bytes, (unsigned long long) budget,
					 (unsigned long long) held);
			return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
								"the budget of device memory was reached");
		}
	}
	*code = device->pool != nullptr
				? cudaMallocFromPoolAsync(ptr, bytes, device->pool, work->stream)
				: cudaMalloc(ptr, bytes);
	if (*code != cudaSuccess)
		*ptr = nullptr;
	return HG_OK;
}

/*
 * The same, with a second try if the device has no memory. It may be in the pool, unused or in
 * pieces that are too small: the pool is trimmed before.
 */
static HgStatus
ask_twice(HgCudaWork *work, uint64_t bytes, void **ptr, HgError *error)
{
	HgCudaDevice *device = work->device;
	cudaError_t code;

	HG_TRY(ask(work, bytes, ptr, &code, error));
	if (code == cudaErrorMemoryAllocation)
	{
		cudaGetLastError();
		/* what the job has freed is in use until the stream has passed that */
		HG_TRY(hg_cuda_wait(work, error));
		hg_cuda_device_trim_pool(device, 0);
		HG_TRY(ask(work, bytes, ptr, &code, error));
		if (code == cudaErrorMemoryAllocation)
			hg_cuda_device_measure_now(device);
	}
	return code == cudaSuccess ? HG_OK : hg_cuda_error(code, "cudaMalloc", error);
}

HgStatus
hg_cuda_alloc(HgCudaWork *work, uint64_t bytes, void **ptr, HgError *error)
{
	uint64_t rounded = (bytes / HG_BLOCK_ALIGNMENT + 1) * HG_BLOCK_ALIGNMENT;
	char detail[120];

	*ptr = nullptr;
	if (work->limit > 0 && (rounded > work->limit || work->held > work->limit - rounded))
	{
		snprintf(detail, sizeof(detail), "%llu bytes more were needed, the limit is %llu.",
				 (unsigned long long) rounded, (unsigned long long) work->limit);
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
							"the join's limit of device memory was reached");
	}
	if (work->block_count == HG_WORK_BLOCKS)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, "The job's list of blocks is full.",
							"out of device memory");
	/* a refused charge stays until the next wait for the stream, as that of freed memory does */
	HG_TRY(ask_twice(work, rounded, ptr, error));

	work->blocks[work->block_count].ptr = *ptr;
	work->blocks[work->block_count].bytes = rounded;
	work->block_count++;
	work->held += rounded;
	if (work->held > work->peak)
		work->peak = work->held;
	return HG_OK;
}

void
hg_cuda_free(HgCudaWork *work, void *ptr)
{
	HgCudaDevice *device = work->device;

	for (int i = 0; i < work->block_count; i++)
	{
		if (work->blocks[i].ptr != ptr)
			continue;
		if (device->pool != nullptr)
			cudaFreeAsync(ptr, work->stream);
		else
			cudaFree(ptr); /* waits for the device */
		work->held -= work->blocks[i].bytes;
		if (device->pool == nullptr)
			uncharge(work);
		work->blocks[i] = work->blocks[--work->block_count];
		return;
	}
}

uint64_t
hg_cuda_detach(HgCudaWork *work, void *ptr)
{
	for (int i = 0; i < work->block_count; i++)
	{
		const uint64_t bytes = work->blocks[i].bytes;

		if (work->blocks[i].ptr != ptr)
			continue;
		/* the device's charge stays and changes its owner */
		work->held -= bytes;
		work->charged -= bytes;
		work->blocks[i] = work->blocks[--work->block_count];
		return bytes;
	}
	return 0;
}

static bool
is_cancelled(const HgCudaWork *work)
{
	return work->host != nullptr && work->host->cancelled != nullptr &&
		   work->host->cancelled(work->host->arg);
}

HgStatus
hg_cuda_look(const HgCudaWork *work, HgError *error)
{
	if (is_cancelled(work))
		return hg_error_set(error, HG_CANCELLED, nullptr, "the join was cancelled");
	return HG_OK;
}

/* Waits for an event, polling cancelled() if heed_cancel. */
static HgStatus
wait_for(HgCudaWork *work, cudaEvent_t event, bool heed_cancel, HgError *error)
{
	double started = hg_clock_ms();
	double polled = started - POLL_MS;

	for (;;)
	{
		cudaError_t code;
		double now = hg_clock_ms();

		if (heed_cancel && now - polled >= POLL_MS)
		{
			HG_TRY(hg_cuda_look(work, error));
			polled = now;
		}
		code = cudaEventQuery(event);
		if (code == cudaSuccess)
			return HG_OK;
		if (code != cudaErrorNotReady)
			return hg_cuda_error(code, "cudaEventQuery", error);
		cudaGetLastError(); /* "not ready" must not be taken for the failure of a later call */
		if (now - started > HUNG_MS)
			return hg_error_set(error, HG_DEVICE_FAILED, nullptr,
								"the device did not finish its work in %.0f seconds",
								HUNG_MS / 1000);
		if (now - started > work->spin_ms)
			usleep(SLEEP_US);
	}
}

HgStatus
hg_cuda_wait(HgCudaWork *work, HgError *error)
{
	HG_CUDA_TRY(cudaEventRecord(work->kit.done, work->stream), error);
	HG_TRY(wait_for(work, work->kit.done, true, error));
	uncharge(work);
	return HG_OK;
}

HgStatus
hg_cuda_pace(HgCudaWork *work, HgError *error)
{
	HG_CUDA_TRY(cudaEventRecord(work->kit.paces[work->pace], work->stream), error);
	work->pace ^= 1;
	return wait_for(work, work->kit.paces[work->pace], true, error);
}

HgStatus
hg_cuda_finish(HgCudaWork *work, HgError *error)
{
	cudaError_t code = cudaEventRecord(work->kit.done, work->stream);

	/* the caller may not go on, whatever the code says: copies can still arrive */
	if (code != cudaSuccess)
		return hg_error_set(error, HG_DEVICE_FAILED, cudaGetErrorString(code), "the device failed");
	HG_TRY(wait_for(work, work->kit.done, false, error));
	uncharge(work);
	return HG_OK;
}

HgStatus
hg_cuda_read_back(HgCudaWork *work, const void *from, size_t bytes, const void **host,
				  HgError *error)
{
	HG_CUDA_TRY(
		cudaMemcpyAsync(work->kit.readback, from, bytes, cudaMemcpyDeviceToHost, work->stream),
		error);
	HG_TRY(hg_cuda_wait(work, error));
	*host = work->kit.readback;
	return HG_OK;
}
