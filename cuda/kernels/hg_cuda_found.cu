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
#include <cstring>

#include "../../src/engine/hg_replica.h"
#include "hg_cuda_compute.h"
#include "hg_cuda_pieces.h"
#include "hg_cuda_tuning.h"
#include "hg_cuda_word.h"

/*
 * The kernels for lookups between graph replicas.
 *
 * Each kernel works on the items first .. end - 1, a thread an item.
 */

/* Returns the item of this thread. */
__device__ __forceinline__ uint64_t
hg_found_item(uint64_t first)
{
	return first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
}

/* Returns the ordinal of a row, which fits 32 bits. */
__device__ __forceinline__ uint32_t
hg_found_ordinal(uint32_t stride, uint32_t row)
{
	return HG_FLAT_PART(row) * stride + HG_FLAT_NUMBER(row);
}

/* Returns the first of the edges low .. high - 1, a sorted list, not below word, or high. */
__device__ __forceinline__ uint32_t
hg_found_first(const uint64_t *words, uint32_t low, uint32_t high, uint64_t word)
{
	if (high - low > HG_LIST_WALKED)
		return hg_word_lower_bound(words, low, high, word);
	while (low < high && words[low] < word)
		low++;
	return low;
}

/*
 * Looks up the edges own_words, own_rows in an ordered graph, and writes what they find to the
 * ordinals of their rows, which hold HG_FOUND_NONE before.  Edges come list by list, so that
 * neighbouring threads search neighbouring lists.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_found_kernel(const uint64_t *own_words, const uint32_t *own_rows, uint32_t own_stride,
					const uint32_t *offsets, const uint64_t *words, const uint32_t *rows,
					uint32_t shift, uint32_t stride, uint64_t first, uint64_t end,
					uint32_t *ordinals)
{
	const uint64_t i = hg_found_item(first);
	uint32_t found;
	uint32_t vertex;
	uint32_t edge;
	uint32_t high;
	uint64_t word;

	if (i >= end)
		return;
	word = own_words[i];
	vertex = hg_word_vertex(word, shift);
	high = offsets[vertex + 1];
	edge = hg_found_first(words, offsets[vertex], high, word);
	/* the ordinal holds HG_FOUND_NONE already */
	if (edge >= high || words[edge] != word)
		return;
	found = edge + 1 < high && words[edge + 1] == word ? HG_FOUND_TWO
													   : hg_found_ordinal(stride, rows[edge]);
	ordinals[hg_found_ordinal(own_stride, own_rows[i])] = found;
}

/* ordinals[i] = found[parent[i]], or HG_FOUND_NONE if parent[i] is no ordinal. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_found_compose_kernel(const uint32_t *parent, const uint32_t *found, uint64_t first,
							uint64_t end, uint32_t *ordinals)
{
	const uint64_t i = hg_found_item(first);
	uint32_t at;

	if (i >= end)
		return;
	at = parent[i];
	ordinals[i] = at < HG_FOUND_TWO ? found[at] : HG_FOUND_NONE;
}

/*
 * Checks what the selected rows have found, a warp for each 32 numbers of a part.  first and end
 * are multiples of 32.  A part uses the first part_words 32-bit words of its share of the mask.
 * *two becomes 1 if a selected row has found HG_FOUND_TWO.  With drop, the bits of rows that have
 * found nothing are cleared, and the bits of numbers that no row can have.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_found_look_kernel(const uint32_t *ordinals, uint32_t stride, uint32_t part_words,
						 uint32_t *mask, bool drop, uint64_t first, uint64_t end, uint32_t *two)
{
	const uint64_t i = hg_found_item(first);
	const uint32_t lane = threadIdx.x % 32;
	const uint64_t word = i / 32;
	const uint64_t part = word / part_words;
	const uint32_t word_in_part = (uint32_t) (word % part_words);
	const uint32_t number = word_in_part * 32 + lane;
	uint32_t ordinal = HG_FOUND_NONE;
	uint32_t counts = UINT32_MAX;
	uint32_t *bits = nullptr;
	uint32_t found;

	/* holds for a whole warp */
	if (i >= end)
		return;
	if (mask != nullptr)
	{
		bits = mask + (part << (HG_FLAT_ROW_BITS - 5)) + word_in_part;
		counts = *bits;
	}
	if (number < stride)
		ordinal = ordinals[part * stride + number];
	if (ordinal == HG_FOUND_TWO && (counts >> lane & 1) != 0)
		*two = 1;
	found = __ballot_sync(UINT32_MAX, ordinal != HG_FOUND_NONE);
	if (drop && lane == 0 && (counts & ~found) != 0)
		*bits = counts & found;
}

/* values_out[i], nulls_out[i] = the value of the row that ordinal i has found. */
template <typename T>
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_found_values_kernel(const uint32_t *ordinals, const T *values, const uint8_t *nulls,
						   uint64_t first, uint64_t end, T *values_out, uint8_t *nulls_out)
{
	const uint64_t i = hg_found_item(first);
	T value = 0;
	uint8_t null = 1;
	uint32_t at;

	if (i >= end)
		return;
	at = ordinals[i];
	if (at < HG_FOUND_TWO)
	{
		value = values[at];
		null = nulls != nullptr ? nulls[at] : 0;
	}
	values_out[i] = value;
	if (nulls_out != nullptr)
		nulls_out[i] = null;
}

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
