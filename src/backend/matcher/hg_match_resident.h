/*-------------------------------------------------------------------------
 *
 * hg_match_resident.h
 *	  Match source: cached indexes of covered rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_RESIDENT_H
#define HG_MATCH_RESIDENT_H

#include "backend/matcher/hg_match_source.h"

/* Creates the source of a task in which a side has, or had, covered rows. */
extern HgMatchSource *hg_match_resident_create(HgMatchTask *task);

#endif /* HG_MATCH_RESIDENT_H */
