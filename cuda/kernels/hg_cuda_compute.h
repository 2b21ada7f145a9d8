/*-------------------------------------------------------------------------
 *
 * hg_cuda_compute.h
 *	  Columns of graph replicas, by ordinal, in device memory: computed from others, or of
 *	  rows that are found in another replica.
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

/*
 * Lookups from the rows of one graph replica to another, by ordinal, and columns of the found.
 *
 * Ordinals are those of a relation's column replicas (src/engine/hg_replica.h).  Callers have
 * checked that each row has one.  An array of found rows holds ordinals of the relation that is
 * looked up, HG_FOUND_NONE or HG_FOUND_TWO, so that all reads stay within its columns.
 */

/* A graph, and the ordinals of its rows. */
struct HgCudaOrdinalGraph
{
	const HgCudaGraph *graph; /* with keys of 8 bytes; ordered if it is looked up */
	uint64_t ordinals;		  /* number of ordinals: parts * stride */
	uint32_t stride;
};

/*
 * Looks up the rows of own in found.  *ordinals becomes a new array of work, with an entry for
 * each ordinal of own: the ordinal of the row found, HG_FOUND_NONE, or HG_FOUND_TWO if several
 * rows have the key.  Returns once the work is launched.
 */
HgStatus hg_cuda_found_make(HgCudaWork *work, const HgCudaOrdinalGraph *own,
							const HgCudaOrdinalGraph *found, uint32_t **ordinals, HgError *error);

/*
 * Composes two lookups: *ordinals becomes a new array of work with found[parent[i]] for each of
 * count ordinals i, or HG_FOUND_NONE if parent[i] is no ordinal.  Returns once it is launched.
 */
HgStatus hg_cuda_found_compose(HgCudaWork *work, const uint32_t *parent, const uint32_t *found,
							   uint64_t count, uint32_t **ordinals, HgError *error);

/*
 * Checks what the selected rows have found.  The rows are those of parts 0 .. parts - 1; mask has
 * a bit for each, NULL means that all are selected.  *two becomes true if a selected row has found
 * HG_FOUND_TWO.  With drop, which needs a mask, the bits of rows that have found nothing are
 * cleared.  Waits.
 */
HgStatus hg_cuda_found_look(HgCudaWork *work, const uint32_t *ordinals, uint32_t parts,
							uint32_t stride, uint64_t *mask, bool drop, bool *two, HgError *error);

/*
 * values_out[i] = the value, of width bytes, of the row that ordinal i has found, for count
 * ordinals; nulls_out[i] is not 0 if it is NULL or no row was found.  nulls is NULL if no value
 * is; nulls_out may be NULL.  Returns once the work is launched.
 */
HgStatus hg_cuda_found_gather(HgCudaWork *work, const uint32_t *ordinals, uint64_t count,
							  uint32_t width, const void *values, const uint8_t *nulls,
							  void *values_out, uint8_t *nulls_out, HgError *error);

#endif /* HG_CUDA_COMPUTE_H */
