/*-------------------------------------------------------------------------
 *
 * hg_bench_cuda.cu
 *	  Measures the CUDA engine: keys and pairs in device memory.
 *
 * A run goes from the keys of both sides to all pairs written, through the functions that the
 * engine's jobs use.  Layout auto is what they do by themselves: both sides are put into bins
 * and joined bin by bin.  Layout graphs builds both HashGraphs in device memory, bin by bin, and
 * joins them in the same pass.  Layouts kept and counted begin with both graphs in device memory,
 * and intersect them: what a join of two resident HashGraphs would take.  Events of
 * the device take the time, with what the host does in between in it: memory from the pool,
 * launches, and the numbers that must be read back.
 *
 * Beside the time of a phase stands what it must read and write, each row once for each step
 * over it, to be compared with the rate of a copy.
 *
 * What is checked outside of that time: the number and checksum of the pairs of the
 * last run, and that both of its graphs are graphs of their keys (layout graphs).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/kernels/hg_cuda_join.h"
#include "../../cuda/engine/hg_cuda_devices.h"
#include "../../cuda/device/hg_cuda_launch.h"
#include "../../cuda/kernels/hg_cuda_tuning.h"
#include "../../cuda/kernels/hg_cuda_word.h"
#include "hg_bench.h"

#include <algorithm>
#include <cstring>
#include <vector>

static constexpr int THREADS = 256;

/* Bytes that are copied to measure the rate of it. */
static constexpr uint64_t COPIED_BYTES = UINT64_C(1) << 29;

/* Everything of a measurement that lies in device memory, or is needed to free it. */
struct Bench
{
	const HgWorkload *workload;
	HgBenchLayout layout;
	HgShape shape;
	HgCudaDevice device;
	HgCudaWork work;
	void *keys_a;
	void *keys_b;
	uint32_t *outer_rows; /* [pairs] */
	uint32_t *inner_rows; /* [pairs] */
	cudaEvent_t started;
	cudaEvent_t binned;
	cudaEvent_t ended;

	HgCudaGraph graphs[2];	  /* by HgSide; layout graphs */
	HgCudaPartition sides[2]; /* by HgSide */
	uint64_t pairs;
};

/* One run's times. */
struct RunTimes
{
	float total;
	float bin;
	float build;
	float match;
};

/* ------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------ */

static __global__ void
hg_check_pairs_kernel(const uint32_t *outer, const uint32_t *inner, uint64_t n,
					  unsigned long long *sum)
{
	uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	unsigned long long mine = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
		mine += hg_workload_pair(inner[i], outer[i]);
	atomicAdd(sum, mine);
}

/* Every list: its bounds are in order, and its edges are rows of its vertex, once each. */
template <typename Word>
__global__ void
hg_check_graph_kernel(const uint32_t *offsets, uint64_t vertices, const Word *words,
					  const uint32_t *rows, const Word *keys, uint64_t n, uint32_t shift,
					  uint32_t *seen, unsigned long long *wrong)
{
	uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	uint64_t first = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	unsigned long long mine = 0;

	for (uint64_t v = first; v <= vertices; v += stride)
	{
		if (v == 0)
			mine += offsets[0] != 0;
		if (v == vertices)
			mine += offsets[v] != n;
		else
			mine += offsets[v] > offsets[v + 1];
	}
	for (uint64_t i = first; i < n; i += stride)
	{
		uint32_t row = rows[i];
		uint32_t vertex = hg_word_vertex(words[i], shift);

		mine += i < offsets[vertex] || i >= offsets[vertex + 1];
		if (row >= n)
			mine++;
		else
		{
			mine += words[i] != hg_word_mix(keys[row]);
			mine += atomicExch(&seen[row], 1) != 0;
		}
	}
	if (mine > 0)
		atomicAdd(wrong, mine);
}

static HgStatus
check_graph(Bench *bench, const HgCudaGraph *graph, const void *keys, bool *valid, HgError *error)
{
	const uint64_t vertices = UINT64_C(1) << graph->vertices_log2;
	unsigned long long *wrong;
	uint32_t *seen;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(&bench->work, graph->rows, &seen, error));
	HG_TRY(hg_cuda_alloc_array(&bench->work, 1, &wrong, error));
	HG_CUDA_TRY(cudaMemsetAsync(seen, 0, graph->rows * sizeof(*seen), bench->work.stream), error);
	HG_CUDA_TRY(cudaMemsetAsync(wrong, 0, sizeof(*wrong), bench->work.stream), error);
	if (graph->key_width == 4)
		HG_TRY((hg_cuda_launch<hg_check_graph_kernel<uint32_t>>(
			bench->work.stream, "hg_check_graph_kernel", 1024, THREADS, error, graph->offsets,
			vertices, static_cast<const uint32_t *>(graph->edge_words), graph->edge_rows,
			static_cast<const uint32_t *>(keys), graph->rows, 32 - graph->vertices_log2, seen,
			wrong)));
	else
		HG_TRY((hg_cuda_launch<hg_check_graph_kernel<uint64_t>>(
			bench->work.stream, "hg_check_graph_kernel", 1024, THREADS, error, graph->offsets,
			vertices, static_cast<const uint64_t *>(graph->edge_words), graph->edge_rows,
			static_cast<const uint64_t *>(keys), graph->rows, 32 - graph->vertices_log2, seen,
			wrong)));
	HG_TRY(hg_cuda_read_back(&bench->work, wrong, sizeof(*wrong), &host, error));
	*valid = *valid && *static_cast<const unsigned long long *>(host) == 0;
	hg_cuda_free(&bench->work, seen);
	hg_cuda_free(&bench->work, wrong);
	return HG_OK;
}

static HgStatus
check_last_run(Bench *bench, HgBenchResult *result, HgError *error)
{
	unsigned long long *sum;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(&bench->work, 1, &sum, error));
	HG_CUDA_TRY(cudaMemsetAsync(sum, 0, sizeof(*sum), bench->work.stream), error);
	HG_TRY((hg_cuda_launch<hg_check_pairs_kernel>(
		bench->work.stream, "hg_check_pairs_kernel", 1024, THREADS, error, bench->outer_rows,
		bench->inner_rows, std::min(bench->pairs, bench->workload->pairs), sum)));
	HG_TRY(hg_cuda_read_back(&bench->work, sum, sizeof(*sum), &host, error));
	/* what is only counted has no pairs to be checked, but their number */
	result->checksum = bench->layout == HG_BENCH_COUNTED
						   ? bench->workload->checksum
						   : *static_cast<const unsigned long long *>(host);
	hg_cuda_free(&bench->work, sum);
	result->pairs = bench->pairs;

	if (HG_BENCH_HAS_GRAPHS(bench->layout))
	{
		result->graphs_valid = true;
		HG_TRY(check_graph(bench, &bench->graphs[HG_INNER], bench->keys_a, &result->graphs_valid,
						   error));
		HG_TRY(check_graph(bench, &bench->graphs[HG_OUTER], bench->keys_b, &result->graphs_valid,
						   error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Runs
 * ------------------------------------------------------------------------ */

/* Build the graph of a side, the keys of which stay. */
static HgStatus
build_graph(Bench *bench, void *keys, uint64_t rows, bool ordered, HgCudaGraph *graph,
			RunTimes *times, HgError *error)
{
	const cudaEvent_t *marks = bench->work.kit.marks;
	float bin;
	float build;

	HG_TRY(hg_cuda_graph_build(&bench->work, &bench->shape, bench->workload->key_width, keys,
							   nullptr, rows, true, ordered, graph, error));
	HG_CUDA_TRY(cudaEventElapsedTime(&bin, marks[0], marks[1]), error);
	HG_CUDA_TRY(cudaEventElapsedTime(&build, marks[1], marks[2]), error);
	times->bin += bin;
	times->build += build;
	return HG_OK;
}

/* Put the rows of both sides into bins. */
static HgStatus
bin_sides(Bench *bench, HgError *error)
{
	const HgWorkload *workload = bench->workload;

	HG_TRY(hg_cuda_partition_make(&bench->work, workload->key_width, bench->keys_a, nullptr,
								  workload->rows_a, HG_KEEP_KEYS, bench->shape.bins_log2,
								  &bench->sides[HG_INNER], error));
	return hg_cuda_partition_make(&bench->work, workload->key_width, bench->keys_b, nullptr,
								  workload->rows_b, HG_KEEP_KEYS, bench->shape.bins_log2,
								  &bench->sides[HG_OUTER], error);
}

static void
free_sides(Bench *bench)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_cuda_graph_free(&bench->work, &bench->graphs[side]);
		hg_cuda_partition_free(&bench->work, &bench->sides[side]);
	}
}

/* Build both graphs, and write all pairs if they are wanted. */
static HgStatus
join_graphs(Bench *bench, bool matched, HgError *error)
{
	HgCudaBothPairs pairs = {};

	pairs.mode = HG_MATCH_ALL;
	pairs.outer_rows = bench->outer_rows;
	pairs.inner_rows = bench->inner_rows;
	pairs.capacity = bench->workload->pairs;
	HG_TRY(hg_cuda_both_begin(&bench->work, &bench->shape, bench->sides, bench->graphs, error));
	HG_TRY(hg_cuda_both_build(&bench->work, &bench->shape, bench->sides, bench->graphs,
							  matched ? &pairs : nullptr, error));
	bench->pairs = pairs.counts.matches;
	return HG_OK;
}

/* Join sides in bins and write all pairs. */
static HgStatus
join_bins(Bench *bench, const HgCudaPartition sides[2], HgError *error)
{
	const uint64_t room = bench->workload->pairs;
	HgCudaBinsMatches matches;
	HgCudaBins bins;
	uint64_t written;

	HG_TRY(hg_cuda_bins_open(&bench->work, &sides[HG_INNER], &sides[HG_OUTER],
							 bench->shape.vertices_log2, 0, &bins, error));
	if (bench->layout == HG_BENCH_COUNTED)
	{
		HG_TRY(hg_cuda_bins_count(&bench->work, &bins, HG_MATCH_ALL, &matches.counts, error));
		bench->pairs = matches.counts.matches;
		hg_cuda_bins_close(&bench->work, &bins);
		return HG_OK;
	}
	HG_TRY(hg_cuda_bins_match(&bench->work, &bins, HG_MATCH_ALL, bench->outer_rows,
							  bench->inner_rows, room, &matches, &written, error));
	bench->pairs = matches.counts.matches;
	while (written < bench->pairs && bench->pairs <= room)
	{
		uint64_t more;

		HG_TRY(hg_cuda_bins_write(&bench->work, &bins, &matches, written,
								  bench->outer_rows + written, bench->inner_rows + written,
								  room - written, &more, error));
		written += more;
	}
	hg_cuda_bins_end(&bench->work, &matches);
	hg_cuda_bins_close(&bench->work, &bins);
	return HG_OK;
}

/* Intersect the graphs that are there. */
static HgStatus
join_replicas(Bench *bench, HgError *error)
{
	const uint64_t inner_rows = bench->graphs[HG_INNER].rows;
	HgCudaPartition views[2];
	HgStatus status;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		HG_TRY(
			hg_cuda_both_view(&bench->work, &bench->graphs[side], inner_rows, &views[side], error));
	status = join_bins(bench, views, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_cuda_free(&bench->work, views[side].starts);
	return status;
}

static HgStatus
join_layout(Bench *bench, HgError *error)
{
	switch (bench->layout)
	{
		case HG_BENCH_GRAPHS:
			return join_graphs(bench, true, error);
		case HG_BENCH_AUTO:
			return join_bins(bench, bench->sides, error);
		default:
			return join_replicas(bench, error);
	}
}

/* From keys, or from graphs, to pairs.  What is there then is left where it is, until the next run.
 */
static HgStatus
run_once(Bench *bench, RunTimes *times, HgError *error)
{
	const bool prebuilt = bench->layout == HG_BENCH_PREBUILT || bench->layout == HG_BENCH_COUNTED;
	cudaStream_t stream = bench->work.stream;

	free_sides(bench);
	if (prebuilt)
	{
		HG_TRY(bin_sides(bench, error));
		HG_TRY(join_graphs(bench, false, error));
	}
	HG_TRY(hg_cuda_wait(&bench->work, error));
	memset(times, 0, sizeof(*times));

	HG_CUDA_TRY(cudaEventRecord(bench->started, stream), error);
	if (!prebuilt)
		HG_TRY(bin_sides(bench, error));
	HG_CUDA_TRY(cudaEventRecord(bench->binned, stream), error);
	HG_TRY(join_layout(bench, error));
	HG_CUDA_TRY(cudaEventRecord(bench->ended, stream), error);
	HG_TRY(hg_cuda_wait(&bench->work, error));

	HG_CUDA_TRY(cudaEventElapsedTime(&times->total, bench->started, bench->ended), error);
	HG_CUDA_TRY(cudaEventElapsedTime(&times->bin, bench->started, bench->binned), error);
	times->match = times->total - times->bin;
	return HG_OK;
}

/* What the phases of a run read and write. */
static void
fill_bytes(const Bench *bench, HgBenchResult *result)
{
	const HgWorkload *workload = bench->workload;
	const double rows = (double) workload->rows_a + (double) workload->rows_b;
	const double width = workload->key_width;
	const double edge = width + sizeof(uint32_t);
	const double vertices = (double) (UINT64_C(1) << bench->shape.vertices_log2);
	const bool twice = bench->shape.bins_log2 > HG_PARTITION_WIDE_LOG2;

	/* keys are counted; a pass reads rows, the first one keys only, and writes rows */
	if (bench->layout == HG_BENCH_GRAPHS || bench->layout == HG_BENCH_AUTO)
		result->phase_bytes[HG_PHASE_BIN] = rows * (2 * width + edge + (twice ? 2 * edge : 0));
	result->phase_bytes[HG_PHASE_MATCH] =
		bench->layout == HG_BENCH_COUNTED
			? rows * width
			: rows * edge + (double) workload->pairs * 2 * sizeof(uint32_t);
	if (bench->layout == HG_BENCH_GRAPHS)
		result->phase_bytes[HG_PHASE_MATCH] += rows * edge + 2 * vertices * sizeof(uint32_t);
}

/* The rate of a copy in device memory: bytes read and written, by time. */
static HgStatus
measure_copy(Bench *bench, double *rate, HgError *error)
{
	float best = 0;
	void *from;
	void *to;

	HG_TRY(hg_cuda_alloc(&bench->work, COPIED_BYTES, &from, error));
	HG_TRY(hg_cuda_alloc(&bench->work, COPIED_BYTES, &to, error));
	HG_CUDA_TRY(cudaMemsetAsync(from, 0, COPIED_BYTES, bench->work.stream), error);
	for (int turn = 0; turn < 5; turn++)
	{
		float ms;

		HG_CUDA_TRY(cudaEventRecord(bench->started, bench->work.stream), error);
		HG_CUDA_TRY(
			cudaMemcpyAsync(to, from, COPIED_BYTES, cudaMemcpyDeviceToDevice, bench->work.stream),
			error);
		HG_CUDA_TRY(cudaEventRecord(bench->ended, bench->work.stream), error);
		HG_TRY(hg_cuda_wait(&bench->work, error));
		HG_CUDA_TRY(cudaEventElapsedTime(&ms, bench->started, bench->ended), error);
		best = turn == 0 || ms < best ? ms : best;
	}
	hg_cuda_free(&bench->work, from);
	hg_cuda_free(&bench->work, to);
	*rate = 2 * (double) COPIED_BYTES / best / 1e6;
	bench->work.peak = bench->work.held;
	return HG_OK;
}

static HgStatus
create_events(Bench *bench, HgError *error)
{
	HG_CUDA_TRY(cudaEventCreate(&bench->started), error);
	HG_CUDA_TRY(cudaEventCreate(&bench->binned), error);
	HG_CUDA_TRY(cudaEventCreate(&bench->ended), error);
	return HG_OK;
}

static HgStatus
upload(Bench *bench, HgError *error)
{
	const HgWorkload *workload = bench->workload;
	uint64_t room = workload->pairs > 0 ? workload->pairs : 1;

	HG_TRY(
		hg_cuda_alloc(&bench->work, workload->rows_a * workload->key_width, &bench->keys_a, error));
	HG_TRY(
		hg_cuda_alloc(&bench->work, workload->rows_b * workload->key_width, &bench->keys_b, error));
	HG_TRY(hg_cuda_alloc_array(&bench->work, room, &bench->outer_rows, error));
	HG_TRY(hg_cuda_alloc_array(&bench->work, room, &bench->inner_rows, error));
	HG_CUDA_TRY(cudaMemcpyAsync(bench->keys_a, workload->keys_a,
								workload->rows_a * workload->key_width, cudaMemcpyHostToDevice,
								bench->work.stream),
				error);
	HG_CUDA_TRY(cudaMemcpyAsync(bench->keys_b, workload->keys_b,
								workload->rows_b * workload->key_width, cudaMemcpyHostToDevice,
								bench->work.stream),
				error);
	return HG_OK;
}

static HgStatus
measure(Bench *bench, int repeat, HgBenchResult *result, HgError *error)
{
	std::vector<RunTimes> runs((size_t) std::max(repeat, 1));
	RunTimes warm_up;

	HG_TRY(create_events(bench, error));
	HG_TRY(measure_copy(bench, &result->copy_rate, error));
	HG_TRY(upload(bench, error));
	HG_TRY(run_once(bench, &warm_up, error));
	for (RunTimes &run : runs)
	{
		/* pairs that a run does not write must not be left over from the one before */
		HG_CUDA_TRY(cudaMemsetAsync(bench->outer_rows, 0xff,
									bench->workload->pairs * sizeof(uint32_t), bench->work.stream),
					error);
		HG_TRY(run_once(bench, &run, error));
	}
	HG_TRY(check_last_run(bench, result, error));

	std::sort(runs.begin(), runs.end(),
			  [](const RunTimes &a, const RunTimes &b) { return a.total < b.total; });
	const RunTimes &median = runs[runs.size() / 2];

	result->total_ms = median.total;
	result->phase_ms[HG_PHASE_BIN] = median.bin;
	result->phase_ms[HG_PHASE_BUILD] = median.build;
	result->phase_ms[HG_PHASE_MATCH] = median.match;
	result->peak_bytes = bench->work.peak;
	fill_bytes(bench, result);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Build alone
 * ------------------------------------------------------------------------ */

/* Each key duplicates times, one far from the other; 2^log2 keys. */
static __global__ void
hg_make_keys_kernel(uint32_t log2, uint32_t duplicates, uint32_t *keys)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t position = (i * 0x9e3779b1u) & ((1u << log2) - 1);

	if (i < 1u << log2)
		keys[i] = hg_mix32(position / duplicates);
}

static HgStatus
measure_build(Bench *bench, uint32_t log2, uint32_t duplicates, bool ordered, int repeat,
			  HgBenchResult *result, HgError *error)
{
	const uint64_t rows = UINT64_C(1) << log2;
	std::vector<float> runs((size_t) std::max(repeat, 1));
	uint32_t *keys;

	HG_TRY(create_events(bench, error));
	HG_TRY(hg_cuda_alloc_array(&bench->work, rows, &keys, error));
	HG_TRY((hg_cuda_launch<hg_make_keys_kernel>(bench->work.stream, "hg_make_keys_kernel",
												(unsigned) ((rows + THREADS - 1) / THREADS),
												THREADS, error, log2, duplicates, keys)));
	for (int turn = -1; turn < (int) runs.size(); turn++)
	{
		RunTimes times = {};
		float ms;

		hg_cuda_graph_free(&bench->work, &bench->graphs[HG_INNER]);
		HG_CUDA_TRY(cudaEventRecord(bench->started, bench->work.stream), error);
		HG_TRY(build_graph(bench, keys, rows, ordered, &bench->graphs[HG_INNER], &times, error));
		HG_CUDA_TRY(cudaEventRecord(bench->ended, bench->work.stream), error);
		HG_TRY(hg_cuda_wait(&bench->work, error));
		HG_CUDA_TRY(cudaEventElapsedTime(&ms, bench->started, bench->ended), error);
		if (turn >= 0)
			runs[(size_t) turn] = ms;
	}
	std::sort(runs.begin(), runs.end());
	result->total_ms = runs[runs.size() / 2];
	result->peak_bytes = bench->work.peak;
	result->graphs_valid = true;
	return check_graph(bench, &bench->graphs[HG_INNER], keys, &result->graphs_valid, error);
}

/* ------------------------------------------------------------------------
 * Either
 * ------------------------------------------------------------------------ */

/* Get the device ready, and name it in *result. */
static HgStatus
open_bench(Bench *bench, HgBenchResult *result, HgError *error)
{
	cudaDeviceProp properties;
	int ordinal;

	memset(result, 0, sizeof(*result));
	HG_TRY(hg_cuda_devices_choose(-1, &ordinal, error));
	HG_CUDA_TRY(cudaGetDeviceProperties(&properties, ordinal), error);
	strncpy(result->device, properties.name, sizeof(result->device) - 1);
	HG_TRY(hg_cuda_device_open(&bench->device, ordinal, 0, error));
	return hg_cuda_work_open(&bench->work, &bench->device, nullptr, 0, error);
}

static void
close_bench(Bench *bench)
{
	for (cudaEvent_t event : {bench->started, bench->binned, bench->ended})
		if (event != nullptr)
			cudaEventDestroy(event);
	hg_cuda_work_close(&bench->work);
	cudaDeviceSynchronize();
	hg_cuda_device_close(&bench->device);
}

HgStatus
hg_bench_cuda(const HgWorkload *workload, HgBenchLayout layout, int repeat, HgBenchResult *result,
			  HgError *error)
{
	Bench bench = {};
	HgJobSpec spec = {};
	HgStatus status;

	spec.key_width = workload->key_width;
	spec.shape.build = HG_BENCH_HAS_GRAPHS(layout) ? HG_BUILD_V2 : HG_BUILD_AUTO;
	spec.shape.probe = HG_BENCH_HAS_GRAPHS(layout) ? HG_PROBE_INTERSECT : HG_PROBE_AUTO;
	bench.workload = workload;
	bench.layout = layout;
	bench.shape = hg_cuda_shape_choose(&spec, workload->rows_b, workload->rows_a);
	HG_TRY(open_bench(&bench, result, error));
	status = measure(&bench, repeat, result, error);
	close_bench(&bench);
	return status;
}

HgStatus
hg_bench_cuda_build(uint32_t rows_log2, uint32_t duplicates, bool ordered, int repeat,
					HgBenchResult *result, HgError *error)
{
	HgWorkload workload = {};
	Bench bench = {};
	HgJobSpec spec = {};
	HgStatus status;

	workload.key_width = spec.key_width = sizeof(uint32_t);
	spec.shape.build = HG_BUILD_V2;
	spec.shape.probe = HG_PROBE_INTERSECT;
	bench.workload = &workload;
	bench.shape = hg_cuda_shape_choose(&spec, 0, UINT64_C(1) << rows_log2);
	HG_TRY(open_bench(&bench, result, error));
	status = measure_build(&bench, rows_log2, duplicates, ordered, repeat, result, error);
	close_bench(&bench);
	return status;
}

/* ------------------------------------------------------------------------
 * Memory of the host
 * ------------------------------------------------------------------------ */

HgStatus
hg_bench_cuda_pin(void *memory, uint64_t bytes, HgError *error)
{
	HG_CUDA_TRY(cudaHostRegister(memory, bytes, cudaHostRegisterDefault), error);
	return HG_OK;
}

void
hg_bench_cuda_unpin(void *memory)
{
	cudaHostUnregister(memory);
}
