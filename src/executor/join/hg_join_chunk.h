/*-------------------------------------------------------------------------
 *
 * hg_join_chunk.h
 *	  The join node's phases that read its inputs and build HashGraphs: chunks and partitions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_CHUNK_H
#define HG_JOIN_CHUNK_H

#include "executor/join/hg_join_progress.h"

/* What has been read of both sides.  hg_join_rescan() decides which rows stay cached. */
typedef struct HgJoinReading
{
	uint64 inner_chunks; /* chunks of the inner input since it was last read from its start */
	uint64 outer_chunks; /* chunks of the outer input for the current inner chunk */
	bool outer_held;	 /* all of the outer input is in memory as one chunk */
	bool outer_ready;	 /* the outer rows in memory, cached or counted, are joined next */
	bool outer_found;	 /* the last check of the outer child found a row */
	bool spilled;		 /* rows went to disk since the last rescan */
} HgJoinReading;

/* The phases (HgJoinPhase).  Each function does the work of one and returns the next phase. */

/*
 * READ_INNER: reads all inner rows; if they do not fit, they go to disk, or their keys become bits.
 * Before that, it tries to let a device join all rows, to look up inner rows in an index, and to
 * end because there is no outer row.
 */
extern HgJoinPhase hg_join_read_inner(HgJoinState *state);
/* NEXT_PARTITION: reads the inner rows of the next partition. */
extern HgJoinPhase hg_join_next_partition(HgJoinState *state);
/* READ_OUTER: reads an outer chunk, as many rows as fit, and builds the HashGraphs; or streams. */
extern HgJoinPhase hg_join_read_outer(HgJoinState *state);
/* END_CHUNK: returns outer rows without a match, if needed, after all matches of an outer chunk. */
extern HgJoinPhase hg_join_end_chunk(HgJoinState *state);
/* NEXT_INNER: reads the next inner rows of a partition after those in memory are joined. */
extern HgJoinPhase hg_join_next_inner(HgJoinState *state);

#endif /* HG_JOIN_CHUNK_H */
