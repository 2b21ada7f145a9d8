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
#include "../../src/engine/hg_flat.h"
#include "../../src/engine/hg_row_filter.h"
#include "hg_cuda_compute.h"
#include "hg_cuda_pieces.h"
#include "hg_cuda_tuning.h"

/*
 * The kernels for columns that are computed from others.
 *
 * Each kernel works on the items first .. end - 1.
 */

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
