/*-------------------------------------------------------------------------
 *
 * hg_cpu_graph.h
 *	  Builds a HashGraph on the CPU: Algorithm 1 of the paper.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_GRAPH_H
#define HG_CPU_GRAPH_H

#include "hg_cpu_job.h"

/* Allocates a side's graph for up to rows edges. */
extern HgStatus hg_cpu_graph_reserve(HgJob *job, HgSide which, uint64_t rows, HgError *error);

/* Turns the n counts in offsets[0..n) into running sums; *longest is the largest count. */
extern HgStatus hg_cpu_offsets_sum(HgJob *job, uint32_t *offsets, uint64_t n, uint32_t *longest,
								   HgError *error);

/* Builds the graph of edges from .. from + rows - 1 of a bin. The graph must be reserved. */
extern HgStatus hg_cpu_graph_bin(HgJob *job, HgSide which, uint32_t bin, uint64_t from,
								 uint64_t rows, HgError *error);

/* Builds the graph of a whole side from its pieces. The graph must be reserved. */
extern HgStatus hg_cpu_graph_pieces(HgJob *job, HgSide which, HgError *error);

#endif /* HG_CPU_GRAPH_H */
