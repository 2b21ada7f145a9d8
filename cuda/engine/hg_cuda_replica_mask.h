/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_mask.h
 *	  Which rows of a graph replica count in a job, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REPLICA_MASK_H
#define HG_CUDA_REPLICA_MASK_H

#include "../../src/engine/hg_replica.h"
#include "../kernels/hg_cuda_graph.h"

/* All zero: all rows count. */
struct HgCudaReplicaMask
{
	HgReplicaShape shape; /* of the graph */
	bool masked;		  /* it is for the caller to give */
	uint64_t *words; /* [hg_replica_mask_words] in device memory; NULL where none was given: all
					  * count */
};

/* Note what a spec says of it. */
void hg_cuda_replica_mask_init(HgCudaReplicaMask *mask, const HgReplicaUse *use);

/* Have words, by which all rows count where there were none. */
HgStatus hg_cuda_replica_mask_begin(HgCudaWork *work, HgCudaReplicaMask *mask, HgError *error);

/* Give a part of it, as the engine's mask does. */
HgStatus hg_cuda_replica_mask_put(HgCudaWork *work, HgCudaReplicaMask *mask, uint64_t first_word,
								  uint64_t count, const uint64_t *words, HgError *error);

/*
 * The graph of the rows that count, whose words are given back: the replica, whose arrays are its
 * own, or a copy that is the work's, which *copied tells.  It returns when the last of it is
 * launched.
 */
HgStatus hg_cuda_replica_mask_filter(HgCudaWork *work, HgCudaReplicaMask *mask,
									 const HgCudaGraph *replica, HgCudaGraph *graph, bool *copied,
									 HgError *error);

#endif /* HG_CUDA_REPLICA_MASK_H */
