/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_computed.h
 *	  Columns of a side that is a graph replica, which are computed of others, in device memory.
 *
 * They are computed by ordinal, for all ordinals that there are, when the side's lookups are done:
 * then all columns that are not computed are there.  Behind build they are read as these.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REPLICA_COMPUTED_H
#define HG_CUDA_REPLICA_COMPUTED_H

#include "../../src/engine/hg_computed.h"
#include "../kernels/hg_cuda_columns.h"
#include "../kernels/hg_cuda_graph.h"

/* Those of a side; all zero where it has none. */
struct HgCudaReplicaComputed
{
	uint32_t count;
	uint32_t stride;				  /* of ordinals ... */
	uint64_t ordinals;				  /* ... of which there are so many */
	uint32_t columns[HG_MAX_COLUMNS]; /* [count] of the side, in their order ... */
	HgProgram programs[HG_MAX_COLUMNS];
	const uint8_t *nulls[HG_MAX_COLUMNS]; /* ... and once they are computed, what tells NULL */
	uint32_t
		*lost; /* device memory: 1 where a number overflows, if only of an ordinal without a row */
};

/* Note what a spec says of a side's columns, which can be. */
void hg_cuda_replica_computed_init(HgCudaReplicaComputed *computed, const HgJobSpec *spec,
								   HgSide side);

/* Compute them, of the side's other columns.  It returns when that is launched. */
HgStatus hg_cuda_replica_computed_run(HgCudaWork *work, HgCudaReplicaComputed *computed,
									  HgCudaColumns *columns, HgError *error);

/*
 * HG_OVERFLOW where a number of one of the rows overflows that count, which a graph has.  It waits
 * for the answer.
 */
HgStatus hg_cuda_replica_computed_check(HgCudaWork *work, HgCudaReplicaComputed *computed,
										const HgCudaGraph *graph, HgError *error);

/* The device memory that they take. */
uint64_t hg_cuda_replica_computed_bytes(const HgJobSpec *spec, HgSide side);

#endif /* HG_CUDA_REPLICA_COMPUTED_H */
