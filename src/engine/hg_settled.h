/*-------------------------------------------------------------------------
 *
 * hg_settled.h
 *	  Outer rows that may be finished before all of their matches have been returned.
 *
 * A row's matches are returned in parts (HgMatches.settled): first a few, and then as many again
 * as there were before.  So a row that is finished by its first match costs little, however many
 * it has.  For a row whose matches are all examined in vain, the callback is called at most a
 * logarithm of their number.  Rows with few matches are usually returned whole, without a
 * callback.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SETTLED_H
#define HG_SETTLED_H

#include "hg_engine.h"

/* Number of matches of the first part. */
#define HG_SETTLED_FIRST 16

/* Returns true if the caller needs no more matches of a row. */
static inline bool
hg_matches_settled(const HgMatches *matches, uint32_t outer_row)
{
	return matches->settled != NULL && matches->settled(matches->settled_arg, outer_row);
}

/* Returns the number of matches in a row's next part, after written of them. */
static inline size_t
hg_settled_part(uint32_t written)
{
	return written > HG_SETTLED_FIRST ? written : HG_SETTLED_FIRST;
}

/* Returns the capacity for the next part of a row's matches; all of it without a callback. */
static inline size_t
hg_matches_part_capacity(const HgMatches *matches, uint32_t written)
{
	const size_t room = matches->capacity - matches->count;
	const size_t part = hg_settled_part(written);

	return matches->settled != NULL && part < room ? matches->count + part : matches->capacity;
}

#endif /* HG_SETTLED_H */
