/*-------------------------------------------------------------------------
 *
 * hg_match_kept.h
 *	  Lent rows that a device keeps the HashGraphs of.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_KEPT_H
#define HG_MATCH_KEPT_H

#include "backend/matcher/hg_match_source.h"

/* May a device know the pairs of both sides' lent rows? */
extern bool hg_match_kept_may(const HgMatcherSpec *spec);

/*
 * The number of pairs of both sides' lent rows, as a device counts them; stats are those of its job.
 * *counted is false where it can't now, which the task's report tells the reason of: they are to be
 * counted here.  HG_OK, or HG_CANCELLED.
 */
extern HgStatus hg_match_kept_count(HgMatchTask *task, HgJobStats *stats, bool *counted,
									uint64 *pairs, HgError *error);

#endif /* HG_MATCH_KEPT_H */
