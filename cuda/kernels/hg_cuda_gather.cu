/*-------------------------------------------------------------------------
 *
 * hg_cuda_gather.cu
 *	  Copies of matches and of their rows' values to the host.
 *
 * The matches of a job with columns stay pairs of positions in device memory, as columns are by
 * position.  When some of them are demanded, the positions of either side become row numbers in
 * the gather block, and are copied from there.  Then that block takes the values of one column
 * after another.  The stream keeps the order: a kernel writes to the block after the copy before
 * it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_gather.h"

#include "../device/hg_cuda_launch.h"

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
