/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo.h
 *	  Definitions that the files of DyCuckoo tables in device memory share.
 *
 *	hg_cuda_table_dycuckoo.cu			the calls of the kind
 *	hg_cuda_table_dycuckoo.cu	inserting pairs, halving subtables
 *	hg_cuda_table_dycuckoo.cu	subtables: memory, functions, state, doubling
 *
 * Each file calls only files below it in this list.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYCUCKOO_H
#define HG_CUDA_TABLE_DYCUCKOO_H

#include "hg_cuda_table_dycuckoo_kernels.h"

/* Pairs that are inserted, keys and slots that are read, between two checks for cancellation. */
constexpr uint64_t HG_DY_PIECE_PAIRS = UINT64_C(1) << 22;
constexpr uint64_t HG_DY_PIECE_KEYS = UINT64_C(1) << 24;
constexpr uint64_t HG_DY_PIECE_SLOTS = UINT64_C(1) << 26;

/* A DyCuckoo table. */
struct HgCudaDycuckoo
{
	HgCudaTable base;
	HgDyTable table;							 /* its arrays are in device memory */
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];		 /* of the buckets of each subtable */
	uint32_t least_log2[HG_TABLE_MAX_SUBTABLES]; /* to which it may be halved */
	HgDyState *state;							 /* in device memory */
	HgDyState known;							 /* copy from the last read */
	uint64_t erased;							 /* upper bound on rows erased since */
	uint64_t random;							 /* state of the random numbers for functions */
	uint32_t functions_made;
};

/* Calls a function template with the type of a table's slots. */
#define HG_DY_BY_SLOTS(table, function, ...)                                                       \
	HG_BY_SLOTS(HgDySlots, (table)->spec, function, __VA_ARGS__)

/* Returns the slots of a bucket. */
static inline uint32_t
hg_dy_bucket_slots(const HgTableSpec *spec)
{
	return HG_DY_BUCKET_BYTES / (spec->key_width == 4 && spec->content == HG_TABLE_SET ? 4 : 8);
}

/* Returns true if the rows are in an array of their own. */
static inline bool
hg_dy_rows_are_apart(const HgTableSpec *spec)
{
	return spec->key_width == 8 && spec->content != HG_TABLE_SET;
}

/* Returns the bytes of a number of slots. */
static inline uint64_t
hg_dy_slots_bytes(const HgTableSpec *spec, uint64_t slots)
{
	return slots / hg_dy_bucket_slots(spec) * HG_DY_BUCKET_BYTES +
		   (hg_dy_rows_are_apart(spec) ? slots * sizeof(uint32_t) : 0);
}

/* Return the most rows that a number of slots may have, and the least that they should have. */
static inline uint64_t
hg_dy_most_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->max_filled * (double) slots);
}

static inline uint64_t
hg_dy_least_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->min_filled * (double) slots);
}

/* Return the slots of a subtable, and of all subtables. */
static inline uint64_t
hg_dy_subtable_slots(const HgCudaDycuckoo *dy, uint32_t i)
{
	return (uint64_t) hg_dy_bucket_slots(&dy->base.spec) << dy->log2[i];
}

static inline uint64_t
hg_dy_all_slots(const HgCudaDycuckoo *dy)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		slots += hg_dy_subtable_slots(dy, i);
	return slots;
}

/* ------------------------------------------------------------------------
 * Subtables
 * ------------------------------------------------------------------------ */

/* Sets log2 to the least sizes of subtables for this many rows.  Returns the slots of all. */
uint64_t hg_dy_choose_sizes(const HgTableSpec *spec, uint64_t rows,
							uint32_t log2[HG_TABLE_MAX_SUBTABLES]);

/* Sets new random functions. */
void hg_dy_choose_functions(HgCudaDycuckoo *dy);

/*
 * alloc sets new slots of 2^log2 buckets for a subtable, and does not free its old ones.  They are
 * empty, or undefined without empty.  free frees the slots of a subtable.
 */
HgStatus hg_dy_alloc_slots(HgCudaDycuckoo *dy, uint32_t log2, bool empty, HgDySubtable *subtable,
						   HgError *error);
void hg_dy_free_slots(HgCudaDycuckoo *dy, HgDySubtable *subtable);

/* Replaces all subtables by empty ones of the sizes in dy->log2. */
HgStatus hg_dy_make_subtables(HgCudaDycuckoo *dy, HgError *error);

/* read waits and copies the device's state; know does so only if rows may have been erased. */
HgStatus hg_dy_read_state(HgCudaDycuckoo *dy, HgError *error);
HgStatus hg_dy_know_rows(HgCudaDycuckoo *dy, HgError *error);

/* Sets the probabilities of a key's first subtable, by the empty slots of the subtables. */
void hg_dy_choose_thresholds(HgCudaDycuckoo *dy);

/* Doubles the smallest subtable. */
HgStatus hg_dy_double_smallest(HgCudaDycuckoo *dy, HgError *error);

/*
 * Copies all pairs of the subtables, but not the one beside them: keys, or mixed words.
 * state->exported becomes their number.  rows may be NULL.
 */
HgStatus hg_dy_export_slots(HgCudaDycuckoo *dy, bool as_keys, void *words, uint32_t *rows,
							HgError *error);

/* ------------------------------------------------------------------------
 * Insert
 * ------------------------------------------------------------------------ */

/* Returns the bytes of device memory that inserting this many pairs takes. */
uint64_t hg_dy_scratch_bytes(uint32_t key_width, uint64_t pairs);

/*
 * Inserts a list of at most HG_DY_PIECE_PAIRS keys.  The caller has made room for them.  Waits, so
 * that the rows of the table are known.
 */
HgStatus hg_dy_insert_keys(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error);

/*
 * Halves the largest subtable that may be halved, while the table has too few rows for its slots.
 * It stops if the rows that are left over make a subtable double.
 */
HgStatus hg_dy_hold_least(HgCudaDycuckoo *dy, HgError *error);

#endif /* HG_CUDA_TABLE_DYCUCKOO_H */
