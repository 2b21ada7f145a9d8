/*-------------------------------------------------------------------------
 *
 * hg_cuda_edges.h
 *	  Edges of graph replicas: widened keys, checked rows, and graphs of selected rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_EDGES_H
#define HG_CUDA_EDGES_H

#include "hg_cuda_graph.h"

/* wide[i] = keys[i], sign-extended from 4 to 8 bytes, for count keys.  Returns once launched. */
HgStatus hg_cuda_edges_widen(HgCudaWork *work, const void *keys, void *wide, uint64_t count,
							 HgError *error);

/*
 * Sets *below to whether all of rows[0 .. count - 1] are less than limit, and *numbers to one more
 * than the largest number of a row within its part (0 without rows).  Waits.
 */
HgStatus hg_cuda_edges_check(HgCudaWork *work, const uint32_t *rows, uint64_t count, uint32_t limit,
							 bool *below, uint32_t *numbers, HgError *error);

/*
 * Makes a graph of the edges of another one, with keys of 8 bytes, whose rows are selected: row r
 * is if bit r % 64 of mask[r / 64] is set.  It has the same vertices, and lists in the same order.
 * Its arrays belong to work; the other graph may belong to anyone.  Returns once the last kernel
 * is launched.
 */
HgStatus hg_cuda_edges_filter(HgCudaWork *work, const HgCudaGraph *graph, const uint64_t *mask,
							  HgCudaGraph *filtered, HgError *error);

/*
 * Returns the most memory that hg_cuda_edges_filter takes for a graph of this size, the new graph
 * included.  *filtered_bytes becomes the part that stays: the new graph.
 */
uint64_t hg_cuda_edges_filter_bytes(uint64_t rows, uint32_t vertices_log2,
									uint64_t *filtered_bytes);

#endif /* HG_CUDA_EDGES_H */
