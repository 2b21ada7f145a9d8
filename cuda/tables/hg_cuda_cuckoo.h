/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo.h
 *	  The slots of a cuckoo table in device memory: one array, with several buckets for each key.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_H
#define HG_CUDA_CUCKOO_H

#include "hg_cuda_cuckoo_hashing.h"
#include "hg_cuda_table.h"

/* Results of kernels, in device memory.  All but beside are of one run. */
struct HgCuckooTotals
{
	unsigned long long rows; /* rows that were inserted into bins, or erased */
	unsigned long long evictions;
	uint32_t longest; /* longest chain of evictions, or largest group */
	uint32_t failed;  /* bins that failed, and are unchanged */
	uint32_t cursor;  /* elements of an output array so far */
	uint32_t beside;  /* the row of the key whose word marks empty slots, or HG_NO_ROW */
};

/* The slots, in device memory. */
struct HgCuckooSlots
{
	void *cells;	/* [bins * buckets * HG_CUCKOO_BUCKET], see hg_cuda_cuckoo_look_kernels.h */
	uint32_t *rows; /* [the same] if words have 8 bytes and slots have rows, else NULL */
	HgCuckooTotals *totals;
};

/* A cuckoo table. */
struct HgCudaCuckoo
{
	HgCuckooHashing hashing;
	HgCuckooSlots slots;
	uint64_t in_bins; /* rows in the bins */
	uint32_t beside;  /* copy of slots.told->beside */
	uint64_t random;  /* state of the random numbers for functions */
	uint64_t functions_made;
};

/* Distinct keys of a batch, in bins: see hg_cuda_cuckoo_distinct.  Arrays in device memory. */
struct HgCuckooDistinct
{
	HgCuckooHashing hashing; /* how keys became words, and bins_log2 */
	uint64_t count;			 /* distinct keys */
	void *words;			 /* [count] in the order of their bins */
	uint32_t *starts;		 /* [2^bins_log2 + 1] */
	uint32_t *offsets;		 /* with groups: [count + 1] where the rows of each key begin */
	uint32_t *rows;			 /* with groups: [rows of the batch] */
	uint64_t longest;		 /* with groups: most rows of one key */
};

/* open makes an empty table with room for rows rows; close frees it, also after a failure. */
HgStatus hg_cuda_cuckoo_open(HgCudaTable *table, HgCudaCuckoo *cuckoo, uint64_t rows,
							 HgError *error);
void hg_cuda_cuckoo_close(HgCudaTable *table, HgCudaCuckoo *cuckoo);

/* Returns the rows of the table, in the bins and beside them. */
static inline uint64_t
hg_cuda_cuckoo_rows(const HgCudaCuckoo *cuckoo)
{
	return cuckoo->in_bins + (cuckoo->beside != HG_NO_ROW);
}

/* Returns the number of slots. */
static inline uint64_t
hg_cuda_cuckoo_slots(const HgCudaCuckoo *cuckoo)
{
	return (uint64_t) cuckoo->hashing.buckets * HG_CUCKOO_BUCKET << cuckoo->hashing.bins_log2;
}

/* Inserts a batch; keys of the table keep their rows.  After a failure only close is allowed. */
HgStatus hg_cuda_cuckoo_insert(HgCudaTable *table, HgCudaCuckoo *cuckoo,
							   const HgCudaTableBatch *batch, HgError *error);

/*
 * Finds the distinct keys of a batch with count > 0, whose arrays stay the caller's.  With groups,
 * also the rows of each.  The caller frees the result; after a failure its blocks remain in the
 * table's work, which frees them.
 */
HgStatus hg_cuda_cuckoo_distinct(HgCudaTable *table, HgCudaCuckoo *cuckoo,
								 const HgCudaTableBatch *batch, bool groups,
								 HgCuckooDistinct *distinct, HgError *error);
void hg_cuda_cuckoo_distinct_free(HgCudaTable *table, HgCuckooDistinct *distinct);

/*
 * Inserts distinct keys into an empty table; the row of each is its index in distinct->words.
 * Afterwards distinct->words are keys, not mixed.
 */
HgStatus hg_cuda_cuckoo_insert_distinct(HgCudaTable *table, HgCudaCuckoo *cuckoo,
										HgCuckooDistinct *distinct, HgError *error);

/* Replaces distinct->words by their keys. */
HgStatus hg_cuda_cuckoo_to_keys(HgCudaTable *table, HgCuckooDistinct *distinct, HgError *error);

/*
 * Sets *absent to the number of keys that are not in the table, and writes them to keys_out,
 * unless it is NULL, in any order.  Waits.
 */
HgStatus hg_cuda_cuckoo_absent(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
							   uint64_t count, void *keys_out, uint64_t *absent, HgError *error);

/* Erases the pairs or keys of a batch that are in the table. */
HgStatus hg_cuda_cuckoo_erase(HgCudaTable *table, HgCudaCuckoo *cuckoo,
							  const HgCudaTableBatch *batch, HgError *error);

/*
 * Looks keys up, for rows[count]: the row of each, 0 in a set, or HG_NO_ROW.  With counts, 1 or 0
 * for a key that is or is not in the table.  If offsets is not NULL, only the rows of keys that
 * are in the table are written, to rows[offsets[i] - offsets[0]].
 */
HgStatus hg_cuda_cuckoo_find(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
							 uint64_t count, bool counts, const uint64_t *offsets, uint32_t *rows,
							 HgError *error);

/*
 * Copies all keys, and their rows unless rows is NULL, in any order.  With by_row each key goes to
 * the index that its row says.
 */
HgStatus hg_cuda_cuckoo_export(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row,
							   void *keys, uint32_t *rows, HgError *error);

/* Returns HG_TOO_MANY_ROWS if this many rows need more slots than a table can have. */
HgStatus hg_cuda_cuckoo_check(const HgTableSpec *spec, uint64_t rows, HgError *error);

/*
 * Return upper bounds on the bytes of the slots for this many rows, and on what inserting this
 * many takes in addition.
 */
uint64_t hg_cuda_cuckoo_bytes(const HgTableSpec *spec, uint64_t rows);
uint64_t hg_cuda_cuckoo_insert_bytes(const HgTableSpec *spec, uint64_t rows);

#endif /* HG_CUDA_CUCKOO_H */
