/*-------------------------------------------------------------------------
 *
 * hg_cuda_join.h
 *	  Matches rows with a HashGraph in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_JOIN_H
#define HG_CUDA_JOIN_H

#include "hg_cuda_graph.h"

/*
 * The outer rows, in the order in which their matches come: edges of the outer graph (intersect),
 * or rows as they were appended (standard).  Arrays are in device memory.
 */
struct HgCudaOuter
{
	const void *words;	  /* [rows] mixed words */
	const uint32_t *rows; /* [rows] row numbers; NULL: i is the row number of words[i] */
	uint64_t count;
	bool in_lists; /* words are edges of a graph */
};

/* The numbers of a join's matches, or of some of them. */
struct HgCudaMatchCounts
{
	uint64_t matches;
	uint64_t comparisons;
	uint64_t intersections; /* as in HgJobStats */
};

/*
 * All matches of a join, found but not written: for each outer row the range of inner edges that
 * match it, and for each tile of outer rows the number of matches before it.
 */
struct HgCudaJoin
{
	HgCudaOuter outer;
	HgCudaGraph inner;
	uint32_t *match_starts; /* [outer.count]: the first matching inner edge */
	uint32_t *match_counts; /* [outer.count], rounded up to whole tiles */
	uint64_t *tile_starts;	/* [tiles + 1]: matches before the tile */
	uint64_t *unit_starts;	/* [tiles + 1]: units before the tile; NULL: a unit is a tile */
	uint64_t *found;		/* [4]: of hg_locate_kernel */
	uint64_t tiles;
	uint64_t units;
	HgCudaMatchCounts counts;
};

/* Counts the matches, and keeps nothing.  Waits. */
HgStatus hg_cuda_join_count(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner,
							HgMatchMode mode, HgCudaMatchCounts *counts, HgError *error);

/*
 * Finds the matches, and waits.  The arrays of outer and inner remain the caller's, and must stay
 * while the join is used.  Free it with hg_cuda_join_close.
 */
HgStatus hg_cuda_join_open(HgCudaWork *work, const HgCudaOuter *outer, const HgCudaGraph *inner,
						   HgMatchMode mode, HgCudaJoin *join, HgError *error);

/*
 * Writes matches first .. first + count - 1, of join->counts.matches, to arrays in device memory.
 * Returns once the work is launched.
 */
HgStatus hg_cuda_join_write(HgCudaWork *work, const HgCudaJoin *join, uint64_t first,
							uint64_t count, uint32_t *outer_rows, uint32_t *inner_rows,
							HgError *error);

/* Frees what open allocated, and zeroes the join.  A zeroed join is closed already. */
void hg_cuda_join_close(HgCudaWork *work, HgCudaJoin *join);

#endif /* HG_CUDA_JOIN_H */
