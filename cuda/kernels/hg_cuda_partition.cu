/*-------------------------------------------------------------------------
 *
 * hg_cuda_partition.cu
 *	  Puts rows into bins, in device memory.
 *
 * It is a radix partition of mixed words and row numbers by the first bits of the words: the first
 * phase of Algorithm 2 of the paper.  Few bins take one pass over the rows, many take two or more:
 * the first pass goes by the first bits, the next one divides each of its bins by the bits that
 * follow.  A pass
 *
 * 1. divides the existing bins into tiles of some thousand rows (the one bin of the first pass
 *	  needs no list of them),
 * 2. counts the rows of all new bins, reading the words,
 * 3. prefix-sums the counts, which are where each bin begins,
 * 4. moves the rows, a block a tile (hg_cuda_partition_kernels.h).
 *
 * If shared memory has room for a number for each bin of the last pass, all passes are counted at
 * once before the first one, from the keys.
 *
 * The first pass reads keys and mixes them, and numbers the rows by their index if they have no
 * numbers.
 *
 * It does less than a radix sort, which keeps rows with equal digits in their order: here the next
 * tile takes the next free positions.  A sort must know how many rows of each digit all tiles
 * before have before it can write one.
 *
 * MEMORY: the output, and, for several passes, words and row numbers once more, to pass from one
 * to the next; one of these blocks of words can be that of the keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>

#include "hg_cuda_partition.h"
#include "hg_cuda_partition_kernels.h"
#include "hg_cuda_pass.h"
#include "hg_cuda_pieces.h"

/* ------------------------------------------------------------------------
 * All passes
 * ------------------------------------------------------------------------ */

/*
 * Counts the rows of all final bins at once, for all passes, if shared memory allows: reading the
 * keys once is less than reading the rows again in each pass.  Otherwise *starts stays NULL.
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

		/* a block adds its counts to as many numbers as there are bins: that must be worth it */
		if (per_block < 4 * entries)
			per_block = 4 * entries;
		HG_TRY((hg_cuda_launch_shared<hg_count_bins_kernel<Word>>(
			work->stream, "hg_count_bins_kernel", hg_blocks_for(end - first, per_block),
			HG_COUNT_THREADS, shared, error, keys, first, end, per_block, bins_log2, counts)));
		if (end < count)
			HG_TRY(hg_cuda_pace(work, error));
	}
	HG_TRY(hg_pass_sum(work, counts, *starts, entries, error));
	hg_cuda_free(work, counts);
	return HG_OK;
}

template <typename Word>
static HgStatus
make(HgCudaWork *work, Word *keys, const uint32_t *rows, HgPartitionKeeps keeps,
	 HgCudaPartition *partition, HgError *error)
{
	const uint32_t most = hg_pass_most_log2(work, sizeof(Word));
	uint32_t passes = partition->bins_log2 == 0 ? 1 : (partition->bins_log2 - 1) / most + 1;
	uint32_t *final_starts = nullptr;
	bool is_first = true; /* the first pass, which reads keys */
	HgPass<Word> pass;

	if (passes > 1)
		HG_TRY(
			count_bins(work, keys, partition->count, partition->bins_log2, &final_starts, error));
	memset(&pass, 0, sizeof(pass));
	pass.from.words[0] = keys;
	pass.from.rows[0] = rows;
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
			HG_TRY((hg_pass_run<Word, true>(work, &pass, error)));
		else
			HG_TRY((hg_pass_run<Word, false>(work, &pass, error)));

		/* freed in the order of the stream: after the pass has read them */
		if (!is_first || keeps < HG_KEEP_KEYS)
			hg_cuda_free(work, const_cast<Word *>(pass.from.words[0]));
		if (!is_first || keeps < HG_KEEP_ROWS)
			hg_cuda_free(work, const_cast<uint32_t *>(pass.from.rows[0]));
		hg_cuda_free(work, partition->starts);
		pass.from.words[0] = pass.words_out;
		pass.from.rows[0] = pass.rows_out;
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
					   uint64_t count, HgPartitionKeeps keeps, uint32_t bins_log2,
					   HgCudaPartition *partition, HgError *error)
{
	memset(partition, 0, sizeof(*partition));
	partition->key_width = key_width;
	partition->bins_log2 = bins_log2;
	partition->count = count;
	return key_width == 4
			   ? make(work, static_cast<uint32_t *>(keys), rows, keeps, partition, error)
			   : make(work, static_cast<uint64_t *>(keys), rows, keeps, partition, error);
}

/* ------------------------------------------------------------------------
 * In two steps
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_partition_count(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
						uint32_t bins_log2, uint32_t **starts, HgError *error)
{
	*starts = nullptr;
	return key_width == 4 ? count_bins(work, static_cast<const uint32_t *>(keys), count, bins_log2,
									   starts, error)
						  : count_bins(work, static_cast<const uint64_t *>(keys), count, bins_log2,
									   starts, error);
}

template <typename Word>
static HgStatus
scatter(HgCudaWork *work, const Word *keys, const uint32_t *rows, uint32_t first_row,
		const uint32_t *starts, HgCudaPartition *partition, HgError *error)
{
	HgPass<Word> pass;

	memset(&pass, 0, sizeof(pass));
	pass.from.words[0] = keys;
	pass.from.rows[0] = rows;
	pass.from.first_row = first_row;
	pass.count = partition->count;
	pass.final_starts = starts;
	pass.final_log2 = pass.digits_log2 = partition->bins_log2;
	HG_TRY(hg_cuda_alloc_array(work, pass.count, &pass.words_out, error));
	partition->words = pass.words_out;
	HG_TRY(hg_cuda_alloc_array(work, pass.count, &partition->rows, error));
	HG_TRY(hg_cuda_alloc_array(work, (UINT64_C(1) << partition->bins_log2) + 1, &partition->starts,
							   error));
	pass.rows_out = partition->rows;
	pass.starts_out = partition->starts;
	return hg_pass_run<Word, true>(work, &pass, error);
}

HgStatus
hg_cuda_partition_scatter(HgCudaWork *work, uint32_t key_width, const void *keys,
						  const uint32_t *rows, uint32_t first_row, uint64_t count,
						  const uint32_t *starts, uint32_t bins_log2, HgCudaPartition *partition,
						  HgError *error)
{
	memset(partition, 0, sizeof(*partition));
	partition->key_width = key_width;
	partition->bins_log2 = bins_log2;
	partition->count = count;
	return key_width == 4 ? scatter(work, static_cast<const uint32_t *>(keys), rows, first_row,
									starts, partition, error)
						  : scatter(work, static_cast<const uint64_t *>(keys), rows, first_row,
									starts, partition, error);
}

/* ------------------------------------------------------------------------
 * Inside of some bins
 * ------------------------------------------------------------------------ */

/* Runs a pass over the listed bins, with tiles of HG_PARTITION_THREADS * ITEMS rows. */
template <typename Word, int ITEMS>
static HgStatus
split_tiles(HgCudaWork *work, const HgPass<Word> *pass, const HgBinList *list, uint32_t *offsets,
			HgError *error)
{
	constexpr int THREADS = HG_PARTITION_THREADS;
	const uint64_t entries = (uint64_t) list->count << pass->digits_log2;
	uint32_t *cursors; /* of the listed bins, in the order of the list */
	HgTiles tiles;

	HG_TRY(hg_cuda_alloc_array(work, entries, &cursors, error));
	HG_CUDA_TRY(cudaMemsetAsync(cursors, 0, entries * sizeof(*cursors), work->stream), error);
	HG_TRY(hg_pass_list<Word>(work, pass, list, THREADS * ITEMS, &tiles, error));
	HG_TRY(
		(hg_pass_count<Word, THREADS, ITEMS, HG_PASS_WORDS>(work, pass, &tiles, cursors, error)));
	HG_TRY((hg_cuda_launch<hg_digit_starts_kernel<THREADS>>(
		work->stream, "hg_digit_starts_kernel", list->count, THREADS, error, pass->starts,
		list->bins, pass->digits_log2, cursors, offsets)));
	HG_TRY(
		(hg_pass_scatter<Word, THREADS, ITEMS, HG_PASS_HOT>(work, pass, &tiles, cursors, error)));
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
	HgPass<Word> pass;

	memset(&pass, 0, sizeof(pass));
	pass.from.words[0] = static_cast<const Word *>(partition->words);
	pass.from.rows[0] = partition->rows;
	pass.count = partition->count;
	pass.starts = partition->starts;
	pass.bins_log2 = partition->bins_log2;
	pass.digits_log2 = digits_log2;
	pass.words_out = static_cast<Word *>(words_out);
	pass.rows_out = rows_out;
	if (hg_pass_fits(work->device->shared_limit, sizeof(Word), HG_PARTITION_THREADS,
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

/* ---------------------------------------------------------------------
 * Which shard each row belongs to, when several jobs are one join
 * ---------------------------------------------------------------------
 */

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
