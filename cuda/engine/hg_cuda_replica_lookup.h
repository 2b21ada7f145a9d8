/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_lookup.h
 *	  Lookups of the rows of a side that is a graph replica in other replicas, in device memory.
 *
 * Before the side's graph is made, each lookup is done for all ordinals of the side's rows. An
 * array by these ordinals says which row each one has found; lookups run in order, so that a
 * lookup by found rows can use the array of an earlier one. Then rows that found nothing are
 * removed from the side's mask, columns of the found rows are gathered by the side's ordinals, and
 * the array is freed once no later lookup needs it. After build such columns are read like the
 * side's own, and nothing else is left of lookups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REPLICA_LOOKUP_H
#define HG_CUDA_REPLICA_LOOKUP_H

#include "../kernels/hg_cuda_columns.h"
#include "hg_cuda_replica_column.h"
#include "hg_cuda_replica_mask.h"

struct HgCudaReplicaLookup
{
	uint32_t from; /* as in HgReplicaLookup */
	bool unmatched;
	uint32_t stride;
	uint32_t found_stride;
	uint32_t parts;			/* parts of the rows that look up */
	const HgCudaGraph *own; /* the graph of the rows that look up; a graph replica */
	/* the graph that is looked up; a graph replica, to which mask belongs */
	const HgCudaGraph *found;
	HgCudaReplicaMask mask;
	/* [ordinals of the side] the found rows, until no later lookup needs them */
	uint32_t *ordinals;
};

/* The lookups of a side, and its columns of found rows; all zero if it has none. */
struct HgCudaReplicaLookups
{
	uint32_t count;
	uint32_t parts; /* parts of the side */
	uint32_t stride;
	HgCudaReplicaLookup lookups[HG_MAX_LOOKUPS];
	uint32_t ncolumns;
	const HgCudaReplicaColumn *columns[HG_MAX_COLUMNS]; /* [ncolumns] the side's columns */
	/* [ncolumns] as HgReplicaColumnUse.lookup */
	uint32_t found_by[HG_MAX_COLUMNS];
};

/* Notes what a spec says of a side's lookups, except graphs and columns. */
void hg_cuda_replica_lookups_init(HgCudaReplicaLookups *lookups, const HgJobSpec *spec,
								  HgSide side);

/*
 * Runs all lookups: removes rows from the side's mask, and sets its gathered columns.
 * HG_NOT_UNIQUE if a row that counts finds two rows.
 */
HgStatus hg_cuda_replica_lookups_run(HgCudaWork *work, HgCudaReplicaLookups *lookups,
									 HgCudaReplicaMask *mask, HgCudaColumns *columns,
									 HgError *error);

/*
 * Returns the upper bound on the memory while a side's lookups run. *held is the side's memory
 * before that, masks included, and is set to the memory after it, with a mask if there can be one.
 */
uint64_t hg_cuda_replica_lookups_bytes(const HgJobSpec *spec, HgSide side, uint64_t *held);

/* Returns the memory of the masks that callers give for looked-up graphs. */
uint64_t hg_cuda_replica_lookups_mask_bytes(const HgJobSpec *spec, HgSide side);

#endif /* HG_CUDA_REPLICA_LOOKUP_H */
