/*-------------------------------------------------------------------------
 *
 * test_cuda_memory.cu
 *	  Device memory of the CUDA engine: pool, budget, other processes.  It needs no device.
 *
 * The functions of the CUDA runtime that cuda/device calls are here.  They have a device with a
 * pool whose blocks are not cut: one that was freed serves what is as large or smaller, and goes
 * back to the device when the pool is trimmed.  A stream is busy when a test says so, and until
 * someone waits for it; what is freed in it is in use until then.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/device/hg_cuda_work.h"
#include "hg_no_kernels.h"
#include "hg_tap.h"

#include <cstring>

/* ------------------------------------------------------------------------
 * The runtime
 * ------------------------------------------------------------------------ */

static constexpr uint64_t MB = UINT64_C(1) << 20;
static constexpr uint64_t TOTAL = 1000 * MB;
static constexpr int STREAMS = 32;
static constexpr int OWN_STREAM = STREAMS - 1; /* of the device, for releases */

struct Block
{
	uint64_t bytes;
	bool used;
	cudaStream_t freed_in; /* busy since: nobody else can have it, nor the device */
};

static Block blocks[64]; /* their addresses are those of the memory */
static int block_count;
static uint64_t others; /* bytes that other processes have */
static bool has_pools;
static bool busy[STREAMS]; /* by stream, whose handle is its number, from 1 */
static int streams;
static int refusals; /* of memory */
static double now_ms;
static bool cancelling;

static int
number_of(cudaStream_t stream)
{
	return (int) reinterpret_cast<uintptr_t>(stream) - 1;
}

static bool
is_pending(const Block *block)
{
	return block->freed_in != nullptr && busy[number_of(block->freed_in)];
}

/* What the pool, or the process, has of the device. */
static uint64_t
reserved()
{
	uint64_t sum = 0;

	for (int i = 0; i < block_count; i++)
		sum += blocks[i].bytes;
	return sum;
}

extern "C" double
__wrap_hg_clock_ms(void)
{
	return now_ms;
}

static cudaError_t
allocate(void **memory, uint64_t bytes, cudaStream_t stream)
{
	for (int i = 0; i < block_count; i++)
		if (blocks[i].bytes >= bytes && !blocks[i].used &&
			(!is_pending(&blocks[i]) || blocks[i].freed_in == stream))
		{
			blocks[i].used = true;
			*memory = &blocks[i];
			return cudaSuccess;
		}
	if (reserved() + others + bytes > TOTAL)
	{
		refusals++;
		return cudaErrorMemoryAllocation;
	}
	/* a place that was given back, or a new one */
	int index = 0;

	while (index < block_count && blocks[index].bytes > 0)
		index++;
	if (index == block_count)
		block_count++;
	blocks[index] = {bytes, true, nullptr};
	*memory = &blocks[index];
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t, cudaStream_t stream)
{
	return allocate(memory, bytes, stream);
}

extern "C" cudaError_t
cudaMalloc(void **memory, size_t bytes)
{
	return allocate(memory, bytes, nullptr);
}

extern "C" cudaError_t
cudaFreeAsync(void *memory, cudaStream_t stream)
{
	Block *block = static_cast<Block *>(memory);

	block->used = false;
	block->freed_in = stream;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaFree(void *memory)
{
	static_cast<Block *>(memory)->used = false;
	static_cast<Block *>(memory)->bytes = 0;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
	*pool = reinterpret_cast<cudaMemPool_t>(1);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemPoolTrimTo(cudaMemPool_t, size_t keep)
{
	for (int i = 0; i < block_count && reserved() > keep; i++)
		if (!blocks[i].used && !is_pending(&blocks[i]))
			blocks[i].bytes = 0;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value)
{
	*static_cast<uint64_t *>(value) = reserved();
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemGetInfo(size_t *available, size_t *total)
{
	*available = TOTAL - others - reserved();
	*total = TOTAL;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
	*value = attribute == cudaDevAttrMemoryPoolsSupported ? has_pools : 49152;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
	*stream = reinterpret_cast<cudaStream_t>((uintptr_t) (streams++ % STREAMS + 1));
	return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamQuery(cudaStream_t stream)
{
	return busy[number_of(stream)] ? cudaErrorNotReady : cudaSuccess;
}

extern "C" cudaError_t
cudaStreamSynchronize(cudaStream_t stream)
{
	busy[number_of(stream)] = false;
	return cudaSuccess;
}

/* The event is the stream that it was recorded in last: one at a time is enough. */
static cudaStream_t recorded;

extern "C" cudaError_t
cudaEventRecord(cudaEvent_t, cudaStream_t stream)
{
	recorded = stream;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaEventQuery(cudaEvent_t)
{
	return cudaStreamSynchronize(recorded);
}

/* The event is the last one that was recorded; a stream that waits is busy as that was. */
extern "C" cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t, unsigned)
{
	busy[number_of(stream)] = busy[number_of(stream)] || busy[number_of(recorded)];
	return cudaSuccess;
}

/* A call that has nothing to do here. */
#define HG_NOTHING(name, parameters)                                                               \
	extern "C" cudaError_t name parameters                                                         \
	{                                                                                              \
		return cudaSuccess;                                                                        \
	}

HG_NOTHING(cudaEventCreateWithFlags, (cudaEvent_t *, unsigned) )
HG_NOTHING(cudaEventCreate, (cudaEvent_t *) )
HG_NOTHING(cudaEventDestroy, (cudaEvent_t))
HG_NOTHING(cudaFreeHost, (void *) )
HG_NOTHING(cudaFuncGetAttributes, (cudaFuncAttributes *, const void *) )
HG_NOTHING(cudaFuncSetAttribute, (const void *, cudaFuncAttribute, int) )
HG_NOTHING(cudaGetLastError, ())
HG_NOTHING(cudaMallocHost, (void **, size_t))
HG_NOTHING(cudaMemPoolDestroy, (cudaMemPool_t))
HG_NOTHING(cudaMemPoolSetAttribute, (cudaMemPool_t, cudaMemPoolAttr, void *) )
HG_NOTHING(cudaMemcpyAsync, (void *, const void *, size_t, cudaMemcpyKind, cudaStream_t))
HG_NOTHING(cudaSetDevice, (int) )
HG_NOTHING(cudaStreamDestroy, (cudaStream_t))

extern "C" const char *
cudaGetErrorString(cudaError_t)
{
	return "it failed";
}

/* ------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------ */

static bool
is_cancelled(void *)
{
	return cancelling;
}

/* A device of its own for each test, with 600 MB for us unless others have more than the rest. */
static void
start(HgCudaDevice *device, uint64_t neighbours)
{
	memset(blocks, 0, sizeof(blocks));
	memset(busy, 0, sizeof(busy));
	block_count = refusals = 0;
	streams = OWN_STREAM; /* jobs have those from 0 on */
	others = neighbours;
	now_ms += 100000;
	if (hg_cuda_device_open(device, 0, 600 * MB, nullptr) != HG_OK)
		hg_tap_ok(false, "the device is opened");
}

static HgHost host;

static void
open_job(HgCudaWork *work, HgCudaDevice *device)
{
	host.cancelled = is_cancelled;
	hg_cuda_work_open(work, device, &host, 0, nullptr);
}

/* A block of so many MB, less what blocks are rounded up by; NULL where it is refused. */
static void *
take(HgCudaWork *work, uint64_t megabytes)
{
	void *block;
	HgError error;

	return hg_cuda_alloc(work, megabytes * MB - 1000, &block, &error) == HG_OK ? block : nullptr;
}

/* Does the device have so many MB held, or a few KB less? */
static bool
holds(HgCudaDevice *device, uint64_t megabytes)
{
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	hg_cuda_device_use(device, &budget, &held, &peak);
	return held <= megabytes * MB && held + 8192 > megabytes * MB;
}

static uint64_t
budget_of(HgCudaDevice *device)
{
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	hg_cuda_device_use(device, &budget, &held, &peak);
	return budget;
}

/* Memory that other processes have. */
static void
test_neighbours(void)
{
	HgCudaDevice empty = {};
	HgCudaDevice device = {};
	HgCudaWork work;
	HgError error;
	void *block;

	start(&empty, 100 * MB);
	hg_tap_ok(budget_of(&empty) == 600 * MB, "what other processes do not want is the budget");
	hg_cuda_device_close(&empty);
	start(&device, 680 * MB);
	hg_tap_ok(budget_of(&device) == 310 * MB,
			  "less is where they have more, but for a part that is left");
	open_job(&work, &device);
	hg_tap_ok(take(&work, 200) != nullptr && take(&work, 200) == nullptr && refusals == 0,
			  "it is what jobs can have");
	others = 100 * MB;
	hg_tap_ok(take(&work, 200) == nullptr, "as measured a moment ago");
	now_ms += 1000;
	hg_tap_ok(take(&work, 200) != nullptr && budget_of(&device) == 600 * MB,
			  "or once more after a second");
	others = 600 * MB;
	hg_tap_ok(hg_cuda_alloc(&work, 150 * MB, &block, &error) == HG_DEVICE_OUT_OF_MEMORY &&
				  block == nullptr && budget_of(&device) <= 400 * MB &&
				  budget_of(&device) > 399 * MB && refusals == 2,
			  "what the device refuses is measured at once");
	hg_tap_ok(hg_cuda_wait(&work, &error) == HG_OK && holds(&device, 400), "and not held");
	hg_cuda_work_close(&work);
	hg_tap_ok(holds(&device, 0), "nothing is after the job");
	hg_cuda_device_close(&device);
}

/* What the pool has in pieces that are too small. */
static void
test_retry(void)
{
	HgCudaDevice device = {};
	HgCudaWork work;
	HgError error;
	void *a;
	void *b;

	start(&device, 300 * MB);
	open_job(&work, &device);
	a = take(&work, 300);
	b = take(&work, 300);
	busy[0] = true;
	hg_cuda_free(&work, a);
	hg_cuda_free(&work, b);
	a = take(&work, 500);
	hg_tap_ok(a != nullptr && refusals == 1 && reserved() <= 500 * MB,
			  "an allocation that fails is tried again with all that is not in use");
	hg_tap_ok(holds(&device, 500), "which is what is held then");
	hg_cuda_free(&work, a);
	b = take(&work, 300);
	busy[0] = cancelling = true;
	others = 500 * MB;
	hg_tap_ok(hg_cuda_alloc(&work, 250 * MB, &a, &error) == HG_CANCELLED && a == nullptr,
			  "which can be cancelled");
	cancelling = false;
	hg_cuda_work_close(&work);
	busy[0] = false;
	hg_tap_ok(holds(&device, 0), "nothing is held after the job");
	hg_cuda_device_close(&device);
}

/* Memory that a stream has still to pass is not free for others. */
static void
test_streams(void)
{
	HgCudaDevice device = {};
	HgCudaWork one;
	HgCudaWork other;
	HgError error;
	void *block;

	start(&device, 0);
	open_job(&one, &device);
	open_job(&other, &device);
	block = take(&one, 400);
	busy[0] = true;
	hg_cuda_free(&one, block);
	hg_tap_ok(holds(&device, 400) && take(&other, 400) == nullptr && reserved() <= 400 * MB,
			  "what a job has given back is held until its stream has passed that");
	block = take(&one, 300);
	hg_tap_ok(block != nullptr && holds(&device, 400), "but the job can have it again");
	hg_tap_ok(hg_cuda_wait(&one, &error) == HG_OK && holds(&device, 300) && one.held <= 300 * MB,
			  "what it has left is free when it has waited");
	hg_cuda_free(&one, block);
	hg_tap_ok(hg_cuda_finish(&one, &error) == HG_OK && holds(&device, 0),
			  "and all of it when it is done");
	block = take(&one, 500);
	busy[0] = true;
	hg_cuda_work_close(&one);
	hg_tap_ok(holds(&device, 500) && take(&other, 200) == nullptr,
			  "so does a job that is closed while something runs");
	busy[0] = false;
	hg_tap_ok(take(&other, 200) != nullptr && holds(&device, 200), "until that has ended");
	hg_cuda_work_close(&other);

	/* the next job with its stream can have what it had */
	open_job(&one, &device);
	const int stream = number_of(one.stream);
	block = take(&one, 500);
	busy[stream] = true;
	hg_cuda_work_close(&one);
	open_job(&one, &device);
	hg_tap_ok(number_of(one.stream) == stream && take(&one, 500) != nullptr && holds(&device, 500),
			  "who comes behind it in its stream need not wait");
	hg_cuda_work_close(&one);
	busy[stream] = false;
	hg_tap_ok(holds(&device, 0), "nothing is held after that");
	hg_cuda_device_close(&device);
}

/* Blocks that outlive the job which took them, and are used by others until they are released. */
static void
test_outliving(void)
{
	HgCudaDevice device = {};
	HgCudaWork maker;
	HgCudaWork user;
	uint64_t bytes;
	void *block;

	start(&device, 0);
	open_job(&maker, &device);
	block = take(&maker, 300);
	take(&maker, 100);
	bytes = hg_cuda_detach(&maker, block);
	hg_tap_ok(bytes <= 300 * MB && bytes > 299 * MB && holds(&device, 400) &&
				  maker.held <= 100 * MB && hg_cuda_detach(&maker, block) == 0,
			  "a block that is detached is the job's no more, but held");
	hg_cuda_work_close(&maker);
	hg_tap_ok(holds(&device, 300), "it is there when the job is closed");
	hg_cuda_device_trim(&device);
	hg_tap_ok(holds(&device, 300) && reserved() > 299 * MB, "and when there are none");
	hg_cuda_device_release(&device, block, bytes);
	hg_tap_ok(holds(&device, 0), "until it is released");

	open_job(&maker, &device);
	block = take(&maker, 500);
	bytes = hg_cuda_detach(&maker, block);
	hg_cuda_work_close(&maker);
	open_job(&user, &device);
	busy[number_of(user.stream)] = true;
	hg_cuda_device_follow(&device, &user.kit);
	hg_cuda_work_close(&user);
	hg_cuda_device_release(&device, block, bytes);
	open_job(&maker, &device);
	hg_tap_ok(holds(&device, 500) && take(&maker, 200) == nullptr,
			  "what is released is held as long as a job's work may use it");
	memset(busy, 0, sizeof(busy));
	hg_tap_ok(take(&maker, 600) != nullptr && holds(&device, 600), "and no longer");
	hg_cuda_work_close(&maker);
	hg_cuda_device_close(&device);
}

/* Memory that was needed once, while a job is open. */
static void
test_tidying(void)
{
	HgCudaDevice device = {};
	HgCudaWork cursor;
	HgCudaWork work;
	void *block;
	bool pooled = true;

	start(&device, 0);
	open_job(&cursor, &device);
	open_job(&work, &device);
	take(&cursor, 10);
	block = take(&work, 500);
	hg_cuda_free(&work, block);
	hg_cuda_work_close(&work);
	for (int seconds = 0; seconds < 4; seconds++)
	{
		now_ms += 1000;
		hg_cuda_device_tidy(&device);
		pooled = pooled && reserved() > 500 * MB;
	}
	hg_tap_ok(pooled, "what was needed a moment ago stays with the process");
	for (int seconds = 0; seconds < 10; seconds++)
	{
		now_ms += 1000;
		hg_cuda_device_tidy(&device);
	}
	hg_tap_ok(reserved() <= 10 * MB, "what was not for some seconds does not, with a job open");
	open_job(&work, &device);
	for (int seconds = 0; seconds < 20; seconds++)
	{
		hg_cuda_free(&work, take(&work, 400));
		now_ms += 1000;
		hg_cuda_device_tidy(&device);
		pooled = pooled && reserved() > 400 * MB;
	}
	hg_tap_ok(pooled, "what is needed now and then does");
	hg_cuda_work_close(&work);
	hg_cuda_work_close(&cursor);
	hg_cuda_device_trim(&device);
	hg_tap_ok(reserved() == 0 && holds(&device, 0), "nothing is left of it when it is trimmed");
	hg_cuda_device_close(&device);
}

/* Streams that are many, in one of which something runs, while there are no jobs. */
static void
test_trimming(void)
{
	HgCudaDevice device = {};
	HgCudaWork works[HG_RESTED_KITS + 2];
	bool taken = true;

	start(&device, 0);
	for (HgCudaWork &work : works)
	{
		open_job(&work, &device);
		taken = taken && take(&work, 20) != nullptr;
	}
	const int last = number_of(works[HG_RESTED_KITS + 1].stream);
	for (HgCudaWork &work : works)
	{
		busy[number_of(work.stream)] = number_of(work.stream) == last;
		hg_cuda_work_close(&work);
	}
	hg_tap_ok(taken && busy[last] && holds(&device, 20), "a job is closed while something runs");
	hg_cuda_device_trim(&device);
	hg_tap_ok(device.idle_count == HG_RESTED_KITS && holds(&device, 0),
			  "what it held is free when its stream is given up");
	hg_tap_ok(reserved() == 0, "for other processes too");
	hg_cuda_device_close(&device);
}

/* May a job take so many MB beyond what it needs, or a few KB more? */
static bool
spares(HgCudaWork *work, uint64_t megabytes)
{
	const uint64_t spare = hg_cuda_work_spare(work);

	return spare >= megabytes * MB && spare < megabytes * MB + 8192;
}

/* What a job may take beyond what it needs. */
static void
test_spare(void)
{
	HgCudaDevice device = {};
	HgCudaWork one;
	HgCudaWork other;
	HgError error;
	void *block;

	start(&device, 0);
	open_job(&one, &device);
	open_job(&other, &device);
	hg_tap_ok(spares(&one, 600), "all of the budget is to spare at first");
	hg_cuda_work_promise(&other, 250 * MB);
	hg_tap_ok(spares(&one, 350) && take(&one, 350) != nullptr && take(&other, 250) != nullptr,
			  "but not what another job was promised, which it can have then");
	hg_tap_ok(hg_cuda_work_spare(&one) == 0, "nothing is where all is held");
	hg_cuda_work_close(&one);
	hg_tap_ok(spares(&other, 100), "a promise counts until it is taken back");
	hg_cuda_work_promise(&other, 0);
	hg_tap_ok(spares(&other, 350), "or not any more");

	open_job(&one, &device);
	block = take(&one, 200);
	busy[number_of(one.stream)] = true;
	hg_cuda_free(&one, block);
	hg_tap_ok(spares(&one, 350) && spares(&other, 150),
			  "what a job has just given back is to spare for itself alone");
	hg_tap_ok(hg_cuda_wait(&one, &error) == HG_OK && spares(&other, 350),
			  "and for others when its stream has passed that");
	one.limit = 100 * MB;
	block = take(&one, 40);
	hg_tap_ok(spares(&one, 60), "a limit of its own is none of others");
	hg_cuda_work_promise(&one, 500 * MB);
	hg_cuda_work_close(&one);
	hg_tap_ok(spares(&other, 350), "a job that is closed was promised nothing");
	hg_cuda_work_close(&other);
	hg_cuda_device_close(&device);
}

/* A device that has no pools. */
static void
test_without_pools(void)
{
	HgCudaDevice device = {};
	HgCudaWork work;
	void *block;

	has_pools = false;
	start(&device, 700 * MB);
	open_job(&work, &device);
	block = take(&work, 200);
	now_ms += 1000;
	hg_cuda_device_measure(&device);
	hg_tap_ok(block != nullptr && holds(&device, 200) && budget_of(&device) > 290 * MB &&
				  budget_of(&device) < 300 * MB,
			  "without pools: what jobs hold is ours");
	hg_cuda_free(&work, block);
	hg_tap_ok(holds(&device, 0) && reserved() == 0, "without pools: what they give back is free");
	block = take(&work, 100);
	hg_cuda_device_release(&device, block, hg_cuda_detach(&work, block));
	hg_tap_ok(holds(&device, 0) && reserved() == 0, "without pools: so is what is released");
	hg_cuda_work_close(&work);
	hg_cuda_device_tidy(&device);
	hg_cuda_device_trim(&device);
	hg_cuda_device_close(&device);
}

int
main()
{
	has_pools = true;
	test_neighbours();
	test_streams();
	test_outliving();
	test_retry();
	test_tidying();
	test_trimming();
	test_spare();
	test_without_pools();
	return hg_tap_done();
}
