/*-------------------------------------------------------------------------
 *
 * hg_join_emission.h
 *	  How far the join node has come with what it returns: matches, and then rows without one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_EMISSION_H
#define HG_JOIN_EMISSION_H

#include "postgres.h"

/* What is returned next: matches, and then rows without one. */
typedef struct HgJoinEmission
{
	const uint32 *outer; /* [count] the current chunk of matches, which is the matcher's ... */
	const uint32 *inner; /* [count] */
	size_t count;
	size_t next;	/* ... and the one that is next */
	bool skip_rest; /* the other matches of skip_outer do not count */
	uint32 skip_outer;
	int next_range;		 /* of the rows without a match or a key ... */
	uint64 next_row;	 /* ... and the next row of it; ... */
	uint64 next_covered; /* the place of the next covered row; covered rows come first */
} HgJoinEmission;

/* The stream of matches begins. */
static inline void
hg_join_emission_reset(HgJoinEmission *emission)
{
	emission->count = emission->next = 0;
	emission->skip_rest = false;
}

/* The rows of a side without a match, or without a key, begin. */
static inline void
hg_join_emission_begin_rest(HgJoinEmission *emission)
{
	emission->next_row = 0;
	emission->next_range = 0;
	emission->next_covered = 0;
}

#endif /* HG_JOIN_EMISSION_H */
