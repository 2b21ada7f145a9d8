/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_sizes.h
 *	  Chooses sizes and functions of cuckoo tables on a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_SIZES_H
#define HG_CUDA_CUCKOO_SIZES_H

#include "hg_cuda_cuckoo_launch.h"

/* Factor by which an array grows after restarts. */
constexpr double HG_CUCKOO_GROWN = 1.25;

/* Returns the 4-byte values of an entry beside its word: 1, or 0 in a set. */
int hg_cuda_cuckoo_numbers(const HgCudaTable *table);

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

#endif /* HG_CUDA_CUCKOO_SIZES_H */
