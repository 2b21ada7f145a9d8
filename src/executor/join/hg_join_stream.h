/*-------------------------------------------------------------------------
 *
 * hg_join_stream.h
 *	  The join node's outer rows, joined batch by batch as they come.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STREAM_H
#define HG_JOIN_STREAM_H

#include "batch/hg_input_stream.h"
#include "executor/join/hg_join_progress.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

typedef struct HgJoinStreaming
{
	HgInputStream *stream; /* of the outer input; NULL before the first */
	bool declined;		   /* the inner side has been found to be too large */
	bool active;		   /* outer rows come from there, numbered from 0 in each batch */
} HgJoinStreaming;

/*
 * The inner side fills the memory that it may take: can its keys be bits (batch/hg_key_bits.h)?
 * Where nobody asks for its rows, nor for an outer row without a match, and outer rows can come as
 * a stream.
 */
extern bool hg_join_may_take_bits(const HgJoinState *state);

/*
 * Then: read the rest of it, as bits.  Where these would be too many it is not at its end, and is
 * to be partitioned.
 */
extern void hg_join_take_bits(HgJoinState *state);

/* Is the outer side, of which nothing has been read, to be joined as it comes? */
extern bool hg_join_may_stream(const HgJoinState *state);

/* Build the inner HashGraph, and have outer rows come; false where it would be too large. */
extern bool hg_join_begin_stream(HgJoinState *state);

/* Count the matches of all outer rows that come, in place of returning them; returns the next
 * phase. */
extern HgJoinPhase hg_join_count_stream(HgJoinState *state);

/* Fill the output's batch with the next rows; false when there are no more, and the stream ends. */
extern bool hg_join_fill_streamed(HgJoinState *state);

/* Outer rows don't come so any more; nothing where they have not. */
extern void hg_join_end_stream(HgJoinState *state);

#endif /* HG_JOIN_STREAM_H */
