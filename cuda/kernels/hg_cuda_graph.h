/*-------------------------------------------------------------------------
 *
 * hg_cuda_graph.h
 *	  Building HashGraphs in device memory, from keys in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_GRAPH_H
#define HG_CUDA_GRAPH_H

#include "hg_cuda_partition.h"
#include "hg_cuda_shape.h"

/*
 * A HashGraph.  All arrays are in device memory and belong to the work that they were
 * built with.  Edges carry the mixed word of the key in place of the key (hg_hash.h:
 * it can be mixed back), so that nothing is ever hashed twice.  In an ordered graph each
 * list is sorted by the mixed word: equal keys stand next to each other.
 */
struct HgCudaGraph
{
	uint32_t key_width;
	uint32_t vertices_log2;
	bool ordered;
	uint64_t rows;
	uint32_t *offsets;	 /* [vertices + 1] */
	void *edge_words;	 /* [rows], key_width bytes each */
	uint32_t *edge_rows; /* [rows] */
};

/* words[i] = the mixed word of keys[i]; in place where both are one array. */
HgStatus hg_cuda_mix(HgCudaWork *work, uint32_t key_width, const void *keys, void *words,
					 uint64_t count, HgError *error);

/* The reverse. */
HgStatus hg_cuda_unmix(HgCudaWork *work, uint32_t key_width, const void *words, void *keys,
					   uint64_t count, HgError *error);

/*
 * Build a graph of count rows, whose keys are keys[0 .. count - 1], and whose numbers rows[0 ..
 * count - 1], or 0, 1 ... where rows is NULL; those stay as they are.  keep_keys: keys do too;
 * otherwise they are a block of work, which becomes part of the graph or is given back (NULL where
 * count is 0).  The graph is ordered where that is asked for, and where it comes at
 * no cost.  Marks of the kit: 0 is recorded at the start, 1 after the bins (v2) and 2 at the
 * end.  It returns when the graph is complete.
 */
HgStatus hg_cuda_graph_build(HgCudaWork *work, const HgShape *shape, uint32_t key_width, void *keys,
							 const uint32_t *rows, uint64_t count, bool keep_keys, bool ordered,
							 HgCudaGraph *graph, HgError *error);

/*
 * The same of a partition, of the shape's bins, whose bins are there bit by bit: begin takes its
 * words and rows, which may be undefined yet, for edges; bins builds bins first .. end - 1, once
 * they are there, of which starts[first .. end] tell where they begin, and returns when that is
 * launched; finish, once all bins are built, returns when the graph is complete.  *unfinished is
 * for them alone.
 */
HgStatus hg_cuda_graph_begin(HgCudaWork *work, const HgShape *shape,
							 const HgCudaPartition *partition, bool ordered, HgCudaGraph *graph,
							 uint32_t **unfinished, HgError *error);
HgStatus hg_cuda_graph_bins(HgCudaWork *work, const HgShape *shape, const uint32_t *starts,
							uint32_t first, uint32_t end, const HgCudaGraph *graph,
							uint32_t *unfinished, HgError *error);
HgStatus hg_cuda_graph_finish(HgCudaWork *work, HgCudaGraph *graph, uint32_t *unfinished,
							  HgError *error);

/*
 * Build an ordered graph by sorting count edges, whatever their keys are.  words and rows are
 * blocks of work, which become part of the graph or are given back.
 */
HgStatus hg_cuda_graph_sort(HgCudaWork *work, uint32_t key_width, uint32_t vertices_log2,
							void *words, uint32_t *rows, uint64_t count, HgCudaGraph *graph,
							HgError *error);

/*
 * Put the lists of a graph in order, whatever its edges are and its offsets were.  It returns when
 * that is launched.
 */
HgStatus hg_cuda_graph_order(HgCudaWork *work, HgCudaGraph *graph, HgError *error);

/* Give the arrays back. */
void hg_cuda_graph_free(HgCudaWork *work, HgCudaGraph *graph);

#endif /* HG_CUDA_GRAPH_H */
