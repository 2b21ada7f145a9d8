/*-------------------------------------------------------------------------
 *
 * hg_cuda_reduce.cu
 *	  Groups the matches that are in device memory.
 *
 * 1. A launch adds some millions of pairs to their groups (hg_cuda_reduce_kernels.h).  Pairs whose
 *	  group would be one too many for the table are left over.
 * 2. While there are such pairs, the table grows and they are added.
 *
 * The table begins small, unless the caller expects many groups: a small one stays in the caches.
 * Groups are numbered without gaps, so that a larger table has the same records, and they can be
 * copied out as they are.
 *
 * MEMORY: a record and two slots of 8 bytes for each group of the capacity, twice that while the
 * table grows, and 8 bytes for each pair of a launch.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_columns.h"

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_reduce_kernels.h"

#include <cstring>

/* Sizes of tables, and their growth factors: the second if memory does not hold the first. */
static constexpr uint32_t LEAST_SLOTS_LOG2 = 12;
static constexpr uint32_t EXPECTED_SLOTS_LOG2 = 24;
static constexpr uint32_t MOST_SLOTS_LOG2 = 32;
static constexpr uint32_t GROWTH_LOG2 = 3;
static constexpr uint32_t LEAST_GROWTH_LOG2 = 1;

/* Words of an entry's sum. */
static constexpr uint32_t SUM_WORDS = 3;

static_assert(HG_MAX_REDUCE_WORDS < 256 && 4 + 4 * HG_MAX_REDUCE_ITEMS < 256,
			  "places in records and entries are bytes");
static_assert((4 + 4 * HG_MAX_REDUCE_ITEMS) * sizeof(uint32_t) <= HG_REDUCE_SHARED,
			  "a block has room for an entry");

/* Turns a lack of memory into reduce->too_many, which is no failure. */
static HgStatus
forgive(HgCudaReduce *reduce, HgStatus status)
{
	if (status != HG_DEVICE_OUT_OF_MEMORY)
		return status;
	reduce->too_many = true;
	return HG_OK;
}

static HgReduceValues
values_of(const HgCudaReduce *reduce, const HgReduceColumn *column)
{
	const HgCudaColumns *columns = &reduce->columns[column->side];
	HgReduceValues values;

	values.values = hg_cuda_columns_values(columns, column->column);
	values.nulls = hg_cuda_columns_nulls(columns, column->column);
	values.width = (uint8_t) columns->width[column->column];
	values.is_signed = column->is_signed != 0;
	values.side = (uint8_t) column->side;
	return values;
}

/* Returns the parameters of kernels, without the pairs. */
static HgReduceTask
make_task(const HgCudaReduce *reduce)
{
	const HgReduceSpec *spec = &reduce->spec;
	uint32_t word = spec->nkeys + 2;
	uint32_t offset = 0;
	HgReduceTask task = {};

	task.nkeys = spec->nkeys;
	task.nitems = spec->nitems;
	task.words = reduce->words;
	for (uint32_t i = 0; i < spec->nkeys; i++)
		task.keys[i] = values_of(reduce, &spec->keys[i]);
	for (uint32_t i = 0; i < spec->nitems; i++)
	{
		HgReduceField *item = &task.items[i];

		item->argument = values_of(reduce, &spec->items[i].argument);
		item->kind = (uint8_t) spec->items[i].kind;
		item->word = (uint8_t) word;
		word += hg_reduce_item_words(&spec->items[i]);
		if (item->kind == HG_REDUCE_MIN || item->kind == HG_REDUCE_MAX)
		{
			item->value = (uint8_t) offset;
			offset += 2;
		}
	}
	task.entry_owner = offset++;
	task.entry_pairs = offset++;
	for (uint32_t i = 0; i < spec->nitems; i++)
	{
		task.items[i].count = (uint8_t) offset++;
		if (task.items[i].kind == HG_REDUCE_SUM)
		{
			task.items[i].value = (uint8_t) offset;
			offset += SUM_WORDS;
		}
	}
	task.entry_words = (offset + 1) / 2 * 2; /* each entry begins at a multiple of 8 bytes */

	task.slots = reinterpret_cast<HgAtomicWord *>(reduce->slots);
	task.slot_mask = (UINT64_C(1) << reduce->slots_log2) - 1;
	task.records = reinterpret_cast<HgAtomicWord *>(reduce->records);
	task.limit = reduce->capacity;
	task.made = reduce->groups;
	task.counters = reinterpret_cast<HgAtomicWord *>(reduce->counters);
	task.entries = (uint32_t) (HG_REDUCE_SHARED / (task.entry_words * sizeof(uint32_t)));
	if (task.entries > HG_REDUCE_ENTRIES)
		task.entries = HG_REDUCE_ENTRIES;
	if (task.entries > reduce->capacity)
		task.entries = (uint32_t) reduce->capacity;
	return task;
}

/* Makes a table of 2^slots_log2 slots with the current groups.  On failure the old one stays. */
static HgStatus
make_table(HgCudaWork *work, HgCudaReduce *reduce, uint32_t slots_log2, HgError *error)
{
	const uint64_t slots_count = UINT64_C(1) << slots_log2;
	const uint64_t most = reduce->spec.max_groups;
	uint64_t capacity = slots_count / 2;
	HgReduceTask task;
	uint64_t *records;
	uint64_t *slots;
	HgStatus status;

	/* one group more than allowed shows that they are too many */
	if (most < capacity)
		capacity = most + 1;
	HG_TRY(hg_cuda_alloc_array(work, slots_count, &slots, error));
	status = hg_cuda_alloc_array(work, capacity * reduce->words, &records, error);
	if (status != HG_OK)
	{
		hg_cuda_free(work, slots);
		return status;
	}
	HG_CUDA_TRY(cudaMemsetAsync(slots, 0, slots_count * sizeof(uint64_t), work->stream), error);
	if (reduce->groups > 0)
		HG_CUDA_TRY(cudaMemcpyAsync(records, reduce->records,
									reduce->groups * reduce->words * sizeof(uint64_t),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
	hg_cuda_free(work, reduce->slots);
	hg_cuda_free(work, reduce->records);
	reduce->slots = slots;
	reduce->slots_log2 = slots_log2;
	reduce->records = records;
	reduce->capacity = capacity;

	task = make_task(reduce);
	return hg_cuda_launch<hg_reduce_slots_kernel>(
		work->stream, "hg_reduce_slots_kernel", (unsigned) (reduce->groups / HG_STREAM_THREADS + 1),
		HG_STREAM_THREADS, error, task, reduce->groups);
}

/* Makes the table larger. */
static HgStatus
grow_table(HgCudaWork *work, HgCudaReduce *reduce, HgError *error)
{
	HgStatus status = HG_DEVICE_OUT_OF_MEMORY;

	for (uint32_t growth = GROWTH_LOG2; growth >= LEAST_GROWTH_LOG2; growth--)
		if (status == HG_DEVICE_OUT_OF_MEMORY && reduce->slots_log2 + growth <= MOST_SLOTS_LOG2)
			status = make_table(work, reduce, reduce->slots_log2 + growth, error);
	return status;
}

/* Makes the record of all matches, if there are no keys. */
static HgStatus
make_only_group(HgCudaWork *work, HgCudaReduce *reduce, HgError *error)
{
	HgReduceTask task;

	HG_TRY(hg_cuda_alloc_array(work, reduce->words, &reduce->records, error));
	reduce->capacity = reduce->groups = 1;
	task = make_task(reduce);
	return hg_cuda_launch<hg_reduce_first_kernel>(work->stream, "hg_reduce_first_kernel", 1, 1,
												  error, task);
}

HgStatus
hg_cuda_reduce_open(HgCudaWork *work, const HgReduceSpec *spec, const HgCudaColumns *columns,
					HgCudaReduce *reduce, HgError *error)
{
	uint32_t slots_log2 = LEAST_SLOTS_LOG2;

	memset(reduce, 0, sizeof(*reduce));
	reduce->spec = *spec;
	reduce->columns = columns;
	reduce->words = hg_reduce_words(spec);
	HG_TRY(hg_cuda_alloc_array(work, 2, &reduce->counters, error));
	HG_CUDA_TRY(cudaMemsetAsync(reduce->counters, 0, 2 * sizeof(uint64_t), work->stream), error);
	if (spec->nkeys == 0)
		return make_only_group(work, reduce, error);
	while (slots_log2 < EXPECTED_SLOTS_LOG2 &&
		   (UINT64_C(1) << slots_log2) / 2 < spec->expected_groups)
		slots_log2++;
	return forgive(reduce, make_table(work, reduce, slots_log2, error));
}

/* Makes room for pairs left over. */
static HgStatus
reserve_pending(HgCudaWork *work, HgCudaReduce *reduce, uint64_t count, HgError *error)
{
	if (count <= reduce->pending_capacity || reduce->spec.nkeys == 0)
		return HG_OK;
	for (uint32_t *&pending : reduce->pending)
	{
		hg_cuda_free(work, pending);
		pending = nullptr;
	}
	reduce->pending_capacity = 0;
	for (uint32_t *&pending : reduce->pending)
		HG_TRY(hg_cuda_alloc_array(work, count, &pending, error));
	reduce->pending_capacity = count;
	return HG_OK;
}

/* Runs one launch; *left_over pairs are then in task->pending. */
static HgStatus
launch(HgCudaWork *work, HgCudaReduce *reduce, const HgReduceTask *task, uint64_t *left_over,
	   HgError *error)
{
	const uint32_t wanted = hg_blocks_for(task->count, HG_REDUCE_THREADS);
	const uint32_t blocks = wanted < HG_REDUCE_BLOCKS ? wanted : HG_REDUCE_BLOCKS;
	const size_t shared = task->entries * task->entry_words * sizeof(uint32_t);
	const uint64_t *counters;
	const void *host;

	HG_CUDA_TRY(cudaMemsetAsync(reduce->counters + 1, 0, sizeof(uint64_t), work->stream), error);
	HG_TRY((hg_cuda_launch_shared<hg_reduce_kernel>(work->stream, "hg_reduce_kernel", blocks,
													HG_REDUCE_THREADS, shared, error, *task)));
	HG_TRY(hg_cuda_read_back(work, reduce->counters, 2 * sizeof(uint64_t), &host, error));
	counters = static_cast<const uint64_t *>(host);
	reduce->groups = counters[0] < reduce->capacity ? counters[0] : reduce->capacity;
	*left_over = counters[1];
	return HG_OK;
}

/* Adds the pairs of a launch, with as many launches as the growth of the table takes. */
static HgStatus
add_pairs(HgCudaWork *work, HgCudaReduce *reduce, const uint32_t *outer, const uint32_t *inner,
		  uint32_t count, HgError *error)
{
	const uint32_t *selection = nullptr;
	uint64_t left = count;
	int which = 0;

	while (left > 0)
	{
		HgReduceTask task = make_task(reduce);

		task.outer = outer;
		task.inner = inner;
		task.selection = selection;
		task.pending = reduce->pending[which];
		task.count = (uint32_t) left;
		HG_TRY(launch(work, reduce, &task, &left, error));
		if (reduce->groups > reduce->spec.max_groups)
		{
			reduce->too_many = true;
			return HG_OK;
		}
		if (left > 0)
			HG_TRY(grow_table(work, reduce, error));
		selection = reduce->pending[which];
		which = 1 - which;
	}
	return HG_OK;
}

HgStatus
hg_cuda_reduce_add(HgCudaWork *work, HgCudaReduce *reduce, const uint32_t *outer,
				   const uint32_t *inner, uint64_t count, HgError *error)
{
	while (count > 0 && !reduce->too_many)
	{
		const uint64_t piece = count < HG_REDUCE_PAIRS ? count : HG_REDUCE_PAIRS;
		HgStatus status = reserve_pending(work, reduce, piece, error);

		if (status == HG_OK)
			status = add_pairs(work, reduce, outer, inner, (uint32_t) piece, error);
		HG_TRY(forgive(reduce, status));
		outer += piece;
		inner += piece;
		count -= piece;
	}
	return HG_OK;
}

void
hg_cuda_reduce_end(HgCudaWork *work, HgCudaReduce *reduce)
{
	hg_cuda_free(work, reduce->slots);
	hg_cuda_free(work, reduce->counters);
	reduce->slots = reduce->counters = nullptr;
	for (uint32_t *&pending : reduce->pending)
	{
		hg_cuda_free(work, pending);
		pending = nullptr;
	}
	reduce->pending_capacity = 0;
	if (reduce->too_many)
	{
		hg_cuda_free(work, reduce->records);
		reduce->records = nullptr;
		reduce->groups = 0;
	}
}

HgStatus
hg_cuda_reduce_next(HgCudaWork *work, HgCudaReduce *reduce, HgGroupRecords *records, HgError *error)
{
	uint64_t count = reduce->groups - reduce->emitted;
	cudaError_t code;

	records->count = 0;
	if (reduce->words == 0 || records->capacity == 0)
		return hg_error_set(error, HG_INVALID, nullptr, "no groups were made, or none has room");
	if (count > records->capacity)
		count = records->capacity;
	if (count > HG_REDUCE_RECORDS)
		count = HG_REDUCE_RECORDS;
	if (count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_wait(work, error));
	code = cudaMemcpyAsync(records->words, reduce->records + reduce->emitted * reduce->words,
						   count * reduce->words * sizeof(uint64_t), cudaMemcpyDeviceToHost,
						   work->stream);
	HG_TRY(hg_cuda_finish(work, error));
	HG_CUDA_TRY(code, error);
	reduce->emitted += count;
	records->count = count;
	return HG_OK;
}

void
hg_cuda_reduce_close(HgCudaWork *work, HgCudaReduce *reduce)
{
	hg_cuda_reduce_end(work, reduce);
	hg_cuda_free(work, reduce->records);
	memset(reduce, 0, sizeof(*reduce));
}
