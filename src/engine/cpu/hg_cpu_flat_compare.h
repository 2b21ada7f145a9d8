/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_compare.h
 *	  Compares the keys of a join of flat HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_COMPARE_H
#define HG_CPU_FLAT_COMPARE_H

#include "hg_cpu_flat_stream.h"

/* Intersects the remaining cells of the stretch, adds to *pairs, and returns why it stopped. */
extern HgCpuFlatEnd hg_cpu_flat_intersect(HgFlatJoin *join, HgMatchMode mode,
										  HgCpuFlatPairs *pairs);

/* Compares the remaining probes of the group, likewise. */
extern HgCpuFlatEnd hg_cpu_flat_compare(HgFlatJoin *join, HgMatchMode mode, HgCpuFlatPairs *pairs);

#endif /* HG_CPU_FLAT_COMPARE_H */
