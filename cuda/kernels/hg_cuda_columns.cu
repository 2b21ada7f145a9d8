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
#include "hg_cuda_columns.h"

#include "hg_cuda_tuning.h"

#include <cstring>

/* The capacity is a multiple of this, so that each array is aligned. */
static constexpr uint64_t ROWS_ALIGNMENT = 8;

void
hg_cuda_columns_init(HgCudaColumns *columns, const HgJobSpec *spec, HgSide side)
{
	memset(columns, 0, sizeof(*columns));
	columns->count = spec->ncolumns[side];
	for (uint32_t column = 0; column < columns->count; column++)
		columns->width[column] = spec->column_width[side][column];
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
		uint64_t piece = hg_cuda_numbers_find(numbers, rows, first_row, &position);

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
