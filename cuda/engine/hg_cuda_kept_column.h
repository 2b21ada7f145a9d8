/*-------------------------------------------------------------------------
 *
 * hg_cuda_kept_column.h
 *	  Values of the rows of kept graphs, by place, in device memory.
 *
 * A column has a block of values, and another of bytes that tell NULL, once a put has brought any.
 * Both are zeroed before anything is put: what a place was never given is nobody's, and above all
 * not what another job has left in that memory.
 *
 * While a column is made its blocks are the job's work's; detached they are those of whoever has
 * it.  A job that reads it borrows them (hg_cuda_columns.h): nothing is copied.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_KEPT_COLUMN_H
#define HG_CUDA_KEPT_COLUMN_H

#include "../../src/engine/hg_kept.h"
#include "../device/hg_cuda_work.h"

struct HgCudaKeptColumn
{
	HgKeptColumnShape shape; /* width 0: there is none */
	unsigned char *values;	 /* [places] of that width; NULL before the first one */
	uint8_t *nulls;			 /* [places] not 0 where NULL; NULL where no put brought any */
	uint64_t values_bytes;	 /* of the blocks, once they are detached */
	uint64_t nulls_bytes;
};

/* Put values, as the engine's put_values does. */
HgStatus hg_cuda_kept_column_put(HgCudaWork *work, HgCudaKeptColumn *column, const void *values,
								 const uint8_t *nulls, uint64_t count, uint64_t first_place,
								 HgError *error);

/* Have all places, even where none was put; nothing that uses them runs any more then. */
HgStatus hg_cuda_kept_column_build(HgCudaWork *work, HgCudaKeptColumn *column, HgError *error);

/* Let a column that is built outlive the work; returns its bytes. */
uint64_t hg_cuda_kept_column_detach(HgCudaWork *work, HgCudaKeptColumn *column);

/* Give back one that was detached, on any thread; nothing where there is none. */
void hg_cuda_kept_column_release(HgCudaDevice *device, const HgCudaKeptColumn *column);

/* The device memory that it takes at most. */
uint64_t hg_cuda_kept_column_bytes(const HgKeptColumnShape *shape);

#endif /* HG_CUDA_KEPT_COLUMN_H */
