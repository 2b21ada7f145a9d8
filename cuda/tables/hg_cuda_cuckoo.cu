/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo.cu
 *	  The slots of a cuckoo table in device memory: one array, with several buckets for each key.
 *
 * D. Alcantara and others, "Building an Efficient Hash Table on the GPU", GPU Computing Gems,
 * 2011.  Each of 2 to 5 functions gives a key a candidate, and the key stands in one of them.  A
 * key whose candidates are all taken replaces another key, which moves to the candidate of its
 * next function.  A chain of more than 7 lg(slots) evictions means that the functions are bad:
 * RESTART, with new ones.
 *
 * The paper has a thread an item, and 64-bit exchanges all over device memory.  This
 * implementation differs in three ways:
 *
 * BINS.  All candidates of a key are in one bin, chosen by the first bits of its word, and a bin
 * fits the shared memory of a block.  A batch is put into bins first (hg_cuda_partition.cu).  Then
 * a block reads a bin of the table, unless it is new, inserts the batch's rows, and writes the bin
 * back, all in order (hg_cuda_cuckoo_kernels.h).  So a change takes no random access to memory,
 * and since no other block has the bin, equal keys of a batch are easily found.  Each bin with
 * rows in the batch has a block, so that small batches read and write little.
 *
 * BUCKETS.  A function chooses a bucket of four slots, which a lookup reads at once.  A key goes
 * to the first of its buckets with an empty slot, so most keys are found in the first: seven of
 * eight with 1.25 slots a key.  While nothing was erased a lookup ends at a bucket with an empty
 * slot.
 *
 * SPREADING.  Keys whose words have the same first bits would all get into one bin.  After a
 * restart each key is multiplied by a random odd number before it is mixed, which separates them.
 *
 * CAPACITY.  Bins get different numbers of keys: there are slots for six standard deviations more
 * than the mean, if the spec demands fewer.  An array is filled up to the middle between its
 * initial load and the load that its functions can handle.  Then it grows, for the new keys of the
 * batch: keys that the table has already are not counted.  Every fourth restart in a row makes it
 * grow too.
 *
 * ERASE leaves an empty slot.
 *
 * MEMORY: the slots.  While a batch is inserted: its keys and rows twice, and the keys once more
 * if they are spread.  While the array grows: all keys and rows beside the old or the new slots.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cmath>
#include <cstddef>
#include <cstring>
#include <cub/device/device_scan.cuh>

#include "../kernels/hg_cuda_pieces.h"
#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_cuckoo.h"
#include "hg_cuda_cuckoo_kernels.h"

/* ---------------------------------------------------------------------
 * Chooses sizes and functions of cuckoo tables on a device: see hg_cuda_cuckoo.cu
 * ---------------------------------------------------------------------
 */

/* Additional slots of a table with one bin: with few rows the variance is large. */
static constexpr uint32_t MORE_SLOTS = 32;

/* A bin filled to MOST_FILLED holds this many standard deviations of rows above the mean. */
static constexpr double DEVIATIONS = 6;
static constexpr double MOST_FILLED = 0.95;

/* Slots a key that suffice for bins on any device, whatever the spec demands. */
static constexpr double BINS_FACTOR = 1.25;

/* Most evictions of one insert, times log2 of the slots. */
static constexpr uint32_t CHAIN_LOGS = 7;

/* The same for arrays with a higher load than the paper's: fewer slots a key than FULL_FACTOR. */
static constexpr uint32_t CHAIN_LOGS_FULL = 70;
static constexpr double FULL_FACTOR = 1.2;

/* Least rows for which memory is allocated. */
static constexpr uint64_t LEAST_ROOM = 256;

/* Upper bound on memory that does not grow with the rows. */
static constexpr uint64_t SMALL_BYTES = UINT64_C(256) << 10;

/* ------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------ */

/* Returns the 4-byte values of an entry beside its word: 1, or 0 in a set. */
static int
cuckoo_numbers(const HgCudaTable *table)
{
	return table->spec.content == HG_TABLE_SET ? 0 : 1;
}

/* Sets bins_log2 and buckets for this many rows, with factor slots for each. */
void
hg_cuda_cuckoo_choose_size(const HgCudaTable *table, double rows, double factor,
						   HgCuckooHashing *hashing)
{
	const uint32_t most = hg_cuda_cuckoo_most_slots(table, cuckoo_numbers(table));
	double slots = factor * rows + MORE_SLOTS;

	hashing->bins_log2 = 0;
	while (slots > most)
	{
		const double mean = rows / (double) (UINT64_C(1) << ++hashing->bins_log2);
		const double least = (mean + DEVIATIONS * sqrt(mean)) / MOST_FILLED;

		slots = factor * mean > least ? factor * mean : least;
	}
	/* with no more buckets than functions there would be no choice */
	if (slots < 8 * HG_CUCKOO_BUCKET)
		slots = 8 * HG_CUCKOO_BUCKET;
	hashing->buckets = (uint32_t) ceil(slots / HG_CUCKOO_BUCKET);
}

/* Returns how many rows the slots take before they grow. */
uint64_t
hg_cuda_cuckoo_rows_for(const HgCudaTable *table, const HgCudaCuckoo *cuckoo)
{
	const HgTableSpec *spec = &table->spec;
	const double most = 1 / hg_table_least_slots_factor(spec->functions);
	const double slots = (double) hg_cuda_cuckoo_slots(cuckoo);

	return (uint64_t) ((1 / spec->slots_factor + most) / 2 * (slots - MORE_SLOTS)) + 1;
}

/* Returns the most slots for this many rows, restarts included. */
static double
slots_at_most(const HgTableSpec *spec, uint64_t rows)
{
	const double factor = spec->slots_factor > BINS_FACTOR ? spec->slots_factor : BINS_FACTOR;

	return (factor * (double) (rows + LEAST_ROOM) + MORE_SLOTS) * HG_CUCKOO_GROWN;
}

static uint64_t
slot_bytes(const HgTableSpec *spec)
{
	return spec->key_width + (spec->content == HG_TABLE_SET ? 0 : sizeof(uint32_t));
}

uint64_t
hg_cuda_cuckoo_bytes(const HgTableSpec *spec, uint64_t rows)
{
	const uint64_t room = rows > spec->expected_rows ? rows : spec->expected_rows;

	return (uint64_t) slots_at_most(spec, room) * slot_bytes(spec) + SMALL_BYTES / 16;
}

uint64_t
hg_cuda_cuckoo_insert_bytes(const HgTableSpec *spec, uint64_t rows)
{
	const uint64_t bins = (uint64_t) slots_at_most(spec, rows) / 1024;

	return rows * (3 * (uint64_t) spec->key_width + 3 * sizeof(uint32_t)) +
		   5 * bins * sizeof(uint32_t) + SMALL_BYTES;
}

HgStatus
hg_cuda_cuckoo_check(const HgTableSpec *spec, uint64_t rows, HgError *error)
{
	if (slots_at_most(spec, rows) > UINT32_MAX)
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr, "too many slots in a table");
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------ */

static uint64_t
next_random(HgCudaCuckoo *cuckoo)
{
	return hg_mix64(cuckoo->random += UINT64_C(0x9e3779b97f4a7c15));
}

/* Sets how keys are spread, and the markers' words. */
void
hg_cuda_cuckoo_choose_spread(const HgCudaTable *table, HgCudaCuckoo *cuckoo, bool plain,
							 HgCuckooHashing *hashing)
{
	hashing->key_flip = plain ? 0 : next_random(cuckoo);
	hashing->key_factor = plain ? 1 : next_random(cuckoo) | 1;
	for (uint32_t marker = 0; marker < 2; marker++)
		hashing->markers[marker] =
			table->spec.key_width == 4
				? hg_cuckoo_word(*hashing, hg_word_unmix(UINT32_MAX - marker))
				: hg_cuckoo_word(*hashing, hg_word_unmix(UINT64_MAX - marker));
}

/* Sets new random functions. */
void
hg_cuda_cuckoo_choose_functions(HgCudaCuckoo *cuckoo, uint32_t functions, HgCuckooHashing *hashing)
{
	hashing->functions = functions;
	hashing->stops = true;
	for (uint32_t i = 0; i < functions; i++)
	{
		hashing->flips[i] = next_random(cuckoo);
		hashing->factors[i] = next_random(cuckoo) | 1;
	}
}

/* Sets the size for this many rows, and functions, the first of which may be bad on purpose. */
void
hg_cuda_cuckoo_choose_hashing(const HgCudaTable *table, HgCudaCuckoo *cuckoo, uint64_t rows,
							  double grown)
{
	const HgTableSpec *spec = &table->spec;
	HgCuckooHashing *hashing = &cuckoo->hashing;
	const bool is_full = spec->functions > 2 && spec->slots_factor < FULL_FACTOR;

	hg_cuda_cuckoo_choose_size(table, (double) rows, spec->slots_factor * grown, hashing);
	hg_cuda_cuckoo_choose_functions(cuckoo, spec->functions, hashing);
	hashing->most_chain = (is_full ? CHAIN_LOGS_FULL : CHAIN_LOGS) *
						  hg_ceil_log2(hashing->buckets * HG_CUCKOO_BUCKET);
	for (uint32_t i = 0; i < spec->functions; i++)
		if (cuckoo->functions_made++ < spec->bad_functions)
			hashing->factors[i] = 0;
}

/* ---------------------------------------------------------------------
 * Launches the kernels of cuckoo tables for the types of a table
 * ---------------------------------------------------------------------
 */

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

/* Returns the launches for the tables of a spec. */
static const HgCuckooLaunches *
cuckoo_launches(const HgTableSpec *spec)
{
	if (spec->content == HG_TABLE_SET)
		return spec->key_width == 4 ? &LAUNCHES<uint32_t, false> : &LAUNCHES<uint64_t, false>;
	return spec->key_width == 4 ? &LAUNCHES<uint32_t, true> : &LAUNCHES<uint64_t, true>;
}

/* Load of a block's slots, by all rows of a batch, in the search for distinct keys. */
static constexpr double DISTINCT_FILLED = 0.8;

/* Most evictions of one insert in that search: 7 lg of the slots. */
static constexpr uint32_t DISTINCT_CHAIN = 91;

/* The array grows after this many restarts in a row. */
static constexpr uint32_t RESTARTS_TO_GROW = 4;

/* ------------------------------------------------------------------------
 * Slots
 * ------------------------------------------------------------------------ */

static void
free_slots(HgCudaTable *table, HgCudaCuckoo *cuckoo)
{
	hg_cuda_free(&table->work, cuckoo->slots.cells);
	hg_cuda_free(&table->work, cuckoo->slots.rows);
	cuckoo->slots.cells = nullptr;
	cuckoo->slots.rows = nullptr;
}

/* Allocates the slots; their contents are undefined. */
static HgStatus
alloc_slots(HgCudaTable *table, HgCudaCuckoo *cuckoo, HgError *error)
{
	const uint64_t slots = hg_cuda_cuckoo_slots(cuckoo);
	const uint32_t width = table->spec.key_width;
	const bool has_rows = cuckoo_numbers(table) > 0;
	const uint64_t cell_bytes = width == 4 && has_rows ? sizeof(uint64_t) : width;

	if (slots > UINT32_MAX)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, nullptr, "too many slots in a table");
	HG_TRY(hg_cuda_alloc(&table->work, slots * cell_bytes, &cuckoo->slots.cells, error));
	if (width == 4 || !has_rows)
		return HG_OK;
	return hg_cuda_alloc_array(&table->work, slots, &cuckoo->slots.rows, error);
}

/* Zeroes the counters, before kernels that set them. */
static HgStatus
clear_totals(HgCudaTable *table, const HgCudaCuckoo *cuckoo, HgError *error)
{
	HG_CUDA_TRY(cudaMemsetAsync(cuckoo->slots.totals, 0, offsetof(HgCuckooTotals, beside),
								table->work.stream),
				error);
	return HG_OK;
}

static HgStatus
read_totals(HgCudaTable *table, const HgCudaCuckoo *cuckoo, HgCuckooTotals *totals, HgError *error)
{
	const void *host;

	HG_TRY(hg_cuda_read_back(&table->work, cuckoo->slots.totals, sizeof(*totals), &host, error));
	memcpy(totals, host, sizeof(*totals));
	return HG_OK;
}

/*
 * Inserts rows into the bins.  *failed becomes true if a bin failed.  Then fresh bins are
 * undefined, and others have some of the rows.
 */
static HgStatus
fill_bins(HgCudaTable *table, HgCudaCuckoo *cuckoo, const HgCuckooRows *rows, bool fresh,
		  bool *failed, HgError *error)
{
	HgCuckooTotals totals;

	HG_TRY(clear_totals(table, cuckoo, error));
	HG_TRY(cuckoo_launches(&table->spec)->insert(table, cuckoo, rows, fresh, error));
	HG_TRY(read_totals(table, cuckoo, &totals, error));
	*failed = totals.failed > 0;
	if (!(fresh && *failed))
		cuckoo->in_bins += totals.rows;
	cuckoo->beside = totals.beside;
	table->totals.evictions += totals.evictions;
	if (totals.longest > table->totals.longest_chain)
		table->totals.longest_chain = totals.longest;
	return HG_OK;
}

/* Partitions keys, spread, and rows of the caller into as many bins as hashing has. */
static HgStatus
partition(HgCudaTable *table, const HgCuckooHashing *hashing, const void *keys,
		  const uint32_t *rows, uint64_t count, HgCudaPartition *parts, HgError *error)
{
	const uint32_t width = table->spec.key_width;
	void *spread;

	if (hashing->key_factor == 1 && hashing->key_flip == 0)
		return hg_cuda_partition_make(&table->work, width, const_cast<void *>(keys), rows, count,
									  HG_KEEP_KEYS, hashing->bins_log2, parts, error);
	HG_TRY(hg_cuda_alloc(&table->work, count * width, &spread, error));
	HG_TRY(cuckoo_launches(&table->spec)->spread(table, hashing, keys, count, spread, error));
	return hg_cuda_partition_make(&table->work, width, spread, rows, count, HG_KEEP_ROWS,
								  hashing->bins_log2, parts, error);
}

/* Inserts a batch of the caller into the bins. */
static HgStatus
put(HgCudaTable *table, HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch, bool fresh,
	bool *failed, HgError *error)
{
	const bool numbered = batch->rows != nullptr && table->spec.content != HG_TABLE_SET;
	HgCudaPartition parts;
	HgCuckooRows rows;

	HG_TRY(partition(table, &cuckoo->hashing, batch->keys, numbered ? batch->rows : nullptr,
					 batch->count, &parts, error));
	rows = {parts.words,  parts.rows, numbered ? 0 : batch->first_row,
			parts.starts, 0,		  batch->count};
	HG_TRY(fill_bins(table, cuckoo, &rows, fresh, failed, error));
	hg_cuda_partition_free(&table->work, &parts);
	return HG_OK;
}

/* Copies the keys and rows of the bins. */
static HgStatus
export_bins(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row, void *keys, uint32_t *rows,
			HgError *error)
{
	HG_TRY(clear_totals(table, cuckoo, error));
	return cuckoo_launches(&table->spec)->export_bins(table, cuckoo, by_row, keys, rows, error);
}

/*
 * Moves everything to new slots for room rows, with new functions.  With anew, keys are spread
 * anew.  With unwritten, empty slots stay undefined, as they are filled next.
 */
static HgStatus
rehash(HgCudaTable *table, HgCudaCuckoo *cuckoo, uint64_t room, double grown, bool anew,
	   bool unwritten, HgError *error)
{
	const uint64_t count = cuckoo->in_bins;
	const HgCuckooRows none = {nullptr, nullptr, 0, nullptr, 0, 0};
	HgCudaTableBatch old = {nullptr, nullptr, count, 0, false};
	void *keys = nullptr;
	uint32_t *rows = nullptr;
	bool failed = false;

	if (count > 0)
	{
		HG_TRY(hg_cuda_alloc(&table->work, count * table->spec.key_width, &keys, error));
		if (table->spec.content != HG_TABLE_SET)
			HG_TRY(hg_cuda_alloc_array(&table->work, count, &rows, error));
		HG_TRY(export_bins(table, cuckoo, false, keys, rows, error));
	}
	old.keys = keys;
	old.rows = rows;
	for (uint32_t tries = 0; tries == 0 || failed; tries++)
	{
		if (tries > 0)
			table->totals.restarts++;
		if (tries > 0 && tries % RESTARTS_TO_GROW == 0)
			grown *= HG_CUCKOO_GROWN;
		free_slots(table, cuckoo);
		cuckoo->in_bins = 0;
		if (anew || tries > 0)
			hg_cuda_cuckoo_choose_spread(table, cuckoo, false, &cuckoo->hashing);
		hg_cuda_cuckoo_choose_hashing(table, cuckoo, room, grown);
		HG_TRY(alloc_slots(table, cuckoo, error));
		if (count > 0)
			HG_TRY(put(table, cuckoo, &old, true, &failed, error));
		else if (!unwritten)
			HG_TRY(fill_bins(table, cuckoo, &none, true, &failed, error));
	}
	hg_cuda_free(&table->work, keys);
	hg_cuda_free(&table->work, rows);
	return HG_OK;
}

HgStatus
hg_cuda_cuckoo_open(HgCudaTable *table, HgCudaCuckoo *cuckoo, uint64_t rows, HgError *error)
{
	memset(cuckoo, 0, sizeof(*cuckoo));
	cuckoo->random = table->spec.seed;
	cuckoo->beside = HG_NO_ROW;
	hg_cuda_cuckoo_choose_spread(table, cuckoo, true, &cuckoo->hashing);
	HG_TRY(hg_cuda_alloc_array(&table->work, 1, &cuckoo->slots.totals, error));
	HG_CUDA_TRY(
		cudaMemsetAsync(cuckoo->slots.totals, 0xff, sizeof(HgCuckooTotals), table->work.stream),
		error);
	return rehash(table, cuckoo, rows, 1, false, false, error);
}

void
hg_cuda_cuckoo_close(HgCudaTable *table, HgCudaCuckoo *cuckoo)
{
	free_slots(table, cuckoo);
	hg_cuda_free(&table->work, cuckoo->slots.totals);
	memset(cuckoo, 0, sizeof(*cuckoo));
}

/* ------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_cuckoo_absent(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
					  uint64_t count, void *keys_out, uint64_t *absent, HgError *error)
{
	HgCuckooTotals totals;

	HG_TRY(clear_totals(table, cuckoo, error));
	HG_TRY(cuckoo_launches(&table->spec)->absent(table, cuckoo, keys, count, keys_out, error));
	HG_TRY(read_totals(table, cuckoo, &totals, error));
	*absent = totals.cursor;
	return HG_OK;
}

HgStatus
hg_cuda_cuckoo_insert(HgCudaTable *table, HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch,
					  HgError *error)
{
	const uint64_t least = table->spec.expected_rows;
	uint64_t room = cuckoo->in_bins + batch->count;
	double grown = 1;

	if (batch->count == 0)
		return HG_OK;
	if (cuckoo->in_bins > 0 && room > hg_cuda_cuckoo_rows_for(table, cuckoo))
	{
		uint64_t absent;

		HG_TRY(hg_cuda_cuckoo_absent(table, cuckoo, batch->keys, batch->count, nullptr, &absent,
									 error));
		room = cuckoo->in_bins + absent;
	}
	if (room < least)
		room = least;
	if (room > hg_cuda_cuckoo_rows_for(table, cuckoo))
	{
		if (cuckoo->in_bins > 0)
			table->totals.rebuilds++;
		HG_TRY(rehash(table, cuckoo, room, grown, false, true, error));
	}
	for (uint32_t tries = 1;; tries++)
	{
		bool failed;

		HG_TRY(put(table, cuckoo, batch, cuckoo->in_bins == 0, &failed, error));
		if (!failed)
			return HG_OK;
		table->totals.restarts++;
		if (tries % RESTARTS_TO_GROW == 0)
			grown *= HG_CUCKOO_GROWN;
		HG_TRY(rehash(table, cuckoo, room, grown, true, true, error));
	}
}

HgStatus
hg_cuda_cuckoo_erase(HgCudaTable *table, HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch,
					 HgError *error)
{
	HgCuckooTotals totals;

	if (batch->count == 0)
		return HG_OK;
	HG_TRY(clear_totals(table, cuckoo, error));
	HG_TRY(cuckoo_launches(&table->spec)->erase(table, cuckoo, batch, error));
	HG_TRY(read_totals(table, cuckoo, &totals, error));
	cuckoo->in_bins -= totals.rows;
	cuckoo->beside = totals.beside;
	if (totals.rows > 0)
		cuckoo->hashing.stops = false;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Distinct keys
 * ------------------------------------------------------------------------ */

void
hg_cuda_cuckoo_distinct_free(HgCudaTable *table, HgCuckooDistinct *distinct)
{
	hg_cuda_free(&table->work, distinct->words);
	hg_cuda_free(&table->work, distinct->starts);
	hg_cuda_free(&table->work, distinct->offsets);
	hg_cuda_free(&table->work, distinct->rows);
	memset(distinct, 0, sizeof(*distinct));
}

/* Prefix-sums the counts into starts, and moves words and offsets of all bins together. */
static HgStatus
make_dense(HgCudaTable *table, const HgCudaPartition *parts, const HgCuckooSparse *sparse,
		   bool groups, HgCuckooDistinct *distinct, HgError *error)
{
	HgCudaWork *work = &table->work;
	const uint32_t bins = UINT32_C(1) << parts->bins_log2;
	size_t bytes = 0;
	const void *host;
	void *temporary;

	HG_TRY(hg_cuda_alloc_array(work, (uint64_t) bins + 1, &distinct->starts, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, bytes, sparse->counts, distinct->starts,
											  (int) bins + 1, work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, sparse->counts, distinct->starts,
											  (int) bins + 1, work->stream),
				error);
	hg_cuda_free(work, temporary);
	HG_TRY(hg_cuda_read_back(work, distinct->starts + bins, sizeof(uint32_t), &host, error));
	distinct->count = *static_cast<const uint32_t *>(host);
	HG_TRY(hg_cuda_alloc(work, distinct->count * table->spec.key_width, &distinct->words, error));
	if (groups)
		HG_TRY(hg_cuda_alloc_array(work, distinct->count + 1, &distinct->offsets, error));
	return cuckoo_launches(&table->spec)->dense(table, parts, sparse, distinct, error);
}

/* Finds the distinct words of all bins of a partition.  Waits. */
static HgStatus
find_distinct(HgCudaTable *table, HgCudaCuckoo *cuckoo, const HgCuckooHashing *hashing,
			  const HgCudaPartition *parts, uint32_t first_row, const HgCuckooSparse *sparse,
			  HgCuckooTotals *totals, HgError *error)
{
	const uint64_t bins = UINT64_C(1) << parts->bins_log2;

	HG_CUDA_TRY(
		cudaMemsetAsync(sparse->counts, 0, (bins + 1) * sizeof(uint32_t), table->work.stream),
		error);
	HG_TRY(clear_totals(table, cuckoo, error));
	HG_TRY(cuckoo_launches(&table->spec)
			   ->distinct(table, cuckoo, hashing, parts, first_row, sparse, error));
	return read_totals(table, cuckoo, totals, error);
}

HgStatus
hg_cuda_cuckoo_distinct(HgCudaTable *table, HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch,
						bool groups, HgCuckooDistinct *distinct, HgError *error)
{
	HgCudaWork *work = &table->work;
	const uint64_t count = batch->count;
	const bool numbered = groups && batch->rows != nullptr;
	const uint64_t room = count > table->spec.expected_rows ? count : table->spec.expected_rows;
	const uint32_t capacity = hg_cuda_cuckoo_most_slots(table, groups ? 1 : 0);
	HgCuckooHashing *hashing = &distinct->hashing;
	uint32_t bins_log2;
	bool failed = true;

	memset(distinct, 0, sizeof(*distinct));
	/* at least as many bins as the table will have, so that several make one of the table's */
	hg_cuda_cuckoo_choose_size(table, (double) room, table->spec.slots_factor, hashing);
	bins_log2 = hashing->bins_log2;
	while ((double) (count >> bins_log2) > DISTINCT_FILLED * capacity)
		bins_log2++;
	for (uint32_t tries = 0; failed; tries++)
	{
		HgCuckooSparse sparse = {nullptr, nullptr, nullptr, nullptr};
		HgCudaPartition parts;
		HgCuckooTotals totals;

		if (tries > 0)
			table->totals.restarts++;
		if (tries > 0 && tries % RESTARTS_TO_GROW == 0)
			bins_log2++;
		hg_cuda_cuckoo_choose_spread(table, cuckoo, tries == 0, hashing);
		hg_cuda_cuckoo_choose_functions(cuckoo, 4, hashing);
		hashing->most_chain = DISTINCT_CHAIN;
		hashing->bins_log2 = bins_log2;
		hashing->buckets = capacity / HG_CUCKOO_BUCKET;
		HG_TRY(partition(table, hashing, batch->keys, numbered ? batch->rows : nullptr, count,
						 &parts, error));
		HG_TRY(hg_cuda_alloc(work, count * table->spec.key_width, &sparse.words, error));
		HG_TRY(hg_cuda_alloc_array(work, (UINT64_C(1) << bins_log2) + 1, &sparse.counts, error));
		if (groups)
		{
			HG_TRY(hg_cuda_alloc_array(work, count, &sparse.offsets, error));
			HG_TRY(hg_cuda_alloc_array(work, count, &sparse.rows, error));
		}
		HG_TRY(find_distinct(table, cuckoo, hashing, &parts, numbered ? 0 : batch->first_row,
							 &sparse, &totals, error));
		failed = totals.failed > 0;
		distinct->longest = totals.longest;
		if (failed)
			hg_cuda_free(work, sparse.rows);
		else
		{
			distinct->rows = sparse.rows;
			HG_TRY(make_dense(table, &parts, &sparse, groups, distinct, error));
		}
		hg_cuda_free(work, sparse.words);
		hg_cuda_free(work, sparse.counts);
		hg_cuda_free(work, sparse.offsets);
		hg_cuda_partition_free(work, &parts);
	}
	return HG_OK;
}

HgStatus
hg_cuda_cuckoo_to_keys(HgCudaTable *table, HgCuckooDistinct *distinct, HgError *error)
{
	return cuckoo_launches(&table->spec)
		->to_keys(table, &distinct->hashing, distinct->words, distinct->count, distinct->words,
				  error);
}

HgStatus
hg_cuda_cuckoo_insert_distinct(HgCudaTable *table, HgCudaCuckoo *cuckoo, HgCuckooDistinct *distinct,
							   HgError *error)
{
	const uint64_t room =
		distinct->count > table->spec.expected_rows ? distinct->count : table->spec.expected_rows;
	HgCudaTableBatch batch = {distinct->words, nullptr, distinct->count, 0, false};
	HgCuckooRows rows = {distinct->words, nullptr, 0, distinct->starts, 0, distinct->count};
	bool failed;

	/* keys are spread as they were when they got into bins */
	free_slots(table, cuckoo);
	cuckoo->hashing = distinct->hashing;
	hg_cuda_cuckoo_choose_hashing(table, cuckoo, room, 1);
	HG_TRY(alloc_slots(table, cuckoo, error));
	rows.finer = distinct->hashing.bins_log2 - cuckoo->hashing.bins_log2;
	HG_TRY(fill_bins(table, cuckoo, &rows, true, &failed, error));
	HG_TRY(hg_cuda_cuckoo_to_keys(table, distinct, error));
	if (!failed)
		return HG_OK;
	table->totals.restarts++;
	HG_TRY(rehash(table, cuckoo, room, 1, true, true, error));
	return hg_cuda_cuckoo_insert(table, cuckoo, &batch, error);
}

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_cuckoo_find(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
					uint64_t count, bool counts, const uint64_t *offsets, uint32_t *rows,
					HgError *error)
{
	return cuckoo_launches(&table->spec)
		->find(table, cuckoo, keys, count, counts, offsets, rows, error);
}

HgStatus
hg_cuda_cuckoo_export(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row, void *keys,
					  uint32_t *rows, HgError *error)
{
	const uint64_t key = hg_word_unmix(UINT64_MAX);
	const uint64_t index = by_row ? cuckoo->beside : cuckoo->in_bins;

	HG_TRY(export_bins(table, cuckoo, by_row, keys, rows, error));
	if (cuckoo->beside == HG_NO_ROW)
		return HG_OK;
	/* only words of 8 bytes are recorded beside the slots */
	HG_CUDA_TRY(cudaMemcpyAsync(static_cast<uint64_t *>(keys) + index, &key, sizeof(key),
								cudaMemcpyHostToDevice, table->work.stream),
				error);
	if (rows != nullptr)
		HG_CUDA_TRY(cudaMemcpyAsync(rows + index, &cuckoo->slots.totals->beside, sizeof(*rows),
									cudaMemcpyDeviceToDevice, table->work.stream),
					error);
	/* a device that reads the host's memory directly may read the key only now */
	return hg_cuda_finish(&table->work, error);
}
