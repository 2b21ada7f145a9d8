/*-------------------------------------------------------------------------
 *
 * hg_cuda_shared.cu
 *	  Device memory that other processes write to.
 *
 * The driver's functions are looked up by name, because the program is not linked with the driver.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_shared.h"

#include <cuda.h>
#include <fcntl.h>
#include <unistd.h>

/* The CUDA version that introduced these calls. */
static constexpr unsigned CALLS_VERSION = 10020;

/* The driver's calls: all are there, or none is used. */
struct Calls
{
	decltype(&cuMemGetAllocationGranularity) granularity;
	decltype(&cuMemCreate) create;
	decltype(&cuMemRelease) release;
	decltype(&cuMemExportToShareableHandle) export_handle;
	decltype(&cuMemImportFromShareableHandle) import_handle;
	decltype(&cuMemAddressReserve) reserve;
	decltype(&cuMemAddressFree) unreserve;
	decltype(&cuMemMap) map;
	decltype(&cuMemUnmap) unmap;
	decltype(&cuMemSetAccess) set_access;
	bool are_there;
};

/* Looks up one call. */
template <typename Call>
static bool
find_call(const char *name, Call *call)
{
	void *found = nullptr;
#if CUDART_VERSION >= 12050
	cudaDriverEntryPointQueryResult result;
	cudaError_t code =
		cudaGetDriverEntryPointByVersion(name, &found, CALLS_VERSION, cudaEnableDefault, &result);
#else
	cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif

	if (code != cudaSuccess)
		cudaGetLastError();
	*call = reinterpret_cast<Call>(found);
	return code == cudaSuccess && found != nullptr;
}

static Calls
find_calls()
{
	Calls calls;

	calls.are_there =
		find_call("cuMemGetAllocationGranularity", &calls.granularity) &&
		find_call("cuMemCreate", &calls.create) && find_call("cuMemRelease", &calls.release) &&
		find_call("cuMemExportToShareableHandle", &calls.export_handle) &&
		find_call("cuMemImportFromShareableHandle", &calls.import_handle) &&
		find_call("cuMemAddressReserve", &calls.reserve) &&
		find_call("cuMemAddressFree", &calls.unreserve) && find_call("cuMemMap", &calls.map) &&
		find_call("cuMemUnmap", &calls.unmap) && find_call("cuMemSetAccess", &calls.set_access);
	return calls;
}

/* Returns the calls; the first thread that comes looks them up. */
static const Calls *
the_calls()
{
	static const Calls calls = find_calls();

	return &calls;
}

static HgStatus
refuse(HgError *error, const char *why)
{
	return hg_error_set(error, HG_INVALID, nullptr, "%s", why);
}

/* The properties of shareable memory of a device. */
static CUmemAllocationProp
properties_of(const HgCudaDevice *device)
{
	CUmemAllocationProp properties;

	memset(&properties, 0, sizeof(properties));
	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	properties.location.id = device->ordinal;
	return properties;
}

/* Rounds bytes up to whole pages of the driver. Returns false if that fails or bytes is 0. */
static bool
round_up(const HgCudaDevice *device, uint64_t bytes, uint64_t *rounded)
{
	const CUmemAllocationProp properties = properties_of(device);
	size_t page = 0;

	if (the_calls()->granularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) !=
			CUDA_SUCCESS ||
		page == 0 || bytes == 0 || bytes > UINT64_MAX - page)
		return false;
	*rounded = (bytes + page - 1) / page * page;
	return true;
}

/* Maps memory for a device to read and write; returns false if that fails. */
static bool
map(const HgCudaDevice *device, CUmemGenericAllocationHandle handle, uint64_t bytes,
	HgCudaShared *shared)
{
	const Calls *calls = the_calls();
	CUmemAccessDesc access;
	CUdeviceptr at;

	memset(&access, 0, sizeof(access));
	access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location.id = device->ordinal;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	if (calls->reserve(&at, bytes, 0, 0, 0) != CUDA_SUCCESS)
		return false;
	if (calls->map(at, bytes, 0, handle, 0) == CUDA_SUCCESS)
	{
		if (calls->set_access(at, bytes, &access, 1) == CUDA_SUCCESS)
		{
			shared->memory = reinterpret_cast<unsigned char *>(at);
			shared->mapped = bytes;
			return true;
		}
		calls->unmap(at, bytes);
	}
	calls->unreserve(at, bytes);
	return false;
}

/* Creates memory of the device; if that fails, trims the pool and tries again. */
static bool
create(HgCudaDevice *device, uint64_t bytes, CUmemGenericAllocationHandle *handle)
{
	const CUmemAllocationProp properties = properties_of(device);

	if (the_calls()->create(handle, bytes, &properties, 0) == CUDA_SUCCESS)
		return true;
	hg_cuda_device_trim_pool(device, 0);
	return the_calls()->create(handle, bytes, &properties, 0) == CUDA_SUCCESS;
}

/* Makes memory, its mapping and its descriptor. The caller has charged the job. */
static bool
make(HgCudaDevice *device, uint64_t bytes, HgCudaShared *shared, int *descriptor)
{
	const Calls *calls = the_calls();
	CUmemGenericAllocationHandle handle;
	bool made;

	*descriptor = -1;
	if (!create(device, bytes, &handle))
		return false;
	made = calls->export_handle(descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) ==
			   CUDA_SUCCESS &&
		   map(device, handle, bytes, shared);
	/* from now on a mapping or a descriptor keeps the memory */
	calls->release(handle);
	if (!made && *descriptor >= 0)
		close(*descriptor);
	else if (made)
		fcntl(*descriptor, F_SETFD, FD_CLOEXEC);
	return made;
}

HgStatus
hg_cuda_shared_make(HgCudaWork *work, uint64_t bytes, HgCudaShared *shared, int *descriptor,
					HgError *error)
{
	uint64_t rounded;

	memset(shared, 0, sizeof(*shared));
	if (!the_calls()->are_there || !round_up(work->device, bytes, &rounded))
		return refuse(error, "the driver makes no memory for other processes");
	if (!hg_cuda_work_hold(work, rounded))
		return refuse(error, "the device has no memory for other processes");
	if (!make(work->device, rounded, shared, descriptor))
	{
		hg_cuda_work_let_go(work, rounded);
		return refuse(error, "the device made no memory for other processes");
	}
	shared->is_held = true;
	return HG_OK;
}

HgStatus
hg_cuda_shared_open(HgCudaWork *work, int descriptor, uint64_t bytes, HgCudaShared *shared,
					HgError *error)
{
	const Calls *calls = the_calls();
	CUmemGenericAllocationHandle handle;
	uint64_t rounded;
	bool mapped;

	memset(shared, 0, sizeof(*shared));
	if (!calls->are_there || !round_up(work->device, bytes, &rounded))
		return refuse(error, "the driver maps no memory of other processes");
	if (calls->import_handle(&handle, reinterpret_cast<void *>(static_cast<intptr_t>(descriptor)),
							 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != CUDA_SUCCESS)
		return refuse(error, "the descriptor is of no device's memory");
	/* mapping fails if the memory is smaller, or the device does not reach it */
	mapped = map(work->device, handle, rounded, shared);
	calls->release(handle);
	return mapped ? HG_OK : refuse(error, "the device does not reach the memory");
}

void
hg_cuda_shared_close(HgCudaWork *work, HgCudaShared *shared)
{
	const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(shared->memory);

	if (shared->memory == nullptr || hg_cuda_finish(work, nullptr) != HG_OK)
		return;
	the_calls()->unmap(at, shared->mapped);
	the_calls()->unreserve(at, shared->mapped);
	if (shared->is_held)
		hg_cuda_work_let_go(work, shared->mapped);
	memset(shared, 0, sizeof(*shared));
}
