/*-------------------------------------------------------------------------
 *
 * hg_cuda_compute.h
 *	  Columns of graph replicas that are computed of others, in device memory, by ordinal.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_COMPUTE_H
#define HG_CUDA_COMPUTE_H

#include "../../src/engine/hg_computed.h"
#include "hg_cuda_graph.h"

/* In place of what tells NULL: a number of the row overflows. */
#define HG_COMPUTED_LOST 2

/* An operand of a program: arrays by ordinal. */
struct HgCudaOperand
{
	const void *values;
	const uint8_t *nulls; /* NULL where no row has NULL */
	uint32_t width;
};

/* What is to be computed; a kernel takes it as it is. */
struct HgCudaComputing
{
	HgProgram program;
	HgCudaOperand columns[HG_MAX_COLUMNS]; /* of the side, as far as the program asks for them */
};

/*
 * Compute count ordinals of a column: values[i], and nulls[i], which is 1 where it is NULL and
 * HG_COMPUTED_LOST where a step overflows, whether there is a row or not. *lost, in device memory,
 * becomes 1 where one does.  It returns when that is launched.
 */
HgStatus hg_cuda_compute(HgCudaWork *work, const HgCudaComputing *computing, uint64_t count,
						 int64_t *values, uint8_t *nulls, uint32_t *lost, HgError *error);

/*
 * Does a number of one of a graph's rows overflow, of ordinals with a stride? *lost is in device
 * memory, and 0 before.  It returns when that is launched.
 */
HgStatus hg_cuda_compute_look(HgCudaWork *work, const HgCudaGraph *graph, uint32_t stride,
							  const uint8_t *nulls, uint32_t *lost, HgError *error);

#endif /* HG_CUDA_COMPUTE_H */
