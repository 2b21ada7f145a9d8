/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables_base.cu
 *	  What the calls of a device's tables share: memory of failed calls, copies, statistics.
 *
 * The memory of a failed call is found by comparing the blocks before and after, so that a table
 * that is unchanged has the blocks that it had.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../kernels/hg_cuda_pieces.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_tables_impl.h"

uint64_t
hg_tables_marker_key(const HgTableSpec *spec, int which)
{
	return spec->key_width == 4 ? hg_unmix32(UINT32_MAX - which) : hg_unmix64(UINT64_MAX - which);
}

HgStatus
hg_tables_check_usable(const CallersTable *owner, HgError *error)
{
	if (owner->failed)
		return hg_error_set(error, HG_INVALID, nullptr, "a change of the table has failed before");
	HG_CUDA_TRY(cudaSetDevice(owner->table->work.device->ordinal), error);
	return HG_OK;
}

void
hg_tables_note(const HgCudaWork *work, HeldBlocks *blocks)
{
	blocks->count = work->block_count;
	for (int i = 0; i < work->block_count; i++)
		blocks->ptrs[i] = work->blocks[i].ptr;
}

static bool
has_block(const HeldBlocks *blocks, const void *ptr)
{
	for (int i = 0; i < blocks->count; i++)
		if (blocks->ptrs[i] == ptr)
			return true;
	return false;
}

HgStatus
hg_tables_rollback(HgCudaWork *work, const HeldBlocks *before, HgStatus status)
{
	/* the last block replaces a freed one, and has been examined already */
	if (status != HG_OK)
		for (int i = work->block_count - 1; i >= 0; i--)
			if (!has_block(before, work->blocks[i].ptr))
				hg_cuda_free(work, work->blocks[i].ptr);
	return status;
}

HgStatus
hg_cuda_table_describe(HgCudaTable *table, uint64_t beside, HgTableStats *stats, HgError *error)
{
	*stats = table->totals;
	stats->bytes = table->work.held;
	HG_TRY(table->calls->describe(table, stats, error));
	/* the kind may have learned its rows only in describe */
	stats->rows = table->rows + beside;
	stats->slots += beside;
	stats->filled = stats->slots == 0 ? 0 : (double) stats->rows / (double) stats->slots;
	stats->peak_bytes = table->work.peak;
	return HG_OK;
}

HgStatus
hg_tables_copy_in(HgCudaWork *work, void *to, const void *from, uint64_t bytes, HgError *error)
{
	const uint64_t most = HG_APPEND_KEYS * sizeof(uint64_t);

	for (uint64_t at = 0; at < bytes; at += most)
	{
		HG_CUDA_TRY(cudaMemcpyAsync(static_cast<unsigned char *>(to) + at,
									static_cast<const unsigned char *>(from) + at,
									bytes - at < most ? bytes - at : most, cudaMemcpyHostToDevice,
									work->stream),
					error);
		HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* ---------------------------------------------------------------------
 * Appends a batch to the rows that a rebuild keeps
 * ---------------------------------------------------------------------
 */

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
