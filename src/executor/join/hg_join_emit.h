/*-------------------------------------------------------------------------
 *
 * hg_join_emit.h
 *	  The join node's way from matches, and from rows without a match, to batches of joined rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_EMIT_H
#define HG_JOIN_EMIT_H

#include "postgres.h"

#include "engine/hg_engine.h"
#include "executor/join/hg_join_emission.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * Each function fills the output's batch with the next rows of a phase: matches, a side's rows
 * without a match, or a side's rows with a NULL key.  Returns false if there are no more.
 * hg_join_fill_matches() also records which rows have found a match.
 */
extern bool hg_join_fill_matches(HgJoinState *state);
extern bool hg_join_fill_unmatched(HgJoinState *state, HgSide side);
extern bool hg_join_fill_null_keys(HgJoinState *state, HgSide side);

#endif /* HG_JOIN_EMIT_H */
