/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_find.h
 *	  Probes of a join of flat HashGraphs: outer rows, and lists they may have partners in.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_FIND_H
#define HG_CPU_FLAT_FIND_H

#include "hg_cpu_flat_stream.h"

/*
 * Find the next group of probes: none at the end, or where cells are to be intersected.  numbered
 * tells that the row numbers of matches will be looked at.
 */
extern HgStatus hg_cpu_flat_find(HgFlatJoin *join, bool numbered, HgError *error);

/* Probe the outer rows of the next cell, which has a long list. */
extern void hg_cpu_flat_probe_cell(HgFlatJoin *join);

#endif /* HG_CPU_FLAT_FIND_H */
