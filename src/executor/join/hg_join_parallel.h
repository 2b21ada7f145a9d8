/*-------------------------------------------------------------------------
 *
 * hg_join_parallel.h
 *	  Shared join: the processes below a Gather read and join both sides together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PARALLEL_H
#define HG_JOIN_PARALLEL_H

#include "executor/join/hg_join_progress.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* Does the work of READ_INNER and READ_OUTER with the others; returns the next phase. */
extern HgJoinPhase hg_join_parallel_read(HgJoinState *state);

#endif /* HG_JOIN_PARALLEL_H */
