/*-------------------------------------------------------------------------
 *
 * hg_match_team.h
 *	  Matches from this process's part of a job that a team shares on the CPU (hg_match_source.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_TEAM_H
#define HG_MATCH_TEAM_H

#include "backend/matcher/hg_match_source.h"

extern HgMatchSource *hg_match_team_create(HgMatchTask *task);

#endif /* HG_MATCH_TEAM_H */
