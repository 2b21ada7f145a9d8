/*-------------------------------------------------------------------------
 *
 * hg_cuda_both.h
 *	  Builds the HashGraphs of both sides in one pass over their bins, and joins them meanwhile.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BOTH_H
#define HG_CUDA_BOTH_H

#include "hg_cuda_bins.h"

/* Parameters and results of the join during the build. */
struct HgCudaBothPairs
{
	HgMatchMode mode;
	uint32_t *outer_rows; /* [capacity] in device memory; NULL: count only */
	uint32_t *inner_rows;
	uint64_t capacity;
	HgCudaMatchCounts counts; /* out: of all matches; an intersection is a row that meets a list */
	bool complete;			  /* out: all matches have been written */
};

/*
 * Allocates the graphs of two partitions, by HgSide, with the same number of bins.  Offsets and
 * edges are blocks of work of their own.  The shape must be one that hg_cuda_is_both allows.
 */
HgStatus hg_cuda_both_begin(HgCudaWork *work, const HgShape *shape,
							const HgCudaPartition partitions[2], HgCudaGraph graphs[2],
							HgError *error);

/*
 * Builds the graphs that hg_cuda_both_begin allocated, and waits.  It frees words and rows of the
 * partitions once the edges exist, before it joins bins that fit no block; the starts stay.  If
 * pairs is not NULL, the sides are joined as well.
 */
HgStatus hg_cuda_both_build(HgCudaWork *work, const HgShape *shape, HgCudaPartition partitions[2],
							HgCudaGraph graphs[2], HgCudaBothPairs *pairs, HgError *error);

/* Counts the vertices that have edges in both graphs: the intersections of Algorithm 3.  Waits. */
HgStatus hg_cuda_both_common(HgCudaWork *work, const HgCudaGraph graphs[2], uint64_t *common,
							 HgError *error);

/*
 * Makes *view a partition of a graph's edges, with bins of the size that hg_cuda_bins.cu joins.
 * inner_rows is the number of edges of the inner graph.  Words and rows stay the graph's; the
 * caller frees view->starts.
 */
HgStatus hg_cuda_both_view(HgCudaWork *work, const HgCudaGraph *graph, uint64_t inner_rows,
						   HgCudaPartition *view, HgError *error);

#endif /* HG_CUDA_BOTH_H */
