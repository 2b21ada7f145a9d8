/*-------------------------------------------------------------------------
 *
 * hg_cuda_compute.cu
 *	  Columns of graph replicas that are computed from others, by ordinal, in device memory.
 *
 * Each thread runs the program for a few ordinals, so that a step is decoded once for all of them.
 * All threads do the same steps, and neighbours read neighbouring values, so memory alone limits
 * the speed.  Ordinals without a row are computed as well, from undefined values.  Only if any
 * number overflows, a second kernel checks whether it is a row's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_compute.h"

#include "hg_cuda_compute_kernels.h"
#include "hg_cuda_pieces.h"

HgStatus
hg_cuda_compute(HgCudaWork *work, const HgCudaComputing *computing, uint64_t count, int64_t *values,
				uint8_t *nulls, uint32_t *lost, HgError *error)
{
	return hg_cuda_launch_pieces<hg_compute_kernel, HG_STREAM_THREADS,
								 HG_STREAM_THREADS * HG_COMPUTE_ROWS>(
		work, "hg_compute_kernel", count, HG_PIECE_ROWS, error, *computing, HG_PIECE_FIRST,
		HG_PIECE_END, values, nulls, lost);
}

HgStatus
hg_cuda_compute_look(HgCudaWork *work, const HgCudaGraph *graph, uint32_t stride,
					 const uint8_t *nulls, uint32_t *lost, HgError *error)
{
	return hg_cuda_launch_pieces<hg_compute_look_kernel, HG_STREAM_THREADS>(
		work, "hg_compute_look_kernel", graph->rows, HG_FOUND_ROWS, error, graph->edge_rows, stride,
		nulls, HG_PIECE_FIRST, HG_PIECE_END, lost);
}
