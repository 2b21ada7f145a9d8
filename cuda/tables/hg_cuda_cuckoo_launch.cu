/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_launch.cu
 *	  Launches the kernels of cuckoo tables for the types of a table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_cuckoo_launch.h"

#include "../kernels/hg_cuda_pieces.h"
#include "hg_cuda_cuckoo_kernels.h"

/* Most slots of a bin, if shared memory allows. */
static constexpr uint32_t MOST_SLOTS = 5376;

uint32_t
hg_cuda_cuckoo_most_slots(const HgCudaTable *table, int numbers)
{
	const size_t bytes =
		table->work.device->shared_limit - HG_CUCKOO_CLAIM_BYTES - HG_PARTITION_STATIC_SHARED;
	const size_t slots = bytes / hg_cuckoo_slot_bytes(table->spec.key_width, numbers);

	return (uint32_t) (slots < MOST_SLOTS ? slots : MOST_SLOTS) / HG_CUCKOO_BUCKET *
		   HG_CUCKOO_BUCKET;
}

/* Returns the bins of a launch, if all bins have count rows. */
static uint64_t
bins_at_a_time(const HgCuckooHashing *hashing, uint64_t count)
{
	return HG_PIECE_ROWS / (hashing->buckets * HG_CUCKOO_BUCKET + (count >> hashing->bins_log2)) +
		   1;
}

static size_t
shared_bytes(const HgCudaTable *table, const HgCuckooHashing *hashing, int numbers)
{
	return (size_t) hashing->buckets * HG_CUCKOO_BUCKET *
			   hg_cuckoo_slot_bytes(table->spec.key_width, numbers) +
		   HG_CUCKOO_CLAIM_BYTES;
}

/* Launches a kernel whose blocks have a bin each; all bins have count rows. */
template <auto KERNEL, typename... Arguments>
static HgStatus
launch_bins(HgCudaTable *table, const char *name, uint32_t bins_log2, uint64_t count,
			const HgCuckooHashing *hashing, int numbers, HgError *error,
			const Arguments &...arguments)
{
	const size_t shared = shared_bytes(table, hashing, numbers);

	return hg_cuda_in_pieces(
		&table->work, UINT64_C(1) << bins_log2, bins_at_a_time(hashing, count), error,
		[&](uint64_t first, uint64_t end)
		{
			return hg_cuda_launch_shared<KERNEL>(table->work.stream, name, (unsigned) (end - first),
												 HG_CUCKOO_THREADS, shared, error,
												 hg_cuda_of_piece(arguments, first, end)...);
		});
}

/* Launches a kernel whose threads have one of n items each. */
template <auto KERNEL, typename... Arguments>
static HgStatus
launch_items(HgCudaTable *table, const char *name, uint64_t n, HgError *error,
			 const Arguments &...arguments)
{
	return hg_cuda_launch_pieces<KERNEL, HG_STREAM_THREADS>(&table->work, name, n, HG_PIECE_ROWS,
															error, arguments...);
}

template <typename Word, bool ROWS>
static HgStatus
launch_insert(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCuckooRows *rows, bool fresh,
			  HgError *error)
{
	const HgCuckooHashing *hashing = &cuckoo->hashing;

	return launch_bins<hg_cuckoo_insert_kernel<Word, ROWS>>(
		table, "hg_cuckoo_insert_kernel", hashing->bins_log2, rows->count, hashing, ROWS ? 1 : 0,
		error, *hashing, cuckoo->slots, static_cast<const Word *>(rows->words), rows->rows,
		rows->first_row, rows->starts, rows->finer, HG_PIECE_FIRST, fresh);
}

template <typename Word, bool ROWS>
static HgStatus
launch_erase(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch,
			 HgError *error)
{
	HgCuckooHashing hashing = cuckoo->hashing;

	/* a search must not stop at a slot that has just become empty */
	hashing.stops = false;
	return launch_items<hg_cuckoo_erase_kernel<Word, ROWS>>(
		table, "hg_cuckoo_erase_kernel", batch->count, error, hashing, cuckoo->slots,
		static_cast<const Word *>(batch->keys), batch->rows, batch->first_row, batch->by_key,
		HG_PIECE_FIRST, HG_PIECE_END);
}

template <typename Word, bool ROWS, HgCuckooAnswer ANSWER>
static HgStatus
launch_look(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys, uint64_t count,
			const uint64_t *offsets, uint32_t *rows, HgError *error)
{
	return hg_cuda_launch_pieces<hg_cuckoo_find_kernel<Word, ROWS, ANSWER>, HG_CUCKOO_LOOK_THREADS,
								 HG_CUCKOO_LOOK_THREADS * HG_CUCKOO_ITEMS>(
		&table->work, "hg_cuckoo_find_kernel", count, HG_PIECE_ROWS, error, cuckoo->hashing,
		cuckoo->slots, static_cast<const Word *>(keys), HG_PIECE_FIRST, HG_PIECE_END, offsets,
		rows);
}

template <typename Word, bool ROWS>
static HgStatus
launch_find(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys, uint64_t count,
			bool counts, const uint64_t *offsets, uint32_t *rows, HgError *error)
{
	if (offsets != nullptr)
		return launch_look<Word, ROWS, HG_CUCKOO_MATCHES>(table, cuckoo, keys, count, offsets, rows,
														  error);
	if (counts)
		return launch_look<Word, ROWS, HG_CUCKOO_COUNTS>(table, cuckoo, keys, count, offsets, rows,
														 error);
	return launch_look<Word, ROWS, HG_CUCKOO_ROWS>(table, cuckoo, keys, count, offsets, rows,
												   error);
}

template <typename Word, bool ROWS>
static HgStatus
launch_absent(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys, uint64_t count,
			  void *keys_out, HgError *error)
{
	return launch_items<hg_cuckoo_absent_kernel<Word, ROWS>>(
		table, "hg_cuckoo_absent_kernel", count, error, cuckoo->hashing, cuckoo->slots,
		static_cast<const Word *>(keys), HG_PIECE_FIRST, HG_PIECE_END,
		static_cast<Word *>(keys_out));
}

template <typename Word, bool ROWS>
static HgStatus
launch_export(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row, void *keys,
			  uint32_t *rows, HgError *error)
{
	return launch_items<hg_cuckoo_export_kernel<Word, ROWS>>(
		table, "hg_cuckoo_export_kernel", hg_cuda_cuckoo_slots(cuckoo), error, cuckoo->hashing,
		hg_cuckoo_inverse(cuckoo->hashing.key_factor), cuckoo->slots, HG_PIECE_FIRST, HG_PIECE_END,
		by_row, static_cast<Word *>(keys), rows);
}

template <typename Word, bool FROM_WORDS>
static HgStatus
launch_spread(HgCudaTable *table, const HgCuckooHashing *hashing, const void *keys, uint64_t count,
			  void *keys_out, HgError *error)
{
	return launch_items<hg_cuckoo_spread_kernel<Word, FROM_WORDS>>(
		table, "hg_cuckoo_spread_kernel", count, error, *hashing,
		hg_cuckoo_inverse(hashing->key_factor), static_cast<const Word *>(keys), HG_PIECE_FIRST,
		HG_PIECE_END, static_cast<Word *>(keys_out));
}

template <typename Word, bool GROUPS>
static HgStatus
launch_distinct_kernel(HgCudaTable *table, const HgCudaCuckoo *cuckoo,
					   const HgCuckooHashing *hashing, const HgCudaPartition *parts,
					   uint32_t first_row, const HgCuckooSparse *sparse, HgError *error)
{
	return launch_bins<hg_cuckoo_distinct_kernel<Word, GROUPS>>(
		table, "hg_cuckoo_distinct_kernel", parts->bins_log2, parts->count, hashing, GROUPS ? 1 : 0,
		error, *hashing, static_cast<const Word *>(parts->words), parts->rows, first_row,
		parts->starts, HG_PIECE_FIRST, static_cast<Word *>(sparse->words), sparse->counts,
		sparse->offsets, sparse->rows, cuckoo->slots.totals);
}

template <typename Word>
static HgStatus
launch_distinct(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCuckooHashing *hashing,
				const HgCudaPartition *parts, uint32_t first_row, const HgCuckooSparse *sparse,
				HgError *error)
{
	return sparse->offsets != nullptr
			   ? launch_distinct_kernel<Word, true>(table, cuckoo, hashing, parts, first_row,
													sparse, error)
			   : launch_distinct_kernel<Word, false>(table, cuckoo, hashing, parts, first_row,
													 sparse, error);
}

template <typename Word>
static HgStatus
launch_dense(HgCudaTable *table, const HgCudaPartition *parts, const HgCuckooSparse *sparse,
			 const HgCuckooDistinct *distinct, HgError *error)
{
	const uint32_t bins = UINT32_C(1) << parts->bins_log2;
	const uint64_t mean = parts->count >> parts->bins_log2; /* rows of a bin */
	const uint64_t most = HG_PIECE_ROWS / (mean > 0 ? mean : 1);

	/* blocks are numbered from the first bin of a piece */
	return hg_cuda_in_pieces(
		&table->work, bins, most, error,
		[&](uint64_t first, uint64_t end)
		{
			return hg_cuda_launch<hg_cuckoo_dense_kernel<Word>>(
				table->work.stream, "hg_cuckoo_dense_kernel", (unsigned) (end - first),
				HG_STREAM_THREADS, error, static_cast<const Word *>(sparse->words), sparse->offsets,
				parts->starts + first, distinct->starts + first, bins - (uint32_t) first,
				(uint32_t) parts->count, static_cast<Word *>(distinct->words), distinct->offsets);
		});
}

template <typename Word, bool ROWS>
static constexpr HgCuckooLaunches LAUNCHES = {
	launch_insert<Word, ROWS>, launch_erase<Word, ROWS>,  launch_find<Word, ROWS>,
	launch_absent<Word, ROWS>, launch_export<Word, ROWS>, launch_spread<Word, false>,
	launch_spread<Word, true>, launch_distinct<Word>,	  launch_dense<Word>,
};

const HgCuckooLaunches *
hg_cuda_cuckoo_launches(const HgTableSpec *spec)
{
	if (spec->content == HG_TABLE_SET)
		return spec->key_width == 4 ? &LAUNCHES<uint32_t, false> : &LAUNCHES<uint64_t, false>;
	return spec->key_width == 4 ? &LAUNCHES<uint32_t, true> : &LAUNCHES<uint64_t, true>;
}
