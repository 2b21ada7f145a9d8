/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_batch.h
 *	  Appends a batch to the rows that a rebuild keeps.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_BATCH_H
#define HG_CUDA_TABLE_BATCH_H

#include "hg_cuda_table.h"

/* Copies a batch to keys and rows, from index at on; rows may be NULL.  Returns once launched. */
HgStatus hg_cuda_batch_append(HgCudaTable *table, const HgCudaTableBatch *in, uint64_t at,
							  void *keys, uint32_t *rows, HgError *error);

#endif /* HG_CUDA_TABLE_BATCH_H */
