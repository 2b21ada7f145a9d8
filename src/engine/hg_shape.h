/*-------------------------------------------------------------------------
 *
 * hg_shape.h
 *	  The shape of a job's HashGraphs: algorithms, vertices and bins.
 *
 * Every engine takes the shape from here, so that the same input with the same spec gives the same
 * graph everywhere, up to the order within a list.  Only the size of the nearest fast memory
 * differs, and with it the number of bins.  If the spec allows keys as vertices (direct), an
 * engine may use those instead of any graph.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHAPE_H
#define HG_SHAPE_H

#include "hg_engine.h"

typedef struct HgShape
{
	HgBuildAlgorithm build; /* never AUTO */
	HgProbeAlgorithm probe; /* never AUTO */
	uint32_t vertices_log2; /* V = 2^this */
	uint32_t bins_log2;		/* B = 2^this, at most vertices_log2; 0 for v1 */
} HgShape;

/* Properties of an engine. */
typedef struct HgShapeLimits
{
	uint64_t bin_bytes;		/* bytes of the nearest fast memory for one bin: rows of both sides, and
							 * offsets */
	uint64_t binned_from;	/* total bytes of a job up to which bins gain nothing */
	uint32_t max_bins_log2; /* at most HG_MAX_BINS_LOG2 */
	bool bins_in_cache; /* a bin's graph is built and probed before it leaves the fast memory, so
						 * that the order of probes does not matter */
} HgShapeLimits;

/*
 * Chooses the shape of a job with outer_rows and inner_rows rows.  spec is valid (hg_spec_check).
 * A side without rows is ignored: a job with one side gets the shape for that side.
 */
extern HgShape hg_shape_choose(const HgJobSpec *spec, const HgShapeLimits *limits,
							   uint64_t outer_rows, uint64_t inner_rows);

/*
 * Returns the maximum size of the range from the least to the greatest inner key of a job whose
 * keys are the vertices.  0 if the job must have HashGraphs, whatever its keys.
 */
extern uint64_t hg_shape_direct_vertices(const HgJobSpec *spec, uint64_t outer_rows,
										 uint64_t inner_rows);

/* Returns the smallest e with 2^e >= n, for n <= 2^63. */
static inline uint32_t
hg_ceil_log2(uint64_t n)
{
	uint32_t log2 = 0;

	while ((UINT64_C(1) << log2) < n)
		log2++;
	return log2;
}

/*
 * Returns log2 of the number of vertices for rows rows at load factor c: of the power of two
 * nearest to rows / c by ratio.  Rounding up instead would cost up to twice the offsets, which are
 * memory to touch, only to shorten lists that are short anyway.
 */
extern uint32_t hg_shape_vertices_log2(uint64_t rows, double c);

/* Checks a spec.  Returns HG_OK, or HG_INVALID with an explanation. */
extern HgStatus hg_spec_check(const HgJobSpec *spec, HgError *error);

/*
 * Returns HG_OK if a job's product is matches of rows that the caller appends.  Returns HG_INVALID
 * with an explanation if it has or makes a replica, reads pages, is a shard, or measures a table.
 */
extern HgStatus hg_spec_check_joins_rows(const HgJobSpec *spec, HgError *error);

#endif /* HG_SHAPE_H */
