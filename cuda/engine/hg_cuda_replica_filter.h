/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_filter.h
 *	  Which rows of a graph replica count in a job by the values of column replicas, in device
 *	  memory.
 *
 * What a filter lets through becomes part of the mask that there is of the rows, before anything is
 * looked up: behind that nothing knows of filters.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REPLICA_FILTER_H
#define HG_CUDA_REPLICA_FILTER_H

#include "../../src/engine/hg_row_filter.h"
#include "hg_cuda_replica_column.h"
#include "hg_cuda_replica_mask.h"

/* Those of a side; all zero where it has none. */
struct HgCudaReplicaFilters
{
	HgRowFilters all;
	const HgCudaReplicaColumn
		*columns[HG_MAX_FILTER_COLUMNS]; /* [all.ncolumns] of column replicas */
};

/*
 * Have rows not count that the filter of a lookup, as HgRowFilter has it, does not let through;
 * where there is none nothing is done.  It returns when that is launched, or where it computes
 * numbers when they are known to fit: else HG_OVERFLOW.
 */
HgStatus hg_cuda_replica_filters_apply(HgCudaWork *work, const HgCudaReplicaFilters *filters,
									   uint32_t lookup, HgCudaReplicaMask *mask, HgError *error);

#endif /* HG_CUDA_REPLICA_FILTER_H */
