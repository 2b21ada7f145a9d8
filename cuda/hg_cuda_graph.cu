/*-------------------------------------------------------------------------
 *
 * hg_cuda_graph.cu
 *	  Building HashGraphs in device memory.
 *
 * V1 is Algorithm 1 of the paper over the whole device: count the rows of every
 * vertex with atomics, prefix-sum the counts, scatter the rows with atomics.  Each
 * row touches memory at random twice, which is as fast as anything while the graph
 * fits the L2 cache, and several times slower beyond.
 *
 * V2 is Algorithm 2: rows go into bins first, and Algorithm 1 runs inside every bin,
 * in shared memory.  A mixed word is its own hash (hg_hash.h), so that cutting into
 * bins is a radix sort by the top bits of the word, one or two passes of
 * eight bits each, and a bin is a consecutive range of vertices.  A block reads its
 * bin once and writes edges and offsets once, all in order.
 *
 * Either way the lists of the inner side are put in the order of their words at last.
 * It makes the edges of one key neighbours, so that the matches of a row are one range
 * of edges and writing them is copying, however many they are: matching counts on it.
 * The rows of the outer side only look, so that their lists can be in any order.
 *
 * SKEW.  A bin can have more rows or vertices than shared memory, and a list of several
 * keys can be too long to be ordered where it is built.  Where that happens, all edges of
 * the graph are sorted by the whole word: that is linear, does not care for duplicates,
 * and costs about what the bins cost.  Vertices then find their offsets by bisection.
 * (Lists of V1 stay where they are, since sorting by the word sorts by vertex first: its
 * offsets hold.)
 *
 * MEMORY of a side while it is built: words and row numbers, twice, and the offsets;
 * V2 sorts between the two and gives the other one back.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_graph.h"

#include "hg_cuda_build_kernels.h"

#include <cstring>

/* Threads of kernels with one row or vertex a thread. */
static constexpr int THREADS = HG_STREAM_THREADS;

/* CUB's prefix sum counted in int for long: more vertices are built by sorting. */
static constexpr uint32_t MAX_SCANNED_LOG2 = 30;

static unsigned
blocks_for(uint64_t n, uint64_t per_block)
{
	return (unsigned) ((n + per_block - 1) / per_block);
}

/* ------------------------------------------------------------------------
 * Shape
 * ------------------------------------------------------------------------ */

/* Is a graph of this shape built by sorting rows into bins? */
static bool
is_binned(const HgShape *shape)
{
	return shape->build == HG_BUILD_V2 || shape->vertices_log2 > MAX_SCANNED_LOG2;
}

HgShapeLimits
hg_cuda_shape_limits(uint32_t key_width)
{
	HgShapeLimits limits;

	/* at load factor 1 a row is an edge and an offset */
	limits.bin_bytes = (uint64_t) 2 * HG_BIN_MEAN_ROWS * (key_width + 2 * sizeof(uint32_t));
	limits.binned_from = HG_BINNED_FROM_BYTES;
	limits.max_bins_log2 = HG_MAX_BINS_LOG2;
	limits.bins_in_cache = false;
	return limits;
}

HgShape
hg_cuda_shape_choose(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows)
{
	HgShapeLimits limits = hg_cuda_shape_limits(spec->key_width);
	HgJobSpec wanted = *spec;
	uint64_t longer = inner_rows;
	HgShape shape;

	/* what is too big to be built without bins can still be small enough to be probed */
	if (spec->probe == HG_PROBE_AUTO && inner_rows > 0 &&
		outer_rows / HG_STANDARD_MIN_RATIO >= inner_rows &&
		inner_rows * (spec->key_width + 2 * sizeof(uint32_t)) <= HG_STANDARD_UP_TO_BYTES)
		wanted.probe = HG_PROBE_STANDARD;
	shape = hg_shape_choose(&wanted, &limits, outer_rows, inner_rows);

	if (shape.probe == HG_PROBE_INTERSECT && outer_rows > inner_rows)
		longer = outer_rows;

	if (shape.build == HG_BUILD_V2 && spec->bins == 0)
	{
		while (shape.bins_log2 < limits.max_bins_log2 && shape.bins_log2 < shape.vertices_log2 &&
			   (longer >> shape.bins_log2) > HG_BIN_MEAN_ROWS)
			shape.bins_log2++;
		while (shape.bins_log2 < limits.max_bins_log2 &&
			   (UINT64_C(1) << (shape.vertices_log2 - shape.bins_log2)) > HG_BIN_VERTICES)
			shape.bins_log2++;
	}
	return shape;
}

/* The more of two numbers. */
static uint64_t
more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t
hg_cuda_job_bytes(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows)
{
	const HgShape shape = hg_cuda_shape_choose(spec, outer_rows, inner_rows);
	const uint64_t width = spec->key_width;
	const uint64_t edge = width + sizeof(uint32_t);
	const uint64_t offsets = (UINT64_C(1) << shape.vertices_log2) * sizeof(uint32_t);
	const bool binned = is_binned(&shape);
	const uint64_t inner_graph = inner_rows * edge + offsets;
	const uint64_t outer_graph = outer_rows * edge + offsets;
	uint64_t bytes;

	/* building takes, beside words and offsets, the other half of a sort, or edges and cursors */
	bytes = outer_rows * width + inner_rows * width + offsets +
			inner_rows * (binned ? edge + sizeof(uint32_t) : edge) + (binned ? 0 : offsets);
	if (shape.probe == HG_PROBE_INTERSECT)
	{
		bytes = more(bytes, inner_graph + outer_rows * width + offsets +
								outer_rows * (binned ? edge + sizeof(uint32_t) : edge) +
								(binned ? 0 : offsets));
		bytes = more(bytes, inner_graph + outer_graph + outer_rows * 2 * sizeof(uint32_t));
	}
	else
		bytes = more(bytes, inner_graph + outer_rows * (width + 2 * sizeof(uint32_t)));
	return bytes;
}

/* ------------------------------------------------------------------------
 * Streams
 * ------------------------------------------------------------------------ */

template <typename Word, bool FORWARD>
static HgStatus
launch_mix(HgCudaWork *work, const void *from, void *to, uint64_t count, HgError *error)
{
	if (count == 0)
		return HG_OK;
	hg_mix_kernel<Word, FORWARD>
		<<<blocks_for(count, HG_STREAM_THREADS * HG_STREAM_ITEMS), HG_STREAM_THREADS, 0,
		   work->stream>>>(static_cast<const Word *>(from), static_cast<Word *>(to), count);
	HG_CUDA_LAUNCHED(hg_mix_kernel, error);
	return HG_OK;
}

HgStatus
hg_cuda_mix(HgCudaWork *work, uint32_t key_width, const void *keys, void *words, uint64_t count,
			HgError *error)
{
	return key_width == 4 ? launch_mix<uint32_t, true>(work, keys, words, count, error)
						  : launch_mix<uint64_t, true>(work, keys, words, count, error);
}

HgStatus
hg_cuda_unmix(HgCudaWork *work, uint32_t key_width, const void *words, void *keys, uint64_t count,
			  HgError *error)
{
	return key_width == 4 ? launch_mix<uint32_t, false>(work, words, keys, count, error)
						  : launch_mix<uint64_t, false>(work, words, keys, count, error);
}

/* ------------------------------------------------------------------------
 * Sorting
 * ------------------------------------------------------------------------ */

/* Rows and their words, twice: a sort goes back and forth between the two. */
template <typename Word> struct SortedRows
{
	cub::DoubleBuffer<Word> words;
	cub::DoubleBuffer<uint32_t> rows;
	uint64_t n;
};

/* Get the second half of the buffers. */
template <typename Word>
static HgStatus
open_sort(HgCudaWork *work, Word *words, uint32_t *rows, uint64_t n, SortedRows<Word> *sorted,
		  HgError *error)
{
	Word *other_words;
	uint32_t *other_rows;

	HG_TRY(hg_cuda_alloc_array(work, n, &other_words, error));
	HG_TRY(hg_cuda_alloc_array(work, n, &other_rows, error));
	sorted->words = cub::DoubleBuffer<Word>(words, other_words);
	sorted->rows = cub::DoubleBuffer<uint32_t>(rows, other_rows);
	sorted->n = n;
	return HG_OK;
}

/* Give the half back that the last sort did not end in. */
template <typename Word>
static void
close_sort(HgCudaWork *work, SortedRows<Word> *sorted)
{
	hg_cuda_free(work, sorted->words.Alternate());
	hg_cuda_free(work, sorted->rows.Alternate());
}

/*
 * Sort by the top bits of the words; stable.  Many rows are sorted by one digit after the
 * other, from the lowest, which gives the same.
 */
template <typename Word>
static HgStatus
sort_rows(HgCudaWork *work, SortedRows<Word> *sorted, int bits, HgError *error)
{
	const int width = 8 * sizeof(Word);
	const int step = sorted->n > HG_SORT_AT_ONCE ? HG_SORT_DIGIT_BITS : bits;
	const uint32_t n = (uint32_t) sorted->n; /* as 64 bits it would cost CUB more registers */

	for (int low = width - bits; low < width; low += step)
	{
		const int high = low + step < width ? low + step : width;
		size_t bytes = 0;
		void *temporary;

		HG_CUDA_TRY(cub::DeviceRadixSort::SortPairs(nullptr, bytes, sorted->words, sorted->rows, n,
													low, high, work->stream),
					error);
		HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
		HG_CUDA_TRY(cub::DeviceRadixSort::SortPairs(temporary, bytes, sorted->words, sorted->rows,
													n, low, high, work->stream),
					error);
		hg_cuda_free(work, temporary);
		if (high < width)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Algorithm 1
 * ------------------------------------------------------------------------ */

template <typename Word>
static HgStatus
build_v1(HgCudaWork *work, Word *words, uint64_t n, HgCudaGraph *graph, uint32_t *unfinished,
		 HgError *error)
{
	const uint64_t vertices = UINT64_C(1) << graph->vertices_log2;
	const uint32_t shift = 32 - graph->vertices_log2;
	Word *edge_words;
	uint32_t *cursors;
	void *temporary;
	size_t bytes = 0;

	HG_TRY(hg_cuda_alloc_array(work, n, &edge_words, error));
	HG_TRY(hg_cuda_alloc_array(work, n, &graph->edge_rows, error));
	HG_TRY(hg_cuda_alloc_array(work, vertices + 1, &cursors, error));

	HG_CUDA_TRY(cudaMemsetAsync(cursors, 0, (vertices + 1) * sizeof(uint32_t), work->stream),
				error);
	for (uint64_t first = 0; first < n; first += HG_PIECE_ROWS)
	{
		uint64_t piece = n - first < HG_PIECE_ROWS ? n - first : HG_PIECE_ROWS;

		hg_count_kernel<<<blocks_for(piece, THREADS), THREADS, 0, work->stream>>>(
			words, first, first + piece, shift, cursors);
		HG_CUDA_LAUNCHED(hg_count_kernel, error);
		if (first + piece < n)
			HG_TRY(hg_cuda_wait(work, error));
	}

	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, bytes, cursors, graph->offsets, vertices + 1,
											  work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, cursors, graph->offsets,
											  vertices + 1, work->stream),
				error);
	hg_cuda_free(work, temporary);
	HG_CUDA_TRY(cudaMemcpyAsync(cursors, graph->offsets, vertices * sizeof(uint32_t),
								cudaMemcpyDeviceToDevice, work->stream),
				error);

	for (uint64_t first = 0; first < n; first += HG_PIECE_ROWS)
	{
		uint64_t piece = n - first < HG_PIECE_ROWS ? n - first : HG_PIECE_ROWS;

		hg_scatter_kernel<<<blocks_for(piece, THREADS), THREADS, 0, work->stream>>>(
			words, first, first + piece, shift, cursors, edge_words, graph->edge_rows);
		HG_CUDA_LAUNCHED(hg_scatter_kernel, error);
		if (first + piece < n)
			HG_TRY(hg_cuda_wait(work, error));
	}
	hg_cuda_free(work, cursors);
	hg_cuda_free(work, words);
	graph->edge_words = edge_words;

	/* a thread a list: fewer of them where lists are longer */
	const uint64_t piece_lists = HG_PIECE_ROWS / (n / vertices + 1);

	for (uint64_t first = 0; graph->ordered && first < vertices; first += piece_lists)
	{
		uint64_t piece = vertices - first < piece_lists ? vertices - first : piece_lists;

		hg_order_kernel<<<blocks_for(piece, THREADS), THREADS, 0, work->stream>>>(
			graph->offsets, first, first + piece, edge_words, graph->edge_rows, unfinished);
		HG_CUDA_LAUNCHED(hg_order_kernel, error);
		if (first + piece < vertices)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Algorithm 2
 * ------------------------------------------------------------------------ */

/* Run Algorithm 1 inside every bin of rows that are sorted by bin. */
template <typename Word>
static HgStatus
build_bins(HgCudaWork *work, const HgShape *shape, SortedRows<Word> *sorted,
		   const HgCudaGraph *graph, uint32_t *unfinished, HgError *error)
{
	auto kernel =
		graph->ordered ? hg_bin_build_kernel<Word, true> : hg_bin_build_kernel<Word, false>;
	const uint32_t bins = UINT32_C(1) << shape->bins_log2;
	const uint32_t bin_vertices = UINT32_C(1) << (shape->vertices_log2 - shape->bins_log2);
	const size_t shared = hg_bin_shared_bytes<Word>(bin_vertices);
	const uint64_t mean_rows = sorted->n / bins + 1;
	const uint64_t piece_bins =
		HG_PIECE_ROWS / mean_rows < bins ? HG_PIECE_ROWS / mean_rows + 1 : bins;
	uint32_t *starts;

	HG_TRY(hg_cuda_alloc_array(work, (uint64_t) bins + 1, &starts, error));
	hg_bin_starts_kernel<<<blocks_for((uint64_t) bins + 1, THREADS), THREADS, 0, work->stream>>>(
		sorted->words.Current(), (uint32_t) sorted->n, shape->bins_log2, starts);
	HG_CUDA_LAUNCHED(hg_bin_starts_kernel, error);

	HG_CUDA_TRY(
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared),
		error);
	for (uint64_t first = 0; first < bins; first += piece_bins)
	{
		uint64_t piece = bins - first < piece_bins ? bins - first : piece_bins;

		kernel<<<(unsigned) piece, HG_BIN_THREADS, shared, work->stream>>>(
			starts, (uint32_t) first, 32 - shape->vertices_log2, bin_vertices,
			sorted->words.Current(), sorted->rows.Current(), graph->offsets, unfinished);
		HG_CUDA_LAUNCHED(hg_bin_build_kernel, error);
		if (first + piece < bins)
			HG_TRY(hg_cuda_wait(work, error));
	}
	hg_cuda_free(work, starts);
	return HG_OK;
}

/* Does a bin fit a block as far as its vertices go? */
template <typename Word>
static bool
bins_fit(const HgCudaWork *work, const HgShape *shape)
{
	const uint64_t bin_vertices = UINT64_C(1) << (shape->vertices_log2 - shape->bins_log2);

	return bin_vertices <= HG_BIN_VERTICES &&
		   hg_bin_shared_bytes<Word>((uint32_t) bin_vertices) + HG_BIN_STATIC_SHARED <=
			   work->device->shared_limit;
}

template <typename Word>
static HgStatus
find_offsets(HgCudaWork *work, uint32_t vertices_log2, const Word *words, uint64_t n,
			 uint32_t *offsets, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << vertices_log2) + 1;

	for (uint64_t first = 0; first < entries; first += HG_PIECE_ROWS)
	{
		uint64_t piece = entries - first < HG_PIECE_ROWS ? entries - first : HG_PIECE_ROWS;

		hg_offsets_kernel<<<blocks_for(piece, THREADS), THREADS, 0, work->stream>>>(
			words, (uint32_t) n, first, vertices_log2, offsets);
		HG_CUDA_LAUNCHED(hg_offsets_kernel, error);
		if (first + piece < entries)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Either
 * ------------------------------------------------------------------------ */

/* Read the number of lists and bins that were left unfinished, waiting for it. */
static HgStatus
read_unfinished(HgCudaWork *work, uint32_t *unfinished, uint32_t *count, HgError *error)
{
	const void *host;

	HG_TRY(hg_cuda_read_back(work, unfinished, sizeof(*count), &host, error));
	memcpy(count, host, sizeof(*count));
	return HG_OK;
}

template <typename Word>
static HgStatus
build(HgCudaWork *work, const HgShape *shape, Word *words, uint64_t n, HgCudaGraph *graph,
	  HgError *error)
{
	const bool binned = is_binned(shape);
	SortedRows<Word> sorted;
	uint32_t *unfinished;
	uint32_t unfinished_count;

	HG_TRY(hg_cuda_alloc_array(work, 1, &unfinished, error));
	HG_CUDA_TRY(cudaMemsetAsync(unfinished, 0, sizeof(*unfinished), work->stream), error);

	if (binned)
	{
		uint32_t *rows;

		HG_TRY(hg_cuda_alloc_array(work, n, &rows, error));
		hg_number_kernel<<<blocks_for(n, HG_STREAM_THREADS * HG_STREAM_ITEMS), HG_STREAM_THREADS, 0,
						   work->stream>>>(rows, n);
		HG_CUDA_LAUNCHED(hg_number_kernel, error);
		HG_TRY(open_sort(work, words, rows, n, &sorted, error));
		if (bins_fit<Word>(work, shape))
		{
			if (shape->bins_log2 > 0)
				HG_TRY(sort_rows(work, &sorted, (int) shape->bins_log2, error));
			HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
			HG_TRY(build_bins(work, shape, &sorted, graph, unfinished, error));
			HG_TRY(read_unfinished(work, unfinished, &unfinished_count, error));
		}
		else
		{
			HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
			unfinished_count = 1;
		}
	}
	else
	{
		HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
		HG_TRY(build_v1(work, words, n, graph, unfinished, error));
		HG_TRY(read_unfinished(work, unfinished, &unfinished_count, error));
		if (unfinished_count > 0)
			HG_TRY(open_sort(work, static_cast<Word *>(graph->edge_words), graph->edge_rows, n,
							 &sorted, error));
	}
	hg_cuda_free(work, unfinished);

	if (unfinished_count > 0)
	{
		graph->ordered = true;
		HG_TRY(sort_rows(work, &sorted, 8 * sizeof(Word), error));
		if (binned)
			HG_TRY(find_offsets(work, shape->vertices_log2, sorted.words.Current(), n,
								graph->offsets, error));
	}
	if (binned || unfinished_count > 0)
	{
		close_sort(work, &sorted);
		graph->edge_words = sorted.words.Current();
		graph->edge_rows = sorted.rows.Current();
	}
	return HG_OK;
}

HgStatus
hg_cuda_graph_build(HgCudaWork *work, const HgShape *shape, uint32_t key_width, void *words,
					uint64_t rows, bool ordered, HgCudaGraph *graph, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << shape->vertices_log2) + 1;

	memset(graph, 0, sizeof(*graph));
	graph->key_width = key_width;
	graph->vertices_log2 = shape->vertices_log2;
	graph->ordered = ordered;
	graph->rows = rows;
	HG_CUDA_TRY(cudaEventRecord(work->kit.marks[0], work->stream), error);
	HG_TRY(hg_cuda_alloc_array(work, entries, &graph->offsets, error));

	if (rows == 0)
	{
		HG_CUDA_TRY(cudaMemsetAsync(graph->offsets, 0, entries * sizeof(uint32_t), work->stream),
					error);
		HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
	}
	else if (key_width == 4)
		HG_TRY(build(work, shape, static_cast<uint32_t *>(words), rows, graph, error));
	else
		HG_TRY(build(work, shape, static_cast<uint64_t *>(words), rows, graph, error));

	HG_CUDA_TRY(cudaEventRecord(work->kit.marks[2], work->stream), error);
	return hg_cuda_wait(work, error);
}

void
hg_cuda_graph_free(HgCudaWork *work, HgCudaGraph *graph)
{
	hg_cuda_free(work, graph->offsets);
	hg_cuda_free(work, graph->edge_words);
	hg_cuda_free(work, graph->edge_rows);
	memset(graph, 0, sizeof(*graph));
}

/* Sort words, as sort_rows does. */
template <typename Word>
static HgStatus
sort_words(HgCudaWork *work, cub::DoubleBuffer<Word> *words, uint64_t n, HgError *error)
{
	const int width = 8 * sizeof(Word);
	const int step = n > HG_SORT_AT_ONCE ? HG_SORT_DIGIT_BITS : width;
	const uint32_t count = (uint32_t) n;

	for (int low = 0; low < width; low += step)
	{
		size_t bytes = 0;
		void *temporary;

		HG_CUDA_TRY(cub::DeviceRadixSort::SortKeys(nullptr, bytes, *words, count, low, low + step,
												   work->stream),
					error);
		HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
		HG_CUDA_TRY(cub::DeviceRadixSort::SortKeys(temporary, bytes, *words, count, low, low + step,
												   work->stream),
					error);
		hg_cuda_free(work, temporary);
		HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* Add up the different keys of a graph in sums[2]. */
template <typename Word>
static HgStatus
count_keys(HgCudaWork *work, const HgCudaGraph *graph, unsigned long long *sums, HgError *error)
{
	const Word *words = static_cast<const Word *>(graph->edge_words);
	const uint64_t n = graph->rows;
	cub::DoubleBuffer<Word> ordered;

	/* equal keys have to be neighbours to be counted once */
	if (!graph->ordered && n > 0)
	{
		HG_TRY(hg_cuda_alloc_array(work, n, &ordered.d_buffers[0], error));
		HG_TRY(hg_cuda_alloc_array(work, n, &ordered.d_buffers[1], error));
		HG_CUDA_TRY(cudaMemcpyAsync(ordered.Current(), words, n * sizeof(Word),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
		HG_TRY(sort_words(work, &ordered, n, error));
		words = ordered.Current();
	}
	for (uint64_t first = 0; first < n; first += HG_PIECE_ROWS)
	{
		uint64_t piece = n - first < HG_PIECE_ROWS ? n - first : HG_PIECE_ROWS;

		hg_describe_keys_kernel<<<blocks_for(piece, THREADS), THREADS, 0, work->stream>>>(
			words, first, first + piece, sums);
		HG_CUDA_LAUNCHED(hg_describe_keys_kernel, error);
		HG_TRY(hg_cuda_wait(work, error));
	}
	hg_cuda_free(work, ordered.d_buffers[0]);
	hg_cuda_free(work, ordered.d_buffers[1]);
	return HG_OK;
}

HgStatus
hg_cuda_graph_describe(HgCudaWork *work, const HgCudaGraph *graph, HgGraphStats *stats,
					   HgError *error)
{
	const uint64_t vertices = UINT64_C(1) << graph->vertices_log2;
	unsigned long long *sums;
	unsigned long long result[3];
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, 3, &sums, error));
	HG_CUDA_TRY(cudaMemsetAsync(sums, 0, sizeof(result), work->stream), error);
	for (uint64_t first = 0; first < vertices; first += HG_PIECE_ROWS)
	{
		uint64_t piece = vertices - first < HG_PIECE_ROWS ? vertices - first : HG_PIECE_ROWS;

		hg_describe_lists_kernel<<<blocks_for(piece, THREADS), THREADS, 0, work->stream>>>(
			graph->offsets, first, first + piece, sums);
		HG_CUDA_LAUNCHED(hg_describe_lists_kernel, error);
		HG_TRY(hg_cuda_wait(work, error));
	}
	if (graph->key_width == 4)
		HG_TRY(count_keys<uint32_t>(work, graph, sums, error));
	else
		HG_TRY(count_keys<uint64_t>(work, graph, sums, error));
	HG_TRY(hg_cuda_read_back(work, sums, sizeof(result), &host, error));
	memcpy(result, host, sizeof(result));
	hg_cuda_free(work, sums);

	stats->vertices = vertices;
	stats->edges = graph->rows;
	stats->empty_vertices = result[0];
	stats->longest_list = result[1];
	stats->distinct_keys = result[2];
	stats->bytes =
		(vertices + 1) * sizeof(uint32_t) + graph->rows * (graph->key_width + sizeof(uint32_t));
	return HG_OK;
}
