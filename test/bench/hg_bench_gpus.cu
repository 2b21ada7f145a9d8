/*-------------------------------------------------------------------------
 *
 * hg_bench_gpus.cu
 *	  Measures builds and joins that several GPUs have together.
 *
 * Each GPU, a shard, has a thread, and as many rows of each side as any other, whose keys are made
 * there: keys in ascending order, or scattered over all shards.  An inner key is there duplicates
 * times, an outer one once, and each side has as many rows; so a join finds as many pairs.
 *
 * One GPU does what hg_bench_cuda.cu measures.  Several exchange their rows first
 * (hg_cuda_exchange.h), so that each has a range of the vertices; a build goes on with the bins of
 * a chunk as soon as these are there.  The time is the host's, from when all shards begin to when
 * the last is done, memory from the pools, waits for each other, and launches in it.
 *
 * Outside of it are checked: every edge of the graphs, whose row has to have the edge's key and may
 * be there once; and the number and checksum of the pairs.  The right checksum is made from the
 * keys' numbers, without any hash table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/device/hg_cuda_device.h"
#include "../../cuda/device/hg_cuda_launch.h"
#include "../../cuda/kernels/hg_cuda_exchange.h"
#include "../../cuda/kernels/hg_cuda_graph.h"
#include "../../cuda/kernels/hg_cuda_join.h"
#include "../../cuda/kernels/hg_cuda_tuning.h"
#include "../../cuda/kernels/hg_cuda_word.h"
#include "hg_bench_gpus.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

static constexpr int THREADS = 256;
static constexpr unsigned BLOCKS = 2048;

/* Odd, and prime to all numbers of shards. */
static constexpr uint64_t SCATTERS[2] = {0x9e3779b1u, 0x85ebca6bu};

/* Where a shard's time went, behind one another. */
enum Step
{
	STEP_COUNT, /* rows of bins; and all know of all */
	STEP_SORT,	/* into these bins */
	STEP_MERGE, /* rows change shards, and get into the bins of a graph, which may be built */
	STEP_END,	/* what is built or joined after that */
	STEPS
};

static const char *const step_names[STEPS] = {"count", "sort", "merge", "end"};

/* What is measured. */
struct Course
{
	uint64_t rows; /* of each side, of all shards together */
	uint32_t duplicates;
	bool scattered;
	bool joined; /* else the inner graph is built */
};

/* Where threads wait for each other, unless one has failed: then none waits any more. */
class Meeting
{
  public:
	explicit Meeting(int count) : shards(count)
	{
	}

	/* Returns whether all have come. */
	bool
	wait(bool failed)
	{
		const int mine = turn.load();

		if (failed)
			any_failed = true;
		if (++waiting == shards)
		{
			waiting = 0;
			turn++;
		}
		/* it takes microseconds, which are measured: nobody sleeps */
		while (turn.load() == mine && !any_failed.load())
			std::this_thread::yield();
		return !any_failed.load();
	}

  private:
	const int shards;
	std::atomic<int> waiting{0};
	std::atomic<int> turn{0};
	std::atomic<bool> any_failed{false};
};

struct Participants;

struct Shard
{
	Participants *participants;
	uint32_t self;
	HgCudaDevice device;
	HgCudaWork work;
	uint32_t *keys[2]; /* by HgSide */
	uint32_t *outer_rows;
	uint32_t *inner_rows;
	uint64_t capacity; /* of pairs */
	cudaStream_t copies;

	HgCudaExchange exchange[2]; /* by HgSide, as all that follows */
	HgCudaShown shown[2];
	uint32_t ends[HG_EXCHANGE_SHARDS];
	HgCudaPartition sides[2];
	HgShape shape;
	HgCudaGraph graph;
	uint64_t pairs;

	cudaEvent_t marks[STEPS + 1];
	double step_ms[STEPS];
	HgStatus status;
	HgError error;
	unsigned long long checksum;
	unsigned long long expected;
	unsigned long long wrong;
	uint64_t seen_rows;
};

struct Participants
{
	const Course *course;
	std::vector<std::unique_ptr<Shard>> shards;
	std::unique_ptr<Meeting> meeting;
	int repeat;
	double began_ms;
	double total_ms; /* the median of the runs, and its steps, of the shard that took longest */
	double step_ms[STEPS];
};

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------ */

/* The key of a row: which one it is, in the order of keys, and as the engine sees it. */
struct Keys
{
	uint64_t rows;
	uint64_t factor; /* 1: in order */
	uint32_t duplicates;
	bool scattered;

	__device__ uint32_t
	of_position(uint64_t position) const
	{
		const uint32_t number = (uint32_t) (position / duplicates);

		return scattered ? hg_mix32(number) : number;
	}

	__device__ uint32_t
	of_row(uint64_t row) const
	{
		return of_position(row * factor % rows);
	}
};

static Keys
keys_of(const Course *course, int side)
{
	return {course->rows, course->scattered ? SCATTERS[side] : 1,
			side == HG_INNER ? course->duplicates : 1, course->scattered};
}

/* The factor by which places become rows again. */
static uint64_t
inverse(uint64_t factor, uint64_t rows)
{
	int64_t x = 0;
	int64_t next_x = 1;
	uint64_t r = rows;
	uint64_t next_r = factor % rows;

	if (rows == 1)
		return 1;
	while (next_r != 0)
	{
		const uint64_t quotient = r / next_r;
		const int64_t last_x = next_x;
		const uint64_t last_r = next_r;

		next_x = x - (int64_t) quotient * next_x;
		x = last_x;
		next_r = r - quotient * next_r;
		r = last_r;
	}
	return x < 0 ? (uint64_t) (x + (int64_t) rows) : (uint64_t) x;
}

static __global__ void
hg_fill_keys_kernel(Keys keys, uint64_t first, uint64_t count, uint32_t *out)
{
	const uint64_t stride = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
		out[i] = keys.of_row(first + i);
}

/* ------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------ */

static __global__ void
hg_sum_pairs_kernel(const uint32_t *outer, const uint32_t *inner, uint64_t count,
					unsigned long long *sum)
{
	const uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	unsigned long long mine = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
		mine += hg_workload_pair(inner[i], outer[i]);
	atomicAdd(sum, mine);
}

/* The pairs that the inner rows at places first .. end - 1 have: one each. */
static __global__ void
hg_expect_pairs_kernel(uint64_t rows, uint64_t inner_inverse, uint64_t outer_inverse,
					   uint32_t duplicates, uint64_t first, uint64_t end, unsigned long long *sum)
{
	const uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	unsigned long long mine = 0;

	for (uint64_t i = first + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < end;
		 i += stride)
		mine += hg_workload_pair((uint32_t) (i * inner_inverse % rows),
								 (uint32_t) (i / duplicates * outer_inverse % rows));
	atomicAdd(sum, mine);
}

/* Are the edges of a graph in their lists, of their rows' keys, and there once? */
static __global__ void
hg_check_edges_kernel(HgCudaGraph graph, HgTurn<uint32_t> turn, Keys keys, uint32_t *seen,
					  unsigned long long *wrong)
{
	const uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	const uint64_t first = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	const uint64_t vertices = UINT64_C(1) << graph.vertices_log2;
	const uint32_t *words = static_cast<const uint32_t *>(graph.edge_words);
	unsigned long long mine = 0;

	for (uint64_t v = first; v <= vertices; v += stride)
	{
		if (v == 0)
			mine += graph.offsets[0] != 0;
		if (v == vertices)
			mine += graph.offsets[v] != graph.rows;
		else
			mine += graph.offsets[v] > graph.offsets[v + 1];
	}
	for (uint64_t i = first; i < graph.rows; i += stride)
	{
		const uint32_t vertex = hg_word_vertex(words[i], 32 - graph.vertices_log2);
		const uint32_t row = graph.edge_rows[i];

		mine += i < graph.offsets[vertex] || i >= graph.offsets[vertex + 1];
		if (row >= keys.rows)
			mine++;
		else
		{
			mine += hg_word_turn_back(words[i], turn) != hg_word_mix(keys.of_row(row));
			mine += (atomicOr(&seen[row / 32], 1u << row % 32) & 1u << row % 32) != 0;
		}
	}
	if (mine > 0)
		atomicAdd(wrong, mine);
}

/* Read a sum back, and give it back. */
static HgStatus
take_sum(Shard *shard, unsigned long long *device, unsigned long long *sum, HgError *error)
{
	const void *host;

	HG_TRY(hg_cuda_read_back(&shard->work, device, sizeof(*sum), &host, error));
	memcpy(sum, host, sizeof(*sum));
	hg_cuda_free(&shard->work, device);
	return HG_OK;
}

static HgStatus
make_sum(Shard *shard, unsigned long long **device, HgError *error)
{
	HG_TRY(hg_cuda_alloc_array(&shard->work, 1, device, error));
	HG_CUDA_TRY(cudaMemsetAsync(*device, 0, sizeof(**device), shard->work.stream), error);
	return HG_OK;
}

static HgStatus
check_graph(Shard *shard, HgError *error)
{
	const Course *course = shard->participants->course;
	const bool alone = shard->participants->shards.size() == 1;
	const HgTurn<uint32_t> turn = alone
									  ? HgTurn<uint32_t>{0, 0}
									  : hg_cuda_exchange_turn<uint32_t>(&shard->exchange[HG_INNER]);
	unsigned long long *wrong;
	uint32_t *seen;

	HG_TRY(make_sum(shard, &wrong, error));
	HG_TRY(hg_cuda_alloc_array(&shard->work, course->rows / 32 + 1, &seen, error));
	HG_CUDA_TRY(
		cudaMemsetAsync(seen, 0, (course->rows / 32 + 1) * sizeof(*seen), shard->work.stream),
		error);
	HG_TRY((hg_cuda_launch<hg_check_edges_kernel>(shard->work.stream, "hg_check_edges_kernel",
												  BLOCKS, THREADS, error, shard->graph, turn,
												  keys_of(course, HG_INNER), seen, wrong)));
	shard->seen_rows = shard->graph.rows;
	hg_cuda_free(&shard->work, seen);
	return take_sum(shard, wrong, &shard->wrong, error);
}

static HgStatus
check_pairs(Shard *shard, HgError *error)
{
	const Course *course = shard->participants->course;
	const uint64_t share = course->rows / shard->participants->shards.size();
	const Keys inner = keys_of(course, HG_INNER);
	const Keys outer = keys_of(course, HG_OUTER);
	unsigned long long *sum;

	HG_TRY(make_sum(shard, &sum, error));
	HG_TRY((hg_cuda_launch<hg_sum_pairs_kernel>(
		shard->work.stream, "hg_sum_pairs_kernel", BLOCKS, THREADS, error, shard->outer_rows,
		shard->inner_rows, std::min(shard->pairs, shard->capacity), sum)));
	HG_TRY(take_sum(shard, sum, &shard->checksum, error));
	HG_TRY(make_sum(shard, &sum, error));
	HG_TRY((hg_cuda_launch<hg_expect_pairs_kernel>(
		shard->work.stream, "hg_expect_pairs_kernel", BLOCKS, THREADS, error, course->rows,
		inverse(inner.factor, course->rows), inverse(outer.factor, course->rows),
		course->duplicates, share * shard->self, share * (shard->self + 1), sum)));
	return take_sum(shard, sum, &shard->expected, error);
}

/* ------------------------------------------------------------------------
 * A run
 * ------------------------------------------------------------------------ */

static uint64_t
share_of(const Participants *participants)
{
	return participants->course->rows / participants->shards.size();
}

static HgStatus
mark(Shard *shard, int step, HgError *error)
{
	HG_CUDA_TRY(cudaEventRecord(shard->marks[step], shard->work.stream), error);
	return HG_OK;
}

/* Join the sides, which are in bins, and write all pairs. */
static HgStatus
join_sides(Shard *shard, HgError *error)
{
	HgCudaBinsMatches matches;
	HgCudaBins bins;
	uint64_t written;

	HG_TRY(hg_cuda_bins_open(&shard->work, &shard->sides[HG_INNER], &shard->sides[HG_OUTER],
							 shard->shape.vertices_log2, 0, &bins, error));
	HG_TRY(hg_cuda_bins_match(&shard->work, &bins, HG_MATCH_ALL, shard->outer_rows,
							  shard->inner_rows, shard->capacity, &matches, &written, error));
	shard->pairs = matches.counts.matches;
	while (written < shard->pairs && shard->pairs <= shard->capacity)
	{
		uint64_t more;

		HG_TRY(hg_cuda_bins_write(&shard->work, &bins, &matches, written,
								  shard->outer_rows + written, shard->inner_rows + written,
								  shard->capacity - written, &more, error));
		written += more;
	}
	hg_cuda_bins_end(&shard->work, &matches);
	hg_cuda_bins_close(&shard->work, &bins);
	return HG_OK;
}

/* The shape of what a shard makes of its rows: at least so many bins. */
static void
choose_shape(Shard *shard, uint64_t outer_rows, uint64_t inner_rows, uint32_t least_log2)
{
	HgJobSpec spec = {};

	spec.key_width = sizeof(uint32_t);
	if (!shard->participants->course->joined)
	{
		spec.shape.build = HG_BUILD_V2;
		spec.shape.probe = HG_PROBE_INTERSECT;
	}
	shard->shape = hg_cuda_shape_choose(&spec, outer_rows, inner_rows);
	shard->shape.bins_log2 = std::max(shard->shape.bins_log2, least_log2);
	shard->shape.vertices_log2 = std::max(shard->shape.vertices_log2, shard->shape.bins_log2);
}

/* One GPU alone. */
static HgStatus
run_alone(Shard *shard, HgError *error)
{
	const uint64_t rows = share_of(shard->participants);

	for (int step = STEP_COUNT; step <= STEP_MERGE; step++)
		HG_TRY(mark(shard, step, error));
	choose_shape(shard, shard->participants->course->joined ? rows : 0, rows, 0);
	if (!shard->participants->course->joined)
	{
		HG_TRY(mark(shard, STEP_END, error));
		return hg_cuda_graph_build(&shard->work, &shard->shape, sizeof(uint32_t),
								   shard->keys[HG_INNER], nullptr, rows, true, false, &shard->graph,
								   error);
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		HG_TRY(hg_cuda_partition_make(&shard->work, sizeof(uint32_t), shard->keys[side], nullptr,
									  rows, HG_KEEP_KEYS, shard->shape.bins_log2,
									  &shard->sides[side], error));
	HG_TRY(mark(shard, STEP_END, error));
	return join_sides(shard, error);
}

/* Which bins does each shard get, as all have counted? */
static void
part(Shard *shard, uint32_t *ends)
{
	const Participants *participants = shard->participants;
	const uint32_t count = (uint32_t) participants->shards.size();
	const uint32_t bins = UINT32_C(1) << shard->exchange[HG_INNER].bins_log2;
	const int first_side = participants->course->joined ? HG_OUTER : HG_INNER;
	std::vector<uint64_t> rows(bins, 0);

	for (const std::unique_ptr<Shard> &other : participants->shards)
		for (int side = first_side; side <= HG_INNER; side++)
			for (uint32_t bin = 0; bin < bins; bin++)
				rows[bin] +=
					other->exchange[side].starts[bin + 1] - other->exchange[side].starts[bin];
	hg_exchange_ranges_choose(rows.data(), bins, count, NULL, ends);
}

static uint32_t
chunks_of(const Participants *participants)
{
	return participants->course->joined ? HG_EXCHANGE_AWAITED_CHUNKS : HG_EXCHANGE_USED_CHUNKS;
}

/* What all shards have counted of a side. */
static void
get_starts(const Participants *participants, int side, const uint32_t **starts)
{
	for (size_t m = 0; m < participants->shards.size(); m++)
		starts[m] = participants->shards[m]->exchange[side].starts;
}

/* ... and what they show. */
static void
get_shown(const Participants *participants, int side, HgCudaShown *shown)
{
	for (size_t m = 0; m < participants->shards.size(); m++)
		shown[m] = participants->shards[m]->shown[side];
}

/* Make room for all sides of a shard's range. */
static HgStatus
expect_sides(Shard *shard, HgError *error)
{
	const Participants *participants = shard->participants;
	const uint32_t count = (uint32_t) participants->shards.size();
	const int last_side = participants->course->joined ? HG_OUTER : HG_INNER;
	const uint32_t *starts[2][HG_EXCHANGE_SHARDS];
	uint64_t rows[2] = {0, 0};

	part(shard, shard->ends);
	for (int side = HG_INNER; side >= last_side; side--)
	{
		get_starts(participants, side, starts[side]);
		rows[side] = hg_cuda_exchange_rows(starts[side], count, shard->ends, shard->self);
	}
	choose_shape(shard, rows[HG_OUTER], rows[HG_INNER],
				 hg_cuda_exchange_range_log2(shard->ends, shard->self));
	for (int side = HG_INNER; side >= last_side; side--)
		HG_TRY(hg_cuda_exchange_expect(&shard->work, &shard->exchange[side], starts[side],
									   shard->ends, shard->shape.bins_log2, chunks_of(participants),
									   &shard->shown[side], &shard->sides[side], error));
	return HG_OK;
}

/* Begin to send a side. */
static HgStatus
send_side(Shard *shard, int side, HgError *error)
{
	const Participants *participants = shard->participants;
	const uint32_t *starts[HG_EXCHANGE_SHARDS];
	HgCudaShown shown[HG_EXCHANGE_SHARDS];

	get_starts(participants, side, starts);
	get_shown(participants, side, shown);
	return hg_cuda_exchange_send(&shard->work, &shard->exchange[side], starts, shard->ends,
								 chunks_of(participants), shown, error);
}

/* Merge the chunks of a side, and build the graph of its bins if that is wanted. */
static HgStatus
merge_side(Shard *shard, int side, bool built, HgError *error)
{
	HgCudaExchange *exchange = &shard->exchange[side];
	HgCudaPartition *partition = &shard->sides[side];
	HgCudaShown shown[HG_EXCHANGE_SHARDS];
	uint32_t *unfinished = nullptr;
	uint32_t first;
	uint32_t end = 0;

	get_shown(shard->participants, side, shown);
	if (built)
		HG_TRY(hg_cuda_graph_begin(&shard->work, &shard->shape, partition, false, &shard->graph,
								   &unfinished, error));
	for (uint32_t chunk = 0; chunk < exchange->chunk_count; chunk++)
	{
		HG_TRY(hg_cuda_exchange_merge(&shard->work, exchange, shown, chunk, partition, &first, &end,
									  error));
		if (built)
			HG_TRY(hg_cuda_graph_bins(&shard->work, &shard->shape, partition->starts, first, end,
									  &shard->graph, unfinished, error));
	}
	if (!built)
		return HG_OK;
	HG_TRY(hg_cuda_graph_bins(&shard->work, &shard->shape, partition->starts, end,
							  UINT32_C(1) << shard->shape.bins_log2, &shard->graph, unfinished,
							  error));
	HG_TRY(mark(shard, STEP_END, error));
	HG_TRY(hg_cuda_graph_finish(&shard->work, &shard->graph, unfinished, error));
	/* its rows are the graph's */
	partition->words = nullptr;
	partition->rows = nullptr;
	return HG_OK;
}

/* Put the rows of a side into bins. */
static HgStatus
sort_side(Shard *shard, int side, HgError *error)
{
	const uint64_t share = share_of(shard->participants);

	return hg_cuda_exchange_sort(&shard->work, &shard->exchange[side], shard->keys[side], nullptr,
								 (uint32_t) (share * shard->self), share, error);
}

/* Wait for the other shards: their failure is this one's. */
static HgStatus
meet(Shard *shard, HgError *error)
{
	if (!shard->participants->meeting->wait(false))
		return hg_error_set(error, HG_CANCELLED, nullptr, "another GPU failed");
	return HG_OK;
}

/*
 * One of several; between its steps all wait for each other, while what they have launched runs.
 * The inner side is sent while the outer side is sorted.
 */
static HgStatus
run_together(Shard *shard, HgError *error)
{
	const bool joined = shard->participants->course->joined;

	const int last_side = joined ? HG_OUTER : HG_INNER;

	HG_TRY(mark(shard, STEP_COUNT, error));
	for (int side = HG_INNER; side >= last_side; side--)
		HG_TRY(hg_cuda_exchange_count(&shard->work, &shard->exchange[side], shard->keys[side],
									  share_of(shard->participants), error));
	for (int side = HG_INNER; side >= last_side; side--)
		HG_TRY(hg_cuda_exchange_counted(&shard->work, &shard->exchange[side], error));
	HG_TRY(mark(shard, STEP_SORT, error));
	HG_TRY(sort_side(shard, HG_INNER, error));
	HG_TRY(meet(shard, error));
	HG_TRY(expect_sides(shard, error));
	HG_TRY(meet(shard, error));
	HG_TRY(send_side(shard, HG_INNER, error));
	if (joined)
	{
		HG_TRY(sort_side(shard, HG_OUTER, error));
		HG_TRY(send_side(shard, HG_OUTER, error));
	}
	HG_TRY(mark(shard, STEP_MERGE, error));
	HG_TRY(meet(shard, error));
	for (int side = HG_INNER; side >= last_side; side--)
		HG_TRY(merge_side(shard, side, !joined, error));
	if (!joined)
		return HG_OK;
	HG_TRY(mark(shard, STEP_END, error));
	return join_sides(shard, error);
}

static void
clear_run(Shard *shard)
{
	hg_cuda_graph_free(&shard->work, &shard->graph);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_cuda_partition_free(&shard->work, &shard->sides[side]);
		if (shard->participants->shards.size() > 1)
			hg_cuda_exchange_clear(&shard->work, &shard->exchange[side]);
	}
}

static HgStatus
run(Shard *shard, HgError *error)
{
	const bool alone = shard->participants->shards.size() == 1;

	HG_TRY(alone ? run_alone(shard, error) : run_together(shard, error));
	HG_TRY(mark(shard, STEPS, error));
	HG_TRY(hg_cuda_wait(&shard->work, error));
	for (int step = 0; step < STEPS; step++)
	{
		float ms;

		HG_CUDA_TRY(cudaEventElapsedTime(&ms, shard->marks[step], shard->marks[step + 1]), error);
		shard->step_ms[step] = ms;
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * All runs of a course
 * ------------------------------------------------------------------------ */

static HgStatus
open_shard(Shard *shard, HgError *error)
{
	const Participants *participants = shard->participants;
	const uint64_t share = share_of(participants);
	const int devices = (int) participants->shards.size();
	int there = 0;

	HG_CUDA_TRY(cudaGetDeviceCount(&there), error);
	if (there == 0)
		return hg_error_set(error, HG_UNAVAILABLE, nullptr, "no GPU is there");
	HG_TRY(hg_cuda_device_open(&shard->device, (int) shard->self % there, 0, error));
	for (int other = 0; other < std::min(devices, there); other++)
	{
		bool reached;

		HG_TRY(hg_cuda_peers_admit(&shard->device, other, &reached, error));
	}
	HG_TRY(hg_cuda_work_open(&shard->work, &shard->device, nullptr, 0, error));
	HG_CUDA_TRY(cudaStreamCreateWithFlags(&shard->copies, cudaStreamNonBlocking), error);
	for (cudaEvent_t &event : shard->marks)
		HG_CUDA_TRY(cudaEventCreate(&event), error);
	for (int side = participants->course->joined ? HG_OUTER : HG_INNER; side <= HG_INNER; side++)
	{
		HG_TRY(hg_cuda_alloc_array(&shard->work, share, &shard->keys[side], error));
		HG_TRY((hg_cuda_launch<hg_fill_keys_kernel>(
			shard->work.stream, "hg_fill_keys_kernel", BLOCKS, THREADS, error,
			keys_of(participants->course, side), share * shard->self, share, shard->keys[side])));
		if (devices > 1)
			HG_TRY(hg_cuda_exchange_open(&shard->exchange[side], sizeof(uint32_t),
										 (uint32_t) devices, shard->self, shard->copies, error));
	}
	if (participants->course->joined)
	{
		/* a range may have more than its share; of few keys, a good deal more */
		shard->capacity = devices == 1 ? share : share + share / 4 + (1 << 20);
		HG_TRY(hg_cuda_alloc_array(&shard->work, shard->capacity, &shard->outer_rows, error));
		HG_TRY(hg_cuda_alloc_array(&shard->work, shard->capacity, &shard->inner_rows, error));
	}
	return hg_cuda_wait(&shard->work, error);
}

static void
close_shard(Shard *shard)
{
	if (shard->device.pool == nullptr && shard->device.releases == nullptr)
		return;
	cudaSetDevice(shard->device.ordinal);
	for (cudaEvent_t event : shard->marks)
		if (event != nullptr)
			cudaEventDestroy(event);
	for (HgCudaExchange &exchange : shard->exchange)
		hg_cuda_exchange_close(&exchange);
	if (shard->copies != nullptr)
		cudaStreamDestroy(shard->copies);
	if (shard->work.device != nullptr)
		hg_cuda_work_close(&shard->work);
	cudaDeviceSynchronize();
	hg_cuda_device_close(&shard->device);
}

/* Note the time of a run, by the first shard, when all have ended it. */
static void
note_run(Participants *participants, std::vector<double> *totals,
		 std::vector<std::vector<double>> *steps)
{
	std::vector<double> longest(STEPS, 0);

	totals->push_back(hg_clock_ms() - participants->began_ms);
	for (const std::unique_ptr<Shard> &shard : participants->shards)
		for (int step = 0; step < STEPS; step++)
			longest[step] = std::max(longest[step], shard->step_ms[step]);
	steps->push_back(longest);
}

static void
choose_median(Participants *participants, const std::vector<double> &totals,
			  const std::vector<std::vector<double>> &steps)
{
	std::vector<size_t> order(totals.size());

	for (size_t i = 0; i < order.size(); i++)
		order[i] = i;
	std::sort(order.begin(), order.end(),
			  [&](size_t a, size_t b) { return totals[a] < totals[b]; });
	participants->total_ms = totals[order[order.size() / 2]];
	std::copy(steps[order[order.size() / 2]].begin(), steps[order[order.size() / 2]].end(),
			  participants->step_ms);
}

/* All that a shard does. */
static void
work_through(Shard *shard)
{
	Participants *participants = shard->participants;
	HgError *error = &shard->error;
	std::vector<double> totals;
	std::vector<std::vector<double>> steps;

	shard->status = open_shard(shard, error);
	/* the first two are there to warm up */
	for (int turn = -2; turn < participants->repeat; turn++)
	{
		if (!participants->meeting->wait(shard->status != HG_OK))
			return;
		if (shard->self == 0)
			participants->began_ms = hg_clock_ms();
		if (!participants->meeting->wait(false))
			return;
		shard->status = run(shard, error);
		if (!participants->meeting->wait(shard->status != HG_OK))
			return;
		if (shard->self == 0 && turn >= 0)
			note_run(participants, &totals, &steps);
		if (turn + 1 < participants->repeat)
			clear_run(shard);
	}
	shard->status =
		participants->course->joined ? check_pairs(shard, error) : check_graph(shard, error);
	if (shard->self == 0)
		choose_median(participants, totals, steps);
	participants->meeting->wait(false);
}

/* Is what all shards have found right? */
static bool
is_right(const Participants *participants)
{
	uint64_t rows = 0;
	uint64_t pairs = 0;
	unsigned long long wrong = 0;
	unsigned long long checksum = 0;
	unsigned long long expected = 0;

	for (const std::unique_ptr<Shard> &shard : participants->shards)
	{
		rows += shard->seen_rows;
		pairs += shard->pairs;
		wrong += shard->wrong;
		checksum += shard->checksum;
		expected += shard->expected;
	}
	return participants->course->joined
			   ? pairs == participants->course->rows && checksum == expected
			   : rows == participants->course->rows && wrong == 0;
}

/* The failure of a course, unless it is another's. */
static const Shard *
failed_shard(const Participants *participants)
{
	const Shard *failed = nullptr;

	for (const std::unique_ptr<Shard> &shard : participants->shards)
		if (shard->status != HG_OK && (failed == nullptr || failed->status == HG_CANCELLED))
			failed = shard.get();
	return failed;
}

static void
write_course(HgBenchJson *json, const Participants *participants, bool right)
{
	const Course *course = participants->course;

	hg_bench_json_next(json);
	fprintf(json->file,
			"{\"what\": \"%s\", \"gpus\": %zu, \"order\": \"%s\", \"duplicates\": %u, "
			"\"rows\": %" PRIu64 ", \"total_ms\": %.6g, \"verified\": %s, \"steps_ms\": {",
			course->joined ? "join" : "build", participants->shards.size(),
			course->scattered ? "random" : "sequential", course->duplicates, course->rows,
			participants->total_ms, right ? "true" : "false");
	for (int step = 0; step < STEPS; step++)
		fprintf(json->file, "%s\"%s\": %.6g", step == 0 ? "" : ", ", step_names[step],
				participants->step_ms[step]);
	fputs("}}", json->file);
}

/* Measure a course on so many GPUs; *rate is in rows of both sides a second, in billions. */
static bool
bench_course(const Course *course, int gpus, int repeat, double *rate, HgBenchReport *report)
{
	std::vector<std::thread> threads;
	const Shard *failed;
	bool right;
	Participants participants;

	participants.course = course;
	participants.repeat = repeat;
	participants.meeting.reset(new Meeting(gpus));
	for (int m = 0; m < gpus; m++)
	{
		participants.shards.emplace_back(new Shard());
		participants.shards.back()->participants = &participants;
		participants.shards.back()->self = (uint32_t) m;
	}
	for (const std::unique_ptr<Shard> &shard : participants.shards)
		threads.emplace_back(work_through, shard.get());
	for (std::thread &thread : threads)
		thread.join();
	failed = failed_shard(&participants);
	right = failed == nullptr && is_right(&participants);
	*rate = (double) course->rows * (course->joined ? 2 : 1) / participants.total_ms / 1e6;
	printf("%-6s %-10s x%-4u %2d %11" PRIu64 " ", course->joined ? "join" : "build",
		   course->scattered ? "random" : "sequential", course->duplicates, gpus, course->rows);
	if (failed != nullptr)
		printf("failed with status %d: %s %s\n", (int) failed->status, failed->error.message,
			   failed->error.detail);
	else
	{
		printf("%9.3f %8.2f  %-3s ", participants.total_ms, *rate, right ? "yes" : "NO");
		for (int step = 0; step < STEPS; step++)
			printf(" %s %.2f", step_names[step], participants.step_ms[step]);
		if (report->json.file != nullptr)
			write_course(&report->json, &participants, right);
	}
	for (const std::unique_ptr<Shard> &shard : participants.shards)
		close_shard(shard.get());
	return right;
}

bool
hg_bench_gpus(const HgBenchGpus *options, HgBenchReport *report)
{
	bool right = true;

	printf("%-6s %-10s %-5s %2s %11s %9s %8s  %-3s  %s\n", "what", "keys", "dups", "n", "rows",
		   "ms", "G rows/s", "ok", "ms of each step, of the member that takes longest");
	for (int joined = 0; joined <= 1; joined++)
		for (int scattered = 1; scattered >= (options->quick ? 1 : 0); scattered--)
			for (uint32_t duplicates = 1; duplicates <= 512; duplicates *= options->quick ? 32 : 8)
			{
				double first_rate = 0;

				for (const char *text = options->counts; text != nullptr;
					 text = strchr(text, ',') == nullptr ? nullptr : strchr(text, ',') + 1)
				{
					const int gpus = std::min(std::max(atoi(text), 1), HG_EXCHANGE_SHARDS);
					const uint64_t share = UINT64_C(1) << options->rows_log2;
					const Course course = {options->strong ? share / gpus * gpus : share * gpus,
										   duplicates, scattered != 0, joined != 0};
					double rate;

					right &= bench_course(&course, gpus, options->repeat, &rate, report);
					if (first_rate == 0)
						first_rate = rate;
					printf("  %.2f times\n", rate / first_rate);
					fflush(stdout);
				}
			}
	return right;
}
