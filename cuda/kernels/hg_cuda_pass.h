/*-------------------------------------------------------------------------
 *
 * hg_cuda_pass.h
 *	  One pass of the partition: rows into bins, or bins into smaller ones.
 *
 * hg_cuda_partition.cu says what a pass does, hg_cuda_partition_kernels.h how.  All functions
 * return once the last kernel is launched.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PASS_H
#define HG_CUDA_PASS_H

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_partition_kernels.h"

#include <cub/device/device_scan.cuh>

/* The input and output of a pass.  All arrays are in device memory. */
template <typename Word> struct HgPass
{
	HgPassRows<Word> from;
	uint64_t count;
	const uint32_t *starts; /* [2^bins_log2 + 1] of the bins before the pass; NULL: one bin */
	uint32_t bins_log2;
	uint32_t digits_log2;
	HgTurn<Word> turn; /* for HG_PASS_EXCHANGED */
	Word *words_out;
	uint32_t *rows_out;
	uint32_t *starts_out; /* [2^(bins_log2 + digits_log2) + 1] */

	/*
	 * [2^final_log2 + 1] starts of the bins after the last pass, from which starts_out is derived;
	 * NULL: this pass counts its rows
	 */
	const uint32_t *final_starts;
	uint32_t final_log2;
};

/* The tiles of a pass.  Only the device knows their exact number. */
struct HgTiles
{
	HgPiece *pieces; /* [most]; NULL: tile number t is rows t * tile_rows and following (hg_tile) */
	uint32_t *count; /* in device memory; NULL: most */
	uint32_t most;	 /* upper bound on the count */
};

/* ------------------------------------------------------------------------
 * One pass
 * ------------------------------------------------------------------------ */

/* Writes the exclusive prefix sums of counts[entries] to starts. */
static inline HgStatus
hg_pass_sum(HgCudaWork *work, const uint32_t *counts, uint32_t *starts, uint64_t entries,
			HgError *error)
{
	size_t bytes = 0;
	void *temporary;

	HG_CUDA_TRY(
		cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, starts, (int) entries, work->stream),
		error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, counts, starts, (int) entries,
											  work->stream),
				error);
	hg_cuda_free(work, temporary);
	return HG_OK;
}

/* Lists the tiles of all bins of a pass, or of the bins in list, unless it is NULL. */
template <typename Word>
static HgStatus
hg_pass_list(HgCudaWork *work, const HgPass<Word> *pass, const HgBinList *list, uint32_t tile_rows,
			 HgTiles *tiles, HgError *error)
{
	const uint32_t bins = list != nullptr ? list->count : UINT32_C(1) << pass->bins_log2;
	const uint64_t rows = list != nullptr ? list->rows : pass->count;
	const HgBinFilter all = {pass->starts, 0, UINT32_MAX, nullptr, 0};

	tiles->most = (uint32_t) (rows / tile_rows + bins);
	HG_TRY(hg_cuda_alloc_array(work, tiles->most, &tiles->pieces, error));
	HG_TRY(hg_cuda_alloc_array(work, 1, &tiles->count, error));
	HG_CUDA_TRY(cudaMemsetAsync(tiles->count, 0, sizeof(*tiles->count), work->stream), error);
	return hg_cuda_launch<hg_pieces_kernel>(
		work->stream, "hg_pieces_kernel", hg_blocks_for(bins, 32), HG_STREAM_THREADS, error,
		pass->starts, all, list != nullptr ? list->bins : nullptr, bins, tile_rows, 0, 0,
		tiles->pieces, tiles->count);
}

/*
 * Adds the number of rows of each digit in each bin to counts.  The caller has zeroed counts.  If
 * there is one bin before the pass (HG_PASS_KEYS), the kernel also computes the prefix sums
 * (hg_digits_kernel).
 */
template <typename Word, int THREADS, int ITEMS, HgPassOf OF>
static HgStatus
hg_pass_count(HgCudaWork *work, const HgPass<Word> *pass, const HgTiles *tiles, uint32_t *counts,
			  HgError *error)
{
	const uint32_t shift = 32 - pass->bins_log2 - pass->digits_log2;
	const uint64_t entries = (UINT64_C(1) << (pass->bins_log2 + pass->digits_log2)) + 1;
	const uint32_t piece_tiles = (uint32_t) (HG_PIECE_ROWS / (THREADS * ITEMS));
	const size_t digits_bytes = sizeof(uint32_t) << pass->digits_log2;

	for (uint32_t first = 0; first < tiles->most; first += piece_tiles)
	{
		uint32_t piece = tiles->most - first < piece_tiles ? tiles->most - first : piece_tiles;
		uint32_t per_block = (piece - 1) / HG_DIGITS_BLOCKS + 1;

		HG_TRY((hg_cuda_launch_shared<hg_digits_kernel<Word, THREADS, ITEMS, OF>>(
			work->stream, "hg_digits_kernel", hg_blocks_for(piece, per_block), THREADS,
			digits_bytes, error, pass->from, tiles->pieces, tiles->count, (uint32_t) pass->count,
			first, first + piece, per_block, shift, pass->digits_log2, counts, pass->starts_out,
			OF == HG_PASS_KEYS && first + piece == tiles->most ? counts + entries - 1 : nullptr)));
		if (first + piece < tiles->most)
			HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

/* Counts the rows of the pass's bins and sets starts_out and cursors to where each begins. */
template <typename Word, int THREADS, int ITEMS, bool KEYS>
static HgStatus
hg_pass_find_starts(HgCudaWork *work, const HgPass<Word> *pass, const HgTiles *tiles,
					uint32_t *cursors, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << (pass->bins_log2 + pass->digits_log2)) + 1;
	const size_t bytes = entries * sizeof(uint32_t);

	HG_CUDA_TRY(cudaMemsetAsync(cursors, 0, bytes, work->stream), error);
	if (KEYS && tiles->most == 0)
		HG_CUDA_TRY(cudaMemsetAsync(pass->starts_out, 0, bytes, work->stream), error);
	HG_TRY((hg_pass_count < Word, THREADS, ITEMS,
			KEYS ? HG_PASS_KEYS : HG_PASS_WORDS > (work, pass, tiles, cursors, error)));
	if constexpr (!KEYS)
	{
		HG_TRY(hg_pass_sum(work, cursors, pass->starts_out, entries, error));
		HG_CUDA_TRY(cudaMemcpyAsync(cursors, pass->starts_out, bytes, cudaMemcpyDeviceToDevice,
									work->stream),
					error);
	}
	return HG_OK;
}

/* Moves the rows of all tiles. */
template <typename Word, int THREADS, int ITEMS, HgPassOf OF>
static HgStatus
hg_pass_scatter(HgCudaWork *work, const HgPass<Word> *pass, const HgTiles *tiles, uint32_t *cursors,
				HgError *error)
{
	const uint32_t shift = 32 - pass->bins_log2 - pass->digits_log2;
	const uint32_t piece_tiles = (uint32_t) (HG_PIECE_ROWS / (THREADS * ITEMS));
	const size_t shared = hg_scatter_shared_bytes<Word>(THREADS, ITEMS, pass->digits_log2);

	for (uint32_t first = 0; first < tiles->most; first += piece_tiles)
	{
		uint32_t piece = tiles->most - first < piece_tiles ? tiles->most - first : piece_tiles;

		HG_TRY((hg_cuda_launch_shared<hg_scatter_tiles_kernel<Word, THREADS, ITEMS, OF>>(
			work->stream, "hg_scatter_tiles_kernel", piece, THREADS, shared, error, pass->from,
			tiles->pieces, tiles->count, (uint32_t) pass->count, first, shift, pass->digits_log2,
			cursors, pass->turn, pass->words_out, pass->rows_out)));
		if (first + piece < tiles->most)
			HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

/* Runs a pass with tiles of THREADS * ITEMS rows. */
template <typename Word, int THREADS, int ITEMS, bool KEYS>
static HgStatus
hg_pass_run_tiles(HgCudaWork *work, const HgPass<Word> *pass, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << (pass->bins_log2 + pass->digits_log2)) + 1;
	HgTiles tiles = {nullptr, nullptr, hg_blocks_for(pass->count, THREADS * ITEMS)};
	uint32_t *cursors;

	HG_TRY(hg_cuda_alloc_array(work, entries, &cursors, error));
	if (!KEYS)
		HG_TRY(hg_pass_list<Word>(work, pass, nullptr, THREADS * ITEMS, &tiles, error));
	if (pass->final_starts == nullptr)
		HG_TRY(
			(hg_pass_find_starts<Word, THREADS, ITEMS, KEYS>(work, pass, &tiles, cursors, error)));
	else
	{
		HG_TRY((hg_cuda_launch<hg_coarser_kernel>(
			work->stream, "hg_coarser_kernel", hg_blocks_for(entries, HG_STREAM_THREADS),
			HG_STREAM_THREADS, error, pass->final_starts,
			pass->final_log2 - pass->bins_log2 - pass->digits_log2, entries, pass->starts_out,
			cursors)));
	}
	HG_TRY((hg_pass_scatter < Word, THREADS, ITEMS,
			KEYS ? HG_PASS_KEYS : HG_PASS_WORDS > (work, pass, &tiles, cursors, error)));
	hg_cuda_free(work, tiles.pieces);
	hg_cuda_free(work, tiles.count);
	hg_cuda_free(work, cursors);
	return HG_OK;
}

/*
 * Returns true if a block has at least one thread for each digit, and shared_limit bytes of shared
 * memory have room for tiles of threads * items rows.
 */
static inline bool
hg_pass_fits(size_t shared_limit, uint32_t key_width, int threads, int items, uint32_t digits_log2)
{
	const size_t bytes = key_width == 4
							 ? hg_scatter_shared_bytes<uint32_t>(threads, items, digits_log2)
							 : hg_scatter_shared_bytes<uint64_t>(threads, items, digits_log2);

	return 1 << digits_log2 <= threads && bytes + HG_PARTITION_STATIC_SHARED <= shared_limit;
}

/* Returns the most bits that one pass can take: 10, or 9 where shared memory is short. */
static inline uint32_t
hg_pass_most_log2(const HgCudaWork *work, uint32_t key_width)
{
	return hg_pass_fits(work->device->shared_limit, key_width, HG_PARTITION_WIDE_THREADS,
						HG_PARTITION_ITEMS, HG_PARTITION_WIDE_LOG2)
			   ? HG_PARTITION_WIDE_LOG2
			   : HG_PARTITION_NARROW_LOG2;
}

/*
 * Runs a pass with tiles that suit the number of digits and the device.  Many digits get wide
 * tiles, as the rows of one digit in a tile should fill several sectors of memory.
 */
template <typename Word, bool KEYS>
static HgStatus
hg_pass_run(HgCudaWork *work, const HgPass<Word> *pass, HgError *error)
{
	const size_t limit = work->device->shared_limit;

	if (pass->digits_log2 > HG_PARTITION_FEW_LOG2 &&
		hg_pass_fits(limit, sizeof(Word), HG_PARTITION_WIDE_THREADS, HG_PARTITION_ITEMS,
					 pass->digits_log2))
		return hg_pass_run_tiles<Word, HG_PARTITION_WIDE_THREADS, HG_PARTITION_ITEMS, KEYS>(
			work, pass, error);
	if (hg_pass_fits(limit, sizeof(Word), HG_PARTITION_THREADS, HG_PARTITION_ITEMS,
					 pass->digits_log2))
		return hg_pass_run_tiles<Word, HG_PARTITION_THREADS, HG_PARTITION_ITEMS, KEYS>(work, pass,
																					   error);
	return hg_pass_run_tiles<Word, HG_PARTITION_THREADS, HG_PARTITION_ITEMS / 2, KEYS>(work, pass,
																					   error);
}

#endif /* HG_CUDA_PASS_H */
