/*-------------------------------------------------------------------------
 *
 * hg_join_emit.h
 *	  The join node's way from matches, and from rows without one, to batches of joined rows.
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
 * Fill the output's batch with the next rows of a phase, and note in matched which rows have found
 * a match; false when it has no more.
 */
extern bool hg_join_fill_matches(HgJoinState *state);
extern bool hg_join_fill_unmatched(HgJoinState *state, HgSide side);
extern bool hg_join_fill_null_keys(HgJoinState *state, HgSide side);

#endif /* HG_JOIN_EMIT_H */
