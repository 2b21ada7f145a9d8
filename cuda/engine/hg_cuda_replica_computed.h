/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_computed.h
 *	  Columns of a side that is a graph replica, which are computed from other columns, in device
 *	  memory.
 *
 * They are computed for all ordinals, after the side's lookups: then all other columns exist.
 * After build they are read like these.
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

/* The computed columns of a side; all zero if it has none. */
struct HgCudaReplicaComputed
{
	uint32_t count;
	uint32_t stride;   /* ordinals of a part */
	uint64_t ordinals; /* number of ordinals */
	/* [count] index of each computed column in the side, ascending */
	uint32_t columns[HG_MAX_COLUMNS];
	HgProgram programs[HG_MAX_COLUMNS];
	const uint8_t *nulls[HG_MAX_COLUMNS]; /* [count] null flags, once the column is computed */
	/* device memory: 1 if a number overflows, even for an ordinal without a row */
	uint32_t *lost;
};

/* Notes the computed columns of a side, which the spec has been checked for. */
void hg_cuda_replica_computed_init(HgCudaReplicaComputed *computed, const HgJobSpec *spec,
								   HgSide side);

/* Launches the computation of the columns, and adds them to *columns. */
HgStatus hg_cuda_replica_computed_run(HgCudaWork *work, HgCudaReplicaComputed *computed,
									  HgCudaColumns *columns, HgError *error);

/* Waits; HG_OVERFLOW if a computed number overflows for a row of the graph. Frees the flag. */
HgStatus hg_cuda_replica_computed_check(HgCudaWork *work, HgCudaReplicaComputed *computed,
										const HgCudaGraph *graph, HgError *error);

/* Returns the device memory of a side's computed columns. */
uint64_t hg_cuda_replica_computed_bytes(const HgJobSpec *spec, HgSide side);

#endif /* HG_CUDA_REPLICA_COMPUTED_H */
