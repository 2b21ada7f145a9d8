/*-------------------------------------------------------------------------
 *
 * hg_cuda_bins_kernels.h
 *	  The kernels that join bins: hg_cuda_bins.cu says when each runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BINS_KERNELS_H
#define HG_CUDA_BINS_KERNELS_H

#include "hg_cuda_partition_kernels.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

/* Numbers about the bins of a join: see hg_cuda_bins.cu. */
struct HgBinsSurvey
{
	uint32_t pieces[2];				 /* pieces of outer rows, for narrow and for wide blocks */
	unsigned long long rest_rows[2]; /* by HgSide: rows of bins that fit no block */
	unsigned long long longest;		 /* inner rows of the longest bin that fits a block */
};

/* Sums over all bins of a join. */
struct HgBinsCounters
{
	unsigned long long cursor; /* pairs so far: blocks take positions for theirs from here */
	unsigned long long end;	   /* least number of a match that did not fit the arrays */
	unsigned long long comparisons;
	unsigned long long intersections;
};

/*
 * Surveys the bins that have more than above rows of both sides together, a thread a bin.  Bins
 * with more than wide_rows inner rows fit no block.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_survey_kernel(const uint32_t *inner_starts, const uint32_t *outer_starts, uint32_t bins,
					 uint32_t above, uint32_t wide_rows, HgBinsSurvey *survey)
{
	typedef cub::BlockReduce<unsigned long long, HG_STREAM_THREADS> Reduce;
	__shared__ typename Reduce::TempStorage storage;
	const uint32_t bin = blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	unsigned long long longest = 0;

	if (bin < bins)
	{
		const uint32_t inner = inner_starts[bin + 1] - inner_starts[bin];
		const uint32_t outer = outer_starts[bin + 1] - outer_starts[bin];

		if ((uint64_t) inner + outer <= above)
			; /* not to be joined */
		else if (inner > wide_rows)
		{
			atomicAdd(&survey->rest_rows[HG_INNER], (unsigned long long) inner);
			atomicAdd(&survey->rest_rows[HG_OUTER], (unsigned long long) outer);
		}
		else if (inner > 0 && outer > 0)
			longest = inner;
	}
	longest = Reduce(storage).Reduce(longest, [](unsigned long long a, unsigned long long b)
									 { return a > b ? a : b; });
	if (threadIdx.x == 0 && longest > 0)
		atomicMax(&survey->longest, longest);
}

/*
 * Copies the rows of pieces to words_out and rows_out without gaps, a block a piece.  The order of
 * the pieces is undefined.  *cursor is the number of rows copied so far, 0 at first.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_gather_kernel(const Word *words, const uint32_t *rows, const HgPiece *pieces,
					 uint32_t *cursor, Word *words_out, uint32_t *rows_out)
{
	__shared__ uint32_t position;
	const HgPiece piece = pieces[blockIdx.x];
	const uint32_t n = piece.end - piece.first;

	if (threadIdx.x == 0)
		position = atomicAdd(cursor, n);
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < n; i += HG_STREAM_THREADS)
	{
		words_out[position + i] = words[piece.first + i];
		rows_out[position + i] = rows[piece.first + i];
	}
}

/* Returns the sum of value over the threads of a warp, all of which must call it. */
__device__ __forceinline__ uint32_t
hg_warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
	return __reduce_add_sync(UINT32_MAX, value);
#else
	for (int step = 16; step > 0; step /= 2)
		value += __shfl_xor_sync(UINT32_MAX, value, step);
	return value;
#endif
}

/* Returns for how many lists a bin needs shared memory: at least 4, as they are read by fours. */
__host__ __device__ constexpr uint32_t
hg_bins_list_room(uint32_t bin_vertices)
{
	return bin_vertices < 4 ? 4 : bin_vertices;
}

/* Returns the dynamic shared memory of hg_bins_join_kernel to count: lists and edge words. */
template <typename Word>
constexpr size_t
hg_bins_counted_bytes(uint32_t bin_vertices, uint32_t rows)
{
	/* two edges are read without a check that they exist */
	return (size_t) hg_bins_list_room(bin_vertices) * sizeof(uint32_t) +
		   (size_t) (rows + 2) * sizeof(Word);
}

/* Returns the dynamic shared memory of hg_bins_join_kernel if it writes pairs: edge rows, too. */
template <typename Word>
constexpr size_t
hg_bins_shared_bytes(uint32_t bin_vertices, uint32_t rows)
{
	return hg_bins_counted_bytes<Word>(bin_vertices, rows) + (size_t) (rows + 2) * sizeof(uint32_t);
}

/*
 * Builds the graph of the n < 2^16 rows of one bin in shared memory, by Algorithm 1.  All threads
 * of the block call it; after it returns, all may read the graph.
 *
 * lists[v] is the number of edges of v << 16 | the index behind its last edge, with v counted from
 * the bin's first vertex.  If rows is NULL, edge_rows is not written.  HOT: one vertex may have
 * most of the rows.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Word, int THREADS, bool HOT>
__device__ __forceinline__ void
hg_bins_build(const Word *words, const uint32_t *rows, uint32_t n, uint32_t shift,
			  uint32_t bin_vertices, uint32_t *lists, Word *edge_words, uint32_t *edge_rows)
{
	typedef cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS> Scan;
	__shared__ typename Scan::TempStorage scan_storage;
	static_assert(sizeof(scan_storage) <= HG_BINS_STATIC_SHARED / 2, "see hg_cuda_tuning.h");
	const uint32_t per_thread = bin_vertices > THREADS ? bin_vertices / THREADS : 1;
	const uint32_t first_list = threadIdx.x * per_thread;
	const uint32_t mask = bin_vertices - 1;
	/* with HOT, all threads of a warp take part in each round */
	const uint32_t rounded = HOT ? (n + 31) / 32 * 32 : n;
	uint32_t sum = 0;
	uint32_t before;

	for (uint32_t v = threadIdx.x; v < bin_vertices; v += THREADS)
		lists[v] = 0;
	__syncthreads();

	/* count; several loads at a time wait for memory together */
	for (uint32_t first = threadIdx.x; first < rounded; first += THREADS * HG_BINS_LOADS)
	{
		Word word[HG_BINS_LOADS];

#pragma unroll
		for (int k = 0; k < HG_BINS_LOADS; k++)
			if (first + k * THREADS < n)
				word[k] = words[first + k * THREADS];
#pragma unroll
		for (int k = 0; k < HG_BINS_LOADS; k++)
		{
			const bool there = first + k * THREADS < n;
			const uint32_t list = there ? hg_word_vertex(word[k], shift) & mask : 0;

			if (HOT)
				hg_take_shared(there, lists, list, 1u << 16);
			else if (there)
				atomicAdd(&lists[list], 1u << 16);
		}
	}
	__syncthreads();

	/* prefix sum; a thread sums neighbours, four at a time against bank conflicts */
	if (per_thread >= 4)
	{
		for (uint32_t j = 0; j < per_thread; j += 4)
		{
			uint4 four = *reinterpret_cast<const uint4 *>(&lists[first_list + j]);

			sum += (four.x >> 16) + (four.y >> 16) + (four.z >> 16) + (four.w >> 16);
		}
	}
	else
		for (uint32_t j = 0; j < per_thread && first_list + j < bin_vertices; j++)
			sum += lists[first_list + j] >> 16;
	Scan(scan_storage).ExclusiveSum(sum, before);
	if (per_thread >= 4)
	{
		for (uint32_t j = 0; j < per_thread; j += 4)
		{
			uint4 four = *reinterpret_cast<const uint4 *>(&lists[first_list + j]);
			const uint4 counts = four;

			four.x |= before;
			before += counts.x >> 16;
			four.y |= before;
			before += counts.y >> 16;
			four.z |= before;
			before += counts.z >> 16;
			four.w |= before;
			before += counts.w >> 16;
			*reinterpret_cast<uint4 *>(&lists[first_list + j]) = four;
		}
	}
	else
		for (uint32_t j = 0; j < per_thread && first_list + j < bin_vertices; j++)
		{
			uint32_t count = lists[first_list + j] >> 16;

			lists[first_list + j] |= before;
			before += count;
		}
	__syncthreads();

	/* scatter: the start of each list advances to its end */
	for (uint32_t first = threadIdx.x; first < rounded; first += THREADS * HG_BINS_LOADS)
	{
		Word word[HG_BINS_LOADS];
		uint32_t row[HG_BINS_LOADS];

#pragma unroll
		for (int k = 0; k < HG_BINS_LOADS; k++)
			if (first + k * THREADS < n)
			{
				word[k] = words[first + k * THREADS];
				row[k] = rows != nullptr ? rows[first + k * THREADS] : 0;
			}
#pragma unroll
		for (int k = 0; k < HG_BINS_LOADS; k++)
		{
			const bool there = first + k * THREADS < n;
			const uint32_t list = there ? hg_word_vertex(word[k], shift) & mask : 0;
			uint32_t position = 0;

			if (HOT)
				position = hg_take_shared(there, lists, list, 1u) & 0xffff;
			else if (there)
				position = atomicAdd(&lists[list], 1u) & 0xffff;
			if (there)
			{
				edge_words[position] = word[k];
				if (rows != nullptr)
					edge_rows[position] = row[k];
			}
		}
	}
	__syncthreads();
}

/*
 * Looks up HG_BINS_ITEMS outer rows of a thread in the graph of a bin.  found[k] becomes the
 * number of edges of list[k] that match word[k] << 16 | the index of the last of them.  *matches,
 * *comparisons and *intersections are added to.
 */
template <typename Word>
__device__ __forceinline__ void
hg_bins_find(const Word *word, const uint32_t *list, const Word *edge_words, bool first_only,
			 uint32_t *found, uint32_t *matches, uint32_t *comparisons, uint32_t *intersections)
{
	/* most lists have one or two edges: compare both without waiting for a branch */
#pragma unroll
	for (int k = 0; k < HG_BINS_ITEMS; k++)
	{
		const uint32_t length = list[k] >> 16;
		const uint32_t edge = (list[k] & 0xffff) - length;
		const Word one = edge_words[edge];
		const Word two = edge_words[edge + 1];

		found[k] = length > 0 && one == word[k] ? 0x10000 | edge : 0;
		if (length > 1 && two == word[k] && !(first_only && found[k] > 0))
			found[k] = ((found[k] & 0xffff0000) + 0x10000) | (edge + 1);
	}
#pragma unroll
	for (int k = 0; k < HG_BINS_ITEMS; k++)
	{
		const uint32_t length = list[k] >> 16;
		const uint32_t end = list[k] & 0xffff;

		for (uint32_t i = end - length + 2; i < end; i++)
		{
			if (first_only && found[k] > 0)
				break;
			if (edge_words[i] == word[k])
				found[k] = ((found[k] & 0xffff0000) + 0x10000) | i;
		}
		*matches += found[k] >> 16;
		*intersections += length > 0;
		*comparisons +=
			first_only && found[k] > 0 ? (found[k] & 0xffff) - (end - length) + 1 : length;
	}
}

/* Counters that the threads of a block share, in shared memory. */
template <int THREADS> struct HgBinsTally
{
	uint32_t warp_matches[2][THREADS / 32]; /* by turn: of one unit, then of the next */
	unsigned long long unit_position[2];
	uint32_t comparisons; /* of all units */
	uint32_t intersections;
};

/* Zeroes the tally.  A barrier of the block must follow. */
template <int THREADS>
__device__ __forceinline__ void
hg_bins_tally_begin(HgBinsTally<THREADS> *tally)
{
	if (threadIdx.x == 0)
		tally->comparisons = tally->intersections = 0;
}

/*
 * Reserves output positions for the matches of a unit, and returns the first position of the
 * calling warp.  *of_warp becomes the number of matches of the warp; matches is that of the
 * thread.  All threads of the block call it, with a turn that alternates between 0 and 1.
 *
 * If numbered, the unit's positions begin at *unit_matches.  Otherwise it takes the next free ones
 * from the cursor, and stores its number of matches in *unit_matches, unless that is NULL.
 */
template <int THREADS>
__device__ __forceinline__ uint64_t
hg_bins_take_room(HgBinsTally<THREADS> *tally, uint32_t turn, uint32_t matches, bool numbered,
				  uint64_t *unit_matches, HgBinsCounters *counters, uint32_t *of_warp)
{
	constexpr uint32_t WARPS = THREADS / 32;
	static_assert(WARPS <= 32, "a warp sums up the warps");
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp = threadIdx.x / 32;

	*of_warp = hg_warp_sum(matches);
	if (lane == 0)
		tally->warp_matches[turn][warp] = *of_warp;
	__syncthreads();

	const uint32_t of_lane = lane < WARPS ? tally->warp_matches[turn][lane] : 0;
	const uint32_t before = hg_warp_sum(lane < warp ? of_lane : 0);

	if (numbered)
		return *unit_matches + before;
	if (warp == 0)
	{
		const uint32_t total = hg_warp_sum(of_lane);

		if (lane == 0)
		{
			tally->unit_position[turn] =
				total > 0 ? atomicAdd(&counters->cursor, (unsigned long long) total) : 0;
			if (unit_matches != nullptr)
				*unit_matches = total;
		}
	}
	__syncthreads();
	return tally->unit_position[turn] + before;
}

/* Adds what the threads of a block have counted to the counters.  All of them call it. */
template <int THREADS>
__device__ __forceinline__ void
hg_bins_tally_end(HgBinsTally<THREADS> *tally, uint32_t comparisons, uint32_t intersections,
				  HgBinsCounters *counters)
{
	comparisons = hg_warp_sum(comparisons);
	intersections = hg_warp_sum(intersections);
	if (threadIdx.x % 32 == 0)
	{
		atomicAdd(&tally->comparisons, comparisons);
		atomicAdd(&tally->intersections, intersections);
	}
	__syncthreads();
	if (threadIdx.x == 0)
	{
		atomicAdd(&counters->comparisons, (unsigned long long) tally->comparisons);
		atomicAdd(&counters->intersections, (unsigned long long) tally->intersections);
	}
}

/*
 * Writes the pairs of the rows of a warp, as hg_bins_find found them, from position to on.
 * Positions below 0 and from capacity on are not written.
 *
 * If counters is not NULL, no row is written in part, and counters->end becomes the least number
 * of a match that is missing for that reason.  Position 0 has the number first.
 */
template <typename Word>
__device__ __forceinline__ void
hg_bins_write(const Word *word, const uint32_t *row, const uint32_t *list, const uint32_t *found,
			  const Word *edge_words, const uint32_t *edge_rows, long long to, long long capacity,
			  uint32_t *outer_out, uint32_t *inner_out, HgBinsCounters *counters, uint64_t first)
{
	static_assert(32 % HG_BINS_GROUP == 0 && HG_BINS_GROUP < 32, "a warp has several groups");
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t lanes_below = (1u << lane) - 1;

#pragma unroll
	for (int k = 0; k < HG_BINS_ITEMS; k++)
	{
		const uint32_t count = found[k] >> 16;

		if (!__any_sync(UINT32_MAX, count > 1))
		{
			const uint32_t matching = __ballot_sync(UINT32_MAX, count > 0);
			const long long mine = to + __popc(matching & lanes_below);

			if (count > 0 && mine >= 0)
			{
				if (mine < capacity)
				{
					outer_out[mine] = row[k];
					inner_out[mine] = edge_rows[found[k] & 0xffff];
				}
				else if (counters != nullptr)
					atomicMin(&counters->end, (unsigned long long) (first + mine));
			}
			to += __popc(matching);
		}
		else
		{
			const long long mine = to + hg_warp_sum_before(count, lane);
			const bool whole = mine >= 0 && mine + count <= capacity;
			const uint32_t of_group = lane % HG_BINS_GROUP;
			const uint32_t group = lane - of_group;

			if (count > 0 && mine >= 0 && !whole && counters != nullptr)
				atomicMin(&counters->end, (unsigned long long) (first + mine));
			to = __shfl_sync(UINT32_MAX, mine + count, 31);

			/* each group writes the pairs of its rows, one row after the other */
			for (uint32_t source = group; source < group + HG_BINS_GROUP; source++)
			{
				const Word its_word = __shfl_sync(UINT32_MAX, word[k], source);
				const uint32_t its_row = __shfl_sync(UINT32_MAX, row[k], source);
				const uint32_t its_list =
					__shfl_sync(UINT32_MAX, count > 0 && whole ? list[k] : 0, source);
				long long its_position = __shfl_sync(UINT32_MAX, mine, source);
				const uint32_t end = its_list & 0xffff;

				for (uint32_t edge = end - (its_list >> 16); __any_sync(UINT32_MAX, edge < end);
					 edge += HG_BINS_GROUP)
				{
					const bool match =
						edge + of_group < end && edge_words[edge + of_group] == its_word;
					const uint32_t matching =
						(__ballot_sync(UINT32_MAX, match) >> group) & ((1u << HG_BINS_GROUP) - 1);

					if (match)
					{
						const long long position =
							its_position + __popc(matching & ((1u << of_group) - 1));

						outer_out[position] = its_row;
						inner_out[position] = edge_rows[edge + of_group];
					}
					its_position += __popc(matching);
				}
			}
		}
	}
}

/* Parameters of hg_bins_join_kernel.  Arrays are in device memory. */
template <typename Word> struct HgBinsJoin
{
	const Word *inner_words; /* rows in bins */
	const uint32_t *inner_rows;
	const uint32_t *inner_starts;
	const Word *outer_words;
	const uint32_t *outer_rows;
	uint32_t shift;		   /* 32 - log2 of the vertices of all bins */
	uint32_t bin_vertices; /* vertices of one bin */
	uint32_t room;		   /* most inner rows of a bin */

	const HgPiece *pieces;	/* of outer rows, one for each block */
	uint64_t *unit_matches; /* HG_BINS_UNITS for each piece, or NULL; see below */
	bool first_only;		/* a row has at most one match */

	uint32_t *outer_out; /* [capacity] pairs; NULL: count only */
	uint32_t *inner_out;
	uint64_t capacity;
	bool numbered;	/* unit_matches[i] is the number of matches before unit i */
	uint64_t first; /* if numbered: the number of the first match to write */
	HgBinsCounters *counters;
};

/*
 * Joins pieces of outer rows with the inner rows of their bin, a block a piece.
 *
 * The block builds the graph of the inner rows in shared memory and looks the outer rows up, a
 * unit of THREADS * HG_BINS_ITEMS rows at a time.  For each of its rows a thread remembers the
 * list, the number of edges that match, and the last of them.  So the block knows how many pairs
 * the unit has, and the positions of each row's pairs, which follow each other row after row.  A
 * row's only pair is written by its thread.  The pairs of a row that has several are written by
 * HG_BINS_GROUP threads, which walk the list together.
 *
 * If not numbered: unit_matches of each unit, unless NULL, becomes its number of matches; entries
 * of units that do not exist are left alone.  The pairs go to the next free positions, taken from
 * the cursor, which ends up as the number of all pairs, whether they fit the arrays or not.
 *
 * If numbered: the pairs first .. first + capacity - 1 are written, the first one to position 0.
 * A row is written only if all of its matches are among them; counters->end becomes the least
 * number of a match left out for that reason, or stays.  Units outside of the range are not looked
 * up, and nothing is counted.  The order of units, and of rows in a unit, is always the same; the
 * order of edges in a list is not.
 *
 * In one piece: its phases share registers and shared memory.
 */
template <typename Word, int THREADS>
__global__ void
__launch_bounds__(THREADS, hg_bins_blocks(sizeof(Word), THREADS))
	hg_bins_join_kernel(const HgBinsJoin<Word> join)
{
	constexpr uint32_t UNIT_ROWS = THREADS * HG_BINS_ITEMS;
	extern __shared__ __align__(16) unsigned char hg_shared[];
	__shared__ HgBinsTally<THREADS> tally;

	/* lists are read four at a time, so they must begin at a multiple of 16 bytes */
	uint32_t *lists = reinterpret_cast<uint32_t *>(hg_shared);
	Word *edge_words = reinterpret_cast<Word *>(lists + hg_bins_list_room(join.bin_vertices));
	uint32_t *edge_rows = reinterpret_cast<uint32_t *>(edge_words + join.room + 2);

	const HgPiece piece = join.pieces[blockIdx.x];
	const uint32_t inner_start = join.inner_starts[piece.bin];
	const uint32_t thread = threadIdx.x;
	const uint32_t mask = join.bin_vertices - 1;
	uint32_t comparisons = 0;
	uint32_t intersections = 0;
	uint32_t turn = 0;

	hg_bins_tally_begin(&tally);
	hg_bins_build<Word, THREADS, false>(join.inner_words + inner_start,
										join.outer_out != nullptr ? join.inner_rows + inner_start
																  : nullptr,
										join.inner_starts[piece.bin + 1] - inner_start, join.shift,
										join.bin_vertices, lists, edge_words, edge_rows);

	for (uint32_t unit = 0; unit * UNIT_ROWS < piece.end - piece.first; unit++)
	{
		const uint32_t start = piece.first + unit * UNIT_ROWS;
		const uint32_t n = piece.end - start;
		uint64_t *unit_matches =
			join.unit_matches != nullptr
				? join.unit_matches + (uint64_t) blockIdx.x * HG_BINS_UNITS + unit
				: nullptr;
		uint32_t of_warp;
		Word word[HG_BINS_ITEMS];
		uint32_t row[HG_BINS_ITEMS];
		uint32_t list[HG_BINS_ITEMS];
		uint32_t found[HG_BINS_ITEMS]; /* see hg_bins_find */
		uint32_t matches = 0;

		if (join.numbered &&
			(unit_matches[0] >= join.first + join.capacity || unit_matches[1] <= join.first))
			continue;

			/* all loads of one kind first, so that they wait for memory together */
#pragma unroll
		for (int k = 0; k < HG_BINS_ITEMS; k++)
		{
			word[k] = 0;
			row[k] = 0;
			if (k * THREADS + thread < n)
			{
				word[k] = join.outer_words[start + k * THREADS + thread];
				if (join.outer_out != nullptr)
					row[k] = join.outer_rows[start + k * THREADS + thread];
			}
		}
#pragma unroll
		for (int k = 0; k < HG_BINS_ITEMS; k++)
			list[k] =
				k * THREADS + thread < n ? lists[hg_word_vertex(word[k], join.shift) & mask] : 0;

		hg_bins_find<Word>(word, list, edge_words, join.first_only, found, &matches, &comparisons,
						   &intersections);

		const uint64_t position = hg_bins_take_room(&tally, turn, matches, join.numbered,
													unit_matches, join.counters, &of_warp);

		turn ^= 1;
		if (join.outer_out == nullptr || of_warp == 0)
			continue;

		hg_bins_write<Word>(word, row, list, found, edge_words, edge_rows,
							(long long) (position - join.first), (long long) join.capacity,
							join.outer_out, join.inner_out, join.numbered ? join.counters : nullptr,
							join.first);
	}

	if (!join.numbered)
		hg_bins_tally_end(&tally, comparisons, intersections, join.counters);
}

#endif /* HG_CUDA_BINS_KERNELS_H */
