/*-------------------------------------------------------------------------
 *
 * hg_cuda_join.h
 *	  Matches rows with HashGraphs in device memory, whole ones or one bin at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_JOIN_H
#define HG_CUDA_JOIN_H

#include "hg_cuda_graph.h"
#include "hg_cuda_partition.h"

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

/* hg_cuda_bins.cu: joins two sides whose rows are in bins, one bin at a time */

struct HgPiece;
struct HgBinsCounters;

/* Two partitions that are ready to be joined.  Arrays are in device memory. */
struct HgCudaBins
{
	HgCudaPartition inner;
	HgCudaPartition outer;
	uint32_t vertices_log2;
	uint32_t above; /* bins with at most this many rows of both sides are left out */

	/* bins that fit a narrow block [0], and those that fit only a wide block [1] */
	struct
	{
		uint32_t room;	 /* inner rows of a bin that such a block has room for */
		uint64_t count;	 /* pieces of outer rows */
		HgPiece *pieces; /* [count] */
	} widths[2];
	uint64_t longest; /* inner rows of the longest bin that fits a block */

	/* the rows of the bins that fit no block */
	HgCudaGraph rest_inner;
	HgCudaOuter rest_outer; /* copies of the rows, which belong to the bins */
};

/* All matches of a join, which can be written in any number of parts. */
struct HgCudaBinsMatches
{
	HgMatchMode mode;
	HgCudaMatchCounts counts; /* of all matches */
	uint64_t in_blocks;		  /* matches of bins that fit a block; the others come after them */
	uint64_t *unit_matches;	  /* see hg_bins_join_kernel */
	bool numbered;			  /* unit_matches have been prefix-summed */
	HgCudaJoin rest;
};

/*
 * Prepares the join of two partitions with the same number of bins, for graphs of 2^vertices_log2
 * vertices.  Only bins with more than above rows of both sides together are joined; above 0 joins
 * all.  The arrays of the partitions must stay while the bins are used; they remain the caller's.
 */
HgStatus hg_cuda_bins_open(HgCudaWork *work, const HgCudaPartition *inner,
						   const HgCudaPartition *outer, uint32_t vertices_log2, uint32_t above,
						   HgCudaBins *bins, HgError *error);

/* Counts the matches and writes none. */
HgStatus hg_cuda_bins_count(HgCudaWork *work, const HgCudaBins *bins, HgMatchMode mode,
							HgCudaMatchCounts *counts, HgError *error);

/*
 * Finds and counts the matches, and writes those of bins that fit a block to outer_rows and
 * inner_rows, arrays of capacity elements in device memory.  *written is their number, or 0 if
 * they do not fit the arrays.  hg_cuda_bins_write writes the others, and hg_cuda_bins_end frees
 * *matches.
 */
HgStatus hg_cuda_bins_match(HgCudaWork *work, const HgCudaBins *bins, HgMatchMode mode,
							uint32_t *outer_rows, uint32_t *inner_rows, uint64_t capacity,
							HgCudaBinsMatches *matches, uint64_t *written, HgError *error);

/*
 * Writes the matches from number first on, as many as fit the arrays, and waits.  *written is
 * their number.  It is at least 1 if a match is left and capacity is at least bins->longest.
 */
HgStatus hg_cuda_bins_write(HgCudaWork *work, const HgCudaBins *bins, HgCudaBinsMatches *matches,
							uint64_t first, uint32_t *outer_rows, uint32_t *inner_rows,
							uint64_t capacity, uint64_t *written, HgError *error);

/* Builds an ordered graph of all inner rows, which the caller frees with hg_cuda_graph_free. */
HgStatus hg_cuda_bins_graph(HgCudaWork *work, const HgCudaBins *bins, HgCudaGraph *graph,
							HgError *error);

/* Free what match and open allocated, and zero the structure.  A zeroed one is closed already. */
void hg_cuda_bins_end(HgCudaWork *work, HgCudaBinsMatches *matches);
void hg_cuda_bins_close(HgCudaWork *work, HgCudaBins *bins);

/*
 * hg_cuda_both.cu: builds the HashGraphs of both sides in one pass over their bins, and joins
 * them meanwhile
 */

/* Parameters and results of the join during the build. */
struct HgCudaBothPairs
{
	HgMatchMode mode;
	uint32_t *outer_rows; /* [capacity] in device memory; NULL: count only */
	uint32_t *inner_rows;
	uint64_t capacity;
	HgCudaMatchCounts counts; /* out: of all matches; an intersection is a row that meets a list */
	bool complete;			  /* out: all matches have been written */
};

/*
 * Allocates the graphs of two partitions, by HgSide, with the same number of bins.  Offsets and
 * edges are blocks of work of their own.  The shape must be one that hg_cuda_is_both allows.
 */
HgStatus hg_cuda_both_begin(HgCudaWork *work, const HgShape *shape,
							const HgCudaPartition partitions[2], HgCudaGraph graphs[2],
							HgError *error);

/*
 * Builds the graphs that hg_cuda_both_begin allocated, and waits.  It frees words and rows of the
 * partitions once the edges exist, before it joins bins that fit no block; the starts stay.  If
 * pairs is not NULL, the sides are joined as well.
 */
HgStatus hg_cuda_both_build(HgCudaWork *work, const HgShape *shape, HgCudaPartition partitions[2],
							HgCudaGraph graphs[2], HgCudaBothPairs *pairs, HgError *error);

/* Counts the vertices that have edges in both graphs: the intersections of Algorithm 3.  Waits. */
HgStatus hg_cuda_both_common(HgCudaWork *work, const HgCudaGraph graphs[2], uint64_t *common,
							 HgError *error);

/*
 * Makes *view a partition of a graph's edges, with bins of the size that hg_cuda_bins.cu joins.
 * inner_rows is the number of edges of the inner graph.  Words and rows stay the graph's; the
 * caller frees view->starts.
 */
HgStatus hg_cuda_both_view(HgCudaWork *work, const HgCudaGraph *graph, uint64_t inner_rows,
						   HgCudaPartition *view, HgError *error);

#endif /* HG_CUDA_JOIN_H */
