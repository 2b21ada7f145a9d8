/*-------------------------------------------------------------------------
 *
 * hg_cuda_device.cu
 *	  A device: its memory under a budget, and the resources that its jobs reuse.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_device.h"

#include "hg_cuda_launch.h"

#include <cstring>

/* A measurement of the device's free memory is valid for so long. */
static constexpr double MEASURED_MS = 1000;

/* 1 / LEFT_PARTS of the free memory is left for kernels, contexts and other processes. */
static constexpr uint64_t LEFT_PARTS = 32;

/* Creates the device's pool; leaves it NULL if the device supports none. */
static HgStatus
create_pool(HgCudaDevice *device, HgError *error)
{
	cudaMemPoolProps properties;
	uint64_t threshold = device->most;
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

void
hg_cuda_device_measure_now(HgCudaDevice *device)
{
	std::unique_lock<std::mutex> guard(device->lock, std::defer_lock);
	uint64_t ours = 0;
	uint64_t outside;
	size_t available;
	size_t total;

	guard.lock();
	device->measured_ms = hg_clock_ms();
	outside = device->pool == nullptr ? device->held : device->outside;
	guard.unlock();

	/* the pool is read first: what another thread allocates in between is missing from both */
	if (cudaSetDevice(device->ordinal) != cudaSuccess ||
		(device->pool != nullptr &&
		 cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrReservedMemCurrent, &ours) !=
			 cudaSuccess) ||
		cudaMemGetInfo(&available, &total) != cudaSuccess)
	{
		cudaGetLastError(); /* a caller that needs the device sees the failure itself */
		return;
	}
	ours += outside + available - available / LEFT_PARTS;
	guard.lock();
	device->budget = ours < device->most ? ours : device->most;
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
	device->most = budget > 0 ? budget : (uint64_t) total / 5 * 4;
	device->budget = device->most;
	HG_TRY(hg_cuda_launch_prepare(device->shared_limit, error));
	device->period_began_ms = hg_clock_ms();
	HG_TRY(create_pool(device, error));
	HG_CUDA_TRY(cudaStreamCreateWithFlags(&device->releases, cudaStreamNonBlocking), error);
	hg_cuda_device_measure_now(device);
	return HG_OK;
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
	if (device->releases != nullptr)
		cudaStreamDestroy(device->releases);
	device->releases = nullptr;
	if (device->pool != nullptr)
		cudaMemPoolDestroy(device->pool);
	device->pool = nullptr;
}

bool
hg_cuda_stream_has_passed(cudaStream_t stream)
{
	cudaError_t code = cudaStreamQuery(stream);

	if (code == cudaErrorNotReady)
	{
		cudaGetLastError();
		return false;
	}
	if (code == cudaSuccess)
		cudaStreamSynchronize(stream);
	return true;
}

/* Uncharges released blocks if their stream has passed them. The caller holds the lock. */
static void
uncharge_releases(HgCudaDevice *device)
{
	if (device->releasing == 0)
		return;
	/* else a thread without a device would initialize another one */
	cudaSetDevice(device->ordinal);
	if (hg_cuda_stream_has_passed(device->releases))
	{
		device->held -= device->releasing;
		device->releasing = 0;
	}
}

/* Uncharges released blocks, and closed jobs whose streams have ended. The caller locks. */
static void
uncharge_closed(HgCudaDevice *device)
{
	bool chosen = false;

	uncharge_releases(device);
	for (int i = 0; i < device->idle_count; i++)
	{
		HgCudaKit *kit = &device->idle[i];

		if (kit->charged == 0)
			continue;
		/* else a thread without a device would initialize another one */
		if (!chosen)
			cudaSetDevice(device->ordinal);
		chosen = true;
		if (hg_cuda_stream_has_passed(kit->stream))
		{
			device->held -= kit->charged;
			kit->charged = 0;
		}
	}
}

void
hg_cuda_device_trim_pool(HgCudaDevice *device, uint64_t bytes)
{
	if (device->pool == nullptr)
		return;
	{
		std::lock_guard<std::mutex> guard(device->lock);

		for (int i = 0; i < device->idle_count; i++)
			hg_cuda_stream_has_passed(device->idle[i].stream);
		hg_cuda_stream_has_passed(device->releases);
	}
	cudaMemPoolTrimTo(device->pool, bytes);
}

void
hg_cuda_device_use(HgCudaDevice *device, uint64_t *budget, uint64_t *held, uint64_t *peak)
{
	std::lock_guard<std::mutex> guard(device->lock);

	uncharge_closed(device);
	*budget = device->budget;
	*held = device->held;
	*peak = device->peak;
}

void
hg_cuda_device_measure(HgCudaDevice *device)
{
	bool due;

	{
		std::lock_guard<std::mutex> guard(device->lock);

		due = hg_clock_ms() - device->measured_ms >= MEASURED_MS;
	}
	if (due)
		hg_cuda_device_measure_now(device);
}

/* Takes an idle kit, if more than `kept` are idle. */
static bool
take_kit(HgCudaDevice *device, int remaining, HgCudaKit *kit)
{
	std::lock_guard<std::mutex> guard(device->lock);

	if (device->idle_count <= remaining)
		return false;
	*kit = device->idle[--device->idle_count];
	return true;
}

/* Pools a kit for the next job; returns false if the pool of kits is full. */
static bool
pool_kit(HgCudaDevice *device, const HgCudaKit *kit)
{
	std::lock_guard<std::mutex> guard(device->lock);

	if (device->idle_count == HG_IDLE_KITS)
		return false;
	device->idle[device->idle_count++] = *kit;
	return true;
}

/* Destroys a kit: waits for its stream, and then uncharges what the kit is charged with. */
static void
retire_kit(HgCudaDevice *device, HgCudaKit *kit)
{
	const uint64_t charged = kit->charged;

	cudaStreamSynchronize(kit->stream);
	destroy_kit(kit);
	std::lock_guard<std::mutex> guard(device->lock);

	device->held -= charged;
}

void
hg_cuda_device_trim(HgCudaDevice *device)
{
	HgCudaKit kit;

	cudaSetDevice(device->ordinal);
	while (take_kit(device, HG_RESTED_KITS, &kit))
		retire_kit(device, &kit);
	hg_cuda_device_trim_pool(device, 0);
}

void
hg_cuda_device_tidy(HgCudaDevice *device)
{
	uint64_t needed;

	{
		std::lock_guard<std::mutex> guard(device->lock);
		const double now = hg_clock_ms();

		if (now - device->period_began_ms < HG_TIDY_MS)
			return;
		needed = device->recent;
		device->recent = device->held;
		device->period_began_ms = now;
	}
	cudaSetDevice(device->ordinal);
	hg_cuda_device_trim_pool(device, needed);
}

HgStatus
hg_cuda_device_take_kit(HgCudaDevice *device, HgCudaKit *kit, HgError *error)
{
	HgStatus status;

	if (take_kit(device, 0, kit))
		return HG_OK;
	status = create_kit(kit, error);
	if (status != HG_OK)
		destroy_kit(kit);
	return status;
}

void
hg_cuda_device_release_kit(HgCudaDevice *device, HgCudaKit *kit)
{
	if (!pool_kit(device, kit))
		retire_kit(device, kit);
	memset(kit, 0, sizeof(*kit));
}

bool
hg_cuda_device_charge(HgCudaDevice *device, uint64_t needed, uint64_t *charged)
{
	std::lock_guard<std::mutex> guard(device->lock);

	/* a job may take again what it has freed */
	if (needed <= *charged)
		return true;
	if (device->held + (needed - *charged) > device->budget)
		uncharge_closed(device);
	if (device->held + (needed - *charged) > device->budget)
		return false;
	device->held += needed - *charged;
	*charged = needed;
	if (device->held > device->peak)
		device->peak = device->held;
	if (device->held > device->recent)
		device->recent = device->held;
	return true;
}

void
hg_cuda_device_promise(HgCudaDevice *device, uint64_t before, uint64_t bytes)
{
	std::lock_guard<std::mutex> guard(device->lock);

	device->promised += bytes - before;
}

uint64_t
hg_cuda_device_room(HgCudaDevice *device, bool beside_promises, uint64_t own_promise)
{
	std::lock_guard<std::mutex> guard(device->lock);
	uint64_t taken;

	uncharge_closed(device);
	taken = device->held;
	/* a job's own part of its promise counts twice: the room is rather too small than too large */
	if (beside_promises)
		taken += device->promised - own_promise;
	return taken < device->budget ? device->budget - taken : 0;
}

void
hg_cuda_device_add_outside(HgCudaDevice *device, int64_t bytes)
{
	std::lock_guard<std::mutex> guard(device->lock);

	device->outside += (uint64_t) bytes;
}

void
hg_cuda_device_uncharge(HgCudaDevice *device, uint64_t held, uint64_t *charged)
{
	if (*charged == held)
		return;
	std::lock_guard<std::mutex> guard(device->lock);

	device->held -= *charged - held;
	*charged = held;
}

void
hg_cuda_device_follow(HgCudaDevice *device, const HgCudaKit *kit)
{
	/* if either call fails, the device has failed, and none of its memory is used again */
	if (cudaEventRecord(kit->done, kit->stream) == cudaSuccess)
		cudaStreamWaitEvent(device->releases, kit->done, 0);
}

void
hg_cuda_device_release(HgCudaDevice *device, void *ptr, uint64_t bytes)
{
	cudaSetDevice(device->ordinal);
	if (device->pool == nullptr)
		cudaFree(ptr); /* waits for the device */
	std::lock_guard<std::mutex> guard(device->lock);

	/* asked before the next free is in the stream */
	const bool passed = device->pool == nullptr || hg_cuda_stream_has_passed(device->releases);

	if (device->pool != nullptr)
		cudaFreeAsync(ptr, device->releases);
	if (passed)
		device->held -= bytes;
	else
		device->releasing += bytes;
}
