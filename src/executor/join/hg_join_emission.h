/*-------------------------------------------------------------------------
 *
 * hg_join_emission.h
 *	  How far the join node has come in returning matches, and then rows without a match.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_EMISSION_H
#define HG_JOIN_EMISSION_H

#include "postgres.h"

/* The position in the output: first in the matches, then in the rows without a match. */
typedef struct HgJoinEmission
{
	const uint32
		*outer; /* [count] outer rows of the current chunk of matches; owned by the matcher */
	const uint32 *inner; /* [count] */
	size_t count;
	size_t next;	/* next match of the chunk */
	bool skip_rest; /* further matches of skip_outer are ignored */
	uint32 skip_outer;
	int next_range;		 /* current range of rows without a match or key */
	uint64 next_row;	 /* next row of the range */
	uint64 next_covered; /* bit position of the next covered row; covered rows come first */
} HgJoinEmission;

/* Starts with the first match. */
static inline void
hg_join_emission_reset(HgJoinEmission *emission)
{
	emission->count = emission->next = 0;
	emission->skip_rest = false;
}

/* Starts with the first row of a side without a match or key. */
static inline void
hg_join_emission_begin_rest(HgJoinEmission *emission)
{
	emission->next_row = 0;
	emission->next_range = 0;
	emission->next_covered = 0;
}

#endif /* HG_JOIN_EMISSION_H */
