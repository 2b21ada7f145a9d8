/*-------------------------------------------------------------------------
 *
 * hg_cuda_join.h
 *	  Matching rows with a HashGraph in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_JOIN_H
#define HG_CUDA_JOIN_H

#include "hg_cuda_graph.h"

/*
 * The rows that look for partners, in the order in which their matches come: the edges
 * of the outer graph (intersect), or the outer rows as they came (standard).
 */
struct HgCudaOuter
{
	const void *words;	  /* [rows] mixed words */
	const uint32_t *rows; /* [rows] row numbers, or NULL: i is the row number of words[i] */
	uint64_t count;
	bool in_lists; /* words are edges of a graph: intersect */
};

struct HgCudaMatchCounts
{
	uint64_t matches;
	uint64_t comparisons;
	uint64_t intersections; /* see HgJobStats */
};

/*
 * All matches of a join, found but not written: of every outer row the range of inner
 * edges that match it, and how many matches stand before each tile of outer rows.
 */
struct HgCudaJoin
{
	HgCudaOuter outer;
	HgCudaGraph inner;
	uint32_t *match_starts; /* [outer.count]: the first matching inner edge */
	uint32_t *match_counts; /* [outer.count], and room for a whole last tile */
	uint64_t *tile_starts;	/* [tiles + 1]: matches before the tile */
	uint64_t *unit_starts;	/* [tiles + 1]: units before the tile; NULL where no tile has
							 * more than one */
	uint64_t *found;		/* [4]: of hg_locate_kernel */
	uint64_t tiles;
	uint64_t units;
	HgCudaMatchCounts counts;
};

/* Count the matches, keeping nothing. */
HgStatus hg_cuda_join_count(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner,
							HgMatchMode mode, HgCudaMatchCounts *counts, HgError *error);

/* Find the matches.  The arrays of outer and inner must stay while the join is used. */
HgStatus hg_cuda_join_open(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner,
						   HgMatchMode mode, HgCudaJoin *join, HgError *error);

/*
 * Write matches first .. first + count - 1, of the join's counts.matches, into arrays in
 * device memory.  It returns when that is launched.
 */
HgStatus hg_cuda_join_write(HgCudaWork *work, const HgCudaJoin *join, uint64_t first,
							uint64_t count, uint32_t *outer_rows, uint32_t *inner_rows,
							HgError *error);

/* Give back what open took; a join that is all zero is closed already. */
void hg_cuda_join_close(HgCudaWork *work, HgCudaJoin *join);

#endif /* HG_CUDA_JOIN_H */
