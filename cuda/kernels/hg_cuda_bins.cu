/*-------------------------------------------------------------------------
 *
 * hg_cuda_bins.cu
 *	  Joins two sides whose rows are in bins, one bin at a time.
 *
 * The engine joins this way if the spec demands no algorithm.  The rows of both sides are in bins
 * by the first bits of their words (hg_cuda_partition.cu), so small that the inner rows of one fit
 * the shared memory of a block.  A block builds their HashGraph there (Algorithm 1 of the paper)
 * and looks up the outer rows of its bin: the standard probe, with the graph so near that the
 * order of lookups does not matter.  The graph is gone when the block ends; neither offsets nor
 * edges are written to device memory.  That is less work than to build the graph of the outer side
 * as well, and to intersect.
 *
 * Pairs are written as they are found: a block reserves positions for the pairs of some thousand
 * rows at a time.  If the arrays do not hold all pairs, the match counts of each unit of outer
 * rows are there, and their prefix sums number all matches.  So any range of matches can be
 * written later by the blocks that have it, any number of times.  A range begins and ends between
 * two outer rows: the order of the matches of one row varies between passes.
 *
 * SKEW.  The outer rows of a bin are divided into pieces of some ten thousand rows, a block each,
 * so that a bin of millions is as fast as a thousand bins.  A bin whose inner rows do not fit a
 * narrow block (several run on a multiprocessor) goes to a wide one, with all shared memory there
 * is.  Bins that do not fit even that have few keys with many rows.  Their rows of both sides are
 * copied.  The inner ones are sorted by word to become a graph in device memory
 * (hg_cuda_graph_sort), whose matches hg_cuda_join.cu finds and writes, whatever their number.
 * These matches come last.
 *
 * A list of many inner rows with several keys is compared from end to end for each outer row.  A
 * bin has some thousand rows at most, so the comparisons are the outer rows times some thousand.
 * Launches begin small and grow as long as they are quick, since a launched kernel can't be
 * cancelled.
 *
 * MEMORY: 12 bytes for each piece, and 128 more for matches.  The rows of bins that fit no block
 * take their size again, and the inner ones once more while they are sorted.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_join.h"

#include "hg_cuda_bins_kernels.h"
#include "../device/hg_cuda_launch.h"
#include "hg_cuda_match_kernels.h"

#include <cub/device/device_scan.cuh>
#include <cstring>

/* The pieces of outer rows that narrow and wide blocks take. */
enum
{
	NARROW,
	WIDE
};

/* Rows of a piece; wide blocks take as many, in fewer units. */
static constexpr uint32_t PIECE_ROWS = HG_BINS_THREADS * HG_BINS_ITEMS * HG_BINS_UNITS;

/* Rows of a piece that is copied to the rest: the bins that fit no block. */
static constexpr uint32_t GATHERED_ROWS = 8192;

static_assert(HG_BINS_WIDE_THREADS >= HG_BINS_THREADS, "a wide block has units enough");
static_assert(sizeof(HgBinsSurvey) <= HG_READBACK_BYTES &&
				  sizeof(HgBinsCounters) <= HG_READBACK_BYTES,
			  "what kernels count must fit what can be read back");

static uint32_t
bin_vertices(const HgCudaBins *bins)
{
	return UINT32_C(1) << (bins->vertices_log2 - bins->inner.bins_log2);
}

/* ------------------------------------------------------------------------
 * Preparation
 * ------------------------------------------------------------------------ */

/* Sets how many inner rows of a bin fit narrow and wide blocks. */
static void
choose_rooms(const HgCudaWork *work, HgCudaBins *bins)
{
	const uint32_t width = bins->inner.key_width;
	const size_t none = width == 4 ? hg_bins_shared_bytes<uint32_t>(bin_vertices(bins), 0)
								   : hg_bins_shared_bytes<uint64_t>(bin_vertices(bins), 0);
	const size_t limit = work->device->shared_limit - HG_BINS_STATIC_SHARED;
	const size_t room = limit > none ? (limit - none) / (width + sizeof(uint32_t)) : 0;

	/* an edge's index must fit 16 bits */
	bins->widths[WIDE].room = (uint32_t) (room < UINT16_MAX ? room : UINT16_MAX);
	bins->widths[NARROW].room = hg_bins_rows(width);
	if (bins->widths[NARROW].room > bins->widths[WIDE].room)
		bins->widths[NARROW].room = bins->widths[WIDE].room;
}

/* Returns the filter for the bins that are joined, by the rows of both sides. */
static HgBinFilter
filter_of(const HgCudaBins *bins)
{
	const HgBinFilter filter = {bins->inner.starts, 1, UINT32_MAX, bins->outer.starts, bins->above};

	return filter;
}

/* Finds the lengths of the bins, and lists the pieces of those that fit a block. */
static HgStatus
survey_bins(HgCudaWork *work, HgCudaBins *bins, HgBinsSurvey *survey, HgError *error)
{
	const uint32_t count = UINT32_C(1) << bins->inner.bins_log2;
	const uint64_t cuts = bins->outer.count / PIECE_ROWS; /* pieces beside one for each bin */
	const uint64_t long_bins = bins->inner.count / (bins->widths[NARROW].room + UINT64_C(1));
	HgBinFilter chosen = filter_of(bins);
	HgBinsSurvey *found;
	const void *host;

	/* everything is launched before any result is known, and awaited once */
	HG_TRY(hg_cuda_alloc_array(work, cuts + count, &bins->widths[NARROW].pieces, error));
	if (long_bins > 0)
		HG_TRY(hg_cuda_alloc_array(work, cuts + long_bins, &bins->widths[WIDE].pieces, error));
	HG_TRY(hg_cuda_alloc_array(work, 1, &found, error));
	HG_CUDA_TRY(cudaMemsetAsync(found, 0, sizeof(*found), work->stream), error);
	HG_TRY((hg_cuda_launch<hg_survey_kernel>(
		work->stream, "hg_survey_kernel", hg_blocks_for(count, HG_STREAM_THREADS),
		HG_STREAM_THREADS, error, bins->inner.starts, bins->outer.starts, count, bins->above,
		bins->widths[WIDE].room, found)));
	for (int i = NARROW; i <= WIDE; i++)
	{
		if (bins->widths[i].pieces == nullptr)
			continue;
		chosen.least = i == NARROW ? 1 : bins->widths[NARROW].room + 1;
		chosen.most = bins->widths[i].room;
		HG_TRY((hg_cuda_launch<hg_pieces_kernel>(
			work->stream, "hg_pieces_kernel", hg_blocks_for(count, 32), HG_STREAM_THREADS, error,
			bins->outer.starts, chosen, nullptr, count, PIECE_ROWS, 0, 0, bins->widths[i].pieces,
			found->pieces + i)));
	}
	HG_TRY(hg_cuda_read_back(work, found, sizeof(*found), &host, error));
	memcpy(survey, host, sizeof(*survey));
	hg_cuda_free(work, found);
	bins->longest = survey->longest;
	for (int i = NARROW; i <= WIDE; i++)
		bins->widths[i].count = survey->pieces[i];
	return HG_OK;
}

/* Copies the rows of one side in bins that fit no block to new arrays: count rows. */
template <typename Word>
static HgStatus
gather(HgCudaWork *work, const HgCudaBins *bins, const HgCudaPartition *side, uint64_t count,
	   void **words, uint32_t **rows, HgError *error)
{
	const uint32_t bin_count = UINT32_C(1) << side->bins_log2;
	const uint64_t most_pieces = side->count / GATHERED_ROWS + bin_count;
	HgBinFilter chosen = filter_of(bins);
	HgPiece *pieces;
	uint32_t *numbers; /* [2] pieces, rows */
	const void *host;
	uint32_t piece_count;
	Word *gathered;

	HG_TRY(hg_cuda_alloc_array(work, most_pieces, &pieces, error));
	HG_TRY(hg_cuda_alloc_array(work, 2, &numbers, error));
	HG_CUDA_TRY(cudaMemsetAsync(numbers, 0, 2 * sizeof(*numbers), work->stream), error);
	chosen.least = bins->widths[WIDE].room + 1;
	HG_TRY((hg_cuda_launch<hg_pieces_kernel>(
		work->stream, "hg_pieces_kernel", hg_blocks_for(bin_count, 32), HG_STREAM_THREADS, error,
		side->starts, chosen, nullptr, bin_count, GATHERED_ROWS, 0, 0, pieces, numbers)));
	HG_TRY(hg_cuda_read_back(work, numbers, sizeof(*numbers), &host, error));
	memcpy(&piece_count, host, sizeof(piece_count));

	HG_TRY(hg_cuda_alloc_array(work, count, &gathered, error));
	HG_TRY(hg_cuda_alloc_array(work, count, rows, error));
	for (uint64_t first = 0; first < piece_count; first += HG_PIECE_ROWS / GATHERED_ROWS)
	{
		uint64_t piece = piece_count - first < HG_PIECE_ROWS / GATHERED_ROWS
							 ? piece_count - first
							 : HG_PIECE_ROWS / GATHERED_ROWS;

		HG_TRY((hg_cuda_launch<hg_gather_kernel<Word>>(
			work->stream, "hg_gather_kernel", (unsigned) piece, HG_STREAM_THREADS, error,
			static_cast<const Word *>(side->words), side->rows, pieces + first, numbers + 1,
			gathered, *rows)));
		HG_TRY(hg_cuda_wait(work, error));
	}
	*words = gathered;
	hg_cuda_free(work, pieces);
	hg_cuda_free(work, numbers);
	return HG_OK;
}

/* Makes the graph of the inner rows that fit no block, and copies their outer rows. */
template <typename Word>
static HgStatus
open_rest(HgCudaWork *work, HgCudaBins *bins, const HgBinsSurvey *survey, HgError *error)
{
	const uint64_t inner_rows = survey->rest_rows[HG_INNER];
	const uint64_t outer_rows = survey->rest_rows[HG_OUTER];
	void *words;
	uint32_t *rows;

	HG_TRY(gather<Word>(work, bins, &bins->inner, inner_rows, &words, &rows, error));
	HG_TRY(hg_cuda_graph_sort(work, bins->inner.key_width, bins->vertices_log2, words, rows,
							  inner_rows, &bins->rest_inner, error));
	HG_TRY(gather<Word>(work, bins, &bins->outer, outer_rows, &words, &rows, error));
	bins->rest_outer.words = words;
	bins->rest_outer.rows = rows;
	bins->rest_outer.count = outer_rows;
	bins->rest_outer.in_lists = false;
	return HG_OK;
}

HgStatus
hg_cuda_bins_open(HgCudaWork *work, const HgCudaPartition *inner, const HgCudaPartition *outer,
				  uint32_t vertices_log2, uint32_t above, HgCudaBins *bins, HgError *error)
{
	HgBinsSurvey survey;

	memset(bins, 0, sizeof(*bins));
	bins->inner = *inner;
	bins->outer = *outer;
	bins->vertices_log2 = vertices_log2;
	bins->above = above;
	choose_rooms(work, bins);
	HG_TRY(survey_bins(work, bins, &survey, error));
	if (survey.rest_rows[HG_OUTER] == 0)
		return HG_OK;
	return inner->key_width == 4 ? open_rest<uint32_t>(work, bins, &survey, error)
								 : open_rest<uint64_t>(work, bins, &survey, error);
}

void
hg_cuda_bins_close(HgCudaWork *work, HgCudaBins *bins)
{
	hg_cuda_free(work, bins->widths[NARROW].pieces);
	hg_cuda_free(work, bins->widths[WIDE].pieces);
	hg_cuda_graph_free(work, &bins->rest_inner);
	hg_cuda_free(work, const_cast<void *>(bins->rest_outer.words));
	hg_cuda_free(work, const_cast<uint32_t *>(bins->rest_outer.rows));
	memset(bins, 0, sizeof(*bins));
}

/* ------------------------------------------------------------------------
 * Launches
 * ------------------------------------------------------------------------ */

/* Parameters of a pass over pieces, for both widths of keys. */
struct Request
{
	HgMatchMode mode;
	uint64_t *unit_matches; /* of all pieces, narrow ones first; or NULL */
	bool numbered;
	uint64_t first;
	uint32_t *outer_out;
	uint32_t *inner_out;
	uint64_t capacity;
	HgBinsCounters *counters;
};

/* Returns the number of a width's first piece among all pieces. */
static uint64_t
first_piece(const HgCudaBins *bins, int width)
{
	return width == NARROW ? 0 : bins->widths[NARROW].count;
}

static uint64_t
all_pieces(const HgCudaBins *bins)
{
	return bins->widths[NARROW].count + bins->widths[WIDE].count;
}

template <typename Word, int THREADS>
static HgStatus
launch_blocks(HgCudaWork *work, const HgBinsJoin<Word> *join, uint64_t count, HgError *error)
{
	const size_t shared = join->outer_out != nullptr
							  ? hg_bins_shared_bytes<Word>(join->bin_vertices, join->room)
							  : hg_bins_counted_bytes<Word>(join->bin_vertices, join->room);

	return hg_cuda_launch_shared<hg_bins_join_kernel<Word, THREADS>>(
		work->stream, "hg_bins_join_kernel", (unsigned) count, THREADS, shared, error, *join);
}

/* Joins count pieces of a width, from its piece number first on. */
template <typename Word>
static HgStatus
launch_words(HgCudaWork *work, const HgCudaBins *bins, const Request *request, int width,
			 uint64_t first, uint64_t count, HgError *error)
{
	HgBinsJoin<Word> join;

	memset(&join, 0, sizeof(join));
	join.inner_words = static_cast<const Word *>(bins->inner.words);
	join.inner_rows = bins->inner.rows;
	join.inner_starts = bins->inner.starts;
	join.outer_words = static_cast<const Word *>(bins->outer.words);
	join.outer_rows = bins->outer.rows;
	join.shift = 32 - bins->vertices_log2;
	join.bin_vertices = bin_vertices(bins);
	join.room = bins->widths[width].room;
	join.pieces = bins->widths[width].pieces + first;
	if (request->unit_matches != nullptr)
		join.unit_matches =
			request->unit_matches + (first_piece(bins, width) + first) * HG_BINS_UNITS;
	join.first_only = request->mode == HG_MATCH_FIRST;
	join.outer_out = request->outer_out;
	join.inner_out = request->inner_out;
	join.capacity = request->capacity;
	join.numbered = request->numbered;
	join.first = request->first;
	join.counters = request->counters;
	return width == NARROW ? launch_blocks<Word, HG_BINS_THREADS>(work, &join, count, error)
						   : launch_blocks<Word, HG_BINS_WIDE_THREADS>(work, &join, count, error);
}

static HgStatus
launch(HgCudaWork *work, const HgCudaBins *bins, const Request *request, int width, uint64_t first,
	   uint64_t count, HgError *error)
{
	return bins->inner.key_width == 4
			   ? launch_words<uint32_t>(work, bins, request, width, first, count, error)
			   : launch_words<uint64_t>(work, bins, request, width, first, count, error);
}

/* Returns how many pieces the first launch of a pass takes. */
static uint64_t
first_launch(const HgCudaBins *bins)
{
	const uint64_t mean_rows = bins->outer.count / (all_pieces(bins) + 1) + 1;

	return HG_BINS_FIRST_ROWS / mean_rows + 1;
}

/*
 * Joins the pieces first .. end - 1 of a width, in launches of *most pieces, which grow as long as
 * they are quick: a launched kernel can't be cancelled.  With is_last, the last one is not
 * awaited.
 */
static HgStatus
launch_pieces(HgCudaWork *work, const HgCudaBins *bins, const Request *request, int width,
			  uint64_t first, uint64_t end, bool is_last, uint64_t *most, HgError *error)
{
	uint64_t count;

	for (; first < end; first += count)
	{
		const double started = hg_clock_ms();

		count = end - first < *most ? end - first : *most;
		HG_TRY(launch(work, bins, request, width, first, count, error));
		if (is_last && first + count == end)
			break;
		HG_TRY(hg_cuda_wait(work, error));
		if (hg_clock_ms() - started < HG_BINS_LAUNCH_MS)
			*most *= 4;
	}
	return HG_OK;
}

/* Joins the pieces first .. end - 1 of all, and reads the counters, which the caller has set. */
static HgStatus
pass_over(HgCudaWork *work, const HgCudaBins *bins, const Request *request, uint64_t first,
		  uint64_t end, HgBinsCounters *counts, HgError *error)
{
	uint64_t most = first_launch(bins);
	const void *host;

	for (int width = NARROW; width <= WIDE; width++)
	{
		/* the pieces of this width */
		const uint64_t before = first_piece(bins, width);
		const uint64_t behind = before + bins->widths[width].count;
		const uint64_t from = first < before ? before : first;
		const uint64_t to = end < behind ? end : behind;

		if (from < to)
			HG_TRY(launch_pieces(work, bins, request, width, from - before, to - before, to == end,
								 &most, error));
	}
	HG_TRY(hg_cuda_read_back(work, request->counters, sizeof(*counts), &host, error));
	memcpy(counts, host, sizeof(*counts));
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------ */

/* Adds up what blocks and the rest found. */
static void
add_up(const HgBinsCounters *blocks, const HgCudaMatchCounts *rest, HgCudaMatchCounts *counts)
{
	counts->matches = blocks->cursor + rest->matches;
	counts->comparisons = blocks->comparisons + rest->comparisons;
	counts->intersections = blocks->intersections + rest->intersections;
}

HgStatus
hg_cuda_bins_count(HgCudaWork *work, const HgCudaBins *bins, HgMatchMode mode,
				   HgCudaMatchCounts *counts, HgError *error)
{
	HgCudaMatchCounts rest = {0, 0, 0};
	HgBinsCounters blocks;
	Request request;

	memset(&request, 0, sizeof(request));
	request.mode = mode;
	HG_TRY(hg_cuda_alloc_array(work, 1, &request.counters, error));
	HG_CUDA_TRY(cudaMemsetAsync(request.counters, 0, sizeof(blocks), work->stream), error);
	HG_TRY(pass_over(work, bins, &request, 0, all_pieces(bins), &blocks, error));
	hg_cuda_free(work, request.counters);
	if (bins->rest_outer.count > 0)
		HG_TRY(hg_cuda_join_count(work, &bins->rest_outer, &bins->rest_inner, mode, &rest, error));
	add_up(&blocks, &rest, counts);
	return HG_OK;
}

HgStatus
hg_cuda_bins_match(HgCudaWork *work, const HgCudaBins *bins, HgMatchMode mode, uint32_t *outer_rows,
				   uint32_t *inner_rows, uint64_t capacity, HgCudaBinsMatches *matches,
				   uint64_t *written, HgError *error)
{
	const uint64_t units = all_pieces(bins) * HG_BINS_UNITS;
	const uint64_t words = units + 1 + sizeof(HgBinsCounters) / sizeof(uint64_t);
	HgBinsCounters blocks;
	Request request;

	memset(matches, 0, sizeof(*matches));
	matches->mode = mode;
	/* the counters stand behind the last unit's matches, to be zeroed with them */
	HG_TRY(hg_cuda_alloc_array(work, words, &matches->unit_matches, error));
	HG_CUDA_TRY(cudaMemsetAsync(matches->unit_matches, 0, words * sizeof(uint64_t), work->stream),
				error);

	memset(&request, 0, sizeof(request));
	request.counters = reinterpret_cast<HgBinsCounters *>(matches->unit_matches + units + 1);
	request.mode = mode;
	request.unit_matches = matches->unit_matches;
	request.outer_out = outer_rows;
	request.inner_out = inner_rows;
	request.capacity = capacity;
	HG_TRY(pass_over(work, bins, &request, 0, all_pieces(bins), &blocks, error));
	if (bins->rest_outer.count > 0)
		HG_TRY(hg_cuda_join_open(work, &bins->rest_outer, &bins->rest_inner, mode, &matches->rest,
								 error));
	add_up(&blocks, &matches->rest.counts, &matches->counts);
	matches->in_blocks = blocks.cursor;
	*written = matches->in_blocks <= capacity ? matches->in_blocks : 0;
	return HG_OK;
}

/* Computes the prefix sums of the units' matches, once. */
static HgStatus
number_matches(HgCudaWork *work, const HgCudaBins *bins, HgCudaBinsMatches *matches, HgError *error)
{
	const int entries = (int) (all_pieces(bins) * HG_BINS_UNITS) + 1;
	size_t bytes = 0;
	void *temporary;

	if (matches->numbered)
		return HG_OK;
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, bytes, matches->unit_matches,
											  matches->unit_matches, entries, work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, matches->unit_matches,
											  matches->unit_matches, entries, work->stream),
				error);
	hg_cuda_free(work, temporary);
	matches->numbered = true;
	return HG_OK;
}

/* Writes those of the matches first .. first + capacity - 1 that are in blocks, in whole rows. */
static HgStatus
write_units(HgCudaWork *work, const HgCudaBins *bins, HgCudaBinsMatches *matches, uint64_t first,
			uint32_t *outer_rows, uint32_t *inner_rows, uint64_t capacity, uint64_t *written,
			HgError *error)
{
	const uint64_t left = matches->in_blocks - first;
	const uint64_t most = left < capacity ? left : capacity;
	uint64_t found[4];
	HgBinsCounters counts;
	Request request;
	uint64_t *device_found;
	const void *host;

	HG_TRY(number_matches(work, bins, matches, error));
	HG_TRY(hg_cuda_alloc_array(work, 4, &device_found, error));
	HG_TRY((hg_cuda_launch<hg_locate_kernel>(
		work->stream, "hg_locate_kernel", 1, 32, error, matches->unit_matches, nullptr,
		all_pieces(bins) * HG_BINS_UNITS, first, first + most - 1, device_found)));
	HG_TRY(hg_cuda_read_back(work, device_found, sizeof(found), &host, error));
	memcpy(found, host, sizeof(found));
	hg_cuda_free(work, device_found);

	memset(&request, 0, sizeof(request));
	request.mode = matches->mode;
	request.unit_matches = matches->unit_matches;
	request.numbered = true;
	request.first = first;
	request.outer_out = outer_rows;
	request.inner_out = inner_rows;
	request.capacity = capacity;
	HG_TRY(hg_cuda_alloc_array(work, 1, &request.counters, error));
	HG_CUDA_TRY(cudaMemsetAsync(request.counters, 0xff, sizeof(counts), work->stream), error);
	/* the pieces from the first unit to the last */
	HG_TRY(pass_over(work, bins, &request, found[0] / HG_BINS_UNITS, found[1] / HG_BINS_UNITS + 1,
					 &counts, error));
	hg_cuda_free(work, request.counters);

	*written = most;
	if (counts.end < first + most)
		*written = counts.end - first;
	return HG_OK;
}

HgStatus
hg_cuda_bins_write(HgCudaWork *work, const HgCudaBins *bins, HgCudaBinsMatches *matches,
				   uint64_t first, uint32_t *outer_rows, uint32_t *inner_rows, uint64_t capacity,
				   uint64_t *written, HgError *error)
{
	const uint64_t left = matches->counts.matches - first;

	if (first < matches->in_blocks)
		return write_units(work, bins, matches, first, outer_rows, inner_rows, capacity, written,
						   error);
	*written = left < capacity ? left : capacity;
	HG_TRY(hg_cuda_join_write(work, &matches->rest, first - matches->in_blocks, *written,
							  outer_rows, inner_rows, error));
	return hg_cuda_wait(work, error);
}

void
hg_cuda_bins_end(HgCudaWork *work, HgCudaBinsMatches *matches)
{
	hg_cuda_free(work, matches->unit_matches);
	hg_cuda_join_close(work, &matches->rest);
	memset(matches, 0, sizeof(*matches));
}

HgStatus
hg_cuda_bins_graph(HgCudaWork *work, const HgCudaBins *bins, HgCudaGraph *graph, HgError *error)
{
	const HgCudaPartition *inner = &bins->inner;
	void *words;
	uint32_t *rows;

	HG_TRY(hg_cuda_alloc(work, inner->count * inner->key_width, &words, error));
	HG_TRY(hg_cuda_alloc_array(work, inner->count, &rows, error));
	HG_CUDA_TRY(cudaMemcpyAsync(words, inner->words, inner->count * inner->key_width,
								cudaMemcpyDeviceToDevice, work->stream),
				error);
	HG_CUDA_TRY(cudaMemcpyAsync(rows, inner->rows, inner->count * sizeof(*rows),
								cudaMemcpyDeviceToDevice, work->stream),
				error);
	return hg_cuda_graph_sort(work, inner->key_width, bins->vertices_log2, words, rows,
							  inner->count, graph, error);
}
