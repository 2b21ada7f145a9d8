/*-------------------------------------------------------------------------
 *
 * hg_cuda_describe.h
 *	  Looking at a HashGraph in device memory: its numbers, and a copy of it for the caller.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_DESCRIBE_H
#define HG_CUDA_DESCRIBE_H

#include "hg_cuda_graph.h"
#include "hg_cuda_numbers.h"

/* Describe a graph, walking it. */
HgStatus hg_cuda_graph_describe(HgCudaWork *work, const HgCudaGraph *graph, HgGraphStats *stats,
								HgError *error);

/*
 * Copy a graph to memory of the caller: offsets[vertices + 1], and as many edges as it has rows,
 * with keys, not mixed words, and with the numbers that the caller gave the rows, if any.  The
 * caller's memory is not touched any more once the call has returned, cancelled or not.
 */
HgStatus hg_cuda_graph_export(HgCudaWork *work, const HgCudaGraph *graph, HgCudaNumbers *numbers,
							  uint32_t *offsets, void *edge_keys, uint32_t *edge_rows,
							  HgError *error);

#endif /* HG_CUDA_DESCRIBE_H */
