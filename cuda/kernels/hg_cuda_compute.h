/*-------------------------------------------------------------------------
 *
 * hg_cuda_compute.h
 *	  Columns of graph replicas that are computed from others, by ordinal, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_COMPUTE_H
#define HG_CUDA_COMPUTE_H

#include "../../src/engine/hg_computed.h"
#include "../../src/engine/hg_row_filter.h"
#include "../device/hg_cuda_work.h"
#include "hg_cuda_graph.h"

/* In place of a NULL byte: a number of the row overflows. */
#define HG_COMPUTED_LOST 2

/* An operand of a program: arrays by ordinal in device memory. */
struct HgCudaOperand
{
	const void *values;
	const uint8_t *nulls; /* NULL if no row has NULL */
	uint32_t width;
};

/* Parameters of hg_compute_kernel. */
struct HgCudaComputing
{
	HgProgram program;
	HgCudaOperand columns[HG_MAX_COLUMNS]; /* of the side; those that the program uses are set */
};

/*
 * Computes a column for ordinals 0 .. count - 1, whether they have a row or not.  nulls[i] becomes
 * 1 if the value is NULL, HG_COMPUTED_LOST if a step overflows, else 0.  *lost, in device memory,
 * becomes 1 if a step overflows for any ordinal.  Returns once the work is launched.
 */
HgStatus hg_cuda_compute(HgCudaWork *work, const HgCudaComputing *computing, uint64_t count,
						 int64_t *values, uint8_t *nulls, uint32_t *lost, HgError *error);

/*
 * Sets *lost to 1 if a row of the graph has an ordinal whose null is HG_COMPUTED_LOST.  stride is
 * that of the ordinals.  *lost is in device memory and must be 0 before.  Returns once the work is
 * launched.
 */
HgStatus hg_cuda_compute_look(HgCudaWork *work, const HgCudaGraph *graph, uint32_t stride,
							  const uint8_t *nulls, uint32_t *lost, HgError *error);

/*
 * Clears the bits of a mask whose rows the filter does not let through.  The rows are those of
 * parts 0 .. parts - 1; the mask and the filter's columns are in device memory.  Bits of numbers
 * that no row can have become undefined.
 *
 * *lost, in device memory, becomes 1 if a number that the filter computes overflows for a row
 * whose bit is set; lost is NULL if the filter computes none.  Returns once the work is launched.
 */
HgStatus hg_cuda_filter(HgCudaWork *work, const HgFilterTest *test, uint32_t parts, uint64_t *mask,
						uint32_t *lost, HgError *error);

#endif /* HG_CUDA_COMPUTE_H */
