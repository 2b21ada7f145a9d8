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
 * A change builds a new table beside the old one (hg_cuda_table_static_build.cu), and replaces it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_static.h"

#include "../kernels/hg_cuda_pieces.h"
#include "hg_cuda_table_static_kernels.h"

static constexpr int THREADS = HG_STATIC_THREADS;

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
	hg_static_free(&table->work, &static_of(table)->graph);
}

static HgStatus
static_change(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
			  HgTableChange *change, HgError *error)
{
	StaticTable *self = static_of(table);
	HgTableChange done = {0, 0};
	HgStaticGraph built;

	HG_TRY(hg_static_build(table, &self->graph, out, in, &built, &done, error));
	hg_static_free(&table->work, &self->graph);
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
	return hg_static_csr_lists(&table->work, graph, &stats->longest_list, &stats->empty_lists,
							   error);
}

const HgCudaTableCalls hg_cuda_table_static = {
	sizeof(StaticTable), hg_static_memory, static_open,	  static_change,   static_find,
	static_count,		 static_match,	   static_export, static_describe, static_close,
};
