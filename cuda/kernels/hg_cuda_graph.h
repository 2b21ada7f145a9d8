/*-------------------------------------------------------------------------
 *
 * hg_cuda_graph.h
 *	  HashGraphs in device memory: their build from keys, their statistics, and edges of
 *	  replicas.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_GRAPH_H
#define HG_CUDA_GRAPH_H

#include "hg_cuda_columns.h"
#include "hg_cuda_partition.h"
#include "hg_cuda_shape.h"

/*
 * A HashGraph.  All arrays are in device memory and belong to the work that built them.  Edges
 * carry the mixed word of the key in place of the key (hg_hash.h: it can be unmixed), so that
 * nothing is hashed twice.  In an ordered graph each list is sorted by the mixed word: equal keys
 * are neighbours.
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

/* words[i] = the mixed word of keys[i]; keys and words may be one array. */
HgStatus hg_cuda_mix(HgCudaWork *work, uint32_t key_width, const void *keys, void *words,
					 uint64_t count, HgError *error);

/* keys[i] = the key whose mixed word is words[i]; keys and words may be one array. */
HgStatus hg_cuda_unmix(HgCudaWork *work, uint32_t key_width, const void *words, void *keys,
					   uint64_t count, HgError *error);

/*
 * Builds a graph of count rows with keys[count], numbered rows[count], or 0, 1 ... if rows is
 * NULL.  Waits.
 *
 * rows stay as they are, and so do keys with keep_keys.  Without, keys are a block of work, which
 * becomes part of the graph or is freed (NULL if count is 0).  The graph is ordered if ordered, or
 * if that costs nothing.  It records marks of the kit: 0 at the start, 1 after the bins (v2), 2 at
 * the end.
 */
HgStatus hg_cuda_graph_build(HgCudaWork *work, const HgShape *shape, uint32_t key_width, void *keys,
							 const uint32_t *rows, uint64_t count, bool keep_keys, bool ordered,
							 HgCudaGraph *graph, HgError *error);

/*
 * Build a graph of a partition whose bins become available one after the other.  The partition has
 * the bins of the shape.
 *
 * begin		takes the partition's words and rows as edges; their contents may still be
 *				undefined.  Returns HG_INVALID if a block has no room for such bins.
 * bins			builds bins first .. end - 1, once they are available, at starts[first .. end].
 *				Returns once the work is launched.
 * finish		is called once all bins are built, and waits until the graph is complete.
 *
 * *unfinished is memory that begin allocates and finish frees.
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
 * Builds an ordered graph of count edges by sorting them, whatever their keys.  words and rows are
 * blocks of work, which become part of the graph or are freed.  Waits.
 */
HgStatus hg_cuda_graph_sort(HgCudaWork *work, uint32_t key_width, uint32_t vertices_log2,
							void *words, uint32_t *rows, uint64_t count, HgCudaGraph *graph,
							HgError *error);

/*
 * Sorts the edges of a graph, in any order before, and computes its offsets.  Returns once the
 * last kernel is launched.
 */
HgStatus hg_cuda_graph_order(HgCudaWork *work, HgCudaGraph *graph, HgError *error);

/* Frees the arrays and zeroes the graph. */
void hg_cuda_graph_free(HgCudaWork *work, HgCudaGraph *graph);

/*
 * hg_cuda_edges.cu: edges of graph replicas: widened keys, checked rows, and graphs of selected
 * rows
 */

/* wide[i] = keys[i], sign-extended from 4 to 8 bytes, for count keys.  Returns once launched. */
HgStatus hg_cuda_edges_widen(HgCudaWork *work, const void *keys, void *wide, uint64_t count,
							 HgError *error);

/*
 * Sets *below to whether all of rows[0 .. count - 1] are less than limit, and *numbers to one more
 * than the largest number of a row within its part (0 without rows).  Waits.
 */
HgStatus hg_cuda_edges_check(HgCudaWork *work, const uint32_t *rows, uint64_t count, uint32_t limit,
							 bool *below, uint32_t *numbers, HgError *error);

/*
 * Makes a graph of the edges of another one, with keys of 8 bytes, whose rows are selected: row r
 * is if bit r % 64 of mask[r / 64] is set.  It has the same vertices, and lists in the same order.
 * Its arrays belong to work; the other graph may belong to anyone.  Returns once the last kernel
 * is launched.
 */
HgStatus hg_cuda_edges_filter(HgCudaWork *work, const HgCudaGraph *graph, const uint64_t *mask,
							  HgCudaGraph *filtered, HgError *error);

/*
 * Returns the most memory that hg_cuda_edges_filter takes for a graph of this size, the new graph
 * included.  *filtered_bytes becomes the part that stays: the new graph.
 */
uint64_t hg_cuda_edges_filter_bytes(uint64_t rows, uint32_t vertices_log2,
									uint64_t *filtered_bytes);

/* hg_cuda_describe.cu: statistics and copies of a HashGraph in device memory */

/* Sets all of *stats, from a walk over the graph.  Waits. */
HgStatus hg_cuda_graph_describe(HgCudaWork *work, const HgCudaGraph *graph, HgGraphStats *stats,
								HgError *error);

/*
 * Copies a graph to arrays of the caller: offsets[vertices + 1], edge_keys[rows] and
 * edge_rows[rows].  Edges get keys, not mixed words, and the row numbers that the caller assigned
 * (numbers).  Waits, so the arrays are not written to after the return, even if it is cancelled.
 */
HgStatus hg_cuda_graph_export(HgCudaWork *work, const HgCudaGraph *graph, HgCudaNumbers *numbers,
							  uint32_t *offsets, void *edge_keys, uint32_t *edge_rows,
							  HgError *error);

#endif /* HG_CUDA_GRAPH_H */
