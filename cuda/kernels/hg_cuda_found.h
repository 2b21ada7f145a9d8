/*-------------------------------------------------------------------------
 *
 * hg_cuda_found.h
 *	  What rows of a graph replica find in another one, by ordinals, and columns of that.
 *
 * Ordinals are those of the columns of a table's rows (src/engine/hg_replica.h), and no row is
 * without one: callers have seen to that.  What an ordinal holds is an ordinal of the other table,
 * HG_FOUND_NONE or HG_FOUND_TWO, so that nothing else is ever read by it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_FOUND_H
#define HG_CUDA_FOUND_H

#include "hg_cuda_graph.h"

/* A graph, and what its rows' ordinals are. */
struct HgCudaOrdinalGraph
{
	const HgCudaGraph *graph; /* with keys of 8 bytes; ordered where it is looked up */
	uint64_t ordinals;
	uint32_t stride;
};

/*
 * Have an array of the work's that tells, for each ordinal of rows that look up, what they find.
 * It returns when that is launched.
 */
HgStatus hg_cuda_found_make(HgCudaWork *work, const HgCudaOrdinalGraph *own,
							const HgCudaOrdinalGraph *found, uint32_t **ordinals, HgError *error);

/*
 * The same of count rows that have found those which look up, by parent: *device_set is what these
 * have found then, by found.
 */
HgStatus hg_cuda_found_compose(HgCudaWork *work, const uint32_t *parent, const uint32_t *found,
							   uint64_t count, uint32_t **ordinals, HgError *error);

/*
 * Look at what the rows that count have found, of some parts and a stride: *two says whether one of
 * them has found two.  With drop those that have found nothing are taken out of the mask, which may
 * be NULL without: all count then.  It waits for the answer.
 */
HgStatus hg_cuda_found_look(HgCudaWork *work, const uint32_t *ordinals, uint32_t parts,
							uint32_t stride, uint64_t *mask, bool drop, bool *two, HgError *error);

/*
 * values_out[i] = the value of what was found by ordinal i, of count ones; nulls_out[i] is not 0
 * where that is NULL, or nothing was found.  nulls are NULL where no row has NULL; and nulls_out
 * where nobody asks.  It returns when that is launched.
 */
HgStatus hg_cuda_found_gather(HgCudaWork *work, const uint32_t *ordinals, uint64_t count,
							  uint32_t width, const void *values, const uint8_t *nulls,
							  void *values_out, uint8_t *nulls_out, HgError *error);

#endif /* HG_CUDA_FOUND_H */
