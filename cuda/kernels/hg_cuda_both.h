/*-------------------------------------------------------------------------
 *
 * hg_cuda_both.h
 *	  Building the HashGraphs of both sides in one pass over their bins, and joining on the way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BOTH_H
#define HG_CUDA_BOTH_H

#include "hg_cuda_bins.h"

/* The matches that are found on the way, if they are wanted. */
struct HgCudaBothPairs
{
	HgMatchMode mode;
	uint32_t *outer_rows; /* [capacity] in device memory; NULL: count only */
	uint32_t *inner_rows;
	uint64_t capacity;
	HgCudaMatchCounts counts; /* set: of all matches; intersections are those of rows and lists */
	bool complete;			  /* set: all of them are written */
};

/*
 * Take the memory for the graphs of two partitions with as many bins, by HgSide, of a shape that
 * hg_cuda_is_both allows: offsets, and edges beside the rows of the partitions.
 */
HgStatus hg_cuda_both_begin(HgCudaWork *work, const HgShape *shape,
							const HgCudaPartition partitions[2], HgCudaGraph graphs[2],
							HgError *error);

/*
 * Build graphs that are begun.  The rows of the partitions are given back when the edges are
 * there, before bins are joined that no block has room for: partitions keep none of their arrays
 * but the starts.  pairs may be NULL.  It returns when all is done.
 */
HgStatus hg_cuda_both_build(HgCudaWork *work, const HgShape *shape, HgCudaPartition partitions[2],
							HgCudaGraph graphs[2], HgCudaBothPairs *pairs, HgError *error);

/* Count the vertices that have edges in both graphs: the intersections of Algorithm 3. */
HgStatus hg_cuda_both_common(HgCudaWork *work, const HgCudaGraph graphs[2], uint64_t *common,
							 HgError *error);

/*
 * The edges of a graph as rows in bins that are for blocks to join (hg_cuda_bins.h), inner_rows
 * of one side being the edges of the inner graph.  The arrays are the graph's, but the starts.
 */
HgStatus hg_cuda_both_view(HgCudaWork *work, const HgCudaGraph *graph, uint64_t inner_rows,
						   HgCudaPartition *view, HgError *error);

#endif /* HG_CUDA_BOTH_H */
