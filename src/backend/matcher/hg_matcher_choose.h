/*-------------------------------------------------------------------------
 *
 * hg_matcher_choose.h
 *	  The source that a join is to have its matches from at first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCHER_CHOOSE_H
#define HG_MATCHER_CHOOSE_H

#include "backend/matcher/hg_match_source.h"

/*
 * As hashgraph.backend says; what the choice was made by is in the task's report.  A sender that
 * the source has no use for has come to its end.  Under backend cuda it is an error where there is
 * no device.
 */
extern HgMatchSource *hg_matcher_choose(HgMatchTask *task);

#endif /* HG_MATCHER_CHOOSE_H */
