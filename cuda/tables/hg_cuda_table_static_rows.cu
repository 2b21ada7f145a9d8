/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_static_rows.cu
 *	  Collects the rows of which static HashGraphs are built: those of the old one, and a batch's.
 *
 * The keys of the old table that are not erased, and those of the batch, are copied to one array,
 * and their rows to another.  A hash table of the erasing batch finds erased rows, in time that
 * does not depend on the rows a key.  A first batch is used in place.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_static.h"

#include "../kernels/hg_cuda_pieces.h"
#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_table_batch.h"
#include "hg_cuda_table_static_build_kernels.h"

#include <algorithm>
#include <cstring>

static constexpr int THREADS = HG_STATIC_THREADS;

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
