/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_compare.h
 *	  Keys of a join of flat HashGraphs compared with keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_COMPARE_H
#define HG_CPU_FLAT_COMPARE_H

#include "hg_cpu_flat_stream.h"

/*
 * Intersect cells of the stretch, and go on with the probes of the group: until there are no more,
 * or what HgCpuFlatEnd says.
 */
extern HgCpuFlatEnd hg_cpu_flat_intersect(HgFlatJoin *join, HgMatchMode mode,
										  HgCpuFlatPairs *pairs);
extern HgCpuFlatEnd hg_cpu_flat_compare(HgFlatJoin *join, HgMatchMode mode, HgCpuFlatPairs *pairs);

#endif /* HG_CPU_FLAT_COMPARE_H */
