/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_static.cu
 *	  HashGraphs that are rebuilt for each change: CSR, Ellpack and Sliced Ellpack.
 *
 * The formats are those of the CPU (src/tables/hg_table_static.c):
 *
 *	csr				offsets[V + 1]; a lookup reads one of them, and then the list
 *	ellpack			each list has as many slots as the longest: a lookup reads the list alone
 *	sliced ellpack	each has as many as the longest of 32 neighbours; starts are a 32nd of the
 *					offsets, so that they stay in fast memory
 *
 * All lists are sorted by their words.  Unused slots stand at the end of a list, with the greatest
 * word.  A thread looks up a key: it walks a short list, and bisects a longer one.  A thread
 * writes one row, however many a key has.
 *
 * A change builds a new table beside the old one (hg_cuda_table_static.cu), and replaces it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cub/device/device_scan.cuh>

#include "../kernels/hg_cuda_build_kernels.h"
#include "../kernels/hg_cuda_graph.h"
#include "../kernels/hg_cuda_pieces.h"
#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_table_static.h"
#include "hg_cuda_table_static_kernels.h"
#include "hg_cuda_tables_impl.h"

/* ---------------------------------------------------------------------
 * Builds static HashGraphs: build, drop duplicates, pad
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
 * ---------------------------------------------------------------------
 */

static constexpr int THREADS = HG_STATIC_THREADS;

/* Slots that an Ellpack may have however few rows it has. */
static constexpr uint64_t SLOTS_ALLOWED = 1024;

/* Frees the arrays and zeroes the graph. */
static void
static_free(HgCudaWork *work, HgStaticGraph *graph)
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
	job.shape.probe = HG_PROBE_STANDARD;
	job.shape.load_factor = spec->load_factor;
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

/* Sets the rows of the longest list, and the number of empty lists, of a csr graph.  Waits. */
static HgStatus
static_csr_lists(HgCudaWork *work, const HgStaticGraph *graph, uint64_t *longest, uint64_t *empty,
				 HgError *error)
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

/*
 * Builds a graph of the rows of an old one that out does not erase, and of the rows of in; either
 * batch may be NULL.  The old graph stays as it is.  Returns HG_INVALID if an Ellpack would be
 * padded beyond its limit.
 */
static HgStatus
static_build(HgCudaTable *table, const HgStaticGraph *old, const HgCudaTableBatch *out,
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

/* Adds the most memory of a table with this many rows. */
static void
static_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
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

/* ---------------------------------------------------------------------
 * Collects the rows of which static HashGraphs are built: those of the old one, and a batch's
 *
 * The keys of the old table that are not erased, and those of the batch, are copied to one array,
 * and their rows to another.  A hash table of the erasing batch finds erased rows, in time that
 * does not depend on the rows a key.  A first batch is used in place.
 * ---------------------------------------------------------------------
 */

/* Least slots of the hash table of erased rows. */
static constexpr uint64_t LEAST_ERASED_SLOTS = 16;

/* Returns log2 of its slots for this many rows: at least twice as many. */
static uint32_t
erased_log2(uint64_t rows)
{
	return hg_ceil_log2(std::max(LEAST_ERASED_SLOTS, 2 * rows));
}

uint64_t
hg_static_erased_bytes(uint64_t rows)
{
	return (UINT64_C(1) << erased_log2(rows)) * sizeof(uint32_t);
}

/* Enters the rows that a batch erases. */
template <typename Word>
static HgStatus
erased_enter(HgCudaWork *work, uint64_t count, const HgStaticErased &erased, HgError *error)
{
	return hg_cuda_launch_pieces<hg_static_erase_kernel<Word>, THREADS>(
		work, "hg_static_erase_kernel", count, HG_PIECE_ROWS, error, erased, HG_PIECE_FIRST,
		HG_PIECE_END);
}

/* Makes the hash table of the rows that a batch erases. */
static HgStatus
erased_open(HgCudaTable *table, const HgCudaTableBatch *out, HgStaticErased *erased, HgError *error)
{
	HgCudaWork *work = &table->work;
	uint64_t slots;

	erased->keys = out->keys;
	erased->rows = out->rows;
	erased->first_row = out->first_row;
	erased->by_key = out->by_key || table->spec.content == HG_TABLE_SET;
	erased->log2 = erased_log2(out->count);
	slots = UINT64_C(1) << erased->log2;
	HG_TRY(hg_cuda_alloc_array(work, slots, &erased->slots, error));
	HG_CUDA_TRY(cudaMemsetAsync(erased->slots, 0xff, slots * sizeof(uint32_t), work->stream),
				error);
	return table->spec.key_width == 4 ? erased_enter<uint32_t>(work, out->count, *erased, error)
									  : erased_enter<uint64_t>(work, out->count, *erased, error);
}

/* Copies the rows of a graph that are not erased; *count, on the device, becomes their number. */
static HgStatus
extract(HgCudaTable *table, const HgStaticGraph *graph, const HgStaticErased &erased, void *keys,
		uint32_t *rows, uint32_t *count, HgError *error)
{
	HgCudaWork *work = &table->work;

	HG_CUDA_TRY(cudaMemsetAsync(count, 0, sizeof(*count), work->stream), error);
	return hg_static_with_form(
		&table->spec,
		[&](auto tag)
		{
			typedef typename decltype(tag)::Word Word;
			constexpr int FORM = decltype(tag)::FORM;

			return hg_cuda_launch_pieces<hg_static_extract_kernel<Word, FORM>, THREADS,
										 HG_STATIC_EXTRACT_TILE>(
				work, "hg_static_extract_kernel", graph->slots, HG_PIECE_ROWS, error,
				graph->lists.slots, HG_PIECE_FIRST, HG_PIECE_END, erased, static_cast<Word *>(keys),
				rows, count);
		});
}

HgStatus
hg_static_export(HgCudaTable *table, const HgStaticGraph *graph, void *keys, uint32_t *rows,
				 HgError *error)
{
	HgStaticErased erased;
	uint32_t *count;

	memset(&erased, 0, sizeof(erased));
	HG_TRY(hg_cuda_alloc_array(&table->work, 1, &count, error));
	HG_TRY(extract(table, graph, erased, keys, rows, count, error));
	hg_cuda_free(&table->work, count);
	return HG_OK;
}

/* Copies the rows of the old table that stay to the front of all. */
static HgStatus
keep_old(HgCudaTable *table, const HgStaticGraph *old, const HgCudaTableBatch *out,
		 HgStaticInput *all, HgError *error)
{
	HgCudaWork *work = &table->work;
	HgStaticErased erased;
	uint32_t *count;

	memset(&erased, 0, sizeof(erased));
	if (out != nullptr)
		HG_TRY(erased_open(table, out, &erased, error));
	HG_TRY(hg_cuda_alloc_array(work, 1, &count, error));
	HG_TRY(extract(table, old, erased, all->keys, all->rows, count, error));
	all->kept = old->rows;
	if (out != nullptr)
	{
		const void *host;
		uint32_t kept;

		HG_TRY(hg_cuda_read_back(work, count, sizeof(kept), &host, error));
		memcpy(&kept, host, sizeof(kept));
		all->kept = kept;
	}
	hg_cuda_free(work, count);
	hg_cuda_free(work, erased.slots);
	return HG_OK;
}

HgStatus
hg_static_concatenate(HgCudaTable *table, const HgStaticGraph *old, const HgCudaTableBatch *out,
					  const HgCudaTableBatch *in, HgStaticInput *all, HgError *error)
{
	const uint64_t inserted = in != nullptr ? in->count : 0;
	const uint64_t most = old->rows + inserted;

	memset(all, 0, sizeof(*all));
	if (old->rows == 0)
	{
		/* the batch is used in place of a copy */
		all->count = inserted;
		if (in != nullptr)
		{
			all->keys = const_cast<void *>(in->keys);
			all->rows = const_cast<uint32_t *>(in->rows);
			all->first_row = in->first_row;
		}
		return HG_OK;
	}
	all->own = true;
	HG_TRY(hg_cuda_alloc(&table->work, most * table->spec.key_width, &all->keys, error));
	if (table->spec.content != HG_TABLE_SET)
		HG_TRY(hg_cuda_alloc_array(&table->work, most, &all->rows, error));
	HG_TRY(keep_old(table, old, out, all, error));
	all->count = all->kept + inserted;
	if (inserted == 0)
		return HG_OK;
	return hg_cuda_batch_append(table, in, all->kept, all->keys, all->rows, error);
}

/* Blocks that write matches, whatever their number. */
static constexpr unsigned MATCH_BLOCKS = 4096;

struct StaticTable
{
	HgCudaTable table;
	HgStaticGraph graph;
	bool built; /* something was inserted */
};

static StaticTable *
static_of(HgCudaTable *table)
{
	return reinterpret_cast<StaticTable *>(table);
}

static HgStatus
static_open(HgCudaTable *, HgError *)
{
	/* no memory is needed before the first row */
	return HG_OK;
}

static void
static_close(HgCudaTable *table)
{
	static_free(&table->work, &static_of(table)->graph);
}

static HgStatus
static_change(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
			  HgTableChange *change, HgError *error)
{
	StaticTable *self = static_of(table);
	HgTableChange done = {0, 0};
	HgStaticGraph built;

	HG_TRY(static_build(table, &self->graph, out, in, &built, &done, error));
	static_free(&table->work, &self->graph);
	self->graph = built;
	table->rows = built.rows;
	if (self->built)
		table->totals.rebuilds++;
	self->built |= in != nullptr;
	if (change != nullptr)
		*change = done;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Looking up
 * ------------------------------------------------------------------------ */

/* What a lookup of a key answers. */
enum Question
{
	ASK_ROW,
	ASK_COUNT,
	ASK_BEGIN
};

template <typename Word, int FORM, int FORMAT>
static HgStatus
ask_lists(HgCudaWork *work, const HgStaticLists &lists, Question question, const void *keys,
		  uint64_t count, uint32_t *answers, HgError *error)
{
	const Word *words = static_cast<const Word *>(keys);

	if (question == ASK_ROW)
		return hg_cuda_launch_pieces<hg_static_find_kernel<Word, FORM, FORMAT>, THREADS>(
			work, "hg_static_find_kernel", count, HG_PIECE_ROWS, error, lists, words,
			HG_PIECE_FIRST, HG_PIECE_END, answers);
	if (question == ASK_COUNT)
		return hg_cuda_launch_pieces<hg_static_count_kernel<Word, FORM, FORMAT, false>, THREADS>(
			work, "hg_static_count_kernel", count, HG_PIECE_ROWS, error, lists, words,
			HG_PIECE_FIRST, HG_PIECE_END, answers);
	return hg_cuda_launch_pieces<hg_static_count_kernel<Word, FORM, FORMAT, true>, THREADS>(
		work, "hg_static_count_kernel", count, HG_PIECE_ROWS, error, lists, words, HG_PIECE_FIRST,
		HG_PIECE_END, answers);
}

/* Answers a question for each key. */
static HgStatus
ask(HgCudaTable *table, Question question, const void *keys, uint64_t count, uint32_t *answers,
	HgError *error)
{
	HgCudaWork *work = &table->work;
	const HgStaticLists &lists = static_of(table)->graph.lists;

	if (table->rows == 0)
	{
		HG_CUDA_TRY(cudaMemsetAsync(answers, question == ASK_ROW ? 0xff : 0,
									count * sizeof(uint32_t), work->stream),
					error);
		return HG_OK;
	}
	return hg_static_with_form(&table->spec,
							   [&](auto tag)
							   {
								   typedef typename decltype(tag)::Word Word;
								   constexpr int FORM = decltype(tag)::FORM;

								   switch (table->spec.kind)
								   {
									   case HG_TABLE_CSR:
										   return ask_lists<Word, FORM, HG_TABLE_CSR>(
											   work, lists, question, keys, count, answers, error);
									   case HG_TABLE_ELLPACK:
										   return ask_lists<Word, FORM, HG_TABLE_ELLPACK>(
											   work, lists, question, keys, count, answers, error);
									   default:
										   return ask_lists<Word, FORM, HG_TABLE_SLICED_ELLPACK>(
											   work, lists, question, keys, count, answers, error);
								   }
							   });
}

static HgStatus
static_find(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return ask(table, ASK_ROW, keys, count, rows, error);
}

static HgStatus
static_count(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return ask(table, ASK_COUNT, keys, count, counts, error);
}

static HgStatus
static_match(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
			 uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &table->work;
	const HgStaticSlots &slots = static_of(table)->graph.lists.slots;
	uint32_t *begins;

	if (table->rows == 0 || count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, count, &begins, error));
	HG_TRY(ask(table, ASK_BEGIN, keys, count, begins, error));
	HG_TRY(hg_static_with_form(
		&table->spec,
		[&](auto tag)
		{
			return hg_cuda_launch<
				hg_static_match_kernel<typename decltype(tag)::Word, decltype(tag)::FORM>>(
				work->stream, "hg_static_match_kernel", MATCH_BLOCKS, THREADS, error, slots, begins,
				(uint32_t) count, offsets, rows);
		}));
	hg_cuda_free(work, begins);
	return HG_OK;
}

static HgStatus
static_export(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error)
{
	return hg_static_export(table, &static_of(table)->graph, keys, rows, error);
}

static HgStatus
static_describe(HgCudaTable *table, HgTableStats *stats, HgError *error)
{
	const HgStaticGraph *graph = &static_of(table)->graph;

	if (graph->rows == 0)
		return HG_OK;
	stats->slots = graph->slots;
	stats->lists = UINT64_C(1) << graph->lists.log2;
	stats->longest_list = graph->longest;
	stats->empty_lists = graph->empty;
	if (table->spec.kind != HG_TABLE_CSR)
		return HG_OK;
	return static_csr_lists(&table->work, graph, &stats->longest_list, &stats->empty_lists, error);
}

const HgCudaTableCalls hg_cuda_table_static = {
	sizeof(StaticTable), static_memory, static_open,   static_change,	static_find,
	static_count,		 static_match,	static_export, static_describe, static_close,
};
