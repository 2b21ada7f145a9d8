/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_kernels.h
 *	  The kernels that build cuckoo tables, bin by bin: hg_cuda_cuckoo.cu says when each runs.
 *
 * Word is uint32_t or uint64_t, a mixed word; ROWS says whether slots have rows.
 * hg_cuda_cuckoo_kernels.h describes slots.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_KERNELS_H
#define HG_CUDA_CUCKOO_KERNELS_H

#include <cub/block/block_scan.cuh>

#include "../kernels/hg_cuda_partition_kernels.h"
#include "../kernels/hg_cuda_tuning.h"
#include "hg_cuda_cuckoo.h"

/*
 * The kernels that look up and erase in cuckoo tables: hg_cuda_cuckoo.cu says when each runs.
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
 */

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

/* Sizes of a block, which holds a bin in shared memory. */
constexpr int HG_CUCKOO_THREADS = 512;
constexpr uint32_t HG_CUCKOO_CLAIMS_LOG2 = 10;
constexpr uint32_t HG_CUCKOO_NONE = UINT32_MAX;

/*
 * Flag of a slot that a row has reserved before its entry exists; the other bits are the row's
 * index in the run.
 */
constexpr uint32_t HG_CUCKOO_ROW = UINT32_C(1) << 31;

/*
 * Rows of a run.  All rows of a run first try empty slots; only then are entries evicted for the
 * rest.
 */
constexpr uint32_t HG_CUCKOO_RUN = 6 * HG_CUCKOO_THREADS;

/* Rows that a thread looks up in a round before it waits for the others. */
constexpr int HG_CUCKOO_TRIES = 8;

/* Returns the shared memory of a slot; numbers: 1 for rows or counts, else 0. */
constexpr size_t
hg_cuckoo_slot_bytes(size_t word_bytes, int numbers)
{
	return word_bytes + sizeof(uint32_t) * (1 + numbers);
}

constexpr size_t HG_CUCKOO_CLAIM_BYTES =
	sizeof(uint16_t) * ((1 << HG_CUCKOO_CLAIMS_LOG2) + HG_CUCKOO_RUN);

/* Returns the blocks that should run on a multiprocessor at a time. */
constexpr int
hg_cuckoo_blocks(size_t word_bytes)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
	return word_bytes == 4 ? 2 : 1;
#else
	return word_bytes == 4 ? 3 : 2;
#endif
}

/* ------------------------------------------------------------------------
 * Shared memory that threads access without barriers
 *
 * Reads and writes of 2, 4 and 8 bytes are never torn.  A reader may see an old value; comments
 * say why that is right.  If one value depends on another, there is a fence between their writes.
 * racecheck reports accesses that are not atomic, but atomics take longer.  With HG_CUDA_RACECHECK
 * they are atomic, so that racecheck reports only real hazards.
 * ------------------------------------------------------------------------ */

#ifdef HG_CUDA_RACECHECK
template <size_t BYTES> struct HgCuckooAtomic;
template <> struct HgCuckooAtomic<2>
{
	typedef unsigned short Type;
};
template <> struct HgCuckooAtomic<4>
{
	typedef unsigned int Type;
};
template <> struct HgCuckooAtomic<8>
{
	typedef unsigned long long Type;
};
#endif

/* Read and write a value that other threads may access at the same time. */
template <typename Value>
__device__ __forceinline__ Value
hg_cuckoo_read(const Value *value)
{
#ifdef HG_CUDA_RACECHECK
	typedef typename HgCuckooAtomic<sizeof(Value)>::Type Atomic;

	return (Value) atomicCAS(reinterpret_cast<Atomic *>(const_cast<Value *>(value)), (Atomic) 0,
							 (Atomic) 0);
#else
	return *const_cast<const volatile Value *>(value);
#endif
}

template <typename Value>
__device__ __forceinline__ void
hg_cuckoo_write(Value *value, Value written)
{
#ifdef HG_CUDA_RACECHECK
	typedef typename HgCuckooAtomic<sizeof(Value)>::Type Atomic;
	Atomic *atomic = reinterpret_cast<Atomic *>(value);
	Atomic expected = 0;
	Atomic found;

	while ((found = atomicCAS(atomic, expected, (Atomic) written)) != expected)
		expected = found;
#else
	*const_cast<volatile Value *>(value) = written;
#endif
}

/* Reads the slots of a bucket. */
__device__ __forceinline__ void
hg_cuckoo_read_slots(const uint32_t *slots, uint32_t there[HG_CUCKOO_BUCKET])
{
#ifdef HG_CUDA_RACECHECK
	for (uint32_t k = 0; k < HG_CUCKOO_BUCKET; k++)
		there[k] = hg_cuckoo_read(&slots[k]);
#else
	const uint4 found = *reinterpret_cast<const uint4 *>(slots);

	there[0] = found.x;
	there[1] = found.y;
	there[2] = found.z;
	there[3] = found.w;
#endif
}

/* ------------------------------------------------------------------------
 * A bin in shared memory
 *
 * An entry is a word and a number.  Entries never move; slots hold the indexes of entries.
 * Exchanging a slot's 32 bits therefore moves a word of any width together with its number.
 * ------------------------------------------------------------------------ */

constexpr int HG_CUCKOO_COUNTERS = 5;

/* A bin; its arrays and counters lie in shared memory. */
template <typename Word> struct HgCuckooBin
{
	Word *words;	   /* [capacity] of entries */
	uint32_t *slots;   /* [capacity] entries, HG_CUCKOO_NONE, or HG_CUCKOO_ROW | index of a row */
	uint32_t *numbers; /* [capacity] of entries: rows or counts */
	uint16_t *claims;  /* [2^HG_CUCKOO_CLAIMS_LOG2] */
	uint16_t *left;	   /* [HG_CUCKOO_RUN] indexes of rows of the run that are left over */
	uint32_t capacity; /* slots */
	uint32_t *left_count;
	uint32_t *used; /* entries that exist */
	uint32_t *failed;
	uint32_t *evictions;
	uint32_t *longest;
};

/* Returns the bin that lies in shared memory, with HG_CUCKOO_COUNTERS counters. */
template <typename Word, int NUMBERS>
__device__ __forceinline__ HgCuckooBin<Word>
hg_cuckoo_bin(unsigned char *shared, uint32_t capacity, uint32_t *counters)
{
	HgCuckooBin<Word> bin;

	bin.words = reinterpret_cast<Word *>(shared);
	bin.slots = reinterpret_cast<uint32_t *>(bin.words + capacity);
	bin.numbers = bin.slots + capacity;
	bin.claims = reinterpret_cast<uint16_t *>(bin.slots + (1 + NUMBERS) * (size_t) capacity);
	bin.left = bin.claims + (1 << HG_CUCKOO_CLAIMS_LOG2);
	bin.capacity = capacity;
	bin.used = counters;
	bin.failed = counters + 1;
	bin.evictions = counters + 2;
	bin.longest = counters + 3;
	bin.left_count = counters + 4;
	return bin;
}

/* Returns the entry of a word, or HG_CUCKOO_NONE.  No entry may be evicted meanwhile. */
template <typename Word>
__device__ __forceinline__ uint32_t
hg_cuckoo_entry(const HgCuckooHashing &hashing, const HgCuckooBin<Word> &bin, Word word)
{
	for (uint32_t f = 0; f < hashing.functions; f++)
	{
		uint32_t entries[HG_CUCKOO_BUCKET];
		bool full = true;

		hg_cuckoo_read_slots(bin.slots + hg_cuckoo_bucket(hashing, f, word) * HG_CUCKOO_BUCKET,
							 entries);
#pragma unroll
		for (uint32_t k = 0; k < HG_CUCKOO_BUCKET; k++)
		{
			if (entries[k] == HG_CUCKOO_NONE)
				full = false;
			else if (entries[k] < HG_CUCKOO_ROW && hg_cuckoo_read(&bin.words[entries[k]]) == word)
				return entries[k];
		}
		if (!full && hashing.stops)
			break;
	}
	return HG_CUCKOO_NONE;
}

/*
 * Puts an entry into a bucket by compare and swap.  Returns false if it has no empty slot.  A used
 * slot never becomes empty.
 */
template <typename Word>
__device__ __forceinline__ bool
hg_cuckoo_put_in(const HgCuckooBin<Word> &bin, uint32_t bucket, uint32_t entry)
{
	uint32_t *slots = bin.slots + bucket * HG_CUCKOO_BUCKET;

	for (uint32_t k = 0; k < HG_CUCKOO_BUCKET; k++)
		if (hg_cuckoo_read(&slots[k]) == HG_CUCKOO_NONE &&
			atomicCAS(&slots[k], HG_CUCKOO_NONE, entry) == HG_CUCKOO_NONE)
			return true;
	return false;
}

/*
 * Puts an entry, which is in no slot and whose word no other entry has, into the first of its
 * buckets with an empty slot.  If all are full, it takes the slot of another entry, which is then
 * put into the next of its own buckets.  So a key is in a later bucket only if its earlier buckets
 * are full.  Sets *bin.failed if the chain becomes too long.
 */
template <typename Word>
__device__ __forceinline__ void
hg_cuckoo_put(const HgCuckooHashing &hashing, const HgCuckooBin<Word> &bin, uint32_t entry,
			  Word word)
{
	uint32_t random = (uint32_t) word ^ threadIdx.x;
	uint32_t next = 0; /* function to start with */
	uint32_t chain = 0;

	for (;;)
	{
		uint32_t bucket;

		for (uint32_t i = 0, f = next; i < hashing.functions; i++)
		{
			if (hg_cuckoo_put_in(bin, hg_cuckoo_bucket(hashing, f, word), entry))
			{
				if (chain > 0)
				{
					atomicAdd(bin.evictions, chain);
					atomicMax(bin.longest, chain);
				}
				return;
			}
			f = f + 1 == hashing.functions ? 0 : f + 1;
		}
		if (chain == hashing.most_chain)
			break;
		chain++;
		bucket = hg_cuckoo_bucket(hashing, next, word);
		random = random * 1664525 + 1013904223;
		entry = atomicExch(&bin.slots[bucket * HG_CUCKOO_BUCKET + (random >> 30)], entry);
		word = hg_cuckoo_read(&bin.words[entry]);
		for (next = 0; next + 1 < hashing.functions; next++)
			if (hg_cuckoo_bucket(hashing, next, word) == bucket)
				break;
		next = next + 1 == hashing.functions ? 0 : next + 1;
	}
	hg_cuckoo_write(bin.failed, 1u);
}

/* The result of inserting a row. */
enum HgCuckooMet
{
	HG_CUCKOO_NEW,	/* its word got an entry */
	HG_CUCKOO_SEEN, /* its word has an entry */
	HG_CUCKOO_LEFT	/* its buckets are full, or another row of its word is just getting an entry */
};

/*
 * Puts the word of a row, number position of its run, into the first empty slot of its buckets,
 * unless the word has an entry.  *entry becomes the entry of the word.
 *
 * Threads run concurrently, and no entry is evicted meanwhile.  All rows of one word visit the
 * same slots in the same order and pass only slots that other words have, so a word gets one
 * entry.
 */
template <typename Word>
__device__ __forceinline__ HgCuckooMet
hg_cuckoo_meet(const HgCuckooHashing &hashing, const HgCuckooBin<Word> &bin, const Word *run,
			   uint32_t position, Word word, uint32_t *entry)
{
	if (!hashing.stops)
	{
		/* the word may be behind an empty slot */
		*entry = hg_cuckoo_entry(hashing, bin, word);
		if (*entry != HG_CUCKOO_NONE)
			return HG_CUCKOO_SEEN;
	}
	for (uint32_t f = 0; f < hashing.functions; f++)
	{
		uint32_t *slots = bin.slots + hg_cuckoo_bucket(hashing, f, word) * HG_CUCKOO_BUCKET;
		uint32_t there[HG_CUCKOO_BUCKET];

		hg_cuckoo_read_slots(slots, there);
#pragma unroll
		for (uint32_t k = 0; k < HG_CUCKOO_BUCKET; k++)
		{
			uint32_t has = there[k];

			if (has == HG_CUCKOO_NONE)
				has = atomicCAS(&slots[k], HG_CUCKOO_NONE, HG_CUCKOO_ROW | position);
			if (has == HG_CUCKOO_NONE)
			{
				*entry = atomicAdd(bin.used, 1u);
				hg_cuckoo_write(&bin.words[*entry], word);
				__threadfence_block();
				hg_cuckoo_write(&slots[k], *entry);
				return HG_CUCKOO_NEW;
			}
			if (has >= HG_CUCKOO_ROW)
			{
				if (run[has & ~HG_CUCKOO_ROW] == word)
					return HG_CUCKOO_LEFT;
			}
			else if (hg_cuckoo_read(&bin.words[has]) == word)
			{
				*entry = has;
				return HG_CUCKOO_SEEN;
			}
		}
	}
	return HG_CUCKOO_LEFT;
}

/*
 * Inserts the words of count rows that a run left over, unless they have entries.  All threads of
 * the block call it.  Returns false if the bin has failed.
 *
 * It works in rounds.  Each thread looks up its rows until one has no entry.  Of the threads with
 * the same claim one wins and inserts its entry; the others look again in the next round.  So no
 * two threads insert the same word, and no thread looks a word up while entries are evicted.
 */
template <typename Word, typename Number, typename Seen>
__device__ __forceinline__ bool
hg_cuckoo_fill_left(const HgCuckooHashing &hashing, const HgCuckooBin<Word> &bin, const Word *words,
					uint64_t run, uint32_t count, Number number, Seen seen)
{
	uint32_t i = threadIdx.x;

	for (;;)
	{
		bool have = false;
		uint32_t claim = 0;
		Word word = 0;

		for (int tries = 0; tries < HG_CUCKOO_TRIES && i < count; tries++)
		{
			uint32_t entry;

			word = words[run + bin.left[i]];
			entry = hg_cuckoo_entry(hashing, bin, word);
			if (entry == HG_CUCKOO_NONE)
			{
				have = true;
				break;
			}
			seen(entry);
			i += HG_CUCKOO_THREADS;
		}
		if (have)
		{
			claim = ((uint32_t) ((uint64_t) word >> 32) ^ (uint32_t) word) * 0x9e3779b1u >>
					(32 - HG_CUCKOO_CLAIMS_LOG2);
			hg_cuckoo_write(&bin.claims[claim], (uint16_t) threadIdx.x);
		}
		if (!__syncthreads_or(i < count))
			return true;
		if (have && bin.claims[claim] == threadIdx.x)
		{
			const uint32_t entry = atomicAdd(bin.used, 1u);

			if (entry >= bin.capacity)
				hg_cuckoo_write(bin.failed, 1u);
			else
			{
				hg_cuckoo_write(&bin.words[entry], word);
				number(entry, run + bin.left[i]);
				__threadfence_block();
				hg_cuckoo_put(hashing, bin, entry, word);
			}
			i += HG_CUCKOO_THREADS;
		}
		if (__syncthreads_or(hg_cuckoo_read(bin.failed) != 0))
			return false;
	}
}

/*
 * Inserts the words of rows first .. end - 1 into a bin, one entry for each distinct word.  All
 * threads of a block call it, with a barrier before and after.  number(entry, i) sets the number
 * of a new entry, seen(entry) is called for each other row, and rows for which pass(word, i)
 * returns true are skipped.
 *
 * It works in runs: rows first take empty slots, which needs no barrier; then the rows that found
 * none follow, for which other entries are evicted.
 */
template <typename Word, typename Pass, typename Number, typename Seen>
__device__ __forceinline__ void
hg_cuckoo_fill(const HgCuckooHashing &hashing, const HgCuckooBin<Word> &bin, const Word *words,
			   uint64_t first, uint64_t end, Pass pass, Number number, Seen seen)
{
	for (uint64_t run = first; run < end; run += HG_CUCKOO_RUN)
	{
		const uint32_t count = (uint32_t) (end - run < HG_CUCKOO_RUN ? end - run : HG_CUCKOO_RUN);
		Word next = threadIdx.x < count ? words[run + threadIdx.x] : 0;

		if (threadIdx.x == 0)
			hg_cuckoo_write(bin.left_count, 0u);
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < count; i += HG_CUCKOO_THREADS)
		{
			const Word word = next;
			uint32_t entry;
			HgCuckooMet met;

			if (i + HG_CUCKOO_THREADS < count)
				next = words[run + i + HG_CUCKOO_THREADS];
			if (pass(word, run + i))
				continue;
			met = hg_cuckoo_meet(hashing, bin, words + run, i, word, &entry);
			if (met == HG_CUCKOO_NEW)
				number(entry, run + i);
			else if (met == HG_CUCKOO_SEEN)
				seen(entry);
			else
				bin.left[atomicAdd(bin.left_count, 1u)] = (uint16_t) i;
		}
		__syncthreads();

		const uint32_t left = hg_cuckoo_read(bin.left_count);

		if (left > 0 && !hg_cuckoo_fill_left(hashing, bin, words, run, left, number, seen))
			return;
	}
}

/* ------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------ */

/*
 * Inserts rows into bins first_bin + blockIdx.x, one block for each bin.  Bin b gets the rows
 * starts[b << finer] .. starts[(b + 1) << finer] - 1; starts NULL: none.  Row i is
 * first_row + rows[i], or first_row + i if rows is NULL.  fresh: bins are empty, and their slots
 * undefined.  A bin that fails is left as it was.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Word, bool ROWS>
__global__ void
__launch_bounds__(HG_CUCKOO_THREADS, hg_cuckoo_blocks(sizeof(Word)))
	hg_cuckoo_insert_kernel(const __grid_constant__ HgCuckooHashing hashing, HgCuckooSlots slots,
							const Word *words, const uint32_t *rows, uint32_t first_row,
							const uint32_t *starts, uint32_t finer, uint32_t first_bin, bool fresh)
{
	typedef typename HgCuckooCell<Word, ROWS>::Type Cell;
	constexpr bool PACKED = HgCuckooCell<Word, ROWS>::PACKED;
	extern __shared__ __align__(16) unsigned char hg_shared[];
	__shared__ uint32_t counters[HG_CUCKOO_COUNTERS];
	const uint32_t number = first_bin + blockIdx.x;
	const uint32_t capacity = hashing.buckets * HG_CUCKOO_BUCKET;
	const HgCuckooBin<Word> bin = hg_cuckoo_bin < Word,
							ROWS ? 1 : 0 > (hg_shared, capacity, counters);
	const Word marker = static_cast<Word>(hashing.markers[0]);
	Cell *cells = static_cast<Cell *>(slots.cells) + (uint64_t) number * capacity;
	uint32_t *row_cells = ROWS && !PACKED ? slots.rows + (uint64_t) number * capacity : nullptr;
	const uint64_t first = starts == nullptr ? 0 : starts[(uint64_t) number << finer];
	const uint64_t end = starts == nullptr ? 0 : starts[(uint64_t) (number + 1) << finer];
	uint32_t before;

	if (first == end && !fresh)
		return;
	if (threadIdx.x < HG_CUCKOO_COUNTERS)
		counters[threadIdx.x] = 0;
	__syncthreads();
	for (uint32_t s = threadIdx.x; s < capacity; s += HG_CUCKOO_THREADS)
	{
		const Cell cell = fresh ? 0 : cells[s];
		const bool taken =
			!fresh && (PACKED ? (uint32_t) cell != HG_CUDA_EMPTY_ROW : (Word) cell != marker);
		uint32_t entry = HG_CUCKOO_NONE;

		if (taken)
		{
			entry = atomicAdd(bin.used, 1u);
			bin.words[entry] = PACKED ? (Word) ((uint64_t) cell >> 32) : (Word) cell;
			if (ROWS)
				bin.numbers[entry] = PACKED ? (uint32_t) cell : row_cells[s];
		}
		bin.slots[s] = entry;
	}
	__syncthreads();
	before = *bin.used;
	__syncthreads();

	hg_cuckoo_fill(
		hashing, bin, words, first, end,
		[&](Word word, uint64_t i)
		{
			if (!ROWS)
				return word == marker || word == static_cast<Word>(hashing.markers[1]);
			if (PACKED || word != marker)
				return false;
			atomicCAS(&slots.totals->beside, HG_NO_ROW,
					  first_row + (rows == nullptr ? (uint32_t) i : rows[i]));
			return true;
		},
		[&](uint32_t entry, uint64_t i)
		{
			if (ROWS)
				bin.numbers[entry] = first_row + (rows == nullptr ? (uint32_t) i : rows[i]);
		},
		[](uint32_t) {});
	__syncthreads();

	const bool failed = *bin.failed != 0;

	if (threadIdx.x == 0)
	{
		if (failed)
			atomicAdd(&slots.totals->failed, 1u);
		else if (*bin.used > before)
			atomicAdd(&slots.totals->rows, (unsigned long long) (*bin.used - before));
		if (*bin.evictions > 0)
		{
			atomicAdd(&slots.totals->evictions, (unsigned long long) *bin.evictions);
			atomicMax(&slots.totals->longest, *bin.longest);
		}
	}
	if (failed)
		return;
	for (uint32_t s = threadIdx.x; s < capacity; s += HG_CUCKOO_THREADS)
	{
		const uint32_t entry = bin.slots[s];
		const bool taken = entry != HG_CUCKOO_NONE;

		if (PACKED)
			cells[s] = taken ? (Cell) ((uint64_t) bin.words[entry] << 32 | bin.numbers[entry])
							 : (Cell) UINT64_MAX;
		else
			cells[s] = taken ? (Cell) bin.words[entry] : (Cell) marker;
		if (ROWS && !PACKED)
			row_cells[s] = taken ? bin.numbers[entry] : HG_CUDA_EMPTY_ROW;
	}
}

/*
 * Finds the distinct words of bins first_bin + blockIdx.x, one block for each bin.  They are
 * written from the position of the bin's first row on to words_out, and their number to counts.
 * With GROUPS, rows_out gets the bin's rows, grouped by word.  offsets_out[p] becomes the start in
 * rows_out of the rows of words_out[p].
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Word, bool GROUPS>
__global__ void
__launch_bounds__(HG_CUCKOO_THREADS, hg_cuckoo_blocks(sizeof(Word)))
	hg_cuckoo_distinct_kernel(const __grid_constant__ HgCuckooHashing hashing, const Word *words,
							  const uint32_t *rows, uint32_t first_row, const uint32_t *starts,
							  uint32_t first_bin, Word *words_out, uint32_t *counts,
							  uint32_t *offsets_out, uint32_t *rows_out, HgCuckooTotals *totals)
{
	typedef cub::BlockScan<uint32_t, HG_CUCKOO_THREADS, cub::BLOCK_SCAN_WARP_SCANS> Scan;
	__shared__ typename Scan::TempStorage scan_storage;
	extern __shared__ __align__(16) unsigned char hg_shared[];
	__shared__ uint32_t counters[HG_CUCKOO_COUNTERS];
	const uint32_t number = first_bin + blockIdx.x;
	const uint32_t capacity = hashing.buckets * HG_CUCKOO_BUCKET;
	const HgCuckooBin<Word> bin = hg_cuckoo_bin < Word,
							GROUPS ? 1 : 0 > (hg_shared, capacity, counters);
	const uint32_t first = starts[number];
	const uint32_t end = starts[number + 1];
	uint32_t longest = 0;
	uint32_t sum = 0;

	if (first == end)
	{
		if (threadIdx.x == 0)
			counts[number] = 0;
		return;
	}
	if (threadIdx.x < HG_CUCKOO_COUNTERS)
		counters[threadIdx.x] = 0;
	for (uint32_t s = threadIdx.x; s < capacity; s += HG_CUCKOO_THREADS)
	{
		bin.slots[s] = HG_CUCKOO_NONE;
		if (GROUPS)
			bin.numbers[s] = 0;
	}
	__syncthreads();
	hg_cuckoo_fill(
		hashing, bin, words, first, end, [](Word, uint64_t) { return false; },
		[&](uint32_t entry, uint64_t)
		{
			if (GROUPS)
				atomicAdd(&bin.numbers[entry], 1u);
		},
		[&](uint32_t entry)
		{
			if (GROUPS)
				atomicAdd(&bin.numbers[entry], 1u);
		});
	__syncthreads();

	const bool failed = *bin.failed != 0;
	const uint32_t used = *bin.used;

	if (threadIdx.x == 0)
	{
		counts[number] = failed ? 0 : used;
		if (failed)
			atomicAdd(&totals->failed, 1u);
	}
	if (failed)
		return;
	for (uint32_t e = threadIdx.x; e < used; e += HG_CUCKOO_THREADS)
		words_out[first + e] = bin.words[e];
	if constexpr (GROUPS)
	{
		for (uint32_t base = 0; base < used; base += HG_CUCKOO_THREADS)
		{
			const uint32_t e = base + threadIdx.x;
			const uint32_t count = e < used ? bin.numbers[e] : 0;
			uint32_t before;
			uint32_t all;

			Scan(scan_storage).ExclusiveSum(count, before, all);
			if (e < used)
				offsets_out[first + e] = bin.numbers[e] = first + sum + before;
			if (count > longest)
				longest = count;
			sum += all;
			__syncthreads();
		}
		atomicMax(bin.longest, longest);
		__syncthreads();
		if (threadIdx.x == 0)
			atomicMax(&totals->longest, *bin.longest);
		for (uint32_t base = first; base < end; base += HG_CUCKOO_THREADS)
		{
			const uint32_t i = base + threadIdx.x;
			const bool there = i >= base && i < end;
			const uint32_t entry = there ? hg_cuckoo_entry(hashing, bin, words[i]) : 0;
			const uint32_t position = hg_take_shared(there, bin.numbers, entry, 1);

			if (there)
				rows_out[position] = first_row + rows[i];
			if (end - base <= HG_CUCKOO_THREADS)
				break;
		}
	}
}

/*
 * Moves the distinct words of all bins together, one block for each bin: bin b's words go to
 * bases[b].  bins is the number of bins from this launch's first one to the table's last.  Unless
 * offsets is NULL, the last bin also writes the end to offsets_out.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_cuckoo_dense_kernel(const Word *words, const uint32_t *offsets, const uint32_t *starts,
						   const uint32_t *bases, uint32_t bins, uint32_t rows, Word *words_out,
						   uint32_t *offsets_out)
{
	const uint32_t first = starts[blockIdx.x];
	const uint32_t base = bases[blockIdx.x];
	const uint32_t count = bases[blockIdx.x + 1] - base;

	for (uint32_t e = threadIdx.x; e < count; e += HG_STREAM_THREADS)
	{
		words_out[base + e] = words[first + e];
		if (offsets != nullptr)
			offsets_out[base + e] = offsets[first + e];
	}
	if (offsets != nullptr && blockIdx.x == bins - 1 && threadIdx.x == 0)
		offsets_out[base + count] = rows;
}

#endif /* HG_CUDA_CUCKOO_KERNELS_H */
