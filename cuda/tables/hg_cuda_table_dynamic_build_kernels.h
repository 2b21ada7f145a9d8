/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dynamic_build_kernels.h
 *	  The kernels that build dynamic HashGraphs: an edge a thread.
 *
 * hg_cuda_table_dynamic_build.cu says when each runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYNAMIC_BUILD_KERNELS_H
#define HG_CUDA_TABLE_DYNAMIC_BUILD_KERNELS_H

#include "hg_cuda_table_dynamic_kernels.h"

/*
 * Counts the ordered edges that are left out: those whose key the edge before has, and those of a
 * set's markers, which are no keys.  The first edge of each key stands for it.  If a later one is
 * of a row in the table, whose number is below old_rows, the first one gets that number.
 */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_doubles_kernel(const uint32_t *offsets, uint32_t vertices_log2,
							  const typename Slots::Word *words, uint32_t *numbers, uint64_t first,
							  uint64_t end, uint32_t old_rows, HgDynamicState *state)
{
	const uint64_t j = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;
	bool again = false;

	if (j < end && hg_dynamic_is_marker<Slots>(words[j]))
		again = true;
	else if (j > 0 && j < end && words[j - 1] == words[j])
	{
		const typename Slots::Word word = words[j];

		again = true;
		if (numbers[j] < old_rows)
		{
			const uint32_t v = hg_word_vertex(word, 32 - vertices_log2);

			numbers[hg_word_lower_bound(words, offsets[v], (uint32_t) j, word)] = numbers[j];
		}
	}
	hg_dynamic_add_count(&state->doubles, again);
}

/* kept[j] = 1 for the first edge of each key, else 0; kept[edges] = 0. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_kept_kernel(const typename Slots::Word *words, uint64_t first, uint64_t edges,
						   uint32_t *kept)
{
	const uint64_t j = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (j <= edges)
		kept[j] = j < edges && (j == 0 || words[j - 1] != words[j]) &&
				  !hg_dynamic_is_marker<Slots>(words[j]);
}

/*
 * Replaces the first edges of lists by their first slots.  positions, or NULL, are the edges that
 * stay before each edge.
 */
static __global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_offsets_kernel(uint32_t *offsets, const uint32_t *positions, uint64_t first,
							  uint64_t entries, uint32_t empty_slots)
{
	const uint64_t v = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (v < entries)
		offsets[v] = (positions != nullptr ? positions[offsets[v]] : offsets[v]) +
					 (uint32_t) v * empty_slots;
}

/* The rows of edges, by number: those below old_rows are the table's, all others the batch's. */
struct HgDynamicRows
{
	const uint32_t *old;
	uint32_t old_rows;
	const uint32_t *rows; /* NULL: first_row, first_row + 1 ... */
	uint32_t first_row;
};

/* Writes the edges first .. end - 1 to their slots. */
template <typename Slots>
__global__ void
__launch_bounds__(HG_DYNAMIC_THREADS)
	hg_dynamic_spread_kernel(HgDynamicLists lists, uint32_t empty_slots,
							 const typename Slots::Word *words, const uint32_t *numbers,
							 HgDynamicRows rows, const uint32_t *positions, uint64_t first,
							 uint64_t end)
{
	const uint64_t j = first + (uint64_t) blockIdx.x * HG_DYNAMIC_THREADS + threadIdx.x;

	if (j < end)
	{
		const typename Slots::Word word = words[j];
		const uint32_t number = numbers[j];
		uint32_t to = (uint32_t) j;
		uint32_t row = 0;

		if (positions != nullptr)
		{
			to = positions[j];
			if (positions[j + 1] == to)
				return;
		}
		to += hg_word_vertex(word, 32 - lists.vertices_log2) * empty_slots;
		if (Slots::HAS_ROWS)
			row = number < rows.old_rows ? rows.old[number]
				  : rows.rows != nullptr ? rows.rows[number - rows.old_rows]
										 : rows.first_row + (number - rows.old_rows);
		static_cast<typename Slots::Slot *>(lists.slots)[to] = Slots::make(word, row);
		if (Slots::APART)
			lists.rows[to] = row;
	}
}

#endif /* HG_CUDA_TABLE_DYNAMIC_BUILD_KERNELS_H */
