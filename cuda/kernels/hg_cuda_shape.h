/*-------------------------------------------------------------------------
 *
 * hg_cuda_shape.h
 *	  The shape of a job on a device: layout, vertices and bins, and memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_SHAPE_H
#define HG_CUDA_SHAPE_H

extern "C"
{
#include "../../src/engine/hg_reduce.h"
#include "../../src/engine/hg_shape.h"
}

/* What device memory has of a job between build and close. */
enum HgCudaLayout
{
	HG_LAYOUT_GRAPHS, /* HashGraphs, as the spec demands */
	HG_LAYOUT_BINS	  /* both sides in bins; a bin's graph is built when the bin is probed */
};

/* Returns HG_LAYOUT_BINS if the spec leaves algorithms and bins open. */
HgCudaLayout hg_cuda_layout_choose(const HgJobSpec *spec);

/*
 * Returns true if the graphs of both sides are built at once (hg_cuda_both.cu): both sides have
 * one, built by Algorithm 2, and a block has room for the vertices of a bin.
 */
bool hg_cuda_is_both(const HgJobSpec *spec, const HgShape *shape);

/* Returns log2 of the fewest bins of a graph's vertices that blocks can join (hg_cuda_bins.cu). */
uint32_t hg_cuda_joined_bins_log2(uint32_t key_width, uint32_t vertices_log2, uint64_t inner_rows);

/* Returns true if a graph of this shape is built by putting rows into bins first. */
bool hg_cuda_is_binned(const HgShape *shape);

/*
 * Returns the shape of a job.  It is that of hg_shape_choose, except for the number of bins: if
 * the spec leaves it open, bins are small enough for the blocks that will process them.
 */
HgShape hg_cuda_shape_choose(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows);

/*
 * Returns the shape of a graph that is built by itself, whatever it will be joined with.  The
 * number of vertices follows from a load factor of 1.
 */
HgShape hg_cuda_graph_shape(uint32_t key_width, uint64_t rows);

/* Returns the most device memory while a graph is built, keys included. */
uint64_t hg_cuda_graph_bytes(uint32_t key_width, const HgShape *shape, uint64_t rows);

/*
 * Returns the least device memory of a job with this many rows, from its first key to the first
 * chunk of its matches.
 */
uint64_t hg_cuda_job_bytes(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows);

#endif /* HG_CUDA_SHAPE_H */
