/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_find.h
 *	  Finds the probes of a join of flat HashGraphs: outer rows, and lists of possible partners.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_FIND_H
#define HG_CPU_FLAT_FIND_H

#include "hg_cpu_flat_stream.h"

/*
 * Finds the next group of probes. The group is empty at the end of the stream, or if cells can be
 * intersected. numbered says that the row numbers of matches will be read.
 */
extern HgStatus hg_cpu_flat_find(HgFlatJoin *join, bool numbered, HgError *error);

/* Makes the outer rows of the next cell, which has a long list, keys to be looked up. */
extern void hg_cpu_flat_probe_cell(HgFlatJoin *join);

#endif /* HG_CPU_FLAT_FIND_H */
