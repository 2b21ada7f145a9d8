/*-------------------------------------------------------------------------
 *
 * hg_cuda_found.cu
 *	  Lookups from the rows of one graph replica to another, by ordinal, and columns of the found.
 *
 * A lookup is the intersection of two graphs (Algorithm 3), as in hg_cuda_join.cu, but no pair is
 * written.  A row may find one row, whose ordinal is stored at its own ordinal.  If several rows
 * have its key, HG_FOUND_TWO is stored, which only matters if the row is selected.  So the result
 * does not depend on the order of threads.
 *
 * The kernel that checks selected rows goes by ordinal, not by edge, so that it reads ordinals and
 * the words of the mask in order.
 *
 * MEMORY: 4 bytes for each ordinal of the rows that look up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_found.h"

#include "hg_cuda_found_kernels.h"
#include "hg_cuda_pieces.h"

#include <cstring>

/* A piece must begin with a whole word of a mask. */
static_assert(HG_PIECE_ROWS % 32 == 0 && HG_STREAM_THREADS % 32 == 0,
			  "a warp looks at 32 rows of a part");

HgStatus
hg_cuda_found_make(HgCudaWork *work, const HgCudaOrdinalGraph *own, const HgCudaOrdinalGraph *found,
				   uint32_t **ordinals, HgError *error)
{
	const HgCudaGraph *graph = found->graph;

	HG_TRY(hg_cuda_alloc_array(work, own->ordinals, ordinals, error));
	HG_CUDA_TRY(cudaMemsetAsync(*ordinals, 0xff, own->ordinals * sizeof(**ordinals), work->stream),
				error);
	return hg_cuda_launch_pieces<hg_found_kernel, HG_STREAM_THREADS>(
		work, "hg_found_kernel", own->graph->rows, HG_FOUND_ROWS, error,
		static_cast<const uint64_t *>(own->graph->edge_words), own->graph->edge_rows, own->stride,
		graph->offsets, static_cast<const uint64_t *>(graph->edge_words), graph->edge_rows,
		32 - graph->vertices_log2, found->stride, HG_PIECE_FIRST, HG_PIECE_END, *ordinals);
}

HgStatus
hg_cuda_found_compose(HgCudaWork *work, const uint32_t *parent, const uint32_t *found,
					  uint64_t count, uint32_t **ordinals, HgError *error)
{
	HG_TRY(hg_cuda_alloc_array(work, count, ordinals, error));
	return hg_cuda_launch_pieces<hg_found_compose_kernel, HG_STREAM_THREADS>(
		work, "hg_found_compose_kernel", count, HG_FOUND_ROWS, error, parent, found, HG_PIECE_FIRST,
		HG_PIECE_END, *ordinals);
}

HgStatus
hg_cuda_found_look(HgCudaWork *work, const uint32_t *ordinals, uint32_t parts, uint32_t stride,
				   uint64_t *mask, bool drop, bool *two, HgError *error)
{
	const uint32_t part_words = (stride + 31) / 32;
	uint32_t *device_two;
	uint32_t answer;
	const void *host;

	HG_TRY(hg_cuda_alloc_array(work, 1, &device_two, error));
	HG_CUDA_TRY(cudaMemsetAsync(device_two, 0, sizeof(*device_two), work->stream), error);
	HG_TRY((hg_cuda_launch_pieces<hg_found_look_kernel, HG_STREAM_THREADS>(
		work, "hg_found_look_kernel", (uint64_t) parts * part_words * 32, HG_PIECE_ROWS, error,
		ordinals, stride, part_words, reinterpret_cast<uint32_t *>(mask), drop, HG_PIECE_FIRST,
		HG_PIECE_END, device_two)));
	HG_TRY(hg_cuda_read_back(work, device_two, sizeof(answer), &host, error));
	memcpy(&answer, host, sizeof(answer));
	hg_cuda_free(work, device_two);
	*two = answer != 0;
	return HG_OK;
}

template <typename T>
static HgStatus
gather(HgCudaWork *work, const uint32_t *ordinals, uint64_t count, const void *values,
	   const uint8_t *nulls, void *values_out, uint8_t *nulls_out, HgError *error)
{
	return hg_cuda_launch_pieces<hg_found_values_kernel<T>, HG_STREAM_THREADS>(
		work, "hg_found_values_kernel", count, HG_FOUND_ROWS, error, ordinals,
		static_cast<const T *>(values), nulls, HG_PIECE_FIRST, HG_PIECE_END,
		static_cast<T *>(values_out), nulls_out);
}

HgStatus
hg_cuda_found_gather(HgCudaWork *work, const uint32_t *ordinals, uint64_t count, uint32_t width,
					 const void *values, const uint8_t *nulls, void *values_out, uint8_t *nulls_out,
					 HgError *error)
{
	switch (width)
	{
		case 1:
			return gather<uint8_t>(work, ordinals, count, values, nulls, values_out, nulls_out,
								   error);
		case 2:
			return gather<uint16_t>(work, ordinals, count, values, nulls, values_out, nulls_out,
									error);
		case 4:
			return gather<uint32_t>(work, ordinals, count, values, nulls, values_out, nulls_out,
									error);
		default:
			return gather<uint64_t>(work, ordinals, count, values, nulls, values_out, nulls_out,
									error);
	}
}
