/*-------------------------------------------------------------------------
 *
 * hg_cuda_edges.h
 *	  Edges of graph replicas: keys that are made wide, rows that are checked, and rows that count.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_EDGES_H
#define HG_CUDA_EDGES_H

#include "hg_cuda_graph.h"

/*
 * wide[i] = keys[i] of count keys of 4 bytes, as 8 bytes with their sign.  It returns when that is
 * launched.
 */
HgStatus hg_cuda_edges_widen(HgCudaWork *work, const void *keys, void *wide, uint64_t count,
							 HgError *error);

/*
 * Are rows[0 .. count - 1] all below limit, and what are their numbers in their parts below?  It
 * waits for the answer.
 */
HgStatus hg_cuda_edges_check(HgCudaWork *work, const uint32_t *rows, uint64_t count, uint32_t limit,
							 bool *below, uint32_t *numbers, HgError *error);

/*
 * Make a graph of the edges of another one, with keys of 8 bytes, whose rows count: those whose bit
 * is set, bit r % 64 of mask[r / 64].  It has the same vertices, and its lists are in the same
 * order.  It is the work's; the other one may be anybody's.  It returns when the last of it is
 * launched.
 */
HgStatus hg_cuda_edges_filter(HgCudaWork *work, const HgCudaGraph *graph, const uint64_t *mask,
							  HgCudaGraph *filtered, HgError *error);

/* What that takes at most, with the graph that it makes, which stays: filtered_bytes of it. */
uint64_t hg_cuda_edges_filter_bytes(uint64_t rows, uint32_t vertices_log2,
									uint64_t *filtered_bytes);

#endif /* HG_CUDA_EDGES_H */
