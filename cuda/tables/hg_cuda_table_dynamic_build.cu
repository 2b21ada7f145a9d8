/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dynamic_build.cu
 *	  Builds the lists of a dynamic HashGraph in device memory: see hg_cuda_table_dynamic.cu.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_dynamic.h"

#include "../kernels/hg_cuda_graph.h"
#include "hg_cuda_table_dynamic_build_kernels.h"

#include <cub/device/device_scan.cuh>
#include <cstring>

HgShape
hg_dynamic_choose_shape(const HgTableSpec *spec, uint64_t rows)
{
	const uint32_t log2 = hg_dynamic_vertices_log2(spec, rows);
	HgShape shape;

	memset(&shape, 0, sizeof(shape));
	shape.vertices_log2 = log2;
	shape.build = HG_BUILD_V1;
	shape.probe = HG_PROBE_STANDARD;
	if (rows * (spec->key_width + 2 * sizeof(uint32_t)) < HG_BINNED_FROM_BYTES && log2 <= 30)
		return shape;
	shape.build = HG_BUILD_V2;
	while (shape.bins_log2 < HG_MAX_BINS_LOG2 && shape.bins_log2 < log2 &&
		   ((rows >> shape.bins_log2) > HG_BIN_MEAN_ROWS ||
			UINT64_C(1) << (log2 - shape.bins_log2) > HG_BIN_VERTICES))
		shape.bins_log2++;
	return shape;
}

HgStatus
hg_dynamic_read_state(HgCudaDynamic *dynamic, HgError *error)
{
	const void *host;

	HG_TRY(hg_cuda_read_back(&dynamic->base.work, dynamic->state, sizeof(HgDynamicState), &host,
							 error));
	memcpy(&dynamic->known, host, sizeof(HgDynamicState));
	dynamic->base.rows += dynamic->known.inserted;
	dynamic->base.rows -= dynamic->known.erased;
	dynamic->deleted += dynamic->known.erased;
	dynamic->deleted -= dynamic->known.reused;
	dynamic->erased = 0;
	HG_CUDA_TRY(
		cudaMemsetAsync(dynamic->state, 0, sizeof(HgDynamicState), dynamic->base.work.stream),
		error);
	return HG_OK;
}

HgStatus
hg_dynamic_know_rows(HgCudaDynamic *dynamic, HgError *error)
{
	return dynamic->erased > 0 ? hg_dynamic_read_state(dynamic, error) : HG_OK;
}

void
hg_dynamic_free_lists(HgCudaDynamic *dynamic)
{
	HgCudaWork *work = &dynamic->base.work;

	hg_cuda_free(work, dynamic->lists.offsets);
	hg_cuda_free(work, dynamic->lists.slots);
	hg_cuda_free(work, dynamic->lists.rows);
	dynamic->lists.offsets = nullptr;
	dynamic->lists.slots = nullptr;
	dynamic->lists.rows = nullptr;
}

/* The input of a build: the table's rows, then a batch's. */
template <typename Word> struct Feed
{
	Word *keys; /* [count], a block of the work */
	uint32_t *old;
	uint64_t old_rows;
	const uint32_t *rows; /* of the batch */
	uint32_t first_row;
	uint64_t count;
};

/* Counts the edges that are left out, and numbers the others: *positions is NULL if all stay. */
template <typename Slots>
static HgStatus
leave_out(HgCudaDynamic *dynamic, const HgCudaGraph *graph, uint64_t old_rows, uint32_t **positions,
		  HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaWork *work = &dynamic->base.work;
	const Word *words = static_cast<const Word *>(graph->edge_words);
	uint32_t *kept;
	void *temporary;
	size_t bytes = 0;

	*positions = nullptr;
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_doubles_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_doubles_kernel", graph->rows, HG_PIECE_ROWS, error, graph->offsets,
		graph->vertices_log2, words, graph->edge_rows, HG_PIECE_FIRST, HG_PIECE_END,
		(uint32_t) old_rows, dynamic->state)));
	HG_TRY(hg_dynamic_read_state(dynamic, error));
	if (dynamic->known.doubles == 0)
		return HG_OK;

	HG_TRY(hg_cuda_alloc_array(work, graph->rows + 1, &kept, error));
	HG_TRY(hg_cuda_alloc_array(work, graph->rows + 1, positions, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_kept_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_kept_kernel", graph->rows + 1, HG_PIECE_ROWS, error, words,
		HG_PIECE_FIRST, graph->rows, kept)));
	HG_TRY(hg_cuda_pace(work, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, bytes, kept, *positions, graph->rows + 1,
											  work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, kept, *positions, graph->rows + 1,
											  work->stream),
				error);
	hg_cuda_free(work, temporary);
	hg_cuda_free(work, kept);
	return HG_OK;
}

/* Makes the lists of a table, which has none, from a feed, and frees the feed's keys. */
template <typename Slots>
static HgStatus
build_lists(HgCudaDynamic *dynamic, Feed<typename Slots::Word> *feed, uint32_t empty_slots,
			HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaTable *table = &dynamic->base;
	HgCudaWork *work = &table->work;
	const HgShape shape = hg_dynamic_choose_shape(&table->spec, feed->count);
	const uint64_t vertices = UINT64_C(1) << shape.vertices_log2;
	/* the edges of a first batch carry the rows, not their indexes */
	const uint32_t *numbers = feed->old_rows == 0 ? feed->rows : nullptr;
	HgDynamicRows rows = {feed->old, (uint32_t) feed->old_rows,
						  numbers == nullptr ? feed->rows : nullptr,
						  numbers == nullptr ? feed->first_row : 0};
	HgDynamicLists *lists = &dynamic->lists;
	uint32_t *positions = nullptr;
	HgCudaGraph graph;

	HG_TRY(hg_cuda_graph_build(work, &shape, sizeof(Word), feed->keys, numbers, feed->count, false,
							   lists->unique, &graph, error));
	dynamic->known.doubles = 0;
	if (lists->unique && feed->count > 0)
		HG_TRY(leave_out<Slots>(dynamic, &graph, feed->old_rows, &positions, error));
	table->rows = feed->count - dynamic->known.doubles;
	dynamic->slots = table->rows + vertices * empty_slots;
	dynamic->deleted = 0;

	lists->offsets = graph.offsets;
	lists->vertices_log2 = shape.vertices_log2;
	HG_TRY(hg_cuda_alloc(work, (dynamic->slots + 1) * sizeof(typename Slots::Slot), &lists->slots,
						 error));
	HG_CUDA_TRY(cudaMemsetAsync(lists->slots, 0xff,
								(dynamic->slots + 1) * sizeof(typename Slots::Slot), work->stream),
				error);
	if (Slots::APART)
	{
		HG_TRY(hg_cuda_alloc_array(work, dynamic->slots + 1, &lists->rows, error));
		HG_CUDA_TRY(cudaMemsetAsync(lists->rows, 0xff, (dynamic->slots + 1) * sizeof(uint32_t),
									work->stream),
					error);
	}
	HG_TRY(hg_cuda_pace(work, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_spread_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_spread_kernel", feed->count, HG_PIECE_ROWS, error, *lists, empty_slots,
		static_cast<const Word *>(graph.edge_words), graph.edge_rows, rows, positions,
		HG_PIECE_FIRST, HG_PIECE_END)));
	HG_TRY(hg_cuda_pace(work, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_offsets_kernel, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_offsets_kernel", vertices + 1, HG_PIECE_ROWS, error, lists->offsets,
		positions, HG_PIECE_FIRST, vertices + 1, empty_slots)));
	HG_TRY(hg_cuda_pace(work, error));
	hg_cuda_free(work, positions);
	hg_cuda_free(work, graph.edge_words);
	hg_cuda_free(work, graph.edge_rows);
	return HG_OK;
}

/* Copies all keys and rows of the table. */
template <typename Slots>
static HgStatus
export_slots(HgCudaDynamic *dynamic, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &dynamic->base.work;

	HG_CUDA_TRY(cudaMemsetAsync(&dynamic->state->exported, 0, sizeof(dynamic->state->exported),
								work->stream),
				error);
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_export_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_export_kernel", dynamic->slots, HG_PIECE_ROWS, error, dynamic->lists,
		HG_PIECE_FIRST, HG_PIECE_END, static_cast<typename Slots::Word *>(keys), rows,
		dynamic->state)));
	return hg_cuda_pace(work, error);
}

/* Builds new lists of the rows of the table and of a batch. */
template <typename Slots>
static HgStatus
rebuild(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaTable *table = &dynamic->base;
	HgCudaWork *work = &table->work;
	Feed<Word> feed;

	HG_TRY(hg_dynamic_know_rows(dynamic, error));
	feed = {nullptr, nullptr, table->rows, in->rows, in->first_row, table->rows + in->count};
	if (feed.count > 0)
		HG_TRY(hg_cuda_alloc_array(work, feed.count, &feed.keys, error));
	if (feed.old_rows > 0)
	{
		if (Slots::HAS_ROWS)
			HG_TRY(hg_cuda_alloc_array(work, feed.old_rows, &feed.old, error));
		HG_TRY(export_slots<Slots>(dynamic, feed.keys, feed.old, error));
	}
	if (in->count > 0)
		HG_CUDA_TRY(cudaMemcpyAsync(feed.keys + feed.old_rows, in->keys, in->count * sizeof(Word),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
	if (dynamic->used)
		table->totals.rebuilds++;
	hg_dynamic_free_lists(dynamic);
	HG_TRY(build_lists<Slots>(dynamic, &feed, table->spec.empty_slots, error));
	hg_cuda_free(work, feed.old);
	return HG_OK;
}

template <typename Slots>
static HgStatus
open_lists(HgCudaDynamic *dynamic, HgError *error)
{
	Feed<typename Slots::Word> nothing = {};

	return build_lists<Slots>(dynamic, &nothing, hg_dynamic_empty_at_first(&dynamic->base.spec),
							  error);
}

HgStatus
hg_dynamic_open_lists(HgCudaDynamic *dynamic, HgError *error)
{
	return HG_DYNAMIC_BY_SLOTS(&dynamic->base, open_lists, dynamic, error);
}

HgStatus
hg_dynamic_export(HgCudaDynamic *dynamic, void *keys, uint32_t *rows, HgError *error)
{
	return HG_DYNAMIC_BY_SLOTS(&dynamic->base, export_slots, dynamic, keys, rows, error);
}

HgStatus
hg_dynamic_rebuild(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error)
{
	return HG_DYNAMIC_BY_SLOTS(&dynamic->base, rebuild, dynamic, in, error);
}
