/*-------------------------------------------------------------------------
 *
 * test_cuda_stream.cu
 *	  Chunks of the matches of a job: what they have room for, and how often matches are found.
 *	  It needs no device.
 *
 * The functions of the CUDA runtime that cuda/device calls are here, with memory of the host in
 * place of a device's, and so are those that join: match i is of outer row i and inner row 2 i.
 * They count passes over all rows, and writes of a part of the matches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/engine/hg_cuda_job.h"
#include "../../cuda/kernels/hg_cuda_tuning.h"
#include "hg_no_kernels.h"
#include "hg_tap.h"

#include <cstdlib>
#include <cstring>

/* ------------------------------------------------------------------------
 * The runtime
 * ------------------------------------------------------------------------ */

static constexpr uint64_t MB = UINT64_C(1) << 20;
static constexpr uint64_t TOTAL = 8192 * MB;

static uint64_t largest = TOTAL; /* what is larger is refused */

extern "C" cudaError_t
cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t, cudaStream_t)
{
	*memory = bytes > largest ? nullptr : malloc(bytes);
	return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

extern "C" cudaError_t
cudaMalloc(void **memory, size_t bytes)
{
	return cudaMallocFromPoolAsync(memory, bytes, nullptr, nullptr);
}

extern "C" cudaError_t
cudaFreeAsync(void *memory, cudaStream_t)
{
	free(memory);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaFree(void *memory)
{
	free(memory);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
	memcpy(to, from, bytes);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
	*pool = reinterpret_cast<cudaMemPool_t>(1);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value)
{
	*static_cast<uint64_t *>(value) = 0;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemGetInfo(size_t *available, size_t *total)
{
	*available = *total = TOTAL;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
	*value = attribute == cudaDevAttrMemoryPoolsSupported ? 1 : 49152;
	return cudaSuccess;
}

/* A call that has nothing to do here. */
#define HG_NOTHING(name, parameters)                                                               \
	extern "C" cudaError_t name parameters                                                         \
	{                                                                                              \
		return cudaSuccess;                                                                        \
	}

HG_NOTHING(cudaEventCreate, (cudaEvent_t *) )
HG_NOTHING(cudaEventCreateWithFlags, (cudaEvent_t *, unsigned) )
HG_NOTHING(cudaEventDestroy, (cudaEvent_t))
HG_NOTHING(cudaEventQuery, (cudaEvent_t))
HG_NOTHING(cudaEventRecord, (cudaEvent_t, cudaStream_t))
HG_NOTHING(cudaFreeHost, (void *) )
HG_NOTHING(cudaFuncGetAttributes, (cudaFuncAttributes *, const void *) )
HG_NOTHING(cudaFuncSetAttribute, (const void *, cudaFuncAttribute, int) )
HG_NOTHING(cudaGetLastError, ())
HG_NOTHING(cudaMallocHost, (void **, size_t))
HG_NOTHING(cudaMemPoolDestroy, (cudaMemPool_t))
HG_NOTHING(cudaMemPoolSetAttribute, (cudaMemPool_t, cudaMemPoolAttr, void *) )
HG_NOTHING(cudaMemPoolTrimTo, (cudaMemPool_t, size_t))
HG_NOTHING(cudaSetDevice, (int) )
HG_NOTHING(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned) )
HG_NOTHING(cudaStreamDestroy, (cudaStream_t))
HG_NOTHING(cudaStreamQuery, (cudaStream_t))
HG_NOTHING(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned) )
HG_NOTHING(cudaStreamSynchronize, (cudaStream_t))

extern "C" const char *
cudaGetErrorString(cudaError_t)
{
	return "it failed";
}

/* ------------------------------------------------------------------------
 * Joining
 * ------------------------------------------------------------------------ */

static uint64_t pairs;		/* matches, of either mode */
static uint64_t rest_pairs; /* those of bins that no block has room for, which come last */
static int passes;
static int writes;

/* Inner rows of the longest bin: less than this is left over at the end of a part. */
static constexpr uint64_t LONGEST = 3000;

static void
write_pairs(uint32_t *outer, uint32_t *inner, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
	{
		outer[i] = (uint32_t) (first + i);
		inner[i] = (uint32_t) (2 * (first + i));
	}
}

HgStatus
hg_cuda_numbers_to_ordinals(HgCudaWork *, const HgCudaNumbers *, uint32_t *, uint64_t, HgError *)
{
	return HG_OK;
}

HgStatus
hg_cuda_numbers_translate(HgCudaWork *, HgCudaNumbers *, uint32_t *, uint64_t, HgError *)
{
	return HG_OK;
}

HgStatus
hg_cuda_gather_matches(HgCudaWork *, const HgCudaGather *, const HgCudaColumns *, HgCudaNumbers *,
					   const uint32_t *const *, uint64_t, HgMatches *, HgError *)
{
	abort(); /* there are no columns */
}

void
hg_cuda_partition_free(HgCudaWork *, HgCudaPartition *)
{
}

HgStatus
hg_cuda_both_begin(HgCudaWork *, const HgShape *, const HgCudaPartition *, HgCudaGraph *, HgError *)
{
	return HG_OK;
}

HgStatus
hg_cuda_both_build(HgCudaWork *, const HgShape *, HgCudaPartition *, HgCudaGraph *,
				   HgCudaBothPairs *found, HgError *)
{
	passes++;
	if (found == nullptr)
		return HG_OK;
	found->counts = {};
	found->counts.matches = pairs;
	found->complete = found->outer_rows != nullptr && pairs <= found->capacity;
	if (found->complete)
		write_pairs(found->outer_rows, found->inner_rows, 0, pairs);
	return HG_OK;
}

HgStatus
hg_cuda_both_common(HgCudaWork *, const HgCudaGraph *, uint64_t *common, HgError *)
{
	*common = 0;
	return HG_OK;
}

HgStatus
hg_cuda_both_view(HgCudaWork *, const HgCudaGraph *, uint64_t, HgCudaPartition *, HgError *)
{
	return HG_OK;
}

HgStatus
hg_cuda_bins_open(HgCudaWork *, const HgCudaPartition *, const HgCudaPartition *, uint32_t,
				  uint32_t, HgCudaBins *bins, HgError *)
{
	bins->longest = LONGEST;
	return HG_OK;
}

HgStatus
hg_cuda_bins_count(HgCudaWork *, const HgCudaBins *, HgMatchMode, HgCudaMatchCounts *counts,
				   HgError *)
{
	passes++;
	*counts = {};
	counts->matches = pairs;
	return HG_OK;
}

HgStatus
hg_cuda_bins_match(HgCudaWork *work, const HgCudaBins *, HgMatchMode mode, uint32_t *outer_rows,
				   uint32_t *inner_rows, uint64_t capacity, HgCudaBinsMatches *matches,
				   uint64_t *written, HgError *error)
{
	passes++;
	memset(static_cast<void *>(matches), 0, sizeof(*matches));
	HG_TRY(hg_cuda_alloc_array(work, 4096, &matches->unit_matches, error));
	matches->mode = mode;
	matches->counts.matches = pairs;
	matches->in_blocks = pairs - rest_pairs;
	*written = matches->in_blocks <= capacity ? matches->in_blocks : 0;
	write_pairs(outer_rows, inner_rows, 0, *written);
	return HG_OK;
}

HgStatus
hg_cuda_bins_write(HgCudaWork *, const HgCudaBins *, HgCudaBinsMatches *matches, uint64_t first,
				   uint32_t *outer_rows, uint32_t *inner_rows, uint64_t capacity, uint64_t *written,
				   HgError *)
{
	const uint64_t end = first < matches->in_blocks ? matches->in_blocks : pairs;
	const uint64_t left = end - first;

	/* the last row of a part that is not the last one has no room */
	writes++;
	*written = left <= capacity ? left : capacity - LONGEST + 1;
	write_pairs(outer_rows, inner_rows, first, *written);
	return HG_OK;
}

void
hg_cuda_bins_end(HgCudaWork *work, HgCudaBinsMatches *matches)
{
	hg_cuda_free(work, matches->unit_matches);
	memset(static_cast<void *>(matches), 0, sizeof(*matches));
}

HgStatus
hg_cuda_join_count(HgCudaWork *, const HgCudaOuter *, const HgCudaGraph *, HgMatchMode,
				   HgCudaMatchCounts *counts, HgError *)
{
	passes++;
	*counts = {};
	counts->matches = pairs;
	return HG_OK;
}

HgStatus
hg_cuda_join_open(HgCudaWork *, const HgCudaOuter *, const HgCudaGraph *, HgMatchMode,
				  HgCudaJoin *join, HgError *)
{
	passes++;
	join->counts.matches = pairs;
	return HG_OK;
}

HgStatus
hg_cuda_join_write(HgCudaWork *, const HgCudaJoin *, uint64_t first, uint64_t count,
				   uint32_t *outer_rows, uint32_t *inner_rows, HgError *)
{
	writes++;
	write_pairs(outer_rows, inner_rows, first, count);
	return HG_OK;
}

void
hg_cuda_join_close(HgCudaWork *, HgCudaJoin *join)
{
	memset(static_cast<void *>(join), 0, sizeof(*join));
}

/* ------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------ */

enum Layout
{
	BINS,
	BOTH_GRAPHS,
	A_GRAPH
};

static constexpr uint64_t MANY = 6000000; /* pairs: 46 MB */

static HgCudaDevice device;
static HgCudaJob job;

/* Open a job of so many outer rows, and 10 inner ones, on a device of so many MB. */
static void
start(Layout layout, uint64_t megabytes, uint64_t outer_rows)
{
	if (hg_cuda_device_open(&device, 0, megabytes * MB, nullptr) != HG_OK ||
		hg_cuda_work_open(&job.work, &device, nullptr, 0, nullptr) != HG_OK)
		hg_tap_ok(false, "the device is opened");
	job.layout = layout == BINS ? HG_LAYOUT_BINS : HG_LAYOUT_GRAPHS;
	job.both = layout == BOTH_GRAPHS;
	job.bins.longest = layout == BINS ? LONGEST : 0;
	job.stats.probe = HG_PROBE_STANDARD;
	job.stats.rows[HG_OUTER] = outer_rows;
	job.stats.rows[HG_INNER] = 10;
	pairs = MANY;
	rest_pairs = 0;
	passes = writes = 0;
}

/* Close the job; nothing of it is left. */
static void
stop(void)
{
	hg_cuda_work_close(&job.work);
	if (device.held != 0 || device.promised != 0)
		hg_tap_ok(false, "nothing is held any more");
	hg_cuda_device_close(&device);
	memset(static_cast<void *>(&job), 0, sizeof(job));
	device.measured_ms = 0;
	device.idle_count = 0;
	largest = TOTAL;
}

/* Read a stream from its beginning to most matches or the end: are they right? */
static bool
read_stream(uint64_t most)
{
	static uint32_t outer[100000];
	static uint32_t inner[100000];
	HgMatches matches = {};
	uint64_t read = 0;
	bool right = true;

	matches.outer = outer;
	matches.inner = inner;
	matches.capacity = sizeof(outer) / sizeof(outer[0]);
	if (hg_cuda_stream_start(&job, HG_MATCH_ALL, nullptr) != HG_OK)
		return false;
	while (job.position < job.matches && read < most)
	{
		if (hg_cuda_stream_next(&job, &matches, nullptr) != HG_OK)
			return false;
		for (size_t i = 0; i < matches.count; i++, read++)
			right = right && outer[i] == read && inner[i] == 2 * read;
	}
	return right && (read == pairs || read >= most);
}

/* Have there been so many passes, and then writes? */
static bool
took(int passes_made, int writes_made)
{
	return passes == passes_made && writes == writes_made;
}

/* Memory for all matches is there. */
static void
test_large(void)
{
	start(BINS, 1000, MANY);
	hg_tap_ok(read_stream(1) && took(1, 0) && job.chunk_capacity == MANY,
			  "bins: one pass writes all matches that were expected");
	hg_tap_ok(read_stream(MANY) && took(1, 0) && job.chunk == nullptr && job.work.held < MB,
			  "its chunk is gone when they have left");
	hg_tap_ok(read_stream(MANY) && took(2, 0), "they are found once more when they are asked for");
	stop();

	start(BINS, 1000, 1000);
	hg_tap_ok(read_stream(MANY) && took(1, 1), "bins: one write has all that were not expected");
	hg_tap_ok(read_stream(MANY) && took(2, 1), "which they are the next time");
	stop();

	start(BINS, 1000, MANY);
	rest_pairs = MANY / 2;
	hg_tap_ok(read_stream(MANY) && took(1, 1), "bins: those of long bins are written apart");
	stop();

	start(BOTH_GRAPHS, 1000, MANY);
	hg_tap_ok(read_stream(MANY) && took(1, 0), "both graphs: building them writes all matches");
	hg_tap_ok(read_stream(MANY) && took(2, 0), "both graphs: they are joined for all that follow");
	stop();

	start(BOTH_GRAPHS, 1000, 1000);
	hg_tap_ok(read_stream(MANY) && took(2, 0),
			  "both graphs: building them has counted how many there are");
	stop();

	start(A_GRAPH, 1000, 1000);
	hg_tap_ok(read_stream(MANY) && took(1, 1), "a graph: one write has all matches");
	stop();
}

/* A chunk is larger than it has to be. */
static void
test_selective(void)
{
	for (Layout layout : {BINS, BOTH_GRAPHS})
	{
		start(layout, 1000, 3 * MANY);
		hg_tap_ok(read_stream(1) && took(1, 0) && job.chunk_capacity == MANY &&
					  job.work.held < 47 * MB,
				  "fewer matches than expected keep no more than they need");
		hg_tap_ok(read_stream(MANY) && took(1, 0), "and they are there");
		stop();
	}
	start(BINS, 1000, MANY);
	pairs = 0;
	hg_tap_ok(read_stream(MANY) && job.chunk == nullptr, "no matches keep nothing");
	stop();
	start(BINS, 1000, 2000);
	pairs = 2000;
	hg_tap_ok(read_stream(MANY) && read_stream(MANY) && took(1, 0),
			  "a small chunk stays, and is read again");
	stop();
}

/* A count has told how many matches there are. */
static void
test_counted(void)
{
	uint64_t counted;

	for (Layout layout : {BINS, BOTH_GRAPHS})
	{
		start(layout, 1000, 1000);
		hg_tap_ok(hg_cuda_stream_count(&job, HG_MATCH_ALL, &counted, nullptr) == HG_OK &&
					  counted == MANY && read_stream(MANY) && took(2, 0),
				  "matches that were counted are written by the pass that finds them");
		stop();
	}
}

/* Memory is short, or others have been promised it. */
static void
test_shared(void)
{
	HgCudaWork other;

	start(BINS, 400, MANY);
	hg_cuda_work_open(&other, &device, nullptr, 0, nullptr);
	hg_cuda_work_promise(&other, 350 * MB);
	hg_cuda_work_promise(&job.work, 40 * MB);
	hg_tap_ok(read_stream(1) && job.chunk_capacity == HG_CHUNK_PAIRS,
			  "a large chunk is not of what another job was promised");
	hg_tap_ok(read_stream(MANY) && took(1, 2), "two smaller ones do");
	hg_cuda_work_promise(&other, 0);
	hg_tap_ok(read_stream(1) && took(1, 3) && job.chunk_capacity == MANY,
			  "until that has what it needs");
	hg_cuda_work_close(&other);
	stop();

	for (Layout layout : {BINS, BOTH_GRAPHS, A_GRAPH})
	{
		start(layout, 20, MANY);
		hg_tap_ok(read_stream(MANY) && writes >= 3 && writes <= 4 && job.work.peak <= 20 * MB,
				  "a chunk that is short of memory is small");
		hg_tap_ok(read_stream(MANY), "and again");
		stop();

		start(layout, 1000, MANY);
		job.work.limit = 20 * MB;
		hg_tap_ok(read_stream(MANY) && writes >= 3 && writes <= 4 && job.work.peak <= 20 * MB,
				  "so is that of a job with a limit");
		stop();

		start(layout, 1000, MANY);
		largest = 10 * MB;
		hg_tap_ok(read_stream(MANY) && writes >= 5 && writes <= 9,
				  "a device that refuses a large chunk is asked for less");
		stop();
	}

	start(BINS, 1000, MANY);
	largest = LONGEST * 4;
	hg_tap_ok(hg_cuda_stream_start(&job, HG_MATCH_ALL, nullptr) == HG_DEVICE_OUT_OF_MEMORY,
			  "a chunk that has no room for a row's matches is none");
	stop();
}

int
main()
{
	test_large();
	test_selective();
	test_counted();
	test_shared();
	return hg_tap_done();
}
