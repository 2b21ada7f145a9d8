/*-------------------------------------------------------------------------
 *
 * hg_cuda_partition_kernels.h
 *	  The kernels that put rows into bins: hg_cuda_partition.cu says when each runs.
 *
 * Word is uint32_t or uint64_t, a mixed word.  A pass divides the rows of bins by their next
 * digits_log2 bits, a tile at a time: THREADS * ITEMS rows of one bin.  The digit of a word is the
 * last digits_log2 bits of hg_word_vertex(word, shift), and the bin that it gets into has the
 * number bin << digits_log2 | digit.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PARTITION_KERNELS_H
#define HG_CUDA_PARTITION_KERNELS_H

#include <cub/block/block_scan.cuh>

#include "../../src/engine/hg_exchange.h"
#include "hg_cuda_partition.h"
#include "hg_cuda_tuning.h"
#include "hg_cuda_word.h"

/* Rows first .. end - 1 of the input, all of one bin. */
struct HgPiece
{
	uint32_t bin; /* or the bin's index in a list; | HG_PIECE_OTHER if the rows are in array 1 */
	uint32_t first;
	uint32_t end;
};

/* Flag of HgPiece.bin: the rows are in the second of two arrays. */
constexpr uint32_t HG_PIECE_OTHER = 1u << 31;

/* The rows that a pass moves. */
enum HgPassOf
{
	HG_PASS_KEYS,	  /* keys that are not mixed yet; rows may have no numbers yet */
	HG_PASS_WORDS,	  /* mixed words and numbers */
	HG_PASS_HOT,	  /* the same, if one digit may have most rows of a tile */
	HG_PASS_EXCHANGED /* the same, of a shard's range, from the shard itself and from others
					   * (HG_PIECE_OTHER): words are rotated (HgTurn) */
};

/* The input of a pass.  The rows of a piece are in the first arrays or in the second ones. */
template <typename Word> struct HgPassRows
{
	const Word *words[2];
	const uint32_t *rows[2]; /* NULL: first_row + the row's index */
	uint32_t first_row;
};

/*
 * Maps a range of mixed words, from base on, one-to-one to words that are spread evenly.  Without
 * base the first `bits` bits of a word are 0: the word is rotated left by `bits`.
 */
template <typename Word> struct HgTurn
{
	Word base;
	uint32_t bits;
};

/* Return the rotated word. */
__device__ __forceinline__ uint32_t
hg_word_turn(uint32_t word, const HgTurn<uint32_t> &turn)
{
	return __funnelshift_l(word - turn.base, word - turn.base, turn.bits);
}

__device__ __forceinline__ uint64_t
hg_word_turn(uint64_t word, const HgTurn<uint64_t> &turn)
{
	const uint64_t rest = word - turn.base;

	return turn.bits == 0 ? rest : rest << turn.bits | rest >> (64 - turn.bits);
}

/* Return the word that was rotated. */
__device__ __forceinline__ uint32_t
hg_word_turn_back(uint32_t word, const HgTurn<uint32_t> &turn)
{
	return __funnelshift_r(word, word, turn.bits) + turn.base;
}

__device__ __forceinline__ uint64_t
hg_word_turn_back(uint64_t word, const HgTurn<uint64_t> &turn)
{
	return (turn.bits == 0 ? word : word >> turn.bits | word << (64 - turn.bits)) + turn.base;
}

/* Selects bins by the rows of one or two sides.  Arrays are starts as in HgCudaPartition. */
struct HgBinFilter
{
	const uint32_t *starts; /* the bin has least to most rows by these */
	uint32_t least;
	uint32_t most;
	const uint32_t *others; /* unless NULL: more than above rows by both together */
	uint32_t above;
};

/* Returns true if the filter selects a bin. */
__device__ __forceinline__ bool
hg_bin_chosen(const HgBinFilter &filter, uint32_t bin)
{
	const uint32_t rows = filter.starts[bin + 1] - filter.starts[bin];

	if (rows < filter.least || rows > filter.most)
		return false;
	return filter.others == nullptr ||
		   (uint64_t) rows + (filter.others[bin + 1] - filter.others[bin]) > filter.above;
}

/*
 * Returns what atomicAdd(&counters[index], by) returns, to each thread with taking.  counters are
 * in shared memory; all threads of a warp call it.  Threads with the same index as the first one
 * of them add once together: one key may have most rows of a bin, which would queue for one
 * counter.
 */
__device__ __forceinline__ uint32_t
hg_take_shared(bool taking, uint32_t *counters, uint32_t index, uint32_t by)
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t takers = __ballot_sync(UINT32_MAX, taking);
	const int leader = takers == 0 ? 0 : __ffs((int) takers) - 1;
	const uint32_t common = __shfl_sync(UINT32_MAX, index, leader);
	const bool with_leader = taking && index == common;
	const uint32_t same = __ballot_sync(UINT32_MAX, with_leader);
	uint32_t found = 0;

	if ((taking && !with_leader) || (takers != 0 && (int) lane == leader))
		found = atomicAdd(&counters[index], with_leader ? by * __popc(same) : by);

	const uint32_t first = __shfl_sync(UINT32_MAX, found, leader);

	return with_leader ? first + by * __popc(same & ((1u << lane) - 1)) : found;
}

/*
 * Returns tile number tile: one of the listed tiles, or, with KEYS, tile_rows of the count rows
 * that are all in one bin.
 */
template <bool KEYS>
__device__ __forceinline__ HgPiece
hg_tile(const HgPiece *tiles, uint32_t tile, uint32_t tile_rows, uint32_t count)
{
	HgPiece piece;

	if (!KEYS)
		return tiles[tile];
	piece.bin = 0;
	piece.first = tile * tile_rows;
	piece.end = count - piece.first < tile_rows ? count : piece.first + tile_rows;
	return piece;
}

/* Return the bin of a piece, and which of two arrays its rows are in. */
template <HgPassOf OF>
__device__ __forceinline__ uint32_t
hg_piece_bin(const HgPiece &piece)
{
	return OF == HG_PASS_EXCHANGED ? piece.bin & ~HG_PIECE_OTHER : piece.bin;
}

template <HgPassOf OF>
__device__ __forceinline__ uint32_t
hg_piece_array(const HgPiece &piece)
{
	return OF == HG_PASS_EXCHANGED ? piece.bin / HG_PIECE_OTHER : 0;
}

/* Returns the sum of value over the threads of the warp before this one. */
__device__ __forceinline__ uint32_t
hg_warp_sum_before(uint32_t value, uint32_t lane)
{
	uint32_t sum = value;

#pragma unroll
	for (uint32_t step = 1; step < 32; step *= 2)
	{
		uint32_t other = __shfl_up_sync(UINT32_MAX, sum, step);

		if (lane >= step)
			sum += other;
	}
	return sum - value;
}

/*
 * Divides bins into pieces of at most size rows, a block 32 bins.  Bin b has the rows starts[b] ..
 * starts[b + 1] - 1.  The bins are 0 .. bins - 1, or list[0 .. bins - 1] if list is not NULL; the
 * filter selects among them.  The pieces are appended to pieces, of which there are *count.  Those
 * of one bin follow each other.
 *
 * HgPiece.bin becomes the bin's number, or its index in the list, | flags.  If cycle is not 0, it
 * is taken modulo cycle: then each bin occurs several times.
 *
 * Each warp of a block has a thread for each of the 32 bins.  They reserve positions together, and
 * the threads of all warps write the pieces.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_pieces_kernel(const uint32_t *starts, HgBinFilter filter, const uint32_t *list,
					 uint32_t bins, uint32_t size, uint32_t cycle, uint32_t flags, HgPiece *pieces,
					 uint32_t *count)
{
	__shared__ uint32_t index;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t number = blockIdx.x * 32 + lane;
	const uint32_t bin = number < bins && list != nullptr ? list[number] : number;
	uint32_t start = 0;
	uint32_t end = 0;

	if (number < bins && hg_bin_chosen(filter, bin))
	{
		start = starts[bin];
		end = starts[bin + 1];
	}

	const uint32_t cuts = end == start ? 0 : (end - start - 1) / size + 1;
	const uint32_t before = hg_warp_sum_before(cuts, lane);
	const uint32_t all = __shfl_sync(UINT32_MAX, before + cuts, 31);

	if (all == 0)
		return;
	if (threadIdx.x == 0)
		index = atomicAdd(count, all);
	__syncthreads();
	for (uint32_t first = threadIdx.x - lane; first < all; first += HG_STREAM_THREADS)
	{
		const uint32_t i = first + lane;
		int owner = 0; /* the last thread with at most i pieces before its own */
		HgPiece piece;

#pragma unroll
		for (int step = 16; step > 0; step /= 2)
			if (__shfl_sync(UINT32_MAX, before, owner + step) <= i)
				owner += step;
		piece.bin = __shfl_sync(UINT32_MAX, number, owner);
		piece.first = __shfl_sync(UINT32_MAX, start, owner) +
					  (i - __shfl_sync(UINT32_MAX, before, owner)) * size;
		piece.end = __shfl_sync(UINT32_MAX, end, owner);
		if (i >= all)
			continue;
		if (piece.end - piece.first > size)
			piece.end = piece.first + size;
		if (cycle > 0)
			piece.bin %= cycle;
		piece.bin |= flags;
		pieces[index + i] = piece;
	}
}

/* Adds counts[0 .. n - 1], in shared memory, to sums.  All threads of the block call it. */
template <int THREADS>
__device__ __forceinline__ void
hg_add_counts(const uint32_t *counts, uint32_t n, uint32_t *sums)
{
	for (uint32_t i = threadIdx.x; i < n; i += THREADS)
		if (counts[i] > 0)
			atomicAdd(&sums[i], counts[i]);
}

/*
 * Adds the rows of tiles first .. end - 1 to counts[bin << digits_log2 | digit].  There are
 * *tile_count tiles (see hg_tile); NULL: end is exact.  A block takes per_block consecutive tiles.
 * While they are of one bin, it counts in shared memory, 2^digits_log2 numbers.  With KEYS the
 * words are not mixed yet.
 *
 * If all rows are in one bin and these tiles are its last ones, the last block to end computes the
 * prefix sums: starts[digit] and counts[digit] become the first position of a digit, and the last
 * element of starts the number of rows.  *ended, 0 before, counts the blocks that ended; NULL: no
 * prefix sums.
 */
template <typename Word, int THREADS, int ITEMS, HgPassOf OF>
__global__ void
__launch_bounds__(THREADS)
	hg_digits_kernel(HgPassRows<Word> from, const HgPiece *tiles, const uint32_t *tile_count,
					 uint32_t count, uint32_t first, uint32_t end, uint32_t per_block,
					 uint32_t shift, uint32_t digits_log2, uint32_t *counts, uint32_t *starts,
					 uint32_t *ended)
{
	typedef cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS> Scan;
	__shared__ typename Scan::TempStorage scan_storage;
	__shared__ bool is_last;
	extern __shared__ __align__(16) unsigned char hg_shared[];
	constexpr bool KEYS = OF == HG_PASS_KEYS;
	uint32_t *digits = reinterpret_cast<uint32_t *>(hg_shared);
	const uint32_t thread = threadIdx.x;
	const uint32_t digit_count = 1u << digits_log2;
	uint32_t tile = first + blockIdx.x * per_block;
	uint32_t bin = UINT32_MAX;

	if (tile_count != nullptr && end > *tile_count)
		end = *tile_count;
	if (end > tile + per_block)
		end = tile + per_block;
	for (uint32_t d = thread; d < digit_count; d += THREADS)
		digits[d] = 0;
	__syncthreads();

	for (; tile < end; tile++)
	{
		const HgPiece piece = hg_tile<KEYS>(tiles, tile, THREADS * ITEMS, count);
		const uint32_t piece_bin = hg_piece_bin<OF>(piece);
		const Word *words = from.words[hg_piece_array<OF>(piece)];
		const uint32_t n = piece.end - piece.first;
		Word word[ITEMS];

		if (piece_bin != bin && bin != UINT32_MAX)
		{
			__syncthreads();
			hg_add_counts<THREADS>(digits, digit_count, counts + ((size_t) bin << digits_log2));
			for (uint32_t d = thread; d < digit_count; d += THREADS)
				digits[d] = 0;
			__syncthreads();
		}
		bin = piece_bin;

#pragma unroll
		for (int k = 0; k < ITEMS; k++)
			if (k * THREADS + thread < n)
				word[k] = words[piece.first + k * THREADS + thread];
#pragma unroll
		for (int k = 0; k < ITEMS; k++)
			if (k * THREADS + thread < n)
				atomicAdd(&digits[hg_word_vertex(KEYS ? hg_word_mix(word[k]) : word[k], shift) &
								  (digit_count - 1)],
						  1u);
	}

	__syncthreads();
	if (bin != UINT32_MAX)
		hg_add_counts<THREADS>(digits, digit_count, counts + ((size_t) bin << digits_log2));
	if (!KEYS || ended == nullptr)
		return;

	__threadfence();
	__syncthreads();
	if (thread == 0)
		is_last = atomicAdd(ended, 1u) == gridDim.x - 1;
	__syncthreads();
	if (!is_last)
		return;
	__threadfence();

	/* a thread a digit; an atomic reads what the other blocks added */
	const uint32_t rows = thread < digit_count ? atomicAdd(&counts[thread], 0u) : 0;
	uint32_t before;

	Scan(scan_storage).ExclusiveSum(rows, before);
	if (thread < digit_count)
		starts[thread] = counts[thread] = before;
	if (thread == 0)
		starts[digit_count] = count;
}

/* Returns the shared memory of hg_count_bins_kernel. */
constexpr size_t
hg_count_bins_bytes(uint32_t bins_log2)
{
	return sizeof(uint32_t) << bins_log2;
}

/*
 * Adds the rows of each bin among keys first .. end - 1 to counts[bin].  All 2^bins_log2 bins are
 * counted at once, in shared memory.  Blocks take per_block rows each.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_COUNT_THREADS)
	hg_count_bins_kernel(const Word *keys, uint64_t first, uint64_t end, uint64_t per_block,
						 uint32_t bins_log2, uint32_t *counts)
{
	extern __shared__ __align__(16) unsigned char hg_shared[];
	uint32_t *bins = reinterpret_cast<uint32_t *>(hg_shared);
	const uint32_t shift = 32 - bins_log2;
	const uint64_t begin = first + blockIdx.x * per_block;
	const uint64_t stop = end - begin < per_block ? end : begin + per_block;

	for (uint32_t bin = threadIdx.x; bin < 1u << bins_log2; bin += HG_COUNT_THREADS)
		bins[bin] = 0;
	__syncthreads();
	for (uint64_t i = begin + threadIdx.x; i < stop; i += HG_COUNT_THREADS * HG_COUNT_ITEMS)
	{
		Word word[HG_COUNT_ITEMS];

#pragma unroll
		for (int k = 0; k < HG_COUNT_ITEMS; k++)
			if (i + k * HG_COUNT_THREADS < stop)
				word[k] = keys[i + k * HG_COUNT_THREADS];
#pragma unroll
		for (int k = 0; k < HG_COUNT_ITEMS; k++)
			if (i + k * HG_COUNT_THREADS < stop)
				atomicAdd(&bins[hg_word_vertex(hg_word_mix(word[k]), shift)], 1u);
	}
	__syncthreads();
	hg_add_counts<HG_COUNT_THREADS>(bins, 1u << bins_log2, counts);
}

/* array[0 .. count - 1] = value. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS) hg_set_kernel(uint32_t *array, uint64_t count, uint32_t value)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < count)
		array[i] = value;
}

/*
 * Writes the starts of the bins of a pass, to starts and cursors, from those of finer bins:
 * 2^finer_log2 of them make one.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_coarser_kernel(const uint32_t *finer, uint32_t finer_log2, uint64_t entries,
					  uint32_t *starts, uint32_t *cursors)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < entries)
		starts[i] = cursors[i] = finer[i << finer_log2];
}

/*
 * Computes the first position of each digit of listed bins, a block a bin, 2^digits_log2 <=
 * THREADS. cursors[index in the list << digits_log2 | digit] is the number of rows before, and
 * becomes that position, as does offsets[bin << digits_log2 | digit].  The rows of a bin begin at
 * starts[bin].
 */
template <int THREADS>
__global__ void
__launch_bounds__(THREADS)
	hg_digit_starts_kernel(const uint32_t *starts, const uint32_t *list, uint32_t digits_log2,
						   uint32_t *cursors, uint32_t *offsets)
{
	typedef cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS> Scan;
	__shared__ typename Scan::TempStorage scan_storage;
	const uint32_t bin = list[blockIdx.x];
	const bool there = threadIdx.x < 1u << digits_log2;
	uint32_t *cursor = cursors + ((size_t) blockIdx.x << digits_log2) + threadIdx.x;
	uint32_t before;

	Scan(scan_storage).ExclusiveSum(there ? *cursor : 0, before);
	if (there)
		*cursor = offsets[((size_t) bin << digits_log2) + threadIdx.x] = starts[bin] + before;
}

/* Returns the dynamic shared memory of hg_scatter_tiles_kernel. */
template <typename Word>
constexpr size_t
hg_scatter_shared_bytes(int threads, int items, uint32_t digits_log2)
{
	return (size_t) threads * items * (sizeof(Word) + sizeof(uint32_t)) +
		   ((size_t) 2 << digits_log2) * sizeof(uint32_t);
}

/*
 * Moves the rows of tiles first + blockIdx.x, of *tile_count (NULL: all exist), to their bins, a
 * block a tile; 2^digits_log2 <= THREADS.  cursors[bin << digits_log2 | digit] is the next free
 * position of a bin.
 *
 * A row's position is where its bin's share of the tile begins, plus the row's number within this
 * share.  One atomic addition for each digit of a tile reserves the share; the numbers come from
 * counters in shared memory.  The tile is sorted in shared memory first, so that neighbouring
 * threads write neighbouring positions.
 *
 * Keys without rows get the number first_row + their index.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Word, int THREADS, int ITEMS, HgPassOf OF>
__global__ void
__launch_bounds__(THREADS, hg_partition_blocks(sizeof(Word), THREADS))
	hg_scatter_tiles_kernel(HgPassRows<Word> from, const HgPiece *tiles, const uint32_t *tile_count,
							uint32_t count, uint32_t first, uint32_t shift, uint32_t digits_log2,
							uint32_t *cursors, HgTurn<Word> turn, Word *words_out,
							uint32_t *rows_out)
{
	typedef cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS> Scan;
	__shared__ typename Scan::TempStorage scan_storage;
	extern __shared__ __align__(16) unsigned char hg_shared[];
	constexpr bool KEYS = OF == HG_PASS_KEYS;
	static_assert(ITEMS % 2 == 0 && THREADS * ITEMS <= 65536, "two numbers share a register");

	Word *tile_words = reinterpret_cast<Word *>(hg_shared);
	uint32_t *tile_rows = reinterpret_cast<uint32_t *>(tile_words + THREADS * ITEMS);
	uint32_t *begins = tile_rows + THREADS * ITEMS; /* of a digit in the tile; at first its rows */
	uint32_t *distances = begins + (1u << digits_log2); /* from there to its position outside */

	const uint32_t thread = threadIdx.x;
	const uint32_t mask = (1u << digits_log2) - 1;
	Word word[ITEMS];
	uint32_t number[ITEMS / 2];

	if (tile_count != nullptr && first + blockIdx.x >= *tile_count)
		return;

	const HgPiece piece = hg_tile<KEYS>(tiles, first + blockIdx.x, THREADS * ITEMS, count);
	const Word *words = from.words[hg_piece_array<OF>(piece)];
	const uint32_t *rows = from.rows[hg_piece_array<OF>(piece)];
	const uint32_t n = piece.end - piece.first;

#pragma unroll
	for (int k = 0; k < ITEMS; k++)
		if (k * THREADS + thread < n)
			word[k] = words[piece.first + k * THREADS + thread];
	if (thread <= mask)
		begins[thread] = 0;
	__syncthreads();

	/* number the rows of each digit */
#pragma unroll
	for (int k = 0; k < ITEMS; k++)
	{
		uint32_t mine = 0;

		if (OF == HG_PASS_HOT)
		{
			const bool there = k * THREADS + thread < n;

			mine =
				hg_take_shared(there, begins, there ? hg_word_vertex(word[k], shift) & mask : 0, 1);
		}
		else if (k * THREADS + thread < n)
		{
			if (KEYS)
				word[k] = hg_word_mix(word[k]);
			mine = atomicAdd(&begins[hg_word_vertex(word[k], shift) & mask], 1u);
		}
		number[k / 2] = k % 2 == 0 ? mine : number[k / 2] | mine << 16;
	}
	__syncthreads();

	/* a thread a digit: reserve its share, and find where it begins in the tile */
	uint32_t share = thread <= mask ? begins[thread] : 0;
	uint32_t index = 0;
	uint32_t before;

	if (share > 0)
		index =
			atomicAdd(&cursors[((size_t) hg_piece_bin<OF>(piece) << digits_log2) + thread], share);
	Scan(scan_storage).ExclusiveSum(share, before);
	if (thread <= mask)
	{
		begins[thread] = before;
		distances[thread] = index - before;
	}
	__syncthreads();

	/* sort the tile; row numbers are read in two halves, which takes fewer registers */
#pragma unroll
	for (int half = 0; half < ITEMS; half += ITEMS / 2)
	{
		uint32_t row[ITEMS / 2];

#pragma unroll
		for (int k = 0; k < ITEMS / 2; k++)
		{
			row[k] = piece.first + (half + k) * THREADS + thread;
			if (KEYS && rows == nullptr)
				row[k] += from.first_row;
			else if ((half + k) * THREADS + thread < n)
				row[k] = rows[row[k]];
		}
#pragma unroll
		for (int k = half; k < half + ITEMS / 2; k++)
			if (k * THREADS + thread < n)
			{
				uint32_t at = begins[hg_word_vertex(word[k], shift) & mask] +
							  (k % 2 == 0 ? number[k / 2] & 0xffff : number[k / 2] >> 16);

				tile_words[at] = word[k];
				tile_rows[at] = row[k - half];
			}
	}
	__syncthreads();

#pragma unroll
	for (int k = 0; k < ITEMS; k++)
	{
		const uint32_t at = k * THREADS + thread;

		if (at < n)
		{
			Word out = tile_words[at];
			uint32_t to = distances[hg_word_vertex(out, shift) & mask] + at;

			words_out[to] = OF == HG_PASS_EXCHANGED ? hg_word_turn(out, turn) : out;
			rows_out[to] = tile_rows[at];
		}
	}
}

/* Threads of a block, and rows that each has at a time. */
constexpr int HG_PARTS_THREADS = 512;
constexpr int HG_PARTS_ITEMS = 8;

/* Return the part of a key. */
__device__ __forceinline__ uint32_t
hg_part_of_key(uint32_t key)
{
	return hg_exchange_part32(hg_word_mix(key));
}

__device__ __forceinline__ uint32_t
hg_part_of_key(uint64_t key)
{
	return hg_exchange_part64(hg_word_mix(key));
}

/* counts[part] += the number of keys first .. end - 1 that are of this part. */
template <typename Word>
__global__ void
__launch_bounds__(HG_PARTS_THREADS)
	hg_parts_tally_kernel(const Word *keys, uint64_t first, uint64_t end, uint32_t *counts)
{
	__shared__ uint32_t parts[HG_EXCHANGE_PARTS];
	const uint64_t stride = (uint64_t) gridDim.x * HG_PARTS_THREADS;

	for (uint32_t part = threadIdx.x; part < HG_EXCHANGE_PARTS; part += HG_PARTS_THREADS)
		parts[part] = 0;
	__syncthreads();
	for (uint64_t i = first + (uint64_t) blockIdx.x * HG_PARTS_THREADS + threadIdx.x; i < end;
		 i += stride)
		atomicAdd(&parts[hg_part_of_key(keys[i])], 1u);
	__syncthreads();
	for (uint32_t part = threadIdx.x; part < HG_EXCHANGE_PARTS; part += HG_PARTS_THREADS)
		if (parts[part] > 0)
			atomicAdd(&counts[part], parts[part]);
}

/*
 * For each i from first to end - 1, writes i into `order` at the next free position of the shard
 * that owns key i; cursors[shard] is that position.  A block has HG_PARTS_THREADS * HG_PARTS_ITEMS
 * keys, numbers those of each shard in shared memory, and reserves positions for them together.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_PARTS_THREADS)
	hg_parts_order_kernel(const Word *keys, uint64_t first, uint64_t end, const uint8_t *owners,
						  uint32_t *cursors, uint32_t *order)
{
	__shared__ uint32_t counts[HG_MAX_SHARDS];
	__shared__ uint32_t bases[HG_MAX_SHARDS];
	const uint64_t begin = first + (uint64_t) blockIdx.x * HG_PARTS_THREADS * HG_PARTS_ITEMS;
	uint32_t shard[HG_PARTS_ITEMS];
	uint32_t number[HG_PARTS_ITEMS];

	if (threadIdx.x < HG_MAX_SHARDS)
		counts[threadIdx.x] = 0;
	__syncthreads();
#pragma unroll
	for (int k = 0; k < HG_PARTS_ITEMS; k++)
	{
		const uint64_t i = begin + k * HG_PARTS_THREADS + threadIdx.x;

		if (i < end)
		{
			shard[k] = owners[hg_part_of_key(keys[i])];
			number[k] = atomicAdd(&counts[shard[k]], 1u);
		}
	}
	__syncthreads();
	if (threadIdx.x < HG_MAX_SHARDS && counts[threadIdx.x] > 0)
		bases[threadIdx.x] = atomicAdd(&cursors[threadIdx.x], counts[threadIdx.x]);
	__syncthreads();
#pragma unroll
	for (int k = 0; k < HG_PARTS_ITEMS; k++)
	{
		const uint64_t i = begin + k * HG_PARTS_THREADS + threadIdx.x;

		if (i < end)
			order[bases[shard[k]] + number[k]] = (uint32_t) i;
	}
}

/* to[i] = from[order[i]], for i from first to end - 1. */
template <typename Element>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_parts_gather_kernel(const Element *from, const uint32_t *order, uint64_t first, uint64_t end,
						   Element *to)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < end)
		to[i] = from[order[i]];
}

/* *wrong becomes 1 if a key is not of the parts of shard self, or a number is not below limit. */
template <typename Word>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_parts_check_kernel(const Word *keys, const uint32_t *numbers, uint64_t first, uint64_t end,
						  const uint8_t *owners, uint32_t self, uint64_t limit, uint32_t *wrong)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < end && (owners[hg_part_of_key(keys[i])] != self || numbers[i] >= limit))
		atomicExch(wrong, 1u);
}

#endif /* HG_CUDA_PARTITION_KERNELS_H */
