/*-------------------------------------------------------------------------
 *
 * hg_passes_partitioned.h
 *	  Calls on a partitioned job: each runs a pass over its parts.
 *
 * These functions implement the calls of hg_engine.h for a job that was partitioned and has not
 * failed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PASSES_PARTITIONED_H
#define HG_PASSES_PARTITIONED_H

#include "hg_passes_run.h"

/* next() of a stream; continues with the next part at the end of one. */
extern HgStatus hg_passes_partitioned_next(HgPassState *pass, HgMatches *matches, HgError *error);

/* Sets *matches to the number of all matches of a mode. */
extern HgStatus hg_passes_partitioned_count(HgPassState *pass, HgMatchMode mode, uint64_t *matches,
											HgError *error);

/* Sets *stats to the sum of what describe() returns for each part of that side. */
extern HgStatus hg_passes_partitioned_describe(HgPassState *pass, HgSide side, HgGraphStats *stats,
											   HgError *error);

/*
 * Returns the statistics of a job that does not run whole: it was partitioned, or will be in
 * build.  built is true if it was partitioned and built.
 */
extern void hg_passes_partitioned_stats(const HgPassState *pass, bool built, HgJobStats *stats);

#endif /* HG_PASSES_PARTITIONED_H */
