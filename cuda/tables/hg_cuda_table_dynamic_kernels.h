/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dynamic_kernels.h
 *	  The kernels that read dynamic HashGraphs: hg_cuda_table_dynamic.cu says when each runs.
 *
 * Slots is HgCudaSlots of a word and whether there are rows.  Each thread has a key, and walks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYNAMIC_KERNELS_H
#define HG_CUDA_TABLE_DYNAMIC_KERNELS_H

#include "hg_cuda_table_slots.h"

constexpr int HG_DYNAMIC_THREADS = 256;

/* A row may stand in one of this many lists behind its own. */
constexpr uint32_t HG_DYNAMIC_WALK = 32;

/* The state of a slot. */
enum HgDynamicMark
{
	HG_DYNAMIC_LIVE,
	HG_DYNAMIC_EMPTY,
	HG_DYNAMIC_DELETED
};

/* The lists, in device memory.  Those of vertex v begin at slot offsets[v]. */
struct HgDynamicLists
{
	uint32_t *offsets; /* [vertices + 1] */
	void *slots;
	uint32_t *rows; /* if they are apart from the words, else NULL */
	uint32_t vertices_log2;
	bool unique; /* a key has at most one row */
};

/* Counters of kernels since the last read; in device memory. */
struct HgDynamicState
{
	uint32_t inserted;
	uint32_t reused;  /* inserted rows that took deleted slots */
	uint32_t left;	  /* rows that found no slot */
	uint32_t doubles; /* edges that are left out: duplicates and markers */
	unsigned long long erased;
	unsigned long long exported;
	uint32_t empty_lists;
	uint32_t longest_list;
	uint32_t longest_walk;
	uint32_t unused;
};

/* ------------------------------------------------------------------------
 * Slots
 * ------------------------------------------------------------------------ */

/* A slot as it was read. */
template <typename Slots> struct HgDynamicSlot
{
	typename Slots::Slot slot;
	uint32_t row;
	HgDynamicMark mark;
};

/* Reads a slot. */
template <typename Slots>
__device__ __forceinline__ HgDynamicSlot<Slots>
hg_dynamic_read(const HgDynamicLists &lists, uint32_t at)
{
	HgDynamicSlot<Slots> read;

	read.slot = __ldcg(static_cast<const typename Slots::Slot *>(lists.slots) + at);
	if constexpr (Slots::HAS_ROWS)
	{
		read.row = Slots::APART ? __ldcg(lists.rows + at) : Slots::row(read.slot);
		read.mark = read.row < HG_CUDA_DELETED_ROW	? HG_DYNAMIC_LIVE
					: read.row == HG_CUDA_EMPTY_ROW ? HG_DYNAMIC_EMPTY
													: HG_DYNAMIC_DELETED;
	}
	else
	{
		read.row = 0;
		read.mark = read.slot < HG_CUDA_DELETED_WORD<typename Slots::Word> ? HG_DYNAMIC_LIVE
					: read.slot == Slots::EMPTY							   ? HG_DYNAMIC_EMPTY
																		   : HG_DYNAMIC_DELETED;
	}
	return read;
}

/* A walk over the slots of consecutive lists. */
struct HgDynamicWalk
{
	uint32_t list;
	uint32_t at; /* the slots that are left of the list are at .. end - 1 */
	uint32_t end;
	uint32_t lists; /* lists behind the first one */
};

/* Starts a walk at the list of a word. */
template <typename Word>
__device__ __forceinline__ HgDynamicWalk
hg_dynamic_begin(const HgDynamicLists &lists, Word word)
{
	HgDynamicWalk walk;

	walk.list = hg_word_vertex(word, 32 - lists.vertices_log2);
	walk.at = __ldg(lists.offsets + walk.list);
	walk.end = __ldg(lists.offsets + walk.list + 1);
	walk.lists = 0;
	return walk;
}

/* Moves a walk to the next list if its list has no slots left.  Returns false at the end. */
__device__ __forceinline__ bool
hg_dynamic_go_on(const HgDynamicLists &lists, HgDynamicWalk *walk)
{
	const uint32_t last = (uint32_t) ((UINT64_C(1) << lists.vertices_log2) - 1);

	while (walk->at == walk->end)
	{
		if (walk->lists == HG_DYNAMIC_WALK || walk->lists == last)
			return false;
		walk->lists++;
		walk->list = (walk->list + 1) & last;
		walk->at = __ldg(lists.offsets + walk->list);
		walk->end = __ldg(lists.offsets + walk->list + 1);
	}
	return true;
}

/* Returns true if a word marks slots of a set, and so belongs to none of its keys. */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_is_marker(typename Slots::Word word)
{
	return !Slots::HAS_ROWS && word >= HG_CUDA_DELETED_WORD<typename Slots::Word>;
}

/*
 * Adds the number of threads of a block with done to a counter.  All threads of the block call it.
 * The counter is shared by all blocks, so each block adds once.
 */
__device__ __forceinline__ void
hg_dynamic_add_count(uint32_t *counter, bool done)
{
	const int threads = __syncthreads_count(done);

	if (threadIdx.x == 0 && threads != 0)
		atomicAdd(counter, (uint32_t) threads);
}

/* ------------------------------------------------------------------------
 * Looking up
 * ------------------------------------------------------------------------ */

/* Moves a walk to the next slot with a word, and reads it.  Returns false if there is none. */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_next(const HgDynamicLists &lists, typename Slots::Word word, HgDynamicWalk *walk,
				HgDynamicSlot<Slots> *found)
{
	for (; hg_dynamic_go_on(lists, walk); walk->at++)
	{
		*found = hg_dynamic_read<Slots>(lists, walk->at);
		if (found->mark == HG_DYNAMIC_EMPTY)
			return false;
		if (found->mark == HG_DYNAMIC_LIVE && Slots::word(found->slot) == word)
			return true;
	}
	return false;
}

/* rows[i] = a row of keys[i], or HG_NO_ROW, for keys first .. end - 1. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_find_kernel(HgDynamicLists lists, const typename Slots::Word *keys, uint64_t first,
						   uint64_t end, uint32_t *rows)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (i < end)
	{
		const typename Slots::Word word = hg_word_mix(keys[i]);
		HgDynamicWalk walk = hg_dynamic_begin(lists, word);
		HgDynamicSlot<Slots> found;

		rows[i] = hg_dynamic_next<Slots>(lists, word, &walk, &found) ? found.row : HG_NO_ROW;
	}
}

/* counts[i] = the number of rows of keys[i], or, with offsets, copies them to rows. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_match_kernel(HgDynamicLists lists, const typename Slots::Word *keys, uint64_t first,
							uint64_t end, const uint64_t *offsets, uint32_t *counts, uint32_t *rows)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (i < end)
	{
		const typename Slots::Word word = hg_word_mix(keys[i]);
		HgDynamicWalk walk = hg_dynamic_begin(lists, word);
		HgDynamicSlot<Slots> found;
		uint32_t count = 0;

		while (hg_dynamic_next<Slots>(lists, word, &walk, &found))
		{
			if (rows != nullptr)
				rows[offsets[i] - offsets[0] + count] = found.row;
			count++;
			walk.at++;
			if (lists.unique)
				break;
		}
		if (counts != nullptr)
			counts[i] = count;
	}
}

/* ------------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------------ */

/* Copies the keys and rows of slots first .. end - 1 to the next positions by state->exported. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_export_kernel(HgDynamicLists lists, uint64_t first, uint64_t end,
							 typename Slots::Word *keys, uint32_t *rows, HgDynamicState *state)
{
	__shared__ uint32_t warps[HG_DYNAMIC_THREADS / 32]; /* rows of each, then rows before it */
	__shared__ unsigned long long base;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	const uint32_t lane = threadIdx.x % 32;
	HgDynamicSlot<Slots> slot = {};
	bool live = false;

	if (i < end)
	{
		slot = hg_dynamic_read<Slots>(lists, (uint32_t) i);
		live = slot.mark == HG_DYNAMIC_LIVE;
	}

	const uint32_t lives = __ballot_sync(UINT32_MAX, live);

	if (lane == 0)
		warps[threadIdx.x / 32] = (uint32_t) __popc(lives);
	__syncthreads();
	if (threadIdx.x == 0)
	{
		uint32_t all = 0;

		for (int warp = 0; warp < HG_DYNAMIC_THREADS / 32; warp++)
		{
			const uint32_t rows_of_warp = warps[warp];

			warps[warp] = all;
			all += rows_of_warp;
		}
		base = all > 0 ? atomicAdd(&state->exported, (unsigned long long) all) : 0;
	}
	__syncthreads();
	if (live)
	{
		const unsigned long long to =
			base + warps[threadIdx.x / 32] + __popc(lives & ((1u << lane) - 1));

		keys[to] = hg_word_unmix(Slots::word(slot.slot));
		if (rows != nullptr)
			rows[to] = slot.row;
	}
}

/* Finds the lengths of lists, and how far rows stand from their own lists; a thread a list. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_describe_kernel(HgDynamicLists lists, uint64_t first, HgDynamicState *state)
{
	const uint64_t v = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	const uint64_t vertices = UINT64_C(1) << lists.vertices_log2;
	uint32_t longest = 0;
	uint32_t walk = 0;
	bool empty = v < vertices;

	if (v < vertices)
	{
		const uint32_t end = lists.offsets[v + 1];

		longest = end - lists.offsets[v];
		for (uint32_t at = lists.offsets[v]; at < end; at++)
		{
			const HgDynamicSlot<Slots> slot = hg_dynamic_read<Slots>(lists, at);

			if (slot.mark == HG_DYNAMIC_LIVE)
			{
				const uint32_t own =
					hg_word_vertex(Slots::word(slot.slot), 32 - lists.vertices_log2);
				const uint32_t distance = ((uint32_t) v - own) & (uint32_t) (vertices - 1);

				empty = false;
				walk = distance > walk ? distance : walk;
			}
		}
	}
	hg_dynamic_add_count(&state->empty_lists, empty);
	for (int step = 16; step > 0; step /= 2)
	{
		longest = max(longest, __shfl_down_sync(UINT32_MAX, longest, step));
		walk = max(walk, __shfl_down_sync(UINT32_MAX, walk, step));
	}
	/* most know of longer ones already: a value that is read may be old, but never too large */
	if (threadIdx.x % 32 == 0)
	{
		if (longest > __ldcg(&state->longest_list))
			atomicMax(&state->longest_list, longest);
		if (walk > __ldcg(&state->longest_walk))
			atomicMax(&state->longest_walk, walk);
	}
}

/*
 * The kernels that build dynamic HashGraphs: an edge a thread.
 *
 * hg_cuda_table_dynamic.cu says when each runs.
 */

/*
 * Counts the ordered edges that are left out: those whose key the edge before has, and those of a
 * set's markers, which are no keys.  The first edge of each key stands for it.  If a later one is
 * of a row in the table, whose number is below old_rows, the first one gets that number.
 */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_doubles_kernel(const uint32_t *offsets, uint32_t vertices_log2,
							  const typename Slots::Word *words, uint32_t *numbers, uint64_t first,
							  uint64_t end, uint32_t old_rows, HgDynamicState *state)
{
	const uint64_t j = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	bool again = false;

	if (j < end && hg_dynamic_is_marker<Slots>(words[j]))
		again = true;
	else if (j > 0 && j < end && words[j - 1] == words[j])
	{
		const typename Slots::Word word = words[j];

		again = true;
		if (numbers[j] < old_rows)
		{
			const uint32_t v = hg_word_vertex(word, 32 - vertices_log2);

			numbers[hg_word_lower_bound(words, offsets[v], (uint32_t) j, word)] = numbers[j];
		}
	}
	hg_dynamic_add_count(&state->doubles, again);
}

/* kept[j] = 1 for the first edge of each key, else 0; kept[edges] = 0. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_kept_kernel(const typename Slots::Word *words, uint64_t first, uint64_t edges,
						   uint32_t *kept)
{
	const uint64_t j = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (j <= edges)
		kept[j] = j < edges && (j == 0 || words[j - 1] != words[j]) &&
				  !hg_dynamic_is_marker<Slots>(words[j]);
}

/*
 * Replaces the first edges of lists by their first slots.  positions, or NULL, are the edges that
 * stay before each edge.
 */
static __global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_offsets_kernel(uint32_t *offsets, const uint32_t *positions, uint64_t first,
							  uint64_t entries, uint32_t empty_slots)
{
	const uint64_t v = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (v < entries)
		offsets[v] = (positions != nullptr ? positions[offsets[v]] : offsets[v]) +
					 (uint32_t) v * empty_slots;
}

/* The rows of edges, by number: those below old_rows are the table's, all others the batch's. */
struct HgDynamicRows
{
	const uint32_t *old;
	uint32_t old_rows;
	const uint32_t *rows; /* NULL: first_row, first_row + 1 ... */
	uint32_t first_row;
};

/* Writes the edges first .. end - 1 to their slots. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_spread_kernel(HgDynamicLists lists, uint32_t empty_slots,
							 const typename Slots::Word *words, const uint32_t *numbers,
							 HgDynamicRows rows, const uint32_t *positions, uint64_t first,
							 uint64_t end)
{
	const uint64_t j = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (j < end)
	{
		const typename Slots::Word word = words[j];
		const uint32_t number = numbers[j];
		uint32_t to = (uint32_t) j;
		uint32_t row = 0;

		if (positions != nullptr)
		{
			to = positions[j];
			if (positions[j + 1] == to)
				return;
		}
		to += hg_word_vertex(word, 32 - lists.vertices_log2) * empty_slots;
		if (Slots::HAS_ROWS)
			row = number < rows.old_rows ? rows.old[number]
				  : rows.rows != nullptr ? rows.rows[number - rows.old_rows]
										 : rows.first_row + (number - rows.old_rows);
		static_cast<typename Slots::Slot *>(lists.slots)[to] = Slots::make(word, row);
		if (Slots::APART)
			lists.rows[to] = row;
	}
}

/*
 * The kernels that change dynamic HashGraphs in place: a key a thread.
 *
 * hg_cuda_table_dynamic.cu says when each runs, and why no key is inserted twice.
 */

/* In longer lists of a multimap than this, bisection finds the first empty slot. */
constexpr uint32_t HG_DYNAMIC_LONG = 64;

/* Slots that are read at a time in the search for a key that is inserted. */
constexpr uint32_t HG_DYNAMIC_READ = 4;

/*
 * Changes a slot, which was read as *seen, to a word and row, or to deleted.  Returns false if it
 * has changed meanwhile; then *seen becomes the new value, unless rows are apart.
 */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_write(const HgDynamicLists &lists, uint32_t at, HgDynamicSlot<Slots> *seen,
				 typename Slots::Word word, uint32_t row)
{
	typedef typename Slots::Slot Slot;

	if constexpr (Slots::APART)
	{
		const uint32_t there = hg_slot_cas(lists.rows + at, seen->row, row);

		if (there != seen->row)
			return false;
		if (row != HG_CUDA_DELETED_ROW)
			static_cast<Slot *>(lists.slots)[at] = word;
	}
	else
	{
		const Slot there =
			hg_slot_cas(static_cast<Slot *>(lists.slots) + at, seen->slot, Slots::make(word, row));

		if (there != seen->slot)
		{
			*seen = hg_dynamic_read<Slots>(lists, at);
			return false;
		}
	}
	return true;
}

/* Returns the sum of value over the threads of a block to the first thread; all call it. */
__device__ __forceinline__ uint32_t
hg_dynamic_sum(uint32_t value)
{
	__shared__ uint32_t sums[HG_DYNAMIC_THREADS / 32];

	__syncwarp();
	for (int step = 16; step > 0; step /= 2)
		value += __shfl_down_sync(UINT32_MAX, value, step);
	if (threadIdx.x % 32 == 0)
		sums[threadIdx.x / 32] = value;
	__syncthreads();
	if (threadIdx.x == 0)
		for (int warp = 1; warp < HG_DYNAMIC_THREADS / 32; warp++)
			value += sums[warp];
	return value;
}

/*
 * Moves a walk, from a slot that is not free any more, to the next free one.  Returns false if it
 * meets the word (with compare; *met becomes true) or the end.
 */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_next_free(const HgDynamicLists &lists, typename Slots::Word word, bool compare,
					 HgDynamicWalk *walk, HgDynamicSlot<Slots> *seen, bool *met)
{
	for (; hg_dynamic_go_on(lists, walk); walk->at++)
	{
		*seen = hg_dynamic_read<Slots>(lists, walk->at);
		if (seen->mark != HG_DYNAMIC_LIVE)
			return true;
		if (compare && Slots::word(seen->slot) == word)
		{
			*met = true;
			return false;
		}
	}
	return false;
}

/*
 * Finds a free slot for a word that must be unique.  Returns false if the word is in the table
 * (*met becomes true) or there is none.  Several slots are read before the first is examined, so
 * that their loads overlap.
 */
template <typename Slots>
__device__ __forceinline__ bool
hg_dynamic_look(const HgDynamicLists &lists, typename Slots::Word word, HgDynamicWalk *walk,
				HgDynamicSlot<Slots> *seen, bool *met)
{
	HgDynamicWalk free_walk;
	HgDynamicSlot<Slots> free_slot;
	bool free = false;
	bool end = false; /* an empty slot was met: the word is not behind it */

	while (!end && hg_dynamic_go_on(lists, walk))
	{
		HgDynamicSlot<Slots> slots[HG_DYNAMIC_READ];
		const uint32_t first = walk->at;
		const uint32_t count =
			walk->end - first < HG_DYNAMIC_READ ? walk->end - first : HG_DYNAMIC_READ;

#pragma unroll
		for (uint32_t k = 0; k < HG_DYNAMIC_READ; k++)
			if (k < count)
				slots[k] = hg_dynamic_read<Slots>(lists, first + k);
#pragma unroll
		for (uint32_t k = 0; k < HG_DYNAMIC_READ; k++)
		{
			if (k >= count || end)
				continue;
			if (slots[k].mark == HG_DYNAMIC_LIVE)
			{
				if (Slots::word(slots[k].slot) == word)
				{
					*met = true;
					return false;
				}
				continue;
			}
			if (!free)
			{
				free = true;
				free_walk = *walk;
				free_walk.at = first + k;
				free_slot = slots[k];
			}
			end = slots[k].mark == HG_DYNAMIC_EMPTY;
		}
		walk->at = first + count;
	}
	if (free)
	{
		*walk = free_walk;
		*seen = free_slot;
	}
	return free;
}

/* Moves a walk to the first empty slot of a long list, whose empty slots are its last ones. */
template <typename Slots>
__device__ __forceinline__ void
hg_dynamic_skip(const HgDynamicLists &lists, HgDynamicWalk *walk)
{
	uint32_t end = walk->end;

	if (end - walk->at <= HG_DYNAMIC_LONG)
		return;
	while (walk->at < end)
	{
		const uint32_t middle = walk->at + (end - walk->at) / 2;

		if (hg_dynamic_read<Slots>(lists, middle).mark == HG_DYNAMIC_EMPTY)
			end = middle;
		else
			walk->at = middle + 1;
	}
}

/*
 * Inserts keys.  With COMPARE, those that are not in the table, and one of equal ones; without,
 * all with wanted[i] not 0 (NULL: all).  Keys that find no slot are appended to left_keys and
 * left_rows.
 */
template <typename Slots, bool COMPARE>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_insert_kernel(HgDynamicLists lists, HgSlotBatch batch, const uint8_t *wanted,
							 typename Slots::Word *left_keys, uint32_t *left_rows,
							 HgDynamicState *state)
{
	const uint32_t i = blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	typename Slots::Word key = 0;
	bool inserted = false;
	bool reused = false;
	bool left = false;
	uint32_t row = 0;

	if (i < batch.count && (wanted == nullptr || wanted[i] != 0))
	{
		key = static_cast<const typename Slots::Word *>(batch.keys)[i];
		row = batch.rows != nullptr ? batch.rows[i] : batch.first_row + i;

		const typename Slots::Word word = hg_word_mix(key);

		if (!hg_dynamic_is_marker<Slots>(word))
		{
			HgDynamicWalk walk = hg_dynamic_begin(lists, word);
			HgDynamicSlot<Slots> seen;
			bool met = false;
			bool free;

			if (COMPARE)
				free = hg_dynamic_look<Slots>(lists, word, &walk, &seen, &met);
			else
			{
				hg_dynamic_skip<Slots>(lists, &walk);
				free = hg_dynamic_next_free<Slots>(lists, word, false, &walk, &seen, &met);
			}
			while (free && !inserted)
			{
				reused = seen.mark == HG_DYNAMIC_DELETED;
				inserted = hg_dynamic_write<Slots>(lists, walk.at, &seen, word, row);
				/* another thread took the slot, possibly for the same key */
				if (!inserted)
					free = hg_dynamic_next_free<Slots>(lists, word, COMPARE, &walk, &seen, &met);
			}
			left = !inserted && !met;
		}
	}
	__syncwarp();

	const uint32_t to = hg_slot_append(&state->left, left);

	if (left)
	{
		left_keys[to] = key;
		if (Slots::HAS_ROWS)
			left_rows[to] = row;
	}
	hg_dynamic_add_count(&state->inserted, inserted);
	hg_dynamic_add_count(&state->reused, inserted && reused);
}

/*
 * wanted[i] = 1 for keys that are not in the table, and for one of equal ones; else 0.  claims as
 * in hg_slot_claim().
 */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_claim_kernel(HgDynamicLists lists, HgSlotBatch batch, uint32_t *claims,
							uint32_t mask, uint8_t *wanted)
{
	const uint32_t i = blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	const typename Slots::Word *keys = static_cast<const typename Slots::Word *>(batch.keys);

	if (i < batch.count)
	{
		const typename Slots::Word word = hg_word_mix(keys[i]);
		HgDynamicWalk walk = hg_dynamic_begin(lists, word);
		HgDynamicSlot<Slots> found;

		wanted[i] = !hg_dynamic_next<Slots>(lists, word, &walk, &found) &&
					hg_slot_claim(keys, i, (uint32_t) word, claims, mask);
	}
}

/* Marks the slots of keys, or of pairs, as deleted. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_erase_kernel(HgDynamicLists lists, HgSlotBatch batch, bool by_key,
							HgDynamicState *state)
{
	typedef typename Slots::Word Word;
	const uint32_t i = blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	uint32_t erased = 0;

	if (i < batch.count)
	{
		const Word word = hg_word_mix(static_cast<const Word *>(batch.keys)[i]);
		const uint32_t row = by_key					 ? 0
							 : batch.rows != nullptr ? batch.rows[i]
													 : batch.first_row + i;
		HgDynamicWalk walk = hg_dynamic_begin(lists, word);
		HgDynamicSlot<Slots> found;

		/* of several threads that name a slot, one deletes it */
		while (!hg_dynamic_is_marker<Slots>(word) &&
			   hg_dynamic_next<Slots>(lists, word, &walk, &found))
		{
			if (by_key || found.row == row)
				erased += hg_dynamic_write<Slots>(lists, walk.at, &found,
												  Slots::HAS_ROWS ? static_cast<Word>(-1)
																  : HG_CUDA_DELETED_WORD<Word>,
												  HG_CUDA_DELETED_ROW);
			if (lists.unique)
				break;
			walk.at++;
		}
	}
	erased = hg_dynamic_sum(erased);
	if (threadIdx.x == 0 && erased > 0)
		atomicAdd(&state->erased, (unsigned long long) erased);
}

#endif /* HG_CUDA_TABLE_DYNAMIC_KERNELS_H */
