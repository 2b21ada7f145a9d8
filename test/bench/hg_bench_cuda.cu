/*-------------------------------------------------------------------------
 *
 * hg_bench_cuda.cu
 *	  Measures the CUDA engine: keys and pairs in device memory.
 *
 * A run goes from the keys of both sides to all pairs written, through the same
 * functions that the engine's jobs use.  Events of the device take the time, with what
 * the host does in between in it: memory from the pool, launches, and the one number
 * that must be read back before pairs can be written.
 *
 * What is checked outside of that time: the number and checksum of the pairs of the
 * last run, and that both of its graphs are graphs of their keys (layout graphs).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/hg_cuda_devices.h"
#include "../../cuda/hg_cuda_join.h"
#include "../../cuda/hg_cuda_word.h"
#include "hg_bench.h"

#include <algorithm>
#include <cstring>
#include <vector>

static constexpr int THREADS = 256;

/* Everything of a measurement that lies in device memory, or is needed to free it. */
struct Bench
{
	const HgWorkload *workload;
	HgShape shape;
	HgCudaDevice device;
	HgCudaWork work;
	void *keys_a;
	void *keys_b;
	uint32_t *outer_rows; /* [pairs] */
	uint32_t *inner_rows; /* [pairs] */
	cudaEvent_t started;
	cudaEvent_t built;
	cudaEvent_t ended;

	HgCudaGraph inner;
	HgCudaGraph outer;
	void *outer_words; /* probe standard */
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
		hg_check_graph_kernel<<<1024, THREADS, 0, bench->work.stream>>>(
			graph->offsets, vertices, static_cast<const uint32_t *>(graph->edge_words),
			graph->edge_rows, static_cast<const uint32_t *>(keys), graph->rows,
			32 - graph->vertices_log2, seen, wrong);
	else
		hg_check_graph_kernel<<<1024, THREADS, 0, bench->work.stream>>>(
			graph->offsets, vertices, static_cast<const uint64_t *>(graph->edge_words),
			graph->edge_rows, static_cast<const uint64_t *>(keys), graph->rows,
			32 - graph->vertices_log2, seen, wrong);
	HG_CUDA_LAUNCHED(hg_check_graph_kernel, error);
	HG_TRY(hg_cuda_read_back(&bench->work, wrong, sizeof(*wrong), &host, error));
	*valid = *valid && *static_cast<const unsigned long long *>(host) == 0;
	hg_cuda_free(&bench->work, seen);
	hg_cuda_free(&bench->work, wrong);
	return HG_OK;
}

static HgStatus
check_last_run(Bench *bench, HgBenchLayout layout, HgBenchResult *result, HgError *error)
{
	unsigned long long *sum;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(&bench->work, 1, &sum, error));
	HG_CUDA_TRY(cudaMemsetAsync(sum, 0, sizeof(*sum), bench->work.stream), error);
	hg_check_pairs_kernel<<<1024, THREADS, 0, bench->work.stream>>>(
		bench->outer_rows, bench->inner_rows, std::min(bench->pairs, bench->workload->pairs), sum);
	HG_CUDA_LAUNCHED(hg_check_pairs_kernel, error);
	HG_TRY(hg_cuda_read_back(&bench->work, sum, sizeof(*sum), &host, error));
	result->checksum = *static_cast<const unsigned long long *>(host);
	hg_cuda_free(&bench->work, sum);
	result->pairs = bench->pairs;

	if (layout == HG_BENCH_GRAPHS)
	{
		result->graphs_valid = true;
		HG_TRY(check_graph(bench, &bench->inner, bench->keys_a, &result->graphs_valid, error));
		HG_TRY(check_graph(bench, &bench->outer, bench->keys_b, &result->graphs_valid, error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Runs
 * ------------------------------------------------------------------------ */

/* Mix the keys of a side into a block of words. */
static HgStatus
mix_side(Bench *bench, const void *keys, uint64_t rows, void **words, HgError *error)
{
	HG_TRY(hg_cuda_alloc(&bench->work, rows * bench->workload->key_width, words, error));
	return hg_cuda_mix(&bench->work, bench->workload->key_width, keys, *words, rows, error);
}

static HgStatus
build_side(Bench *bench, const void *keys, uint64_t rows, HgCudaGraph *graph, RunTimes *times,
		   HgError *error)
{
	const cudaEvent_t *marks = bench->work.kit.marks;
	void *words;
	float bin;
	float build;

	HG_TRY(mix_side(bench, keys, rows, &words, error));
	HG_TRY(hg_cuda_graph_build(&bench->work, &bench->shape, bench->workload->key_width, words, rows,
							   graph == &bench->inner, graph, error));
	HG_CUDA_TRY(cudaEventElapsedTime(&bin, marks[0], marks[1]), error);
	HG_CUDA_TRY(cudaEventElapsedTime(&build, marks[1], marks[2]), error);
	times->bin += bin;
	times->build += build;
	return HG_OK;
}

static void
free_graphs(Bench *bench)
{
	hg_cuda_graph_free(&bench->work, &bench->inner);
	hg_cuda_graph_free(&bench->work, &bench->outer);
	hg_cuda_free(&bench->work, bench->outer_words);
	bench->outer_words = nullptr;
}

/* From keys to pairs.  Both graphs are left where they are, until the next run. */
static HgStatus
run_once(Bench *bench, RunTimes *times, HgError *error)
{
	const HgWorkload *workload = bench->workload;
	cudaStream_t stream = bench->work.stream;
	HgCudaOuter outer;
	HgCudaJoin join;

	free_graphs(bench);
	HG_TRY(hg_cuda_wait(&bench->work, error));
	memset(times, 0, sizeof(*times));

	HG_CUDA_TRY(cudaEventRecord(bench->started, stream), error);
	HG_TRY(build_side(bench, bench->keys_a, workload->rows_a, &bench->inner, times, error));
	outer.count = workload->rows_b;
	outer.in_lists = bench->shape.probe == HG_PROBE_INTERSECT;
	if (outer.in_lists)
	{
		HG_TRY(build_side(bench, bench->keys_b, workload->rows_b, &bench->outer, times, error));
		outer.words = bench->outer.edge_words;
		outer.rows = bench->outer.edge_rows;
	}
	else
	{
		HG_TRY(mix_side(bench, bench->keys_b, workload->rows_b, &bench->outer_words, error));
		outer.words = bench->outer_words;
		outer.rows = nullptr;
	}
	HG_CUDA_TRY(cudaEventRecord(bench->built, stream), error);
	HG_TRY(hg_cuda_join_open(&bench->work, &outer, &bench->inner, HG_MATCH_ALL, &join, error));
	bench->pairs = join.counts.matches;
	HG_TRY(hg_cuda_join_write(&bench->work, &join, 0, std::min(bench->pairs, workload->pairs),
							  bench->outer_rows, bench->inner_rows, error));
	HG_CUDA_TRY(cudaEventRecord(bench->ended, stream), error);
	hg_cuda_join_close(&bench->work, &join);
	HG_TRY(hg_cuda_wait(&bench->work, error));

	HG_CUDA_TRY(cudaEventElapsedTime(&times->total, bench->started, bench->ended), error);
	HG_CUDA_TRY(cudaEventElapsedTime(&times->match, bench->built, bench->ended), error);
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
	HG_CUDA_TRY(cudaEventCreate(&bench->started), error);
	HG_CUDA_TRY(cudaEventCreate(&bench->built), error);
	HG_CUDA_TRY(cudaEventCreate(&bench->ended), error);
	return HG_OK;
}

static HgStatus
measure(Bench *bench, HgBenchLayout layout, int repeat, HgBenchResult *result, HgError *error)
{
	std::vector<RunTimes> runs((size_t) std::max(repeat, 1));
	RunTimes warm_up;

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
	HG_TRY(check_last_run(bench, layout, result, error));

	std::sort(runs.begin(), runs.end(),
			  [](const RunTimes &a, const RunTimes &b) { return a.total < b.total; });
	const RunTimes &median = runs[runs.size() / 2];

	result->total_ms = median.total;
	result->phase_ms[HG_PHASE_BIN] = median.bin;
	result->phase_ms[HG_PHASE_BUILD] = median.build;
	result->phase_ms[HG_PHASE_MATCH] = median.match;
	result->peak_bytes = bench->work.peak;
	return HG_OK;
}

HgStatus
hg_bench_cuda(const HgWorkload *workload, HgBenchLayout layout, int repeat, HgBenchResult *result,
			  HgError *error)
{
	Bench bench;
	HgJobSpec spec;
	cudaDeviceProp properties;
	HgStatus status;
	int ordinal;

	memset(&bench, 0, sizeof(bench));
	memset(result, 0, sizeof(*result));
	HG_TRY(hg_cuda_devices_choose(-1, &ordinal, error));
	HG_CUDA_TRY(cudaGetDeviceProperties(&properties, ordinal), error);
	strncpy(result->device, properties.name, sizeof(result->device) - 1);

	memset(&spec, 0, sizeof(spec));
	spec.key_width = workload->key_width;
	spec.probe = layout == HG_BENCH_GRAPHS ? HG_PROBE_INTERSECT : HG_PROBE_AUTO;
	bench.workload = workload;
	bench.shape = hg_cuda_shape_choose(&spec, workload->rows_b, workload->rows_a);

	HG_TRY(hg_cuda_device_open(&bench.device, ordinal, 0, error));
	status = hg_cuda_work_open(&bench.work, &bench.device, nullptr, 0, error);
	if (status == HG_OK)
	{
		status = measure(&bench, layout, repeat, result, error);
		for (cudaEvent_t event : {bench.started, bench.built, bench.ended})
			if (event != nullptr)
				cudaEventDestroy(event);
		hg_cuda_work_close(&bench.work);
	}
	cudaDeviceSynchronize();
	hg_cuda_device_close(&bench.device);
	return status;
}
