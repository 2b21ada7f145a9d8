/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo_subtables.cu
 *	  Subtables of DyCuckoo in device memory: sizes, functions, state, doubling.
 *
 * See hg_cuda_table_dycuckoo.cu.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_dycuckoo.h"

#include <cstring>

uint64_t
hg_dy_choose_sizes(const HgTableSpec *spec, uint64_t rows, uint32_t log2[HG_TABLE_MAX_SUBTABLES])
{
	uint64_t slots = (uint64_t) spec->subtables * hg_dy_bucket_slots(spec);

	memset(log2, 0, HG_TABLE_MAX_SUBTABLES * sizeof(uint32_t));
	for (uint32_t i = 0; hg_dy_most_rows(spec, slots) < rows; i = (i + 1) % spec->subtables)
		slots += (uint64_t) hg_dy_bucket_slots(spec) << log2[i]++;
	return slots;
}

static uint64_t
next_random(HgCudaDycuckoo *dy)
{
	return hg_mix64(dy->random += UINT64_C(0x9e3779b97f4a7c15));
}

static void
choose_function(HgCudaDycuckoo *dy, HgDySubtable *subtable)
{
	subtable->flip = next_random(dy);
	subtable->factor = next_random(dy) | 1;
	if (dy->functions_made++ < dy->base.spec.bad_functions)
		subtable->factor = 0;
}

void
hg_dy_choose_functions(HgCudaDycuckoo *dy)
{
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		choose_function(dy, &dy->table.subtables[i]);
	dy->table.flip = next_random(dy);
	dy->table.factor = next_random(dy) | 1;
}

HgStatus
hg_dy_alloc_slots(HgCudaDycuckoo *dy, uint32_t log2, bool empty, HgDySubtable *subtable,
				  HgError *error)
{
	HgCudaWork *work = &dy->base.work;
	const uint64_t slots = (uint64_t) hg_dy_bucket_slots(&dy->base.spec) << log2;
	const uint64_t bytes = (uint64_t) HG_DY_BUCKET_BYTES << log2;

	subtable->slots = nullptr;
	subtable->rows = nullptr;
	subtable->mask = (uint32_t) ((UINT64_C(1) << log2) - 1);
	HG_TRY(hg_cuda_alloc(work, bytes, &subtable->slots, error));
	if (hg_dy_rows_are_apart(&dy->base.spec))
		HG_TRY(hg_cuda_alloc_array(work, slots, &subtable->rows, error));
	if (empty)
		HG_CUDA_TRY(cudaMemsetAsync(subtable->slots, 0xff, bytes, work->stream), error);
	return HG_OK;
}

void
hg_dy_free_slots(HgCudaDycuckoo *dy, HgDySubtable *subtable)
{
	hg_cuda_free(&dy->base.work, subtable->slots);
	hg_cuda_free(&dy->base.work, subtable->rows);
	subtable->slots = nullptr;
	subtable->rows = nullptr;
}

HgStatus
hg_dy_make_subtables(HgCudaDycuckoo *dy, HgError *error)
{
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
	{
		hg_dy_free_slots(dy, &dy->table.subtables[i]);
		HG_TRY(hg_dy_alloc_slots(dy, dy->log2[i], true, &dy->table.subtables[i], error));
	}
	HG_CUDA_TRY(cudaMemsetAsync(dy->state->rows, 0, sizeof(dy->state->rows), dy->base.work.stream),
				error);
	memset(dy->known.rows, 0, sizeof(dy->known.rows));
	return HG_OK;
}

HgStatus
hg_dy_read_state(HgCudaDycuckoo *dy, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const void *host;

	HG_TRY(hg_cuda_read_back(&table->work, dy->state, sizeof(HgDyState), &host, error));
	memcpy(&dy->known, host, sizeof(HgDyState));
	dy->erased = 0;
	table->rows = dy->known.odd_row != HG_CUDA_EMPTY_ROW;
	for (uint32_t i = 0; i < table->spec.subtables; i++)
		table->rows += dy->known.rows[i];
	table->totals.evictions = dy->known.evictions;
	table->totals.longest_chain = dy->known.longest_chain;
	return HG_OK;
}

HgStatus
hg_dy_know_rows(HgCudaDycuckoo *dy, HgError *error)
{
	return dy->erased > 0 ? hg_dy_read_state(dy, error) : HG_OK;
}

void
hg_dy_choose_thresholds(HgCudaDycuckoo *dy)
{
	double free[HG_TABLE_MAX_SUBTABLES];
	uint32_t pair = 0;

	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		free[i] = (double) hg_dy_subtable_slots(dy, i) - (double) dy->known.rows[i] + 1;
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		for (uint32_t j = i + 1; j < dy->base.spec.subtables; j++)
		{
			dy->table.first[pair] = (uint8_t) i;
			dy->table.second[pair] = (uint8_t) j;
			dy->table.threshold[pair] = (uint32_t) (free[i] / (free[i] + free[j]) * 4294967295.0);
			pair++;
		}
	dy->table.count = dy->base.spec.subtables;
	dy->table.pairs = pair;
}

template <typename Slots>
static HgStatus
double_subtable(HgCudaDycuckoo *dy, uint32_t number, HgError *error)
{
	HgCudaWork *work = &dy->base.work;
	HgDySubtable *subtable = &dy->table.subtables[number];
	HgDySubtable twice = *subtable;

	HG_TRY(hg_dy_alloc_slots(dy, dy->log2[number] + 1, false, &twice, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dy_double_kernel<Slots>, HG_DY_THREADS>(
		work, "hg_dy_double_kernel", hg_dy_subtable_slots(dy, number), HG_DY_PIECE_SLOTS, error,
		*subtable, twice, HG_PIECE_FIRST, HG_PIECE_END)));
	HG_TRY(hg_cuda_pace(work, error));
	hg_dy_free_slots(dy, subtable);
	*subtable = twice;
	dy->log2[number]++;
	dy->base.totals.doubled++;
	hg_dy_choose_thresholds(dy);
	return HG_OK;
}

HgStatus
hg_dy_double_smallest(HgCudaDycuckoo *dy, HgError *error)
{
	uint32_t smallest = 0;

	for (uint32_t i = 1; i < dy->base.spec.subtables; i++)
		if (dy->log2[i] < dy->log2[smallest])
			smallest = i;
	return HG_DY_BY_SLOTS(&dy->base, double_subtable, dy, smallest, error);
}

/* Copies all pairs of the subtables, but not the one beside them. */
template <typename Slots, bool KEYS>
static HgStatus
export_slots(HgCudaDycuckoo *dy, void *words, uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &dy->base.work;

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->exported, 0, sizeof(dy->state->exported), work->stream),
				error);
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
	{
		HG_TRY((hg_cuda_launch_pieces<hg_dy_export_kernel<Slots, KEYS>, HG_DY_THREADS>(
			work, "hg_dy_export_kernel", hg_dy_subtable_slots(dy, i), HG_DY_PIECE_SLOTS, error,
			dy->table.subtables[i], HG_PIECE_FIRST, HG_PIECE_END,
			static_cast<typename Slots::Word *>(words), rows, dy->state)));
		HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

template <typename Slots>
static HgStatus
export_keys(HgCudaDycuckoo *dy, void *words, uint32_t *rows, HgError *error)
{
	return export_slots<Slots, true>(dy, words, rows, error);
}

template <typename Slots>
static HgStatus
export_words(HgCudaDycuckoo *dy, void *words, uint32_t *rows, HgError *error)
{
	return export_slots<Slots, false>(dy, words, rows, error);
}

HgStatus
hg_dy_export_slots(HgCudaDycuckoo *dy, bool as_keys, void *words, uint32_t *rows, HgError *error)
{
	return as_keys ? HG_DY_BY_SLOTS(&dy->base, export_keys, dy, words, rows, error)
				   : HG_DY_BY_SLOTS(&dy->base, export_words, dy, words, rows, error);
}
