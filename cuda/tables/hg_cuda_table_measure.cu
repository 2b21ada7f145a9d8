/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_measure.cu
 *	  Measures a table in device memory: hg_table_measure.h, with keys that are on the device.
 *
 * The calls of a table's kind are timed by events of the table's own stream.  They do not report
 * numbers of rows, for which they would have to wait.  Erased and inserted rows follow from the
 * statistics of the table before and after.
 *
 * The two keys of a set whose words mark slots are recorded beside a table (hg_cuda_table.h),
 * which no kind does itself.  So this file counts how many of them are among the keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>

#include "../device/hg_cuda_launch.h"
#include "../kernels/hg_cuda_tuning.h"
#include "hg_cuda_tables.h"
#include "hg_cuda_tables_impl.h"

/* Sets found[0] to 1 if key a is among keys[n], and found[1] if key b is. */
template <typename Word>
__global__ void
hg_table_among_kernel(const Word *keys, uint64_t n, Word a, Word b, uint32_t *found)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n && keys[i] == a)
		found[0] = 1;
	if (i < n && keys[i] == b)
		found[1] = 1;
}

/* Keys of one lookup call: half a millisecond at a slow table's 8 G/s. */
static constexpr uint64_t FIND_KEYS = UINT64_C(1) << 22;

/* Rows of batches that are changed in place before the host paces the device. */
static constexpr uint64_t PACE_ROWS = UINT64_C(1) << 18;

/* A table that is measured. */
struct CudaTrial
{
	HgCudaTable *table;
	const HgTableTrial *trial;
	const unsigned char *keys;
	uint64_t nkeys;
	uint32_t *rows; /* found by the last lookup; a block of the caller's work */
	HgTableMeasure *measure;
};

static uint64_t
find_keys(uint64_t nkeys)
{
	return nkeys < FIND_KEYS ? nkeys : FIND_KEYS;
}

/* Sets the memory that a kind reports for a table: a memory call (HgTables). */
static HgStatus
kind_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory, HgError *error)
{
	const HgTableSpec full = hg_table_defaults(spec);

	HG_TRY(hg_table_check(spec, error));
	memset(memory, 0, sizeof(*memory));
	hg_cuda_table_calls(&full)->memory(&full, rows, memory);
	return HG_OK;
}

uint64_t
hg_cuda_table_measure_bytes(const HgTableTrial *trial, uint64_t nkeys)
{
	return hg_table_trial_bytes(kind_memory, trial, nkeys) + find_keys(nkeys) * sizeof(uint32_t);
}

/* ------------------------------------------------------------------------
 * Time
 * ------------------------------------------------------------------------ */

/* Starts a phase in the table's stream. */
static HgStatus
begin_phase(CudaTrial *trial, HgError *error)
{
	const HgCudaWork *work = &trial->table->work;

	HG_CUDA_TRY(cudaEventRecord(work->kit.marks[0], work->stream), error);
	return HG_OK;
}

/* Waits for the end of a phase, and sets *ns to its time. */
static HgStatus
end_phase(CudaTrial *trial, double *ns, HgError *error)
{
	HgCudaWork *work = &trial->table->work;
	float ms = 0;

	HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
	HG_TRY(hg_cuda_wait(work, error));
	HG_CUDA_TRY(cudaEventElapsedTime(&ms, work->kit.marks[0], work->kit.marks[1]), error);
	*ns = ms > 0 ? ms * 1e6 : 0;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Phases
 * ------------------------------------------------------------------------ */

/* Returns the batch of keys and rows from row first on. */
static HgCudaTableBatch
batch_of(const CudaTrial *trial, uint64_t first, uint64_t count)
{
	HgCudaTableBatch batch;

	memset(&batch, 0, sizeof(batch));
	batch.keys = trial->keys + first * trial->trial->spec.key_width;
	batch.first_row = (uint32_t) first;
	batch.count = count;
	return batch;
}

static HgStatus
build_all(CudaTrial *trial, HgError *error)
{
	const HgCudaTableBatch batch = batch_of(trial, 0, trial->nkeys);

	HG_TRY(begin_phase(trial, error));
	if (trial->nkeys > 0)
		HG_TRY(trial->table->calls->change(trial->table, nullptr, &batch, nullptr, error));
	return end_phase(trial, &trial->measure->build_ns, error);
}

/* Looks all keys up, in their order. */
static HgStatus
find_all(CudaTrial *trial, HgError *error)
{
	HgCudaTable *table = trial->table;

	HG_TRY(begin_phase(trial, error));
	for (uint64_t at = 0; at < trial->nkeys; at += FIND_KEYS)
	{
		const HgCudaTableBatch batch = batch_of(trial, at, find_keys(trial->nkeys - at));

		HG_TRY(table->calls->find(table, batch.keys, batch.count, trial->rows, error));
		HG_TRY(hg_cuda_pace(&table->work, error));
	}
	return end_phase(trial, &trial->measure->find_ns, error);
}

/* Erases the sample, or inserts it. */
static HgStatus
change_sample(CudaTrial *trial, bool insert, double *ns, HgError *error)
{
	HgCudaTable *table = trial->table;
	const uint32_t batches = hg_table_trial_batches(trial->trial);
	uint64_t unpaced = 0;

	trial->measure->sampled = 0;
	HG_TRY(begin_phase(trial, error));
	for (uint32_t i = 0; i < batches; i++)
	{
		const HgTableSample sample = hg_table_trial_sample(trial->trial, trial->nkeys, i);
		const HgCudaTableBatch batch = batch_of(trial, sample.first, sample.count);

		if (batch.count == 0)
			continue;
		HG_TRY(table->calls->change(table, insert ? nullptr : &batch, insert ? &batch : nullptr,
									nullptr, error));
		trial->measure->sampled += batch.count;
		unpaced += batch.count;
		if (!table->traits.in_place || unpaced >= PACE_ROWS)
		{
			HG_TRY(hg_cuda_pace(&table->work, error));
			unpaced = 0;
		}
	}
	return end_phase(trial, ns, error);
}

/* Erases the sample, and inserts it again. */
static HgStatus
exchange_sample(CudaTrial *trial, HgError *error)
{
	HgTableMeasure *measure = trial->measure;
	HgTableStats before;
	HgTableStats between;
	HgTableStats after;

	if (hg_table_trial_batches(trial->trial) == 0)
		return HG_OK;
	HG_TRY(hg_cuda_table_describe(trial->table, 0, &before, error));
	HG_TRY(change_sample(trial, false, &measure->erase_ns, error));
	HG_TRY(hg_cuda_table_describe(trial->table, 0, &between, error));
	HG_TRY(change_sample(trial, true, &measure->insert_ns, error));
	HG_TRY(hg_cuda_table_describe(trial->table, 0, &after, error));
	measure->erased = before.rows - between.rows;
	measure->inserted = after.rows - between.rows;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * The measurement
 * ------------------------------------------------------------------------ */

/* Counts the keys, of the two whose words mark slots of a set, that are among the keys. */
static HgStatus
count_marked(HgCudaWork *work, const HgTableSpec *spec, const void *keys, uint64_t nkeys,
			 uint64_t *marked, HgError *error)
{
	const unsigned blocks = hg_blocks_for(nkeys, HG_STREAM_THREADS);
	const uint64_t a = hg_tables_marker_key(spec, 0);
	const uint64_t b = hg_tables_marker_key(spec, 1);
	const void *read;
	uint32_t found[2];
	uint32_t *there;

	*marked = 0;
	if (spec->content != HG_TABLE_SET || nkeys == 0)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, 2, &there, error));
	HG_CUDA_TRY(cudaMemsetAsync(there, 0, sizeof(found), work->stream), error);
	if (spec->key_width == 4)
		HG_TRY((hg_cuda_launch<hg_table_among_kernel<uint32_t>>(
			work->stream, "hg_table_among_kernel", blocks, HG_STREAM_THREADS, error,
			static_cast<const uint32_t *>(keys), nkeys, (uint32_t) a, (uint32_t) b, there)));
	else
		HG_TRY((hg_cuda_launch<hg_table_among_kernel<uint64_t>>(
			work->stream, "hg_table_among_kernel", blocks, HG_STREAM_THREADS, error,
			static_cast<const uint64_t *>(keys), nkeys, a, b, there)));
	HG_TRY(hg_cuda_read_back(work, there, sizeof(found), &read, error));
	memcpy(found, read, sizeof(found));
	hg_cuda_free(work, there);
	*marked = found[0] + found[1];
	return HG_OK;
}

/* Measures an open table; marked keys are recorded beside it. */
static HgStatus
run(CudaTrial *trial, uint64_t marked, HgError *error)
{
	HG_TRY(build_all(trial, error));
	HG_TRY(find_all(trial, error));
	HG_TRY(exchange_sample(trial, error));
	return hg_cuda_table_describe(trial->table, marked, &trial->measure->stats, error);
}

/* Returns the memory limit of a table: the spec's, or what work's limit leaves. */
static uint64_t
table_limit(const HgCudaWork *work, const HgTableSpec *spec)
{
	uint64_t limit = spec->memory_limit;

	if (work->limit > 0)
	{
		/* 0 would be no limit */
		const uint64_t left = work->limit > work->held ? work->limit - work->held : 1;

		if (limit == 0 || left < limit)
			limit = left;
	}
	return limit;
}

HgStatus
hg_cuda_table_measure(HgCudaWork *work, const HgTableTrial *asked, const void *keys, uint64_t nkeys,
					  HgTableMeasure *measure, HgError *error)
{
	HgTableSpec spec = asked->spec;
	CudaTrial trial;
	uint64_t marked;
	HgStatus status;
	HgStatus ended;

	memset(measure, 0, sizeof(*measure));
	memset(&trial, 0, sizeof(trial));
	trial.trial = asked;
	trial.keys = static_cast<const unsigned char *>(keys);
	trial.nkeys = nkeys;
	trial.measure = measure;
	HG_TRY(count_marked(work, &spec, keys, nkeys, &marked, error));
	HG_TRY(hg_cuda_alloc_array(work, find_keys(nkeys) + 1, &trial.rows, error));
	/* work's stream must have written the arrays before the table's stream uses them */
	HG_TRY(hg_cuda_wait(work, error));

	spec.memory_limit = table_limit(work, &spec);
	HG_TRY(hg_cuda_table_open(work->device, work->host, &spec, &trial.table, error));
	status = run(&trial, marked, error);
	/* the table's stream must be done with the arrays before they are freed, even if cancelled */
	ended = hg_cuda_finish(&trial.table->work, error);
	hg_cuda_table_close(trial.table);
	hg_cuda_free(work, trial.rows);
	return ended != HG_OK ? ended : status;
}
