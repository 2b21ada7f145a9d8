/*-------------------------------------------------------------------------
 *
 * hg_cuda_numbers.cu
 *	  Row numbers, if they differ from the positions of the rows.
 *
 * There is a run for each append that did not continue the one before: a few hundred if several
 * processes fill a job together.  They stay in the caches while millions of pairs look their rows
 * up by bisection.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_numbers.h"

#include "../../src/engine/hg_replica.h"
#include "../device/hg_cuda_launch.h"
#include "hg_cuda_tuning.h"

#include <cstring>

/* Runs that are allocated at first. */
static constexpr uint64_t FIRST_CAPACITY = 64;

/* rows[i] = the number of the row at position rows[i]. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_translate_kernel(const HgCudaRun *runs, uint32_t count, uint32_t *rows, uint64_t n)
{
	uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	uint32_t low = 0;
	uint32_t high = count;
	uint32_t row;

	if (i >= n)
		return;
	row = rows[i];
	/* the last run that begins at row or before it; the first one begins at 0 */
	while (high - low > 1)
	{
		uint32_t middle = low + (high - low) / 2;

		if (runs[middle].position <= row)
			low = middle;
		else
			high = middle;
	}
	rows[i] = runs[low].number + (row - runs[low].position);
}

/* rows[i] = the number that was assigned to position rows[i]. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_given_kernel(const uint32_t *given, uint32_t *rows, uint64_t n)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n)
		rows[i] = given[rows[i]];
}

/* rows[i] = the ordinal of row rows[i].  Nothing is read at the ordinal: any row is harmless. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_number_to_ordinal_kernel(uint32_t stride, uint32_t *rows, uint64_t n)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n)
		rows[i] = HG_FLAT_PART(rows[i]) * stride + HG_FLAT_NUMBER(rows[i]);
}

/* rows[i] = the row at ordinal rows[i]. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_ordinal_to_number_kernel(uint32_t stride, uint32_t *rows, uint64_t n)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n)
		rows[i] = HG_FLAT_ROW(rows[i] / stride, rows[i] % stride);
}

/* Makes room for one more run. */
static HgStatus
reserve(HgCudaNumbers *numbers, const HgHost *host, HgError *error)
{
	const uint64_t capacity = numbers->capacity == 0 ? FIRST_CAPACITY : 2 * numbers->capacity;
	HgCudaRun *larger;

	if (numbers->count < numbers->capacity)
		return HG_OK;
	larger = static_cast<HgCudaRun *>(host->alloc(host->arg, capacity * sizeof(HgCudaRun)));
	if (larger == nullptr)
		return hg_error_set(error, HG_OUT_OF_MEMORY, nullptr, "out of memory");
	if (numbers->runs != nullptr)
	{
		memcpy(larger, numbers->runs, numbers->count * sizeof(HgCudaRun));
		host->free(host->arg, numbers->runs, numbers->capacity * sizeof(HgCudaRun));
	}
	numbers->runs = larger;
	numbers->capacity = capacity;
	return HG_OK;
}

HgStatus
hg_cuda_numbers_add(HgCudaNumbers *numbers, const HgHost *host, uint64_t position, uint64_t count,
					uint64_t first_row, HgError *error)
{
	if (count == 0)
		return HG_OK;
	if (numbers->count > 0)
	{
		const HgCudaRun *last = &numbers->runs[numbers->count - 1];

		if (first_row - last->number == position - last->position)
			return HG_OK;
	}
	HG_TRY(reserve(numbers, host, error));
	numbers->runs[numbers->count++] = {(uint32_t) position, (uint32_t) first_row};
	return HG_OK;
}

uint64_t
hg_cuda_numbers_find(HgCudaNumbers *numbers, uint64_t rows, uint64_t number, uint64_t *position)
{
	if (numbers->count == 0)
	{
		*position = number;
		return number < rows ? rows - number : 0;
	}
	/* most often the row is in the run of the last one, or in the next */
	for (uint64_t tried = 0; tried < numbers->count; tried++)
	{
		const uint64_t i = (numbers->found + tried) % numbers->count;
		const HgCudaRun *run = &numbers->runs[i];
		const uint64_t end = i + 1 < numbers->count ? run[1].position : rows;

		if (number >= run->number && number - run->number < end - run->position)
		{
			numbers->found = i;
			*position = run->position + (number - run->number);
			return end - *position;
		}
	}
	return 0;
}

/* Returns true if ordinals are numbers, as with the largest stride. */
static bool
is_identity(const HgCudaNumbers *numbers)
{
	return numbers->stride == UINT32_C(1) << HG_FLAT_ROW_BITS;
}

HgStatus
hg_cuda_numbers_to_ordinals(HgCudaWork *work, const HgCudaNumbers *numbers, uint32_t *rows,
							uint64_t count, HgError *error)
{
	if (count == 0 || numbers->stride == 0 || is_identity(numbers))
		return HG_OK;
	return hg_cuda_launch<hg_number_to_ordinal_kernel>(
		work->stream, "hg_number_to_ordinal_kernel", hg_blocks_for(count, HG_STREAM_THREADS),
		HG_STREAM_THREADS, error, numbers->stride, rows, count);
}

HgStatus
hg_cuda_numbers_translate(HgCudaWork *work, HgCudaNumbers *numbers, uint32_t *rows, uint64_t count,
						  HgError *error)
{
	const unsigned blocks = hg_blocks_for(count, HG_STREAM_THREADS);

	if (count == 0 || !hg_cuda_numbers_differ(numbers) || is_identity(numbers))
		return HG_OK;
	if (numbers->stride > 0)
		return hg_cuda_launch<hg_ordinal_to_number_kernel>(
			work->stream, "hg_ordinal_to_number_kernel", blocks, HG_STREAM_THREADS, error,
			numbers->stride, rows, count);
	if (numbers->given != nullptr)
		return hg_cuda_launch<hg_given_kernel>(work->stream, "hg_given_kernel", blocks,
											   HG_STREAM_THREADS, error, numbers->given, rows,
											   count);
	if (numbers->device_runs == nullptr)
	{
		HG_TRY(hg_cuda_alloc_array(work, numbers->count, &numbers->device_runs, error));
		HG_CUDA_TRY(cudaMemcpyAsync(numbers->device_runs, numbers->runs,
									numbers->count * sizeof(HgCudaRun), cudaMemcpyHostToDevice,
									work->stream),
					error);
	}
	return hg_cuda_launch<hg_translate_kernel>(work->stream, "hg_translate_kernel", blocks,
											   HG_STREAM_THREADS, error, numbers->device_runs,
											   (uint32_t) numbers->count, rows, count);
}

void
hg_cuda_numbers_close(HgCudaNumbers *numbers, const HgHost *host)
{
	if (numbers->runs != nullptr)
		host->free(host->arg, numbers->runs, numbers->capacity * sizeof(HgCudaRun));
	memset(numbers, 0, sizeof(*numbers));
}
