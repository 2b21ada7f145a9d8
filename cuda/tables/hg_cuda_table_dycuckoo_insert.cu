/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo_insert.cu
 *	  Inserts pairs into DyCuckoo tables in device memory, and halves subtables.
 *
 * hg_cuda_table_dycuckoo.cu describes the two phases, and what follows a chain that is too long.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_table_dycuckoo.h"

#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_table_dycuckoo_change_kernels.h"

#include <algorithm>

/* Most evictions of a chain, times log2 of the slots. */
static constexpr uint32_t CHAIN_LOGS = 7;

/* Most locks, and least claims. */
static constexpr uint32_t MOST_LOCKS = UINT32_C(1) << 17;
static constexpr uint64_t LEAST_CLAIMS = 64;

/* Functions that are tried before slots are added. */
static constexpr int TRIES = 12;

/* Memory of the phases, one block: pairs left over, pairs to try again, claims and locks. */
template <typename Word> struct Scratch
{
	HgDyRoom<Word> left;
	HgDyRoom<Word> next;
	uint32_t *claims; /* the locks stand behind them */
	uint32_t claim_count;
	uint32_t *locks;
	uint32_t lock_count;
};

static uint32_t
claims_for(uint64_t pairs)
{
	return UINT32_C(1) << hg_ceil_log2(std::max(LEAST_CLAIMS, pairs / 2));
}

uint64_t
hg_dy_scratch_bytes(uint32_t key_width, uint64_t pairs)
{
	return pairs * 2 * (key_width + sizeof(uint32_t)) +
		   (uint64_t) 2 * claims_for(pairs) * sizeof(uint32_t);
}

template <typename Slots>
static HgStatus restart(HgCudaDycuckoo *dy, const HgSlotBatch *more, HgError *error);

/* Allocates the memory of the phases for this many pairs. */
template <typename Word>
static HgStatus
alloc_scratch(HgCudaDycuckoo *dy, uint64_t pairs, Scratch<Word> *scratch, HgError *error)
{
	void *memory;

	HG_TRY(hg_cuda_alloc(&dy->base.work, hg_dy_scratch_bytes(sizeof(Word), pairs), &memory, error));
	scratch->left.words = static_cast<Word *>(memory);
	scratch->next.words = scratch->left.words + pairs;
	scratch->left.rows = reinterpret_cast<uint32_t *>(scratch->next.words + pairs);
	scratch->next.rows = scratch->left.rows + pairs;
	scratch->claims = scratch->next.rows + pairs;
	scratch->claim_count = claims_for(pairs);
	scratch->locks = scratch->claims + scratch->claim_count;
	scratch->lock_count = scratch->claim_count < MOST_LOCKS ? scratch->claim_count : MOST_LOCKS;
	return HG_OK;
}

/* Runs both phases over a list, of keys with KEYS, else of words, and reads the state. */
template <typename Slots, bool KEYS>
static HgStatus
run_phases(HgCudaDycuckoo *dy, const HgSlotBatch *list,
		   const Scratch<typename Slots::Word> *scratch, HgError *error)
{
	HgCudaWork *work = &dy->base.work;
	const uint32_t limit = scratch->claim_count / 2;
	const uint32_t most = CHAIN_LOGS * hg_ceil_log2(hg_dy_all_slots(dy));

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->left, 0, 3 * sizeof(uint32_t), work->stream), error);
	HG_CUDA_TRY(
		cudaMemsetAsync(scratch->claims, 0xff,
						((uint64_t) scratch->claim_count + scratch->lock_count) * sizeof(uint32_t),
						work->stream),
		error);
	HG_TRY((hg_cuda_launch<hg_dy_put_kernel<Slots, KEYS>>(
		work->stream, "hg_dy_put_kernel",
		std::min(hg_blocks_for(list->count, HG_DY_THREADS), HG_DY_CHANGE_BLOCKS), HG_DY_THREADS,
		error, dy->table, *list, scratch->left, dy->state)));
	HG_TRY((hg_cuda_launch<hg_dy_evict_kernel<Slots>>(
		work->stream, "hg_dy_evict_kernel",
		std::min(hg_blocks_for(list->count, HG_DY_THREADS), HG_DY_CHANGE_BLOCKS), HG_DY_THREADS,
		error, dy->table, scratch->left, scratch->next, limit, scratch->claims,
		scratch->claim_count - 1, scratch->locks, scratch->lock_count - 1, most, dy->state)));
	return hg_dy_read_state(dy, error);
}

/*
 * Inserts a list of at most HG_DY_PIECE_PAIRS.  If a chain is too long, the table is repaired; but
 * if failed is not NULL, *failed becomes true instead.
 */
template <typename Slots, bool KEYS>
static HgStatus
insert_list(HgCudaDycuckoo *dy, const HgSlotBatch *list, bool *failed, HgError *error)
{
	typedef typename Slots::Word Word;
	Scratch<Word> scratch;

	if (list->count == 0)
		return HG_OK;
	HG_TRY(alloc_scratch<Word>(dy, list->count, &scratch, error));
	hg_dy_choose_thresholds(dy);
	HG_TRY((run_phases<Slots, KEYS>(dy, list, &scratch, error)));
	while (dy->known.next > 0 && !(failed != nullptr && dy->known.failed > 0))
	{
		const HgSlotBatch again = {scratch.next.words, scratch.next.rows, 0, dy->known.next};

		if (dy->known.failed > 0)
		{
			if (dy->base.rows < hg_dy_least_rows(&dy->base.spec, hg_dy_all_slots(dy)))
			{
				HG_TRY(restart<Slots>(dy, &again, error));
				break;
			}
			HG_TRY(hg_dy_double_smallest(dy, error));
		}
		hg_dy_choose_thresholds(dy);
		HG_TRY((run_phases<Slots, false>(dy, &again, &scratch, error)));
	}
	if (failed != nullptr && dy->known.failed > 0)
		*failed = true;
	hg_cuda_free(&dy->base.work, scratch.left.words);
	return HG_OK;
}

/* Inserts words and rows, which may be more than a list. */
template <typename Slots>
static HgStatus
insert_words(HgCudaDycuckoo *dy, const typename Slots::Word *words, const uint32_t *rows,
			 uint64_t count, bool *failed, HgError *error)
{
	for (uint64_t first = 0; first < count && !(failed != nullptr && *failed);
		 first += HG_DY_PIECE_PAIRS)
	{
		const uint64_t piece =
			count - first < HG_DY_PIECE_PAIRS ? count - first : HG_DY_PIECE_PAIRS;
		const HgSlotBatch list = {words + first, rows + first, 0, (uint32_t) piece};

		HG_TRY((insert_list<Slots, false>(dy, &list, failed, error)));
	}
	return HG_OK;
}

/* Moves all pairs, and those of a list, to new subtables of the same sizes, by new functions. */
template <typename Slots>
static HgStatus
restart(HgCudaDycuckoo *dy, const HgSlotBatch *more, HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaWork *work = &dy->base.work;
	uint64_t count = 0;
	bool failed = true;
	Word *words;
	uint32_t *rows;

	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		count += dy->known.rows[i];
	HG_TRY(hg_cuda_alloc_array(work, count + more->count, &words, error));
	HG_TRY(hg_cuda_alloc_array(work, count + more->count, &rows, error));
	HG_TRY(hg_dy_export_slots(dy, false, words, rows, error));
	HG_CUDA_TRY(cudaMemcpyAsync(words + count, more->keys, more->count * sizeof(Word),
								cudaMemcpyDeviceToDevice, work->stream),
				error);
	if (Slots::HAS_ROWS)
		HG_CUDA_TRY(cudaMemcpyAsync(rows + count, more->rows, more->count * sizeof(uint32_t),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
	for (int tried = 0; failed; tried++)
	{
		uint32_t smallest = 0;

		dy->base.totals.restarts++;
		hg_dy_choose_functions(dy);
		for (uint32_t i = 1; i < dy->base.spec.subtables; i++)
			if (dy->log2[i] < dy->log2[smallest])
				smallest = i;
		if (tried >= TRIES && dy->functions_made > dy->base.spec.bad_functions)
			dy->log2[smallest]++;
		HG_TRY(hg_dy_make_subtables(dy, error));
		failed = false;
		HG_TRY(insert_words<Slots>(dy, words, rows, count + more->count, &failed, error));
	}
	hg_cuda_free(work, words);
	hg_cuda_free(work, rows);
	return HG_OK;
}

template <typename Slots>
static HgStatus
halve_subtable(HgCudaDycuckoo *dy, uint32_t number, HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaWork *work = &dy->base.work;
	HgDySubtable *subtable = &dy->table.subtables[number];
	const uint64_t slots = hg_dy_subtable_slots(dy, number) / 2;
	HgDySubtable half = *subtable;
	HgDyRoom<Word> left;

	HG_TRY(hg_dy_alloc_slots(dy, dy->log2[number] - 1, false, &half, error));
	HG_TRY(hg_cuda_alloc_array(work, slots, &left.words, error));
	HG_TRY(hg_cuda_alloc_array(work, slots, &left.rows, error));
	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->left, 0, sizeof(uint32_t), work->stream), error);
	HG_TRY((hg_cuda_launch_pieces<hg_dy_halve_kernel<Slots>, HG_DY_THREADS>(
		work, "hg_dy_halve_kernel", slots, HG_DY_PIECE_SLOTS, error, *subtable, half, number,
		HG_PIECE_FIRST, HG_PIECE_END, left, dy->state)));
	HG_TRY(hg_dy_read_state(dy, error));
	hg_dy_free_slots(dy, subtable);
	*subtable = half;
	dy->log2[number]--;
	dy->base.totals.halved++;
	HG_TRY(insert_words<Slots>(dy, left.words, left.rows, dy->known.left, nullptr, error));
	hg_cuda_free(work, left.words);
	hg_cuda_free(work, left.rows);
	hg_dy_choose_thresholds(dy);
	return HG_OK;
}

template <typename Slots>
static HgStatus
insert_keys(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	return insert_list<Slots, true>(dy, list, nullptr, error);
}

HgStatus
hg_dy_insert_keys(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	return HG_DY_BY_SLOTS(&dy->base, insert_keys, dy, list, error);
}

/*
 * Halves the largest subtable, of those that may be, while the load is too low.  It ends when the
 * pairs that were left over have doubled another subtable.
 */
HgStatus
hg_dy_hold_least(HgCudaDycuckoo *dy, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const uint64_t doubled = table->totals.doubled;
	const uint32_t none = table->spec.subtables;

	if (table->rows - (dy->erased < table->rows ? dy->erased : table->rows) >=
		hg_dy_least_rows(&table->spec, hg_dy_all_slots(dy)))
		return HG_OK;
	HG_TRY(hg_dy_know_rows(dy, error));
	while (table->rows < hg_dy_least_rows(&table->spec, hg_dy_all_slots(dy)) &&
		   table->totals.doubled == doubled)
	{
		uint32_t largest = none;

		for (uint32_t i = 0; i < none; i++)
			if (dy->log2[i] > dy->least_log2[i] &&
				(largest == none || dy->log2[i] > dy->log2[largest]))
				largest = i;
		if (largest == none)
			break;
		HG_TRY(HG_DY_BY_SLOTS(table, halve_subtable, dy, largest, error));
	}
	return HG_OK;
}
