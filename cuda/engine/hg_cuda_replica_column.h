/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_column.h
 *	  Values of the rows of graph replicas, by ordinal, in device memory.
 *
 * A column has a block of values, and another of bytes that tell NULL, once a put has brought any.
 * Both are zeroed before anything is put: what an ordinal was never given is nobody's, and above
 * all not what another job has left in that memory.
 *
 * While a column is made its blocks are the job's work's; detached they are those of whoever has
 * it.  A job that reads it borrows them (hg_cuda_columns.h): nothing is copied.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REPLICA_COLUMN_H
#define HG_CUDA_REPLICA_COLUMN_H

#include "../../src/engine/hg_replica.h"
#include "../device/hg_cuda_work.h"

struct HgCudaReplicaColumn
{
	HgReplicaColumnShape shape; /* width 0: there is none */
	unsigned char *values;		/* [ordinals] of that width; NULL before the first one */
	uint8_t *nulls;				/* [ordinals] not 0 where NULL; NULL where no put brought any */
	uint64_t values_bytes;		/* of the blocks, once they are detached */
	uint64_t nulls_bytes;
};

/* Put values, as the engine's put_values does. */
HgStatus hg_cuda_replica_column_put(HgCudaWork *work, HgCudaReplicaColumn *column,
									const void *values, const uint8_t *nulls, uint64_t count,
									uint64_t first_ordinal, HgError *error);

/* Have all ordinals, even where none was put; nothing that uses them runs any more then. */
HgStatus hg_cuda_replica_column_build(HgCudaWork *work, HgCudaReplicaColumn *column,
									  HgError *error);

/* Let a column that is built outlive the work; returns its bytes. */
uint64_t hg_cuda_replica_column_detach(HgCudaWork *work, HgCudaReplicaColumn *column);

/* Give back one that was detached, on any thread; nothing where there is none. */
void hg_cuda_replica_column_release(HgCudaDevice *device, const HgCudaReplicaColumn *column);

/* The device memory that it takes at most. */
uint64_t hg_cuda_replica_column_bytes(const HgReplicaColumnShape *shape);

#endif /* HG_CUDA_REPLICA_COLUMN_H */
