/*-------------------------------------------------------------------------
 *
 * hg_cuda_partition.cu
 *	  Putting rows into bins, in device memory.
 *
 * It is a radix partition of mixed words and row numbers by the first bits of the words, which
 * is what the first phase of Algorithm 2 of the paper asks for, in one pass over the rows where
 * the bins are few, else in two or more: the first pass by the first bits, the next one inside
 * each bin of it by the bits that follow.  A pass
 *
 * 1. cuts the bins that there are into tiles of some thousand rows, the one bin of the first pass
 *	  without being told,
 * 2. counts the rows of all bins to be, reading the words,
 * 3. prefix-sums the counts, which says where each of them begins,
 * 4. moves the rows, a block a tile (hg_cuda_partition_kernels.h).
 *
 * Where shared memory has room for a number for each bin of the last pass, all passes are
 * counted at once before the first one, from the keys.
 *
 * The first pass reads keys and mixes them on the way, and numbers the rows by their place where
 * they have no numbers.
 *
 * It does less than a radix sort, which keeps rows with equal digits in their order: here the
 * next tile that comes takes the next free places.  A sort has to know what all tiles before
 * have of each digit before it can write one.
 *
 * MEMORY: what comes out, and, if there is more than one pass, once more words and row numbers
 * to pass from one to the other; one of these blocks of words can be that of the keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_partition.h"

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_partition_kernels.h"

#include <cub/device/device_scan.cuh>
#include <cstring>

/* What a pass has to do: all arrays in device memory. */
template <typename Word> struct Pass
{
	const Word *words;
	const uint32_t *rows; /* NULL: numbered by their place */
	uint64_t count;
	const uint32_t *starts; /* [2^bins_log2 + 1] of the bins that there are; NULL: one */
	uint32_t bins_log2;
	uint32_t digits_log2;
	Word *words_out;
	uint32_t *rows_out;
	uint32_t *starts_out; /* [2^(bins_log2 + digits_log2) + 1] */

	const uint32_t
		*final_starts; /* of final_log2 bits, which starts_out are of; NULL: to be counted */
	uint32_t final_log2;
};

/* The tiles of a pass: those that there are are known on the device alone. */
struct Tiles
{
	HgPiece *pieces; /* NULL: they follow from their numbers (hg_tile) */
	uint32_t *count;
	uint32_t most;
};

/* ------------------------------------------------------------------------
 * One pass
 * ------------------------------------------------------------------------ */

/* Prefix-sum counts[entries] into starts. */
static HgStatus
sum_up(HgCudaWork *work, const uint32_t *counts, uint32_t *starts, uint64_t entries, HgError *error)
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

/* List the tiles of all bins of a pass, or of those in list, if it is not NULL. */
template <typename Word>
static HgStatus
list_tiles(HgCudaWork *work, const Pass<Word> *pass, const HgBinList *list, uint32_t tile_rows,
		   Tiles *tiles, HgError *error)
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
		pass->starts, all, list != nullptr ? list->bins : nullptr, bins, tile_rows, tiles->pieces,
		tiles->count);
}

/*
 * Count the rows of each digit of the bins of a pass: *counts, which are 0.  Where there is one bin
 * so far, the kernel sums them up as well.
 */
template <typename Word, int THREADS, int ITEMS, bool KEYS>
static HgStatus
count_digits(HgCudaWork *work, const Pass<Word> *pass, const Tiles *tiles, uint32_t *counts,
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

		HG_TRY((hg_cuda_launch_shared<hg_digits_kernel<Word, THREADS, ITEMS, KEYS>>(
			work->stream, "hg_digits_kernel", hg_blocks_for(piece, per_block), THREADS,
			digits_bytes, error, pass->words, tiles->pieces, tiles->count, (uint32_t) pass->count,
			first, first + piece, per_block, shift, pass->digits_log2, counts, pass->starts_out,
			KEYS && first + piece == tiles->most ? counts + entries - 1 : nullptr)));
		if (first + piece < tiles->most)
			HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

/* Learn where the bins of a pass begin: count their rows, and sum up the counts. */
template <typename Word, int THREADS, int ITEMS, bool KEYS>
static HgStatus
find_starts(HgCudaWork *work, const Pass<Word> *pass, const Tiles *tiles, uint32_t *cursors,
			HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << (pass->bins_log2 + pass->digits_log2)) + 1;
	const size_t bytes = entries * sizeof(uint32_t);

	HG_CUDA_TRY(cudaMemsetAsync(cursors, 0, bytes, work->stream), error);
	if (KEYS && tiles->most == 0)
		HG_CUDA_TRY(cudaMemsetAsync(pass->starts_out, 0, bytes, work->stream), error);
	HG_TRY((count_digits<Word, THREADS, ITEMS, KEYS>(work, pass, tiles, cursors, error)));
	if constexpr (!KEYS)
	{
		HG_TRY(sum_up(work, cursors, pass->starts_out, entries, error));
		HG_CUDA_TRY(cudaMemcpyAsync(cursors, pass->starts_out, bytes, cudaMemcpyDeviceToDevice,
									work->stream),
					error);
	}
	return HG_OK;
}

/* Move the rows of all tiles. */
template <typename Word, int THREADS, int ITEMS, bool KEYS, bool HOT>
static HgStatus
scatter_tiles(HgCudaWork *work, const Pass<Word> *pass, const Tiles *tiles, uint32_t *cursors,
			  HgError *error)
{
	const uint32_t shift = 32 - pass->bins_log2 - pass->digits_log2;
	const uint32_t piece_tiles = (uint32_t) (HG_PIECE_ROWS / (THREADS * ITEMS));
	const size_t shared = hg_scatter_shared_bytes<Word>(THREADS, ITEMS, pass->digits_log2);

	for (uint32_t first = 0; first < tiles->most; first += piece_tiles)
	{
		uint32_t piece = tiles->most - first < piece_tiles ? tiles->most - first : piece_tiles;

		HG_TRY((hg_cuda_launch_shared<hg_scatter_tiles_kernel<Word, THREADS, ITEMS, KEYS, HOT>>(
			work->stream, "hg_scatter_tiles_kernel", piece, THREADS, shared, error, pass->words,
			pass->rows, tiles->pieces, tiles->count, (uint32_t) pass->count, first, shift,
			pass->digits_log2, cursors, pass->words_out, pass->rows_out)));
		if (first + piece < tiles->most)
			HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

/* A pass with tiles of THREADS * ITEMS rows. */
template <typename Word, int THREADS, int ITEMS, bool KEYS>
static HgStatus
run_pass(HgCudaWork *work, const Pass<Word> *pass, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << (pass->bins_log2 + pass->digits_log2)) + 1;
	Tiles tiles = {nullptr, nullptr, hg_blocks_for(pass->count, THREADS * ITEMS)};
	uint32_t *cursors;

	HG_TRY(hg_cuda_alloc_array(work, entries, &cursors, error));
	if (!KEYS)
		HG_TRY(list_tiles<Word>(work, pass, nullptr, THREADS * ITEMS, &tiles, error));
	if (pass->final_starts == nullptr)
		HG_TRY((find_starts<Word, THREADS, ITEMS, KEYS>(work, pass, &tiles, cursors, error)));
	else
	{
		HG_TRY((hg_cuda_launch<hg_coarser_kernel>(
			work->stream, "hg_coarser_kernel", hg_blocks_for(entries, HG_STREAM_THREADS),
			HG_STREAM_THREADS, error, pass->final_starts,
			pass->final_log2 - pass->bins_log2 - pass->digits_log2, entries, pass->starts_out,
			cursors)));
	}
	HG_TRY((scatter_tiles<Word, THREADS, ITEMS, KEYS, false>(work, pass, &tiles, cursors, error)));
	hg_cuda_free(work, tiles.pieces);
	hg_cuda_free(work, tiles.count);
	hg_cuda_free(work, cursors);
	return HG_OK;
}

/* Does a device with shared_limit bytes of shared memory for a block have room for such tiles? */
static bool
tiles_fit(size_t shared_limit, uint32_t key_width, int threads, int items, uint32_t digits_log2)
{
	const size_t bytes = key_width == 4
							 ? hg_scatter_shared_bytes<uint32_t>(threads, items, digits_log2)
							 : hg_scatter_shared_bytes<uint64_t>(threads, items, digits_log2);

	return 1 << digits_log2 <= threads && bytes + HG_PARTITION_STATIC_SHARED <= shared_limit;
}

/* The most bits that one pass can take, which is 9 everywhere. */
static uint32_t
most_digits_log2(const HgCudaWork *work, uint32_t key_width)
{
	return tiles_fit(work->device->shared_limit, key_width, HG_PARTITION_WIDE_THREADS,
					 HG_PARTITION_ITEMS, HG_PARTITION_WIDE_LOG2)
			   ? HG_PARTITION_WIDE_LOG2
			   : HG_PARTITION_NARROW_LOG2;
}

/*
 * A pass with the tiles that suit the number of digits and the device: wide ones where a tile
 * has to do for many digits, since what it has of one digit should fill some sectors of memory.
 */
template <typename Word, bool KEYS>
static HgStatus
run_fitting_pass(HgCudaWork *work, const Pass<Word> *pass, HgError *error)
{
	const size_t limit = work->device->shared_limit;

	if (pass->digits_log2 > HG_PARTITION_FEW_LOG2 &&
		tiles_fit(limit, sizeof(Word), HG_PARTITION_WIDE_THREADS, HG_PARTITION_ITEMS,
				  pass->digits_log2))
		return run_pass<Word, HG_PARTITION_WIDE_THREADS, HG_PARTITION_ITEMS, KEYS>(work, pass,
																				   error);
	if (tiles_fit(limit, sizeof(Word), HG_PARTITION_THREADS, HG_PARTITION_ITEMS, pass->digits_log2))
		return run_pass<Word, HG_PARTITION_THREADS, HG_PARTITION_ITEMS, KEYS>(work, pass, error);
	return run_pass<Word, HG_PARTITION_THREADS, HG_PARTITION_ITEMS / 2, KEYS>(work, pass, error);
}

/* ------------------------------------------------------------------------
 * All of them
 * ------------------------------------------------------------------------ */

/*
 * Count the rows of all bins to be at once, for all passes, where that is possible: reading the
 * keys once is less than reading the rows again in each pass.  *starts stays NULL where not.
 */
template <typename Word>
static HgStatus
count_bins(HgCudaWork *work, const Word *keys, uint64_t count, uint32_t bins_log2,
		   uint32_t **starts, HgError *error)
{
	const size_t shared = hg_count_bins_bytes(bins_log2);
	const uint64_t entries = (UINT64_C(1) << bins_log2) + 1;
	uint32_t *counts;

	if (shared > work->device->shared_limit)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, entries, starts, error));
	HG_TRY(hg_cuda_alloc_array(work, entries, &counts, error));
	HG_CUDA_TRY(cudaMemsetAsync(counts, 0, entries * sizeof(*counts), work->stream), error);
	for (uint64_t first = 0; first < count; first += HG_COUNT_ROWS)
	{
		const uint64_t end = count - first < HG_COUNT_ROWS ? count : first + HG_COUNT_ROWS;
		uint64_t per_block = (end - first - 1) / HG_COUNT_BLOCKS + 1;

		/* a block adds what it counted to as many numbers as there are bins */
		if (per_block < 4 * entries)
			per_block = 4 * entries;
		HG_TRY((hg_cuda_launch_shared<hg_count_bins_kernel<Word>>(
			work->stream, "hg_count_bins_kernel", hg_blocks_for(end - first, per_block),
			HG_COUNT_THREADS, shared, error, keys, first, end, per_block, bins_log2, counts)));
		if (end < count)
			HG_TRY(hg_cuda_pace(work, error));
	}
	HG_TRY(sum_up(work, counts, *starts, entries, error));
	hg_cuda_free(work, counts);
	return HG_OK;
}

template <typename Word>
static HgStatus
make(HgCudaWork *work, Word *keys, const uint32_t *rows, bool keep_keys, HgCudaPartition *partition,
	 HgError *error)
{
	const uint32_t most = most_digits_log2(work, sizeof(Word));
	uint32_t passes = partition->bins_log2 == 0 ? 1 : (partition->bins_log2 - 1) / most + 1;
	uint32_t *final_starts = nullptr;
	bool is_first = true; /* pass: of keys */
	Pass<Word> pass;

	if (passes > 1)
		HG_TRY(
			count_bins(work, keys, partition->count, partition->bins_log2, &final_starts, error));
	memset(&pass, 0, sizeof(pass));
	pass.words = keys;
	pass.rows = rows;
	pass.count = partition->count;
	pass.final_starts = final_starts;
	pass.final_log2 = partition->bins_log2;
	for (; passes > 0; passes--, is_first = false)
	{
		pass.digits_log2 = (partition->bins_log2 - pass.bins_log2 + passes - 1) / passes;
		pass.starts = partition->starts;
		HG_TRY(hg_cuda_alloc_array(work, (UINT64_C(1) << (pass.bins_log2 + pass.digits_log2)) + 1,
								   &pass.starts_out, error));
		HG_TRY(hg_cuda_alloc_array(work, pass.count, &pass.words_out, error));
		HG_TRY(hg_cuda_alloc_array(work, pass.count, &pass.rows_out, error));
		if (is_first)
			HG_TRY((run_fitting_pass<Word, true>(work, &pass, error)));
		else
			HG_TRY((run_fitting_pass<Word, false>(work, &pass, error)));

		/* given back in the order of the stream: the pass has read it by then */
		if (!is_first || !keep_keys)
			hg_cuda_free(work, const_cast<Word *>(pass.words));
		if (!is_first)
			hg_cuda_free(work, const_cast<uint32_t *>(pass.rows));
		hg_cuda_free(work, partition->starts);
		pass.words = pass.words_out;
		pass.rows = pass.rows_out;
		partition->starts = pass.starts_out;
		pass.bins_log2 += pass.digits_log2;
	}
	hg_cuda_free(work, final_starts);
	partition->words = pass.words_out;
	partition->rows = pass.rows_out;
	return HG_OK;
}

HgStatus
hg_cuda_partition_make(HgCudaWork *work, uint32_t key_width, void *keys, const uint32_t *rows,
					   uint64_t count, bool keep_keys, uint32_t bins_log2,
					   HgCudaPartition *partition, HgError *error)
{
	memset(partition, 0, sizeof(*partition));
	partition->key_width = key_width;
	partition->bins_log2 = bins_log2;
	partition->count = count;
	return key_width == 4
			   ? make(work, static_cast<uint32_t *>(keys), rows, keep_keys, partition, error)
			   : make(work, static_cast<uint64_t *>(keys), rows, keep_keys, partition, error);
}

/* ------------------------------------------------------------------------
 * Inside of some bins
 * ------------------------------------------------------------------------ */

/* A pass over the bins in list, with tiles of HG_PARTITION_THREADS * ITEMS rows. */
template <typename Word, int ITEMS>
static HgStatus
split_tiles(HgCudaWork *work, const Pass<Word> *pass, const HgBinList *list, uint32_t *offsets,
			HgError *error)
{
	constexpr int THREADS = HG_PARTITION_THREADS;
	const uint64_t entries = (uint64_t) list->count << pass->digits_log2;
	uint32_t *cursors; /* of these bins, in the order of the list */
	Tiles tiles;

	HG_TRY(hg_cuda_alloc_array(work, entries, &cursors, error));
	HG_CUDA_TRY(cudaMemsetAsync(cursors, 0, entries * sizeof(*cursors), work->stream), error);
	HG_TRY(list_tiles<Word>(work, pass, list, THREADS * ITEMS, &tiles, error));
	HG_TRY((count_digits<Word, THREADS, ITEMS, false>(work, pass, &tiles, cursors, error)));
	HG_TRY((hg_cuda_launch<hg_places_kernel<THREADS>>(work->stream, "hg_places_kernel", list->count,
													  THREADS, error, pass->starts, list->bins,
													  pass->digits_log2, cursors, offsets)));
	HG_TRY((scatter_tiles<Word, THREADS, ITEMS, false, true>(work, pass, &tiles, cursors, error)));
	hg_cuda_free(work, tiles.pieces);
	hg_cuda_free(work, tiles.count);
	hg_cuda_free(work, cursors);
	return HG_OK;
}

template <typename Word>
static HgStatus
split(HgCudaWork *work, const HgCudaPartition *partition, const HgBinList *list,
	  uint32_t digits_log2, void *words_out, uint32_t *rows_out, uint32_t *offsets, HgError *error)
{
	Pass<Word> pass;

	memset(&pass, 0, sizeof(pass));
	pass.words = static_cast<const Word *>(partition->words);
	pass.rows = partition->rows;
	pass.count = partition->count;
	pass.starts = partition->starts;
	pass.bins_log2 = partition->bins_log2;
	pass.digits_log2 = digits_log2;
	pass.words_out = static_cast<Word *>(words_out);
	pass.rows_out = rows_out;
	if (tiles_fit(work->device->shared_limit, sizeof(Word), HG_PARTITION_THREADS,
				  HG_PARTITION_ITEMS, digits_log2))
		return split_tiles<Word, HG_PARTITION_ITEMS>(work, &pass, list, offsets, error);
	return split_tiles<Word, HG_PARTITION_ITEMS / 2>(work, &pass, list, offsets, error);
}

HgStatus
hg_cuda_partition_split(HgCudaWork *work, const HgCudaPartition *partition, const HgBinList *list,
						uint32_t digits_log2, void *words_out, uint32_t *rows_out,
						uint32_t *offsets, HgError *error)
{
	return partition->key_width == 4 ? split<uint32_t>(work, partition, list, digits_log2,
													   words_out, rows_out, offsets, error)
									 : split<uint64_t>(work, partition, list, digits_log2,
													   words_out, rows_out, offsets, error);
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

uint64_t
hg_cuda_partition_bytes(uint32_t key_width, uint64_t count, uint32_t bins_log2)
{
	const uint64_t edges = count * (key_width + sizeof(uint32_t));
	const uint64_t starts = (UINT64_C(1) << bins_log2) * sizeof(uint32_t);

	return edges + 2 * starts + (bins_log2 > HG_PARTITION_WIDE_LOG2 ? edges : count * key_width);
}

void
hg_cuda_partition_free(HgCudaWork *work, HgCudaPartition *partition)
{
	hg_cuda_free(work, partition->words);
	hg_cuda_free(work, partition->rows);
	hg_cuda_free(work, partition->starts);
	memset(partition, 0, sizeof(*partition));
}
