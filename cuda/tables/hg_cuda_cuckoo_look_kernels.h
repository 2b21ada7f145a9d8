/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_look_kernels.h
 *	  The kernels that look up and erase in cuckoo tables: hg_cuda_cuckoo.cu says when each runs.
 *
 * Word is uint32_t or uint64_t, a mixed word; ROWS says whether slots have rows.  A slot's cell is
 *
 *	words of 4 bytes, with rows		the word in the high half, the row in the low half
 *	words of 8 bytes, with rows		the word; the row is in an array of its own
 *	sets							the word
 *
 * A slot of the first kind is empty if its row is HG_CUDA_EMPTY_ROW, the others if they have the
 * word markers[0].  The key with this word is never in a set's slots (hg_cuda_table.h); other
 * tables have it beside the slots.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_LOOK_KERNELS_H
#define HG_CUDA_CUCKOO_LOOK_KERNELS_H

#include "../kernels/hg_cuda_tuning.h"
#include "hg_cuda_cuckoo.h"

/* The type of a cell. */
template <typename Word, bool ROWS> struct HgCuckooCell
{
	typedef Word Type;
	static constexpr bool PACKED = false;
};

template <> struct HgCuckooCell<uint32_t, true>
{
	typedef uint64_t Type;
	static constexpr bool PACKED = true;
};

/* Keys that a thread looks up, and threads of a block. */
constexpr int HG_CUCKOO_ITEMS = 4;
constexpr int HG_CUCKOO_LOOK_THREADS = 256;

/* ------------------------------------------------------------------------
 * Looking up
 * ------------------------------------------------------------------------ */

/* Reads the cells of a bucket. */
template <typename Cell>
__device__ __forceinline__ void
hg_cuckoo_load(const Cell *cells, Cell found[HG_CUCKOO_BUCKET])
{
	if (sizeof(Cell) == 8)
	{
		const ulonglong2 *pairs = reinterpret_cast<const ulonglong2 *>(cells);
		const ulonglong2 low = pairs[0];
		const ulonglong2 high = pairs[1];

		found[0] = (Cell) low.x;
		found[1] = (Cell) low.y;
		found[2] = (Cell) high.x;
		found[3] = (Cell) high.y;
	}
	else
	{
		const uint4 four = *reinterpret_cast<const uint4 *>(cells);

		found[0] = (Cell) four.x;
		found[1] = (Cell) four.y;
		found[2] = (Cell) four.z;
		found[3] = (Cell) four.w;
	}
}

/*
 * Returns the index of a word among the cells of a bucket, or HG_CUCKOO_BUCKET.  *full becomes
 * whether no cell is empty.
 */
template <typename Word, bool ROWS>
__device__ __forceinline__ uint32_t
hg_cuckoo_among(const typename HgCuckooCell<Word, ROWS>::Type *cells, Word word, Word marker,
				bool *full)
{
	uint32_t at = HG_CUCKOO_BUCKET;

	*full = true;
#pragma unroll
	for (uint32_t k = 0; k < HG_CUCKOO_BUCKET; k++)
	{
		const bool empty = HgCuckooCell<Word, ROWS>::PACKED
							   ? (uint32_t) cells[k] == HG_CUDA_EMPTY_ROW
							   : (Word) cells[k] == marker;
		const Word there =
			HgCuckooCell<Word, ROWS>::PACKED ? (Word) ((uint64_t) cells[k] >> 32) : (Word) cells[k];

		if (empty)
			*full = false;
		else if (there == word)
			at = k;
	}
	return at;
}

/* Returns the first slot of the bucket that a function chooses for a word. */
template <typename Word>
__device__ __forceinline__ uint64_t
hg_cuckoo_slot(const HgCuckooHashing &hashing, uint32_t function, Word word)
{
	const uint64_t bin = hg_word_vertex(word, 32 - hashing.bins_log2);

	return (bin * hashing.buckets + hg_cuckoo_bucket(hashing, function, word)) * HG_CUCKOO_BUCKET;
}

/*
 * Returns the slot of a word, or UINT64_MAX.  The buckets of functions before from are not
 * searched.  *row becomes the row of the slot, 0 in a set, or HG_NO_ROW.
 */
template <typename Word, bool ROWS>
__device__ __forceinline__ uint64_t
hg_cuckoo_look(const HgCuckooHashing &hashing, const HgCuckooSlots &slots, uint32_t from, Word word,
			   uint32_t *row)
{
	typedef typename HgCuckooCell<Word, ROWS>::Type Cell;

	for (uint32_t f = from; f < hashing.functions; f++)
	{
		const uint64_t slot = hg_cuckoo_slot(hashing, f, word);
		Cell cells[HG_CUCKOO_BUCKET];
		bool full;
		uint32_t at;

		hg_cuckoo_load(static_cast<const Cell *>(slots.cells) + slot, cells);
		at = hg_cuckoo_among<Word, ROWS>(cells, word, static_cast<Word>(hashing.markers[0]), &full);
		if (at < HG_CUCKOO_BUCKET)
		{
			*row = !ROWS ? 0 : sizeof(Word) == 8 ? slots.rows[slot + at] : 0;
#pragma unroll
			for (uint32_t k = 0; k < HG_CUCKOO_BUCKET; k++)
				if (HgCuckooCell<Word, ROWS>::PACKED && at == k)
					*row = (uint32_t) cells[k];
			return slot + at;
		}
		if (!full && hashing.stops)
			break;
	}
	*row = HG_NO_ROW;
	return UINT64_MAX;
}

/* Returns the row of a key, from the slots or beside, or HG_NO_ROW. */
template <typename Word, bool ROWS>
__device__ __forceinline__ uint32_t
hg_cuckoo_row(const HgCuckooHashing &hashing, const HgCuckooSlots &slots, Word word)
{
	uint32_t row;

	if (ROWS && sizeof(Word) == 8 && word == static_cast<Word>(hashing.markers[0]))
		return slots.totals->beside;
	hg_cuckoo_look<Word, ROWS>(hashing, slots, 0, word, &row);
	return row;
}

/* What a lookup writes: the row; 1 or 0; or the row to its position among matches. */
enum HgCuckooAnswer
{
	HG_CUCKOO_ROWS,
	HG_CUCKOO_COUNTS,
	HG_CUCKOO_MATCHES
};

/* Looks up keys first .. end - 1; see HgCuckooAnswer and hg_cuda_cuckoo_find. */
template <typename Word, bool ROWS, HgCuckooAnswer ANSWER>
__global__ void
__launch_bounds__(HG_CUCKOO_LOOK_THREADS)
	hg_cuckoo_find_kernel(const __grid_constant__ HgCuckooHashing hashing, HgCuckooSlots slots,
						  const Word *keys, uint64_t first, uint64_t end, const uint64_t *offsets,
						  uint32_t *answers)
{
	typedef typename HgCuckooCell<Word, ROWS>::Type Cell;
	const uint64_t begin =
		first + (uint64_t) blockIdx.x * (HG_CUCKOO_LOOK_THREADS * HG_CUCKOO_ITEMS) + threadIdx.x;
	const Word marker = static_cast<Word>(hashing.markers[0]);
	Word word[HG_CUCKOO_ITEMS];
	Cell cells[HG_CUCKOO_ITEMS][HG_CUCKOO_BUCKET];

	/* the first buckets of all keys are read at the same time */
#pragma unroll
	for (int k = 0; k < HG_CUCKOO_ITEMS; k++)
	{
		const uint64_t i = begin + k * HG_CUCKOO_LOOK_THREADS;

		word[k] = i < end ? keys[i] : 0;
	}
#pragma unroll
	for (int k = 0; k < HG_CUCKOO_ITEMS; k++)
	{
		word[k] = hg_cuckoo_word(hashing, word[k]);
		if (begin + k * HG_CUCKOO_LOOK_THREADS < end)
			hg_cuckoo_load(static_cast<const Cell *>(slots.cells) +
							   hg_cuckoo_slot(hashing, 0, word[k]),
						   cells[k]);
	}
#pragma unroll
	for (int k = 0; k < HG_CUCKOO_ITEMS; k++)
	{
		const uint64_t i = begin + k * HG_CUCKOO_LOOK_THREADS;
		uint32_t row = HG_NO_ROW;
		bool full;
		uint32_t at;

		if (i >= end)
			continue;
		at = hg_cuckoo_among<Word, ROWS>(cells[k], word[k], marker, &full);
		if (at < HG_CUCKOO_BUCKET)
		{
			row = 0;
			if (ROWS && sizeof(Word) == 8 && ANSWER != HG_CUCKOO_COUNTS)
				row = slots.rows[hg_cuckoo_slot(hashing, 0, word[k]) + at];
#pragma unroll
			for (uint32_t j = 0; j < HG_CUCKOO_BUCKET; j++)
				if (HgCuckooCell<Word, ROWS>::PACKED && at == j)
					row = (uint32_t) cells[k][j];
		}
		else if (ROWS && sizeof(Word) == 8 && word[k] == marker)
			row = slots.totals->beside;
		else if (full || !hashing.stops)
			hg_cuckoo_look<Word, ROWS>(hashing, slots, 1, word[k], &row);
		if (ANSWER == HG_CUCKOO_ROWS)
			answers[i] = row;
		else if (ANSWER == HG_CUCKOO_COUNTS)
			answers[i] = row != HG_NO_ROW;
		else if (row != HG_NO_ROW)
			answers[offsets[i] - offsets[0]] = row;
	}
}

/*
 * Adds the number of keys first .. end - 1 that are not in the table to totals->cursor, and writes
 * them to keys_out, unless it is NULL.
 */
template <typename Word, bool ROWS>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_cuckoo_absent_kernel(const __grid_constant__ HgCuckooHashing hashing, HgCuckooSlots slots,
							const Word *keys, uint64_t first, uint64_t end, Word *keys_out)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const Word key = i < end ? keys[i] : 0;
	const bool absent = i < end && hg_cuckoo_row<Word, ROWS>(
									   hashing, slots, hg_cuckoo_word(hashing, key)) == HG_NO_ROW;
	const uint32_t all = __ballot_sync(UINT32_MAX, absent);
	const uint32_t lane = threadIdx.x % 32;
	uint32_t position = 0;

	if (lane == 0 && all != 0)
		position = atomicAdd(&slots.totals->cursor, (uint32_t) __popc(all));
	position = __shfl_sync(UINT32_MAX, position, 0) + __popc(all & ((1u << lane) - 1));
	if (absent && keys_out != nullptr)
		keys_out[position] = key;
}

/* Erases keys: all by_key, else those that have the named row.  Of equal keys one is counted. */
template <typename Word, bool ROWS>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_cuckoo_erase_kernel(const __grid_constant__ HgCuckooHashing hashing, HgCuckooSlots slots,
						   const Word *keys, const uint32_t *rows, uint32_t first_row, bool by_key,
						   uint64_t first, uint64_t end)
{
	typedef typename HgCuckooCell<Word, ROWS>::Type Cell;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const Word marker = static_cast<Word>(hashing.markers[0]);
	bool erased = false;

	if (i < end)
	{
		const Word word = hg_cuckoo_word(hashing, keys[i]);
		const uint32_t wanted = !ROWS || by_key	  ? 0
								: rows == nullptr ? first_row + (uint32_t) i
												  : rows[i];

		if (ROWS && sizeof(Word) == 8 && word == marker)
		{
			const uint32_t row = slots.totals->beside;

			/* the host counts this row by the change of beside */
			if (by_key || row == wanted)
				atomicCAS(&slots.totals->beside, row, HG_NO_ROW);
		}
		else
		{
			uint32_t row;
			const uint64_t slot = hg_cuckoo_look<Word, ROWS>(hashing, slots, 0, word, &row);

			if (slot != UINT64_MAX && (!ROWS || by_key || row == wanted))
			{
				Cell *cell = static_cast<Cell *>(slots.cells) + slot;
				const Cell there = HgCuckooCell<Word, ROWS>::PACKED
									   ? (Cell) ((uint64_t) word << 32 | row)
									   : (Cell) word;
				const Cell empty =
					HgCuckooCell<Word, ROWS>::PACKED ? (Cell) UINT64_MAX : (Cell) marker;

				if constexpr (sizeof(Cell) == 8)
					erased =
						atomicCAS(reinterpret_cast<unsigned long long *>(cell),
								  (unsigned long long) there, (unsigned long long) empty) == there;
				else
					erased = atomicCAS(cell, there, empty) == there;
			}
		}
	}

	const uint32_t all = __ballot_sync(UINT32_MAX, erased);

	if (threadIdx.x % 32 == 0 && all != 0)
		atomicAdd(&slots.totals->rows, (unsigned long long) __popc(all));
}

/* ------------------------------------------------------------------------
 * Reading all
 * ------------------------------------------------------------------------ */

/*
 * Copies the keys and rows of slots first .. end - 1, to the next positions by totals->cursor; with
 * by_row each key to the index that its row says.  rows may be NULL.  inverse is that of
 * key_factor.
 */
template <typename Word, bool ROWS>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_cuckoo_export_kernel(const __grid_constant__ HgCuckooHashing hashing, uint64_t inverse,
							HgCuckooSlots slots, uint64_t first, uint64_t end, bool by_row,
							Word *keys, uint32_t *rows)
{
	typedef typename HgCuckooCell<Word, ROWS>::Type Cell;
	constexpr bool PACKED = HgCuckooCell<Word, ROWS>::PACKED;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const Word marker = static_cast<Word>(hashing.markers[0]);
	const Cell cell = i < end ? static_cast<const Cell *>(slots.cells)[i] : 0;
	const bool taken =
		i < end && (PACKED ? (uint32_t) cell != HG_CUDA_EMPTY_ROW : (Word) cell != marker);
	const uint32_t all = __ballot_sync(UINT32_MAX, taken);
	const uint32_t lane = threadIdx.x % 32;
	uint32_t position = 0;
	uint32_t row = 0;

	if (lane == 0 && all != 0 && !by_row)
		position = atomicAdd(&slots.totals->cursor, (uint32_t) __popc(all));
	position = __shfl_sync(UINT32_MAX, position, 0) + __popc(all & ((1u << lane) - 1));
	if (!taken)
		return;
	if (ROWS)
		row = PACKED ? (uint32_t) cell : slots.rows[i];
	if (by_row)
		position = row;
	keys[position] =
		hg_cuckoo_key(hashing, inverse, PACKED ? (Word) ((uint64_t) cell >> 32) : (Word) cell);
	if (rows != nullptr)
		rows[position] = row;
}

/* keys_out[i] = spread keys[i], or with FROM_WORDS the key of word keys[i]; may be one array. */
template <typename Word, bool FROM_WORDS>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_cuckoo_spread_kernel(const __grid_constant__ HgCuckooHashing hashing, uint64_t inverse,
							const Word *keys, uint64_t first, uint64_t end, Word *keys_out)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < end)
		keys_out[i] = FROM_WORDS ? hg_cuckoo_key(hashing, inverse, keys[i])
								 : hg_cuckoo_spread(hashing, keys[i]);
}

#endif /* HG_CUDA_CUCKOO_LOOK_KERNELS_H */
