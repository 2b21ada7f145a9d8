/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_launch.cu
 *	  Launching the kernels of cuckoo tables, for the types that a table has.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_cuckoo_launch.h"

#include "../device/hg_cuda_launch.h"
#include "hg_cuda_cuckoo_kernels.h"

/* A bin has this many slots at most, or fewer where shared memory is short. */
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

/* Bins of a launch, where there are count rows in all of them. */
static uint64_t
bins_at_a_time(const HgCuckooPlaces *places, uint64_t count)
{
	return HG_PIECE_ROWS / (places->buckets * HG_CUCKOO_BUCKET + (count >> places->bins_log2)) + 1;
}

static size_t
shared_bytes(const HgCudaTable *table, const HgCuckooPlaces *places, int numbers)
{
	return (size_t) places->buckets * HG_CUCKOO_BUCKET *
			   hg_cuckoo_slot_bytes(table->spec.key_width, numbers) +
		   HG_CUCKOO_CLAIM_BYTES;
}

/* A range of n, at most piece of it. */
struct Piece
{
	uint64_t n;
	uint64_t piece;
	uint64_t first;
	uint64_t end;
};

static Piece
piece_before_first(uint64_t n, uint64_t piece)
{
	return {n, piece, 0, 0};
}

/* Go on to the next piece; *there is false after the last. */
static HgStatus
piece_next(HgCudaTable *table, Piece *piece, bool *there, HgError *error)
{
	*there = piece->end < piece->n;
	if (*there && piece->end > 0)
		HG_TRY(hg_cuda_pace(&table->work, error));
	piece->first = piece->end;
	piece->end = piece->n - piece->first < piece->piece ? piece->n : piece->first + piece->piece;
	return HG_OK;
}

template <typename Word, bool ROWS>
static HgStatus
launch_insert(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCuckooRows *rows, bool fresh,
			  HgError *error)
{
	const HgCuckooPlaces *places = &cuckoo->places;
	const size_t shared = shared_bytes(table, places, ROWS ? 1 : 0);
	Piece bins =
		piece_before_first(UINT64_C(1) << places->bins_log2, bins_at_a_time(places, rows->count));
	bool there;

	for (;;)
	{
		HG_TRY(piece_next(table, &bins, &there, error));
		if (!there)
			return HG_OK;
		HG_TRY((hg_cuda_launch_shared<hg_cuckoo_insert_kernel<Word, ROWS>>(
			table->work.stream, "hg_cuckoo_insert_kernel", (unsigned) (bins.end - bins.first),
			HG_CUCKOO_THREADS, shared, error, *places, cuckoo->slots,
			static_cast<const Word *>(rows->words), rows->rows, rows->first_row, rows->starts,
			rows->finer, (uint32_t) bins.first, fresh)));
	}
}

template <typename Word, bool ROWS>
static HgStatus
launch_erase(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch,
			 HgError *error)
{
	HgCuckooPlaces places = cuckoo->places;
	Piece keys = piece_before_first(batch->count, HG_PIECE_ROWS);
	bool there;

	/* slots become empty while keys are looked for */
	places.stops = false;
	for (;;)
	{
		HG_TRY(piece_next(table, &keys, &there, error));
		if (!there)
			return HG_OK;
		HG_TRY((hg_cuda_launch<hg_cuckoo_erase_kernel<Word, ROWS>>(
			table->work.stream, "hg_cuckoo_erase_kernel",
			hg_blocks_for(keys.end - keys.first, HG_STREAM_THREADS), HG_STREAM_THREADS, error,
			places, cuckoo->slots, static_cast<const Word *>(batch->keys), batch->rows,
			batch->first_row, batch->by_key, keys.first, keys.end)));
	}
}

template <typename Word, bool ROWS, HgCuckooAnswer ANSWER>
static HgStatus
launch_look(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys, uint64_t count,
			const uint64_t *offsets, uint32_t *rows, HgError *error)
{
	Piece some = piece_before_first(count, HG_PIECE_ROWS);
	bool there;

	for (;;)
	{
		HG_TRY(piece_next(table, &some, &there, error));
		if (!there)
			return HG_OK;
		HG_TRY((hg_cuda_launch<hg_cuckoo_find_kernel<Word, ROWS, ANSWER>>(
			table->work.stream, "hg_cuckoo_find_kernel",
			hg_blocks_for(some.end - some.first, HG_CUCKOO_LOOK_THREADS * HG_CUCKOO_ITEMS),
			HG_CUCKOO_LOOK_THREADS, error, cuckoo->places, cuckoo->slots,
			static_cast<const Word *>(keys), some.first, some.end, offsets, rows)));
	}
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
	Piece some = piece_before_first(count, HG_PIECE_ROWS);
	bool there;

	for (;;)
	{
		HG_TRY(piece_next(table, &some, &there, error));
		if (!there)
			return HG_OK;
		HG_TRY((hg_cuda_launch<hg_cuckoo_absent_kernel<Word, ROWS>>(
			table->work.stream, "hg_cuckoo_absent_kernel",
			hg_blocks_for(some.end - some.first, HG_STREAM_THREADS), HG_STREAM_THREADS, error,
			cuckoo->places, cuckoo->slots, static_cast<const Word *>(keys), some.first, some.end,
			static_cast<Word *>(keys_out))));
	}
}

template <typename Word, bool ROWS>
static HgStatus
launch_export(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row, void *keys,
			  uint32_t *rows, HgError *error)
{
	const uint64_t inverse = hg_cuckoo_inverse(cuckoo->places.key_factor);
	Piece slots = piece_before_first(hg_cuda_cuckoo_slots(cuckoo), HG_PIECE_ROWS);
	bool there;

	for (;;)
	{
		HG_TRY(piece_next(table, &slots, &there, error));
		if (!there)
			return HG_OK;
		HG_TRY((hg_cuda_launch<hg_cuckoo_export_kernel<Word, ROWS>>(
			table->work.stream, "hg_cuckoo_export_kernel",
			hg_blocks_for(slots.end - slots.first, HG_STREAM_THREADS), HG_STREAM_THREADS, error,
			cuckoo->places, inverse, cuckoo->slots, slots.first, slots.end, by_row,
			static_cast<Word *>(keys), rows)));
	}
}

template <typename Word, bool FROM_WORDS>
static HgStatus
launch_spread(HgCudaTable *table, const HgCuckooPlaces *places, const void *keys, uint64_t count,
			  void *keys_out, HgError *error)
{
	const uint64_t inverse = hg_cuckoo_inverse(places->key_factor);
	Piece some = piece_before_first(count, HG_PIECE_ROWS);
	bool there;

	for (;;)
	{
		HG_TRY(piece_next(table, &some, &there, error));
		if (!there)
			return HG_OK;
		HG_TRY((hg_cuda_launch<hg_cuckoo_spread_kernel<Word, FROM_WORDS>>(
			table->work.stream, "hg_cuckoo_spread_kernel",
			hg_blocks_for(some.end - some.first, HG_STREAM_THREADS), HG_STREAM_THREADS, error,
			*places, inverse, static_cast<const Word *>(keys), some.first, some.end,
			static_cast<Word *>(keys_out))));
	}
}

template <typename Word, bool GROUPS>
static HgStatus
launch_distinct_kernel(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCuckooPlaces *places,
					   const HgCudaPartition *parts, uint32_t first_row,
					   const HgCuckooSparse *sparse, HgError *error)
{
	const size_t shared = shared_bytes(table, places, GROUPS ? 1 : 0);
	Piece bins =
		piece_before_first(UINT64_C(1) << parts->bins_log2, bins_at_a_time(places, parts->count));
	bool there;

	for (;;)
	{
		HG_TRY(piece_next(table, &bins, &there, error));
		if (!there)
			return HG_OK;
		HG_TRY((hg_cuda_launch_shared<hg_cuckoo_distinct_kernel<Word, GROUPS>>(
			table->work.stream, "hg_cuckoo_distinct_kernel", (unsigned) (bins.end - bins.first),
			HG_CUCKOO_THREADS, shared, error, *places, static_cast<const Word *>(parts->words),
			parts->rows, first_row, parts->starts, (uint32_t) bins.first,
			static_cast<Word *>(sparse->words), sparse->counts, sparse->offsets, sparse->rows,
			cuckoo->slots.told)));
	}
}

template <typename Word>
static HgStatus
launch_distinct(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCuckooPlaces *places,
				const HgCudaPartition *parts, uint32_t first_row, const HgCuckooSparse *sparse,
				HgError *error)
{
	return sparse->offsets != nullptr
			   ? launch_distinct_kernel<Word, true>(table, cuckoo, places, parts, first_row, sparse,
													error)
			   : launch_distinct_kernel<Word, false>(table, cuckoo, places, parts, first_row,
													 sparse, error);
}

template <typename Word>
static HgStatus
launch_dense(HgCudaTable *table, const HgCudaPartition *parts, const HgCuckooSparse *sparse,
			 const HgCuckooDistinct *distinct, HgError *error)
{
	const uint32_t bins = UINT32_C(1) << parts->bins_log2;

	return hg_cuda_launch<hg_cuckoo_dense_kernel<Word>>(
		table->work.stream, "hg_cuckoo_dense_kernel", bins, HG_STREAM_THREADS, error,
		static_cast<const Word *>(sparse->words), sparse->offsets, parts->starts, distinct->starts,
		bins, (uint32_t) parts->count, static_cast<Word *>(distinct->words), distinct->offsets);
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
