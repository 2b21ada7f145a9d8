/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_static_build.cu
 *	  Builds static HashGraphs: build, drop duplicates, pad.
 *
 * BUILD.  One array has the rows that stay of the old table, and the batch.  It becomes a graph of
 * the join's kind (hg_cuda_graph.cu), by bins if it is large, with sorted lists.  A vertex is the
 * top bits of a word, so all edges are sorted.  An edge refers to its row by the index in the
 * array.
 *
 * DROP DUPLICATES, in sets and maps: the first edge of each word stays, with the least index of
 * the word's edges.  So rows of the table stay, and else the first of a batch.  Without duplicates
 * only the count is done.  The two words that mark slots of sets are dropped as well.
 *
 * PAD.  csr has its lists already: words and rows are put side by side, or rows replace indexes.
 * The Ellpacks need the longest list, of all or of each slice.  Then each slot is written: a warp
 * proceeds slice by slice, whose lists have one length.
 *
 * MEMORY during a build: keys and rows, the graph's build (hg_cuda_shape.cu), the slots, and the
 * old table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_static.h"

#include "../kernels/hg_cuda_build_kernels.h"
#include "../kernels/hg_cuda_graph.h"
#include "../kernels/hg_cuda_pieces.h"
#include "hg_cuda_table_static_build_kernels.h"

#include <cub/device/device_scan.cuh>
#include <cstdio>
#include <cstring>

static constexpr int THREADS = HG_STATIC_THREADS;

/* Slots that an Ellpack may have however few rows it has. */
static constexpr uint64_t SLOTS_ALLOWED = 1024;

void
hg_static_free(HgCudaWork *work, HgStaticGraph *graph)
{
	hg_cuda_free(work, graph->lists.starts);
	hg_cuda_free(work, graph->lists.slots.words);
	hg_cuda_free(work, graph->lists.slots.rows);
	memset(graph, 0, sizeof(*graph));
}

/* Replaces numbers[count] by the sum of those before each. */
static HgStatus
sum_up(HgCudaWork *work, uint32_t *numbers, uint64_t count, HgError *error)
{
	size_t bytes = 0;
	void *temporary;

	HG_CUDA_TRY(
		cub::DeviceScan::ExclusiveSum(nullptr, bytes, numbers, numbers, (int) count, work->stream),
		error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, numbers, numbers, (int) count,
											  work->stream),
				error);
	hg_cuda_free(work, temporary);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Build, and drop duplicates
 * ------------------------------------------------------------------------ */

/* Returns the shape of a graph of this many rows. */
static HgShape
shape_of(const HgTableSpec *spec, uint64_t rows)
{
	HgJobSpec job;

	memset(&job, 0, sizeof(job));
	job.key_width = spec->key_width;
	job.probe = HG_PROBE_STANDARD;
	job.load_factor = spec->load_factor;
	return hg_cuda_shape_choose(&job, 0, rows > spec->expected_rows ? rows : spec->expected_rows);
}

/* Moves the count edges of a graph that stay together.  counts are prefix sums by tile. */
template <typename Word>
static HgStatus
compress(HgCudaTable *table, HgCudaGraph *graph, uint32_t *counts, uint64_t count, HgError *error)
{
	HgCudaWork *work = &table->work;
	const bool is_set = table->spec.content == HG_TABLE_SET;
	const uint32_t n = (uint32_t) graph->rows;
	const uint64_t tiles = hg_blocks_for(n, HG_STATIC_TILE);
	const uint64_t entries = (UINT64_C(1) << graph->vertices_log2) + 1;
	const Word *words = static_cast<const Word *>(graph->edge_words);
	uint32_t *rows = nullptr;
	Word *fewer;

	HG_TRY(hg_cuda_alloc_array(work, count, &fewer, error));
	if (!is_set)
	{
		HG_TRY(hg_cuda_alloc_array(work, count, &rows, error));
		HG_CUDA_TRY(cudaMemsetAsync(rows, 0xff, count * sizeof(uint32_t), work->stream), error);
	}
	HG_TRY((hg_cuda_launch_pieces<hg_static_compress_kernel<Word>, THREADS, 1>(
		work, "hg_static_compress_kernel", tiles, HG_PIECE_ROWS / HG_STATIC_TILE, error, words,
		is_set ? nullptr : graph->edge_rows, n, HG_PIECE_FIRST, is_set, counts, fewer, rows)));
	hg_cuda_free(work, graph->edge_words);
	hg_cuda_free(work, graph->edge_rows);
	graph->edge_words = fewer;
	graph->edge_rows = rows;
	graph->rows = count;
	return hg_cuda_launch_pieces<hg_offsets_kernel<Word>, THREADS>(
		work, "hg_offsets_kernel", entries, HG_PIECE_ROWS, error, fewer, (uint32_t) count,
		HG_PIECE_FIRST, graph->vertices_log2, graph->offsets);
}

/* Leaves one edge of each word in an ordered graph, and in a set none that marks slots. */
template <typename Word>
static HgStatus
drop_duplicates(HgCudaTable *table, HgCudaGraph *graph, HgError *error)
{
	HgCudaWork *work = &table->work;
	const bool is_set = table->spec.content == HG_TABLE_SET;
	const uint32_t n = (uint32_t) graph->rows;
	const uint64_t tiles = hg_blocks_for(n, HG_STATIC_TILE);
	uint32_t *counts;
	uint32_t count;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, tiles + 1, &counts, error));
	HG_CUDA_TRY(cudaMemsetAsync(counts + tiles, 0, sizeof(*counts), work->stream), error);
	HG_TRY((hg_cuda_launch_pieces<hg_static_unique_kernel<Word>, THREADS, 1>(
		work, "hg_static_unique_kernel", tiles, HG_PIECE_ROWS / HG_STATIC_TILE, error,
		static_cast<const Word *>(graph->edge_words), n, HG_PIECE_FIRST, is_set, counts)));
	HG_TRY(sum_up(work, counts, tiles + 1, error));
	HG_TRY(hg_cuda_read_back(work, counts + tiles, sizeof(count), &host, error));
	memcpy(&count, host, sizeof(count));
	if (count < n)
		HG_TRY(compress<Word>(table, graph, counts, count, error));
	hg_cuda_free(work, counts);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Pad
 * ------------------------------------------------------------------------ */

/* Returns the most slots of padded lists of this many rows, or of the expected rows if more. */
static uint64_t
padded_most(const HgTableSpec *spec, uint64_t rows)
{
	const uint64_t room = rows > spec->expected_rows ? rows : spec->expected_rows;
	const double most = spec->max_padding * (double) room;

	if (most > (double) UINT32_MAX)
		return UINT32_MAX;
	return most > (double) SLOTS_ALLOWED ? (uint64_t) most : SLOTS_ALLOWED;
}

/* Returns HG_INVALID, with the slots that padding would take. */
static HgStatus
refuse_padding(const HgCudaTable *table, uint64_t slots, uint64_t rows, uint64_t longest,
			   HgError *error)
{
	char detail[160];

	snprintf(detail, sizeof(detail), "%llu slots for %llu rows; the longest list has %llu rows.",
			 (unsigned long long) slots, (unsigned long long) rows, (unsigned long long) longest);
	return hg_error_set(error, HG_INVALID, detail, "padding of a table of kind %s beyond its limit",
						hg_table_kind_name(table->spec.kind));
}

/* Finds the sizes of lists by their offsets; see hg_static_sizes_kernel.  Waits. */
static HgStatus
find_sizes(HgCudaWork *work, const uint32_t *offsets, const HgStaticLists *lists, uint32_t *slots,
		   HgStaticSizes *sizes, HgError *error)
{
	HgStaticSizes *found;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, 1, &found, error));
	HG_CUDA_TRY(cudaMemsetAsync(found, 0, sizeof(*found), work->stream), error);
	HG_TRY((hg_cuda_launch_pieces<hg_static_sizes_kernel, THREADS, HG_STATIC_SIZES_TILE>(
		work, "hg_static_sizes_kernel", UINT64_C(1) << lists->log2, HG_PIECE_ROWS, error, offsets,
		HG_PIECE_FIRST, lists->log2, lists->slice_log2, slots, found)));
	HG_TRY(hg_cuda_read_back(work, found, sizeof(*sizes), &host, error));
	memcpy(sizes, host, sizeof(*sizes));
	hg_cuda_free(work, found);
	return HG_OK;
}

HgStatus
hg_static_csr_lists(HgCudaWork *work, const HgStaticGraph *graph, uint64_t *longest,
					uint64_t *empty, HgError *error)
{
	HgStaticSizes sizes;

	HG_TRY(find_sizes(work, graph->lists.starts, &graph->lists, nullptr, &sizes, error));
	*longest = sizes.longest;
	*empty = sizes.empty;
	return HG_OK;
}

/* Allocates slots. */
template <typename Word, int FORM>
static HgStatus
slots_open(HgCudaWork *work, uint64_t count, HgStaticSlots *slots, HgError *error)
{
	slots->rows = nullptr;
	if (FORM == HG_FORM_SOA)
		HG_TRY(hg_cuda_alloc_array(work, count, &slots->rows, error));
	return hg_cuda_alloc(work,
						 count * (FORM == HG_FORM_AOS ? sizeof(HgStaticPair<Word>) : sizeof(Word)),
						 &slots->words, error);
}

/* Makes a csr table of a graph; rows maps the edges' numbers to rows. */
template <typename Word, int FORM>
static HgStatus
make_csr(HgCudaTable *table, HgCudaGraph *graph, const HgStaticRows &rows, HgStaticGraph *built,
		 HgError *error)
{
	HgCudaWork *work = &table->work;
	const Word *words = static_cast<const Word *>(graph->edge_words);

	built->lists.starts = graph->offsets;
	built->slots = graph->rows;
	if (FORM == HG_FORM_AOS)
		HG_TRY((slots_open<Word, FORM>(work, graph->rows, &built->lists.slots, error)));
	else
	{
		built->lists.slots.words = graph->edge_words;
		built->lists.slots.rows = FORM == HG_FORM_SOA ? graph->edge_rows : nullptr;
	}
	if (FORM == HG_FORM_AOS || (FORM == HG_FORM_SOA && (rows.rows != nullptr || rows.first != 0)))
		HG_TRY((hg_cuda_launch_pieces<hg_static_fill_kernel<Word, FORM>, THREADS>(
			work, "hg_static_fill_kernel", graph->rows, HG_PIECE_ROWS, error, words,
			graph->edge_rows, rows, HG_PIECE_FIRST, HG_PIECE_END, built->lists.slots)));
	if (FORM == HG_FORM_AOS)
		hg_cuda_free(work, graph->edge_words);
	if (FORM != HG_FORM_SOA)
		hg_cuda_free(work, graph->edge_rows);
	return HG_OK;
}

/* Makes an Ellpack of a graph, or refuses to. */
template <typename Word, int FORM, int FORMAT>
static HgStatus
make_padded(HgCudaTable *table, HgCudaGraph *graph, const HgStaticRows &rows, HgStaticGraph *built,
			HgError *error)
{
	HgCudaWork *work = &table->work;
	HgStaticLists *lists = &built->lists;
	const uint64_t slices = UINT64_C(1) << (lists->log2 - lists->slice_log2);
	constexpr uint64_t PADDED = HG_STATIC_PAD_SLOTS * (THREADS / 32); /* slots of a block */
	HgStaticSizes sizes;

	if (FORMAT == HG_TABLE_SLICED_ELLPACK)
	{
		HG_TRY(hg_cuda_alloc_array(work, slices + 1, &lists->starts, error));
		HG_CUDA_TRY(
			cudaMemsetAsync(lists->starts + slices, 0, sizeof(*lists->starts), work->stream),
			error);
	}
	HG_TRY(find_sizes(work, graph->offsets, lists, lists->starts, &sizes, error));
	built->longest = lists->length = sizes.longest;
	built->empty = sizes.empty;
	built->slots =
		FORMAT == HG_TABLE_SLICED_ELLPACK ? sizes.padded : (uint64_t) sizes.longest << lists->log2;
	if (built->slots > padded_most(&table->spec, graph->rows))
		return refuse_padding(table, built->slots, graph->rows, sizes.longest, error);
	if (FORMAT == HG_TABLE_SLICED_ELLPACK)
		HG_TRY(sum_up(work, lists->starts, slices + 1, error));
	HG_TRY((slots_open<Word, FORM>(work, built->slots, &lists->slots, error)));
	HG_TRY((hg_cuda_launch_pieces<hg_static_pad_kernel<Word, FORM, FORMAT>, THREADS, PADDED>(
		work, "hg_static_pad_kernel", built->slots, HG_PIECE_ROWS, error, *lists, graph->offsets,
		static_cast<const Word *>(graph->edge_words), graph->edge_rows, rows, HG_PIECE_FIRST,
		HG_PIECE_END)));
	hg_cuda_graph_free(work, graph);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * The whole build
 * ------------------------------------------------------------------------ */

template <typename Word, int FORM>
static HgStatus
build(HgCudaTable *table, HgStaticInput *all, HgStaticGraph *built, HgError *error)
{
	HgCudaWork *work = &table->work;
	const HgShape shape = shape_of(&table->spec, all->count);
	HgStaticRows rows = {all->rows, all->first_row};
	const uint32_t *numbers = nullptr;
	HgCudaGraph graph;

	/*
	 * Edges carry rows, not indexes of rows, which would be fetched at random.  But if duplicates
	 * are dropped, the indexes decide which of equal keys came first.
	 */
	if (FORM != HG_FORM_SET && (all->kept == 0 || table->spec.content == HG_TABLE_MULTIMAP) &&
		all->rows != nullptr)
	{
		numbers = all->rows;
		rows = {nullptr, 0};
	}
	HG_TRY(hg_cuda_graph_build(work, &shape, sizeof(Word), all->keys, numbers, all->count,
							   !all->own, true, &graph, error));
	if (table->spec.content != HG_TABLE_MULTIMAP)
		HG_TRY(drop_duplicates<Word>(table, &graph, error));
	built->rows = graph.rows;
	built->lists.log2 = graph.vertices_log2;
	built->lists.slice_log2 =
		graph.vertices_log2 < HG_STATIC_SLICE_LOG2 ? graph.vertices_log2 : HG_STATIC_SLICE_LOG2;
	if (graph.rows == 0)
	{
		hg_cuda_graph_free(work, &graph);
		memset(built, 0, sizeof(*built));
	}
	else if (table->spec.kind == HG_TABLE_CSR)
		HG_TRY((make_csr<Word, FORM>(table, &graph, rows, built, error)));
	else if (table->spec.kind == HG_TABLE_ELLPACK)
		HG_TRY((make_padded<Word, FORM, HG_TABLE_ELLPACK>(table, &graph, rows, built, error)));
	else
		HG_TRY(
			(make_padded<Word, FORM, HG_TABLE_SLICED_ELLPACK>(table, &graph, rows, built, error)));
	if (all->own)
		hg_cuda_free(work, all->rows);
	return HG_OK;
}

HgStatus
hg_static_build(HgCudaTable *table, const HgStaticGraph *old, const HgCudaTableBatch *out,
				const HgCudaTableBatch *in, HgStaticGraph *built, HgTableChange *change,
				HgError *error)
{
	HgStaticInput all;

	memset(built, 0, sizeof(*built));
	HG_TRY(hg_static_concatenate(table, old, out, in, &all, error));
	if (all.count > 0)
		HG_TRY(
			hg_static_with_form(&table->spec,
								[&](auto tag) {
									return build<typename decltype(tag)::Word, decltype(tag)::FORM>(
										table, &all, built, error);
								}));
	else if (all.own)
	{
		hg_cuda_free(&table->work, all.keys);
		hg_cuda_free(&table->work, all.rows);
	}
	change->erased = old->rows - all.kept;
	change->inserted = built->rows - all.kept;
	return HG_OK;
}

void
hg_static_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	const uint64_t width = spec->key_width;
	const HgStaticForm form = hg_static_form(spec);
	const uint64_t slot = form == HG_FORM_SET	? width
						  : form == HG_FORM_AOS ? 2 * width
												: width + sizeof(uint32_t);
	const HgShape shape = shape_of(spec, rows);
	const uint64_t small = UINT64_C(8) << 20; /* lists of tiles, memory of CUB, rounding */
	const uint64_t edges = rows * (width + sizeof(uint32_t));
	const uint64_t starts = ((UINT64_C(1) << shape.vertices_log2) + 1) * sizeof(uint32_t);
	uint64_t held = rows * slot + starts;
	uint64_t build;

	if (spec->kind != HG_TABLE_CSR)
		held = padded_most(spec, rows) * slot + starts;

	/* the graph while its edges are sorted or moved, and its input */
	build = held + 3 * edges + edges / 4 + 3 * starts + small;
	memory->held += held;
	memory->build += build;
	memory->change += held + build + hg_static_erased_bytes(rows);
}
