/*-------------------------------------------------------------------------
 *
 * hg_cuda_graph.cu
 *	  Builds HashGraphs in device memory.
 *
 * V1 is Algorithm 1 of the paper over the whole device: count the rows of each vertex with
 * atomics, prefix-sum the counts, scatter the rows with atomics.  Each row accesses memory at
 * random twice.  That is as fast as anything while the graph fits the L2 cache, and several times
 * slower beyond.
 *
 * V2 is Algorithm 2: rows go into bins first, and Algorithm 1 runs inside each bin, in shared
 * memory.  A mixed word is its own hash (hg_hash.h), so that bins are a radix partition by the top
 * bits of the word (hg_cuda_partition.cu), and a bin is a consecutive range of vertices.  A block
 * reads its bin once and writes edges and offsets once, all in order.
 *
 * Both finally sort the lists of the inner side by their words.  Edges of one key become
 * neighbours, so that the matches of a row are one range of edges and writing them is copying,
 * however many they are.  Matching relies on it.  The lists of the outer side can be in any order.
 *
 * SKEW.  A bin can have more rows or vertices than shared memory holds, and a list of several keys
 * can be too long to be sorted where it is built.  Then all edges of the graph are sorted by the
 * whole word: that is linear, does not depend on duplicates, and costs about what the bins cost.
 * Vertices then find their offsets by bisection.  (The offsets of V1 stay valid, since sorting by
 * the word sorts by vertex first.)
 *
 * MEMORY of a side while it is built: words and row numbers, twice, and the offsets.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_graph.h"

#include "hg_cuda_build_kernels.h"
#include "../device/hg_cuda_launch.h"
#include "hg_cuda_partition.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cstring>

/* Threads of kernels with one row or vertex a thread. */
static constexpr int THREADS = HG_STREAM_THREADS;

/* ------------------------------------------------------------------------
 * Streams
 * ------------------------------------------------------------------------ */

template <typename Word, bool FORWARD>
static HgStatus
launch_mix(HgCudaWork *work, const void *from, void *to, uint64_t count, HgError *error)
{
	if (count == 0)
		return HG_OK;
	return hg_cuda_launch<hg_mix_kernel<Word, FORWARD>>(
		work->stream, "hg_mix_kernel", hg_blocks_for(count, HG_STREAM_THREADS * HG_STREAM_ITEMS),
		HG_STREAM_THREADS, error, static_cast<const Word *>(from), static_cast<Word *>(to), count);
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

/* Rows and their words, twice: a sort moves them between two buffers. */
template <typename Word> struct SortedRows
{
	cub::DoubleBuffer<Word> words;
	cub::DoubleBuffer<uint32_t> rows;
	uint64_t n;
};

/* Sorts by the whole word.  Many rows are sorted digit by digit, from the lowest one. */
template <typename Word>
static HgStatus
sort_rows(HgCudaWork *work, SortedRows<Word> *sorted, HgError *error)
{
	const int width = 8 * sizeof(Word);
	const int step = sorted->n > HG_SORT_AT_ONCE ? HG_SORT_DIGIT_BITS : width;
	const uint32_t n = (uint32_t) sorted->n; /* as 64 bits it would cost CUB more registers */

	for (int low = 0; low < width; low += step)
	{
		size_t bytes = 0;
		void *temporary;

		HG_CUDA_TRY(cub::DeviceRadixSort::SortPairs(nullptr, bytes, sorted->words, sorted->rows, n,
													low, low + step, work->stream),
					error);
		HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
		HG_CUDA_TRY(cub::DeviceRadixSort::SortPairs(temporary, bytes, sorted->words, sorted->rows,
													n, low, low + step, work->stream),
					error);
		hg_cuda_free(work, temporary);
		if (low + step < width)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* Sorts the edges of a graph by their words, which sorts all of its lists. */
template <typename Word>
static HgStatus
sort_edges(HgCudaWork *work, HgCudaGraph *graph, HgError *error)
{
	SortedRows<Word> sorted;
	Word *other_words;
	uint32_t *other_rows;

	HG_TRY(hg_cuda_alloc_array(work, graph->rows, &other_words, error));
	HG_TRY(hg_cuda_alloc_array(work, graph->rows, &other_rows, error));
	sorted.words = cub::DoubleBuffer<Word>(static_cast<Word *>(graph->edge_words), other_words);
	sorted.rows = cub::DoubleBuffer<uint32_t>(graph->edge_rows, other_rows);
	sorted.n = graph->rows;
	HG_TRY(sort_rows(work, &sorted, error));
	hg_cuda_free(work, sorted.words.Alternate());
	hg_cuda_free(work, sorted.rows.Alternate());
	graph->edge_words = sorted.words.Current();
	graph->edge_rows = sorted.rows.Current();
	graph->ordered = true;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Algorithm 1
 * ------------------------------------------------------------------------ */

template <typename Word>
static HgStatus
build_v1(HgCudaWork *work, Word *words, const uint32_t *rows, uint64_t n, HgCudaGraph *graph,
		 uint32_t *unfinished, HgError *error)
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

		HG_TRY((hg_cuda_launch<hg_count_kernel<Word>>(
			work->stream, "hg_count_kernel", hg_blocks_for(piece, THREADS), THREADS, error, words,
			first, first + piece, shift, cursors)));
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

		HG_TRY((hg_cuda_launch<hg_scatter_kernel<Word>>(
			work->stream, "hg_scatter_kernel", hg_blocks_for(piece, THREADS), THREADS, error, words,
			rows, first, first + piece, shift, cursors, edge_words, graph->edge_rows)));
		if (first + piece < n)
			HG_TRY(hg_cuda_wait(work, error));
	}
	hg_cuda_free(work, cursors);
	hg_cuda_free(work, words);
	graph->edge_words = edge_words;

	/* a thread sorts a list: launches have fewer of them if lists are longer */
	const uint64_t piece_lists = HG_PIECE_ROWS / (n / vertices + 1);

	for (uint64_t first = 0; graph->ordered && first < vertices; first += piece_lists)
	{
		uint64_t piece = vertices - first < piece_lists ? vertices - first : piece_lists;

		HG_TRY((hg_cuda_launch<hg_order_kernel<Word>>(
			work->stream, "hg_order_kernel", hg_blocks_for(piece, THREADS), THREADS, error,
			graph->offsets, first, first + piece, edge_words, graph->edge_rows, unfinished)));
		if (first + piece < vertices)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Algorithm 2
 * ------------------------------------------------------------------------ */

/* Runs Algorithm 1 inside bins from .. end - 1 of the graph's edges, which are partitioned. */
template <typename Word, bool ORDERED>
static HgStatus
build_bins(HgCudaWork *work, const HgShape *shape, const uint32_t *starts, uint32_t from,
		   uint32_t end, const HgCudaGraph *graph, uint32_t *unfinished, HgError *error)
{
	const uint32_t bins = UINT32_C(1) << shape->bins_log2;
	const uint32_t bin_vertices = UINT32_C(1) << (shape->vertices_log2 - shape->bins_log2);
	const size_t shared = hg_bin_shared_bytes<Word>(bin_vertices);
	const uint64_t mean_rows = graph->rows / bins + 1;
	const uint64_t piece_bins =
		HG_PIECE_ROWS / mean_rows < bins ? HG_PIECE_ROWS / mean_rows + 1 : bins;

	for (uint64_t first = from; first < end; first += piece_bins)
	{
		uint64_t piece = end - first < piece_bins ? end - first : piece_bins;

		HG_TRY((hg_cuda_launch_shared<hg_bin_build_kernel<Word, ORDERED>>(
			work->stream, "hg_bin_build_kernel", (unsigned) piece, HG_BIN_THREADS, shared, error,
			starts, (uint32_t) first, 32 - shape->vertices_log2, bin_vertices,
			static_cast<Word *>(graph->edge_words), graph->edge_rows, graph->offsets, unfinished)));
		if (first + piece < end)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* Returns true if a block has room for the vertices of a bin. */
template <typename Word>
static bool
bins_fit(const HgCudaWork *work, const HgShape *shape)
{
	const uint64_t bin_vertices = UINT64_C(1) << (shape->vertices_log2 - shape->bins_log2);

	return bin_vertices <= HG_BIN_VERTICES &&
		   hg_bin_shared_bytes<Word>((uint32_t) bin_vertices) + HG_BIN_STATIC_SHARED <=
			   work->device->shared_limit;
}

/* Finds the offsets of a graph whose edges are sorted. */
template <typename Word>
static HgStatus
find_offsets(HgCudaWork *work, const HgCudaGraph *graph, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << graph->vertices_log2) + 1;

	for (uint64_t first = 0; first < entries; first += HG_PIECE_ROWS)
	{
		uint64_t piece = entries - first < HG_PIECE_ROWS ? entries - first : HG_PIECE_ROWS;

		HG_TRY((hg_cuda_launch<hg_offsets_kernel<Word>>(
			work->stream, "hg_offsets_kernel", hg_blocks_for(piece, THREADS), THREADS, error,
			static_cast<const Word *>(graph->edge_words), (uint32_t) graph->rows, first,
			graph->vertices_log2, graph->offsets)));
		if (first + piece < entries)
			HG_TRY(hg_cuda_wait(work, error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Both algorithms
 * ------------------------------------------------------------------------ */

/* Reads the number of lists and bins that were left unfinished.  Waits. */
static HgStatus
read_unfinished(HgCudaWork *work, uint32_t *unfinished, uint32_t *count, HgError *error)
{
	const void *host;

	HG_TRY(hg_cuda_read_back(work, unfinished, sizeof(*count), &host, error));
	memcpy(count, host, sizeof(*count));
	return HG_OK;
}

/* Runs Algorithm 2 in some bins of a graph whose edges are rows in bins. */
template <typename Word>
static HgStatus
build_some_bins(HgCudaWork *work, const HgShape *shape, const uint32_t *starts, uint32_t first,
				uint32_t end, const HgCudaGraph *graph, uint32_t *unfinished, HgError *error)
{
	return graph->ordered
			   ? build_bins<Word, true>(work, shape, starts, first, end, graph, unfinished, error)
			   : build_bins<Word, false>(work, shape, starts, first, end, graph, unfinished, error);
}

/* Sorts the edges if anything could not be finished in its bin. */
template <typename Word>
static HgStatus
finish_bins(HgCudaWork *work, HgCudaGraph *graph, uint32_t *unfinished, HgError *error)
{
	uint32_t unfinished_count;

	HG_TRY(read_unfinished(work, unfinished, &unfinished_count, error));
	if (unfinished_count == 0)
		return HG_OK;
	HG_TRY(sort_edges<Word>(work, graph, error));
	return find_offsets<Word>(work, graph, error);
}

/* Builds by Algorithm 2, with a sort if a bin could not be finished. */
template <typename Word>
static HgStatus
build_v2(HgCudaWork *work, const HgShape *shape, void *keys, const uint32_t *rows, bool keep_keys,
		 HgCudaGraph *graph, uint32_t *unfinished, HgError *error)
{
	const bool fits = bins_fit<Word>(work, shape);
	HgCudaPartition partition;

	HG_TRY(hg_cuda_partition_make(work, sizeof(Word), keys, rows, graph->rows,
								  keep_keys ? HG_KEEP_KEYS : HG_KEEP_ROWS,
								  fits ? shape->bins_log2 : 0, &partition, error));
	HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
	graph->edge_words = partition.words;
	graph->edge_rows = partition.rows;
	if (fits)
	{
		HG_TRY(build_some_bins<Word>(work, shape, partition.starts, 0,
									 UINT32_C(1) << shape->bins_log2, graph, unfinished, error));
		hg_cuda_free(work, partition.starts);
		return finish_bins<Word>(work, graph, unfinished, error);
	}
	hg_cuda_free(work, partition.starts);
	HG_TRY(sort_edges<Word>(work, graph, error));
	return find_offsets<Word>(work, graph, error);
}

template <typename Word>
static HgStatus
build(HgCudaWork *work, const HgShape *shape, Word *keys, const uint32_t *rows, bool keep_keys,
	  HgCudaGraph *graph, HgError *error)
{
	uint32_t *unfinished;
	uint32_t unfinished_count;
	Word *words = keys;

	HG_TRY(hg_cuda_alloc_array(work, 1, &unfinished, error));
	HG_CUDA_TRY(cudaMemsetAsync(unfinished, 0, sizeof(*unfinished), work->stream), error);
	if (hg_cuda_is_binned(shape))
		HG_TRY(build_v2<Word>(work, shape, keys, rows, keep_keys, graph, unfinished, error));
	else
	{
		HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
		if (keep_keys)
			HG_TRY(hg_cuda_alloc_array(work, graph->rows, &words, error));
		HG_TRY(hg_cuda_mix(work, sizeof(Word), keys, words, graph->rows, error));
		HG_TRY(build_v1(work, words, rows, graph->rows, graph, unfinished, error));
		HG_TRY(read_unfinished(work, unfinished, &unfinished_count, error));
		if (unfinished_count > 0)
			HG_TRY(sort_edges<Word>(work, graph, error));
	}
	hg_cuda_free(work, unfinished);
	return HG_OK;
}

/* Makes a graph without edges, with memory for its offsets. */
static HgStatus
begin_graph(HgCudaWork *work, uint32_t key_width, uint32_t vertices_log2, uint64_t rows,
			HgCudaGraph *graph, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << vertices_log2) + 1;

	memset(graph, 0, sizeof(*graph));
	graph->key_width = key_width;
	graph->vertices_log2 = vertices_log2;
	graph->rows = rows;
	return hg_cuda_alloc_array(work, entries, &graph->offsets, error);
}

HgStatus
hg_cuda_graph_build(HgCudaWork *work, const HgShape *shape, uint32_t key_width, void *keys,
					const uint32_t *rows, uint64_t count, bool keep_keys, bool ordered,
					HgCudaGraph *graph, HgError *error)
{
	HG_CUDA_TRY(cudaEventRecord(work->kit.marks[0], work->stream), error);
	HG_TRY(begin_graph(work, key_width, shape->vertices_log2, count, graph, error));
	graph->ordered = ordered;

	if (count == 0)
	{
		const uint64_t entries = (UINT64_C(1) << shape->vertices_log2) + 1;

		HG_CUDA_TRY(cudaMemsetAsync(graph->offsets, 0, entries * sizeof(uint32_t), work->stream),
					error);
		HG_CUDA_TRY(cudaEventRecord(work->kit.marks[1], work->stream), error);
	}
	else if (key_width == 4)
		HG_TRY(build(work, shape, static_cast<uint32_t *>(keys), rows, keep_keys, graph, error));
	else
		HG_TRY(build(work, shape, static_cast<uint64_t *>(keys), rows, keep_keys, graph, error));

	HG_CUDA_TRY(cudaEventRecord(work->kit.marks[2], work->stream), error);
	return hg_cuda_wait(work, error);
}

HgStatus
hg_cuda_graph_begin(HgCudaWork *work, const HgShape *shape, const HgCudaPartition *partition,
					bool ordered, HgCudaGraph *graph, uint32_t **unfinished, HgError *error)
{
	const bool fits = partition->key_width == 4 ? bins_fit<uint32_t>(work, shape)
												: bins_fit<uint64_t>(work, shape);

	if (!fits || partition->bins_log2 != shape->bins_log2)
		return hg_error_set(error, HG_INVALID, nullptr, "no block has room for such bins");
	HG_TRY(begin_graph(work, partition->key_width, shape->vertices_log2, partition->count, graph,
					   error));
	graph->ordered = ordered;
	graph->edge_words = partition->words;
	graph->edge_rows = partition->rows;
	HG_TRY(hg_cuda_alloc_array(work, 1, unfinished, error));
	HG_CUDA_TRY(cudaMemsetAsync(*unfinished, 0, sizeof(**unfinished), work->stream), error);
	return HG_OK;
}

HgStatus
hg_cuda_graph_bins(HgCudaWork *work, const HgShape *shape, const uint32_t *starts, uint32_t first,
				   uint32_t end, const HgCudaGraph *graph, uint32_t *unfinished, HgError *error)
{
	return graph->key_width == 4 ? build_some_bins<uint32_t>(work, shape, starts, first, end, graph,
															 unfinished, error)
								 : build_some_bins<uint64_t>(work, shape, starts, first, end, graph,
															 unfinished, error);
}

HgStatus
hg_cuda_graph_finish(HgCudaWork *work, HgCudaGraph *graph, uint32_t *unfinished, HgError *error)
{
	HG_TRY(graph->key_width == 4 ? finish_bins<uint32_t>(work, graph, unfinished, error)
								 : finish_bins<uint64_t>(work, graph, unfinished, error));
	hg_cuda_free(work, unfinished);
	return hg_cuda_wait(work, error);
}

HgStatus
hg_cuda_graph_order(HgCudaWork *work, HgCudaGraph *graph, HgError *error)
{
	if (graph->key_width == 4)
	{
		HG_TRY(sort_edges<uint32_t>(work, graph, error));
		return find_offsets<uint32_t>(work, graph, error);
	}
	HG_TRY(sort_edges<uint64_t>(work, graph, error));
	return find_offsets<uint64_t>(work, graph, error);
}

HgStatus
hg_cuda_graph_sort(HgCudaWork *work, uint32_t key_width, uint32_t vertices_log2, void *words,
				   uint32_t *rows, uint64_t count, HgCudaGraph *graph, HgError *error)
{
	HG_TRY(begin_graph(work, key_width, vertices_log2, count, graph, error));
	graph->edge_words = words;
	graph->edge_rows = rows;
	HG_TRY(hg_cuda_graph_order(work, graph, error));
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
