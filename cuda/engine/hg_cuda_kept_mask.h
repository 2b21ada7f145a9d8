/*-------------------------------------------------------------------------
 *
 * hg_cuda_kept_mask.h
 *	  Which rows of a kept graph count in a job, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_KEPT_MASK_H
#define HG_CUDA_KEPT_MASK_H

#include "../../src/engine/hg_kept.h"
#include "../kernels/hg_cuda_graph.h"

/* All zero: all rows count. */
struct HgCudaKeptMask
{
	HgKeptShape shape; /* of the graph */
	bool masked;	   /* it is for the caller to give */
	uint64_t *words;   /* [hg_kept_mask_words] in device memory; NULL where none was given: all
						* count */
};

/* Note what a spec says of it. */
void hg_cuda_kept_mask_init(HgCudaKeptMask *mask, const HgKeptUse *use);

/* Have words, by which all rows count where there were none. */
HgStatus hg_cuda_kept_mask_begin(HgCudaWork *work, HgCudaKeptMask *mask, HgError *error);

/* Give a part of it, as the engine's mask does. */
HgStatus hg_cuda_kept_mask_put(HgCudaWork *work, HgCudaKeptMask *mask, uint64_t first_word,
							   uint64_t count, const uint64_t *words, HgError *error);

/*
 * The graph of the rows that count, whose words are given back: the kept one, whose arrays are its
 * own, or a copy that is the work's, of which *copied tells.  It returns when the last of it is
 * launched.
 */
HgStatus hg_cuda_kept_mask_filter(HgCudaWork *work, HgCudaKeptMask *mask, const HgCudaGraph *kept,
								  HgCudaGraph *graph, bool *copied, HgError *error);

#endif /* HG_CUDA_KEPT_MASK_H */
