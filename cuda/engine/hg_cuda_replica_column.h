/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_column.h
 *	  The values of the rows of graph replicas, by ordinal, in device memory.
 *
 * A column has a block of values, and another of null flags once a put has brought any. Both are
 * zeroed first: an ordinal that was never put must not show what another job has left in that
 * memory.
 *
 * While a column is made, its blocks belong to the job's work; detached, they belong to the
 * replica. A job that reads a column uses the blocks in place (hg_cuda_columns.h).
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
	HgReplicaColumnShape shape; /* width 0: there is no column */
	unsigned char *values;		/* [ordinals] of that width; NULL before the first put */
	/* [ordinals] not 0 if the value is NULL; NULL if no put brought nulls */
	uint8_t *nulls;
	uint64_t values_bytes; /* bytes of the blocks, once they are detached */
	uint64_t nulls_bytes;
};

/* Puts count values from first_ordinal on, as the engine's put_values does, and waits. */
HgStatus hg_cuda_replica_column_put(HgCudaWork *work, HgCudaReplicaColumn *column,
									const void *values, const uint8_t *nulls, uint64_t count,
									uint64_t first_ordinal, HgError *error);

/* Allocates the column if no value was put, and waits for the stream. */
HgStatus hg_cuda_replica_column_build(HgCudaWork *work, HgCudaReplicaColumn *column,
									  HgError *error);

/* Takes the blocks of a built column out of the work, and returns their bytes. */
uint64_t hg_cuda_replica_column_detach(HgCudaWork *work, HgCudaReplicaColumn *column);

/* Releases the blocks of a detached column, on any thread; does nothing without blocks. */
void hg_cuda_replica_column_release(HgCudaDevice *device, const HgCudaReplicaColumn *column);

/* Returns the upper bound on the column's device memory. */
uint64_t hg_cuda_replica_column_bytes(const HgReplicaColumnShape *shape);

#endif /* HG_CUDA_REPLICA_COLUMN_H */
