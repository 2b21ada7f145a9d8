/*-------------------------------------------------------------------------
 *
 * hg_cuda_match_kernels.h
 *	  The kernels that match: hg_cuda_join.cu says when each runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_MATCH_KERNELS_H
#define HG_CUDA_MATCH_KERNELS_H

#include "hg_cuda_tuning.h"
#include "hg_cuda_word.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

/* Sums of the lookups: one stripe of HG_COUNTER_STRIPES. */
struct HgLookupCounters
{
	unsigned long long matches;
	unsigned long long comparisons;
	unsigned long long intersections;
	unsigned long long longest_tile; /* most matches of a tile */
};

/*
 * Finds the edges that equal word among the edges low .. high - 1, one sorted list.  Returns the
 * first one, and sets *length to their number.  *comparisons is added to.
 */
template <typename Word, bool FIRST>
__device__ __forceinline__ uint32_t
hg_find_range(const Word *words, uint32_t low, uint32_t high, Word word, uint32_t *length,
			  uint32_t *comparisons)
{
	uint32_t compared = 0;
	uint32_t end;

	if (high - low > HG_LIST_WALKED)
	{
		compared += 32 - __clz(high - low);
		low = hg_word_lower_bound(words, low, high, word);
	}
	else
		while (low < high && (compared++, words[low] < word))
			low++;

	end = low;
	if (FIRST)
	{
		if (low < high && (compared++, words[low] == word))
			end = low + 1;
	}
	else
	{
		/* ever longer steps while the key goes on, then bisect the last one */
		uint32_t step = 1;

		while (high - end >= step && (compared++, words[end + step - 1] == word))
		{
			end += step;
			step *= 2;
		}
		if (high - end < step)
			step = high - end + 1;
		while (step > 1)
		{
			uint32_t half = step / 2;

			/* fewer than step edges from end on equal word */
			compared++;
			if (words[end + half - 1] == word)
			{
				end += half;
				step -= half;
			}
			else
				step = half;
		}
	}
	*length = end - low;
	*comparisons += compared;
	return low;
}

/*
 * Looks up a tile of outer rows, a block a tile.  With KEEP, match_starts and match_counts get the
 * range of each row, tile_matches and tile_units the numbers of the tile.  Without, only the
 * counters are set.  FIRST: a row has at most one match.
 */
template <typename Word, bool KEEP, bool FIRST>
__global__ void
__launch_bounds__(HG_TILE_THREADS)
	hg_lookup_kernel(const Word *outer_words, uint64_t n, uint64_t first_tile, bool in_lists,
					 const uint32_t *offsets, const Word *edge_words, uint32_t shift,
					 uint32_t *match_starts, uint32_t *match_counts, uint64_t *tile_matches,
					 uint64_t *tile_units, HgLookupCounters *counters)
{
	typedef cub::BlockReduce<unsigned long long, HG_TILE_THREADS> Reduce;
	__shared__ typename Reduce::TempStorage storage[3];

	const uint64_t tile = first_tile + blockIdx.x;
	const uint64_t first = tile * HG_TILE_ITEMS + threadIdx.x;
	Word word[HG_TILE_ITEMS_PER_THREAD];
	uint32_t low[HG_TILE_ITEMS_PER_THREAD];
	uint32_t high[HG_TILE_ITEMS_PER_THREAD];
	unsigned long long matches = 0;
	uint32_t comparisons = 0;
	uint32_t intersections = 0;

	/* all loads of one kind first, so that they wait for memory together */
#pragma unroll
	for (int k = 0; k < HG_TILE_ITEMS_PER_THREAD; k++)
		if (first + k * HG_TILE_THREADS < n)
			word[k] = outer_words[first + k * HG_TILE_THREADS];
#pragma unroll
	for (int k = 0; k < HG_TILE_ITEMS_PER_THREAD; k++)
	{
		low[k] = high[k] = 0;
		if (first + k * HG_TILE_THREADS < n)
		{
			uint32_t vertex = hg_word_vertex(word[k], shift);

			low[k] = offsets[vertex];
			high[k] = offsets[vertex + 1];
		}
	}

#pragma unroll
	for (int k = 0; k < HG_TILE_ITEMS_PER_THREAD; k++)
	{
		const uint64_t i = first + k * HG_TILE_THREADS;
		uint32_t length = 0;
		uint32_t start = low[k];

		if (low[k] < high[k])
		{
			/* a list of the outer graph is counted once, at its first edge */
			if (!in_lists || i == 0 ||
				hg_word_vertex(outer_words[i - 1], shift) != hg_word_vertex(word[k], shift))
				intersections++;
			start = hg_find_range<Word, FIRST>(edge_words, low[k], high[k], word[k], &length,
											   &comparisons);
			matches += length;
		}
		if (KEEP && i < n)
		{
			match_starts[i] = start;
			match_counts[i] = length;
		}
	}

	matches = Reduce(storage[0]).Sum(matches);
	unsigned long long all_comparisons = Reduce(storage[1]).Sum((unsigned long long) comparisons);
	unsigned long long all_intersections =
		Reduce(storage[2]).Sum((unsigned long long) intersections);

	if (threadIdx.x == 0)
	{
		HgLookupCounters *stripe = &counters[blockIdx.x % HG_COUNTER_STRIPES];

		if (KEEP)
		{
			tile_matches[tile] = matches;
			tile_units[tile] = (matches + HG_UNIT_PAIRS - 1) / HG_UNIT_PAIRS;
			atomicMax(&stripe->longest_tile, matches);
		}
		atomicAdd(&stripe->matches, matches);
		atomicAdd(&stripe->comparisons, all_comparisons);
		atomicAdd(&stripe->intersections, all_intersections);
	}
}

/*
 * Returns the last index i in [low, high) with starts[i] <= value, where starts[low] <= value.  A
 * warp searches 32 ways at a time, and all its threads return the result.
 */
__device__ __forceinline__ uint64_t
hg_warp_search(const uint64_t *starts, uint64_t low, uint64_t high, uint64_t value)
{
	const uint32_t lane = threadIdx.x % 32;

	while (high - low > 1)
	{
		uint64_t step = (high - low + 31) / 32;
		uint64_t probe = low + lane * step;
		uint32_t below = __ballot_sync(UINT32_MAX, probe < high && starts[probe] <= value);
		uint32_t last = 31 - __clz(below);

		low += last * step;
		high = low + step < high ? low + step : high;
	}
	return low;
}

/*
 * found[0] and found[1] become the tiles of match numbers first and last; found[2] and found[3]
 * their units, or 0 if unit_starts is NULL.  One warp.
 */
static __global__ void
hg_locate_kernel(const uint64_t *tile_starts, const uint64_t *unit_starts, uint64_t tiles,
				 uint64_t first, uint64_t last, uint64_t *found)
{
	uint64_t value = first;

	for (int i = 0; i < 2; i++, value = last)
	{
		uint64_t tile = hg_warp_search(tile_starts, 0, tiles, value);

		if (threadIdx.x == 0)
		{
			found[i] = tile;
			found[2 + i] = unit_starts == nullptr
							   ? 0
							   : unit_starts[tile] + (value - tile_starts[tile]) / HG_UNIT_PAIRS;
		}
	}
}

/*
 * Writes those matches of a unit that are among the matches first .. end - 1, a block a unit, to
 * outer_out[0 .. end - first - 1] and inner_out.
 *
 * Without SPLIT a unit is a tile, first_unit is a tile, and unit_starts is NULL.  With SPLIT a
 * unit is HG_UNIT_PAIRS matches of a tile; the last one of a tile may have fewer.
 *
 * The block prefix-sums the match counts of the tile's rows, so that each row knows where its
 * matches begin, relative to the unit.  A row that begins before the unit begins at 0, with a
 * later edge.  Then each thread takes matches, finds the row by bisection, and the inner edge by
 * the distance from the row's first match.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <bool SPLIT>
__global__ void
__launch_bounds__(HG_TILE_THREADS)
	hg_write_kernel(const uint32_t *outer_rows, uint64_t n, const uint32_t *inner_rows,
					const uint32_t *match_starts, const uint32_t *match_counts,
					const uint64_t *tile_starts, const uint64_t *unit_starts, uint64_t first_tile,
					uint64_t last_tile, uint64_t first_unit, uint64_t first, uint64_t end,
					uint32_t *outer_out, uint32_t *inner_out)
{
	/* matches of a tile fit 32 bits where a tile is a unit */
	typedef typename std::conditional<SPLIT, unsigned long long, uint32_t>::type Sum;
	typedef cub::BlockScan<Sum, HG_TILE_THREADS> Scan;
	__shared__ typename Scan::TempStorage storage;
	__shared__ uint32_t begins[HG_TILE_ITEMS]; /* the row's first match, relative to the unit */
	__shared__ uint32_t edges[HG_TILE_ITEMS];  /* the inner edge of that match */
	__shared__ uint64_t shared_tile;

	uint64_t tile = first_unit + blockIdx.x;
	uint64_t low;
	uint64_t high;

	if (SPLIT)
	{
		if (threadIdx.x < 32)
		{
			uint64_t unit = first_unit + blockIdx.x;
			uint64_t found = hg_warp_search(unit_starts, first_tile, last_tile + 1, unit);

			if (threadIdx.x == 0)
				shared_tile = found;
		}
		__syncthreads();
		tile = shared_tile;
		low = tile_starts[tile] + (first_unit + blockIdx.x - unit_starts[tile]) * HG_UNIT_PAIRS;
		high = tile_starts[tile + 1];
		if (high - low > HG_UNIT_PAIRS)
			high = low + HG_UNIT_PAIRS;
	}
	else
	{
		low = tile_starts[tile];
		high = tile_starts[tile + 1];
	}
	if (low < first)
		low = first;
	if (high > end)
		high = end;
	if (low >= high)
		return;

	const uint32_t in_unit = (uint32_t) (high - low);
	const uint64_t row0 = tile * HG_TILE_ITEMS;
	const uint32_t item0 = threadIdx.x * HG_TILE_ITEMS_PER_THREAD;
	uint32_t counts[HG_TILE_ITEMS_PER_THREAD];
	Sum sum = 0;
	Sum before;

	/* match_counts has room for whole tiles, so that it can be read four at a time */
#pragma unroll
	for (int k = 0; k < HG_TILE_ITEMS_PER_THREAD; k += 4)
	{
		uint4 four = *reinterpret_cast<const uint4 *>(&match_counts[row0 + item0 + k]);

		counts[k] = four.x;
		counts[k + 1] = four.y;
		counts[k + 2] = four.z;
		counts[k + 3] = four.w;
	}
#pragma unroll
	for (int k = 0; k < HG_TILE_ITEMS_PER_THREAD; k++)
	{
		if (row0 + item0 + k >= n)
			counts[k] = 0;
		sum += counts[k];
	}
	Scan(storage).ExclusiveSum(sum, before);

	/* where the unit starts among the tile's matches */
	const Sum skipped = (Sum) (low - tile_starts[tile]);

#pragma unroll
	for (int k = 0; k < HG_TILE_ITEMS_PER_THREAD; k++)
	{
		uint32_t edge = counts[k] > 0 ? match_starts[row0 + item0 + k] : 0;
		Sum begin = before < skipped ? 0 : before - skipped;

		/* rows behind the unit begin at its end: their real begin might exceed 32 bits */
		begins[item0 + k] = begin < in_unit ? (uint32_t) begin : in_unit;
		edges[item0 + k] = before < skipped ? edge + (uint32_t) (skipped - before) : edge;
		before += counts[k];
	}
	__syncthreads();

	for (uint32_t match = threadIdx.x; match < in_unit; match += HG_TILE_THREADS)
	{
		uint32_t item = 0;

		/* the last row that begins at match or before, so never one without matches */
#pragma unroll
		for (int step = HG_TILE_ITEMS / 2; step > 0; step /= 2)
			if (begins[item + step] <= match)
				item += step;

		uint64_t position = low - first + match;

		outer_out[position] =
			outer_rows != nullptr ? outer_rows[row0 + item] : (uint32_t) (row0 + item);
		inner_out[position] = inner_rows[edges[item] + (match - begins[item])];
	}
}

#endif /* HG_CUDA_MATCH_KERNELS_H */
