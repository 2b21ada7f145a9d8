/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_static_kernels.h
 *	  The kernels that look up in static HashGraphs: hg_cuda_table_static.cu says when each runs.
 *
 * Word is uint32_t or uint64_t, a mixed word.  FORM is the HgStaticForm of slots, FORMAT the
 * HgTableKind, which decides where the slots of a list are.  Rows and slots are fewer than 2^32.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_STATIC_KERNELS_H
#define HG_CUDA_TABLE_STATIC_KERNELS_H

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "../kernels/hg_cuda_tuning.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_table_static.h"

constexpr int HG_STATIC_THREADS = HG_STREAM_THREADS;

/* ------------------------------------------------------------------------
 * Slots
 * ------------------------------------------------------------------------ */

/* A word and its row, for one access.  With words of 8 bytes, 4 of 16 bytes are unused. */
template <typename Word> struct HgStaticPair;

template <> struct __align__(8) HgStaticPair<uint32_t>
{
	uint32_t word;
	uint32_t row;
};

template <> struct __align__(16) HgStaticPair<uint64_t>
{
	uint64_t word;
	uint32_t row;
	uint32_t unused;
};

/* A slot that was read. */
template <typename Word, int FORM> struct HgStaticSlot
{
	Word word;
	uint32_t row; /* HG_FORM_AOS: the row; row_of() returns it for all forms */

	/* Reads slot i. */
	__device__ __forceinline__
	HgStaticSlot(const HgStaticSlots &slots, uint32_t i)
	{
		row = 0;
		if (FORM == HG_FORM_AOS)
		{
			const HgStaticPair<Word> pair = static_cast<const HgStaticPair<Word> *>(slots.words)[i];

			word = pair.word;
			row = pair.row;
		}
		else
			word = static_cast<const Word *>(slots.words)[i];
	}

	/* Returns the row of this slot, number i; HG_CUDA_EMPTY_ROW if it is empty. */
	__device__ __forceinline__ uint32_t
	row_of(const HgStaticSlots &slots, uint32_t i) const
	{
		if (FORM == HG_FORM_SET)
			return word == HG_CUDA_EMPTY_WORD<Word> ? HG_CUDA_EMPTY_ROW : 0;
		return FORM == HG_FORM_AOS ? row : slots.rows[i];
	}
};

/* Writes slot i. */
template <typename Word, int FORM>
__device__ __forceinline__ void
hg_static_put(const HgStaticSlots &slots, uint32_t i, Word word, uint32_t row)
{
	if (FORM == HG_FORM_AOS)
	{
		HgStaticPair<Word> pair = {};

		pair.word = word;
		pair.row = row;
		static_cast<HgStaticPair<Word> *>(slots.words)[i] = pair;
		return;
	}
	static_cast<Word *>(slots.words)[i] = word;
	if (FORM == HG_FORM_SOA)
		slots.rows[i] = row;
}

/* ------------------------------------------------------------------------
 * Lists
 * ------------------------------------------------------------------------ */

/* Sets the list of a vertex: slots *from .. *end - 1. */
template <int FORMAT>
__host__ __device__ __forceinline__ void
hg_static_list(const HgStaticLists &lists, uint32_t vertex, uint32_t *from, uint32_t *end)
{
	if (FORMAT == HG_TABLE_CSR)
	{
		*from = lists.starts[vertex];
		*end = lists.starts[vertex + 1];
	}
	else if (FORMAT == HG_TABLE_ELLPACK)
	{
		*from = vertex * lists.length;
		*end = *from + lists.length;
	}
	else
	{
		const uint32_t slice = vertex >> lists.slice_log2;
		const uint32_t start = lists.starts[slice];
		const uint32_t length = (lists.starts[slice + 1] - start) >> lists.slice_log2;

		*from = start + (vertex & ((1u << lists.slice_log2) - 1)) * length;
		*end = *from + length;
	}
}

/* Advances *from towards the first slot of a list whose word is not below word, but not beyond. */
template <typename Word, int FORM>
__device__ __forceinline__ void
hg_static_narrow(const HgStaticSlots &slots, uint32_t *from, uint32_t end, Word word)
{
	while (end - *from > HG_LIST_WALKED)
	{
		const uint32_t middle = *from + (end - *from) / 2;

		if (HgStaticSlot<Word, FORM>(slots, middle).word < word)
			*from = middle + 1;
		else
			end = middle;
	}
}

/* Returns the first slot of a list whose word is not below word, or end. */
template <typename Word, int FORM>
__device__ __forceinline__ uint32_t
hg_static_lower(const HgStaticSlots &slots, uint32_t from, uint32_t end, Word word)
{
	hg_static_narrow<Word, FORM>(slots, &from, end, word);
	while (from < end && HgStaticSlot<Word, FORM>(slots, from).word < word)
		from++;
	return from;
}

/* Returns the first slot from from on, where word begins, with another word or none; or end. */
template <typename Word, int FORM>
__device__ __forceinline__ uint32_t
hg_static_upper(const HgStaticSlots &slots, uint32_t from, uint32_t end, Word word)
{
	while (from < end)
	{
		/* most often a key has one row or none */
		const uint32_t at = end - from > HG_LIST_WALKED ? from + (end - from) / 2 : from;
		const HgStaticSlot<Word, FORM> slot(slots, at);

		if (slot.word == word && slot.row_of(slots, at) != HG_CUDA_EMPTY_ROW)
			from = at + 1;
		else
			end = at;
	}
	return from;
}

/* Sets rows[i] to a row of keys[i], or HG_NO_ROW, for keys first .. n - 1. */
template <typename Word, int FORM, int FORMAT>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_find_kernel(HgStaticLists lists, const Word *keys, uint64_t first, uint64_t n,
						  uint32_t *rows)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x;
	uint32_t row = HG_NO_ROW;
	uint32_t from;
	uint32_t end;

	if (i >= n)
		return;

	const Word word = hg_word_mix(keys[i]);

	hg_static_list<FORMAT>(lists, hg_word_vertex(word, 32 - lists.log2), &from, &end);
	hg_static_narrow<Word, FORM>(lists.slots, &from, end, word);
	for (; from < end; from++)
	{
		const HgStaticSlot<Word, FORM> slot(lists.slots, from);

		/* an empty slot has no row, and the greatest word */
		if (slot.word == word)
			row = slot.row_of(lists.slots, from);
		if (slot.word >= word)
			break;
	}
	rows[i] = row;
}

/* Sets answers[i] to the number of rows of keys[i], or, with LOCATE, to the first slot of them. */
template <typename Word, int FORM, int FORMAT, bool LOCATE>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_count_kernel(HgStaticLists lists, const Word *keys, uint64_t first, uint64_t n,
						   uint32_t *answers)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x;
	uint32_t from;
	uint32_t end;

	if (i >= n)
		return;

	const Word word = hg_word_mix(keys[i]);

	hg_static_list<FORMAT>(lists, hg_word_vertex(word, 32 - lists.log2), &from, &end);
	from = hg_static_lower<Word, FORM>(lists.slots, from, end, word);
	answers[i] = LOCATE ? from : hg_static_upper<Word, FORM>(lists.slots, from, end, word) - from;
}

/* Writes the rows of key i, from slot begins[i] on, to rows[offsets[i] - offsets[0]]; n keys. */
template <typename Word, int FORM>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_match_kernel(HgStaticSlots slots, const uint32_t *begins, uint32_t n,
						   const uint64_t *offsets, uint32_t *rows)
{
	const uint64_t base = offsets[0];
	const uint64_t pairs = offsets[n] - base;
	const uint64_t step = (uint64_t) gridDim.x * HG_STATIC_THREADS;

	for (uint64_t i = (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x; i < pairs; i += step)
	{
		const uint32_t key = hg_search_owner(offsets, 0, n - 1, base + i);
		const uint32_t at = begins[key] + (uint32_t) (i - (offsets[key] - base));

		rows[i] = HgStaticSlot<Word, FORM>(slots, at).row_of(slots, at);
	}
}

/*
 * The kernels that build static HashGraphs.
 *
 * hg_cuda_table_static.cu and hg_cuda_table_static.cu say when each runs.
 * Word, FORM and FORMAT are those of hg_cuda_table_static_kernels.h.
 */

/* Slots or edges of a block, in kernels with several of them a thread. */
constexpr uint32_t HG_STATIC_TILE = HG_STATIC_THREADS * 8;

/* Slots that a block reads, lists that it measures, and padded slots that a warp writes. */
constexpr uint32_t HG_STATIC_EXTRACT_TILE = HG_STATIC_THREADS * 4;
constexpr uint32_t HG_STATIC_SIZES_TILE = HG_STATIC_THREADS * 16;
constexpr uint32_t HG_STATIC_PAD_SLOTS = 2048;

/* Slots of a lane whose edges are read at the same time. */
constexpr uint32_t HG_STATIC_PAD_STEPS = 4;

/* ------------------------------------------------------------------------
 * Erased rows
 * ------------------------------------------------------------------------ */

/*
 * The rows that a batch erases, as a hash table of their indexes in the batch.  first_row: row of
 * index 0 if rows is NULL.  by_key: a row is erased with all rows of its key.
 */
struct HgStaticErased
{
	const void *keys;
	const uint32_t *rows;
	uint32_t first_row;
	bool by_key;
	uint32_t *slots; /* [2^log2] at least twice the rows; HG_CUDA_EMPTY_ROW; NULL: no rows */
	uint32_t log2;
};

/* Returns true if row i of the batch erases a word and row. */
template <typename Word>
__device__ __forceinline__ bool
hg_static_erases(const HgStaticErased &erased, uint32_t i, Word word, uint32_t row)
{
	return hg_word_mix(static_cast<const Word *>(erased.keys)[i]) == word &&
		   (erased.by_key ||
			(erased.rows != nullptr ? erased.rows[i] : erased.first_row + i) == row);
}

/* Returns the slot at which the search for a row begins. */
template <typename Word>
__device__ __forceinline__ uint64_t
hg_static_erased_slot(const HgStaticErased &erased, Word word, uint32_t row)
{
	const uint64_t pair = (uint64_t) word + ((uint64_t) row << 32 | row);

	return hg_mix64(erased.by_key ? (uint64_t) word : pair) & ((UINT64_C(1) << erased.log2) - 1);
}

/*
 * Enters rows first .. n - 1 of the batch into the hash table; of equal rows only one.  The caller
 * has set all slots to HG_CUDA_EMPTY_ROW.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_erase_kernel(HgStaticErased erased, uint64_t first, uint64_t n)
{
	const uint64_t mask = (UINT64_C(1) << erased.log2) - 1;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x;

	if (i >= n)
		return;

	const Word word = hg_word_mix(static_cast<const Word *>(erased.keys)[i]);
	const uint32_t row = erased.rows != nullptr ? erased.rows[i] : erased.first_row + (uint32_t) i;
	uint64_t at = hg_static_erased_slot(erased, word, row);

	for (;; at = (at + 1) & mask)
	{
		uint32_t there = *static_cast<volatile uint32_t *>(&erased.slots[at]);

		if (there == HG_CUDA_EMPTY_ROW)
			there = atomicCAS(&erased.slots[at], HG_CUDA_EMPTY_ROW, (uint32_t) i);
		if (there == HG_CUDA_EMPTY_ROW || hg_static_erases(erased, there, word, row))
			return;
	}
}

/* Returns true if the batch erases a word and row. */
template <typename Word>
__device__ __forceinline__ bool
hg_static_is_erased(const HgStaticErased &erased, Word word, uint32_t row)
{
	const uint64_t mask = (UINT64_C(1) << erased.log2) - 1;
	uint64_t at = hg_static_erased_slot(erased, word, row);

	for (;; at = (at + 1) & mask)
	{
		const uint32_t there = erased.slots[at];

		if (there == HG_CUDA_EMPTY_ROW)
			return false;
		if (hg_static_erases(erased, there, word, row))
			return true;
	}
}

/*
 * Copies the keys, and the rows unless rows is NULL, of slots first .. n - 1 that are neither empty
 * nor erased; the order is arbitrary.  Each block reads HG_STATIC_EXTRACT_TILE slots.  *count must
 * be 0 before the first launch and becomes the number copied.
 */
template <typename Word, int FORM>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_extract_kernel(HgStaticSlots slots, uint64_t first, uint64_t n, HgStaticErased erased,
							 Word *keys, uint32_t *rows, uint32_t *count)
{
	constexpr uint32_t ITEMS = HG_STATIC_EXTRACT_TILE / HG_STATIC_THREADS;
	__shared__ uint32_t warps[HG_STATIC_THREADS / 32]; /* rows of each, then their position */
	const uint64_t start = first + (uint64_t) blockIdx.x * HG_STATIC_EXTRACT_TILE + threadIdx.x;
	const uint32_t lane = threadIdx.x % 32;
	uint32_t item_rows[ITEMS];
	Word words[ITEMS];
	uint32_t lives[ITEMS];
	uint32_t of_warp = 0;

#pragma unroll
	for (uint32_t k = 0; k < ITEMS; k++)
	{
		const uint64_t i = start + k * HG_STATIC_THREADS;

		item_rows[k] = HG_CUDA_EMPTY_ROW;
		words[k] = 0;
		if (i < n)
		{
			const HgStaticSlot<Word, FORM> slot(slots, (uint32_t) i);

			words[k] = slot.word;
			item_rows[k] = slot.row_of(slots, (uint32_t) i);
		}
	}
#pragma unroll
	for (uint32_t k = 0; k < ITEMS; k++)
	{
		if (item_rows[k] != HG_CUDA_EMPTY_ROW && erased.slots != nullptr &&
			hg_static_is_erased(erased, words[k], item_rows[k]))
			item_rows[k] = HG_CUDA_EMPTY_ROW;
		__syncwarp();
		lives[k] = __ballot_sync(UINT32_MAX, item_rows[k] != HG_CUDA_EMPTY_ROW);
		of_warp += (uint32_t) __popc(lives[k]);
	}
	if (lane == 0)
		warps[threadIdx.x / 32] = of_warp;
	__syncthreads();
	/* the counter is shared by all blocks, so each block adds once */
	if (threadIdx.x == 0)
	{
		uint32_t all = 0;

		for (int warp = 0; warp < HG_STATIC_THREADS / 32; warp++)
			all += warps[warp];

		uint32_t position = all > 0 ? atomicAdd(count, all) : 0;

		for (int warp = 0; warp < HG_STATIC_THREADS / 32; warp++)
		{
			const uint32_t rows_of_warp = warps[warp];

			warps[warp] = position;
			position += rows_of_warp;
		}
	}
	__syncthreads();

	uint32_t position = warps[threadIdx.x / 32];

#pragma unroll
	for (uint32_t k = 0; k < ITEMS; k++)
	{
		if (item_rows[k] != HG_CUDA_EMPTY_ROW)
		{
			const uint32_t to = position + __popc(lives[k] & ((1u << lane) - 1));

			keys[to] = hg_word_unmix(words[k]);
			if (rows != nullptr)
				rows[to] = item_rows[k];
		}
		position += (uint32_t) __popc(lives[k]);
	}
}

/* ------------------------------------------------------------------------
 * Each key once
 * ------------------------------------------------------------------------ */

/*
 * Returns true if edge i is kept.  Words are sorted; the first edge of each word is kept.  A set
 * drops the words that mark its slots.
 */
template <typename Word>
__device__ __forceinline__ bool
hg_static_stays(const Word *words, uint32_t i, bool is_set)
{
	return (i == 0 || words[i - 1] != words[i]) &&
		   !(is_set && words[i] >= HG_CUDA_DELETED_WORD<Word>);
}

/* counts[tile] = kept edges of a tile of HG_STATIC_TILE; one block for each tile, from first on. */
template <typename Word>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_unique_kernel(const Word *words, uint32_t n, uint32_t first, bool is_set,
							uint32_t *counts)
{
	typedef cub::BlockReduce<uint32_t, HG_STATIC_THREADS> Reduce;
	__shared__ typename Reduce::TempStorage storage;
	const uint32_t tile = first + blockIdx.x;
	const uint64_t start = (uint64_t) tile * HG_STATIC_TILE;
	uint32_t stay = 0;

	for (uint32_t k = threadIdx.x; k < HG_STATIC_TILE; k += HG_STATIC_THREADS)
		if (start + k < n)
			stay += hg_static_stays(words, (uint32_t) (start + k), is_set);
	stay = Reduce(storage).Sum(stay);
	if (threadIdx.x == 0)
		counts[tile] = stay;
}

/*
 * Moves the kept edges of a tile to positions[tile] and following.  If edge_rows is not NULL, the
 * least row of each word is kept.  The caller has filled rows_out with UINT32_MAX.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_compress_kernel(const Word *words, const uint32_t *edge_rows, uint32_t n,
							  uint32_t first, bool is_set, const uint32_t *positions,
							  Word *words_out, uint32_t *rows_out)
{
	typedef cub::BlockScan<uint32_t, HG_STATIC_THREADS> Scan;
	__shared__ typename Scan::TempStorage storage;
	const uint32_t tile = first + blockIdx.x;
	const uint64_t start = (uint64_t) tile * HG_STATIC_TILE;
	const uint32_t lane = threadIdx.x % 32;
	uint32_t base = positions[tile];

	for (uint32_t k = 0; k < HG_STATIC_TILE; k += HG_STATIC_THREADS)
	{
		const uint64_t i = start + k + threadIdx.x;
		const bool stays = i < n && hg_static_stays(words, (uint32_t) i, is_set);
		uint32_t before;
		uint32_t all;

		Scan(storage).ExclusiveSum(stays ? 1u : 0u, before, all);
		__syncthreads(); /* the storage is used again */
		if (stays)
			words_out[base + before] = words[i];
		if (edge_rows != nullptr)
		{
			/* the last edge that stays up to here has this word */
			const uint32_t active = __ballot_sync(UINT32_MAX, i < n);

			if (i < n)
			{
				const uint32_t position = base + before + (stays ? 1 : 0) - 1;
				const uint32_t peers = __match_any_sync(active, position);
				uint32_t least = edge_rows[i];

				for (uint32_t others = peers; others != 0; others &= others - 1)
				{
					const uint32_t other =
						__shfl_sync(peers, edge_rows[i], __ffs((int) others) - 1);

					least = other < least ? other : least;
				}
				if ((int) lane == __ffs((int) peers) - 1)
					atomicMin(&rows_out[position], least);
			}
		}
		base += all;
	}
}

/* ------------------------------------------------------------------------
 * Formats
 * ------------------------------------------------------------------------ */

/* Maps numbers of edges to rows: rows[number], or first + number if rows is NULL. */
struct HgStaticRows
{
	const uint32_t *rows;
	uint32_t first;
};

/* Returns the row of a number. */
__device__ __forceinline__ uint32_t
hg_static_row(const HgStaticRows &rows, uint32_t number)
{
	return rows.rows != nullptr ? rows.rows[number] : rows.first + number;
}

/* Writes slots of csr from edges first .. n - 1; edges and slots may be the same arrays. */
template <typename Word, int FORM>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_fill_kernel(const Word *words, const uint32_t *edge_rows, HgStaticRows rows,
						  uint64_t first, uint64_t n, HgStaticSlots slots)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STATIC_THREADS + threadIdx.x;

	if (i < n)
		hg_static_put<Word, FORM>(slots, (uint32_t) i, words[i], hg_static_row(rows, edge_rows[i]));
}

/* The sizes of all lists. */
struct HgStaticSizes
{
	unsigned long long padded; /* slots if each slice has the length of its longest list */
	uint32_t longest;
	uint32_t empty; /* lists without a row */
};

/*
 * Measures the lists of csr from first on, a multiple of HG_STATIC_SIZES_TILE; each block measures
 * HG_STATIC_SIZES_TILE lists.  Consecutive threads measure consecutive lists, so the lists of a
 * slice are in one warp.  Unless slots is NULL, slots[slice] becomes the slots of the padded slice.
 * The counters are shared by all blocks, so each block adds once.
 */
static __global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_sizes_kernel(const uint32_t *offsets, uint64_t first, uint32_t log2,
						   uint32_t slice_log2, uint32_t *slots, HgStaticSizes *sizes)
{
	typedef cub::BlockReduce<uint32_t, HG_STATIC_THREADS> Reduce;
	typedef cub::BlockReduce<unsigned long long, HG_STATIC_THREADS> ReduceLong;
	__shared__ union
	{
		typename Reduce::TempStorage numbers;
		typename ReduceLong::TempStorage sums;
	} storage;
	const uint64_t vertices = UINT64_C(1) << log2;
	const uint64_t start = first + (uint64_t) blockIdx.x * HG_STATIC_SIZES_TILE + threadIdx.x;
	unsigned long long padded = 0;
	uint32_t longest = 0;
	uint32_t empty = 0;

	for (uint32_t k = 0; k < HG_STATIC_SIZES_TILE; k += HG_STATIC_THREADS)
	{
		const uint64_t v = start + k;
		const uint32_t length = v < vertices ? offsets[v + 1] - offsets[v] : 0;

		empty += v < vertices && length == 0;
		longest = length > longest ? length : longest;
		if (slots != nullptr)
		{
			uint32_t most = length;

#pragma unroll
			for (int step = 16; step > 0; step /= 2)
			{
				const uint32_t other = __shfl_xor_sync(UINT32_MAX, most, step);

				most = other > most ? other : most;
			}
			if (threadIdx.x % 32 == 0 && v < vertices)
			{
				slots[v >> slice_log2] = most << slice_log2;
				padded += (unsigned long long) most << slice_log2;
			}
		}
	}
	longest = Reduce(storage.numbers)
				  .Reduce(longest, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
	__syncthreads(); /* the storage is used again */
	empty = Reduce(storage.numbers).Sum(empty);
	__syncthreads();
	if (slots != nullptr)
		padded = ReduceLong(storage.sums).Sum(padded);
	if (threadIdx.x == 0)
	{
		atomicMax(&sizes->longest, longest);
		atomicAdd(&sizes->empty, empty);
		if (slots != nullptr)
			atomicAdd(&sizes->padded, padded);
	}
}

/* Writes slots at .. end - 1 of lists padded to one length, the first of which is at base. */
template <typename Word, int FORM>
__device__ __forceinline__ void
hg_static_pad_slice(const HgStaticSlots &slots, const uint32_t *offsets, const Word *words,
					const uint32_t *edge_rows, const HgStaticRows &rows, uint64_t list,
					uint32_t lists, uint32_t length, uint64_t base, uint64_t at, uint64_t end)
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t lists_on = 32 / length; /* lists and slots of a step of all lanes */
	const uint32_t slots_on = 32 % length;
	const uint32_t begin = offsets[list + (lane < lists ? lane : lists)];
	const uint32_t behind = offsets[list + lists];
	const uint32_t from = (uint32_t) (at - base) + lane;
	uint32_t mine = from / length; /* index of the list */
	uint32_t inside = from % length;

	for (; at < end; at += 32 * HG_STATIC_PAD_STEPS)
	{
		Word word[HG_STATIC_PAD_STEPS];
		uint32_t row[HG_STATIC_PAD_STEPS];

		/* edges of several steps are read at the same time */
#pragma unroll
		for (uint32_t k = 0; k < HG_STATIC_PAD_STEPS; k++)
		{
			const uint32_t first = __shfl_sync(UINT32_MAX, begin, mine);
			const uint32_t next = __shfl_sync(UINT32_MAX, begin, mine + 1);
			const uint32_t stop = mine < 31 ? next : behind;

			word[k] = HG_CUDA_EMPTY_WORD<Word>;
			row[k] = HG_CUDA_EMPTY_ROW;
			if (at + 32 * k + lane < end && inside < stop - first)
			{
				word[k] = words[first + inside];
				if (FORM != HG_FORM_SET)
					row[k] = edge_rows[first + inside];
			}
			mine += lists_on;
			inside += slots_on;
			if (inside >= length)
			{
				inside -= length;
				mine++;
			}
		}
#pragma unroll
		for (uint32_t k = 0; k < HG_STATIC_PAD_STEPS; k++)
			if (FORM != HG_FORM_SET && row[k] != HG_CUDA_EMPTY_ROW)
				row[k] = hg_static_row(rows, row[k]);
#pragma unroll
		for (uint32_t k = 0; k < HG_STATIC_PAD_STEPS; k++)
			if (at + 32 * k + lane < end)
				hg_static_put<Word, FORM>(slots, (uint32_t) (at + 32 * k + lane), word[k], row[k]);
	}
}

/*
 * Writes slots first .. n - 1 of padded lists, from the edges and offsets of csr; each warp writes
 * HG_STATIC_PAD_SLOTS slots.  It works slice by slice.  All lists of a slice have the same length,
 * and each lane holds the start of one list.
 */
template <typename Word, int FORM, int FORMAT>
__global__ void
__launch_bounds__(HG_STATIC_THREADS)
	hg_static_pad_kernel(HgStaticLists lists, const uint32_t *offsets, const Word *words,
						 const uint32_t *edge_rows, HgStaticRows rows, uint64_t first, uint64_t n)
{
	const uint64_t warp = (uint64_t) blockIdx.x * (HG_STATIC_THREADS / 32) + threadIdx.x / 32;
	const uint64_t end =
		first + (warp + 1) * HG_STATIC_PAD_SLOTS < n ? first + (warp + 1) * HG_STATIC_PAD_SLOTS : n;
	const uint32_t slices = 1u << (lists.log2 - lists.slice_log2);
	uint64_t at = first + warp * HG_STATIC_PAD_SLOTS;
	uint32_t slice;

	if (at >= end)
		return;
	if (FORMAT == HG_TABLE_SLICED_ELLPACK)
		slice = hg_search_owner(lists.starts, 0, slices - 1, (uint32_t) at);
	else
		slice = (uint32_t) (at / ((uint64_t) lists.length << lists.slice_log2));
	for (; at < end; slice++)
	{
		uint32_t length = lists.length;
		uint64_t base = (uint64_t) slice * length << lists.slice_log2;
		uint64_t next = base + ((uint64_t) length << lists.slice_log2);

		if (FORMAT == HG_TABLE_SLICED_ELLPACK)
		{
			base = lists.starts[slice];
			next = lists.starts[slice + 1];
			length = (uint32_t) (next - base) >> lists.slice_log2;
			if (length == 0)
				continue;
		}
		if (next > end)
			next = end;
		hg_static_pad_slice<Word, FORM>(lists.slots, offsets, words, edge_rows, rows,
										(uint64_t) slice << lists.slice_log2,
										1u << lists.slice_log2, length, base, at, next);
		at = next;
	}
}

#endif /* HG_CUDA_TABLE_STATIC_KERNELS_H */
