/*-------------------------------------------------------------------------
 *
 * hg_cuda_cuckoo_sizes.h
 *	  Sizes of cuckoo tables on a device, and their functions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_CUCKOO_SIZES_H
#define HG_CUDA_CUCKOO_SIZES_H

#include "hg_cuda_cuckoo_launch.h"

/* What an array grows by after restarts. */
constexpr double HG_CUCKOO_GROWN = 1.25;

/* Numbers that an entry has beside its word: 1, or of sets 0. */
int hg_cuda_cuckoo_numbers(const HgCudaTable *table);

/* Bins and buckets for so many rows, with factor slots for each. */
void hg_cuda_cuckoo_choose_size(const HgCudaTable *table, double rows, double factor,
								HgCuckooPlaces *places);

/* Rows that the slots take before they grow. */
uint64_t hg_cuda_cuckoo_rows_for(const HgCudaTable *table, const HgCudaCuckoo *cuckoo);

/* How keys are spread: as they are, or by new random numbers. */
void hg_cuda_cuckoo_choose_spread(const HgCudaTable *table, HgCudaCuckoo *cuckoo, bool plain,
								  HgCuckooPlaces *places);

/* New functions. */
void hg_cuda_cuckoo_choose_functions(HgCudaCuckoo *cuckoo, uint32_t functions,
									 HgCuckooPlaces *places);

/* New functions of a table, of which the first ones may be bad, and its size for so many rows. */
void hg_cuda_cuckoo_choose_places(const HgCudaTable *table, HgCudaCuckoo *cuckoo, uint64_t rows,
								  double grown);

#endif /* HG_CUDA_CUCKOO_SIZES_H */
