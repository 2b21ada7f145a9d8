/*-------------------------------------------------------------------------
 *
 * hg_join_chunk.h
 *	  The join node's way from its inputs to HashGraphs: chunks and partitions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_CHUNK_H
#define HG_JOIN_CHUNK_H

#include "executor/join/hg_join_progress.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * The rows that have been read of the sides, and those that are cached; hg_join.c decides that at a
 * rescan.
 */
typedef struct HgJoinReading
{
	uint64 inner_chunks; /* of the inner input, since it was last read from its start */
	uint64 outer_chunks; /* of the outer one, for the current inner chunk */
	bool outer_held;	 /* all of the outer input is in memory, as one chunk */
	bool outer_ready; /* what the outer input holds is to be joined next: a rescan has cached it, or
					   * its rows were counted */
	bool outer_found; /* the last look at the outer child has found a row */
	bool spilled;	  /* rows have gone to disk since the last rescan */
	bool counts_unmatched; /* those without a match of the outer chunk are in its number of rows */
	bool inner_counted;	   /* ... and so are those of the inner one, which is there as a whole */
} HgJoinReading;

/* The work of the phases that they are named for; they return the phase that follows. */
extern HgJoinPhase hg_join_read_inner(HgJoinState *state);
extern HgJoinPhase hg_join_end_lookup(HgJoinState *state);
extern HgJoinPhase hg_join_next_partition(HgJoinState *state);
extern HgJoinPhase hg_join_read_outer(HgJoinState *state);
extern HgJoinPhase hg_join_end_chunk(HgJoinState *state);
extern HgJoinPhase hg_join_end_outer(HgJoinState *state);
extern HgJoinPhase hg_join_next_inner(HgJoinState *state);

/* Delete everything that is on disk. */
extern void hg_join_drop_spilled(HgJoinState *state);

#endif /* HG_JOIN_CHUNK_H */
