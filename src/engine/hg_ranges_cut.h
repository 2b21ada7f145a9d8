/*-------------------------------------------------------------------------
 *
 * hg_ranges_cut.h
 *	  Calls on a partitioned job: each runs a pass over its slices.
 *
 * These functions implement the calls of hg_engine.h for a job that was partitioned and has not
 * failed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_CUT_H
#define HG_RANGES_CUT_H

#include "hg_ranges_pass.h"

/* next() of a stream; continues with the next slice at the end of one. */
extern HgStatus hg_ranges_cut_next(HgRangesPass *pass, HgMatches *matches, HgError *error);

/* Sets *matches to the number of all matches of a mode. */
extern HgStatus hg_ranges_cut_count(HgRangesPass *pass, HgMatchMode mode, uint64_t *matches,
									HgError *error);

/* Sets *stats to the sum of what describe() returns for each slice of that side. */
extern HgStatus hg_ranges_cut_describe(HgRangesPass *pass, HgSide side, HgGraphStats *stats,
									   HgError *error);

/*
 * Returns the statistics of a job that does not run whole: it was partitioned, or will be in
 * build.  built is true if it was partitioned and built.
 */
extern void hg_ranges_cut_stats(const HgRangesPass *pass, bool built, HgJobStats *stats);

#endif /* HG_RANGES_CUT_H */
