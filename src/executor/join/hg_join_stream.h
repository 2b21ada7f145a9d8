/*-------------------------------------------------------------------------
 *
 * hg_join_stream.h
 *	  Streaming: outer rows are joined batch by batch as they come.
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
	HgInputStream *stream; /* the outer input's stream; NULL before the first use */
	bool declined;		   /* the inner side turned out to be too large */
	bool active;		   /* outer rows come from the stream, numbered from 0 in each batch */
} HgJoinStreaming;

/*
 * Returns true if the inner keys can be kept as bits (batch/hg_key_bits.h) when the inner side has
 * filled its memory.  Neither inner rows nor outer rows without a match must be needed, and outer
 * rows must be able to come as a stream.
 */
extern bool hg_join_may_take_bits(const HgJoinState *state);

/*
 * Reads the rest of the inner side as bits.  If there would be too many bits, the input is not at
 * its end afterwards and must be partitioned.
 */
extern void hg_join_take_bits(HgJoinState *state);

/* Returns true if the outer side, of which nothing was read, can be streamed. */
extern bool hg_join_may_stream(const HgJoinState *state);

/* Builds the inner HashGraph and starts the stream.  Returns false if the graph is too large. */
extern bool hg_join_begin_stream(HgJoinState *state);

/* Counts the matches of all streamed outer rows, for empty rows.  Returns the next phase. */
extern HgJoinPhase hg_join_count_stream(HgJoinState *state);

/* Fills the output's batch with the next rows; at the end ends the stream and returns false. */
extern bool hg_join_fill_streamed(HgJoinState *state);

/* Ends the stream, if it is active. */
extern void hg_join_end_stream(HgJoinState *state);

#endif /* HG_JOIN_STREAM_H */
