/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_launch.h
 *	  Launches the kernels of cuckoo tables for the types of a table.
 *
 * Each call launches its kernel for pieces of work of some milliseconds, with checks for
 * cancellation between them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_LAUNCH_H
#define HG_CUDA_CUCKOO_LAUNCH_H

#include "../kernels/hg_cuda_partition.h"
#include "hg_cuda_cuckoo.h"

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

/* Returns the launches for the tables of a spec. */
const HgCuckooLaunches *hg_cuda_cuckoo_launches(const HgTableSpec *spec);

#endif /* HG_CUDA_CUCKOO_LAUNCH_H */
