/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_batch.cu
 *	  Appends a batch to the rows that a rebuild keeps.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_batch.h"

#include "../kernels/hg_cuda_pieces.h"

/* rows[i] = first_row + i. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_batch_number_kernel(uint32_t *rows, uint64_t first, uint64_t n, uint32_t first_row)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n)
		rows[i] = first_row + (uint32_t) i;
}

HgStatus
hg_cuda_batch_append(HgCudaTable *table, const HgCudaTableBatch *in, uint64_t at, void *keys,
					 uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &table->work;
	const uint32_t width = table->spec.key_width;

	HG_CUDA_TRY(cudaMemcpyAsync(static_cast<unsigned char *>(keys) + at * width, in->keys,
								in->count * width, cudaMemcpyDeviceToDevice, work->stream),
				error);
	if (rows == nullptr)
		return HG_OK;
	if (in->rows != nullptr)
	{
		HG_CUDA_TRY(cudaMemcpyAsync(rows + at, in->rows, in->count * sizeof(uint32_t),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
		return HG_OK;
	}
	return hg_cuda_launch_pieces<hg_batch_number_kernel, HG_STREAM_THREADS>(
		work, "hg_batch_number_kernel", in->count, HG_PIECE_ROWS, error, rows + at, HG_PIECE_FIRST,
		HG_PIECE_END, in->first_row);
}
