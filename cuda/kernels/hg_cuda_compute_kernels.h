/*-------------------------------------------------------------------------
 *
 * hg_cuda_compute_kernels.h
 *	  The kernels for columns that are computed from others (hg_cuda_compute.cu).
 *
 * Each kernel works on the items first .. end - 1.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_COMPUTE_KERNELS_H
#define HG_CUDA_COMPUTE_KERNELS_H

#include "../../src/engine/hg_flat.h"
#include "../../src/engine/hg_row_filter.h"
#include "hg_cuda_compute.h"
#include "hg_cuda_tuning.h"

/* An intermediate result of a program, of one row. */
struct HgComputed
{
	int64_t value;
	bool null;
};

/* Returns the widened value of an ordinal in a column; *fits becomes false beyond 64 bits. */
__device__ __forceinline__ HgComputed
hg_compute_load(const HgCudaOperand *column, bool is_signed, uint64_t ordinal, bool *fits)
{
	HgComputed loaded = {0, column->nulls != nullptr && column->nulls[ordinal] != 0};

	switch (column->width)
	{
		case 1:
			loaded.value = is_signed ? static_cast<const int8_t *>(column->values)[ordinal]
									 : static_cast<const uint8_t *>(column->values)[ordinal];
			break;
		case 2:
			loaded.value = is_signed ? static_cast<const int16_t *>(column->values)[ordinal]
									 : static_cast<const uint16_t *>(column->values)[ordinal];
			break;
		case 4:
			loaded.value =
				is_signed
					? static_cast<int64_t>(static_cast<const int32_t *>(column->values)[ordinal])
					: static_cast<const uint32_t *>(column->values)[ordinal];
			break;
		default:
			loaded.value = static_cast<const int64_t *>(column->values)[ordinal];
			*fits = is_signed || loaded.value >= 0;
			break;
	}
	return loaded;
}

/* Computes a column, HG_COMPUTE_ROWS ordinals a thread; neighbours have neighbouring ones. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_compute_kernel(const __grid_constant__ HgCudaComputing computing, uint64_t first,
					  uint64_t end, int64_t *values, uint8_t *nulls, uint32_t *lost)
{
	const uint64_t begin =
		first + (uint64_t) blockIdx.x * HG_STREAM_THREADS * HG_COMPUTE_ROWS + threadIdx.x;
	HgComputed below[HG_MAX_STEP_NUMBERS][HG_COMPUTE_ROWS];
	HgComputed top[HG_COMPUTE_ROWS] = {}; /* the top of each row's stack, above these */
	bool overflows[HG_COMPUTE_ROWS] = {};
	uint32_t numbers = 0; /* depth of the stack, top included */

	for (uint32_t s = 0; s < computing.program.nsteps; s++)
	{
		const HgStep step = computing.program.steps[s];
		const bool adds = step.kind <= HG_STEP_CONSTANT;

		numbers = step.kind >= HG_STEP_ADD ? numbers - 1 : numbers;
#pragma unroll
		for (int r = 0; r < HG_COMPUTE_ROWS; r++)
		{
			const uint64_t ordinal = begin + (uint64_t) r * HG_STREAM_THREADS;
			bool fits = true;

			if (adds && numbers > 0)
				below[numbers - 1][r] = top[r];
			if (step.kind == HG_STEP_CONSTANT)
				top[r] = {step.constant, false};
			else if (step.kind == HG_STEP_COLUMN && ordinal < end)
				top[r] = hg_compute_load(&computing.columns[step.column], step.is_signed != 0,
										 ordinal, &fits);
			else if (step.kind >= HG_STEP_ADD)
			{
				const HgComputed left = below[numbers - 1][r];

				top[r] = {hg_step_two(&step, left.value, top[r].value, &fits),
						  left.null || top[r].null};
			}
			else
				top[r].value = hg_step_one(&step, top[r].value, &fits);
			overflows[r] |= !top[r].null && !(fits && hg_step_fits(top[r].value, step.bits));
		}
		numbers += adds;
	}
#pragma unroll
	for (int r = 0; r < HG_COMPUTE_ROWS; r++)
	{
		const uint64_t ordinal = begin + (uint64_t) r * HG_STREAM_THREADS;

		if (ordinal >= end)
			continue;
		values[ordinal] = top[r].value;
		nulls[ordinal] = overflows[r] ? HG_COMPUTED_LOST : top[r].null;
		if (overflows[r])
			*lost = 1;
	}
}

/* Sets *lost to 1 if the ordinal of an edge's row has an overflow, an edge a thread. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_compute_look_kernel(const uint32_t *rows, uint32_t stride, const uint8_t *nulls,
						   uint64_t first, uint64_t end, uint32_t *lost)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i >= end)
		return;
	if (nulls[(uint64_t) HG_FLAT_PART(rows[i]) * stride + HG_FLAT_NUMBER(rows[i])] ==
		HG_COMPUTED_LOST)
		*lost = 1;
}

/*
 * Tests rows first .. end - 1 (both are multiples of 32).  Each warp tests the 32 row numbers of
 * one mask word.  Of each part's words in the mask, the first part_words are used; rows are counted
 * over the bits of these words.  *lost becomes 1 if a computed number overflows; without computes,
 * lost is not used.
 */
template <bool computes>
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_filter_kernel(const __grid_constant__ HgFilterTest test, uint32_t part_words, uint32_t *mask,
					 uint32_t *lost, uint64_t first, uint64_t end)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const uint32_t lane = threadIdx.x % 32;
	const uint64_t part = i / 32 / part_words;
	const uint32_t word_in_part = (uint32_t) (i / 32 % part_words);
	const uint32_t number = word_in_part * 32 + lane;
	uint32_t *bits = mask + (part << (HG_FLAT_ROW_BITS - 5)) + word_in_part;
	uint32_t counts;
	uint32_t held;
	bool holds = false;
	bool overflows = false;

	/* both conditions hold for a whole warp */
	if (i >= end)
		return;
	counts = *bits;
	if (counts == 0)
		return;
	if (number < test.stride && (counts >> lane & 1) != 0)
		holds = hg_filter_holds(&test, computes, part * test.stride + number, &overflows);
	held = __ballot_sync(UINT32_MAX, holds);
	if (lane == 0 && held != counts)
		*bits = held;
	if (computes && overflows)
		*lost = 1;
}

#endif /* HG_CUDA_COMPUTE_KERNELS_H */
