/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo.h
 *	  What the files of DyCuckoo tables in device memory share.
 *
 *	hg_cuda_table_dycuckoo.cu			the calls of a kind
 *	hg_cuda_table_dycuckoo_insert.cu	putting pairs in, and what may have to be done for that
 *	hg_cuda_table_dycuckoo_subtables.cu	subtables: memory, functions, what is known of them
 *
 * A file calls those that stand below it, and none above.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYCUCKOO_H
#define HG_CUDA_TABLE_DYCUCKOO_H

#include "hg_cuda_table_dycuckoo_kernels.h"

/* Pairs that are put in, keys and slots that are looked at, between two looks at cancellation. */
constexpr uint64_t HG_DY_PIECE_PAIRS = UINT64_C(1) << 22;
constexpr uint64_t HG_DY_PIECE_KEYS = UINT64_C(1) << 24;
constexpr uint64_t HG_DY_PIECE_SLOTS = UINT64_C(1) << 26;

struct HgCudaDycuckoo
{
	HgCudaTable base;
	HgDyTable table; /* arrays are the device's */
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	uint32_t least_log2[HG_TABLE_MAX_SUBTABLES];
	HgDyState *state; /* the device's */
	HgDyState known;  /* as it was read last */
	uint64_t erased;  /* rows that may have gone since */
	uint64_t random;
	uint32_t functions_made;
};

/* Call a function template of the slots that a table has. */
#define HG_DY_BY_SLOTS(table, function, ...)                                                       \
	HG_BY_SLOTS(HgDySlots, (table)->spec, function, __VA_ARGS__)

/* Slots of a bucket. */
static inline uint32_t
hg_dy_bucket_slots(const HgTableSpec *spec)
{
	return HG_DY_BUCKET_BYTES / (spec->key_width == 4 && spec->content == HG_TABLE_SET ? 4 : 8);
}

/* Are the rows in an array of their own? */
static inline bool
hg_dy_rows_are_apart(const HgTableSpec *spec)
{
	return spec->key_width == 8 && spec->content != HG_TABLE_SET;
}

/* Bytes of so many slots. */
static inline uint64_t
hg_dy_slots_bytes(const HgTableSpec *spec, uint64_t slots)
{
	return slots / hg_dy_bucket_slots(spec) * HG_DY_BUCKET_BYTES +
		   (hg_dy_rows_are_apart(spec) ? slots * sizeof(uint32_t) : 0);
}

/* Rows that so many slots may have at most, and are to have at least. */
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

/* Slots of a subtable, and of all. */
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

/* Sizes of subtables for so many rows, the least that hold them.  Returns the slots of all. */
uint64_t hg_dy_choose_sizes(const HgTableSpec *spec, uint64_t rows,
							uint32_t log2[HG_TABLE_MAX_SUBTABLES]);

/* Choose new functions. */
void hg_dy_choose_functions(HgCudaDycuckoo *dy);

/*
 * Have slots of 2^log2 buckets for a subtable, which are not those that it has; empty, or with
 * anything in them.
 */
HgStatus hg_dy_alloc_slots(HgCudaDycuckoo *dy, uint32_t log2, bool empty, HgDySubtable *subtable,
						   HgError *error);
void hg_dy_free_slots(HgCudaDycuckoo *dy, HgDySubtable *subtable);

/* Make empty subtables of the sizes in log2, in place of those that there are. */
HgStatus hg_dy_make_subtables(HgCudaDycuckoo *dy, HgError *error);

/* Wait for the device, and know what it knows: always, or unless the rows are known. */
HgStatus hg_dy_read_state(HgCudaDycuckoo *dy, HgError *error);
HgStatus hg_dy_know_rows(HgCudaDycuckoo *dy, HgError *error);

/* Draw the first of a key's two subtables by what is known of them. */
void hg_dy_choose_thresholds(HgCudaDycuckoo *dy);

/* Double the smallest subtable. */
HgStatus hg_dy_double_smallest(HgCudaDycuckoo *dy, HgError *error);

/*
 * Copy all pairs of the subtables out, and not the one beside them: keys, or mixed words.
 * state->exported is their number.  rows may be NULL.
 */
HgStatus hg_dy_export_slots(HgCudaDycuckoo *dy, bool as_keys, void *words, uint32_t *rows,
							HgError *error);

/* ------------------------------------------------------------------------
 * Insert
 * ------------------------------------------------------------------------ */

/* Bytes of device memory that putting so many pairs in takes. */
uint64_t hg_dy_scratch_bytes(uint32_t key_width, uint64_t pairs);

/*
 * Put a list of keys in, at most HG_DY_PIECE_PAIRS, for which there is room; after that the rows
 * are known.
 */
HgStatus hg_dy_insert_keys(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error);

/* Halve the largest subtable while the table is filled too little. */
HgStatus hg_dy_hold_least(HgCudaDycuckoo *dy, HgError *error);

#endif /* HG_CUDA_TABLE_DYCUCKOO_H */
