/*-------------------------------------------------------------------------
 *
 * hg_cuda_parts.cu
 *	  Which shard each row belongs to, when several jobs are one join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_parts.h"

#include "hg_cuda_parts_kernels.h"
#include "hg_cuda_pieces.h"

#include <cstring>

/* Blocks of a tally: several on each multiprocessor of the biggest device. */
static constexpr unsigned TALLY_BLOCKS = 528;

template <typename Word>
static HgStatus
tally(HgCudaWork *work, const Word *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return hg_cuda_in_pieces(work, count, HG_COUNT_ROWS, error,
							 [&](uint64_t first, uint64_t end)
							 {
								 return hg_cuda_launch<hg_parts_tally_kernel<Word>>(
									 work->stream, "hg_parts_tally_kernel", TALLY_BLOCKS,
									 HG_PARTS_THREADS, error, keys, first, end, counts);
							 });
}

HgStatus
hg_cuda_parts_tally(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
					uint64_t *counts, HgError *error)
{
	uint32_t found[HG_EXCHANGE_PARTS];
	uint32_t *device;
	const void *host;

	static_assert(sizeof(found) <= HG_READBACK_BYTES, "counts are read back at once");
	HG_TRY(hg_cuda_alloc_array(work, HG_EXCHANGE_PARTS, &device, error));
	HG_CUDA_TRY(cudaMemsetAsync(device, 0, sizeof(found), work->stream), error);
	HG_TRY(key_width == 4 ? tally(work, static_cast<const uint32_t *>(keys), count, device, error)
						  : tally(work, static_cast<const uint64_t *>(keys), count, device, error));
	HG_TRY(hg_cuda_read_back(work, device, sizeof(found), &host, error));
	memcpy(found, host, sizeof(found));
	hg_cuda_free(work, device);
	for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
		counts[part] = found[part];
	return HG_OK;
}

HgStatus
hg_cuda_parts_order(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
					const uint8_t *owners, uint32_t shards, const uint64_t *starts, uint32_t *order,
					HgError *error)
{
	constexpr uint64_t BLOCK_ROWS = HG_PARTS_THREADS * HG_PARTS_ITEMS;
	uint32_t host_cursors[HG_MAX_SHARDS] = {};
	uint32_t *cursors;

	for (uint32_t shard = 0; shard < shards; shard++)
		host_cursors[shard] = (uint32_t) starts[shard];
	HG_TRY(hg_cuda_alloc_array(work, HG_MAX_SHARDS, &cursors, error));
	HG_CUDA_TRY(cudaMemcpyAsync(cursors, host_cursors, sizeof(host_cursors), cudaMemcpyHostToDevice,
								work->stream),
				error);
	if (key_width == 4)
		HG_TRY(
			(hg_cuda_launch_pieces<hg_parts_order_kernel<uint32_t>, HG_PARTS_THREADS, BLOCK_ROWS>(
				work, "hg_parts_order_kernel", count, HG_PIECE_ROWS, error,
				static_cast<const uint32_t *>(keys), HG_PIECE_FIRST, HG_PIECE_END, owners, cursors,
				order)));
	else
		HG_TRY(
			(hg_cuda_launch_pieces<hg_parts_order_kernel<uint64_t>, HG_PARTS_THREADS, BLOCK_ROWS>(
				work, "hg_parts_order_kernel", count, HG_PIECE_ROWS, error,
				static_cast<const uint64_t *>(keys), HG_PIECE_FIRST, HG_PIECE_END, owners, cursors,
				order)));
	hg_cuda_free(work, cursors);
	return HG_OK;
}

template <typename Element>
static HgStatus
gather(HgCudaWork *work, const void *from, const uint32_t *order, uint64_t count, void *to,
	   HgError *error)
{
	return hg_cuda_launch_pieces<hg_parts_gather_kernel<Element>, HG_STREAM_THREADS>(
		work, "hg_parts_gather_kernel", count, HG_FOUND_ROWS, error,
		static_cast<const Element *>(from), order, HG_PIECE_FIRST, HG_PIECE_END,
		static_cast<Element *>(to));
}

HgStatus
hg_cuda_parts_gather(HgCudaWork *work, uint32_t width, const void *from, const uint32_t *order,
					 uint64_t count, void *to, HgError *error)
{
	switch (width)
	{
		case 1:
			return gather<uint8_t>(work, from, order, count, to, error);
		case 2:
			return gather<uint16_t>(work, from, order, count, to, error);
		case 4:
			return gather<uint32_t>(work, from, order, count, to, error);
		default:
			return gather<uint64_t>(work, from, order, count, to, error);
	}
}

template <typename Word>
static HgStatus
check(HgCudaWork *work, const void *keys, const uint32_t *numbers, uint64_t count,
	  const uint8_t *owners, uint32_t self, uint64_t limit, uint32_t *wrong, HgError *error)
{
	return hg_cuda_launch_pieces<hg_parts_check_kernel<Word>, HG_STREAM_THREADS>(
		work, "hg_parts_check_kernel", count, HG_PIECE_ROWS, error, static_cast<const Word *>(keys),
		numbers, HG_PIECE_FIRST, HG_PIECE_END, owners, self, limit, wrong);
}

HgStatus
hg_cuda_parts_check(HgCudaWork *work, uint32_t key_width, const void *keys, const uint32_t *numbers,
					uint64_t count, const uint8_t *owners, uint32_t self, uint64_t limit,
					bool *right, HgError *error)
{
	uint32_t *wrong;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, 1, &wrong, error));
	HG_CUDA_TRY(cudaMemsetAsync(wrong, 0, sizeof(*wrong), work->stream), error);
	HG_TRY(key_width == 4
			   ? check<uint32_t>(work, keys, numbers, count, owners, self, limit, wrong, error)
			   : check<uint64_t>(work, keys, numbers, count, owners, self, limit, wrong, error));
	HG_TRY(hg_cuda_read_back(work, wrong, sizeof(*wrong), &host, error));
	*right = *static_cast<const uint32_t *>(host) == 0;
	hg_cuda_free(work, wrong);
	return HG_OK;
}
