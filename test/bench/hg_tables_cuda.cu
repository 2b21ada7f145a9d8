/*-------------------------------------------------------------------------
 *
 * hg_tables_cuda.cu
 *	  The benchmark of tables on a device: keys, rows and tables in device memory.
 *
 * What is measured is what hg_cuda_table.h calls a kind's own: kernels on arrays of the device, in
 * one stream, with what the host does in between: memory from the pool, launches, and the numbers
 * that must be read back.  Events of the device take the time.  Matches are counted, their counts
 * summed up and their rows written.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/device/hg_cuda_launch.h"
#include "../../cuda/engine/hg_cuda_devices.h"
#include "../../cuda/tables/hg_cuda_table.h"
#include "hg_bench_host.h"
#include "hg_tables.h"

#include <cstdio>
#include <cub/device/device_scan.cuh>

struct HgBenchTable
{
	HgCudaTable *table;
};

/* For matches: counts of keys and their prefix sums; as much as the most so far needed. */
struct MatchRoom
{
	uint32_t *counts;
	uint64_t *offsets;
	void *scratch;
	size_t scratch_bytes;
	uint64_t keys;
};

static HgCudaDevice device;
static HgCudaWork work; /* of arrays, and of the clock: a table has one of its own */
static cudaEvent_t started;
static cudaEvent_t ended;
static HgBenchTable only_table;
static MatchRoom room;

/* The stream that is measured: the open table's. */
static cudaStream_t
table_stream()
{
	return only_table.table->work.stream;
}

static HgStatus
device_make(size_t bytes, void **array, HgError *error)
{
	HG_TRY(hg_cuda_alloc(&work, bytes, array, error));
	return hg_cuda_wait(&work, error);
}

static void
device_drop(void *array, size_t bytes)
{
	(void) bytes;
	hg_cuda_free(&work, array);
}

static HgStatus
device_put(void *array, const void *from, size_t bytes, HgError *error)
{
	HG_CUDA_TRY(cudaMemcpyAsync(array, from, bytes, cudaMemcpyHostToDevice, work.stream), error);
	return hg_cuda_wait(&work, error);
}

static HgStatus
device_get(const void *array, void *to, size_t bytes, HgError *error)
{
	/* what was to be measured may still go on where nobody has stopped the clock */
	HG_TRY(hg_cuda_wait(&only_table.table->work, error));
	HG_CUDA_TRY(cudaMemcpyAsync(to, array, bytes, cudaMemcpyDeviceToHost, work.stream), error);
	return hg_cuda_wait(&work, error);
}

static HgStatus
device_start(HgError *error)
{
	HG_TRY(hg_cuda_wait(&only_table.table->work, error));
	HG_CUDA_TRY(cudaEventRecord(started, table_stream()), error);
	return HG_OK;
}

static HgStatus
device_stop(double *ms, HgError *error)
{
	float took;

	HG_CUDA_TRY(cudaEventRecord(ended, table_stream()), error);
	HG_TRY(hg_cuda_wait(&only_table.table->work, error));
	HG_CUDA_TRY(cudaEventElapsedTime(&took, started, ended), error);
	*ms = took;
	return HG_OK;
}

static HgStatus
table_open(const HgTableSpec *spec, HgBenchTable **table, HgError *error)
{
	only_table = {};
	HG_TRY(hg_cuda_table_open(&device, &hg_bench_host, spec, &only_table.table, error));
	*table = &only_table;
	return HG_OK;
}

/* Have memory for matches of so many keys. */
static HgStatus
match_room(uint64_t count, HgError *error)
{
	if (count < room.keys)
		return HG_OK;
	hg_cuda_free(&work, room.counts);
	hg_cuda_free(&work, room.offsets);
	hg_cuda_free(&work, room.scratch);
	room = {};
	HG_TRY(hg_cuda_alloc_array(&work, count + 1, &room.counts, error));
	HG_TRY(hg_cuda_alloc_array(&work, count + 1, &room.offsets, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, room.scratch_bytes, room.counts,
											  room.offsets, count + 1),
				error);
	HG_TRY(hg_cuda_alloc(&work, room.scratch_bytes, &room.scratch, error));
	room.keys = count + 1;
	return hg_cuda_wait(&work, error);
}

static void
table_close(HgBenchTable *table)
{
	hg_cuda_table_close(table->table);
	table->table = nullptr;
}

static HgCudaTableBatch
batch_of(const HgTableBatch *batch)
{
	return {.keys = batch->keys,
			.rows = batch->rows,
			.count = batch->count,
			.first_row = batch->first_row,
			.by_key = batch->by_key};
}

static HgStatus
table_change(HgBenchTable *table, const HgTableBatch *out, const HgTableBatch *in, HgError *error)
{
	HgCudaTableBatch batches[2];

	if (out != nullptr)
		batches[0] = batch_of(out);
	if (in != nullptr)
		batches[1] = batch_of(in);
	return table->table->calls->change(table->table, out != nullptr ? &batches[0] : nullptr,
									   in != nullptr ? &batches[1] : nullptr, nullptr, error);
}

static HgStatus
table_find(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return table->table->calls->find(table->table, keys, count, rows, error);
}

static HgStatus
table_count(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return table->table->calls->count(table->table, keys, count, counts, error);
}

static HgStatus
table_match(HgBenchTable *table, const void *keys, uint64_t count, uint32_t *rows, uint64_t pairs,
			HgError *error)
{
	cudaStream_t stream = table_stream();

	(void) pairs;
	HG_TRY(match_room(count, error));
	HG_TRY(table_count(table, keys, count, room.counts, error));
	HG_CUDA_TRY(cudaMemsetAsync(room.counts + count, 0, sizeof(*room.counts), stream), error);
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(room.scratch, room.scratch_bytes, room.counts,
											  room.offsets, count + 1, stream),
				error);
	return table->table->calls->match(table->table, keys, count, room.offsets, rows, error);
}

static HgStatus
table_export(HgBenchTable *table, void *keys, HgError *error)
{
	return table->table->calls->export_entries(table->table, keys, nullptr, error);
}

static HgStatus
table_describe(HgBenchTable *table, HgTableStats *stats, HgError *error)
{
	return hg_cuda_table_describe(table->table, 0, stats, error);
}

static HgStatus
open_device(HgBenchTables *bench, HgError *error)
{
	cudaDeviceProp properties;
	int ordinal;

	HG_TRY(hg_cuda_devices_choose(-1, &ordinal, error));
	HG_CUDA_TRY(cudaGetDeviceProperties(&properties, ordinal), error);
	snprintf(bench->device, sizeof(bench->device), "%.90s", properties.name);
	HG_TRY(hg_cuda_device_open(&device, ordinal, 0, error));
	HG_TRY(hg_cuda_work_open(&work, &device, &hg_bench_host, 0, error));
	HG_CUDA_TRY(cudaEventCreate(&started), error);
	HG_CUDA_TRY(cudaEventCreate(&ended), error);
	return HG_OK;
}

HgStatus
hg_tables_cuda_bench(const HgBenchTables **bench, HgError *error)
{
	static HgBenchTables cuda = {.name = "cuda",
								 .device = "",
								 .make = device_make,
								 .drop = device_drop,
								 .put = device_put,
								 .get = device_get,
								 .start = device_start,
								 .stop = device_stop,
								 .open = table_open,
								 .close = table_close,
								 .change = table_change,
								 .find = table_find,
								 .count = table_count,
								 .match = table_match,
								 .export_entries = table_export,
								 .describe = table_describe};

	HG_TRY(open_device(&cuda, error));
	*bench = &cuda;
	return HG_OK;
}
