/*-------------------------------------------------------------------------
 *
 * hg_cuda_work.cu
 *	  What a job holds on a device: a stream, memory under a budget, a way to wait.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_work.h"

#include "hg_cuda_launch.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

/* Blocks are rounded up to this, as the pool does. */
static constexpr uint64_t BLOCK_ALIGNMENT = 512;

/* How a wait spends its time: at first it asks at once again, then it sleeps. */
static constexpr double SPIN_MS = 0.5;
static constexpr double POLL_MS = 1.0;
static constexpr useconds_t SLEEP_US = 50;

/*
 * What was launched last takes some milliseconds, and some more for each job that the device works
 * on at the same time.  A device that is not done with it after this long never will be.
 */
static constexpr double HUNG_MS = 60000;

/* ------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------ */

/* A pool of our own, or none where the device can't have one. */
static HgStatus
create_pool(HgCudaDevice *device, HgError *error)
{
	cudaMemPoolProps properties;
	uint64_t threshold = device->budget;
	int supported = 0;

	HG_CUDA_TRY(
		cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device->ordinal),
		error);
	if (!supported)
		return HG_OK;

	memset(&properties, 0, sizeof(properties));
	properties.allocType = cudaMemAllocationTypePinned;
	properties.handleTypes = cudaMemHandleTypeNone;
	properties.location.type = cudaMemLocationTypeDevice;
	properties.location.id = device->ordinal;
	HG_CUDA_TRY(cudaMemPoolCreate(&device->pool, &properties), error);
	HG_CUDA_TRY(cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &threshold),
				error);
	return HG_OK;
}

HgStatus
hg_cuda_device_open(HgCudaDevice *device, int ordinal, uint64_t budget, HgError *error)
{
	size_t available;
	size_t total;
	int shared;

	device->ordinal = ordinal;
	HG_CUDA_TRY(cudaSetDevice(ordinal), error);
	HG_CUDA_TRY(cudaMemGetInfo(&available, &total), error);
	HG_CUDA_TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
				error);
	device->shared_limit = (size_t) shared;
	device->budget = budget > 0 ? budget : (uint64_t) total / 5 * 4;
	HG_TRY(hg_cuda_launch_prepare(device->shared_limit, error));
	return create_pool(device, error);
}

static void
destroy_kit(HgCudaKit *kit)
{
	if (kit->readback != nullptr)
		cudaFreeHost(kit->readback);
	for (cudaEvent_t mark : kit->marks)
		if (mark != nullptr)
			cudaEventDestroy(mark);
	for (cudaEvent_t pace : kit->paces)
		if (pace != nullptr)
			cudaEventDestroy(pace);
	if (kit->done != nullptr)
		cudaEventDestroy(kit->done);
	if (kit->stream != nullptr)
		cudaStreamDestroy(kit->stream);
	memset(kit, 0, sizeof(*kit));
}

static HgStatus
create_kit(HgCudaKit *kit, HgError *error)
{
	HG_CUDA_TRY(cudaStreamCreateWithFlags(&kit->stream, cudaStreamNonBlocking), error);
	HG_CUDA_TRY(cudaEventCreateWithFlags(&kit->done, cudaEventDisableTiming), error);
	for (cudaEvent_t &pace : kit->paces)
		HG_CUDA_TRY(cudaEventCreateWithFlags(&pace, cudaEventDisableTiming), error);
	for (cudaEvent_t &mark : kit->marks)
		HG_CUDA_TRY(cudaEventCreate(&mark), error);
	HG_CUDA_TRY(cudaMallocHost(&kit->readback, HG_READBACK_BYTES), error);
	return HG_OK;
}

void
hg_cuda_device_close(HgCudaDevice *device)
{
	while (device->idle_count > 0)
		destroy_kit(&device->idle[--device->idle_count]);
	if (device->pool != nullptr)
		cudaMemPoolDestroy(device->pool);
	device->pool = nullptr;
}

void
hg_cuda_device_use(HgCudaDevice *device, uint64_t *held, uint64_t *peak)
{
	std::lock_guard<std::mutex> guard(device->lock);

	*held = device->held;
	*peak = device->peak;
}

/* Take a kit that is idle, if more than kept are. */
static bool
take_kit(HgCudaDevice *device, int kept, HgCudaKit *kit)
{
	std::lock_guard<std::mutex> guard(device->lock);

	if (device->idle_count <= kept)
		return false;
	*kit = device->idle[--device->idle_count];
	return true;
}

/* Keep a kit for the next job, if there is room. */
static bool
keep_kit(HgCudaDevice *device, const HgCudaKit *kit)
{
	std::lock_guard<std::mutex> guard(device->lock);

	if (device->idle_count == HG_IDLE_KITS)
		return false;
	device->idle[device->idle_count++] = *kit;
	return true;
}

void
hg_cuda_device_trim(HgCudaDevice *device)
{
	HgCudaKit kit;

	cudaSetDevice(device->ordinal);
	while (take_kit(device, HG_RESTED_KITS, &kit))
		destroy_kit(&kit);
	if (device->pool != nullptr)
		cudaMemPoolTrimTo(device->pool, 0);
}

/* Count bytes as held, unless that is over the budget. */
static bool
take_budget(HgCudaDevice *device, uint64_t bytes)
{
	std::lock_guard<std::mutex> guard(device->lock);

	if (bytes > device->budget || device->held > device->budget - bytes)
		return false;
	device->held += bytes;
	if (device->held > device->peak)
		device->peak = device->held;
	return true;
}

static void
give_budget(HgCudaDevice *device, uint64_t bytes)
{
	std::lock_guard<std::mutex> guard(device->lock);

	device->held -= bytes;
}

/* ------------------------------------------------------------------------
 * Work
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_work_open(HgCudaWork *work, HgCudaDevice *device, const HgHost *host, uint64_t limit,
				  HgError *error)
{
	memset(work, 0, sizeof(*work));
	work->device = device;
	work->host = host;
	work->limit = limit;
	HG_CUDA_TRY(cudaSetDevice(device->ordinal), error);

	if (!take_kit(device, 0, &work->kit))
	{
		HgStatus status = create_kit(&work->kit, error);

		if (status != HG_OK)
		{
			destroy_kit(&work->kit);
			return status;
		}
	}
	work->stream = work->kit.stream;
	return HG_OK;
}

void
hg_cuda_work_close(HgCudaWork *work)
{
	HgCudaDevice *device = work->device;

	while (work->block_count > 0)
		hg_cuda_free(work, work->blocks[work->block_count - 1].ptr);

	/* what was launched before a cancellation may still run: the next job waits its turn */
	if (!keep_kit(device, &work->kit))
		destroy_kit(&work->kit);
	memset(&work->kit, 0, sizeof(work->kit));
}

HgStatus
hg_cuda_alloc(HgCudaWork *work, uint64_t bytes, void **ptr, HgError *error)
{
	HgCudaDevice *device = work->device;
	uint64_t rounded = (bytes / BLOCK_ALIGNMENT + 1) * BLOCK_ALIGNMENT;
	char detail[120];
	cudaError_t code;

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
	if (!take_budget(device, rounded))
	{
		snprintf(detail, sizeof(detail), "%llu bytes more were needed, the budget is %llu.",
				 (unsigned long long) rounded, (unsigned long long) device->budget);
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
							"the budget of device memory was reached");
	}
	code = device->pool != nullptr
			   ? cudaMallocFromPoolAsync(ptr, rounded, device->pool, work->stream)
			   : cudaMalloc(ptr, rounded);
	if (code != cudaSuccess)
	{
		give_budget(device, rounded);
		return hg_cuda_error(code, "cudaMalloc", error);
	}

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
		give_budget(device, work->blocks[i].bytes);
		work->blocks[i] = work->blocks[--work->block_count];
		return;
	}
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

/* Wait for an event, polling cancelled() where that is heeded. */
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
		cudaGetLastError(); /* an answer, which must not be taken for the failure of a later call */
		if (now - started > HUNG_MS)
			return hg_error_set(error, HG_DEVICE_FAILED, nullptr,
								"the device did not finish its work in %.0f seconds",
								HUNG_MS / 1000);
		if (now - started > SPIN_MS)
			usleep(SLEEP_US);
	}
}

HgStatus
hg_cuda_wait(HgCudaWork *work, HgError *error)
{
	HG_CUDA_TRY(cudaEventRecord(work->kit.done, work->stream), error);
	return wait_for(work, work->kit.done, true, error);
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

	/* whatever it says: the caller may not go on, as copies can still come */
	if (code != cudaSuccess)
		return hg_error_set(error, HG_DEVICE_FAILED, cudaGetErrorString(code), "the device failed");
	return wait_for(work, work->kit.done, false, error);
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
