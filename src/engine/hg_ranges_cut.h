/*-------------------------------------------------------------------------
 *
 * hg_ranges_cut.h
 *	  What is asked of a job that was cut into ranges, in a pass over its slices.
 *
 * These do what the calls of hg_engine.h do, for a job that was cut and is fit for them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_CUT_H
#define HG_RANGES_CUT_H

#include "hg_ranges_pass.h"

/* next() of a stream: goes on with the next slice at the end of one. */
extern HgStatus hg_ranges_cut_next(HgRangesPass *pass, HgMatches *matches, HgError *error);

extern HgStatus hg_ranges_cut_count(HgRangesPass *pass, HgMatchMode mode, uint64_t *matches,
									HgError *error);

/* What describe() says of each slice of that side alone, in sum. */
extern HgStatus hg_ranges_cut_describe(HgRangesPass *pass, HgSide side, HgGraphStats *stats,
									   HgError *error);

/*
 * The statistics of a job without a whole job of the wrapped engine: it was cut, and may be built,
 * or is yet to be.
 */
extern void hg_ranges_cut_stats(const HgRangesPass *pass, bool built, HgJobStats *stats);

#endif /* HG_RANGES_CUT_H */
