/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_launch.h
 *	  Launching the kernels of cuckoo tables, for the types that a table has.
 *
 * Each call launches its kernel as often as pieces of work of some milliseconds ask for, with looks
 * at cancellation between them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_LAUNCH_H
#define HG_CUDA_CUCKOO_LAUNCH_H

#include "../kernels/hg_cuda_partition.h"
#include "hg_cuda_cuckoo.h"

/* Slots of a bin that a block has room for, with as many numbers of 4 bytes for each. */
uint32_t hg_cuda_cuckoo_most_slots(const HgCudaTable *table, int numbers);

/* Rows to be put into bins: see hg_cuckoo_insert_kernel. */
struct HgCuckooRows
{
	const void *words;
	const uint32_t *rows; /* NULL: their places */
	uint32_t first_row;	  /* to be added */
	const uint32_t *starts;
	uint32_t finer; /* bits of a bin of starts, more than of the table */
	uint64_t count;
};

/* What the distinct words of bins are written to, by the places of their rows. */
struct HgCuckooSparse
{
	void *words;
	uint32_t *counts;  /* [bins + 1] */
	uint32_t *offsets; /* groups; else NULL, as are rows */
	uint32_t *rows;
};

/* Launches for one type of word, and slots with or without rows. */
struct HgCuckooLaunches
{
	HgStatus (*insert)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCuckooRows *rows,
					   bool fresh, HgError *error);
	HgStatus (*erase)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const HgCudaTableBatch *batch,
					  HgError *error);

	/* See hg_cuda_cuckoo_find and hg_cuda_cuckoo_absent. */
	HgStatus (*find)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
					 uint64_t count, bool counts, const uint64_t *offsets, uint32_t *rows,
					 HgError *error);
	HgStatus (*absent)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, const void *keys,
					   uint64_t count, void *keys_out, HgError *error);
	HgStatus (*export_bins)(HgCudaTable *table, const HgCudaCuckoo *cuckoo, bool by_row, void *keys,
							uint32_t *rows, HgError *error);

	/* Keys become spread ones, or words keys; both may be one array. */
	HgStatus (*spread)(HgCudaTable *table, const HgCuckooPlaces *places, const void *keys,
					   uint64_t count, void *keys_out, HgError *error);
	HgStatus (*to_keys)(HgCudaTable *table, const HgCuckooPlaces *places, const void *words,
						uint64_t count, void *keys_out, HgError *error);

	/* The distinct words of bins; and these brought together, where starts are known. */
	HgStatus (*distinct)(HgCudaTable *table, const HgCudaCuckoo *cuckoo,
						 const HgCuckooPlaces *places, const HgCudaPartition *parts,
						 uint32_t first_row, const HgCuckooSparse *sparse, HgError *error);
	HgStatus (*dense)(HgCudaTable *table, const HgCudaPartition *parts,
					  const HgCuckooSparse *sparse, const HgCuckooDistinct *distinct,
					  HgError *error);
};

const HgCuckooLaunches *hg_cuda_cuckoo_launches(const HgTableSpec *spec);

#endif /* HG_CUDA_CUCKOO_LAUNCH_H */
