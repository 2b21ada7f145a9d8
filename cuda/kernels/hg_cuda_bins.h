/*-------------------------------------------------------------------------
 *
 * hg_cuda_bins.h
 *	  Joining bins: both sides in bins, and graphs of one bin at a time.
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

/* Two sides in bins, ready to be joined. */
struct HgCudaBins
{
	HgCudaPartition inner;
	HgCudaPartition outer;
	uint32_t vertices_log2;
	uint32_t above; /* see hg_cuda_bins_open */

	/* outer rows whose bin a block has room for: a narrow block [0], or only a wide one [1] */
	struct
	{
		uint32_t room;	 /* inner rows of a bin */
		uint64_t count;	 /* of pieces */
		HgPiece *pieces; /* [count] */
	} widths[2];
	uint64_t longest; /* inner rows of the longest of these bins */

	/* the rows of the bins that no block has room for */
	HgCudaGraph rest_inner;
	HgCudaOuter rest_outer; /* its arrays are the bins' own */
};

/* All matches of a mode, to be written in any number of parts. */
struct HgCudaBinsMatches
{
	HgMatchMode mode;
	HgCudaMatchCounts counts; /* of all matches */
	uint64_t in_blocks;		  /* matches of pieces: the first ones; those of the rest follow */
	uint64_t *unit_matches;	  /* see hg_bins_join_kernel */
	bool numbered;			  /* unit_matches are summed up */
	HgCudaJoin rest;
};

/*
 * Get ready to join two partitions with as many bins, of 2^vertices_log2 vertices: the bins that
 * have more than above rows of both sides together.  The arrays of the partitions must stay while
 * the bins are used, and remain the caller's.
 */
HgStatus hg_cuda_bins_open(HgCudaWork *work, const HgCudaPartition *inner,
						   const HgCudaPartition *outer, uint32_t vertices_log2, uint32_t above,
						   HgCudaBins *bins, HgError *error);

/* Count the matches, keeping nothing. */
HgStatus hg_cuda_bins_count(HgCudaWork *work, const HgCudaBins *bins, HgMatchMode mode,
							HgCudaMatchCounts *counts, HgError *error);

/*
 * Find the matches, and write the first *written of them into arrays in device memory, which
 * have room for capacity pairs: all of those in blocks where they have room, or else none.
 */
HgStatus hg_cuda_bins_match(HgCudaWork *work, const HgCudaBins *bins, HgMatchMode mode,
							uint32_t *outer_rows, uint32_t *inner_rows, uint64_t capacity,
							HgCudaBinsMatches *matches, uint64_t *written, HgError *error);

/*
 * Write matches from number first on, as many as there is room for: *written of them, at least
 * one unless there is none, if the capacity is at least the bins' longest.  It waits.
 */
HgStatus hg_cuda_bins_write(HgCudaWork *work, const HgCudaBins *bins, HgCudaBinsMatches *matches,
							uint64_t first, uint32_t *outer_rows, uint32_t *inner_rows,
							uint64_t capacity, uint64_t *written, HgError *error);

/* Build the graph of the inner side, whatever the bins are. */
HgStatus hg_cuda_bins_graph(HgCudaWork *work, const HgCudaBins *bins, HgCudaGraph *graph,
							HgError *error);

/* Give back what match and open took; what is all zero is closed already. */
void hg_cuda_bins_end(HgCudaWork *work, HgCudaBinsMatches *matches);
void hg_cuda_bins_close(HgCudaWork *work, HgCudaBins *bins);

#endif /* HG_CUDA_BINS_H */
