/*-------------------------------------------------------------------------
 *
 * hg_cuda_describe.h
 *	  Statistics and copies of a HashGraph in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_DESCRIBE_H
#define HG_CUDA_DESCRIBE_H

#include "hg_cuda_columns.h"
#include "hg_cuda_graph.h"

/* Sets all of *stats, from a walk over the graph.  Waits. */
HgStatus hg_cuda_graph_describe(HgCudaWork *work, const HgCudaGraph *graph, HgGraphStats *stats,
								HgError *error);

/*
 * Copies a graph to arrays of the caller: offsets[vertices + 1], edge_keys[rows] and
 * edge_rows[rows].  Edges get keys, not mixed words, and the row numbers that the caller assigned
 * (numbers).  Waits, so the arrays are not written to after the return, even if it is cancelled.
 */
HgStatus hg_cuda_graph_export(HgCudaWork *work, const HgCudaGraph *graph, HgCudaNumbers *numbers,
							  uint32_t *offsets, void *edge_keys, uint32_t *edge_rows,
							  HgError *error);

#endif /* HG_CUDA_DESCRIBE_H */
