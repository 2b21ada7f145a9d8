/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_lookup.h
 *	  What rows of a side that is a graph replica look up in others, in device memory.
 *
 * Before the side's graph is had, each lookup is done for all ordinals of the side's rows.  An
 * array by these says which row each of them has found, in the order in which lookups are, so that
 * one that is of rows which were found has what they are.  Then rows that have found nothing are
 * taken out of the side's mask, columns of what was found are gathered by the side's ordinals, and
 * the array goes as soon as no other lookup asks for it.  Behind build such columns are read as the
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
	uint32_t from; /* as of HgReplicaLookup */
	bool unmatched;
	uint32_t stride;
	uint32_t found_stride;
	uint32_t parts;			  /* of the rows that look up */
	const HgCudaGraph *own;	  /* of graph replicas */
	const HgCudaGraph *found; /* ... of which there is a mask */
	HgCudaReplicaMask mask;
	uint32_t *ordinals; /* [ordinals of the side] what was found, until nobody asks for it */
};

/* Those of a side, and its columns of what is found; all zero where it has none. */
struct HgCudaReplicaLookups
{
	uint32_t count;
	uint32_t parts; /* of the side */
	uint32_t stride;
	HgCudaReplicaLookup lookups[HG_MAX_LOOKUPS];
	uint32_t ncolumns;
	const HgCudaReplicaColumn *columns[HG_MAX_COLUMNS]; /* that the side has ... */
	uint32_t found_by[HG_MAX_COLUMNS];					/* ... as of HgReplicaColumnUse.lookup */
};

/* What a spec says of them, but for graphs and columns. */
void hg_cuda_replica_lookups_init(HgCudaReplicaLookups *lookups, const HgJobSpec *spec,
								  HgSide side);

/*
 * Do them all: the side's mask and columns are what comes of it.  HG_NOT_UNIQUE where a row that
 * counts has found two.
 */
HgStatus hg_cuda_replica_lookups_run(HgCudaWork *work, HgCudaReplicaLookups *lookups,
									 HgCudaReplicaMask *mask, HgCudaColumns *columns,
									 HgError *error);

/*
 * Of a side that holds *held bytes when it is to be built, its own mask among them where it is
 * masked: the most that it holds while its lookups are done, and *held is what it holds then, with
 * a mask where one can be.
 */
uint64_t hg_cuda_replica_lookups_bytes(const HgJobSpec *spec, HgSide side, uint64_t *held);

/* The memory of the masks that are given before that. */
uint64_t hg_cuda_replica_lookups_mask_bytes(const HgJobSpec *spec, HgSide side);

#endif /* HG_CUDA_REPLICA_LOOKUP_H */
