/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_mask.cu
 *	  Masks: which rows of a graph replica count in a job, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_replica_mask.h"

#include "../kernels/hg_cuda_edges.h"
#include "../kernels/hg_cuda_tuning.h"

#include <cstring>

void
hg_cuda_replica_mask_init(HgCudaReplicaMask *mask, const HgReplicaUse *use)
{
	memset(mask, 0, sizeof(*mask));
	mask->shape = use->shape;
	mask->masked = use->masked != 0;
}

HgStatus
hg_cuda_replica_mask_begin(HgCudaWork *work, HgCudaReplicaMask *mask, HgError *error)
{
	const uint64_t words = hg_replica_mask_words(&mask->shape);

	if (mask->words != nullptr)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, words, &mask->words, error));
	HG_CUDA_TRY(cudaMemsetAsync(mask->words, 0xff, words * sizeof(*mask->words), work->stream),
				error);
	return HG_OK;
}

HgStatus
hg_cuda_replica_mask_put(HgCudaWork *work, HgCudaReplicaMask *mask, uint64_t first_word,
						 uint64_t count, const uint64_t *words, HgError *error)
{
	uint64_t all;

	if (!mask->masked)
		return hg_error_set(error, HG_INVALID, nullptr, "this side of the join has no mask");
	all = hg_replica_mask_words(&mask->shape);
	if (first_word > all || count > all - first_word)
		return hg_error_set(error, HG_INVALID, nullptr, "a mask goes beyond the rows of its graph");
	if (count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_replica_mask_begin(work, mask, error));
	while (count > 0)
	{
		const uint64_t piece = count < HG_APPEND_KEYS ? count : HG_APPEND_KEYS;
		uint64_t *to = mask->words + first_word;

		if (words != nullptr)
			HG_CUDA_TRY(cudaMemcpyAsync(to, words, piece * sizeof(*words), cudaMemcpyHostToDevice,
										work->stream),
						error);
		else
			HG_CUDA_TRY(cudaMemsetAsync(to, 0, piece * sizeof(*to), work->stream), error);
		HG_TRY(hg_cuda_wait(work, error));
		words = words != nullptr ? words + piece : nullptr;
		first_word += piece;
		count -= piece;
	}
	return HG_OK;
}

HgStatus
hg_cuda_replica_mask_filter(HgCudaWork *work, HgCudaReplicaMask *mask, const HgCudaGraph *replica,
							HgCudaGraph *graph, bool *copied, HgError *error)
{
	*graph = *replica;
	*copied = mask->words != nullptr && graph->rows > 0;
	if (*copied)
		HG_TRY(hg_cuda_edges_filter(work, replica, mask->words, graph, error));
	hg_cuda_free(work, mask->words);
	mask->words = nullptr;
	return HG_OK;
}
