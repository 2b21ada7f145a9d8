/*-------------------------------------------------------------------------
 *
 * hg_cuda_devices.cu
 *	  The devices of this machine: what they are, and whether they can be used.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_devices.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

/* An empty kernel that stands for all: the build makes all kernels for the same devices. */
static __global__ void
hg_devices_kernel()
{
}

/*
 * Returns, in detail, what may hide devices, for an error; empty if nothing does. CUDA reads the
 * variable from the server's environment. It lists numbers and UUIDs of devices and MIG slices; an
 * unknown entry hides all entries after it.
 */
static const char *
hidden_by(char *detail, size_t size)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	detail[0] = '\0';
	if (visible != nullptr)
		snprintf(detail, size, "CUDA_VISIBLE_DEVICES is \"%.100s\" in the server's environment.",
				 visible);
	return detail;
}

/* Stores the number of devices, or returns why there are none. */
static HgStatus
count_devices(int *count, HgError *error)
{
	cudaError_t code = cudaGetDeviceCount(count);
	char detail[200];

	if (code == cudaSuccess && *count > 0)
		return HG_OK;
	*count = 0;
	cudaGetLastError();
	switch (code)
	{
		case cudaSuccess:
		case cudaErrorNoDevice:
			return hg_error_set(error, HG_UNAVAILABLE, hidden_by(detail, sizeof(detail)),
								"no CUDA device was found");
		case cudaErrorInsufficientDriver:
			return hg_error_set(error, HG_UNAVAILABLE,
								"The driver is missing, or older than this program needs.",
								"no usable NVIDIA driver was found");
		default:
			return hg_error_set(error, HG_UNAVAILABLE, cudaGetErrorString(code),
								"CUDA could not be initialised");
	}
}

/* Returns true if this program has code for the current device. */
static bool
has_code()
{
	cudaFuncAttributes attributes;
	bool found = cudaFuncGetAttributes(&attributes, hg_devices_kernel) == cudaSuccess;

	cudaGetLastError();
	return found;
}

/* Fills in what is known of a device without touching its memory. */
static void
describe_device(int ordinal, HgDeviceInfo *info)
{
	cudaDeviceProp properties;
	cudaError_t code = cudaGetDeviceProperties(&properties, ordinal);

	memset(info, 0, sizeof(*info));
	info->ordinal = ordinal;
	cudaDriverGetVersion(&info->driver_version);
	cudaRuntimeGetVersion(&info->runtime_version);
	if (code != cudaSuccess)
	{
		snprintf(info->state, sizeof(info->state), "%s", cudaGetErrorName(code));
		cudaGetLastError();
		return;
	}
	snprintf(info->name, sizeof(info->name), "%.95s", properties.name);
	info->capability_major = properties.major;
	info->capability_minor = properties.minor;
	info->memory_total = properties.totalGlobalMem;
	info->memory_budget = info->memory_total / 5 * 4;
}

int
hg_cuda_engine_list(int used, HgDeviceInfo *infos, int capacity, HgError *error)
{
	int count;

	if (count_devices(&count, error) != HG_OK)
		return 0;
	if (count > capacity)
		count = capacity;
	for (int ordinal = 0; ordinal < count; ordinal++)
	{
		HgDeviceInfo *info = &infos[ordinal];
		size_t available;
		size_t total;

		describe_device(ordinal, info);
		if (info->state[0] != '\0')
			continue;
		if (used != HG_CUDA_EACH && ordinal != used)
		{
			snprintf(info->state, sizeof(info->state), HG_DEVICE_UNUSED);
			continue;
		}
		if (cudaSetDevice(ordinal) != cudaSuccess ||
			cudaMemGetInfo(&available, &total) != cudaSuccess)
		{
			snprintf(info->state, sizeof(info->state), "%s", cudaGetErrorName(cudaGetLastError()));
			continue;
		}
		info->memory_free = available;
		snprintf(info->state, sizeof(info->state), has_code() ? "ready" : "not supported");
	}
	return count;
}

/* Returns the first device that can be used, or -1. */
static int
find_first(int count)
{
	for (int i = 0; i < count; i++)
	{
		if (cudaSetDevice(i) == cudaSuccess && cudaFree(nullptr) == cudaSuccess && has_code())
			return i;
		cudaGetLastError();
		cudaDeviceReset();
	}
	return -1;
}

/* Returns the usable device with the most free memory, or -1. */
static int
find_emptiest(int count)
{
	uint64_t most = 0;
	int found = -1;

	/* asking for the free memory creates a context, which itself takes memory */
	if (count == 1)
		return 0;
	for (int i = 0; i < count; i++)
	{
		size_t available;
		size_t total;

		if (cudaSetDevice(i) == cudaSuccess && cudaMemGetInfo(&available, &total) == cudaSuccess &&
			has_code() && available >= most)
		{
			most = available;
			found = i;
		}
		cudaGetLastError();
		cudaDeviceReset();
	}
	return found;
}

HgStatus
hg_cuda_devices_choose(int wanted, int *ordinal, HgError *error)
{
	char detail[200];
	int count;

	HG_TRY(count_devices(&count, error));
	if (wanted >= count)
		return hg_error_set(error, HG_UNAVAILABLE, hidden_by(detail, sizeof(detail)),
							"there is no device %d", wanted);

	*ordinal = wanted;
	if (wanted == HG_CUDA_FIRST && count > 1)
		*ordinal = find_first(count);
	else if (wanted < 0)
		*ordinal = find_emptiest(count);
	if (*ordinal < 0)
		return hg_error_set(error, HG_UNAVAILABLE, nullptr, "no device can be used");

	if (cudaSetDevice(*ordinal) != cudaSuccess || cudaFree(nullptr) != cudaSuccess)
		return hg_error_set(error, HG_UNAVAILABLE, cudaGetErrorString(cudaGetLastError()),
							"device %d can not be used", *ordinal);
	if (!has_code())
		return hg_error_set(error, HG_UNAVAILABLE,
							"Build it with CUDA_ARCH set to the device's compute capability.",
							"this program has no code for device %d", *ordinal);
	return HG_OK;
}
