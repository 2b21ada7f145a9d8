/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_batch.h
 *	  A batch behind the rows that a change keeps, to build a table of.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_BATCH_H
#define HG_CUDA_TABLE_BATCH_H

#include "hg_cuda_table.h"

/* Copy a batch to keys and rows, from place at on; to keys alone where rows is NULL. */
HgStatus hg_cuda_batch_append(HgCudaTable *table, const HgCudaTableBatch *in, uint64_t at,
							  void *keys, uint32_t *rows, HgError *error);

#endif /* HG_CUDA_TABLE_BATCH_H */
