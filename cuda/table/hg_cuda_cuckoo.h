/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo.h
 *	  One array in which each key has several places: the cuckoo tables' slots, on a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_H
#define HG_CUDA_CUCKOO_H

#include "hg_cuda_cuckoo_places.h"
#include "hg_cuda_table.h"

/* What kernels tell, in device memory; all but the row beside are of one run. */
struct HgCuckooTold
{
	unsigned long long rows; /* that came into bins, or left them */
	unsigned long long evictions;
	uint32_t longest; /* chain, or group */
	uint32_t failed;  /* bins that are as they were */
	uint32_t cursor;  /* of an array that is written */
	uint32_t beside;  /* the row of the key whose word marks slots, or HG_NO_ROW */
};

/* The slots, in device memory. */
struct HgCuckooSlots
{
	void *cells;	/* [bins * buckets * HG_CUCKOO_BUCKET], see hg_cuda_cuckoo_kernels.h */
	uint32_t *rows; /* [the same] of words of 8 bytes that have rows; else NULL */
	HgCuckooTold *told;
};

struct HgCudaCuckoo
{
	HgCuckooPlaces places;
	HgCuckooSlots slots;
	uint64_t in_bins; /* rows */
	uint32_t beside;  /* what told has */
	uint64_t random;  /* where the next function comes from */
	uint64_t functions_made;
};

/* Distinct keys in bins, for hg_cuda_cuckoo_insert_words: see hg_cuda_cuckoo_distinct. */
struct HgCuckooDistinct
{
	HgCuckooPlaces places; /* how keys became words, and bins_log2 */
	uint64_t count;		   /* of distinct keys */
	void *words;		   /* [count] in the order of their bins */
	uint32_t *starts;	   /* [2^bins_log2 + 1] */
	uint32_t *offsets;	   /* groups: [count + 1] where the rows of each begin */
	uint32_t *rows;		   /* groups: [of all rows] */
	uint64_t longest;	   /* groups: most rows of one key */
};

/* Have room for so many rows, of which there are none so far.  After a failure close it. */
HgStatus hg_cuda_cuckoo_open(HgCudaTable *table, HgCudaCuckoo *cuckoo, uint64_t rows,
							 HgError *error);
void hg_cuda_cuckoo_close(HgCudaTable *table, HgCudaCuckoo *cuckoo);

/* Keys in it, in the bins and beside. */
static inline uint64_t
hg_cuda_cuckoo_rows(const HgCudaCuckoo *cuckoo)
{
	return cuckoo->in_bins + (cuckoo->beside != HG_NO_ROW);
}

/* Slots there are. */
static inline uint64_t
hg_cuda_cuckoo_slots(const HgCudaCuckoo *cuckoo)
{
	return (uint64_t) cuckoo->places.buckets * HG_CUCKOO_BUCKET << cuckoo->places.bins_log2;
}

/* Put a batch in; keys that are there stay.  After a failure only close is allowed. */
HgStatus hg_cuda_cuckoo_insert(HgCudaTable *table, HgCudaCuckoo *cuckoo,
							   const HgCudaTableBatch *batch, HgError *error);

/*
 * Find the distinct keys of a batch, count > 0, which is in arrays of the caller.  groups: with
 * all their rows.  On failure the table's work has what is held.
 */
HgStatus hg_cuda_cuckoo_distinct(HgCudaTable *table, HgCudaCuckoo *cuckoo,
								 const HgCudaTableBatch *batch, bool groups,
								 HgCuckooDistinct *distinct, HgError *error);
void hg_cuda_cuckoo_distinct_free(HgCudaTable *table, HgCuckooDistinct *distinct);

/*
 * Put distinct keys into an empty table, each with its place in words as its row; then words are
 * the keys, no more mixed.
 */
HgStatus hg_cuda_cuckoo_insert_distinct(HgCudaTable *table, HgCudaCuckoo *cuckoo,
										HgCuckooDistinct *distinct, HgError *error);

/* Words become keys. */
HgStatus hg_cuda_cuckoo_to_keys(HgCudaTable *table, HgCuckooDistinct *distinct, HgError *error);

/* *absent gets the keys that are not in the table, in any order: keys_out[*absent], or NULL. */
HgStatus hg_cuda_cuckoo_absent(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
							   uint64_t count, void *keys_out, uint64_t *absent, HgError *error);

/* Take out what stands of a batch. */
HgStatus hg_cuda_cuckoo_erase(HgCudaTable *table, HgCudaCuckoo *cuckoo,
							  const HgCudaTableBatch *batch, HgError *error);

/*
 * The rows of keys, or HG_NO_ROW, of sets 0; counts: 1 or 0 instead.  offsets, unless NULL: only
 * those that are there, to rows[offsets[i] - offsets[0]].
 */
HgStatus hg_cuda_cuckoo_find(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
							 uint64_t count, bool counts, const uint64_t *offsets, uint32_t *rows,
							 HgError *error);

/*
 * All keys and rows, or rows NULL, in any order; by_row: each key to the place that its row says.
 */
HgStatus hg_cuda_cuckoo_export(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row,
							   void *keys, uint32_t *rows, HgError *error);

/* HG_OK, or HG_TOO_MANY_ROWS where so many rows would want too many slots. */
HgStatus hg_cuda_cuckoo_check(const HgTableSpec *spec, uint64_t rows, HgError *error);

/* Bytes of the slots for so many rows, and what inserting so many takes beside them, at most. */
uint64_t hg_cuda_cuckoo_bytes(const HgTableSpec *spec, uint64_t rows);
uint64_t hg_cuda_cuckoo_insert_bytes(const HgTableSpec *spec, uint64_t rows);

#endif /* HG_CUDA_CUCKOO_H */
