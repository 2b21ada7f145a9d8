/*-------------------------------------------------------------------------
 *
 * hg_join_together.h
 *	  The join node's sides, read and joined by the processes below a Gather together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_TOGETHER_H
#define HG_JOIN_TOGETHER_H

#include "executor/join/hg_join_progress.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * Do what the phases READ_INNER and READ_OUTER do with the others; returns the phase that follows.
 */
extern HgJoinPhase hg_join_read_together(HgJoinState *state);

#endif /* HG_JOIN_TOGETHER_H */
