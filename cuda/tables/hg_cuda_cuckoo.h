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

#include "../../src/engine/hg_table.h"
#include "../kernels/hg_cuda_partition.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_table.h"

/* Slots of a bucket: a 32-byte sector of memory if a slot has 8 bytes. */
constexpr uint32_t HG_CUCKOO_BUCKET = 4;

/*
 * The functions of a table.  A key is spread, (key ^ key_flip) * key_factor, before it is mixed.
 * Initially flip is 0 and factor is 1, so the spread key is the key.  The first bits of its word
 * choose the bin, and each function chooses a bucket of this bin.
 */
struct HgCuckooHashing
{
	uint64_t key_flip;
	uint64_t key_factor; /* odd */
	/*
	 * Words of the keys whose words without spreading are HG_CUDA_EMPTY_WORD and
	 * HG_CUDA_DELETED_WORD: slots of sets never hold these keys.  Cells with markers[0] are empty.
	 */
	uint64_t markers[2];
	uint64_t flips[HG_TABLE_MAX_FUNCTIONS];
	uint64_t factors[HG_TABLE_MAX_FUNCTIONS];
	uint32_t functions;
	uint32_t most_chain; /* most evictions of one insert */
	uint32_t bins_log2;
	uint32_t buckets; /* of a bin */
	bool stops;		  /* a search may stop at a bucket with an empty slot: nothing was erased */
};

/* Return the spread key, and the word of a key. */
template <typename Word>
__host__ __device__ __forceinline__ Word
hg_cuckoo_spread(const HgCuckooHashing &hashing, Word key)
{
	return (key ^ static_cast<Word>(hashing.key_flip)) * static_cast<Word>(hashing.key_factor);
}

template <typename Word>
__host__ __device__ __forceinline__ Word
hg_cuckoo_word(const HgCuckooHashing &hashing, Word key)
{
	return hg_word_mix(hg_cuckoo_spread(hashing, key));
}

/* Returns the inverse of an odd number modulo 2^64.  Each step doubles the bits that are right. */
__host__ __device__ __forceinline__ uint64_t
hg_cuckoo_inverse(uint64_t factor)
{
	uint64_t inverse = factor; /* right in the lowest 3 bits */

	for (int i = 0; i < 5; i++)
		inverse *= 2 - factor * inverse;
	return inverse;
}

/* Returns the key of a word; inverse is hg_cuckoo_inverse(key_factor). */
template <typename Word>
__host__ __device__ __forceinline__ Word
hg_cuckoo_key(const HgCuckooHashing &hashing, uint64_t inverse, Word word)
{
	return (hg_word_unmix(word) * static_cast<Word>(inverse)) ^ static_cast<Word>(hashing.key_flip);
}

/* Returns the bucket of a word within its bin, by a function. */
template <typename Word>
__host__ __device__ __forceinline__ uint32_t
hg_cuckoo_bucket(const HgCuckooHashing &hashing, uint32_t function, Word word)
{
	const uint64_t product = (word ^ hashing.flips[function]) * hashing.factors[function];

	return static_cast<uint32_t>((product >> 32) * hashing.buckets >> 32);
}

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
	void *cells;	/* [bins * buckets * HG_CUCKOO_BUCKET], see hg_cuda_cuckoo_kernels.h */
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

/* Factor by which an array grows after restarts. */
constexpr double HG_CUCKOO_GROWN = 1.25;

/* Sets bins_log2 and buckets for this many rows, with factor slots for each. */
void hg_cuda_cuckoo_choose_size(const HgCudaTable *table, double rows, double factor,
								HgCuckooHashing *hashing);

/* Returns how many rows the slots take before they grow. */
uint64_t hg_cuda_cuckoo_rows_for(const HgCudaTable *table, const HgCudaCuckoo *cuckoo);

/* Sets how keys are spread, not at all if plain, else by random numbers; and the markers. */
void hg_cuda_cuckoo_choose_spread(const HgCudaTable *table, HgCudaCuckoo *cuckoo, bool plain,
								  HgCuckooHashing *hashing);

/* Sets new random functions. */
void hg_cuda_cuckoo_choose_functions(HgCudaCuckoo *cuckoo, uint32_t functions,
									 HgCuckooHashing *hashing);

/*
 * Sets the functions and the size of a table for this many rows, with grown times the slots of the
 * spec.  The first spec.bad_functions functions of a table are bad on purpose.
 */
void hg_cuda_cuckoo_choose_hashing(const HgCudaTable *table, HgCudaCuckoo *cuckoo, uint64_t rows,
								   double grown);

/*
 * Launches the kernels of cuckoo tables for the types of a table.
 *
 * Each call launches its kernel for pieces of work of some milliseconds, with checks for
 * cancellation between them.
 */

/*
 * Returns the slots of a bin that fit a block, a multiple of HG_CUCKOO_BUCKET.  numbers is the
 * number of 4-byte values of an entry: 1 for rows or counts, else 0.
 */
uint32_t hg_cuda_cuckoo_most_slots(const HgCudaTable *table, int numbers);

/* Rows to be inserted: see hg_cuckoo_insert_kernel.  Arrays are in device memory. */
struct HgCuckooRows
{
	const void *words;
	const uint32_t *rows; /* NULL: the index of each word */
	uint32_t first_row;	  /* is added to each row */
	const uint32_t *starts;
	uint32_t finer; /* 2^finer bins of starts make one bin of the table */
	uint64_t count;
};

/* The distinct words of bins, with gaps: those of a bin begin at the position of its first row. */
struct HgCuckooSparse
{
	void *words;
	uint32_t *counts;  /* [bins + 1] */
	uint32_t *offsets; /* of the groups; NULL without groups, as are rows */
	uint32_t *rows;
};

/* Launches for one type of word, and slots with or without rows. */
struct HgCuckooLaunches
{
	/* Insert and erase rows.  fresh: the bins are empty, and their slots undefined. */
	HgStatus (*insert)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCuckooRows *rows,
					   bool fresh, HgError *error);
	HgStatus (*erase)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch,
					  HgError *error);

	/* See hg_cuda_cuckoo_find, hg_cuda_cuckoo_absent and hg_cuda_cuckoo_export. */
	HgStatus (*find)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
					 uint64_t count, bool counts, const uint64_t *offsets, uint32_t *rows,
					 HgError *error);
	HgStatus (*absent)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
					   uint64_t count, void *keys_out, HgError *error);
	HgStatus (*export_bins)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row, void *keys,
							uint32_t *rows, HgError *error);

	/* Make spread keys of keys, and keys of words; input and output may be one array. */
	HgStatus (*spread)(HgCudaTable *table, const HgCuckooHashing *hashing, const void *keys,
					   uint64_t count, void *keys_out, HgError *error);
	HgStatus (*to_keys)(HgCudaTable *table, const HgCuckooHashing *hashing, const void *words,
						uint64_t count, void *keys_out, HgError *error);

	/* Find the distinct words of bins; and move them together, once distinct->starts are known. */
	HgStatus (*distinct)(HgCudaTable *table, const HgCudaCuckoo *cuckoo,
						 const HgCuckooHashing *hashing, const HgCudaPartition *parts,
						 uint32_t first_row, const HgCuckooSparse *sparse, HgError *error);
	HgStatus (*dense)(HgCudaTable *table, const HgCudaPartition *parts,
					  const HgCuckooSparse *sparse, const HgCuckooDistinct *distinct,
					  HgError *error);
};

#endif /* HG_CUDA_CUCKOO_H */
