/*-------------------------------------------------------------------------
 *
 * test_cuda_work.cu
 *	  What the CUDA engine asks of the runtime, and what it makes of the answers: without a device.
 *
 * The functions of the runtime that it calls are here, and do what a test has them do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/device/hg_cuda_launch.h"
#include "../../cuda/device/hg_cuda_work.h"
#include "hg_no_kernels.h"
#include "hg_tap.h"

#include <cstring>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * The runtime
 * ------------------------------------------------------------------------ */

/* Bytes of shared memory that a block of these devices can have at most, by ordinal. */
static const int shared_limits[] = {232448, 101376};

/* Kernels, and the bytes of static shared memory that they have. */
static void
plain_kernel(uint64_t)
{
}

static void
small_kernel(uint64_t *, int)
{
}

template <typename Word>
static void
large_kernel(const Word *, const uint32_t *, bool)
{
}

static const struct
{
	const void *kernel;
	size_t static_bytes;
} kernels[] = {{(const void *) small_kernel, 0},
			   {(const void *) large_kernel<uint32_t>, 2048},
			   {(const void *) large_kernel<uint64_t>, 336}};

static constexpr int KERNELS = 3;

static int current_device;
static int allowed[2][KERNELS]; /* by device and kernel: as set last */
static int times_allowed[2][KERNELS];
static cudaError_t last_error;
static cudaError_t launch_error;
static bool synchronised;
static uint64_t queries_left;
static double now_ms;
static bool slept;
static struct
{
	const void *kernel;
	unsigned blocks;
	unsigned threads;
	size_t shared;
	uint64_t argument; /* the first one */
} launched;

/* The number of a kernel that takes shared memory; -1 for others. */
static int
number_of(const void *kernel)
{
	for (int i = 0; i < KERNELS; i++)
		if (kernels[i].kernel == kernel)
			return i;
	return -1;
}

/* A call that has nothing to do here. */
#define HG_NOTHING(name, parameters)                                                               \
	extern "C" cudaError_t name parameters                                                         \
	{                                                                                              \
		return cudaSuccess;                                                                        \
	}

HG_NOTHING(cudaEventDestroy, (cudaEvent_t))
HG_NOTHING(cudaEventRecord, (cudaEvent_t, cudaStream_t))
HG_NOTHING(cudaFree, (void *) )
HG_NOTHING(cudaFreeAsync, (void *, cudaStream_t))
HG_NOTHING(cudaFreeHost, (void *) )
HG_NOTHING(cudaMemPoolDestroy, (cudaMemPool_t))
HG_NOTHING(cudaMemPoolSetAttribute, (cudaMemPool_t, cudaMemPoolAttr, void *) )
HG_NOTHING(cudaMemPoolTrimTo, (cudaMemPool_t, size_t))
HG_NOTHING(cudaMemcpyAsync, (void *, const void *, size_t, cudaMemcpyKind, cudaStream_t))
HG_NOTHING(cudaMemPoolGetAttribute, (cudaMemPool_t, cudaMemPoolAttr, void *) )
HG_NOTHING(cudaStreamDestroy, (cudaStream_t))
HG_NOTHING(cudaStreamQuery, (cudaStream_t))
HG_NOTHING(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned) )

/* A wait that has no end on a device that hangs. */
extern "C" cudaError_t
cudaStreamSynchronize(cudaStream_t)
{
	synchronised = true;
	return cudaSuccess;
}

/* An event is not there so many times; the runtime may leave that as the last error. */
extern "C" cudaError_t
cudaEventQuery(cudaEvent_t)
{
	if (queries_left == 0)
		return cudaSuccess;
	queries_left--;
	last_error = cudaErrorNotReady;
	return cudaErrorNotReady;
}

/* The clock, which goes on with each look at it and each sleep, and no faster. */
extern "C" double
__wrap_hg_clock_ms(void)
{
	return now_ms += 0.01;
}

extern "C" int
__wrap_usleep(useconds_t us)
{
	now_ms += us / 1000.0;
	slept = true;
	return 0;
}

/* What it would give. */
template <typename Handle>
static cudaError_t
give(Handle *handle)
{
	*handle = reinterpret_cast<Handle>(1);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaEventCreate(cudaEvent_t *event)
{
	return give(event);
}

extern "C" cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
	return give(event);
}

extern "C" cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
	return give(stream);
}

extern "C" cudaError_t
cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
	return give(pool);
}

extern "C" cudaError_t
cudaMalloc(void **memory, size_t)
{
	return give(memory);
}

extern "C" cudaError_t
cudaMallocHost(void **memory, size_t)
{
	return give(memory);
}

extern "C" cudaError_t
cudaMallocFromPoolAsync(void **memory, size_t, cudaMemPool_t, cudaStream_t)
{
	return give(memory);
}

extern "C" cudaError_t
cudaMemGetInfo(size_t *available, size_t *total)
{
	*available = *total = (size_t) 1 << 34;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaSetDevice(int device)
{
	current_device = device;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
	*value = attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? shared_limits[device] : 1;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
	memset(attributes, 0, sizeof(*attributes));
	attributes->sharedSizeBytes = kernels[number_of(kernel)].static_bytes;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
	if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
		return cudaErrorInvalidValue;
	allowed[current_device][number_of(kernel)] = value;
	times_allowed[current_device][number_of(kernel)]++;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaLaunchKernel(const void *kernel, dim3 blocks, dim3 threads, void **arguments, size_t shared,
				 cudaStream_t)
{
	launched = {kernel, blocks.x, threads.x, shared, *static_cast<uint64_t *>(arguments[0])};
	return launch_error;
}

extern "C" cudaError_t
cudaGetLastError()
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

extern "C" cudaError_t
cudaPeekAtLastError()
{
	return last_error;
}

extern "C" const char *
cudaGetErrorString(cudaError_t)
{
	return "as the test has it";
}

/* ------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------ */

/* Some launches: those of the two large kernels with as much shared memory as is asked for. */
static HgStatus
launch_all(const HgCudaWork *work, size_t shared, HgError *error)
{
	static uint64_t numbers[1];

	HG_TRY((hg_cuda_launch_shared<small_kernel>(work->stream, "small_kernel", 1, 32, 64, error,
												numbers, 5)));
	HG_TRY((hg_cuda_launch_shared<large_kernel<uint32_t>>(work->stream, "large_kernel", 4, 512,
														  shared, error, nullptr, nullptr, true)));
	HG_TRY((hg_cuda_launch_shared<large_kernel<uint64_t>>(work->stream, "large_kernel", 4, 512,
														  shared, error, nullptr, nullptr, false)));
	return hg_cuda_launch<plain_kernel>(work->stream, "plain_kernel", 7, 256, error, 11);
}

/* Every kernel may have what its device has, whatever is launched. */
static void
test_shared_memory(void)
{
	HgError error = {};
	bool good = true;

	for (int ordinal = 0; ordinal < 2; ordinal++)
	{
		HgCudaDevice device = {};
		HgCudaWork work;

		good = good && hg_cuda_device_open(&device, ordinal, 0, &error) == HG_OK;
		good = good && hg_cuda_work_open(&work, &device, nullptr, 0, &error) == HG_OK;
		for (size_t shared = 100; good && shared < 100000; shared += 33000)
			good = launch_all(&work, shared, &error) == HG_OK;
		hg_cuda_work_close(&work);
		hg_cuda_device_close(&device);
	}
	hg_tap_ok(good && launched.kernel == (const void *) plain_kernel && launched.blocks == 7 &&
				  launched.threads == 256 && launched.shared == 0 && launched.argument == 11,
			  "a kernel is launched as it is asked for");
	for (int ordinal = 0; ordinal < 2; ordinal++)
		for (int i = 0; i < KERNELS; i++)
			good = good && times_allowed[ordinal][i] == 1 &&
				   allowed[ordinal][i] == shared_limits[ordinal] - (int) kernels[i].static_bytes;
	hg_tap_ok(good, "kernels may have the shared memory of their device, which is set once");
}

/* A launch fails for a reason of its own, and for no other. */
static void
test_launch_errors(void)
{
	HgCudaWork work = {};
	HgError error = {};
	bool good;

	last_error = cudaErrorNotReady;
	good = launch_all(&work, 1000, &error) == HG_OK;
	hg_tap_ok(good, "a launch does not fail for what was before");
	last_error = cudaSuccess;
	launch_error = cudaErrorInvalidValue;
	good = launch_all(&work, 1000, &error) == HG_DEVICE_FAILED &&
		   strcmp(error.detail, "small_kernel: as the test has it") == 0;
	hg_tap_ok(good, "a launch that fails names the kernel");
	launch_error = cudaSuccess;
}

static bool cancelled_now;

static bool
cancelled(void *)
{
	return cancelled_now;
}

/*
 * Waits sleep, heed a cancel where they may, end on a device that hangs, and leave no error behind.
 */
static void
test_waits(void)
{
	static constexpr double HUNG_MS = 300000; /* by then every wait has ended */
	HgHost host = {};
	HgCudaDevice device = {};
	HgCudaWork work;
	HgError error = {};
	HgStatus status;

	host.cancelled = cancelled;
	if (hg_cuda_device_open(&device, 0, 0, &error) != HG_OK ||
		hg_cuda_work_open(&work, &device, &host, 0, &error) != HG_OK)
	{
		hg_tap_ok(false, "a job begins");
		return;
	}
	queries_left = 1000;
	hg_tap_ok(hg_cuda_wait(&work, &error) == HG_OK && last_error == cudaSuccess,
			  "that work was not done yet is no error of a later call");
	cancelled_now = true;
	queries_left = 1000;
	hg_tap_ok(hg_cuda_wait(&work, &error) == HG_CANCELLED, "a wait is cancelled");
	slept = synchronised = false;
	queries_left = 1000;
	hg_tap_ok(hg_cuda_finish(&work, &error) == HG_OK && queries_left == 0 && slept && !synchronised,
			  "... but not one for copies to the caller's memory, which sleeps as well");
	for (int finishing = 0; finishing < 2; finishing++)
	{
		const double before = now_ms;

		cancelled_now = finishing != 0;
		queries_left = UINT64_MAX;
		status = finishing ? hg_cuda_finish(&work, &error) : hg_cuda_wait(&work, &error);
		hg_tap_ok(status == HG_DEVICE_FAILED && now_ms - before < HUNG_MS,
				  "a device that hangs has failed, %s",
				  finishing ? "with copies to the caller's memory" : "without");
	}
	queries_left = 0;
	cancelled_now = false;
	hg_cuda_work_close(&work);
	hg_cuda_device_close(&device);
}

int
main()
{
	test_shared_memory();
	test_launch_errors();
	test_waits();
	return hg_tap_done();
}
