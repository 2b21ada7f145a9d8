/*-------------------------------------------------------------------------
 *
 * hg_match_participants.h
 *	  Match source: this process's part of a job that the participants share on the CPU
 *	  (hg_match_source.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_PARTICIPANTS_H
#define HG_MATCH_PARTICIPANTS_H

#include "backend/matcher/hg_match_source.h"

/* Creates the source. */
extern HgMatchSource *hg_match_participants_create(HgMatchTask *task);

#endif /* HG_MATCH_PARTICIPANTS_H */
