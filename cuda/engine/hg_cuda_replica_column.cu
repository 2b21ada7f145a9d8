/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_column.cu
 *	  The values of the rows of graph replicas, by ordinal, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_replica_column.h"

#include "../kernels/hg_cuda_tuning.h"

/* Allocates a zeroed block, once. */
static HgStatus
reserve(HgCudaWork *work, uint64_t bytes, uint8_t **block, HgError *error)
{
	if (*block != nullptr)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, bytes, block, error));
	HG_CUDA_TRY(cudaMemsetAsync(*block, 0, bytes, work->stream), error);
	return HG_OK;
}

static HgStatus
reserve_values(HgCudaWork *work, HgCudaReplicaColumn *column, HgError *error)
{
	return reserve(work, hg_replica_ordinals(&column->shape) * column->shape.width, &column->values,
				   error);
}

/* Copies values, a piece at most, and waits for the copies. */
static HgStatus
put_piece(HgCudaWork *work, HgCudaReplicaColumn *column, const void *values, const uint8_t *nulls,
		  uint64_t count, uint64_t first_ordinal, HgError *error)
{
	const uint32_t width = column->shape.width;

	HG_CUDA_TRY(cudaMemcpyAsync(column->values + first_ordinal * width, values, count * width,
								cudaMemcpyHostToDevice, work->stream),
				error);
	if (nulls != nullptr)
		HG_CUDA_TRY(cudaMemcpyAsync(column->nulls + first_ordinal, nulls, count,
									cudaMemcpyHostToDevice, work->stream),
					error);
	else if (column->nulls != nullptr)
		HG_CUDA_TRY(cudaMemsetAsync(column->nulls + first_ordinal, 0, count, work->stream), error);
	return hg_cuda_wait(work, error);
}

HgStatus
hg_cuda_replica_column_put(HgCudaWork *work, HgCudaReplicaColumn *column, const void *values,
						   const uint8_t *nulls, uint64_t count, uint64_t first_ordinal,
						   HgError *error)
{
	const unsigned char *from = static_cast<const unsigned char *>(values);
	const uint64_t ordinals = hg_replica_ordinals(&column->shape);

	if (first_ordinal > ordinals || count > ordinals - first_ordinal)
		return hg_error_set(error, HG_INVALID, nullptr, "a value is of no place in the column");
	if (count == 0)
		return HG_OK;
	HG_TRY(reserve_values(work, column, error));
	if (nulls != nullptr)
		HG_TRY(reserve(work, ordinals, &column->nulls, error));
	while (count > 0)
	{
		const uint64_t piece = count < HG_APPEND_KEYS ? count : HG_APPEND_KEYS;

		HG_TRY(put_piece(work, column, from, nulls, piece, first_ordinal, error));
		from += piece * column->shape.width;
		nulls = nulls != nullptr ? nulls + piece : nullptr;
		first_ordinal += piece;
		count -= piece;
	}
	return HG_OK;
}

HgStatus
hg_cuda_replica_column_build(HgCudaWork *work, HgCudaReplicaColumn *column, HgError *error)
{
	HG_TRY(reserve_values(work, column, error));
	return hg_cuda_wait(work, error);
}

uint64_t
hg_cuda_replica_column_detach(HgCudaWork *work, HgCudaReplicaColumn *column)
{
	column->values_bytes = hg_cuda_detach(work, column->values);
	column->nulls_bytes = hg_cuda_detach(work, column->nulls);
	return column->values_bytes + column->nulls_bytes;
}

void
hg_cuda_replica_column_release(HgCudaDevice *device, const HgCudaReplicaColumn *column)
{
	if (column->values != nullptr)
		hg_cuda_device_release(device, column->values, column->values_bytes);
	if (column->nulls != nullptr)
		hg_cuda_device_release(device, column->nulls, column->nulls_bytes);
}

uint64_t
hg_cuda_replica_column_bytes(const HgReplicaColumnShape *shape)
{
	return hg_replica_ordinals(shape) * (shape->width + 1);
}
