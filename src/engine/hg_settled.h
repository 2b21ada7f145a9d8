/*-------------------------------------------------------------------------
 *
 * hg_settled.h
 *	  Outer rows whose caller may have enough of their matches before he has all.
 *
 * A row's matches are returned in parts (HgMatches.settled): first a few, and then as many again as
 * there were before.  So a row whose first match will do costs little, however many it has, and one
 * whose matches are all looked at in vain is asked about no more often than the logarithm of their
 * number.  Rows with few matches are not asked about, as a rule, and returned whole.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SETTLED_H
#define HG_SETTLED_H

#include "hg_engine.h"

/* Matches of the first part. */
#define HG_SETTLED_FIRST 16

/* Are no more matches of a row wanted? */
static inline bool
hg_matches_settled(const HgMatches *matches, uint32_t outer_row)
{
	return matches->settled != NULL && matches->settled(matches->settled_arg, outer_row);
}

/* How many matches of a row the next part has, after so many have been written of it. */
static inline size_t
hg_settled_part(uint32_t written)
{
	return written > HG_SETTLED_FIRST ? written : HG_SETTLED_FIRST;
}

/* What the capacity is to be while a part of a row's matches is written, or all where none asks. */
static inline size_t
hg_matches_part_capacity(const HgMatches *matches, uint32_t written)
{
	const size_t room = matches->capacity - matches->count;
	const size_t part = hg_settled_part(written);

	return matches->settled != NULL && part < room ? matches->count + part : matches->capacity;
}

#endif /* HG_SETTLED_H */
