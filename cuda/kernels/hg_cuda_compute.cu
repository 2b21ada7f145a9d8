/*-------------------------------------------------------------------------
 *
 * hg_cuda_compute.cu
 *	  Columns of graph replicas that are computed of others, in device memory, by ordinal.
 *
 * Each thread follows the program for a few ordinals, so that a step is decoded once for them.  All
 * threads do the same steps, and neighbours read neighbouring values: it is a matter of memory
 * alone, and ordinals where no row is are computed as well, of whatever lies there.  Which numbers
 * that overflow are some row's is looked at only where there are any.
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
