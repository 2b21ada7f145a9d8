/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_mask.h
 *	  Masks: which rows of a graph replica count in a job, in device memory.
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
	HgReplicaShape shape; /* the graph's shape */
	bool masked;		  /* the caller may give a mask */
	uint64_t *words;	  /* [hg_replica_mask_words] in device memory; NULL: all rows count */
};

/* Initializes *mask from the replica's use in a job spec. */
void hg_cuda_replica_mask_init(HgCudaReplicaMask *mask, const HgReplicaUse *use);

/* Allocates the words, with all bits set, unless they exist. */
HgStatus hg_cuda_replica_mask_begin(HgCudaWork *work, HgCudaReplicaMask *mask, HgError *error);

/* Sets count words of the mask from first_word on, and waits; words NULL sets them to 0. */
HgStatus hg_cuda_replica_mask_put(HgCudaWork *work, HgCudaReplicaMask *mask, uint64_t first_word,
								  uint64_t count, const uint64_t *words, HgError *error);

/*
 * Makes the graph of the rows that count, and frees the mask's words. If the mask has no words, or
 * the graph no rows, *graph shares the replica's arrays and *copied is false. Otherwise *graph is a
 * copy in the job's memory and *copied is true. It returns when the work is launched.
 */
HgStatus hg_cuda_replica_mask_filter(HgCudaWork *work, HgCudaReplicaMask *mask,
									 const HgCudaGraph *replica, HgCudaGraph *graph, bool *copied,
									 HgError *error);

#endif /* HG_CUDA_REPLICA_MASK_H */
