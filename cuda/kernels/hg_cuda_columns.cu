/*-------------------------------------------------------------------------
 *
 * hg_cuda_columns.cu
 *	  The columns of the rows of a side, beside their keys.
 *
 * Values come in pieces, after the keys of their rows, and are copied to the positions of the
 * rows.  Their number shows whether all have come.  A caller that gives a row its value twice gets
 * wrong groups, but nothing is read outside of the arrays.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>

#include "../../src/engine/hg_replica.h"
#include "../device/hg_cuda_launch.h"
#include "hg_cuda_columns.h"
#include "hg_cuda_tuning.h"

/* ---------------------------------------------------------------------
 * Row numbers, if they differ from the positions of the rows
 *
 * There is a run for each append that did not continue the one before: a few hundred if several
 * processes fill a job together.  They stay in the caches while millions of pairs look their rows
 * up by bisection.
 * ---------------------------------------------------------------------
 */

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

/*
 * Finds the row with a number, on a side with rows rows.  Sets *position, and returns how many
 * rows from there on follow each other by position and number; 0 if there is no such row.
 */
static uint64_t
numbers_find(HgCudaNumbers *numbers, uint64_t rows, uint64_t number, uint64_t *position)
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

/* The capacity is a multiple of this, so that each array is aligned. */
static constexpr uint64_t ROWS_ALIGNMENT = 8;

void
hg_cuda_columns_init(HgCudaColumns *columns, const HgJobSpec *spec, HgSide side)
{
	memset(columns, 0, sizeof(*columns));
	columns->count = spec->sides[side].ncolumns;
	for (uint32_t column = 0; column < columns->count; column++)
		columns->width[column] = spec->sides[side].column_width[column];
}

/* Return where a column's values, or NULL bytes, begin in a block; column may be the count. */
static uint64_t
values_offset(const HgCudaColumns *columns, uint32_t column, uint64_t capacity)
{
	uint64_t bytes = 0;

	for (uint32_t before = 0; before < column; before++)
		bytes += columns->width[before];
	return bytes * capacity;
}

static uint64_t
nulls_offset(const HgCudaColumns *columns, uint32_t column, uint64_t capacity)
{
	return values_offset(columns, columns->count, capacity) + column * capacity;
}

void
hg_cuda_columns_set_external(HgCudaColumns *columns, uint32_t column, const void *values,
							 const uint8_t *nulls)
{
	columns->replica_values[column] = values;
	columns->replica_nulls[column] = nulls;
	columns->has_nulls[column] = nulls != nullptr;
}

const void *
hg_cuda_columns_values(const HgCudaColumns *columns, uint32_t column)
{
	if (columns->replica_values[column] != nullptr)
		return columns->replica_values[column];
	return columns->block + values_offset(columns, column, columns->capacity);
}

const uint8_t *
hg_cuda_columns_nulls(const HgCudaColumns *columns, uint32_t column)
{
	if (columns->replica_values[column] != nullptr)
		return columns->replica_nulls[column];
	return columns->has_nulls[column]
			   ? columns->block + nulls_offset(columns, column, columns->capacity)
			   : nullptr;
}

HgStatus
hg_cuda_columns_reserve(HgCudaWork *work, HgCudaColumns *columns, uint64_t rows, uint64_t expected,
						HgError *error)
{
	uint64_t capacity = expected > rows && expected <= HG_MAX_ROWS ? expected : rows;
	unsigned char *block;
	uint64_t bytes;

	if (rows <= columns->capacity)
		return HG_OK;
	if (capacity < 2 * columns->capacity)
		capacity = 2 * columns->capacity;
	capacity = (capacity + ROWS_ALIGNMENT - 1) / ROWS_ALIGNMENT * ROWS_ALIGNMENT;

	/* rows without a value yet are copied with the others if the block grows */
	bytes = nulls_offset(columns, columns->count, capacity);
	HG_TRY(hg_cuda_alloc_array(work, bytes, &block, error));
	HG_CUDA_TRY(cudaMemsetAsync(block, 0, bytes, work->stream), error);
	for (uint32_t column = 0; column < columns->count && columns->block != nullptr; column++)
	{
		HG_CUDA_TRY(
			cudaMemcpyAsync(block + values_offset(columns, column, capacity),
							columns->block + values_offset(columns, column, columns->capacity),
							columns->capacity * columns->width[column], cudaMemcpyDeviceToDevice,
							work->stream),
			error);
		HG_CUDA_TRY(
			cudaMemcpyAsync(block + nulls_offset(columns, column, capacity),
							columns->block + nulls_offset(columns, column, columns->capacity),
							columns->capacity, cudaMemcpyDeviceToDevice, work->stream),
			error);
	}
	hg_cuda_free(work, columns->block);
	columns->block = block;
	columns->capacity = capacity;
	return HG_OK;
}

HgStatus
hg_cuda_columns_append(HgCudaWork *work, HgCudaColumns *columns, HgCudaNumbers *numbers,
					   uint64_t rows, uint64_t expected, uint32_t column, const void *values,
					   const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	const unsigned char *from = static_cast<const unsigned char *>(values);
	uint32_t width;

	if (column >= columns->count)
		return hg_error_set(error, HG_INVALID, nullptr, "there is no such column");
	if (columns->external)
		return hg_error_set(error, HG_INVALID, nullptr, "the column is kept beside its graph");
	width = columns->width[column];
	HG_TRY(hg_cuda_columns_reserve(work, columns, rows, expected, error));
	while (count > 0)
	{
		uint64_t position;
		uint64_t piece = numbers_find(numbers, rows, first_row, &position);

		if (piece == 0)
			return hg_error_set(error, HG_INVALID, nullptr, "a value is of no row");
		if (piece > count)
			piece = count;
		if (piece > HG_APPEND_KEYS)
			piece = HG_APPEND_KEYS;
		HG_CUDA_TRY(cudaMemcpyAsync(columns->block +
										values_offset(columns, column, columns->capacity) +
										position * width,
									from, piece * width, cudaMemcpyHostToDevice, work->stream),
					error);
		if (nulls != nullptr)
		{
			HG_CUDA_TRY(cudaMemcpyAsync(columns->block +
											nulls_offset(columns, column, columns->capacity) +
											position,
										nulls, piece, cudaMemcpyHostToDevice, work->stream),
						error);
			columns->has_nulls[column] = true;
			nulls += piece;
		}
		HG_TRY(hg_cuda_wait(work, error));
		columns->given[column] += piece;
		from += piece * width;
		first_row += piece;
		count -= piece;
	}
	return HG_OK;
}

void
hg_cuda_columns_arrays(const HgCudaColumns *columns, uint32_t column, void **values,
					   uint8_t **nulls)
{
	*values = columns->block + values_offset(columns, column, columns->capacity);
	*nulls = columns->block + nulls_offset(columns, column, columns->capacity);
}

void
hg_cuda_columns_give(HgCudaColumns *columns, uint64_t rows, uint32_t nulls)
{
	for (uint32_t column = 0; column < columns->count; column++)
	{
		columns->given[column] += rows;
		columns->has_nulls[column] = columns->has_nulls[column] || (nulls >> column & 1) != 0;
	}
}

HgStatus
hg_cuda_columns_check(const HgCudaColumns *columns, uint64_t rows, HgError *error)
{
	for (uint32_t column = 0; !columns->external && column < columns->count; column++)
		if (columns->given[column] != rows || columns->capacity < rows)
			return hg_error_set(error, HG_INVALID, nullptr, "not all rows have their columns");
	return HG_OK;
}

/* ---------------------------------------------------------------------
 * Copies of matches and of their rows' values to the host
 *
 * The matches of a job with columns stay pairs of positions in device memory, as columns are by
 * position.  When some of them are demanded, the positions of either side become row numbers in
 * the gather block, and are copied from there.  Then that block takes the values of one column
 * after another.  The stream keeps the order: a kernel writes to the block after the copy before
 * it.
 * ---------------------------------------------------------------------
 */

/* values_out[i], nulls_out[i] = the value of row rows[i]; nulls is NULL if no value is NULL. */
template <typename T>
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_values_kernel(const T *values, const uint8_t *nulls, const uint32_t *rows, uint32_t count,
					 T *values_out, uint8_t *nulls_out)
{
	const uint32_t i = blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	uint32_t row;

	if (i >= count)
		return;
	row = rows[i];
	values_out[i] = values[row];
	if (nulls != nullptr)
		nulls_out[i] = nulls[row];
}

HgStatus
hg_cuda_gather_open(HgCudaWork *work, HgCudaGather *gather, HgError *error)
{
	return hg_cuda_alloc_array(work, HG_GATHER_BYTES, &gather->block, error);
}

/* Enqueues a copy to the caller's memory. */
static HgStatus
copy_out(HgCudaWork *work, const void *from, uint64_t bytes, void *to, HgError *error)
{
	HG_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, work->stream), error);
	return HG_OK;
}

/* Copies the numbers of the rows at some positions. */
static HgStatus
copy_numbers(HgCudaWork *work, const HgCudaGather *gather, HgCudaNumbers *numbers,
			 const uint32_t *rows, uint64_t count, uint32_t *to, HgError *error)
{
	uint32_t *block = reinterpret_cast<uint32_t *>(gather->block);

	if (!hg_cuda_numbers_differ(numbers))
		return copy_out(work, rows, count * sizeof(uint32_t), to, error);
	HG_CUDA_TRY(cudaMemcpyAsync(block, rows, count * sizeof(uint32_t), cudaMemcpyDeviceToDevice,
								work->stream),
				error);
	HG_TRY(hg_cuda_numbers_translate(work, numbers, block, count, error));
	return copy_out(work, block, count * sizeof(uint32_t), to, error);
}

template <typename T>
static HgStatus
launch(HgCudaWork *work, const HgCudaGather *gather, const HgCudaColumns *columns, uint32_t column,
	   const uint32_t *rows, uint64_t count, uint8_t *nulls_out, HgError *error)
{
	const unsigned blocks = hg_blocks_for(count, HG_STREAM_THREADS);

	return hg_cuda_launch<hg_values_kernel<T>>(
		work->stream, "hg_values_kernel", blocks, HG_STREAM_THREADS, error,
		static_cast<const T *>(hg_cuda_columns_values(columns, column)),
		hg_cuda_columns_nulls(columns, column), rows, (uint32_t) count,
		reinterpret_cast<T *>(gather->block), nulls_out);
}

/* Copies the values of a column of the rows at some positions. */
static HgStatus
copy_values(HgCudaWork *work, const HgCudaGather *gather, const HgCudaColumns *columns,
			uint32_t column, const uint32_t *rows, uint64_t count, void *values, uint8_t *nulls,
			HgError *error)
{
	const uint32_t width = columns->width[column];
	uint8_t *nulls_out = gather->block + HG_GATHER_PAIRS * sizeof(uint64_t);
	HgStatus status;

	switch (width)
	{
		case 1:
			status = launch<uint8_t>(work, gather, columns, column, rows, count, nulls_out, error);
			break;
		case 2:
			status = launch<uint16_t>(work, gather, columns, column, rows, count, nulls_out, error);
			break;
		case 4:
			status = launch<uint32_t>(work, gather, columns, column, rows, count, nulls_out, error);
			break;
		default:
			status = launch<uint64_t>(work, gather, columns, column, rows, count, nulls_out, error);
	}
	HG_TRY(status);
	HG_TRY(copy_out(work, gather->block, count * width, values, error));
	return columns->has_nulls[column] ? copy_out(work, nulls_out, count, nulls, error) : HG_OK;
}

/* Copies the row numbers and values of one side. */
static HgStatus
copy_side(HgCudaWork *work, const HgCudaGather *gather, const HgCudaColumns *columns,
		  HgCudaNumbers *numbers, const uint32_t *rows, uint64_t count, HgSide side,
		  HgMatches *matches, HgError *error)
{
	HG_TRY(copy_numbers(work, gather, numbers, rows, count,
						side == HG_OUTER ? matches->outer : matches->inner, error));
	for (uint32_t column = 0; column < columns->count; column++)
	{
		if (matches->values[side][column] == nullptr)
			continue;
		matches->has_nulls[side][column] = columns->has_nulls[column];
		HG_TRY(copy_values(work, gather, columns, column, rows, count,
						   matches->values[side][column], matches->nulls[side][column], error));
	}
	return HG_OK;
}

HgStatus
hg_cuda_gather_matches(HgCudaWork *work, const HgCudaGather *gather, const HgCudaColumns columns[2],
					   HgCudaNumbers numbers[2], const uint32_t *const rows[2], uint64_t count,
					   HgMatches *matches, HgError *error)
{
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = copy_side(work, gather, &columns[side], &numbers[side], rows[side], count,
						   (HgSide) side, matches, error);
	HG_TRY(hg_cuda_finish(work, error));
	return status;
}
