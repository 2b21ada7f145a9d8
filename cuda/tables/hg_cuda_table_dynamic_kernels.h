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

#endif /* HG_CUDA_TABLE_DYNAMIC_KERNELS_H */
