/*-------------------------------------------------------------------------
 *
 * hg_join_matcher.h
 *	  The join node's matcher: what follows when it is made, its figures, its end.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_MATCHER_H
#define HG_JOIN_MATCHER_H

#include "executor/join/hg_join_state.h"

/* The HashGraphs are built: what follows is the next phase, which is returned. */
extern HgJoinPhase hg_join_start_output(HgJoinState *state);

/* Done with the matcher: keep its figures, free what it holds. */
extern void hg_join_retire_matcher(HgJoinState *state);

/* The record as it stands now, the live matcher included. */
extern void hg_join_current_record(HgJoinState *state, HgJoinRecord *record);

#endif /* HG_JOIN_MATCHER_H */
