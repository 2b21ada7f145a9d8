/*-------------------------------------------------------------------------
 *
 * hg_cuda_filter.cu
 *	  Filters on the rows of a graph replica: computed by ordinal, for a mask by row number.
 *
 * A thread has a row, and a warp the rows of one word of the mask: all do the same steps and read
 * neighbouring values.  If none of a word's bits is set, nothing is read.  Filters that compute
 * numbers have their own kernel, with memory for these.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_filter.h"

#include "hg_cuda_filter_kernels.h"
#include "hg_cuda_pieces.h"

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
