/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_filter.h
 *	  Filters the rows of a graph replica by values of column replicas, in device memory.
 *
 * The result becomes part of the rows' mask before anything is looked up: later steps know nothing
 * of filters.
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

/* The filters of a side; all zero if it has none. */
struct HgCudaReplicaFilters
{
	HgRowFilters all;
	const HgCudaReplicaColumn *columns[HG_MAX_FILTER_COLUMNS]; /* [all.ncolumns] */
};

/*
 * Clears the mask's bits of rows that do not pass the filter of `lookup` (as in HgRowFilter; 0:
 * the side's), if there is one. It returns when the work is launched. A filter that computes
 * numbers makes it wait, and return HG_OVERFLOW if one does not fit.
 */
HgStatus hg_cuda_replica_filters_apply(HgCudaWork *work, const HgCudaReplicaFilters *filters,
									   uint32_t lookup, HgCudaReplicaMask *mask, HgError *error);

#endif /* HG_CUDA_REPLICA_FILTER_H */
