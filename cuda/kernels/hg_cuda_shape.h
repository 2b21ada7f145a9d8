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

/* What is in device memory between build and close. */
enum HgCudaLayout
{
	HG_LAYOUT_GRAPHS, /* HashGraphs, as the spec asks for */
	HG_LAYOUT_BINS	  /* both sides in bins: the graph of a bin is built where it is probed */
};

/* Bins, where the spec leaves algorithms and bins open. */
HgCudaLayout hg_cuda_layout_choose(const HgJobSpec *spec);

/*
 * Are the graphs of a job of this shape built at a time (hg_cuda_both.cu)?  Where both sides have
 * one, by Algorithm 2, and blocks have room for the vertices of a bin.
 */
bool hg_cuda_is_both(const HgJobSpec *spec, const HgShape *shape);

/* As few bins of a graph's vertices as blocks can join (hg_cuda_bins.cu), as a power of two. */
uint32_t hg_cuda_joined_bins_log2(uint32_t key_width, uint32_t vertices_log2, uint64_t inner_rows);

/* Is a graph of this shape built by putting rows into bins first? */
bool hg_cuda_is_binned(const HgShape *shape);

/*
 * The shape of a job.  Like hg_shape_choose, but where the bins are ours to choose
 * they are small enough for the blocks that will have them.
 */
HgShape hg_cuda_shape_choose(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows);

/*
 * The shape of a graph that is built by itself, whatever it is going to meet: as many vertices as
 * its load factor of 1 makes them.
 */
HgShape hg_cuda_graph_shape(uint32_t key_width, uint64_t rows);

/* What building a graph of so many rows holds at most, its keys among it. */
uint64_t hg_cuda_graph_bytes(uint32_t key_width, const HgShape *shape, uint64_t rows);

/*
 * What a job with so many rows takes of device memory at least, from its first key to the
 * first chunk of its matches.
 */
uint64_t hg_cuda_job_bytes(const HgJobSpec *spec, uint64_t outer_rows, uint64_t inner_rows);

#endif /* HG_CUDA_SHAPE_H */
