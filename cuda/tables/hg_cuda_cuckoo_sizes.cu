/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_sizes.cu
 *	  Chooses sizes and functions of cuckoo tables on a device: see hg_cuda_cuckoo.cu.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_cuckoo_sizes.h"

#include "../kernels/hg_cuda_shape.h"

#include <cmath>

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

int
hg_cuda_cuckoo_numbers(const HgCudaTable *table)
{
	return table->spec.content == HG_TABLE_SET ? 0 : 1;
}

/* Sets bins_log2 and buckets for this many rows, with factor slots for each. */
void
hg_cuda_cuckoo_choose_size(const HgCudaTable *table, double rows, double factor,
						   HgCuckooHashing *hashing)
{
	const uint32_t most = hg_cuda_cuckoo_most_slots(table, hg_cuda_cuckoo_numbers(table));
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
