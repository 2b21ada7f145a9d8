/*-------------------------------------------------------------------------
 *
 * hg_matcher_choose.h
 *	  Chooses the first match source of a join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCHER_CHOOSE_H
#define HG_MATCHER_CHOOSE_H

#include "backend/matcher/hg_match_source.h"

/*
 * Chooses by hashgraph.backend and records the reasons in the task's report. Ends the task's
 * upload if the source does not use it. Raises an error under backend cuda if there is no device.
 */
extern HgMatchSource *hg_matcher_choose(HgMatchTask *task);

#endif /* HG_MATCHER_CHOOSE_H */
