/*-------------------------------------------------------------------------
 *
 * hg_cuda_join.cu
 *	  Matches rows with a HashGraph in device memory.
 *
 * Both probes of the paper are one procedure here.  Outer rows search the list of their vertex, a
 * thread a row.  In the standard probe they come as they were appended, and access the inner graph
 * at random.  In the intersection (Algorithm 3) they come as edges of the outer graph, list by
 * list: neighbouring threads search neighbouring lists of the inner graph, which are read once and
 * in order.
 *
 * Lists are sorted by their words (hg_cuda_graph.h), so the matches of a row are one range of
 * inner edges, however many they are.
 *
 * 1. Look up: store the range of each row, and sum the matches of each tile of rows.
 * 2. Prefix-sum the tiles, which numbers all matches.
 * 3. Write matches first .. first + count - 1, for any first and count.  A block takes a tile if
 *	  all tiles are small.  If one key has so many rows that a tile has more matches than a block
 *	  should write, a block takes a unit: an equal part of a tile.
 *
 * No memory grows with the number of matches, and all counts of matches have 64 bits.  The matches
 * of an outer row have consecutive numbers.
 *
 * MEMORY: 8 bytes for each outer row, and 16 for each tile.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_join.h"

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_match_kernels.h"

#include <cub/device/device_scan.cuh>
#include <cstring>

/* Most tiles that one launch looks up. */
static constexpr uint64_t PIECE_TILES = HG_PIECE_ROWS / HG_TILE_ITEMS;

/* Most blocks of a launch. */
static constexpr uint64_t MAX_BLOCKS = UINT64_C(1) << 30;

static_assert(HG_COUNTER_STRIPES * sizeof(HgLookupCounters) <= HG_READBACK_BYTES,
			  "the counters must fit what can be read back");
static_assert((HG_TILE_ITEMS & (HG_TILE_ITEMS - 1)) == 0 && HG_TILE_ITEMS_PER_THREAD % 4 == 0,
			  "hg_write_kernel bisects tiles, and reads them four rows at a time");

/* Looks up all tiles.  join is NULL if nothing is kept. */
template <typename Word, bool KEEP, bool FIRST>
static HgStatus
look_up(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner, HgCudaJoin *join,
		HgLookupCounters *counters, HgError *error)
{
	const uint64_t tiles = (outer->count + HG_TILE_ITEMS - 1) / HG_TILE_ITEMS;

	for (uint64_t first = 0; first < tiles; first += PIECE_TILES)
	{
		uint64_t piece = tiles - first < PIECE_TILES ? tiles - first : PIECE_TILES;

		HG_TRY((hg_cuda_launch<hg_lookup_kernel<Word, KEEP, FIRST>>(
			work->stream, "hg_lookup_kernel", (unsigned) piece, HG_TILE_THREADS, error,
			static_cast<const Word *>(outer->words), outer->count, first, outer->in_lists,
			inner->offsets, static_cast<const Word *>(inner->edge_words), 32 - inner->vertices_log2,
			KEEP ? join->match_starts : nullptr, KEEP ? join->match_counts : nullptr,
			KEEP ? join->tile_starts : nullptr, KEEP ? join->unit_starts : nullptr, counters)));
		if (first + piece < tiles)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

template <typename Word>
static HgStatus
look_up_mode(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner, HgMatchMode mode,
			 HgCudaJoin *join, HgLookupCounters *counters, HgError *error)
{
	if (mode == HG_MATCH_FIRST)
		return join != nullptr
				   ? look_up<Word, true, true>(work, outer, inner, join, counters, error)
				   : look_up<Word, false, true>(work, outer, inner, join, counters, error);
	return join != nullptr ? look_up<Word, true, false>(work, outer, inner, join, counters, error)
						   : look_up<Word, false, false>(work, outer, inner, join, counters, error);
}

/* Looks up all tiles, and waits for the counters.  *longest_tile is set if join is not NULL. */
static HgStatus
look_up_counted(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner,
				HgMatchMode mode, HgCudaJoin *join, HgCudaMatchCounts *counts,
				uint64_t *longest_tile, HgError *error)
{
	HgLookupCounters *counters;
	const void *host;

	memset(counts, 0, sizeof(*counts));
	HG_TRY(hg_cuda_alloc_array(work, HG_COUNTER_STRIPES, &counters, error));
	HG_CUDA_TRY(cudaMemsetAsync(counters, 0, HG_COUNTER_STRIPES * sizeof(*counters), work->stream),
				error);
	if (inner->key_width == 4)
		HG_TRY(look_up_mode<uint32_t>(work, outer, inner, mode, join, counters, error));
	else
		HG_TRY(look_up_mode<uint64_t>(work, outer, inner, mode, join, counters, error));
	HG_TRY(hg_cuda_read_back(work, counters, HG_COUNTER_STRIPES * sizeof(*counters), &host, error));
	hg_cuda_free(work, counters);

	*longest_tile = 0;
	for (int i = 0; i < HG_COUNTER_STRIPES; i++)
	{
		const HgLookupCounters *stripe = static_cast<const HgLookupCounters *>(host) + i;

		counts->matches += stripe->matches;
		counts->comparisons += stripe->comparisons;
		counts->intersections += stripe->intersections;
		if (stripe->longest_tile > *longest_tile)
			*longest_tile = stripe->longest_tile;
	}
	return HG_OK;
}

/* Replaces the numbers of count tiles by the sums before each, and the total behind them. */
static HgStatus
sum_up(HgCudaWork *work, uint64_t *numbers, uint64_t count, HgError *error)
{
	size_t bytes = 0;
	void *temporary;

	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, bytes, numbers, numbers, (int) count + 1,
											  work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, numbers, numbers, (int) count + 1,
											  work->stream),
				error);
	hg_cuda_free(work, temporary);
	return HG_OK;
}

HgStatus
hg_cuda_join_count(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner,
				   HgMatchMode mode, HgCudaMatchCounts *counts, HgError *error)
{
	uint64_t longest_tile = 0;

	return look_up_counted(work, outer, inner, mode, nullptr, counts, &longest_tile, error);
}

HgStatus
hg_cuda_join_open(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner,
				  HgMatchMode mode, HgCudaJoin *join, HgError *error)
{
	const uint64_t tiles = (outer->count + HG_TILE_ITEMS - 1) / HG_TILE_ITEMS;
	uint64_t longest_tile = 0;

	memset(join, 0, sizeof(*join));
	join->outer = *outer;
	join->inner = *inner;
	join->tiles = tiles;
	if (tiles == 0)
		return HG_OK;

	HG_TRY(hg_cuda_alloc_array(work, outer->count, &join->match_starts, error));
	HG_TRY(hg_cuda_alloc_array(work, tiles * HG_TILE_ITEMS, &join->match_counts, error));
	HG_TRY(hg_cuda_alloc_array(work, tiles + 1, &join->tile_starts, error));
	HG_TRY(hg_cuda_alloc_array(work, tiles + 1, &join->unit_starts, error));
	HG_TRY(hg_cuda_alloc_array(work, 4, &join->found, error));

	/* set what is summed and read in whole tiles, and no row writes */
	HG_CUDA_TRY(cudaMemsetAsync(join->tile_starts + tiles, 0, sizeof(uint64_t), work->stream),
				error);
	HG_CUDA_TRY(cudaMemsetAsync(join->unit_starts + tiles, 0, sizeof(uint64_t), work->stream),
				error);
	HG_CUDA_TRY(cudaMemsetAsync(join->match_counts + outer->count, 0,
								(tiles * HG_TILE_ITEMS - outer->count) * sizeof(uint32_t),
								work->stream),
				error);

	HG_TRY(look_up_counted(work, outer, inner, mode, join, &join->counts, &longest_tile, error));
	HG_TRY(sum_up(work, join->tile_starts, tiles, error));
	if (longest_tile <= HG_UNIT_PAIRS)
	{
		hg_cuda_free(work, join->unit_starts);
		join->unit_starts = nullptr;
	}
	else
		HG_TRY(sum_up(work, join->unit_starts, tiles, error));
	return HG_OK;
}

HgStatus
hg_cuda_join_write(HgCudaWork *work, const HgCudaJoin *join, uint64_t first, uint64_t count,
				   uint32_t *outer_rows, uint32_t *inner_rows, HgError *error)
{
	const bool split = join->unit_starts != nullptr;
	uint64_t found[4] = {0, join->tiles - 1, 0, 0}; /* as hg_locate_kernel sets them */
	uint64_t first_block;
	uint64_t last_block;

	if (count == 0)
		return HG_OK;
	if (split || first > 0 || count < join->counts.matches)
	{
		const void *host;

		HG_TRY((hg_cuda_launch<hg_locate_kernel>(work->stream, "hg_locate_kernel", 1, 32, error,
												 join->tile_starts, join->unit_starts, join->tiles,
												 first, first + count - 1, join->found)));
		HG_TRY(hg_cuda_read_back(work, join->found, sizeof(found), &host, error));
		memcpy(found, host, sizeof(found));
	}

	first_block = split ? found[2] : found[0];
	last_block = split ? found[3] : found[1];
	for (uint64_t block = first_block; block <= last_block; block += MAX_BLOCKS)
	{
		unsigned blocks =
			(unsigned) (last_block - block < MAX_BLOCKS ? last_block - block + 1 : MAX_BLOCKS);

		if (split)
			HG_TRY((hg_cuda_launch<hg_write_kernel<true>>(
				work->stream, "hg_write_kernel", blocks, HG_TILE_THREADS, error, join->outer.rows,
				join->outer.count, join->inner.edge_rows, join->match_starts, join->match_counts,
				join->tile_starts, join->unit_starts, found[0], found[1], block, first,
				first + count, outer_rows, inner_rows)));
		else
			HG_TRY((hg_cuda_launch<hg_write_kernel<false>>(
				work->stream, "hg_write_kernel", blocks, HG_TILE_THREADS, error, join->outer.rows,
				join->outer.count, join->inner.edge_rows, join->match_starts, join->match_counts,
				join->tile_starts, nullptr, found[0], found[1], block, first, first + count,
				outer_rows, inner_rows)));
	}
	return HG_OK;
}

void
hg_cuda_join_close(HgCudaWork *work, HgCudaJoin *join)
{
	hg_cuda_free(work, join->match_starts);
	hg_cuda_free(work, join->match_counts);
	hg_cuda_free(work, join->tile_starts);
	hg_cuda_free(work, join->unit_starts);
	hg_cuda_free(work, join->found);
	memset(join, 0, sizeof(*join));
}
