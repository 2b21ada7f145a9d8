/*-------------------------------------------------------------------------
 *
 * hg_cuda_both.cu
 *	  Builds the HashGraphs of both sides in one pass over their bins, and joins them meanwhile.
 *
 * This is Algorithm 2 of the paper for the graphs of both sides, if Algorithm 3 follows.  Both
 * have the same vertices, so a bin is a range of vertices of either.  A block reads the rows of
 * both sides of its bin, builds both graphs in shared memory, and writes their edges and offsets.
 * It can also intersect their lists at once and write the pairs, so that the graphs are not read
 * again.
 *
 * Sides of very different sizes do no harm: only the rows of a bin together count.
 *
 * SKEW.  Bins whose rows do not fit a narrow block (several run on a multiprocessor) go to a wide
 * one, with all shared memory there is.  Bins that do not fit even that have few keys with many
 * rows.  They get one more pass of the partition inside of them, by vertices, which any number of
 * blocks share however many rows a vertex has.  If bins have too many vertices for that, all edges
 * are sorted.  hg_cuda_bins.cu joins these bins; it handles long outer and inner lists.
 *
 * Lists are in no order here: keys are compared with whole lists (hg_cuda_bins.cu).
 *
 * MEMORY: the offsets, the rows of both sides twice, in bins and as edges, until all edges exist,
 * and the caller's arrays for pairs.  A block could write edges over the rows, but bins that many
 * blocks divide can't stay in place, and would have to be copied back.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_join.h"

#include "hg_cuda_both_kernels.h"
#include "../device/hg_cuda_launch.h"

#include <cstring>

/* State of a build, for both widths of keys. */
struct Build
{
	const HgShape *shape;
	HgCudaPartition *partitions; /* by HgSide */
	HgCudaGraph *graphs;		 /* by HgSide */
	HgCudaBothPairs *pairs;		 /* or NULL */
	uint32_t narrow_room;		 /* rows of both sides of a bin that fit a narrow block */
	uint32_t wide_room;
	uint32_t *list; /* [bins] see hg_both_survey_kernel */
	HgBothSurvey *survey;
	HgBinsCounters *counters;
};

static uint32_t
bins_of(const Build *build)
{
	return UINT32_C(1) << build->shape->bins_log2;
}

static uint32_t
bin_vertices(const Build *build)
{
	return UINT32_C(1) << (build->shape->vertices_log2 - build->shape->bins_log2);
}

/* Sets how many rows of a bin fit narrow and wide blocks. */
static void
choose_rooms(const HgCudaWork *work, Build *build)
{
	const uint32_t width = build->partitions[HG_INNER].key_width;
	const size_t none = width == 4 ? hg_both_shared_bytes<uint32_t>(bin_vertices(build), 0)
								   : hg_both_shared_bytes<uint64_t>(bin_vertices(build), 0);
	const size_t limit = work->device->shared_limit - HG_BINS_STATIC_SHARED;
	const size_t room = limit > none ? (limit - none) / (width + sizeof(uint32_t)) : 0;

	/* an edge's index must fit 16 bits */
	build->wide_room = (uint32_t) (room < UINT16_MAX ? room : UINT16_MAX);
	build->narrow_room = (uint32_t) ((HG_BOTH_SHARED - none) / (width + sizeof(uint32_t)));
	if (build->narrow_room > build->wide_room)
		build->narrow_room = build->wide_room;
}

/* ------------------------------------------------------------------------
 * Bins that fit a block
 * ------------------------------------------------------------------------ */

template <typename Word>
static HgBothSide<Word>
side_of(const Build *build, HgSide side)
{
	HgBothSide<Word> it;

	it.words = static_cast<const Word *>(build->partitions[side].words);
	it.rows = build->partitions[side].rows;
	it.starts = build->partitions[side].starts;
	it.edge_words = static_cast<Word *>(build->graphs[side].edge_words);
	it.edge_rows = build->graphs[side].edge_rows;
	it.offsets = build->graphs[side].offsets;
	return it;
}

/* Processes count bins: from number first on of all, or, in wide blocks, of the listed ones. */
template <typename Word, int THREADS, bool HOT>
static HgStatus
launch(HgCudaWork *work, const Build *build, uint32_t first, uint32_t count, HgError *error)
{
	const bool wide = THREADS != HG_BINS_THREADS;
	HgBoth<Word> both;
	size_t shared;

	memset(&both, 0, sizeof(both));
	both.inner = side_of<Word>(build, HG_INNER);
	both.outer = side_of<Word>(build, HG_OUTER);
	both.bins = wide ? build->list + first : nullptr;
	both.first_bin = first;
	both.shift = 32 - build->shape->vertices_log2;
	both.bin_vertices = bin_vertices(build);
	both.room = wide ? build->wide_room : build->narrow_room;
	both.counters = build->counters;
	if (build->pairs != nullptr)
	{
		both.matched = true;
		both.first_only = build->pairs->mode == HG_MATCH_FIRST;
		both.outer_out = build->pairs->outer_rows;
		both.inner_out = build->pairs->inner_rows;
		both.capacity = build->pairs->capacity;
	}
	shared = hg_both_shared_bytes<Word>(both.bin_vertices, both.room);
	return hg_cuda_launch_shared<hg_both_kernel<Word, THREADS, HOT>>(
		work->stream, "hg_both_kernel", count, THREADS, shared, error, both);
}

/*
 * Processes bins 0 .. end - 1, in launches that begin small and grow as long as they are quick:
 * the pairs of a bin are unknown, and a launched kernel can't be cancelled.
 */
template <typename Word, int THREADS, bool HOT>
static HgStatus
launch_all(HgCudaWork *work, const Build *build, uint32_t end, HgError *error)
{
	const uint64_t mean_rows =
		(build->partitions[HG_INNER].count + build->partitions[HG_OUTER].count) / bins_of(build);
	uint64_t piece = HG_BINS_FIRST_ROWS / (HOT ? build->wide_room : mean_rows + 1) + 1;
	uint64_t count;

	for (uint64_t first = 0; first < end; first += count)
	{
		const double started = hg_clock_ms();

		count = end - first < piece ? end - first : piece;
		HG_TRY(
			(launch<Word, THREADS, HOT>(work, build, (uint32_t) first, (uint32_t) count, error)));
		if (first + count == end)
			break;
		HG_TRY(hg_cuda_wait(work, error));
		if (hg_clock_ms() - started < HG_BINS_LAUNCH_MS)
			piece *= 4;
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Bins that fit no block
 * ------------------------------------------------------------------------ */

/* Completes the graphs of the bins that fit no block. */
static HgStatus
build_rest(HgCudaWork *work, const Build *build, const HgBothSurvey *survey, HgError *error)
{
	const uint32_t digits_log2 = build->shape->vertices_log2 - build->shape->bins_log2;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgCudaPartition *partition = &build->partitions[side];
		HgCudaGraph *graph = &build->graphs[side];
		const HgBinList rest = {build->list + bins_of(build) - survey->rest, survey->rest,
								survey->rest_rows[side]};

		if (digits_log2 <= HG_PARTITION_NARROW_LOG2)
		{
			HG_TRY(hg_cuda_partition_split(work, partition, &rest, digits_log2, graph->edge_words,
										   graph->edge_rows, graph->offsets, error));
			continue;
		}
		/* all rows still exist in the partition: sort these instead of the edges */
		hg_cuda_free(work, graph->edge_words);
		hg_cuda_free(work, graph->edge_rows);
		graph->edge_words = partition->words;
		graph->edge_rows = partition->rows;
		partition->words = nullptr;
		partition->rows = nullptr;
		HG_TRY(hg_cuda_graph_order(work, graph, error));
	}
	return HG_OK;
}

/* Returns the edges of a side as a partition with the same bins. */
static HgCudaPartition
edges_of(const Build *build, HgSide side)
{
	HgCudaPartition edges = build->partitions[side];

	edges.words = build->graphs[side].edge_words;
	edges.rows = build->graphs[side].edge_rows;
	return edges;
}

/* Joins the bins that fit no block: their pairs are written behind the others. */
static HgStatus
match_rest(HgCudaWork *work, const Build *build, HgError *error)
{
	HgCudaBothPairs *pairs = build->pairs;
	const uint64_t before = pairs->counts.matches;
	const uint64_t room = before < pairs->capacity ? pairs->capacity - before : 0;
	HgCudaMatchCounts counts;
	const HgCudaPartition inner = edges_of(build, HG_INNER);
	const HgCudaPartition outer = edges_of(build, HG_OUTER);
	HgCudaBins bins;

	HG_TRY(hg_cuda_bins_open(work, &inner, &outer, build->shape->vertices_log2, build->wide_room,
							 &bins, error));
	if (room == 0 || pairs->outer_rows == nullptr)
		HG_TRY(hg_cuda_bins_count(work, &bins, pairs->mode, &counts, error));
	else
	{
		HgCudaBinsMatches matches;
		uint64_t written;

		HG_TRY(hg_cuda_bins_match(work, &bins, pairs->mode, pairs->outer_rows + before,
								  pairs->inner_rows + before, room, &matches, &written, error));
		counts = matches.counts;
		while (written < counts.matches && counts.matches <= room)
		{
			uint64_t more;

			HG_TRY(hg_cuda_bins_write(
				work, &bins, &matches, written, pairs->outer_rows + before + written,
				pairs->inner_rows + before + written, room - written, &more, error));
			written += more;
		}
		hg_cuda_bins_end(work, &matches);
	}
	hg_cuda_bins_close(work, &bins);
	pairs->counts.matches += counts.matches;
	pairs->counts.comparisons += counts.comparisons;
	pairs->counts.intersections += counts.intersections;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Build
 * ------------------------------------------------------------------------ */

/* Counters of all kernels, in one block, which is read back at once. */
struct Found
{
	HgBothSurvey survey;
	HgBinsCounters counters;
};

template <typename Word>
static HgStatus
build_words(HgCudaWork *work, Build *build, HgError *error)
{
	const uint32_t bins = bins_of(build);
	Found *device;
	Found found;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, bins, &build->list, error));
	HG_TRY(hg_cuda_alloc_array(work, 1, &device, error));
	HG_CUDA_TRY(cudaMemsetAsync(device, 0, sizeof(*device), work->stream), error);
	build->survey = &device->survey;
	build->counters = &device->counters;
	HG_TRY((hg_cuda_launch<hg_both_survey_kernel>(
		work->stream, "hg_both_survey_kernel", hg_blocks_for(bins, HG_STREAM_THREADS),
		HG_STREAM_THREADS, error, build->partitions[HG_INNER].starts,
		build->partitions[HG_OUTER].starts, bins, build->narrow_room, build->wide_room, build->list,
		build->survey)));

	HG_TRY((launch_all<Word, HG_BINS_THREADS, false>(work, build, bins, error)));
	HG_TRY(hg_cuda_read_back(work, device, sizeof(found), &host, error));
	memcpy(&found, host, sizeof(found));
	if (found.survey.wide > 0)
	{
		HG_TRY(
			(launch_all<Word, HG_BINS_WIDE_THREADS, true>(work, build, found.survey.wide, error)));
		HG_TRY(hg_cuda_read_back(work, device, sizeof(found), &host, error));
		memcpy(&found, host, sizeof(found));
	}
	if (build->pairs != nullptr)
	{
		build->pairs->counts.matches = found.counters.cursor;
		build->pairs->counts.comparisons = found.counters.comparisons;
		build->pairs->counts.intersections = found.counters.intersections;
	}
	if (found.survey.rest > 0)
		HG_TRY(build_rest(work, build, &found.survey, error));
	hg_cuda_free(work, build->list);
	hg_cuda_free(work, device);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_cuda_free(work, build->partitions[side].words);
		hg_cuda_free(work, build->partitions[side].rows);
		build->partitions[side].words = nullptr;
		build->partitions[side].rows = nullptr;
	}
	return found.survey.rest == 0 || build->pairs == nullptr ? HG_OK
															 : match_rest(work, build, error);
}

HgStatus
hg_cuda_both_begin(HgCudaWork *work, const HgShape *shape, const HgCudaPartition partitions[2],
				   HgCudaGraph graphs[2], HgError *error)
{
	const uint64_t vertices = UINT64_C(1) << shape->vertices_log2;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgCudaPartition *partition = &partitions[side];
		HgCudaGraph *graph = &graphs[side];

		memset(graph, 0, sizeof(*graph));
		graph->key_width = partition->key_width;
		graph->vertices_log2 = shape->vertices_log2;
		graph->rows = partition->count;
		HG_TRY(hg_cuda_alloc_array(work, vertices + 1, &graph->offsets, error));
		HG_TRY(hg_cuda_alloc(work, graph->rows * graph->key_width, &graph->edge_words, error));
		HG_TRY(hg_cuda_alloc_array(work, graph->rows, &graph->edge_rows, error));
	}
	return HG_OK;
}

HgStatus
hg_cuda_both_build(HgCudaWork *work, const HgShape *shape, HgCudaPartition partitions[2],
				   HgCudaGraph graphs[2], HgCudaBothPairs *pairs, HgError *error)
{
	const uint64_t vertices = UINT64_C(1) << shape->vertices_log2;
	const uint32_t bins = UINT32_C(1) << shape->bins_log2;
	Build build;

	memset(&build, 0, sizeof(build));
	build.shape = shape;
	build.partitions = partitions;
	build.graphs = graphs;
	build.pairs = pairs;
	choose_rooms(work, &build);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		HG_CUDA_TRY(cudaMemcpyAsync(graphs[side].offsets + vertices, partitions[side].starts + bins,
									sizeof(uint32_t), cudaMemcpyDeviceToDevice, work->stream),
					error);
	if (partitions[HG_INNER].key_width == 4)
		HG_TRY(build_words<uint32_t>(work, &build, error));
	else
		HG_TRY(build_words<uint64_t>(work, &build, error));
	if (pairs != nullptr)
		pairs->complete = pairs->outer_rows != nullptr && pairs->counts.matches <= pairs->capacity;
	return hg_cuda_wait(work, error);
}

HgStatus
hg_cuda_both_common(HgCudaWork *work, const HgCudaGraph graphs[2], uint64_t *common, HgError *error)
{
	const uint64_t vertices = UINT64_C(1) << graphs[HG_INNER].vertices_log2;
	unsigned long long *sum;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, 1, &sum, error));
	HG_CUDA_TRY(cudaMemsetAsync(sum, 0, sizeof(*sum), work->stream), error);
	for (uint64_t first = 0; first < vertices; first += HG_PIECE_ROWS)
	{
		const uint64_t end = vertices - first < HG_PIECE_ROWS ? vertices : first + HG_PIECE_ROWS;

		HG_TRY((hg_cuda_launch<hg_common_kernel>(work->stream, "hg_common_kernel",
												 hg_blocks_for(end - first, HG_STREAM_THREADS),
												 HG_STREAM_THREADS, error, graphs[HG_INNER].offsets,
												 graphs[HG_OUTER].offsets, first, end, sum)));
		if (end < vertices)
			HG_TRY(hg_cuda_pace(work, error));
	}
	HG_TRY(hg_cuda_read_back(work, sum, sizeof(*sum), &host, error));
	*common = *static_cast<const unsigned long long *>(host);
	hg_cuda_free(work, sum);
	return HG_OK;
}

HgStatus
hg_cuda_both_view(HgCudaWork *work, const HgCudaGraph *graph, uint64_t inner_rows,
				  HgCudaPartition *view, HgError *error)
{
	const uint32_t bins_log2 =
		hg_cuda_joined_bins_log2(graph->key_width, graph->vertices_log2, inner_rows);
	const uint64_t entries = (UINT64_C(1) << bins_log2) + 1;
	const size_t stride = sizeof(uint32_t) << (graph->vertices_log2 - bins_log2);

	memset(view, 0, sizeof(*view));
	view->key_width = graph->key_width;
	view->bins_log2 = bins_log2;
	view->count = graph->rows;
	view->words = graph->edge_words;
	view->rows = graph->edge_rows;
	HG_TRY(hg_cuda_alloc_array(work, entries, &view->starts, error));
	HG_CUDA_TRY(cudaMemcpy2DAsync(view->starts, sizeof(uint32_t), graph->offsets, stride,
								  sizeof(uint32_t), entries, cudaMemcpyDeviceToDevice,
								  work->stream),
				error);
	return HG_OK;
}
