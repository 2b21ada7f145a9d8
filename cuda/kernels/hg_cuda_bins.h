/*-------------------------------------------------------------------------
 *
 * hg_cuda_bins.h
 *	  Joins two sides whose rows are in bins, one bin at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_BINS_H
#define HG_CUDA_BINS_H

#include "hg_cuda_join.h"
#include "hg_cuda_partition.h"

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

#endif /* HG_CUDA_BINS_H */
