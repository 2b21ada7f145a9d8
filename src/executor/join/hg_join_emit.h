/*-------------------------------------------------------------------------
 *
 * hg_join_emit.h
 *	  The rows that the join node returns, batch by batch.
 *
 * A phase of the node calls one of the hg_join_emit functions to choose a kind of rows, and returns
 * its result as the next phase.  In HG_JOIN_RETURN, the node calls HgRowKind.next() and returns the
 * rows of the output's batch, until next() returns false; then it enters the phase `then`.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_EMIT_H
#define HG_JOIN_EMIT_H

#include "batch/hg_input.h"
#include "executor/join/hg_join_progress.h"
#include "executor/join/hg_join_rows.h"

/* A kind of rows that the node returns. */
typedef struct HgRowKind
{
	HgProgressPhase shown; /* what other sessions see meanwhile */

	/* Fills the output's batch with the next rows.  Returns false if there are no more. */
	bool (*next)(HgJoinState *state);
} HgRowKind;

/* The parts of a side's rows without a match, in the order in which they are returned. */
typedef enum HgUnmatchedPart
{
	HG_UNMATCHED_COVERED,
	HG_UNMATCHED_ROWS,
	HG_UNMATCHED_NULL_KEYS
} HgUnmatchedPart;

/* The rows that are returned in phase HG_JOIN_RETURN, and how far the node has come. */
typedef struct HgJoinEmission
{
	const HgRowKind *kind;
	HgJoinPhase then; /* the phase after the last row */

	/* matches */
	const uint32 *outer; /* [count] outer rows of the current chunk; owned by the matcher */
	const uint32 *inner; /* [count] */
	size_t count;
	size_t next;	/* next match of the chunk */
	bool skip_rest; /* further matches of skip_outer are ignored */
	uint32 skip_outer;

	/* rows without a match */
	HgSide side;
	HgUnmatchedPart part;
	int next_range;		 /* current range of the part's rows */
	uint64 next_row;	 /* next row of the range */
	uint64 next_covered; /* bit position of the next covered row */
} HgJoinEmission;

/* Streaming: outer rows are joined batch by batch as they come. */
typedef struct HgJoinStreaming
{
	HgInputStream *stream; /* the outer input's stream; NULL before the first use */
	bool declined;		   /* the inner side turned out to be too large */
	bool active;		   /* outer rows come from the stream, numbered from 0 in each batch */
} HgJoinStreaming;

/* Forgets the current chunk of matches, because the matcher has ended or a new one begins. */
static inline void
hg_join_emission_reset(HgJoinEmission *emission)
{
	emission->count = emission->next = 0;
	emission->skip_rest = false;
}

/* Starts to return rows of a kind.  Returns the next phase; after the rows comes `then`. */
static inline HgJoinPhase
hg_join_emit(HgJoinEmission *emission, const HgRowKind *kind, HgJoinPhase then)
{
	emission->kind = kind;
	emission->then = then;
	return HG_JOIN_RETURN;
}

/*
 * Starts to return what the matcher finds: matches, or groups of them if the node above accepts
 * some, or as many empty rows if only their number is needed.  Returns the next phase.
 */
extern HgJoinPhase hg_join_emit_joined(HgJoinState *state);

/* Does what hg_join_emit_joined() does, for the outer rows of the stream and without groups. */
extern HgJoinPhase hg_join_emit_streamed(HgJoinState *state);

/*
 * Starts to return a side's rows without a match and those with a NULL key. If participants join
 * together, only the one that ends the join returns the former; each returns its own rows with a
 * NULL key. Returns the next phase: `then` if the join does not return such rows or has counted
 * them, else HG_JOIN_RETURN, with `then` after the rows.
 */
extern HgJoinPhase hg_join_emit_unmatched(HgJoinState *state, HgSide side, HgJoinPhase then);

/* Starts to return empty rows: output->empty_left is rows.  Returns HG_JOIN_RETURN. */
extern HgJoinPhase hg_join_emit_empty(HgJoinEmission *emission, HgJoinOutput *output, uint64 rows,
									  HgJoinPhase then);

/*
 * Returns true if only the number of rows without a match is needed, and the engine can count them.
 * Then hg_join_emit_joined() counts them, if no bits are kept of either side.
 */
extern bool hg_join_counts_unmatched(const HgJoinState *state);

/*
 * Returns true if the inner keys can be kept as bits (batch/hg_key_column.h) when the inner side
 * has filled its memory.  Neither inner rows nor outer rows without a match must be needed, and
 * outer rows must be able to come as a stream.
 */
extern bool hg_join_may_take_bits(const HgJoinState *state);

/*
 * Replaces the inner keys in memory by bits, and reads the rest of the inner side as bits.  If
 * there would be too many bits, the input is not at its end afterwards and must be partitioned.
 */
extern void hg_join_take_bits(HgJoinState *state);

/* Returns true if the inner side is complete, and the unread outer side can be streamed. */
extern bool hg_join_may_stream(const HgJoinState *state);

/* Returns true if outer rows may be streamed once all inner rows are in memory. */
extern bool hg_join_expects_stream(const HgJoinState *state);

/*
 * Creates a matcher of the inner side and starts the stream, whose rows hg_join_emit_streamed()
 * returns.  Returns false if the inner HashGraph is too large.
 */
extern bool hg_join_begin_stream(HgJoinState *state);

/*
 * Ends the matcher, if there is one, and forgets the rows that are returned of its matches.  Call
 * it before the rows in memory change.
 */
extern void hg_join_end_matches(HgJoinState *state);

/* Ends the stream, if it is active. */
extern void hg_join_end_stream(HgJoinStreaming *streaming);

#endif /* HG_JOIN_EMIT_H */
