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

/* ---------------------------------------------------------------------
 * Filters on the rows of a graph replica: computed by ordinal, for a mask by row number
 *
 * A thread has a row, and a warp the rows of one word of the mask: all do the same steps and read
 * neighbouring values.  If none of a word's bits is set, nothing is read.  Filters that compute
 * numbers have their own kernel, with memory for these.
 * ---------------------------------------------------------------------
 */

/* A piece must begin with a whole word of a mask. */
static_assert(HG_PIECE_ROWS % 32 == 0 && HG_STREAM_THREADS % 32 == 0,
			  "a warp decides about 32 rows of a part");

/* Parameters of a kernel have at most this many bytes. */
static_assert(sizeof(HgFilterTest) + 5 * sizeof(uint64_t) <= 4096,
			  "a filter is a parameter of a kernel");

template <bool computes>
static HgStatus
launch(HgCudaWork *work, const HgFilterTest *test, uint32_t parts, uint64_t *mask, uint32_t *lost,
	   HgError *error)
{
	const uint32_t part_words = (test->stride + 31) / 32;

	return hg_cuda_launch_pieces<hg_filter_kernel<computes>, HG_STREAM_THREADS>(
		work, "hg_filter_kernel", (uint64_t) parts * part_words * 32, HG_PIECE_ROWS, error, *test,
		part_words, reinterpret_cast<uint32_t *>(mask), lost, HG_PIECE_FIRST, HG_PIECE_END);
}

HgStatus
hg_cuda_filter(HgCudaWork *work, const HgFilterTest *test, uint32_t parts, uint64_t *mask,
			   uint32_t *lost, HgError *error)
{
	return lost != nullptr ? launch<true>(work, test, parts, mask, lost, error)
						   : launch<false>(work, test, parts, mask, nullptr, error);
}
